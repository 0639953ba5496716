//! Decoding: from a chart to trees.
//!
//! [`Best`] finds the derivation that maximises an [`Objective`], by dynamic programming. [`KBest`]
//! finds the k best ones (Huang & Chiang 2005). Each decoder is an objective: [`Viterbi`] (the most
//! probable derivation), [`PcfgRules`] and
//! [`RulePosteriors`](crate::chart::rule_posteriors::RulePosteriors) (max-rule, Petrov & Klein
//! 2007), and [`ExpectedGain`] (labelled recall, Goodman 1996, and expected F1).
//! [`latent_log_probability`] is the probability of a tree under a latent model. [`cover`] covers a
//! sentence that no tree spans with fragments.

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

/// What a decoder maximises: a sum of scores over the root, the emissions, the binary rules and the
/// unary chains of a derivation.
pub trait Objective {
    /// The score of an item at the root of the tree, given the root probability of its symbol.
    fn root(&self, item: usize, probability: f64) -> f64;
    /// The score of an item that emits its word, given its cell and the emission probability.
    fn emission(&self, cell: usize, item: usize, probability: f64) -> f64;
    /// The score of an anchored binary rule.
    fn binary(&self, edge: &Edge) -> f64;
    /// The score of a chain of unary rules through `items` from top to bottom, without the rule
    /// that rewrites the last item.
    fn chain(&self, items: &[usize], log_probability: f64) -> f64;
}

/// The packed forest of all derivations of a sentence, which decoders read.
#[derive(Debug, Clone, Copy)]
pub struct PackedForest<'a> {
    /// The grammar.
    pub grammar: &'a Grammar,
    /// Its chart for the sentence.
    pub chart: &'a Chart,
    /// The emission probabilities of the words.
    pub words: &'a Words,
}

impl PackedForest<'_> {
    /// The probability with which a preterminal emits the word at `position`, zero if it cannot.
    fn emission(&self, position: usize, symbol: SymbolId) -> f64 {
        self.words[position].iter().find(|entry| entry.0 == symbol).map_or(0.0, |entry| entry.1)
    }

    /// The items of the symbols on a chain in one cell; none if one of them was pruned.
    fn chain_items(&self, cell: usize, path: &[SymbolId]) -> Option<Vec<usize>> {
        let items = self.chart.items(cell);
        let symbols = self.chart.symbols(items.clone());
        path.iter()
            .map(|symbol| symbols.binary_search(symbol).ok().map(|offset| items.start + offset))
            .collect()
    }
}
