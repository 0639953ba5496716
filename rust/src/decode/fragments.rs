//! The last fallback: cover a sentence that no tree spans with as few fragments as possible.

use super::{Best, PackedForest};

/// A fragment of the cover: an item over a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// The first word.
    pub start: usize,
    /// One past the last word.
    pub end: usize,
    /// The item that spans it.
    pub item: usize,
}

/// The cover with the fewest fragments and, among those, the highest sum of scores. Items that
/// write no label are not used. The cover is empty if some word is in no item.
pub fn cover(forest: PackedForest<'_>, best: &Best) -> Vec<Fragment> {
    let chart = forest.chart;
    let words = chart.cells().words();
    let output = forest.grammar.output();
    // For each prefix: the number of fragments, the score and the last fragment of its best cover.
    let mut covers: Vec<Option<(usize, f64, Option<Fragment>)>> = vec![Some((0, 0.0, None))];
    for end in 1..=words {
        let mut chosen: Option<(usize, f64, Option<Fragment>)> = None;
        for (start, cover) in covers.iter().enumerate() {
            let Some((count, score, _)) = *cover else { continue };
            let item = chart
                .items(chart.cells().index(start, end))
                .filter(|&item| best.score(item) > f64::NEG_INFINITY)
                .filter(|&item| !output.labels(chart.symbol(item)).is_empty())
                .max_by(|&a, &b| best.score(a).total_cmp(&best.score(b)));
            let Some(item) = item else { continue };
            let score = score + best.score(item);
            let better = chosen.is_none_or(|(fewest, highest, _)| {
                count + 1 < fewest || (count + 1 == fewest && score > highest)
            });
            if better {
                chosen = Some((count + 1, score, Some(Fragment { start, end, item })));
            }
        }
        covers.push(chosen);
    }
    let mut fragments = Vec::new();
    let mut end = words;
    while let Some((_, _, Some(fragment))) = covers[end] {
        fragments.push(fragment);
        end = fragment.start;
    }
    fragments.reverse();
    fragments
}
