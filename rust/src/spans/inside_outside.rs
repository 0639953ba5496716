//! The sum over all trees, and how likely each labelled span is.
//!
//! A tree has the probability exp(score) / Z. Trees are binary derivations: one that has spans
//! without a bracket is one of several that look alike, and what a written tree is worth is their
//! sum.

use rayon::prelude::*;

use super::scores::{Sentence, SpanError, SpanScores};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Cells;
use crate::chart::scaling::{exponent, power_of_two};

/// What is known of all trees of a sentence together.
#[derive(Debug, Clone, PartialEq)]
pub struct Marginals {
    /// The logarithm of the sum of exp(score) over all trees.
    pub log_partition: f64,
    /// For each score as it arrived, the probability of the labelled span; zero where it is no span.
    pub probabilities: Vec<f64>,
}

/// Sum over the trees of many sentences on the threads of the current rayon pool. An error comes
/// with the number of its sentence; among several, that of the first one is returned.
pub fn marginals(
    sentences: &[Sentence<'_>],
    none: Option<u32>,
    cancel: &Cancel,
) -> Result<Vec<Marginals>, (usize, SpanError)> {
    let results: Vec<Result<Marginals, SpanError>> = sentences
        .par_iter()
        .map_init(InsideOutside::default, |pass, &sentence| {
            cancel.check()?;
            let length = match sentence {
                Sentence::Dense { scores, .. } | Sentence::Sparse { scores, .. } => scores.len(),
            };
            let scores = SpanScores::new(sentence, none)?;
            let cells = scores.cells();
            let log_totals: Vec<f64> =
                (0..cells.count()).map(|cell| log_sum(&scores, cell)).collect();
            pass.run(cells, &log_totals, cancel)?;
            if pass.log_partition() == f64::NEG_INFINITY {
                return Err(SpanError::NoTree);
            }
            let mut probabilities = vec![0.0; length];
            for (cell, &log_total) in log_totals.iter().enumerate() {
                for entry in scores.cell(cell) {
                    if let Some(place) = entry.place {
                        let share = (entry.score - log_total).exp();
                        probabilities[place] = pass.posteriors()[cell] * share;
                    }
                }
            }
            Ok(Marginals { log_partition: pass.log_partition(), probabilities })
        })
        .collect();
    results
        .into_iter()
        .enumerate()
        .map(|(row, found)| found.map_err(|error| (row, error)))
        .collect()
}

/// The logarithm of the sum of exp(score) over the labels of a cell.
fn log_sum(scores: &SpanScores, cell: usize) -> f64 {
    let entries = scores.cell(cell);
    let highest = entries.iter().map(|entry| entry.score).fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    highest + entries.iter().map(|entry| (entry.score - highest).exp()).sum::<f64>().ln()
}

/// A positive number as a factor between one and two, and a power of two. Exponents are as wide as
/// scores allow, which know no probability's bound.
#[derive(Debug, Clone, Copy)]
struct Scaled {
    factor: f64,
    exponent: i64,
}

impl Scaled {
    const ZERO: Self = Self { factor: 0.0, exponent: i64::MIN / 4 };

    fn new(value: f64, scale: i64) -> Self {
        if value == 0.0 {
            return Self::ZERO;
        }
        let own = exponent(value);
        Self { factor: value * power_of_two(-own), exponent: scale + i64::from(own) }
    }

    fn from_log(logarithm: f64) -> Self {
        if logarithm == f64::NEG_INFINITY {
            return Self::ZERO;
        }
        let whole = (logarithm / std::f64::consts::LN_2).floor();
        Self::new((logarithm - whole * std::f64::consts::LN_2).exp(), whole as i64)
    }

    fn logarithm(self) -> f64 {
        self.factor.ln() + self.exponent as f64 * std::f64::consts::LN_2
    }

    /// The product of two numbers, in units of two to the power of `scale`.
    #[inline]
    fn product(self, other: Self, scale: i64) -> f64 {
        let exponent = (self.exponent + other.exponent - scale).clamp(-2000, 1000);
        self.factor * other.factor * power_of_two(exponent as i32)
    }
}

/// Sums over all binary trees, given the total of each span; memory is reused.
#[derive(Debug, Default)]
pub struct InsideOutside {
    /// Sums over the trees of a span, with its label and without.
    inside: Vec<Scaled>,
    below: Vec<Scaled>,
    posteriors: Vec<f64>,
    log_partition: f64,
}

impl InsideOutside {
    /// Sum over all trees. A total is the logarithm of the sum of exp(score) over the labels of a
    /// span, minus infinity where it has none.
    pub fn run(
        &mut self,
        cells: Cells,
        log_totals: &[f64],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let words = cells.words();
        for sums in [&mut self.inside, &mut self.below] {
            sums.clear();
            sums.resize(cells.count(), Scaled::ZERO);
        }
        for width in 1..=words {
            cancel.check()?;
            for start in 0..=words - width {
                let end = start + width;
                let cell = cells.index(start, end);
                let total = Scaled::from_log(log_totals[cell]);
                if total.factor == 0.0 {
                    continue;
                }
                let below = self.sum_splits(cells, start, end);
                self.below[cell] = below;
                let scale = total.exponent + below.exponent;
                self.inside[cell] = Scaled::new(total.product(below, scale), scale);
            }
        }
        let whole = self.inside[cells.index(0, words)];
        self.log_partition = whole.logarithm();
        self.posteriors.clear();
        self.posteriors.resize(cells.count(), 0.0);
        if whole.factor > 0.0 {
            self.descend(cells, cancel)?;
        }
        Ok(())
    }

    fn sum_splits(&self, cells: Cells, start: usize, end: usize) -> Scaled {
        if end - start == 1 {
            return Scaled { factor: 1.0, exponent: 0 };
        }
        let parts = || {
            (start + 1..end).map(|split| {
                (self.inside[cells.index(start, split)], self.inside[cells.index(split, end)])
            })
        };
        let scale = parts().map(|(left, right)| left.exponent + right.exponent).max();
        let scale = scale.unwrap_or_default();
        Scaled::new(parts().map(|(left, right)| left.product(right, scale)).sum(), scale)
    }

    /// Hand the probability of each span down to its parts, wider spans first. No outside sums are
    /// needed: a split has its share of what its span is made of.
    fn descend(&mut self, cells: Cells, cancel: &Cancel) -> Result<(), Cancelled> {
        let words = cells.words();
        self.posteriors[cells.index(0, words)] = 1.0;
        for width in (2..=words).rev() {
            cancel.check()?;
            for start in 0..=words - width {
                let end = start + width;
                let cell = cells.index(start, end);
                let posterior = self.posteriors[cell];
                if posterior == 0.0 {
                    continue;
                }
                let below = self.below[cell];
                let unit = posterior / below.factor;
                for split in start + 1..end {
                    let (left, right) = (cells.index(start, split), cells.index(split, end));
                    let share =
                        unit * self.inside[left].product(self.inside[right], below.exponent);
                    self.posteriors[left] += share;
                    self.posteriors[right] += share;
                }
            }
        }
        Ok(())
    }

    /// The logarithm of the sum over all trees, minus infinity if there is none.
    pub fn log_partition(&self) -> f64 {
        self.log_partition
    }

    /// The probability that a tree has each span, whatever its label.
    pub fn posteriors(&self) -> &[f64] {
        &self.posteriors
    }
}
