//! Weights of features, and the scores of spans.

use super::features::{Keys, WIDTH_CLASSES, width_class};
use crate::cancel::{Cancel, Cancelled};
use crate::grammar::GrammarError;

/// The version of the feature templates, which model files store.
pub const VERSION: u32 = 1;

/// The largest absolute value of a weight: scores of spans stay finite.
const MAX_WEIGHT: f32 = 1e3;

/// Weights by hashes of features.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// A weight for each width class; the number of rows is a power of two.
    pub(super) borders: Vec<[f32; WIDTH_CLASSES]>,
    /// The number is a power of two.
    pub(super) pairs: Vec<f32>,
    border_shift: u32,
    pair_shift: u32,
}

impl Weights {
    /// All weights zero: 2 to the power of `border_bits` rows of border features, and 2 to the power
    /// of `pair_bits` features of pairs of borders.
    pub fn zeros(border_bits: u32, pair_bits: u32) -> Self {
        Self {
            borders: vec![[0.0; WIDTH_CLASSES]; 1 << border_bits],
            pairs: vec![0.0; 1 << pair_bits],
            border_shift: 32 - border_bits,
            pair_shift: 32 - pair_bits,
        }
    }

    /// The given weights, checked; those of a border feature follow one another.
    pub fn new(borders: &[f32], pairs: Vec<f32>) -> Result<Self, GrammarError> {
        let (rows, rest) = borders.as_chunks::<WIDTH_CLASSES>();
        for (length, rest) in [(rows.len(), rest.len()), (pairs.len(), 0)] {
            if !length.is_power_of_two() || !(2..=1 << 31).contains(&length) || rest > 0 {
                return Err(GrammarError::FilterWeights { length });
            }
        }
        // NaN is out of range, too.
        let is_wrong = |value: &f32| !(-MAX_WEIGHT..=MAX_WEIGHT).contains(value);
        if let Some((index, &value)) =
            borders.iter().chain(&pairs).enumerate().find(|(_, v)| is_wrong(v))
        {
            return Err(GrammarError::FilterWeight { index, value, limit: MAX_WEIGHT });
        }
        Ok(Self {
            border_shift: 32 - rows.len().ilog2(),
            pair_shift: 32 - pairs.len().ilog2(),
            borders: rows.to_vec(),
            pairs,
        })
    }

    /// The weights of border features, one row after the other.
    pub fn borders(&self) -> &[f32] {
        self.borders.as_flattened()
    }

    /// The weights of features of pairs of borders.
    pub fn pairs(&self) -> &[f32] {
        &self.pairs
    }

    #[inline(always)]
    pub(super) fn border_index(&self, key: u32) -> usize {
        (key >> self.border_shift) as usize
    }

    #[inline(always)]
    pub(super) fn pair_index(&self, key: u32) -> usize {
        (key >> self.pair_shift) as usize
    }

    /// The scores of a position as the start (side 0) or the end (side 1) of spans of each width
    /// class.
    fn border_scores(&self, keys: &Keys, side: usize, position: usize) -> [f32; WIDTH_CLASSES] {
        let mut sums = [0.0; WIDTH_CLASSES];
        for &key in keys.border(side, position) {
            for (sum, weight) in sums.iter_mut().zip(self.borders[self.border_index(key)]) {
                *sum += weight;
            }
        }
        sums
    }
}

/// Write the scores of all spans of several words to `scores`, in rows by their starts.
#[inline(always)]
pub(super) fn score_spans(
    weights: &Weights,
    keys: &Keys,
    words: usize,
    scores: &mut Vec<f32>,
    cancel: &Cancel,
) -> Result<(), Cancelled> {
    let stride = words + 1;
    scores.clear();
    scores.resize(stride * stride, 0.0);
    let ends: Vec<_> = (0..=words).map(|end| weights.border_scores(keys, 1, end)).collect();
    for start in 0..words {
        cancel.check()?;
        let starts = weights.border_scores(keys, 0, start);
        for end in start + 2..=words {
            let class = width_class(end - start);
            let mut score = starts[class] + ends[end][class];
            score += weights.pairs[weights.pair_index(keys.width(end - start))];
            for key in keys.pair(start, end) {
                score += weights.pairs[weights.pair_index(key)];
            }
            scores[start * stride + end] = score;
        }
    }
    Ok(())
}
