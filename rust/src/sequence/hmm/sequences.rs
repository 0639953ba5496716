//! Sequences of symbols, cut into chunks that threads work on.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::model::HmmError;

/// A chunk ends with the sequence in which it reaches this number of symbols. It is large enough to
/// make the cost of summing counts over chunks small, and small enough to keep all threads busy.
const CHUNK_SYMBOLS: usize = 8192;

/// Sequences of symbols, stored one after the other.
#[derive(Debug, Clone)]
pub struct Sequences {
    offsets: Vec<usize>,
    symbols: Vec<u32>,
    chunks: Vec<Chunk>,
}

/// Consecutive sequences, with their distinct symbols numbered from zero. Chunks do not depend on
/// the number of threads, so sums over chunks do not, either.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    pub(super) sequences: Range<usize>,
    pub(super) vocabulary: Vec<u32>,
    /// For each symbol of the sequences, its number in the vocabulary.
    pub(super) vocabulary_numbers: Vec<u32>,
}

impl Sequences {
    /// Sequence s is `symbols[offsets[s]..offsets[s + 1]]`; none may be empty.
    pub fn new(offsets: Vec<usize>, symbols: Vec<u32>) -> Result<Self, HmmError> {
        if offsets.first() != Some(&0)
            || offsets.last() != Some(&symbols.len())
            || offsets.windows(2).any(|pair| pair[0] >= pair[1])
        {
            return Err(HmmError::Offsets(symbols.len()));
        }
        let mut chunks = Vec::new();
        let mut first = 0;
        for end in 1..offsets.len() {
            if offsets[end] - offsets[first] >= CHUNK_SYMBOLS || end + 1 == offsets.len() {
                chunks.push(Chunk::new(first..end, &symbols[offsets[first]..offsets[end]]));
                first = end;
            }
        }
        Ok(Self { offsets, symbols, chunks })
    }

    /// The number of sequences.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The symbols of a sequence.
    pub fn get(&self, sequence: usize) -> &[u32] {
        &self.symbols[self.range(sequence)]
    }

    /// The range of a sequence among the symbols of all sequences.
    pub(super) fn range(&self, sequence: usize) -> Range<usize> {
        self.offsets[sequence]..self.offsets[sequence + 1]
    }

    /// Call `work` with the number of each sequence, on the threads of the current rayon pool. Each
    /// thread has its own `memory`. Results are in the order of the sequences; of several errors
    /// the first one is returned.
    pub(super) fn map<M, T: Send>(
        &self,
        memory: impl Fn() -> M + Sync + Send,
        work: impl Fn(&mut M, usize) -> Result<T, HmmError> + Sync + Send,
    ) -> Result<Vec<T>, HmmError> {
        let results: Vec<_> = (0..self.len()).into_par_iter().map_init(memory, work).collect();
        results.into_iter().collect()
    }

    pub(super) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Check that a model has all symbols.
    pub(super) fn check(&self, symbols: usize) -> Result<(), HmmError> {
        let largest = self.chunks.iter().flat_map(|chunk| &chunk.vocabulary).max();
        match largest {
            Some(&symbol) if symbol as usize >= symbols => {
                Err(HmmError::Symbol { symbol, symbols })
            }
            _ => Ok(()),
        }
    }
}

impl Chunk {
    fn new(sequences: Range<usize>, symbols: &[u32]) -> Self {
        let mut numbers = FxHashMap::default();
        let mut vocabulary = Vec::new();
        let vocabulary_numbers = symbols
            .iter()
            .map(|&symbol| {
                *numbers.entry(symbol).or_insert_with(|| {
                    vocabulary.push(symbol);
                    vocabulary.len() as u32 - 1
                })
            })
            .collect();
        Self { sequences, vocabulary, vocabulary_numbers }
    }
}
