//! The objectives of decoding with a CRF.

use super::pass::CrfPass;
use crate::chart::edges::Edge;
use crate::chart::rule_posteriors::log_posterior;
use crate::decode::Objective;

/// The weight of the derivation: Viterbi decoding.
#[derive(Debug, Clone, Copy)]
pub struct CrfTrees<'a>(pub &'a CrfPass);

impl Objective for CrfTrees<'_> {
    fn root(&self, _item: usize, _probability: f64) -> f64 {
        // The weight of the item includes its root probability.
        0.0
    }

    fn emission(&self, _cell: usize, item: usize, _probability: f64) -> f64 {
        self.0.log_weight(item)
    }

    fn binary(&self, edge: &Edge) -> f64 {
        self.0.log_weight(edge.item) + self.0.log_edge_weight(edge)
    }

    fn chain(&self, _items: &[usize], _log_probability: f64) -> f64 {
        unreachable!("grammars with features have no unary rules")
    }
}

/// The product of the posteriors of the derivation's anchored rules: max-rule decoding.
#[derive(Debug, Clone, Copy)]
pub struct CrfRules<'a>(pub &'a CrfPass);

impl Objective for CrfRules<'_> {
    fn root(&self, item: usize, _probability: f64) -> f64 {
        log_posterior(self.0.posterior(item))
    }

    fn emission(&self, _cell: usize, item: usize, _probability: f64) -> f64 {
        log_posterior(self.0.posterior(item))
    }

    fn binary(&self, edge: &Edge) -> f64 {
        log_posterior(self.0.edge_posterior(edge))
    }

    fn chain(&self, _items: &[usize], _log_probability: f64) -> f64 {
        unreachable!("grammars with features have no unary rules")
    }
}
