//! The objective shared by the decoders that maximise an expected number of correct nodes.

use super::Objective;
use crate::chart::edges::Edge;

/// The expected gain of each item of a chart, in memory that is reused.
/// [`prepare_recall`](Self::prepare_recall) and [`prepare_f1`](Self::prepare_f1) compute it;
/// [`new`](Self::new) takes it as it is.
#[derive(Debug, Default)]
pub struct ExpectedGain {
    pub(super) gains: Vec<f64>,
    /// The cost of each node that a unary rule adds.
    pub(super) unary_penalty: f64,
    /// Posteriors summed over the symbols of a cell that write the same chain of labels.
    pub(super) chain_sums: Vec<f64>,
}

impl ExpectedGain {
    /// The given gains of the items of a chart without unary rules.
    pub fn new(gains: Vec<f64>) -> Self {
        Self { gains, ..Self::default() }
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
        // The gain of the last item is added with the rule that rewrites it.
        let above = &items[..items.len() - 1];
        above.iter().map(|&item| self.gains[item] - self.unary_penalty).sum()
    }
}
