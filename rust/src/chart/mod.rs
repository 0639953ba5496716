//! Charts: which symbols may span which words, and how likely they are.
//!
//! A [`Chart`] has the items that are left after pruning. [`coarse`] runs a dense inside-outside pass
//! over few merged symbols and leaves a [`mask`]; [`pcfg`] runs the same over the symbols of the
//! grammar, sparsely, where the mask allows, and prunes by posterior; [`latent`] computes the
//! posteriors of what is left under a model with latent states, [`rule_posteriors`] those of its
//! rules, and [`mixture`] combines those of several models; [`marginals`] adds posteriors up by label;
//! [`edges`] finds the binary rules that join items; [`gold`] is a chart with its gold tree.
//!
//! All passes keep inside values in scaled arithmetic: each cell has a power of two of its own, so
//! that nothing underflows however long the sentence is. Outside values are kept relative to the
//! inside scale of their cell and to the probability of the sentence, so that the product of the
//! two is a posterior and needs no exponent.

pub mod coarse;
pub mod edges;
pub mod gold;
mod items;
pub mod latent;
pub mod marginals;
pub mod mask;
pub mod mixture;
mod pair_matrices;
pub mod pcfg;
pub mod rule_posteriors;
mod sparse_vector;

pub use items::Chart;

/// Fill a vector that is reused with a value, taking no more memory than it needs.
fn refill<T: Clone>(vector: &mut Vec<T>, length: usize, value: T) {
    vector.clear();
    vector.reserve_exact(length);
    vector.resize(length, value);
}

/// Numbering of the spans of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cells {
    words: usize,
}

impl Cells {
    /// The spans of a sentence of so many words.
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
