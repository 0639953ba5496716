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

    fn chain(&self, _items: &[usize], log_probability: f64) -> f64 {
        log_probability
    }
}

/// The expected number of nodes of the binary tree that are right (Goodman 1996), over derivations
/// that the grammar allows.
///
/// What counts is what is written: the posteriors of all symbols that write the same labels over a
/// span are added up, those that write none included. Every binary tree over a sentence has the
/// same number of nodes, so that nothing is gained by larger ones; of the nodes that unary rules add
/// to them, only those that are more likely right than wrong gain anything.
#[derive(Debug, Default)]
pub struct LabelledRecall {
    gains: Vec<f64>,
    chain_sums: Vec<f64>,
}

impl LabelledRecall {
    /// Compute the gain of every item of a chart, in memory that is reused.
    pub fn prepare(&mut self, grammar: &Grammar, chart: &Chart) {
        let output = grammar.output();
        self.chain_sums.resize(output.number_of_chains(), 0.0);
        self.gains.clear();
        self.gains.resize(chart.len(), 0.0);
        for cell in 0..chart.cells().count() {
            let chain = |item| output.chain(chart.symbol(item)) as usize;
            for item in chart.items(cell) {
                self.chain_sums[chain(item)] += chart.posterior(item);
            }
            for item in chart.items(cell) {
                self.gains[item] = self.chain_sums[chain(item)];
            }
            for item in chart.items(cell) {
                self.chain_sums[chain(item)] = 0.0;
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

    fn chain(&self, items: &[usize], _log_probability: f64) -> f64 {
        sum_above_last(&self.gains, items) - 0.5 * (items.len() - 1) as f64
    }
}

/// The expected number of labelled brackets that are right, less a cost for each that is written.
///
/// Maximising F1 = 2 correct / (written + gold) means maximising 2 correct - F1 (written + gold)
/// at the F1 that is reached, so that the cost of a bracket is half of it.
#[derive(Debug, Default)]
pub struct BracketF1 {
    gains: Vec<f64>,
}

impl BracketF1 {
    /// Half of a usual F1. The optimum is flat: anything from 0.35 to 0.45 does as well.
    const COST: f64 = 0.4;

    /// Compute the gain of every item of a chart, in memory that is reused.
    pub fn prepare(&mut self, grammar: &Grammar, chart: &Chart, marginals: &LabelMarginals) {
        self.gains.clear();
        self.gains.resize(chart.len(), 0.0);
        for cell in 0..chart.cells().count() {
            for item in chart.items(cell) {
                let labels = grammar.output().labels(chart.symbol(item)).iter();
                self.gains[item] =
                    labels.map(|&label| marginals.get(cell, label) - Self::COST).sum();
            }
        }
    }
}

impl Objective for BracketF1 {
    fn root(&self, _probability: f64) -> f64 {
        0.0
    }

    fn emission(&self, item: usize, _probability: f64) -> f64 {
        self.gains[item]
    }

    fn binary(&self, item: usize, _probability: f64) -> f64 {
        self.gains[item]
    }

    fn chain(&self, items: &[usize], _log_probability: f64) -> f64 {
        sum_above_last(&self.gains, items)
    }
}

/// The gains of all but the last of a chain, which counts where it is rewritten.
fn sum_above_last(gains: &[f64], items: &[usize]) -> f64 {
    items[..items.len() - 1].iter().map(|&item| gains[item]).sum()
}
