//! The pruning passes over a sentence, within a memory budget.
//!
//! Half of the budget is for the chart of the coarse pass, whose size depends only on the length of
//! the sentence. A quarter is for the chart of the PCFG pass: if it becomes too large, the coarse
//! pass prunes more. The last quarter is for the vectors of latent passes and the tables of
//! decoders: if the remaining items are too many for it, more of them are pruned. What is left of it is
//! for lists of k-best trees. Memory that depends on the grammar alone is not counted.

use super::levels::Pruning;
use super::times::Stopwatch;
use super::{Decoder, Options, Parser, Sentence, Workspace};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::coarse::CoarseGrammar;
use crate::chart::edges::EdgeFinder;
use crate::chart::pcfg::Bounds;
use crate::chart::{Cells, Chart};
use crate::crf::{CrfPass, LatentPrior};
use crate::grammar::{SymbolId, Token};
use crate::span_filter::SpanFilter;

/// The result of the pruning passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FillOutcome {
    /// Trees span the sentence.
    Spanned {
        /// Whether thresholds were raised to save memory.
        tightened: bool,
    },
    /// No tree spans the sentence.
    NotSpanned {
        /// Whether no tree of the coarse grammar does, whatever the thresholds.
        coarsely: bool,
    },
    /// The charts do not fit into memory, not even with the highest thresholds.
    TooLarge,
}

/// The memory budget of a sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryBudget {
    /// The largest number of items of the PCFG pass.
    pub items: usize,
    /// The number of bytes for latent passes and decoders.
    pub decoding: usize,
}

/// The bytes that posteriors of later models, mixtures of models and decoders take for each item.
pub(super) const DECODING_BYTES: usize = 256;
/// The bytes that rule posteriors of latent models take for each edge. A growing vector may have twice
/// the capacity that it needs.
const EDGE_BYTES: usize = 2 * size_of::<f64>();

/// The factor by which thresholds are raised, and the lowest and the highest raised threshold.
const TIGHTEN: f64 = 10.0;
const LOWEST_RAISED: f64 = 1e-6;
const HIGHEST_RAISED: f64 = 0.1;

/// The next higher threshold, if there is one.
fn raise(threshold: f64) -> Option<f64> {
    let raised = (threshold * TIGHTEN).max(LOWEST_RAISED);
    (raised <= HIGHEST_RAISED).then_some(raised)
}

/// Whether a symbol over the span of a cell is a node of the gold tree, if there is one.
fn is_gold(gold: Option<&[(usize, SymbolId)]>) -> impl Fn(usize, SymbolId) -> bool {
    move |cell, symbol| gold.is_some_and(|gold| gold.binary_search(&(cell, symbol)).is_ok())
}

