//! The highest expected number of correct nodes of the binary tree: labelled recall (Goodman 1996).
//!
//! The posteriors of all symbols that write the same labels over a span are summed, those of
//! symbols that write no label included. Every binary tree over a sentence has the same number of
//! nodes, so larger trees gain nothing. Nodes that unary rules add only gain something if they are
//! more likely correct than not.

use super::ExpectedGain;
use crate::chart::Chart;
use crate::grammar::Grammar;

/// The cost of a node that a unary rule adds: it must be more likely correct than not.
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
