//! Pruned charts that are kept for other grammars with the same backbone.
//!
//! The coarse and the PCFG pass take most of the time of a sentence, and do not depend on latent
//! states. When many models over one backbone parse the same sentences, as in a search for
//! hyper-parameters, these passes are run once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::fill::FillOutcome;
use super::levels::Pruning;
use super::{Options, Parser, Sentence, Workspace};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Chart;
use crate::chart::span_set::SpanSet;
use crate::grammar::Token;

/// Everything that a pruned chart depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    /// The hash of rules, emissions and coarse classes.
    backbone: u64,
    tokens: Box<[Token]>,
    /// The bits of the tag factors of each token; empty if there are none.
    tag_factors: Box<[Box<[u32]>]>,
    smoothed: bool,
    /// The spans that the filter left open, if it was used.
    open: Option<SpanSet>,
    /// The bits of the thresholds.
    thresholds: [u64; 2],
    /// The memory limit, which may have raised the thresholds.
    memory: usize,
}

/// The result of the pruning passes for one sentence.
#[derive(Debug)]
struct Kept {
    outcome: FillOutcome,
    /// Empty if no tree spans the sentence.
    chart: Chart,
    /// The CPU seconds of the passes.
    seconds: f64,
}

/// Charts, and what they take.
#[derive(Debug, Default)]
struct Charts {
    found: FxHashMap<Key, Arc<Kept>>,
    /// The keys of all charts, the oldest first, if new charts replace old ones.
    order: VecDeque<Key>,
    bytes: usize,
}

/// Pruned charts by the backbone, the sentence and the thresholds; shared by threads.
#[derive(Debug)]
pub struct ChartCache {
    charts: Mutex<Charts>,
    memory: usize,
    replace: bool,
}

impl ChartCache {
    /// A cache that keeps charts until they take this number of bytes. After that new charts replace
    /// the oldest ones, or are not kept.
    pub fn new(memory: usize, replace: bool) -> Self {
        Self { charts: Mutex::default(), memory, replace }
    }

    fn lock(&self) -> MutexGuard<'_, Charts> {
        self.charts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of charts.
    pub fn len(&self) -> usize {
        self.lock().found.len()
    }

    /// Whether there are no charts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The approximate number of bytes of all charts.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn get(&self, key: &Key) -> Option<Arc<Kept>> {
        self.lock().found.get(key).cloned()
    }

    fn keep(&self, key: Key, kept: Kept) {
        let bytes = bytes_of(&key, &kept);
        let mut charts = self.lock();
        if bytes > self.memory || charts.found.contains_key(&key) {
            return;
        }
        while charts.bytes + bytes > self.memory {
            let Some(oldest) = charts.order.pop_front() else { return };
            if let Some(dropped) = charts.found.remove(&oldest) {
                charts.bytes -= bytes_of(&oldest, &dropped);
            }
        }
        if self.replace {
            charts.order.push_back(key.clone());
        }
        charts.bytes += bytes;
        charts.found.insert(key, Arc::new(kept));
    }
}

/// The approximate number of bytes of a chart and its key.
fn bytes_of(key: &Key, kept: &Kept) -> usize {
    let spans = key.open.as_ref().map_or(0, |_| SpanSet::bytes(key.tokens.len()));
    let factors: usize = key.tag_factors.iter().map(|factors| 16 + size_of_val(&**factors)).sum();
    kept.chart.bytes() + size_of::<Kept>() + size_of_val(&*key.tokens) + factors + spans
}

impl Parser {
    /// Take pruned charts from a cache, and add those that it lacks.
    pub fn with_charts(mut self, charts: Arc<ChartCache>) -> Self {
        self.charts = Some((self.grammar().backbone_hash(), charts));
        self
    }

    /// Fill and prune the chart of the words that the workspace has, like [`Parser::fill`] without
    /// a gold tree, or take it from the cache.
    pub(super) fn fill_sentence(
        &self,
        (sentence, smoothed): (Sentence<'_>, bool),
        options: Options,
        pruning: Pruning,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<FillOutcome, Cancelled> {
        // What a guide leaves open is not part of the key.
        let charts = self.charts.as_ref().filter(|_| !workspace.is_guided);
        let Some((backbone, cache)) = charts else {
            return self.fill(options, pruning, None, workspace, cancel);
        };
        let tokens = sentence.tokens;
        let Some(budget) = self.memory_budget(tokens.len(), options.memory) else {
            return Ok(FillOutcome::TooLarge);
        };
        let bits = |factors: &&[f32]| factors.iter().map(|factor| factor.to_bits()).collect();
        let key = Key {
            backbone: *backbone,
            tokens: tokens.into(),
            tag_factors: sentence.tag_factors.iter().map(bits).collect(),
            smoothed,
            open: workspace.is_filtered.then(|| workspace.open.clone()),
            thresholds: [pruning.coarse, pruning.fine].map(f64::to_bits),
            memory: options.memory,
        };
        let outcome = if let Some(kept) = cache.get(&key) {
            workspace.chart.clone_from(&kept.chart);
            workspace.times.reused += kept.seconds;
            kept.outcome
        } else {
            let before = workspace.times;
            let outcome = self.run_passes(options, pruning, budget, None, workspace, cancel)?;
            let spanned = matches!(outcome, FillOutcome::Spanned { .. });
            let chart = if spanned { workspace.chart.clone() } else { Chart::default() };
            let times = workspace.times;
            let seconds = times.coarse - before.coarse + times.pcfg - before.pcfg;
            cache.keep(key, Kept { outcome, chart, seconds });
            outcome
        };
        self.fit_memory(outcome, options, (pruning, budget), None, workspace, cancel)
    }
}
