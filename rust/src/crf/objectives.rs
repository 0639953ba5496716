//! Trees and their rules as features weigh them.

use super::pass::CrfPass;
use crate::chart::edges::Edge;
use crate::chart::rule_posteriors::log_posterior;
use crate::decode::Objective;

/// The weight of the derivation.
#[derive(Debug, Clone, Copy)]
pub struct CrfTrees<'a>(pub &'a CrfPass);

impl Objective for CrfTrees<'_> {
    fn root(&self, _item: usize, _probability: f64) -> f64 {
        // A part of what the item weighs by itself.
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

/// The product of the posteriors of the derivation's rules.
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
