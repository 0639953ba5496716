//! The product of the posteriors of a derivation's anchored rules: max-rule-product decoding
//! (Petrov & Klein 2007).

use super::Objective;
use crate::chart::Chart;
use crate::chart::edges::Edge;
use crate::chart::rule_posteriors::{RulePosteriors, log_posterior};

/// The anchored rules of a PCFG chart. Their posteriors are computed when needed. Every rule of a
/// unary chain counts.
#[derive(Debug, Clone, Copy)]
pub struct PcfgRules<'a>(pub &'a Chart);

impl Objective for PcfgRules<'_> {
    fn root(&self, item: usize, probability: f64) -> f64 {
        log_posterior(self.0.root_posterior(item, probability))
    }

    fn emission(&self, cell: usize, item: usize, probability: f64) -> f64 {
        log_posterior(self.0.emission_posterior(cell, item, probability))
    }

    fn binary(&self, edge: &Edge) -> f64 {
        log_posterior(self.0.edge_posterior(edge))
    }

    fn chain(&self, items: &[usize], log_probability: f64) -> f64 {
        let contexts = items.windows(2).map(|pair| self.0.unary_context(pair[0], pair[1]));
        log_probability + contexts.map(log_posterior).sum::<f64>()
    }
}

impl Objective for RulePosteriors {
    fn root(&self, item: usize, _probability: f64) -> f64 {
        self.log_root(item)
    }

    fn emission(&self, _cell: usize, item: usize, _probability: f64) -> f64 {
        self.log_emission(item)
    }

    fn binary(&self, edge: &Edge) -> f64 {
        self.log_edge(edge)
    }

    fn chain(&self, items: &[usize], _log_probability: f64) -> f64 {
        items.windows(2).map(|pair| self.log_unary(pair[0], pair[1])).sum()
    }
}
