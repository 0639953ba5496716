//! What can be maximised.

use super::Objective;
use crate::chart::marginals::LabelMarginals;
use crate::chart::pcfg::Chart;
use crate::grammar::Grammar;

/// The probability of the derivation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Viterbi;

impl Objective for Viterbi {
    fn root(&self, probability: f64) -> f64 {
        probability.ln()
    }

    fn emission(&self, _item: usize, probability: f64) -> f64 {
        probability.ln()
    }

    fn binary(&self, _item: usize, probability: f64) -> f64 {
        probability.ln()
    }

    fn chain(&self, _items: &[Option<usize>], log_probability: f64) -> f64 {
        log_probability
    }
}

/// The expected number of labelled brackets that are right (Goodman 1996), over derivations that
/// the grammar allows.
///
/// Brackets are counted as they are written: the posteriors of all symbols that write the same
/// label over a span are added up, and symbols made by binarisation, which write none, count for
/// nothing.
#[derive(Debug, Default)]
pub struct LabelledRecall {
    gains: Vec<f64>,
}

impl LabelledRecall {
    /// Compute the gain of every item of a chart, in memory that is reused.
    pub fn prepare(&mut self, grammar: &Grammar, chart: &Chart, marginals: &LabelMarginals) {
        self.gains.clear();
        self.gains.resize(chart.len(), 0.0);
        for cell in 0..chart.cells().count() {
            for item in chart.items(cell) {
                let labels = grammar.output().labels(chart.symbol(item));
                self.gains[item] = labels.iter().map(|&label| marginals.get(cell, label)).sum();
            }
        }
    }
}

impl Objective for LabelledRecall {
    fn root(&self, _probability: f64) -> f64 {
        0.0
    }

    fn emission(&self, item: usize, _probability: f64) -> f64 {
        self.gains[item]
    }

    fn binary(&self, item: usize, _probability: f64) -> f64 {
        self.gains[item]
    }

    fn chain(&self, items: &[Option<usize>], _log_probability: f64) -> f64 {
        // The gain of the last one is counted where it is rewritten.
        let above = items.len() - 1;
        items[..above].iter().flatten().map(|&item| self.gains[item]).sum()
    }
}
