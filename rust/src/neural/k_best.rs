//! Several trees of a sentence, the most probable ones first.
//!
//! Each span has a list of its best parts of trees, which is built from the lists of shorter spans
//! (Huang & Chiang 2005). Binary trees that differ in spans without brackets are one tree; the best of
//! them decides its place in a list.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use super::loss::{LabelledSpan, NO_BRACKET};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Cells;

/// Spans with a lower posterior are in no tree.
const MIN_POSTERIOR: f64 = 1e-9;

/// The number of labels of a span that are tried, beside no bracket.
const LABELS: usize = 8;

/// The largest number of binary trees that are ranked for each part of a tree.
const BINARY_TREES: usize = 10;

/// A part of a tree over a span.
#[derive(Debug, Clone, Copy)]
struct Part {
    score: f64,
    /// A sum of hashes that stands for the set of its brackets.
    brackets: u64,
    label: u32,
    split: u32,
    /// The places of its two parts in their lists.
    ranks: [u32; 2],
}

/// Two parts side by side, ordered by their scores.
#[derive(Debug, PartialEq)]
struct Pair {
    score: f64,
    split: u32,
    ranks: [u32; 2],
}

impl Eq for Pair {}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        let places = |pair: &Self| (pair.split, pair.ranks);
        self.score.total_cmp(&other.score).then_with(|| places(other).cmp(&places(self)))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The lists of the spans of a sentence.
#[derive(Debug)]
pub struct KBest<'a> {
    cells: Cells,
    /// The number of labels.
    labels: usize,
    /// A row of scores for each span.
    scores: &'a [f32],
    /// The largest number of parts of a list.
    wanted: usize,
    lists: Vec<Vec<Part>>,
}

impl<'a> KBest<'a> {
    /// Find up to `wanted` trees, fewer if they would take more than `memory` bytes. Spans have the
    /// scores of their labels, minus infinity for impossible ones, and posteriors.
    pub fn new(
        cells: Cells,
        labels: usize,
        scores: &'a [f32],
        posteriors: &[f64],
        wanted: usize,
        memory: usize,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let open = posteriors.iter().filter(|&&posterior| posterior >= MIN_POSTERIOR).count();
        // The parts of a span are kept with each of its labels before the best ones are chosen.
        let bytes = std::mem::size_of::<Part>() * (open + LABELS + 1);
        let wanted = wanted.min((memory / bytes).max(1));
        let lists = vec![Vec::new(); cells.count()];
        let mut all = Self { cells, labels, scores, wanted, lists };
        for (start, end) in cells.bottom_up() {
            cancel.check()?;
            let cell = cells.index(start, end);
            if posteriors[cell] >= MIN_POSTERIOR {
                all.lists[cell] = all.labelled(start, end, &all.unlabelled(start, end));
            }
        }
        Ok(all)
    }

    /// The parts of a span without the label of the span itself.
    fn unlabelled(&self, start: usize, end: usize) -> Vec<Part> {
        let label = NO_BRACKET as u32;
        if end - start == 1 {
            return vec![Part { score: 0.0, brackets: 0, label, split: 0, ranks: [0; 2] }];
        }
        let mut heap: BinaryHeap<Pair> =
            (start + 1..end).filter_map(|split| self.pair(start, split, end, [0, 0])).collect();
        let mut parts: Vec<Part> = Vec::new();
        let mut found: FxHashSet<u64> = FxHashSet::default();
        for _ in 0..self.wanted.saturating_mul(BINARY_TREES) {
            let Some(Pair { score, split, ranks }) = heap.pop() else { break };
            let [left, right] = self.parts(start, split as usize, end, ranks);
            let brackets = left.brackets.wrapping_add(right.brackets);
            if found.insert(brackets) {
                parts.push(Part { score, brackets, label, split, ranks });
                if parts.len() == self.wanted {
                    break;
                }
            }
            // Every pair of ranks is reached in one way: first to the right, then to the left.
            let [first, second] = ranks;
            heap.extend(self.pair(start, split as usize, end, [first + 1, second]));
            if first == 0 {
                heap.extend(self.pair(start, split as usize, end, [0, second + 1]));
            }
        }
        parts
    }

    /// Two parts side by side, if both are there.
    fn pair(&self, start: usize, split: usize, end: usize, ranks: [u32; 2]) -> Option<Pair> {
        let left = self.lists[self.cells.index(start, split)].get(ranks[0] as usize)?;
        let right = self.lists[self.cells.index(split, end)].get(ranks[1] as usize)?;
        Some(Pair { score: left.score + right.score, split: split as u32, ranks })
    }

    fn parts(&self, start: usize, split: usize, end: usize, ranks: [u32; 2]) -> [Part; 2] {
        [
            self.lists[self.cells.index(start, split)][ranks[0] as usize],
            self.lists[self.cells.index(split, end)][ranks[1] as usize],
        ]
    }

