//! The best tree over few spans of a long sentence, without a chart.
//!
//! Only spans with a positive gain can be brackets of the best tree, and there are about as many of
//! them as words. What lies inside a span is a set of disjoint spans with what lies inside them, so
//! that the best one is found by weighted interval scheduling, inner spans first.

use crate::cancel::{Cancel, Cancelled};

/// A span with the chain of labels that is the best one over it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub start: u32,
    pub end: u32,
    pub chain: u32,
    pub gain: f64,
}

/// No candidate.
const NONE: u32 = u32::MAX;

/// The candidates of a sentence by their ends, and what is best inside them.
struct Search<'a> {
    candidates: &'a [Candidate],
    /// For each place in the sentence, the first of `by_end` that ends there.
    ends: Vec<usize>,
    /// The numbers of candidates by end; those with the same end from the shortest to the longest.
    by_end: Vec<u32>,
    /// The largest gain of each candidate and what is inside it.
    totals: Vec<f64>,
    /// The largest gain between a start and each place after it.
    best: Vec<f64>,
    /// The candidate that ends at each of these places, if the best ones have one that does.
    last: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(words: usize, candidates: &'a [Candidate]) -> Self {
        let mut by_end: Vec<u32> = (0..candidates.len() as u32).collect();
        let key = |&number: &u32| {
            let Candidate { start, end, .. } = candidates[number as usize];
            (end, u32::MAX - start)
        };
        by_end.sort_unstable_by_key(key);
        let ends = (0..=words as u32 + 1)
            .map(|end| by_end.partition_point(|&number| candidates[number as usize].end < end))
            .collect();
        let totals = vec![0.0; candidates.len()];
        Self { candidates, ends, by_end, totals, best: Vec::new(), last: Vec::new() }
    }

    /// Find the best disjoint candidates from `start` on, up to each place as far as `end`, without
    /// the candidate `left_out`. Those that start later have their totals; those that start here get
    /// them.
    fn scan(&mut self, start: u32, end: u32, left_out: u32) {
        self.best.clear();
        self.last.clear();
        self.best.push(0.0);
        self.last.push(NONE);
        for place in start + 1..=end {
            let (mut best, mut last) = (self.best[(place - start - 1) as usize], NONE);
            let numbers = self.ends[place as usize]..self.ends[place as usize + 1];
            for &number in &self.by_end[numbers] {
                let candidate = self.candidates[number as usize];
                if candidate.start < start {
                    break;
                }
                if number == left_out {
                    continue;
                }
                if candidate.start == start {
                    // The longest of those that end here: what is inside it is known.
                    best += candidate.gain;
                    self.totals[number as usize] = best;
                    last = number;
                    continue;
                }
                let before = self.best[(candidate.start - start) as usize];
                let total = before + self.totals[number as usize];
                if total > best {
                    (best, last) = (total, number);
                }
            }
            self.best.push(best);
            self.last.push(last);
        }
    }
}

/// The candidates of the best tree, in no particular order. There is at most one for each span, in
/// ascending order by start; the last one is over all words and belongs to the tree in any case. The
/// others have a positive gain.
pub(super) fn best_tree(
    words: usize,
    candidates: &[Candidate],
    cancel: &Cancel,
) -> Result<Vec<Candidate>, Cancelled> {
    let Some((root, inner)) = candidates.split_last() else { return Ok(Vec::new()) };
    let mut search = Search::new(words, candidates);
    for same_start in inner.chunk_by(|one, two| one.start == two.start).rev() {
        cancel.check()?;
        let end = same_start.iter().map(|candidate| candidate.end).max();
        search.scan(same_start[0].start, end.unwrap_or_default(), NONE);
    }
    let mut tree = vec![*root];
    let mut pending = vec![inner.len() as u32];
    while let Some(number) = pending.pop() {
        cancel.check()?;
        let Candidate { start, end, .. } = candidates[number as usize];
        search.scan(start, end, number);
        let mut place = end;
        while place > start {
            match search.last[(place - start) as usize] {
                NONE => place -= 1,
                child => {
                    tree.push(candidates[child as usize]);
                    pending.push(child);
                    place = candidates[child as usize].start;
                }
            }
        }
    }
    Ok(tree)
}
