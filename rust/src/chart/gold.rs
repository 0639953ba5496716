//! A gold-constrained chart: the pruned chart of a training sentence, with its gold tree.

use super::Chart;
use crate::grammar::SymbolId;

/// A pruned chart that has all nodes of the gold tree.
#[derive(Debug, Clone)]
pub struct GoldChart {
    /// The chart.
    pub chart: Chart,
    /// The emission probabilities of the preterminals of each word.
    pub words: Vec<Vec<(SymbolId, f64)>>,
    /// For each item, whether it is a node of the gold tree.
    pub is_gold: Vec<bool>,
}
