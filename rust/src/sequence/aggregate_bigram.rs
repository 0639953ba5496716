//! The aggregate bigram model (Saul & Pereira 1997): the probability of a word after another is the
//! sum over states of P(state | first word) P(second word | state).

use rayon::prelude::*;
use thiserror::Error;

use crate::cancel::{Cancel, Cancelled};
use crate::numeric::vectors::{add_scaled, dot};

/// The smallest value of a factor that was positive at the start. Products of two factors are then
/// never subnormal, and the difference is far below the precision of any sum.
const FLOOR: f32 = 1.1e-19;

/// Counts of pairs of adjacent words, indexed by the first word and by the second.
#[derive(Debug)]
pub struct PairCounts {
    /// Where the pairs of each first word begin.
    first_offsets: Vec<usize>,
    seconds: Vec<u32>,
    counts: Vec<f32>,
    /// Where the pairs of each second word begin in the columns below.
    second_offsets: Vec<usize>,
    firsts: Vec<u32>,
    /// The index of each of these pairs in the columns above.
    pair_numbers: Vec<u32>,
}

/// Why columns are not valid [`PairCounts`] or [`Factors`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PairCountsError {
    /// Offsets do not ascend from zero to the number of pairs.
    #[error("offsets must ascend from 0 to the number of pairs, {0}")]
    Offsets(usize),
    /// Columns have different lengths.
    #[error("there are {seconds} second words but {counts} counts")]
    Lengths {
        /// The length of the column of second words.
        seconds: usize,
        /// The length of the column of counts.
        counts: usize,
    },
    /// There are more pairs than can be numbered.
    #[error("{0} pairs are more than the model can count")]
    TooMany(usize),
    /// A word does not exist.
    #[error("word {word} is out of range: there are {words} words")]
    Word {
        /// The number of the word.
        word: u32,
        /// The number of words.
        words: usize,
    },
    /// A count is not a positive number.
    #[error("counts must be positive and finite")]
    Count,
    /// Factors have the wrong size.
    #[error("factors need {expected} values, {words} words of {states} states each, not {found}")]
    Factors {
        /// The number of values that is needed.
        expected: usize,
        /// The number of words.
        words: usize,
        /// The number of states.
        states: usize,
        /// The number of values.
        found: usize,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// The parameters of a model: a row for each word, with a column for each state.
#[derive(Debug, Clone, Copy)]
pub struct Factors<'a> {
    /// The number of states.
    pub states: usize,
    /// P(state | first word): rows sum to one.
    pub firsts: &'a [f32],
    /// P(second word | state): columns sum to one.
    pub seconds: &'a [f32],
}

/// The result of an iteration of EM.
#[derive(Debug)]
pub struct Step {
    /// The new P(state | first word).
    pub firsts: Vec<f32>,
    /// The new P(second word | state), if it was asked for.
    pub seconds: Option<Vec<f32>>,
    /// The log-likelihood of the parameters that the iteration started from.
    pub log_likelihood: f64,
}

impl PairCounts {
    /// Check columns of pairs that are sorted by their first word, and index them by the second.
    pub fn new(
        first_offsets: Vec<usize>,
        seconds: &[u32],
        counts: &[f32],
        number_of_seconds: usize,
    ) -> Result<Self, PairCountsError> {
        let pairs = seconds.len();
        let ends = first_offsets.first() == Some(&0) && first_offsets.last() == Some(&pairs);
        if !ends || !first_offsets.is_sorted() {
            return Err(PairCountsError::Offsets(pairs));
        }
        if counts.len() != pairs {
            return Err(PairCountsError::Lengths { seconds: pairs, counts: counts.len() });
        }
        if u32::try_from(pairs.max(first_offsets.len())).is_err() {
            return Err(PairCountsError::TooMany(pairs));
        }
        if let Some(&word) = seconds.iter().find(|&&word| word as usize >= number_of_seconds) {
            return Err(PairCountsError::Word { word, words: number_of_seconds });
        }
        if !counts.iter().all(|&count| count.is_finite() && count > 0.0) {
            return Err(PairCountsError::Count);
        }
        let mut second_offsets = vec![0; number_of_seconds + 1];
        for &second in seconds {
            second_offsets[second as usize + 1] += 1;
        }
        for word in 0..number_of_seconds {
            second_offsets[word + 1] += second_offsets[word];
        }
        let mut next = second_offsets.clone();
        let (mut firsts, mut pair_numbers) = (vec![0; pairs], vec![0; pairs]);
        for (first, pair) in first_offsets.windows(2).enumerate() {
            for pair_number in pair[0]..pair[1] {
                let target = &mut next[seconds[pair_number] as usize];
                (firsts[*target], pair_numbers[*target]) = (first as u32, pair_number as u32);
                *target += 1;
            }
        }
        Ok(Self {
            first_offsets,
            seconds: seconds.to_vec(),
            counts: counts.to_vec(),
            second_offsets,
            firsts,
            pair_numbers,
        })
    }

    /// The number of words that can be first in a pair.
    pub fn number_of_firsts(&self) -> usize {
        self.first_offsets.len() - 1
    }

    /// The number of words that can be second in a pair.
    pub fn number_of_seconds(&self) -> usize {
        self.second_offsets.len() - 1
    }

    fn check(&self, factors: Factors<'_>) -> Result<(), PairCountsError> {
        let Factors { states, firsts, seconds } = factors;
        for (words, values) in
            [(self.number_of_firsts(), firsts), (self.number_of_seconds(), seconds)]
        {
            if states == 0 || values.len() != words * states {
                let (expected, found) = (words * states, values.len());
                return Err(PairCountsError::Factors { expected, words, states, found });
            }
        }
        Ok(())
    }

