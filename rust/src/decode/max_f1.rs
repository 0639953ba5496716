//! The highest expected F1 of labelled brackets.
//!
//! The gain of a bracket is its posterior minus a constant cost. To maximise
//! F1 = 2 correct / (predicted + gold) is to maximise 2 correct - F1 (predicted + gold) for the F1
//! that is reached. The cost of each predicted bracket is therefore half of that F1.

use super::ExpectedGain;
use crate::chart::Chart;
use crate::chart::marginals::LabelMarginals;
use crate::grammar::Grammar;

/// The cost of a bracket: half of a typical F1.
const BRACKET_COST: f64 = 0.4;

impl ExpectedGain {
    /// Compute the gains for F1.
    pub fn prepare_f1(&mut self, grammar: &Grammar, chart: &Chart, marginals: &LabelMarginals) {
        self.unary_penalty = 0.0;
        self.gains.clear();
        self.gains.resize(chart.len(), 0.0);
        for cell in 0..chart.cells().count() {
            for item in chart.items(cell) {
                let labels = grammar.output().labels(chart.symbol(item)).iter();
                self.gains[item] =
                    labels.map(|&label| marginals.get(cell, label) - BRACKET_COST).sum();
            }
        }
    }
}
