//! The tree with the largest gain.
//!
//! A tree may have any phrase label of the table over a span. It may have several labels over the
//! same words only as a unary chain of a member's tree, because the table has neither the order of
//! labels nor whether they occur together. Its root is the root of a member's tree.

use rustc_hash::FxHashMap;

use super::Coverage;
use super::spans::LabelledSpan;
use crate::cancel::{Cancel, Cancelled};
use crate::span_decoder::{Method, Sentence, SpanError, decode};

/// The cost of each bracket of a tree: half of a usual F1, as in the decoder of expected F1.
pub const BRACKET_COST: f64 = 0.4;

/// The tree of an ensemble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its labelled spans in pre-order, with tags.
    pub tree: Vec<LabelledSpan>,
    /// The members that have the same tree, in ascending order.
    pub proposers: Vec<usize>,
}

/// The gains of chains of labels over spans; chain 0 is no bracket.
#[derive(Debug, Default)]
struct Gains {
    starts: Vec<u32>,
    ends: Vec<u32>,
    chains: Vec<u32>,
    gains: Vec<f64>,
    numbers: FxHashMap<Vec<u32>, u32>,
    /// For each chain after the first its labels, from top to bottom.
    labels: Vec<Vec<u32>>,
}

impl Gains {
    fn push(&mut self, start: u32, end: u32, chain: Vec<u32>, gain: f64) {
        let next = self.labels.len() as u32 + 1;
        let number = *self.numbers.entry(chain).or_insert_with_key(|chain| {
            self.labels.push(chain.clone());
            next
        });
        self.starts.push(start);
        self.ends.push(end);
        self.chains.push(number);
        self.gains.push(gain);
    }
}

/// The chains of several labels over the same words in a tree, and the chain over all words, which
/// may be empty.
fn chains(tree: &[LabelledSpan], words: u32, is_tag: &[bool]) -> Vec<(u32, u32, Vec<u32>)> {
    let mut found: Vec<(u32, u32, Vec<u32>)> = vec![(0, words, Vec::new())];
    for span in tree.iter().filter(|span| !is_tag[span.label as usize]) {
        // Labels over the same words follow one another, except for those over all words.
        match found.last_mut() {
            Some((start, end, labels)) if (*start, *end) == (span.start, span.end) => {
                labels.push(span.label);
            }
            _ => found.push((span.start, span.end, vec![span.label])),
        }
    }
    found.retain(|(start, end, labels)| labels.len() > 1 || end - start == words);
    found
}

fn gains(coverage: &Coverage, is_tag: &[bool]) -> Gains {
    let words = coverage.words as u32;
    let mut gains = Gains::default();
    for (span, probability) in coverage.means() {
        let LabelledSpan { start, end, label } = span;
        if probability > BRACKET_COST && !is_tag[label as usize] && end - start < words {
            gains.push(start, end, vec![label], probability - BRACKET_COST);
        }
    }
    let mut known: Vec<(u32, u32, Vec<u32>)> = Vec::new();
    for (_, tree) in &coverage.trees {
        for chain in chains(tree, words, is_tag) {
            if known.contains(&chain) {
                continue;
            }
            let (start, end, labels) = &chain;
            let sum = |&label| coverage.sums.get(LabelledSpan { start: *start, end: *end, label });
            let expected: f64 = labels.iter().map(sum).sum::<f64>() / coverage.weight;
            let gain = expected - BRACKET_COST * labels.len() as f64;
            gains.push(*start, *end, labels.clone(), gain);
            known.push(chain);
        }
    }
    gains
}

/// The most probable tag of each word; of equally probable ones, the last.
fn best_tags(coverage: &Coverage, is_tag: &[bool]) -> Vec<LabelledSpan> {
    let mut best: Vec<Option<(LabelledSpan, f64)>> = vec![None; coverage.words];
    for (span, probability) in coverage.means().filter(|(span, _)| is_tag[span.label as usize]) {
        let place = &mut best[span.start as usize];
        if place.is_none_or(|(_, highest)| probability >= highest) {
            *place = Some((span, probability));
        }
    }
    let first = coverage.trees.iter().flat_map(|(_, tree)| tree);
    // A member without probabilities has a tree all the same.
    for span in first.filter(|span| is_tag[span.label as usize]) {
        best[span.start as usize].get_or_insert((*span, 0.0));
    }
    best.into_iter().flatten().map(|(span, _)| span).collect()
}

/// The tree with the largest gain over the most probable tags.
pub(super) fn best_tree(
    coverage: &Coverage,
    is_tag: &[bool],
    cancel: &Cancel,
) -> Result<Vec<LabelledSpan>, Cancelled> {
    let gains = gains(coverage, is_tag);
    let sentence = Sentence::Sparse {
        words: coverage.words,
        starts: &gains.starts,
        ends: &gains.ends,
        labels: &gains.chains,
        scores: &gains.gains,
    };
    let brackets = match decode(&[sentence], Some(0), Method::Exact, cancel) {
        Ok(mut trees) => trees.remove(0).spans,
        Err((_, SpanError::Cancelled(error))) => return Err(error),
        // Cannot be: every span may be without a bracket, and no chain occurs twice over a span.
        Err((_, error)) => unreachable!("{error}"),
    };
    let mut tree: Vec<LabelledSpan> = Vec::new();
    for &(start, end, chain) in &brackets {
        let labels = &gains.labels[chain as usize - 1];
        tree.extend(labels.iter().map(|&label| LabelledSpan { start, end, label }));
    }
    tree.extend(best_tags(coverage, is_tag));
    // Pre-order: by start, then by decreasing width; a tag is below all phrases over its word.
    tree.sort_by_key(|span| (span.start, u32::MAX - span.end));
    Ok(tree)
}