    /// The logarithm of the probability of all second words given the first ones.
    pub fn log_likelihood(
        &self,
        factors: Factors<'_>,
        cancel: &Cancel,
    ) -> Result<f64, PairCountsError> {
        self.check(factors)?;
        let Factors { states, firsts, seconds } = factors;
        let sums = (0..self.number_of_firsts())
            .into_par_iter()
            .map(|first| {
                cancel.check()?;
                let row = &firsts[first * states..][..states];
                let mut sum = 0.0;
                for pair_number in self.first_offsets[first]..self.first_offsets[first + 1] {
                    let second = self.seconds[pair_number] as usize;
                    let probability = dot(row, &seconds[second * states..][..states]);
                    sum += f64::from(self.counts[pair_number]) * f64::from(probability).ln();
                }
                Ok(sum)
            })
            .collect::<Result<Vec<f64>, Cancelled>>()?;
        Ok(sums.iter().sum())
    }

    /// An iteration of EM. Each row is summed by one thread in a fixed order, so that the result
    /// does not depend on the number of threads. Words without pairs keep their parameters.
    pub fn step(
        &self,
        factors: Factors<'_>,
        update_seconds: bool,
        cancel: &Cancel,
    ) -> Result<Step, PairCountsError> {
        self.check(factors)?;
        let Factors { states, firsts, seconds } = factors;

        // Counts divided by probabilities, which the update of the second factor needs, too.
        let mut ratios = vec![0.0f32; self.counts.len()];
        let mut new_firsts = vec![0.0f32; firsts.len()];
        let sums = split_rows(&mut ratios, &self.first_offsets)
            .into_par_iter()
            .zip(new_firsts.par_chunks_exact_mut(states))
            .enumerate()
            .map(|(first, (ratios, new_row))| {
                cancel.check()?;
                let row = &firsts[first * states..][..states];
                let begin = self.first_offsets[first];
                let mut sum = 0.0;
                for (pair_number, ratio) in (begin..).zip(ratios) {
                    let second = self.seconds[pair_number] as usize * states;
                    let probability = dot(row, &seconds[second..][..states]);
                    sum += f64::from(self.counts[pair_number]) * f64::from(probability).ln();
                    // A pair with probability zero has no posterior and is skipped.
                    if probability > 0.0 {
                        *ratio = self.counts[pair_number] / probability;
                        add_scaled(new_row, *ratio, &seconds[second..][..states]);
                    }
                }
                normalise(new_row, row);
                Ok(sum)
            })
            .collect::<Result<Vec<f64>, Cancelled>>()?;

        let seconds =
            update_seconds.then(|| self.new_seconds(factors, &ratios, cancel)).transpose()?;
        Ok(Step { firsts: new_firsts, seconds, log_likelihood: sums.iter().sum() })
    }

    fn new_seconds(
        &self,
        factors: Factors<'_>,
        ratios: &[f32],
        cancel: &Cancel,
    ) -> Result<Vec<f32>, Cancelled> {
        let Factors { states, firsts, seconds } = factors;
        let mut expected = vec![0.0f32; seconds.len()];
        expected.par_chunks_exact_mut(states).enumerate().try_for_each(|(second, row)| {
            cancel.check()?;
            for pair in self.second_offsets[second]..self.second_offsets[second + 1] {
                let first = self.firsts[pair] as usize * states;
                add_scaled(
                    row,
                    ratios[self.pair_numbers[pair] as usize],
                    &firsts[first..][..states],
                );
            }
            multiply(row, &seconds[second * states..]);
            Ok(())
        })?;
        let mut totals = vec![0.0f64; states];
        for row in expected.chunks_exact(states) {
            for (total, &value) in totals.iter_mut().zip(row) {
                *total += f64::from(value);
            }
        }
        let factors: Vec<f32> = totals
            .iter()
            .map(|&total| if total > 0.0 { (1.0 / total) as f32 } else { 0.0 })
            .collect();
        expected.par_chunks_exact_mut(states).zip(seconds.par_chunks_exact(states)).for_each(
            |(row, old)| {
                for ((value, factor), &old) in row.iter_mut().zip(&factors).zip(old) {
                    *value = at_least_floor(*value * factor, old);
                }
            },
        );
        Ok(expected)
    }
}

/// The part of a column that belongs to each row.
fn split_rows<'a>(mut values: &'a mut [f32], offsets: &[usize]) -> Vec<&'a mut [f32]> {
    let mut rows = Vec::with_capacity(offsets.len() - 1);
    for pair in offsets.windows(2) {
        let (row, rest) = values.split_at_mut(pair[1] - pair[0]);
        rows.push(row);
        values = rest;
    }
    rows
}

fn multiply(values: &mut [f32], factors: &[f32]) {
    for (value, factor) in values.iter_mut().zip(factors) {
        *value *= factor;
    }
}

/// Multiply `sums` by the old row and normalise the products; if they are all zero, keep the old
/// row.
fn normalise(sums: &mut [f32], old: &[f32]) {
    multiply(sums, old);
    let total: f32 = sums.iter().sum();
    if total > 0.0 {
        for (sum, &old) in sums.iter_mut().zip(old) {
            *sum = at_least_floor(*sum / total, old);
        }
    } else {
        sums.copy_from_slice(old);
    }
}

fn at_least_floor(value: f32, old: f32) -> f32 {
    if old > 0.0 { value.max(FLOOR) } else { 0.0 }
}
