//! The most probable derivation.

use super::Objective;
use crate::chart::edges::Edge;

/// The log-probability of the derivation.
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
