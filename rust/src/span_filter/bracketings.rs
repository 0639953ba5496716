//! Inside-outside over all binary bracketings of a sentence, without labels.
//!
//! The weight of a bracketing is the product of the weights of its spans. A chart without labels has
//! one number for each span, so a pass takes a few microseconds for a sentence of usual length.

use crate::cancel::{Cancel, Cancelled};
use crate::numeric::scaling::{EMPTY, exponent};
use crate::numeric::vectors::{LANES, sum};

/// Spans with a lower probability pass nothing to the spans inside them.
const NEGLIGIBLE: f32 = 1e-6;

/// The sums of a sentence, in memory that is reused from sentence to sentence.
///
/// Arrays are matrices over pairs of positions, from 0 up to the number of words. An inside value is
/// stored twice: in the row of its start and in the row of its end. So both children of all split
/// points of a span are contiguous.
#[derive(Debug, Default)]
pub(super) struct Bracketings {
    stride: usize,
    by_start: Inside,
    by_end: Inside,
    /// The outside value that a span has as a left child, in the row of its start.
    outside_as_left: Vec<f32>,
    /// The outside value that a span has as a right child, in the row of its end.
    outside_as_right: Vec<f32>,
    posteriors: Vec<f32>,
}

/// Inside values: factors from one to below two, and exponents of two.
#[derive(Debug, Default)]
struct Inside {
    factors: Vec<f32>,
    exponents: Vec<i32>,
}

impl Inside {
    fn reset(&mut self, size: usize) {
        self.factors.clear();
        self.factors.resize(size, 0.0);
        self.exponents.clear();
        self.exponents.resize(size, EMPTY);
    }

    fn set(&mut self, index: usize, factor: f32, exponent: i32) {
        self.factors[index] = factor;
        self.exponents[index] = exponent;
    }
}

/// A power of two in single precision; zero where it underflows.
#[inline(always)]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent.clamp(-127, 127) + 127) as u32) << 23)
}

/// The exponential of a number, as a factor and an exponent of two.
#[inline(always)]
fn scaled_exponential(score: f32) -> (f32, i32) {
    let scaled = score * std::f32::consts::LOG2_E;
    let whole = scaled.floor();
    ((scaled - whole).exp2(), whole as i32)
}

/// The sum of the products of two vectors of scaled numbers, divided by a power of two.
#[inline(always)]
fn scaled_dot(factors: [&[f32]; 2], exponents: [&[i32]; 2], reference: i32) -> f32 {
    let [left, right] = factors.map(<[f32]>::as_chunks::<LANES>);
    let [left_scale, right_scale] = exponents.map(<[i32]>::as_chunks::<LANES>);
    let product = |left: f32, right: f32, left_scale: i32, right_scale: i32| {
        left * right * power_of_two(left_scale + right_scale - reference)
    };
    let mut sums = [0.0; LANES];
    for (((left, right), left_scale), right_scale) in
        left.0.iter().zip(right.0).zip(left_scale.0).zip(right_scale.0)
    {
        for lane in 0..LANES {
            sums[lane] += product(left[lane], right[lane], left_scale[lane], right_scale[lane]);
        }
    }
    let mut rest = 0.0;
    for (((left, right), left_scale), right_scale) in
        left.1.iter().zip(right.1).zip(left_scale.1).zip(right_scale.1)
    {
        rest += product(*left, *right, *left_scale, *right_scale);
    }
    sum(sums) + rest
}

impl Bracketings {
    /// The bytes that a sentence with this number of words takes.
    pub(super) fn bytes(words: usize) -> usize {
        let entry = 2 * (size_of::<f32>() + size_of::<i32>()) + 3 * size_of::<f32>();
        (words + 1).saturating_mul(words + 1).saturating_mul(entry)
    }

    /// The probability of a span of several words, after [`run`](Self::run).
    #[inline]
    pub(super) fn posterior(&self, start: usize, end: usize) -> f32 {
        self.posteriors[start * self.stride + end]
    }

    /// Compute the probability of every span of several words. The logarithm of the weight of the
    /// span from `start` up to `end` is at `start * (words + 1) + end` of `scores`.
    #[inline(always)]
    pub(super) fn run(
        &mut self,
        words: usize,
        scores: &[f32],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let stride = words + 1;
        self.stride = stride;
        self.by_start.reset(stride * stride);
        self.by_end.reset(stride * stride);
        for vector in [&mut self.outside_as_left, &mut self.outside_as_right, &mut self.posteriors]
        {
            vector.clear();
            vector.resize(stride * stride, 0.0);
        }
        for start in 0..words {
            self.by_start.set(start * stride + start + 1, 1.0, 0);
            self.by_end.set((start + 1) * stride + start, 1.0, 0);
        }
        for width in 2..=words {
            cancel.check()?;
            for start in 0..=words - width {
                self.inside(start, start + width, scores[start * stride + start + width]);
            }
        }
        self.outside(words, scores, cancel)
    }

