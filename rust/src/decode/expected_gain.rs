//! What the decoders that maximise an expected number of right nodes share.

use super::Objective;
use crate::chart::edges::Edge;

/// What each item of a chart is expected to gain: see [`max_recall`](super::max_recall) and
/// [`max_f1`](super::max_f1), which fill it in memory that is reused.
#[derive(Debug, Default)]
pub struct ExpectedGain {
    pub(super) gains: Vec<f64>,
    /// What a node above another one of the same span costs.
    pub(super) unary_penalty: f64,
    /// Sums over the symbols of a cell that write the same labels.
    pub(super) chain_sums: Vec<f64>,
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
        above.iter().map(|&item| self.gains[item] - self.unary_penalty).sum()
    }
}
