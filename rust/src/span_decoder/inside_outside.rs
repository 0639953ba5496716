//! The sum over all trees, and the posteriors of labelled spans.
//!
//! A binary tree has the probability exp(score) / Z. Several binary trees that differ in spans
//! without brackets may stand for the same tree; its probability is their sum.

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
    /// The probability of the labelled span of each input score; zero where that is no span.
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
                    if let Some(index) = entry.index {
                        let given_span = (entry.score - log_total).exp();
                        probabilities[index] = pass.posteriors()[cell] * given_span;
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
    /// The inside sums of spans.
    inside: Vec<Scaled>,
    /// The inside sums of spans without their own totals: sums over their split points.
    split_sums: Vec<Scaled>,
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
        for sums in [&mut self.inside, &mut self.split_sums] {
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
                let split_sum = self.sum_splits(cells, start, end);
                self.split_sums[cell] = split_sum;
                self.inside[cell] = total.times(split_sum);
            }
        }
        let whole = self.inside[cells.index(0, words)];
        self.log_partition = whole.logarithm();
        self.posteriors.clear();
        self.posteriors.resize(cells.count(), 0.0);
        if !whole.is_zero() {
            self.propagate_posteriors(cells, cancel)?;
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

    /// Add the posterior of each split point to those of its two children, wider spans first. No
    /// outside sums are needed: each split point has its fraction of the posterior of its span.
    fn propagate_posteriors(&mut self, cells: Cells, cancel: &Cancel) -> Result<(), Cancelled> {
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
                    let children = self.inside[left].times(self.inside[right]);
                    let split_posterior = posterior * children.ratio(self.split_sums[cell]);
                    self.posteriors[left] += split_posterior;
                    self.posteriors[right] += split_posterior;
                }
            }
        }
        Ok(())
    }

    /// The logarithm of the sum over all trees, minus infinity if there is none.
    pub fn log_partition(&self) -> f64 {
        self.log_partition
    }

    /// The posterior of each span, whatever its label.
    pub fn posteriors(&self) -> &[f64] {
        &self.posteriors
    }
}
