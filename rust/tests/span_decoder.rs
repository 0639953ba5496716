//! Trees over span scores, against the enumeration of all of them.

use std::collections::HashMap;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::span_decoder::{Method, Sentence, SpanError, SpanTree, decode, marginals};
use proptest::prelude::*;

/// The scores of a sentence as a dense array, and the label of no bracket.
#[derive(Debug, Clone)]
struct Case {
    words: usize,
    labels: usize,
    none: Option<u32>,
    scores: Vec<f64>,
}

/// Sentences of up to six words with two labels, or up to four with three.
fn case() -> impl Strategy<Value = Case> {
    prop_oneof![(1usize..=6, Just(2usize)), (1usize..=4, Just(3usize))].prop_flat_map(
        |(words, labels)| {
            let score = prop_oneof![
                9 => -5.0f64..5.0,
                1 => Just(f64::NEG_INFINITY),
                1 => -900.0f64..900.0,
            ];
            let none = proptest::option::weighted(0.8, 0..labels as u32);
            let scores = proptest::collection::vec(score, words * (words + 1) * labels);
            (none, scores).prop_map(move |(none, scores)| Case { words, labels, none, scores })
        },
    )
}

type Span = (u32, u32, u32);

impl Case {
    fn dense(&self) -> Sentence<'_> {
        Sentence::Dense { words: self.words, labels: self.labels, scores: &self.scores }
    }

    fn score(&self, start: usize, end: usize, label: u32) -> f64 {
        if end - start == self.words && Some(label) == self.none {
            return f64::NEG_INFINITY;
        }
        self.scores[(start * (self.words + 1) + end) * self.labels + label as usize]
    }

    /// All trees over a span with their scores, every label of every span spelled out.
    fn trees(&self, start: usize, end: usize) -> Vec<(f64, Vec<Span>)> {
        let mut below = Vec::new();
        if end - start == 1 {
            below.push((0.0, Vec::new()));
        }
        for split in start + 1..end {
            for left in self.trees(start, split) {
                for right in self.trees(split, end) {
                    below.push((left.0 + right.0, [&left.1[..], &right.1[..]].concat()));
                }
            }
        }
        let mut trees = Vec::new();
        for label in 0..self.labels as u32 {
            let score = self.score(start, end, label);
            if score > f64::NEG_INFINITY {
                let span = (start as u32, end as u32, label);
                trees.extend(
                    below.iter().map(|tree| (tree.0 + score, [&[span], &tree.1[..]].concat())),
                );
            }
        }
        trees
    }

    fn decode(&self, method: Method) -> Result<SpanTree, SpanError> {
        decode(&[self.dense()], self.none, method, &Cancel::new())
            .map(|mut trees| trees.remove(0))
            .map_err(|(_, error)| error)
    }

    fn written(&self, spans: &[Span]) -> Vec<Span> {
        spans.iter().copied().filter(|span| Some(span.2) != self.none).collect()
    }

    /// The greedy tree by its definition.
    fn greedy(&self, start: usize, end: usize) -> Option<(f64, Vec<Span>)> {
        let best = |start: usize, end: usize| {
            (0..self.labels as u32)
                .map(|label| (self.score(start, end, label), label))
                .reduce(|best, next| if next.0 > best.0 { next } else { best })
                .filter(|best| best.0 > f64::NEG_INFINITY)
        };
        let (score, label) = best(start, end)?;
        let mut tree = (score, vec![(start as u32, end as u32, label)]);
        if end - start > 1 {
            let (_, split) = (start + 1..end)
                .filter_map(|split| Some((best(start, split)?.0 + best(split, end)?.0, split)))
                .reduce(|best, next| if next.0 > best.0 { next } else { best })?;
            for (from, to) in [(start, split), (split, end)] {
                let part = self.greedy(from, to)?;
                tree.0 += part.0;
                tree.1.extend(part.1);
            }
        }
        Some(tree)
    }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * (1.0 + expected.abs())
}

