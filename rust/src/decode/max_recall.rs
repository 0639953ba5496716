//! The highest expected number of right nodes of the binary tree: labelled recall (Goodman 1996).
//!
//! What counts is what is written: the posteriors of all symbols that write the same labels over a
//! span are added up, those that write none included. Every binary tree over a sentence has the same
//! number of nodes, so that nothing is gained by larger ones; of the nodes that unary rules add to
//! them, only those that are more likely right than wrong gain anything.

use super::ExpectedGain;
use crate::chart::Chart;
use crate::grammar::Grammar;

/// What a node that a unary rule adds must gain at least: to be more likely right than wrong.
const UNARY_PENALTY: f64 = 0.5;

impl ExpectedGain {
    /// Compute the gains for labelled recall.
    pub fn prepare_recall(&mut self, grammar: &Grammar, chart: &Chart) {
        let output = grammar.output();
        self.unary_penalty = UNARY_PENALTY;
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
