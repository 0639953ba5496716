//! What can be maximised.

use super::Objective;
use crate::chart::edges::Edge;
use crate::chart::marginals::LabelMarginals;
use crate::chart::pcfg::Chart;
use crate::grammar::Grammar;

/// The probability of the derivation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Viterbi;

impl Objective for Viterbi {
    fn root(&self, _item: usize, probability: f64) -> f64 {
        probability.ln()
    }

    fn emission(&self, _cell: usize, _item: usize, probability: f64) -> f64 {
        probability.ln()
    }

    fn binary(&self, edge: &Edge) -> f64 {
        edge.probability.ln()
    }

    fn chain(&self, _items: &[usize], log_probability: f64) -> f64 {
        log_probability
    }
}

/// What each item of a chart is expected to gain.
///
/// For *labelled recall* (Goodman 1996) that is the expected number of right nodes of the binary
/// tree. What counts is what is written: the posteriors of all symbols that write the same labels
/// over a span are added up, those that write none included. Every binary tree over a sentence has
/// the same number of nodes, so that nothing is gained by larger ones; of the nodes that unary rules
/// add to them, only those that are more likely right than wrong gain anything.
///
/// For *F1* it is the expected number of right labelled brackets, less a cost for each that is
/// written. Maximising F1 = 2 correct / (written + gold) means maximising 2 correct - F1 (written +
/// gold) at the F1 that is reached, so that the cost of a bracket is half of it.
#[derive(Debug, Default)]
pub struct ExpectedGain {
    gains: Vec<f64>,
    /// What a node above another one of the same span costs.
    toll: f64,
    chain_sums: Vec<f64>,
}

impl ExpectedGain {
    /// Half of a usual F1.
    const BRACKET_COST: f64 = 0.4;

    /// Compute the gains for labelled recall, in memory that is reused.
    pub fn prepare_recall(&mut self, grammar: &Grammar, chart: &Chart) {
        let output = grammar.output();
        self.toll = 0.5;
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

    /// Compute the gains for F1, in memory that is reused.
    pub fn prepare_f1(&mut self, grammar: &Grammar, chart: &Chart, marginals: &LabelMarginals) {
        self.toll = 0.0;
        self.gains.clear();
        self.gains.resize(chart.len(), 0.0);
        for cell in 0..chart.cells().count() {
            for item in chart.items(cell) {
                let labels = grammar.output().labels(chart.symbol(item)).iter();
                self.gains[item] =
                    labels.map(|&label| marginals.get(cell, label) - Self::BRACKET_COST).sum();
            }
        }
    }
}

impl Objective for ExpectedGain {
    fn root(&self, _item: usize, _probability: f64) -> f64 {
        0.0
    }

    fn emission(&self, _cell: usize, item: usize, _probability: f64) -> f64 {
        self.gains[item]
    }

    fn binary(&self, edge: &Edge) -> f64 {
        self.gains[edge.item]
    }

    fn chain(&self, items: &[usize], _log_probability: f64) -> f64 {
        // The gain of the last one counts where it is rewritten.
        let above = &items[..items.len() - 1];
        above.iter().map(|&item| self.gains[item] - self.toll).sum()
    }
}
