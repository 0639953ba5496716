//! The sum over all trees, and how likely each labelled span is.
//!
//! A tree has the probability exp(score) / Z. Trees are binary derivations: one that has spans
//! without a bracket is one of several that look alike, and what a written tree is worth is their
//! sum.

use rayon::prelude::*;

use super::scores::{Sentence, SpanError, SpanScores};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Cells;
use crate::numeric::scaling::Scaled;

/// Sums over all trees of a sentence.
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
                if total.is_zero() {
                    continue;
                }
                let below = self.sum_splits(cells, start, end);
                self.below[cell] = below;
                self.inside[cell] = total.times(below);
            }
        }
        let whole = self.inside[cells.index(0, words)];
        self.log_partition = whole.logarithm();
        self.posteriors.clear();
        self.posteriors.resize(cells.count(), 0.0);
        if !whole.is_zero() {
            self.descend(cells, cancel)?;
        }
        Ok(())
    }

    fn sum_splits(&self, cells: Cells, start: usize, end: usize) -> Scaled {
        if end - start == 1 {
            return Scaled::ONE;
        }
        (start + 1..end).fold(Scaled::ZERO, |sum, split| {
            let (left, right) = (cells.index(start, split), cells.index(split, end));
            sum.plus(self.inside[left].times(self.inside[right]))
        })
    }

    /// Hand the probability of each span down to its parts, wider spans first. No outside sums are
    /// needed: each split gets its fraction of the probability of its span.
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
                for split in start + 1..end {
                    let (left, right) = (cells.index(start, split), cells.index(split, end));
                    let parts = self.inside[left].times(self.inside[right]);
                    let share = posterior * parts.ratio(self.below[cell]);
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
