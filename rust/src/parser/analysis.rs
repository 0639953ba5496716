//! The result of parsing a sentence, with symbols replaced by the labels they write.

use super::times::Times;
use super::{Options, Parser, Workspace};
use crate::chart::marginals::LabelMarginals;
use crate::decode::Derivation;

/// The fallback level that the result comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Parsed without a fallback.
    Parsed = 0,
    /// Parsed with lower pruning thresholds, or with damped latent states.
    Loosened = 1,
    /// Parsed with smoothed emissions: every word may have every tag.
    Smoothed = 2,
    /// No tree spans the sentence: the fewest fragments that cover it, under a root.
    Fragments = 3,
    /// No latent model gave the sentence a probability: the tree of the backbone PCFG.
    Backbone = 4,
    /// All latent models gave the sentence a negative value instead of a probability.
    Negative = 5,
    /// Some members of the ensemble gave the sentence no probability: the tree of the others.
    FewerMembers = 6,
    /// Parsed with higher pruning thresholds, so that the charts fit into memory.
    Tightened = 7,
    /// The sentence is too long, or its charts are too large: parsed in parts, which are joined
    /// under a root.
    Split = 8,
    /// The time of the sentence was up: the best tree of what had been computed.
    Timeout = 9,
    /// The model gives the sentence a probability, but the tree none that is consistent with it.
    Inconsistent = 10,
}

/// A labelled span with its posterior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The label.
    pub label: u32,
    /// The first word.
    pub start: u32,
    /// One past the last word.
    pub end: u32,
    /// The probability that the tree of the sentence has this labelled span.
    pub probability: f64,
}

/// A tree as labelled spans in pre-order, with those of the preterminals.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenTree {
    /// Parents before children, left before right.
    pub spans: Vec<Span>,
    /// The log-probability of its derivation; minus infinity if it has none.
    pub log_probability: f64,
}

/// The result of parsing a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// The fallback level that the result comes from.
    pub status: Status,
    /// The log-probability of the sentence, minus infinity if no tree spans it.
    pub log_probability: f64,
    /// Trees, best first, at least one.
    pub trees: Vec<WrittenTree>,
    /// Posteriors of all labelled spans that were not pruned, if wanted.
    pub marginals: Vec<Span>,
    /// Where the time went, if wanted.
    pub times: Times,
}

/// The difference of log-probabilities up to which a tree that is more probable than its sentence
/// is due to rounding.
const ROUNDING: f64 = 1e-3;

/// The log-probability of a tree, given that of its sentence: minus infinity if the tree would be
/// more probable than the sentence.
fn consistent(tree: f64, sentence: f64) -> f64 {
    if tree <= sentence + ROUNDING { tree.min(sentence) } else { f64::NEG_INFINITY }
}

impl Analysis {
    /// Whether the latent models gave the sentence or its tree no probability.
    pub(super) fn lacks_probability(&self) -> bool {
        matches!(self.status, Status::Negative | Status::Inconsistent)
    }
}

/// Whether spans in pre-order have a node over each single word, from the first to the last.
pub(super) fn cover_all_words(spans: impl IntoIterator<Item = (u32, u32)>, words: usize) -> bool {
    let mut covered = 0;
    for (start, end) in spans {
        if end - start == 1 {
            match start {
                next if next == covered => covered += 1,
                same if same + 1 == covered => {}
                _ => return false,
            }
        }
    }
    covered as usize == words
}

impl Parser {
    /// The analysis of a sentence from its trees, of which there is at least one.
    pub(super) fn finish(
        &self,
        status: Status,
        trees: Vec<Derivation>,
        options: Options,
        workspace: &mut Workspace,
    ) -> Analysis {
        let log_probability = workspace.chart.log_probability();
        let mut trees: Vec<_> = trees.iter().map(|tree| self.write(tree, workspace)).collect();
        for tree in &mut trees {
            tree.log_probability = consistent(tree.log_probability, log_probability);
        }
        let is_inconsistent = !matches!(status, Status::Negative | Status::Timeout)
            && trees[0].log_probability == f64::NEG_INFINITY;
        let status = if is_inconsistent { Status::Inconsistent } else { status };
        let cells = workspace.chart.cells();
        let marginals = if options.marginals {
            workspace.marginals.prepare(self.grammar(), &workspace.chart);
            cells
                .bottom_up()
                .flat_map(|(start, end)| {
                    workspace.marginals.cell(cells.index(start, end)).iter().map(
                        move |&(label, probability)| Span {
                            label,
                            start: start as u32,
                            end: end as u32,
                            probability,
                        },
                    )
                })
                .collect()
        } else {
            Vec::new()
        };
        Analysis { status, log_probability, trees, marginals, times: Times::default() }
    }

    /// Replace symbols by the labels they write.
    pub(super) fn write(&self, derivation: &Derivation, workspace: &Workspace) -> WrittenTree {
        let (grammar, chart) = (self.grammar(), &workspace.chart);
        let mut spans = Vec::with_capacity(derivation.nodes.len());
        for node in &derivation.nodes {
            let cell = chart.cells().index(node.start as usize, node.end as usize);
            for &label in grammar.output().labels(node.symbol) {
                spans.push(Span {
                    label,
                    start: node.start,
                    end: node.end,
                    probability: LabelMarginals::of_label(grammar, chart, cell, label),
                });
            }
        }
        WrittenTree { spans, log_probability: derivation.log_probability }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_no_more_probable_than_their_sentence() {
        assert_eq!(consistent(-2.0, -1.0), -2.0);
        assert_eq!(consistent(-1.0 + 1e-6, -1.0), -1.0);
        for (tree, sentence) in [(-0.5, -1.0), (-1.0, f64::NEG_INFINITY), (f64::NAN, -1.0)] {
            assert_eq!(consistent(tree, sentence), f64::NEG_INFINITY);
        }
    }

    #[test]
    fn every_word_needs_a_node_of_its_own() {
        assert!(cover_all_words([(0, 2), (0, 1), (0, 1), (1, 2)], 2));
        assert!(!cover_all_words([(0, 2), (0, 1)], 2));
        assert!(!cover_all_words([(0, 2), (1, 2)], 2));
        assert!(!cover_all_words([(0, 2)], 2));
    }
}
