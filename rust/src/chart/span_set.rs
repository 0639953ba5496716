//! Sets of spans as bit matrices, in which the split points of a span are found word by word.

/// A set of spans of a sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SpanSet {
    /// For each start, the ends of its spans.
    ends: Vec<u64>,
    /// For each end, the starts of its spans.
    starts: Vec<u64>,
    words_per_row: usize,
}

impl SpanSet {
    /// The empty set, for a sentence with this number of words.
    pub fn reset(&mut self, words: usize) {
        self.words_per_row = (words + 1).div_ceil(64);
        for bits in [&mut self.ends, &mut self.starts] {
            super::refill(bits, (words + 1) * self.words_per_row, 0);
        }
    }

    /// The bytes of a set for a sentence with this number of words.
    pub fn bytes(words: usize) -> usize {
        2 * (words + 1) * (words + 1).div_ceil(64) * size_of::<u64>()
    }

    /// Add the span from `start` up to `end`.
    #[inline]
    pub fn insert(&mut self, start: usize, end: usize) {
        self.ends[start * self.words_per_row + end / 64] |= 1 << (end % 64);
        self.starts[end * self.words_per_row + start / 64] |= 1 << (start % 64);
    }

    /// Whether the set has a span.
    #[inline]
    pub fn contains(&self, start: usize, end: usize) -> bool {
        self.ends[start * self.words_per_row + end / 64] >> (end % 64) & 1 == 1
    }

    /// The positions, in ascending order, at which a span can be split into two spans of the set.
    #[inline(always)]
    pub fn splits(&self, start: usize, end: usize) -> impl Iterator<Item = usize> + '_ {
        let ends = self.row(&self.ends, start);
        let starts = self.row(&self.starts, end);
        Positions::new(start + 1, end, move |word| ends[word] & starts[word])
    }

    /// The positions after `end` that end a span from `start` and one from `end`: those up to which
    /// a left child can be completed.
    #[inline(always)]
    pub fn completions_to_the_right(
        &self,
        start: usize,
        end: usize,
        words: usize,
    ) -> impl Iterator<Item = usize> + '_ {
        let wider = self.row(&self.ends, start);
        let siblings = self.row(&self.ends, end);
        Positions::new(end + 1, words + 1, move |word| wider[word] & siblings[word])
    }

    /// The positions before `start` that start a span up to `end` and one up to `start`.
    #[inline(always)]
    pub fn completions_to_the_left(
        &self,
        start: usize,
        end: usize,
    ) -> impl Iterator<Item = usize> + '_ {
        let wider = self.row(&self.starts, end);
        let siblings = self.row(&self.starts, start);
        Positions::new(0, start, move |word| wider[word] & siblings[word])
    }

    #[inline(always)]
    fn row<'a>(&self, bits: &'a [u64], position: usize) -> &'a [u64] {
        &bits[position * self.words_per_row..][..self.words_per_row]
    }
}

/// The positions in a range whose bits are set.
struct Positions<Bits> {
    bits: Bits,
    /// The bits of the current word that are still to come.
    current: u64,
    word: usize,
    to: usize,
}

impl<Bits: Fn(usize) -> u64> Positions<Bits> {
    #[inline(always)]
    fn new(from: usize, to: usize, bits: Bits) -> Self {
        let word = from / 64;
        let current = if from < to { bits(word) & (u64::MAX << (from % 64)) } else { 0 };
        Self { bits, current, word, to }
    }
}

impl<Bits: Fn(usize) -> u64> Iterator for Positions<Bits> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.current == 0 {
            self.word += 1;
            if self.word * 64 >= self.to {
                return None;
            }
            self.current = (self.bits)(self.word);
        }
        let position = self.word * 64 + self.current.trailing_zeros() as usize;
        self.current &= self.current - 1;
        (position < self.to).then_some(position)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const WORDS: usize = 150;

    proptest! {
        #[test]
        fn finds_the_neighbours_of_spans(
            pairs in proptest::collection::btree_set((0..=WORDS, 0..=WORDS), 0..600),
            queries in proptest::collection::vec((0..=WORDS, 0..=WORDS), 1..40),
        ) {
            let spans: BTreeSet<_> = pairs.into_iter().filter(|(start, end)| start < end).collect();
            let mut set = SpanSet::default();
            set.reset(WORDS);
            for &(start, end) in &spans {
                set.insert(start, end);
            }
            for (start, end) in queries.into_iter().filter(|(start, end)| start < end) {
                let has = |start, end| spans.contains(&(start, end));
                prop_assert_eq!(set.contains(start, end), has(start, end));
                let splits: Vec<_> =
                    (start + 1..end).filter(|&at| has(start, at) && has(at, end)).collect();
                prop_assert_eq!(set.splits(start, end).collect::<Vec<_>>(), splits);
                let right: Vec<_> =
                    (end + 1..=WORDS).filter(|&at| has(start, at) && has(end, at)).collect();
                let found = set.completions_to_the_right(start, end, WORDS).collect::<Vec<_>>();
                prop_assert_eq!(found, right);
                let left: Vec<_> =
                    (0..start).filter(|&at| has(at, end) && has(at, start)).collect();
                let found = set.completions_to_the_left(start, end).collect::<Vec<_>>();
                prop_assert_eq!(found, left);
            }
        }
    }
}