proptest! {
    #[test]
    fn exact_decoding_finds_the_best_tree(case in case()) {
        let trees = case.trees(0, case.words);
        let best = trees.iter().map(|tree| tree.0).fold(f64::NEG_INFINITY, f64::max);
        match case.decode(Method::Exact) {
            Err(error) => {
                prop_assert_eq!(error, SpanError::NoTree);
                prop_assert!(trees.is_empty());
            }
            Ok(found) => {
                prop_assert!(close(found.score, best));
                let is_found = |(score, spans): &(f64, Vec<Span>)| {
                    close(*score, best) && case.written(spans) == found.spans
                };
                prop_assert!(trees.iter().any(is_found));
            }
        }
    }

    #[test]
    fn greedy_decoding_follows_its_definition(case in case()) {
        match case.greedy(0, case.words) {
            None => prop_assert_eq!(case.decode(Method::Greedy), Err(SpanError::NoTree)),
            Some((score, spans)) => {
                let found = case.decode(Method::Greedy).unwrap();
                prop_assert!(close(found.score, score));
                prop_assert_eq!(&found.spans, &case.written(&spans));
                prop_assert!(found.score <= case.decode(Method::Exact).unwrap().score + 1e-9);
            }
        }
    }

    #[test]
    fn marginals_are_those_of_all_trees(case in case()) {
        let trees = case.trees(0, case.words);
        let found = marginals(&[case.dense()], case.none, &Cancel::new());
        if trees.is_empty() {
            prop_assert_eq!(found, Err((0, SpanError::NoTree)));
            return Ok(());
        }
        let found = found.unwrap().remove(0);
        let highest = trees.iter().map(|tree| tree.0).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = trees.iter().map(|tree| (tree.0 - highest).exp()).sum();
        prop_assert!(close(found.log_partition, highest + sum.ln()));
        let mut expected: HashMap<Span, f64> = HashMap::new();
        for (score, spans) in &trees {
            for &span in spans {
                *expected.entry(span).or_default() += (score - highest).exp() / sum;
            }
        }
        for start in 0..case.words {
            for end in 0..=case.words {
                for label in 0..case.labels {
                    let place = (start * (case.words + 1) + end) * case.labels + label;
                    let span = (start as u32, end as u32, label as u32);
                    let expected = expected.get(&span).copied().unwrap_or(0.0);
                    prop_assert!((found.probabilities[place] - expected).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn spans_in_any_order_say_the_same(case in case(), seed in any::<u64>()) {
        let mut rows: Vec<(u64, Span)> = Vec::new();
        for start in 0..case.words as u32 {
            for end in start + 1..=case.words as u32 {
                for label in 0..case.labels as u32 {
                    let key = u64::from((start * 31 + end) * 17 + label).wrapping_mul(seed | 1);
                    rows.push((key, (start, end, label)));
                }
            }
        }
        rows.sort_unstable();
        let place = |span: &Span| {
            (span.0 as usize * (case.words + 1) + span.1 as usize) * case.labels + span.2 as usize
        };
        let spans: Vec<Span> = rows.iter().map(|row| row.1).collect();
        let column = |part: fn(&Span) -> u32| spans.iter().map(part).collect::<Vec<_>>();
        let (starts, ends, labels) = (column(|s| s.0), column(|s| s.1), column(|s| s.2));
        let scores: Vec<f64> = spans.iter().map(|span| case.scores[place(span)]).collect();
        let sparse = Sentence::Sparse {
            words: case.words,
            starts: &starts,
            ends: &ends,
            labels: &labels,
            scores: &scores,
        };
        let cancel = Cancel::new();
        let both = [case.dense(), sparse];
        match decode(&both, case.none, Method::Exact, &cancel) {
            Err((row, error)) => prop_assert_eq!((row, error), (0, SpanError::NoTree)),
            Ok(trees) => {
                prop_assert_eq!(&trees[0], &trees[1]);
                let found = marginals(&both, case.none, &cancel).unwrap();
                prop_assert_eq!(found[0].log_partition, found[1].log_partition);
                for (row, span) in spans.iter().enumerate() {
                    let dense = found[0].probabilities[place(span)];
                    prop_assert_eq!(found[1].probabilities[row], dense);
                }
            }
        }
    }
}

#[test]
fn what_is_not_listed_writes_no_bracket() {
    let sentence = Sentence::Sparse {
        words: 4,
        starts: &[0, 1],
        ends: &[4, 3],
        labels: &[1, 2],
        scores: &[0.0, 2.0],
    };
    let trees = decode(&[sentence], Some(0), Method::Exact, &Cancel::new()).unwrap();
    assert_eq!(trees[0], SpanTree { score: 2.0, spans: vec![(0, 4, 1), (1, 3, 2)] });
    let none = decode(&[sentence], None, Method::Exact, &Cancel::new());
    assert_eq!(none, Err((0, SpanError::NoTree)));
}

#[test]
fn long_sentences_neither_overflow_nor_underflow() {
    for score in [-800.0, 800.0] {
        let words = 120;
        let case = Case { words, labels: 1, none: None, scores: vec![score; words * (words + 1)] };
        let found = marginals(&[case.dense()], None, &Cancel::new()).unwrap().remove(0);
        // All of the Catalan(119) trees are equally good; their number by the product formula.
        let catalan: f64 =
            (2..words).map(|k| ((words + k - 1) as f64 / k as f64).ln()).sum::<f64>();
        let spans = (2 * words - 1) as f64;
        assert!(close(found.log_partition, catalan + spans * score), "{}", found.log_partition);
        let expected: f64 = found.probabilities.iter().sum();
        assert!(close(expected, spans));
    }
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let sparse = |starts: &'static [u32], ends: &'static [u32], scores: &'static [f64]| {
        let sentence = Sentence::Sparse { words: 2, starts, ends, labels: &[1, 1], scores };
        let good = Sentence::Dense { words: 1, labels: 2, scores: &[0.0; 4] };
        decode(&[good, sentence], Some(0), Method::Exact, &Cancel::new()).unwrap_err()
    };
    assert_eq!(
        sparse(&[0, 1], &[2, 3], &[0.0, 0.0]),
        (1, SpanError::NoSpan { start: 1, end: 3, words: 2 })
    );
    assert_eq!(
        sparse(&[0, 1], &[2, 1], &[0.0, 0.0]),
        (1, SpanError::NoSpan { start: 1, end: 1, words: 2 })
    );
    assert_eq!(
        sparse(&[0, 0], &[2, 2], &[0.0, 0.0]),
        (1, SpanError::Twice { start: 0, end: 2, label: 1 })
    );
    assert_eq!(
        sparse(&[0, 0], &[2, 1], &[0.0, f64::INFINITY]),
        (1, SpanError::Score { start: 0, end: 1, label: 1, score: f64::INFINITY })
    );
}

#[test]
fn a_raised_flag_stops_the_work() {
    let cancel = Cancel::new();
    cancel.cancel();
    let sentence = Sentence::Dense { words: 1, labels: 1, scores: &[0.0; 2] };
    let stopped = decode(&[sentence], None, Method::Exact, &cancel).unwrap_err();
    assert!(matches!(stopped, (0, SpanError::Cancelled(_))));
    assert!(matches!(
        marginals(&[sentence], None, &cancel).unwrap_err(),
        (0, SpanError::Cancelled(_))
    ));
}
