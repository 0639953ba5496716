//! The losses of the scores of spans, and their gradients.

use super::activations::soft_max;
use super::random::Random;
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Cells;
use crate::span_decoder::InsideOutside;

/// The label of spans without brackets.
pub const NO_BRACKET: usize = 0;

/// What is minimised in training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// The negative log-probability of the tree, among all trees of the sentence.
    Crf,
    /// The negative log-probability of the label of each span of the tree, and of this number of
    /// spans without brackets for each of them, all independent (del Canto 2021, part 2).
    Independent {
        /// The number of spans without brackets for each bracket.
        none_ratio: f32,
    },
}

/// Which labels spans may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelPlaces {
    /// For each label whether the whole sentence may have it.
    pub whole: Vec<bool>,
    /// For each label whether a part of the sentence may have it.
    pub part: Vec<bool>,
}

impl LabelPlaces {
    /// Set the scores of impossible labels to minus infinity.
    pub fn close(&self, cells: Cells, scores: &mut [f32]) {
        let whole = cells.index(0, cells.words());
        for (cell, row) in scores.chunks_exact_mut(self.whole.len()).enumerate() {
            let allowed = if cell == whole { &self.whole } else { &self.part };
            for (score, allowed) in row.iter_mut().zip(allowed) {
                if !allowed {
                    *score = f32::NEG_INFINITY;
                }
            }
        }
    }
}

/// A labelled span of a tree: start, end, label.
pub type LabelledSpan = (u32, u32, u32);

/// The label of each span in a tree; none for spans that cross one of its brackets.
pub fn tree_labels(cells: Cells, spans: &[LabelledSpan]) -> Vec<Option<usize>> {
    let crosses = |start: u32, end: u32| {
        spans.iter().any(|&(first, last, _)| {
            (first < start && start < last && last < end)
                || (start < first && first < end && end < last)
        })
    };
    let mut labels = vec![None; cells.count()];
    for start in 0..cells.words() {
        for end in start + 1..=cells.words() {
            if !crosses(start as u32, end as u32) {
                labels[cells.index(start, end)] = Some(NO_BRACKET);
            }
        }
    }
    for &(start, end, label) in spans {
        labels[cells.index(start as usize, end as usize)] = Some(label as usize);
    }
    labels
}

/// Replace scores by the probabilities of labels given their spans; returns the logarithm of the sum
/// of exponentials for each span.
pub fn label_probabilities(labels: usize, scores: &mut [f32]) -> Vec<f64> {
    scores.chunks_exact_mut(labels).map(|row| f64::from(soft_max(row))).collect()
}

/// The logarithms of the potentials of spans that keep a tree: those of its labels.
pub fn tree_potentials(labels: usize, scores: &[f32], tree: &[Option<usize>]) -> Vec<f64> {
    let rows = scores.chunks_exact(labels).zip(tree);
    rows.map(|(row, label)| label.map_or(f64::NEG_INFINITY, |label| f64::from(row[label])))
        .collect()
}

/// The negative log-probability of a tree. Scores, in which impossible labels are closed, are
/// replaced by their gradients. A tree is the sum of all binary trees that have its brackets.
pub fn crf_loss(
    cells: Cells,
    labels: usize,
    scores: &mut [f32],
    tree: &[Option<usize>],
    weight: f32,
    sums: &mut InsideOutside,
    cancel: &Cancel,
) -> Result<f64, Cancelled> {
    sums.run(cells, &tree_potentials(labels, scores, tree), cancel)?;
    let log_tree = sums.log_partition();
    let tree_posteriors = sums.posteriors().to_vec();
    let log_totals = label_probabilities(labels, scores);
    sums.run(cells, &log_totals, cancel)?;
    for (cell, row) in scores.chunks_exact_mut(labels).enumerate() {
        let posterior = sums.posteriors()[cell] as f32 * weight;
        row.iter_mut().for_each(|value| *value *= posterior);
        if let Some(label) = tree[cell] {
            row[label] -= tree_posteriors[cell] as f32 * weight;
        }
    }
    Ok(f64::from(weight) * (sums.log_partition() - log_tree))
}

/// The negative log-probability of the labels of brackets and of some spans without brackets, each
/// independent of the others. Scores, in which impossible labels are closed, are replaced by their
/// gradients.
pub fn independent_loss(
    labels: usize,
    scores: &mut [f32],
    tree: &[Option<usize>],
    none_ratio: f32,
    weight: f32,
    random: &mut Random,
) -> f64 {
    let is_bracket = |label: &Option<usize>| label.is_some_and(|label| label != NO_BRACKET);
    let brackets = tree.iter().filter(|label| is_bracket(label)).count();
    let others = tree.len() - brackets;
    let chosen = none_ratio * brackets as f32;
    let mut loss = 0.0;
    for (row, label) in scores.chunks_exact_mut(labels).zip(tree) {
        if !is_bracket(label) && random.uniform() * others as f32 >= chosen {
            row.fill(0.0);
            continue;
        }
        let label = label.unwrap_or(NO_BRACKET);
        let score = row[label];
        loss += f64::from(soft_max(row) - score);
        row[label] -= 1.0;
        row.iter_mut().for_each(|value| *value *= weight);
    }
    loss * f64::from(weight)
}

/// The negative log-probability of a tag. `gradients` are added to.
pub fn tag_loss(probabilities: &[f32], tag: usize, weight: f32, gradients: &mut [f32]) -> f64 {
    for (gradient, probability) in gradients.iter_mut().zip(probabilities) {
        *gradient += weight * probability;
    }
    gradients[tag] -= weight;
    -f64::from(weight) * f64::from(probabilities[tag].max(f32::MIN_POSITIVE)).ln()
}
