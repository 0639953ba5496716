//! The best tree over span scores: exact by CKY, or greedy from the top.

use rayon::prelude::*;

use super::scores::{Entry, Sentence, SpanError, SpanScores};
use crate::cancel::Cancel;

/// How to look for the best tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The tree with the highest score, by dynamic programming over all split points.
    Exact,
    /// Top-down: the best label of a span, then the split point whose two children have the best
    /// labels, regardless of the spans children them (Stern et al. 2017).
    Greedy,
}

/// A tree: its labelled spans in pre-order, without those that write no bracket.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanTree {
    /// The sum of the scores of all spans of the binary tree.
    pub score: f64,
    /// Start, end and label.
    pub spans: Vec<(u32, u32, u32)>,
}

/// Find the trees of many sentences on the threads of the current rayon pool. An error comes with
/// the number of its sentence; among several, that of the first one is returned.
pub fn decode(
    sentences: &[Sentence<'_>],
    none: Option<u32>,
    method: Method,
    cancel: &Cancel,
) -> Result<Vec<SpanTree>, (usize, SpanError)> {
    let trees: Vec<Result<SpanTree, SpanError>> = sentences
        .par_iter()
        .map(|&sentence| {
            cancel.check()?;
            let scores = SpanScores::new(sentence, none)?;
            let labels = best_labels(&scores);
            match method {
                Method::Exact => exact(&scores, &labels, cancel),
                Method::Greedy => greedy(&scores, &labels),
            }
        })
        .collect();
    trees.into_iter().enumerate().map(|(row, tree)| tree.map_err(|error| (row, error))).collect()
}

/// The best label of each cell, the first of equal ones; none where no label is possible.
fn best_labels(scores: &SpanScores) -> Vec<Option<Entry>> {
    let best = |entries: &[Entry]| {
        entries
            .iter()
            .copied()
            .reduce(|best, next| if next.score > best.score { next } else { best })
    };
    (0..scores.cells().count()).map(|cell| best(scores.cell(cell))).collect()
}

/// Labels are scored independently of split points. So every span of the best tree has its best
/// label, and the search is over split points only.
fn exact(
    scores: &SpanScores,
    labels: &[Option<Entry>],
    cancel: &Cancel,
) -> Result<SpanTree, SpanError> {
    let cells = scores.cells();
    let words = cells.words();
    // The best split point of each cell, the first of equally good ones.
    let mut splits = vec![0u32; cells.count()];
    let mut totals = vec![f64::NEG_INFINITY; cells.count()];
    for width in 1..=words {
        cancel.check()?;
        for start in 0..=words - width {
            let end = start + width;
            let cell = cells.index(start, end);
            let Some(label) = labels[cell] else { continue };
            let mut children = if width == 1 { 0.0 } else { f64::NEG_INFINITY };
            for split in start + 1..end {
                let total = totals[cells.index(start, split)] + totals[cells.index(split, end)];
                if total > children {
                    children = total;
                    splits[cell] = split as u32;
                }
            }
            totals[cell] = children + label.score;
        }
    }
    let score = totals[cells.index(0, words)];
    if score == f64::NEG_INFINITY {
        return Err(SpanError::NoTree);
    }
    let split = |start, end| Some(splits[cells.index(start, end)] as usize);
    let mut tree = build_tree(scores, labels, split)?;
    // The sum in the order of the chart and that in the order of the tree may differ in rounding.
    tree.score = score;
    Ok(tree)
}

fn greedy(scores: &SpanScores, labels: &[Option<Entry>]) -> Result<SpanTree, SpanError> {
    let cells = scores.cells();
    let value = |start, end| labels[cells.index(start, end)].map(|label| label.score);
    build_tree(scores, labels, |start, end| {
        let mut best: Option<(f64, usize)> = None;
        for split in start + 1..end {
            let (Some(left), Some(right)) = (value(start, split), value(split, end)) else {
                continue;
            };
            if best.is_none_or(|(highest, _)| left + right > highest) {
                best = Some((left + right, split));
            }
        }
        best.map(|(_, split)| split)
    })
}

/// Build a tree from the top, splitting each span of several words at the point that `split`
/// returns.
fn build_tree(
    scores: &SpanScores,
    labels: &[Option<Entry>],
    split: impl Fn(usize, usize) -> Option<usize>,
) -> Result<SpanTree, SpanError> {
    let cells = scores.cells();
    let mut tree = SpanTree { score: 0.0, spans: Vec::new() };
    let mut stack = vec![(0, cells.words())];
    while let Some((start, end)) = stack.pop() {
        let Entry { label, score, .. } =
            labels[cells.index(start, end)].ok_or(SpanError::NoTree)?;
        tree.score += score;
        if scores.writes(label) {
            tree.spans.push((start as u32, end as u32, label));
        }
        if end - start > 1 {
            let split = split(start, end).ok_or(SpanError::NoTree)?;
            stack.push((split, end));
            stack.push((start, split));
        }
    }
    Ok(tree)
}