    /// The best parts with each of the best labels of their span.
    fn labelled(&self, start: usize, end: usize, parts: &[Part]) -> Vec<Part> {
        let row = &self.scores[self.cells.index(start, end) * self.labels..][..self.labels];
        let mut labels: Vec<usize> = (NO_BRACKET + 1..self.labels).collect();
        labels.sort_by(|&one, &other| row[other].total_cmp(&row[one]));
        labels.truncate(LABELS);
        labels.push(NO_BRACKET);
        labels.retain(|&label| row[label] > f32::NEG_INFINITY);
        let mut all: Vec<Part> = Vec::with_capacity(labels.len() * parts.len());
        for &label in &labels {
            let own = if label == NO_BRACKET { 0 } else { bracket_hash(start, end, label) };
            all.extend(parts.iter().map(|part| Part {
                score: part.score + f64::from(row[label]),
                brackets: part.brackets.wrapping_add(own),
                label: label as u32,
                ..*part
            }));
        }
        all.sort_by(|one, other| other.score.total_cmp(&one.score));
        all.truncate(self.wanted);
        all
    }

    /// The brackets of each tree in pre-order.
    pub fn trees(&self) -> Vec<Vec<LabelledSpan>> {
        let whole = &self.lists[self.cells.index(0, self.cells.words())];
        (0..whole.len()).map(|rank| self.tree(rank)).collect()
    }

    fn tree(&self, rank: usize) -> Vec<LabelledSpan> {
        let mut brackets = Vec::new();
        let mut open = vec![(0, self.cells.words(), rank)];
        while let Some((start, end, rank)) = open.pop() {
            let part = self.lists[self.cells.index(start, end)][rank];
            if part.label != NO_BRACKET as u32 {
                brackets.push((start as u32, end as u32, part.label));
            }
            if end - start > 1 {
                let split = part.split as usize;
                open.push((split, end, part.ranks[1] as usize));
                open.push((start, split, part.ranks[0] as usize));
            }
        }
        brackets
    }
}

/// A number that stands for a bracket, so that sums of them stand for sets (the finaliser of
/// SplitMix64).
fn bracket_hash(start: usize, end: usize, label: usize) -> u64 {
    let mut bits = (start as u64) << 42 ^ (end as u64) << 21 ^ label as u64;
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::loss::{label_probabilities, tree_labels, tree_potentials};
    use super::super::random::Random;
    use super::*;
    use crate::span_decoder::InsideOutside;

    const LABEL_COUNT: usize = 3;

    /// Random scores; the whole sentence has a bracket.
    fn random_scores(words: usize, seed: u64) -> (Cells, Vec<f32>) {
        let cells = Cells::new(words);
        let mut random = Random::new(&[seed]);
        let mut scores: Vec<f32> =
            (0..cells.count() * LABEL_COUNT).map(|_| 4.0 * random.uniform() - 2.0).collect();
        scores[cells.index(0, words) * LABEL_COUNT + NO_BRACKET] = f32::NEG_INFINITY;
        (cells, scores)
    }

    /// The trees with their probabilities, in the order in which they are found.
    fn trees(words: usize, seed: u64, wanted: usize) -> Vec<(Vec<LabelledSpan>, f64)> {
        let (cells, scores) = random_scores(words, seed);
        let (mut sums, cancel) = (InsideOutside::default(), Cancel::new());
        let totals = label_probabilities(LABEL_COUNT, &mut scores.clone());
        sums.run(cells, &totals, &cancel).unwrap();
        let (posteriors, log_partition) = (sums.posteriors().to_vec(), sums.log_partition());
        let best =
            KBest::new(cells, LABEL_COUNT, &scores, &posteriors, wanted, 1 << 30, &cancel).unwrap();
        best.trees()
            .into_iter()
            .map(|tree| {
                let labels = tree_labels(cells, &tree);
                sums.run(cells, &tree_potentials(LABEL_COUNT, &scores, &labels), &cancel).unwrap();
                (tree, (sums.log_partition() - log_partition).exp())
            })
            .collect()
    }

    #[test]
    fn all_trees_are_found_once() {
        for seed in 0..5 {
            let found = trees(4, seed, 100_000);
            let distinct: FxHashSet<_> = found.iter().map(|(tree, _)| tree.clone()).collect();
            assert_eq!(distinct.len(), found.len());
            let total: f64 = found.iter().map(|(_, probability)| probability).sum();
            assert!((total - 1.0).abs() < 1e-6, "{total}");
        }
    }

    #[test]
    fn few_trees_are_the_first_of_many() {
        for seed in 0..5 {
            let (many, few) = (trees(5, seed, 100_000), trees(5, seed, 7));
            assert_eq!(few.len(), 7);
            assert_eq!(few[..], many[..7]);
        }
    }
}
