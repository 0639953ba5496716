//! Charts: coarse-to-fine inside-outside (Charniak et al. 2006, Petrov & Klein 2007) for PCFGs and
//! for grammars with latent states (L-PCFGs).
//!
//! A [`Chart`] has the items, symbols over spans, that are left after pruning. The passes, in the
//! order in which a sentence goes through them:
//!
//! - [`coarse`] runs dense inside-outside over a few merged symbols and leaves a [`mask`].
//! - [`pcfg`] runs sparse inside-outside over the symbols of the grammar where the mask allows, and
//!   the chart is pruned by posterior.
//! - [`latent`] computes the posteriors of the remaining items under a model with latent states,
//!   and [`rule_posteriors`] those of its anchored rules. [`mixture`] combines several models.
//!
//! [`marginals`] sums posteriors by label. [`edges`] finds the anchored binary rules of a chart.
//! [`gold`] is a chart with its gold tree. A [`guide`] has what other models say of labelled spans. A [`span_set`] has the spans that may have items.
//!
//! All passes keep inside values in scaled arithmetic: each cell has its own power of two, so that
//! nothing underflows in long sentences. Outside values are relative to the inside scale of their
//! cell and to the probability of the sentence. The product of the two is a posterior and needs no
//! exponent.

pub mod coarse;
pub mod edges;
pub mod gold;
pub mod guide;
mod items;
pub mod latent;
pub mod marginals;
pub mod mask;
pub mod mixture;
mod pair_matrices;
pub mod pcfg;
pub mod rule_posteriors;
pub mod span_set;
mod sparse_vector;
mod symbol_set;

pub use items::Chart;

/// Fill a reused vector with a value, without growing it beyond the length that is needed.
fn refill<T: Clone>(vector: &mut Vec<T>, length: usize, value: T) {
    vector.clear();
    vector.reserve_exact(length);
    vector.resize(length, value);
}

/// Numbering of the spans of a sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cells {
    words: usize,
}

impl Cells {
    /// The spans of a sentence with this number of words.
    pub fn new(words: usize) -> Self {
        Self { words }
    }

    /// The number of words.
    #[inline]
    pub fn words(self) -> usize {
        self.words
    }

    /// The number of spans.
    #[inline]
    pub fn count(self) -> usize {
        self.words * (self.words + 1) / 2
    }

    /// The number of the span from word `start` up to but not including word `end`.
    #[inline]
    pub fn index(self, start: usize, end: usize) -> usize {
        debug_assert!(start < end && end <= self.words);
        start * (2 * self.words - start + 1) / 2 + (end - start - 1)
    }

    /// All spans, shorter ones first.
    pub fn bottom_up(self) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        let words = self.words;
        (1..=words)
            .flat_map(move |width| (0..=words - width).map(move |start| (start, start + width)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_span_has_a_number_of_its_own() {
        let cells = Cells::new(7);
        let mut seen: Vec<usize> =
            cells.bottom_up().map(|(start, end)| cells.index(start, end)).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..cells.count()).collect::<Vec<_>>());
    }
}
