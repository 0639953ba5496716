//! The span filter: closes spans before any chart is filled.
//!
//! A conditional random field over binary bracketings without labels, with features of the words at
//! the borders of spans, gives each span a probability. Spans below a threshold are closed: no pass
//! fills their cells. This is a form of chart constraints (Roark & Hollingshead 2008, Bodenstab et
//! al. 2011) in which both borders of a span are judged together.

mod bracketings;
mod features;
mod train;
mod weights;

pub use features::TokenFeatures;
pub use train::{Examples, TrainingOptions, train};
pub use weights::{VERSION, Weights};

use bracketings::Bracketings;
use features::Keys;
use weights::score_spans;

use crate::cancel::{Cancel, Cancelled};
use crate::chart::span_set::SpanSet;
use crate::grammar::{GrammarError, Token};
use crate::numeric::simd_dispatch::simd_dispatch;

/// The fractions of correct spans that are lost at each threshold of a filter: from one in ten
/// thousand to one in ten, in equal ratios.
pub const LOSSES: usize = 25;

/// The logarithm of the lowest of these fractions, and the ratio of two neighbours.
const LOWEST_LOSS: f64 = -4.0;
const LOSS_STEP: f64 = 0.125;

/// The parameters of a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanFilter {
    /// The most probable tag of each word and word class of the lexicon.
    word_tags: Vec<u32>,
    /// The number of the set of its probable tags.
    word_tag_sets: Vec<u32>,
    weights: Weights,
    /// The probabilities of spans below which each of the fractions of correct spans lie.
    thresholds: Vec<f32>,
}

/// Memory that a thread reuses from sentence to sentence.
#[derive(Debug, Default)]
pub struct FilterWorkspace {
    sentence: Vec<TokenFeatures>,
    keys: Keys,
    scores: Vec<f32>,
    bracketings: Bracketings,
}

impl SpanFilter {
    /// Check and take the parameters.
    pub fn new(
        word_tags: Vec<u32>,
        word_tag_sets: Vec<u32>,
        weights: Weights,
        thresholds: Vec<f32>,
    ) -> Result<Self, GrammarError> {
        for (array, expected, found) in [
            ("sets of tags of the span filter", word_tags.len(), word_tag_sets.len()),
            ("thresholds of the span filter", LOSSES, thresholds.len()),
        ] {
            if found != expected {
                return Err(GrammarError::Length { array, expected, found });
            }
        }
        if let Some(row) = thresholds.iter().position(|value| !(0.0..=1.0).contains(value)) {
            let value = f64::from(thresholds[row]);
            return Err(GrammarError::Probability { array: "span filter", row, value });
        }
        Ok(Self { word_tags, word_tag_sets, weights, thresholds })
    }

    /// The number of words and word classes of the lexicon that the filter belongs to.
    pub fn number_of_words(&self) -> usize {
        self.word_tags.len()
    }

    /// The probability below which spans are closed, so that this fraction of correct spans stays
    /// open; zero for all of them.
    pub fn threshold(&self, recall: f64) -> f32 {
        let loss = 1.0 - recall;
        if loss <= 0.0 {
            return 0.0;
        }
        let place = (loss.log10() - LOWEST_LOSS) / LOSS_STEP;
        if place <= 0.0 {
            // Fewer than were measured: in proportion.
            return self.thresholds[0] * 10f64.powf(place * LOSS_STEP) as f32;
        }
        let last = self.thresholds.len() - 1;
        let below = (place as usize).min(last);
        let fraction = (place - below as f64).min(1.0) as f32;
        let above = self.thresholds[(below + 1).min(last)];
        self.thresholds[below] + fraction * (above - self.thresholds[below])
    }

    /// The bytes that a sentence with this number of words takes.
    pub fn bytes(words: usize) -> usize {
        Bracketings::bytes(words) + (words + 1).saturating_mul(words + 1) * size_of::<f32>()
    }

    /// Set `open` to the spans whose probability is at least `threshold`, the single words and the
    /// whole sentence. Returns false, with nothing set, if a word is not known.
    pub fn open(
        &self,
        tokens: &[Token],
        threshold: f32,
        workspace: &mut FilterWorkspace,
        open: &mut SpanSet,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        workspace.sentence.clear();
        for &token in tokens {
            let (word, tag) = match token {
                Token::Word(word) => (word, None),
                Token::Tagged { word, tag } => (word, Some(tag)),
                Token::Tag(_) => return Ok(false),
            };
            let tags = self.word_tag_sets[word as usize];
            let tag = tag.unwrap_or(self.word_tags[word as usize]);
            workspace.sentence.push(TokenFeatures { word, tag, tags });
        }
        workspace.run(&self.weights, cancel)?;
        let words = tokens.len();
        open.reset(words);
        for start in 0..words {
            open.insert(start, start + 1);
            for end in start + 2..=words {
                if workspace.bracketings.posterior(start, end) >= threshold {
                    open.insert(start, end);
                }
            }
        }
        open.insert(0, words);
        Ok(true)
    }
}

impl FilterWorkspace {
    /// Compute the probabilities of the spans of `sentence`.
    fn run(&mut self, weights: &Weights, cancel: &Cancel) -> Result<(), Cancelled> {
        let workspace = self;
        simd_dispatch!(
            FilterWorkspace::run_portable,
            (
                workspace: &mut FilterWorkspace,
                weights: &Weights,
                cancel: &Cancel,
            ) -> Result<(), Cancelled>
        )
    }

    #[inline(always)]
    fn run_portable(&mut self, weights: &Weights, cancel: &Cancel) -> Result<(), Cancelled> {
        let Self { sentence, keys, scores, bracketings } = self;
        keys.prepare(sentence);
        score_spans(weights, keys, sentence.len(), scores, cancel)?;
        bracketings.run(sentence.len(), scores, cancel)
    }
}
