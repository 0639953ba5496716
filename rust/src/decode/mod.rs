//! From a chart to trees.
//!
//! [`best`] finds the derivation that maximises an [`Objective`], [`k_best`] the next best ones.
//! Each decoder is an objective: [`viterbi`], [`max_rule`], and [`max_recall`] and [`max_f1`], which
//! share [`expected_gain`]. [`latent_tree`] has the probability of a tree under a latent model;
//! [`fragments`] covers a sentence that no tree spans.

mod best;
mod expected_gain;
mod fragments;
mod k_best;
mod latent_tree;
mod max_f1;
mod max_recall;
mod max_rule;
mod viterbi;

pub use best::Best;
pub use expected_gain::ExpectedGain;
pub use fragments::cover;
pub use k_best::KBest;
pub use latent_tree::latent_log_probability;
pub use max_rule::PcfgRules;
pub use viterbi::Viterbi;

use crate::chart::Chart;
use crate::chart::edges::Edge;
use crate::grammar::{Grammar, SymbolId};

/// The emission probabilities of the preterminals of each word.
pub type Words = [Vec<(SymbolId, f64)>];

/// A node of a derivation: a symbol over a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// The symbol.
    pub symbol: SymbolId,
    /// The first word.
    pub start: u32,
    /// One past the last word.
    pub end: u32,
}

/// A tree over the symbols of a grammar: its nodes in pre-order.
#[derive(Debug, Clone, PartialEq)]
pub struct Derivation {
    /// Parents before their children, left before right.
    pub nodes: Vec<Node>,
    /// The logarithm of the product of the probabilities of its rules.
    pub log_probability: f64,
}

/// What a decoder maximises: a sum over the parts of a derivation.
pub trait Objective {
    /// An item at the root of the tree, which its symbol is with probability `probability`.
    fn root(&self, item: usize, probability: f64) -> f64;
    /// An item of a cell that emits its word.
    fn emission(&self, cell: usize, item: usize, probability: f64) -> f64;
    /// An item that is rewritten by a binary rule.
    fn binary(&self, edge: &Edge) -> f64;
    /// A chain of unary rules through `items` from top to bottom, without the rule by which the
    /// last one is rewritten.
    fn chain(&self, items: &[usize], log_probability: f64) -> f64;
}

/// All derivations of a sentence, packed: what decoders read.
#[derive(Debug, Clone, Copy)]
pub struct PackedForest<'a> {
    /// The grammar.
    pub grammar: &'a Grammar,
    /// Its chart for the sentence.
    pub chart: &'a Chart,
    /// The sentence.
    pub words: &'a Words,
}

impl PackedForest<'_> {
    /// The probability with which a preterminal emits the word at `position`, zero if it can't.
    fn emission(&self, position: usize, symbol: SymbolId) -> f64 {
        self.words[position].iter().find(|entry| entry.0 == symbol).map_or(0.0, |entry| entry.1)
    }

    /// The items of the symbols on a chain in one cell; none if one of them was pruned.
    fn chain_items(&self, cell: usize, path: &[SymbolId]) -> Option<Vec<usize>> {
        let items = self.chart.items(cell);
        let symbols = self.chart.symbols(items.clone());
        path.iter()
            .map(|symbol| symbols.binary_search(symbol).ok().map(|place| items.start + place))
            .collect()
    }
}
