//! Ensembles of parsers: the mean of what they say of labelled spans, and the tree that covers most
//! of it.
//!
//! With the posteriors of labelled spans this is maximal marginal coverage, with the spans of the
//! parsers' trees maximal tree coverage (Narayan & Cohen 2015). Each bracket has a cost, so that the
//! objective is close to the expected F1.

mod nested;
mod search;
mod spans;

pub use search::{BRACKET_COST, Found};
pub use spans::LabelledSpan;

use crate::cancel::{Cancel, Cancelled};
use spans::SpanSums;

/// What the members of an ensemble say of a sentence.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    words: usize,
    sums: SpanSums,
    /// The sum of the weights of the members.
    weight: f64,
    /// The numbers of the members, and their trees as labelled spans in pre-order.
    trees: Vec<(usize, Vec<LabelledSpan>)>,
}

impl Coverage {
    /// Nothing is known yet of a sentence with this number of words.
    pub fn new(words: usize) -> Self {
        Self { words, ..Self::default() }
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Add the labelled spans of a member with their probabilities, and its tree. Of a span that
    /// occurs twice, the first probability counts.
    pub fn add(
        &mut self,
        member: usize,
        weight: f64,
        spans: impl Iterator<Item = (LabelledSpan, f64)>,
        tree: Vec<LabelledSpan>,
    ) {
        self.sums.add(weight, spans);
        self.weight += weight;
        self.trees.push((member, tree));
    }

    /// The labelled spans in ascending order, and the means of their probabilities.
    pub fn means(&self) -> impl Iterator<Item = (LabelledSpan, f64)> + '_ {
        let weight = self.weight;
        self.sums.iter().map(move |(span, sum)| (span, sum / weight))
    }

    /// The mean of the probabilities of a labelled span.
    pub fn mean(&self, span: LabelledSpan) -> f64 {
        self.sums.get(span) / self.weight
    }

    /// The tree of all members, or else the tree that covers most, over the most probable tags.
    /// `is_tag` says which labels are tags. None if no member was added.
    pub fn best(&self, is_tag: &[bool], cancel: &Cancel) -> Result<Option<Found>, Cancelled> {
        let Some((_, first)) = self.trees.first() else { return Ok(None) };
        let tree = if self.trees.iter().all(|(_, tree)| tree == first) {
            first.clone()
        } else {
            search::best_tree(self, is_tag, cancel)?
        };
        let proposers = self.trees.iter().filter(|(_, own)| *own == tree);
        let proposers = proposers.map(|&(member, _)| member).collect();
        Ok(Some(Found { tree, proposers }))
    }
}