impl Parser {
    /// The budget of a sentence with this number of words; none if the sentence is too long.
    pub(super) fn memory_budget(&self, words: usize, memory: usize) -> Option<MemoryBudget> {
        // A single word cannot be split and is parsed in any case.
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

    /// Run the passes and prune, with higher thresholds than asked for if the charts are too large
    /// otherwise.
    ///
    /// To train a CRF, the items of the `gold` tree are given by cell and symbol, in ascending
    /// order. They are not pruned, and there must be memory for the pass of a CRF.
    pub(super) fn fill(
        &self,
        options: Options,
        pruning: Pruning,
        gold: Option<&[(usize, SymbolId)]>,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<FillOutcome, Cancelled> {
        let Some(budget) = self.memory_budget(workspace.words.len(), options.memory) else {
            return Ok(FillOutcome::TooLarge);
        };
        let outcome = self.run_passes(options, pruning, budget, gold, workspace, cancel)?;
        self.fit_memory(outcome, options, (pruning, budget), gold, workspace, cancel)
    }

    /// Run the coarse and the PCFG pass, with higher thresholds if the charts of these passes are
    /// too large otherwise, and prune.
    pub(super) fn run_passes(
        &self,
        options: Options,
        pruning: Pruning,
        budget: MemoryBudget,
        gold: Option<&[(usize, SymbolId)]>,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<FillOutcome, Cancelled> {
        let mut tightened = false;
        let mut threshold = pruning.coarse;
        loop {
            let mut bounds = Bounds { max_items: budget.items, ..Bounds::NONE };
            if let (true, Some(projection)) = (workspace.is_guided, self.grammar().projection()) {
                bounds.mask = Some((&workspace.guided, projection));
            } else if let (Some(grammar), Some(projection)) =
                (&self.coarse, self.grammar().projection())
            {
                let clock = Stopwatch::start(options.times);
                self.fill_coarse(grammar, workspace, cancel)?;
                let spanned = workspace.coarse.prune(grammar, threshold, cancel)?;
                if let Some(gold) = gold {
                    let classes = gold.iter().map(|&(cell, node)| (cell, projection.class(node)));
                    workspace.coarse.keep(Cells::new(workspace.words.len()), classes);
                }
                workspace.times.coarse += clock.seconds();
                if !spanned {
                    return Ok(FillOutcome::NotSpanned { coarsely: true });
                }
                bounds.mask = Some((workspace.coarse.mask(), projection));
            }
            let Workspace { words, pass, chart, times, .. } = workspace;
            let clock = Stopwatch::start(options.times);
            let fits = pass.run(self.grammar(), words, bounds, pruning.fine, chart, cancel)?;
            if fits {
                chart.prune_unless(pruning.fine, is_gold(gold));
            }
            times.pcfg += clock.seconds();
            if fits {
                break;
            }
            match raise(threshold) {
                // The other levels may be able to prune more.
                _ if workspace.is_guided => {
                    return Ok(FillOutcome::NotSpanned { coarsely: false });
                }
                Some(raised) if self.coarse.is_some() => threshold = raised,
                _ => return Ok(FillOutcome::TooLarge),
            }
            tightened = true;
        }
        Ok(match workspace.chart.log_probability() {
            f64::NEG_INFINITY => FillOutcome::NotSpanned { coarsely: false },
            _ => FillOutcome::Spanned { tightened },
        })
    }

    /// Prune more, until there is memory for the latent or CRF passes and for decoding.
    pub(super) fn fit_memory(
        &self,
        outcome: FillOutcome,
        options: Options,
        (pruning, budget): (Pruning, MemoryBudget),
        gold: Option<&[(usize, SymbolId)]>,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<FillOutcome, Cancelled> {
        let FillOutcome::Spanned { mut tightened } = outcome else { return Ok(outcome) };
        let mut threshold = pruning.fine;
        let has_crf = gold.is_some() || self.crf.is_some();
        loop {
            let Workspace { chart, .. } = workspace;
            let spare =
                self.spare_bytes(options.decoder, has_crf, chart, budget.decoding, cancel)?;
            if let Some(spare) = spare {
                workspace.spare_memory = spare;
                return Ok(FillOutcome::Spanned { tightened });
            }
            let Some(raised) = raise(threshold) else { return Ok(FillOutcome::TooLarge) };
            threshold = raised;
            workspace.chart.prune_unless(threshold, is_gold(gold));
            tightened = true;
        }
    }

    /// The probability below which the filter closes spans, so that this fraction of the correct
    /// ones stays open. It is zero if there is no filter, if the words are not known, or if its chart
    /// does not fit into memory beside that of the coarse pass.
    pub(super) fn span_threshold(&self, tokens: &[Token], recall: f64, memory: usize) -> f32 {
        let (Some(filter), Some(coarse)) = (&self.filter, &self.coarse) else { return 0.0 };
        let bytes = coarse.chart_bytes(tokens.len()) + SpanFilter::bytes(tokens.len());
        let has_words = !tokens.iter().any(|token| matches!(token, Token::Tag(_)));
        if has_words && bytes <= memory / 2 { filter.threshold(recall) } else { 0.0 }
    }

    /// Close the spans whose probability is below the threshold, if it is not zero.
    pub(super) fn filter_spans(
        &self,
        tokens: &[Token],
        threshold: f32,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let Workspace { filter: memory, open, is_filtered, .. } = workspace;
        *is_filtered = false;
        if let Some(filter) = &self.filter
            && threshold > 0.0
        {
            *is_filtered = filter.open(tokens, threshold, memory, open, cancel)?;
        }
        Ok(())
    }

    /// Let the guide of a sentence, if there is one, replace the coarse pass.
    pub(super) fn follow_guide(&self, sentence: Option<Sentence<'_>>, workspace: &mut Workspace) {
        workspace.is_guided = false;
        if let (Some(classes), Some(sentence)) = (&self.guide, sentence) {
            let open = workspace.is_filtered.then_some(&workspace.open);
            workspace.guided.guide(classes, sentence.tokens.len(), sentence.guide, open);
            workspace.is_guided = true;
        }
    }

    /// Compute the inside values of the coarse pass, unless the workspace has them already.
    fn fill_coarse(
        &self,
        grammar: &CoarseGrammar,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let Some(projection) = self.grammar().projection() else { return Ok(()) };
        if workspace.coarse_is_filled {
            return Ok(());
        }
        let Workspace { words, classes, coarse, open, is_filtered, .. } = workspace;
        classes.resize_with(words.len(), Vec::new);
        for (word, merged) in words.iter().zip(classes.iter_mut()) {
            merged.clear();
            merged.extend(word.iter().map(|&(symbol, probability)| {
                (projection.class(symbol), projection.fraction(symbol) * probability)
            }));
        }
        let open = is_filtered.then_some(&*open);
        coarse.fill(grammar, &classes[..words.len()], open, cancel)?;
        workspace.coarse_is_filled = true;
        Ok(())
    }

    /// What is left of a number of bytes after latent and CRF passes and decoders have what they need
    /// for the items and edges of a pruned chart, approximately; none if that is more. Edges are
    /// counted until they are too many.
    fn spare_bytes(
        &self,
        decoder: Decoder,
        has_crf: bool,
        chart: &Chart,
        bytes: usize,
        cancel: &Cancel,
    ) -> Result<Option<usize>, Cancelled> {
        let models = || self.grammars.iter().filter_map(|grammar| grammar.latent());
        let has_unary = !self.grammar().unary().is_empty();
        let vectors = |item| {
            let states = models().map(|latent| latent.states(chart.symbol(item))).max();
            (2 + usize::from(has_unary)) * states.unwrap_or(0) * size_of::<f32>()
        };
        let items: usize = (0..chart.len()).map(|item| DECODING_BYTES + vectors(item)).sum();
        let Some(mut spare) = bytes.checked_sub(items) else { return Ok(None) };
        let is_latent = models().next().is_some();
        let edge_bytes = if has_crf && is_latent {
            CrfPass::EDGE_BYTES + EDGE_BYTES + LatentPrior::EDGE_BYTES
        } else if has_crf {
            CrfPass::EDGE_BYTES
        } else if decoder == Decoder::MaxRule && is_latent {
            EDGE_BYTES
        } else {
            return Ok(Some(spare));
        };
        let mut finder = EdgeFinder::default();
        for (start, end) in chart.cells().bottom_up() {
            cancel.check()?;
            let mut edges = 0;
            finder.for_each(self.grammar(), chart, start, end, |_| edges += 1);
            match spare.checked_sub(edges * edge_bytes) {
                Some(less) => spare = less,
                None => return Ok(None),
            }
        }
        Ok(Some(spare))
    }
}
