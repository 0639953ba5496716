//! The levels at which a sentence is tried in turn, until a tree spans it.

use super::{Options, Status};

/// How much less is pruned at a level than the user asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    /// The status of a parse at this level.
    pub status: Status,
    /// The factor on the fraction of correct spans that the filter may close; zero for no filter.
    closed: f64,
    /// The factor on the thresholds of posteriors.
    thresholds: f64,
    /// Whether every word may have every tag.
    pub smoothed: bool,
    /// Whether the labelled spans that other models consider possible replace the coarse pass.
    pub guided: bool,
}

/// The levels. A chart with all spans open takes ten times as long as one with few of them, also with
/// all tags of each word, so these come last.
const LEVELS: [Level; 6] = [
    Level::new(Status::Parsed, 1.0, 1.0, false),
    Level::new(Status::Loosened, 1.0, 0.03, false),
    Level::new(Status::Loosened, 0.1, 1e-3, false),
    Level::new(Status::Smoothed, 0.1, 0.03, true),
    Level::new(Status::Loosened, 0.0, 1e-3, false),
    Level::new(Status::Smoothed, 0.0, 1e-3, true),
];

/// The thresholds on which the charts of a sentence depend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pruning {
    /// The probability below which the filter closes spans; zero if it is not used.
    pub spans: f32,
    /// The posterior below which classes of symbols are dropped.
    pub coarse: f64,
    /// The posterior below which symbols are dropped.
    pub fine: f64,
}

impl Pruning {
    /// What the user asked for, without a span filter.
    pub(super) fn unfiltered(options: Options) -> Self {
        Self { spans: 0.0, coarse: options.coarse_threshold, fine: options.threshold }
    }
}

impl Level {
    /// The level before all others, for a sentence with a guide.
    pub(super) const GUIDED: Self = Self { guided: true, ..LEVELS[0] };

    const fn new(status: Status, closed: f64, thresholds: f64, smoothed: bool) -> Self {
        Self { status, closed, thresholds, smoothed, guided: false }
    }

    /// The levels in their order.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        LEVELS.into_iter()
    }

    /// The fraction of correct spans that the filter should leave open.
    pub(super) fn span_recall(&self, options: Options) -> f64 {
        1.0 - (1.0 - options.span_recall) * self.closed
    }

    /// The thresholds at this level, given that of the span filter.
    pub(super) fn pruning(&self, options: Options, spans: f32) -> Pruning {
        let asked = Pruning::unfiltered(options);
        Pruning {
            spans,
            coarse: asked.coarse * self.thresholds,
            fine: asked.fine * self.thresholds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Combine, Decoder};
    use super::*;

    fn options(coarse_threshold: f64, threshold: f64) -> Options {
        Options {
            decoder: Decoder::MaxF1,
            combine: Combine::Posteriors,
            coarse_threshold,
            threshold,
            member_threshold: 0.0,
            span_recall: 0.99,
            memory: usize::MAX,
            max_length: usize::MAX,
            timeout: None,
            candidates: 1,
            marginals: false,
            times: false,
        }
    }

    #[test]
    fn the_first_level_is_what_was_asked_for() {
        let options = options(5e-4, 1e-3);
        let first = Level::all().next().unwrap();
        assert_eq!(first.status, Status::Parsed);
        assert!((first.span_recall(options) - 0.99).abs() < 1e-12);
        assert_eq!(first.pruning(options, 0.0), Pruning::unfiltered(options));
    }

    #[test]
    fn each_level_prunes_less_than_the_one_before_it() {
        let options = options(5e-4, 1e-3);
        for smoothed in [false, true] {
            let levels: Vec<_> = Level::all().filter(|level| level.smoothed == smoothed).collect();
            for pair in levels.windows(2) {
                let [one, two] = [pair[0], pair[1]].map(|level| level.pruning(options, 0.0));
                assert!(two.coarse <= one.coarse && two.fine <= one.fine);
                assert!(pair[1].span_recall(options) >= pair[0].span_recall(options));
            }
            // The last one has all spans open.
            assert!(levels.last().is_some_and(|level| level.span_recall(options) == 1.0));
        }
    }

    #[test]
    fn an_exact_search_stays_exact() {
        let asked = options(0.0, 0.0);
        assert!(Level::all().all(|level| level.pruning(asked, 0.0) == Pruning::unfiltered(asked)));
    }
}
