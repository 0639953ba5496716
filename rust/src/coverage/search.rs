//! The tree with the largest gain.
//!
//! A tree may have any phrase label of the table over a span. It may have several labels over the
//! same words only as a unary chain of a member's tree, because the table has neither the order of
//! labels nor whether they occur together. Its root is the root of a member's tree.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Coverage;
use super::nested::{self, Candidate};
use super::spans::LabelledSpan;
use crate::cancel::{Cancel, Cancelled};
use crate::span_decoder::{Method, Sentence, SpanError, decode};

/// The cost of each bracket of a tree: half of a usual F1, as in the decoder of expected F1.
pub const BRACKET_COST: f64 = 0.4;

/// The number of words up to which a chart is searched. Beyond it, time and memory would grow with
/// the third and the second power of the number of words. A chart and the search without one find
/// trees with the same gain, but prefer different ones among trees with equal gains.
const CHART_WORDS: usize = 250;

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

    /// The brackets of the tree with the largest gain, with their chains.
    fn best_brackets(
        &self,
        words: usize,
        cancel: &Cancel,
    ) -> Result<Vec<(u32, u32, u32)>, Cancelled> {
        if words > CHART_WORDS {
            self.search_few(words, cancel)
        } else {
            self.search_chart(words, cancel)
        }
    }

    /// Search a chart of all spans.
    fn search_chart(
        &self,
        words: usize,
        cancel: &Cancel,
    ) -> Result<Vec<(u32, u32, u32)>, Cancelled> {
        let sentence = Sentence::Sparse {
            words,
            starts: &self.starts,
            ends: &self.ends,
            labels: &self.chains,
            scores: &self.gains,
        };
        match decode(&[sentence], Some(0), Method::Exact, cancel) {
            Ok(mut trees) => Ok(trees.remove(0).spans),
            Err((_, SpanError::Cancelled(error))) => Err(error),
            // Cannot be: every span may be without a bracket, and no chain occurs twice over a span.
            Err((_, error)) => unreachable!("{error}"),
        }
    }

    /// Search the spans with a positive gain alone.
    fn search_few(&self, words: usize, cancel: &Cancel) -> Result<Vec<(u32, u32, u32)>, Cancelled> {
        let is_whole = |one: &Candidate| (one.end - one.start) as usize == words;
        let mut candidates: Vec<Candidate> = (0..self.gains.len())
            .map(|row| Candidate {
                start: self.starts[row],
                end: self.ends[row],
                chain: self.chains[row],
                gain: self.gains[row],
            })
            .filter(|candidate| candidate.gain > 0.0 || is_whole(candidate))
            .collect();
        // The best chain of each span comes first, and what is over all words last.
        candidates.sort_unstable_by(|one, two| {
            let key = |one: &Candidate| (is_whole(one), one.start, one.end);
            let by_gain = two.gain.total_cmp(&one.gain);
            key(one).cmp(&key(two)).then(by_gain).then(one.chain.cmp(&two.chain))
        });
        candidates.dedup_by_key(|candidate| (candidate.start, candidate.end));
        let tree = nested::best_tree(words, &candidates, cancel)?;
        Ok(tree.iter().map(|one| (one.start, one.end, one.chain)).collect())
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
    let mut known: FxHashSet<(u32, u32, Vec<u32>)> = FxHashSet::default();
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
            known.insert(chain);
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
    let brackets = gains.best_brackets(coverage.words, cancel)?;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Spans with gains in a sentence, one or two chains for a span, and one over all words.
    fn gains_of(words: u32, spans: &[(u32, u32, f64)], root: f64) -> Gains {
        let mut gains = Gains::default();
        gains.push(0, words, vec![9], root);
        for (row, &(start, width, gain)) in spans.iter().enumerate() {
            let start = start % words;
            let end = words.min(start + width);
            if end - start < words {
                gains.push(start, end, vec![row as u32], gain);
            }
        }
        gains
    }

    fn total(gains: &Gains, tree: &[(u32, u32, u32)]) -> f64 {
        let rows = || 0..gains.gains.len();
        let row = |&(start, end, chain): &(u32, u32, u32)| {
            let found = (gains.starts.as_slice(), gains.ends.as_slice(), gains.chains.as_slice());
            rows().find(|&row| (found.0[row], found.1[row], found.2[row]) == (start, end, chain))
        };
        tree.iter().map(|span| gains.gains[row(span).unwrap()]).sum()
    }

    fn spans(gain: impl Strategy<Value = f64>) -> impl Strategy<Value = Vec<(u32, u32, f64)>> {
        proptest::collection::vec((0u32..30, 1u32..12, gain), 0..60)
    }

    proptest! {
        #[test]
        fn few_spans_have_the_tree_of_the_chart(
            words in 1u32..30, spans in spans(-0.5f64..1.0), root in -1.0f64..1.0,
        ) {
            let gains = gains_of(words, &spans, root);
            let cancel = Cancel::new();
            let mut few = gains.search_few(words as usize, &cancel).unwrap();
            let mut chart = gains.search_chart(words as usize, &cancel).unwrap();
            few.sort_unstable();
            chart.sort_unstable();
            prop_assert_eq!(few, chart);
        }

        #[test]
        fn few_spans_have_as_good_a_tree_where_several_are_the_best(
            words in 1u32..30, spans in spans((-1i32..3).prop_map(f64::from)),
        ) {
            let gains = gains_of(words, &spans, 0.0);
            let cancel = Cancel::new();
            let few = gains.search_few(words as usize, &cancel).unwrap();
            let chart = gains.search_chart(words as usize, &cancel).unwrap();
            prop_assert_eq!(total(&gains, &few), total(&gains, &chart));
            let crosses = |a: &(u32, u32, u32), b: &(u32, u32, u32)| {
                a.0 < b.0 && b.0 < a.1 && a.1 < b.1
            };
            prop_assert!(!few.iter().any(|a| few.iter().any(|b| crosses(a, b))));
        }
    }

    #[test]
    fn a_long_line_needs_no_chart() {
        const WORDS: u32 = 300_000;
        let phrases = |width: u32| {
            let ends = (0..WORDS / width).map(move |row| (row * width, (row + 1) * width));
            ends.map(move |(start, end)| LabelledSpan { start, end, label: width })
        };
        let root = LabelledSpan { start: 0, end: WORDS, label: 0 };
        let tree = |width| [root].into_iter().chain(phrases(width)).collect::<Vec<_>>();
        let mut coverage = Coverage::new(WORDS as usize);
        for (member, (weight, width)) in [(1.0, 4), (2.0, 3)].into_iter().enumerate() {
            let spans = tree(width).into_iter().map(|span| (span, 1.0));
            coverage.add(member, weight, spans, tree(width));
        }
        let found = coverage.best(&[false; 5], &Cancel::new()).unwrap().unwrap();
        assert_eq!((found.tree, found.proposers), (tree(3), vec![1]));
    }

    #[test]
    fn a_raised_flag_stops_the_search() {
        let cancel = Cancel::new();
        cancel.cancel();
        let gains = gains_of(20, &[(1, 2, 0.5)], 0.0);
        assert_eq!(gains.search_few(20, &cancel), Err(Cancelled));
        assert_eq!(gains.search_chart(20, &cancel), Err(Cancelled));
    }
}
