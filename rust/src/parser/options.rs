//! How sentences are parsed.

use std::time::Duration;

/// What is maximised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoder {
    /// The expected number of correct nodes of the binary tree.
    MaxRecall,
    /// The expected F1 of labelled brackets.
    MaxF1,
    /// The product of the posteriors of anchored rules.
    MaxRule,
    /// The probability of the tree.
    Viterbi,
}

/// How several latent models are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// By posteriors: those of labelled spans are averaged, those of rules multiplied.
    Posteriors,
    /// By trees: the tree whose nodes occur most often in the best trees of the members.
    Trees,
}

/// How to parse.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What is maximised.
    pub decoder: Decoder,
    /// How several latent models are combined.
    pub combine: Combine,
    /// Posteriors below which classes of symbols are dropped after the coarse pass.
    pub coarse_threshold: f64,
    /// Posteriors below which symbols are dropped before decoding.
    pub threshold: f64,
    /// Posteriors under the first of several latent models below which symbols are dropped before the
    /// others; zero to drop none.
    pub member_threshold: f64,
    /// The fraction of correct spans that the span filter should leave open; one for no filter.
    pub span_recall: f64,
    /// The number of bytes that the charts of a sentence may take. Where they need more, more is
    /// pruned, or the sentence is split. K-best trees are given up to what the charts leave.
    pub memory: usize,
    /// The largest number of words that are parsed as a whole; longer sentences are split.
    pub max_length: usize,
    /// The time for a sentence. When it is up, the result is the best tree of what has been
    /// computed.
    pub timeout: Option<Duration>,
    /// The number of trees that are wanted.
    pub candidates: usize,
    /// Whether the posteriors of all labelled spans are wanted.
    pub marginals: bool,
    /// Whether the CPU times of phases are wanted.
    pub times: bool,
}
