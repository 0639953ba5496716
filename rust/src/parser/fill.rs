//! The passes over a sentence, within the memory that it may take.
//!
//! Half of the memory is for the coarse pass, whose chart is as large as the sentence is long. A
//! quarter is for the chart of the PCFG pass: where that becomes too large the coarse pass prunes
//! more. The last quarter is for what latent passes and decoders keep about the items that are left:
//! where these are too many, more of them are pruned. What depends on the grammar alone is not
//! counted, nor are lists of several trees.

use super::{Decoder, Options, Parser, Workspace};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::coarse::CoarseGrammar;
use crate::chart::edges::EdgeFinder;
use crate::chart::pcfg::Bounds;
use crate::chart::{Cells, Chart};
use crate::crf::CrfPass;
use crate::grammar::SymbolId;

/// What became of the passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FillOutcome {
    /// Trees span the sentence.
    Spanned {
        /// Whether more was pruned than asked for.
        tightened: bool,
    },
    /// No tree does.
    NotSpanned,
    /// The charts do not fit into the memory, whatever is pruned.
    TooLarge,
}

/// What a sentence may have in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryBudget {
    /// The most items of the PCFG pass.
    pub items: usize,
    /// The bytes for what is left after pruning.
    pub decoding: usize,
}

/// Bytes that posteriors of later models, mixtures of models and decoders take for each item, and a
/// product of rule posteriors for each edge; what grows may take up twice as much as is in it.
pub(super) const DECODING_BYTES: usize = 256;
const EDGE_BYTES: usize = 2 * size_of::<f64>();

/// Thresholds are raised by this factor, from this one on, up to the last one.
const TIGHTEN: f64 = 10.0;
const LOWEST: f64 = 1e-6;
const HIGHEST: f64 = 0.1;

fn tighter(threshold: f64) -> Option<f64> {
    let raised = (threshold * TIGHTEN).max(LOWEST);
    (raised <= HIGHEST).then_some(raised)
}

impl Parser {
    /// What a sentence of so many words may have; none if it is too long.
    pub(super) fn room(&self, words: usize, memory: usize) -> Option<MemoryBudget> {
        // What cannot be cut is parsed in any case.
        if words == 1 {
            return Some(MemoryBudget { items: usize::MAX, decoding: usize::MAX });
        }
        let quarter = memory / 4;
        let cells = Cells::new(words).count() * Chart::CELL_BYTES;
        let coarse = self.coarse.as_ref().map_or(0, |grammar| grammar.chart_bytes(words));
        let items = match self.coarse {
            Some(_) => quarter,
            None => memory - quarter,
        };
        if coarse > memory / 2 || cells > items {
            return None;
        }
        Some(MemoryBudget { items: (items - cells) / Chart::ITEM_BYTES, decoding: quarter })
    }

    /// Run the passes and prune, more than asked for if the charts are too large otherwise, but for
    /// what is to be kept in any case: cells and symbols in ascending order.
    pub(super) fn fill(
        &self,
        options: Options,
        kept: &[(usize, SymbolId)],
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<FillOutcome, Cancelled> {
        let Some(room) = self.room(workspace.words.len(), options.memory) else {
            return Ok(FillOutcome::TooLarge);
        };
        let mut tightened = false;
        let mut threshold = options.coarse_threshold;
        loop {
            let mut bounds = Bounds { max_items: room.items, ..Bounds::NONE };
            if let (Some(grammar), Some(projection)) = (&self.coarse, self.grammar().projection()) {
                if !self.run_coarse(grammar, threshold, workspace, cancel)? {
                    return Ok(FillOutcome::NotSpanned);
                }
                bounds.mask = Some((workspace.coarse.mask(), projection));
            }
            let Workspace { words, pass, chart, .. } = workspace;
            if pass.run(self.grammar(), words, bounds, options.threshold, chart, cancel)? {
                break;
            }
            match tighter(threshold) {
                Some(raised) if self.coarse.is_some() => threshold = raised,
                _ => return Ok(FillOutcome::TooLarge),
            }
            tightened = true;
        }
        if workspace.chart.log_probability() == f64::NEG_INFINITY {
            return Ok(FillOutcome::NotSpanned);
        }
        let mut threshold = options.threshold;
        let keep = |cell, symbol| kept.binary_search(&(cell, symbol)).is_ok();
        workspace.chart.prune_unless(threshold, keep);
        while self.decoding_bytes(options.decoder, &workspace.chart) > room.decoding {
            let Some(raised) = tighter(threshold) else { return Ok(FillOutcome::TooLarge) };
            threshold = raised;
            workspace.chart.prune_unless(threshold, keep);
            tightened = true;
        }
        Ok(FillOutcome::Spanned { tightened })
    }

    /// Run the coarse pass; false if no tree of the coarse grammar spans the sentence.
    fn run_coarse(
        &self,
        grammar: &CoarseGrammar,
        threshold: f64,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        let Some(projection) = self.grammar().projection() else { return Ok(true) };
        let Workspace { words, classes, coarse, .. } = workspace;
        classes.resize_with(words.len(), Vec::new);
        for (word, merged) in words.iter().zip(classes.iter_mut()) {
            merged.clear();
            merged.extend(word.iter().map(|&(symbol, probability)| {
                (projection.class(symbol), projection.fraction(symbol) * probability)
            }));
        }
        coarse.run(grammar, &classes[..words.len()], threshold, cancel)
    }

    /// About how many bytes latent and CRF passes and decoders need for what is left of a chart.
    fn decoding_bytes(&self, decoder: Decoder, chart: &Chart) -> usize {
        let models = || self.grammars.iter().filter_map(|grammar| grammar.latent());
        let vectors = |item| {
            let states = models().map(|latent| latent.states(chart.symbol(item))).max();
            2 * states.unwrap_or(0) * size_of::<f32>()
        };
        let items: usize = (0..chart.len()).map(|item| DECODING_BYTES + vectors(item)).sum();
        let edge_bytes = match self.crf {
            Some(_) => CrfPass::EDGE_BYTES,
            None if decoder == Decoder::MaxRule && models().next().is_some() => EDGE_BYTES,
            None => 0,
        };
        let mut edges = 0;
        if edge_bytes > 0 {
            let mut finder = EdgeFinder::default();
            for (start, end) in chart.cells().bottom_up() {
                finder.for_each(self.grammar(), chart, start, end, |_| edges += 1);
            }
        }
        items + edges * edge_bytes
    }
}
