//! The prior of a CRF: the score of a tree before its features are added.

use crate::chart::Chart;
use crate::chart::edges::{Edge, EdgeFinder};
use crate::chart::rule_posteriors::RulePosteriors;
use crate::decode::Words;
use crate::grammar::{Grammar, SymbolId};

/// Smaller posteriors under a latent grammar count as this, so that features can outweigh them.
/// Weights of saved models were trained with it.
const LEAST_POSTERIOR: f64 = 1e-5;

/// The prior of the trees of a chart.
#[derive(Debug, Clone, Copy)]
pub enum Prior<'a> {
    /// The probability of a tree under the PCFG, given the emission probabilities of the words.
    Pcfg(&'a Words),
    /// The approximate posterior of a tree under a latent grammar.
    Latent(&'a LatentPrior),
}

impl Prior<'_> {
    /// The logarithm of the factor of an item over the words from `start` up to `end`.
    pub(super) fn log_item(
        self,
        grammar: &Grammar,
        chart: &Chart,
        item: usize,
        (start, end): (usize, usize),
    ) -> f64 {
        let is_whole = end - start == chart.cells().words();
        match self {
            Self::Pcfg(words) => {
                let symbol = chart.symbol(item);
                let is_word = end - start == 1;
                let emission = if is_word { emission(&words[start], symbol) } else { 1.0 };
                let root = if is_whole { grammar.rules().roots()[symbol.index()] } else { 1.0 };
                (emission * root).ln()
            }
            Self::Latent(prior) if is_whole => f64::from(prior.items[item]),
            Self::Latent(_) => 0.0,
        }
    }

    /// The logarithm of the factor of an edge, given its number among the edges of the chart.
    pub(super) fn log_edge(self, edge: &Edge, number: usize) -> f64 {
        match self {
            Self::Pcfg(_) => edge.probability.ln(),
            Self::Latent(prior) => f64::from(prior.edges[number] - prior.items[edge.item]),
        }
    }
}

/// The probability with which a preterminal emits a word.
fn emission(word: &[(SymbolId, f64)], symbol: SymbolId) -> f64 {
    word.iter().find(|entry| entry.0 == symbol).map_or(0.0, |entry| entry.1)
}

/// The trees of a chart under a latent grammar. The posterior of a tree is approximated by a
/// product over its anchored rules (Petrov & Klein 2007, "variational"): the posterior of a rule,
/// divided by that of the item that it rewrites.
#[derive(Debug, Clone, Default)]
pub struct LatentPrior {
    /// The logarithms of the posteriors of all items.
    items: Vec<f32>,
    /// The logarithms of the posteriors of all edges, in the order of cells, shorter spans first.
    edges: Vec<f32>,
}

impl LatentPrior {
    /// The number of bytes of an edge. A growing vector may have twice the capacity that it needs.
    pub(crate) const EDGE_BYTES: usize = 2 * size_of::<f32>();

    /// Take the posteriors of a latent model: those of items from the chart, and those of rules.
    pub(crate) fn fill(&mut self, chart: &Chart, rules: &RulePosteriors) {
        self.fill_items(chart);
        self.edges.clear();
        self.edges.extend(rules.log_edges().iter().map(|&log| bounded(log)));
    }

    /// Take the posteriors of the PCFG.
    pub(crate) fn fill_from_pcfg(&mut self, grammar: &Grammar, chart: &Chart) {
        self.fill_items(chart);
        self.edges.clear();
        let mut finder = EdgeFinder::default();
        for (start, end) in chart.cells().bottom_up() {
            finder.for_each(grammar, chart, start, end, |edge| {
                self.edges.push(bounded(chart.edge_posterior(&edge).ln()));
            });
        }
    }

    fn fill_items(&mut self, chart: &Chart) {
        self.items.clear();
        self.items.extend((0..chart.len()).map(|item| bounded(chart.posterior(item).ln())));
    }
}

/// The logarithm of a posterior within bounds; posteriors of linear models may be above one or
/// undefined.
fn bounded(log: f64) -> f32 {
    log.max(LEAST_POSTERIOR.ln()).min(0.0) as f32
}