    #[inline(always)]
    fn inside(&mut self, start: usize, end: usize, score: f32) {
        let left = start * self.stride + start + 1..start * self.stride + end;
        let right = end * self.stride + start + 1..end * self.stride + end;
        let left_exponents = &self.by_start.exponents[left.clone()];
        let right_exponents = &self.by_end.exponents[right.clone()];
        let reference = left_exponents
            .iter()
            .zip(right_exponents)
            .fold(i32::MIN, |largest, (left, right)| largest.max(left + right));
        let sum = scaled_dot(
            [&self.by_start.factors[left], &self.by_end.factors[right]],
            [left_exponents, right_exponents],
            reference,
        );
        let (factor, shift) = scaled_exponential(score);
        let value = sum * factor;
        let own = exponent(f64::from(value));
        let (factor, exponent) = (value * power_of_two(-own), reference + shift + own);
        self.by_start.set(start * self.stride + end, factor, exponent);
        self.by_end.set(end * self.stride + start, factor, exponent);
    }

    /// Outside values are relative to the scale of the inside value of their span and to the sum of
    /// all bracketings, so that the product of the two is a probability.
    #[inline(always)]
    fn outside(&mut self, words: usize, scores: &[f32], cancel: &Cancel) -> Result<(), Cancelled> {
        let stride = self.stride;
        if words < 2 {
            return Ok(());
        }
        self.outside_as_left[words] = 1.0 / self.by_start.factors[words];
        for width in (2..=words).rev() {
            cancel.check()?;
            for start in 0..=words - width {
                let end = start + width;
                let cell = start * stride + end;
                let outside =
                    self.outside_as_left[cell] + self.outside_as_right[end * stride + start];
                let posterior = outside * self.by_start.factors[cell];
                self.posteriors[cell] = posterior;
                if posterior < NEGLIGIBLE {
                    continue;
                }
                let (factor, shift) = scaled_exponential(scores[cell]);
                let outside = outside * factor;
                let scale = shift - self.by_start.exponents[cell];
                let left = start * stride + start + 1..start * stride + end;
                let right = end * stride + start + 1..end * stride + end;
                let lefts = self.by_start.factors[left.clone()]
                    .iter()
                    .zip(&self.by_start.exponents[left.clone()])
                    .zip(&mut self.outside_as_left[left]);
                let rights = self.by_end.factors[right.clone()]
                    .iter()
                    .zip(&self.by_end.exponents[right.clone()])
                    .zip(&mut self.outside_as_right[right]);
                for (((left, a), as_left), ((right, b), as_right)) in lefts.zip(rights) {
                    let shared = outside * power_of_two(a + b + scale);
                    *as_left += shared * right;
                    *as_right += shared * left;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All binary bracketings of a span, as lists of their spans of several words.
    fn all(start: usize, end: usize) -> Vec<Vec<(usize, usize)>> {
        if end - start == 1 {
            return vec![Vec::new()];
        }
        let mut found = Vec::new();
        for split in start + 1..end {
            for left in all(start, split) {
                for right in all(split, end) {
                    let mut spans = vec![(start, end)];
                    spans.extend(&left);
                    spans.extend(right);
                    found.push(spans);
                }
            }
        }
        found
    }

    proptest! {
        #[test]
        fn agree_with_the_sum_over_all_bracketings(
            words in 1usize..8,
            values in proptest::collection::vec(-8.0f32..8.0, 64),
        ) {
            let stride = words + 1;
            let scores = &values[..stride * stride];
            let mut bracketings = Bracketings::default();
            bracketings.run(words, scores, &Cancel::new()).unwrap();
            let mut sums = vec![0.0; stride * stride];
            let mut total = 0.0;
            for spans in all(0, words) {
                let score: f32 = spans.iter().map(|&(start, end)| scores[start * stride + end]).sum();
                let weight = f64::from(score).exp();
                total += weight;
                for (start, end) in spans {
                    sums[start * stride + end] += weight;
                }
            }
            for start in 0..words {
                for end in start + 2..=words {
                    let expected = sums[start * stride + end] / total;
                    let found = f64::from(bracketings.posterior(start, end));
                    prop_assert!((found - expected).abs() < 1e-4, "{found} {expected}");
                }
            }
        }
    }

    #[test]
    fn long_sentences_with_extreme_scores_have_finite_probabilities() {
        let words = 200;
        for score in [-40.0, 40.0] {
            let mut bracketings = Bracketings::default();
            let scores = vec![score; (words + 1) * (words + 1)];
            bracketings.run(words, &scores, &Cancel::new()).unwrap();
            assert!((bracketings.posterior(0, words) - 1.0).abs() < 1e-3);
            let sum: f32 = (0..words - 1)
                .flat_map(|start| (start + 2..=words).map(move |end| (start, end)))
                .map(|(start, end)| bracketings.posterior(start, end))
                .sum();
            // A binary bracketing has one span of several words less than words.
            assert!((sum - (words - 1) as f32).abs() < 0.5, "{sum}");
        }
    }
}
