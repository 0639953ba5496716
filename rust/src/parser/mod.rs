//! The parser: coarse-to-fine passes, decoding, and fallbacks where no tree spans a sentence.
//!
//! [`Parser::analyze`] tries the fallback levels of [`Status`] in turn. `fill` runs the pruning
//! passes within a memory budget, `damping` the others, and `fragments` parses what no tree spans.
//! `members` has the latent or CRF passes. `parts` parses long sentences in parts, and `unfinished` gives a tree when the
//! time of a sentence is up. `chart_cache` keeps pruned charts for other grammars with the same
//! backbone, and `times` measures the phases. Several grammars may parse as an ensemble, over one chart that the first of them
//! prunes. `gold_constrained` and
//! `latent_examples` fill the charts from which a CRF is trained; `latent_prior` is for CRFs over latent
//! states.

mod analysis;
mod candidates;
mod chart_cache;
mod damping;
mod fill;
mod fragments;
mod gold_constrained;
mod latent_examples;
mod latent_prior;
mod levels;
mod members;
mod options;
mod parts;
mod times;
mod unfinished;

use analysis::cover_all_words;
pub use analysis::{Analysis, Span, Status, WrittenTree};
use candidates::{Wanted, maximise};
pub use chart_cache::ChartCache;
use fill::FillOutcome;
use fragments::MAX_FRAGMENT_WIDTH;
pub use gold_constrained::{CrfExamples, GoldTree, LeftOut, TrainingError, crf_examples};
use levels::{Level, Pruning};
pub use options::{Combine, Decoder, Options};
pub use parts::split_point;
use times::Stopwatch;
pub use times::Times;

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use crate::cancel::{Cancel, Cancelled};
use crate::chart::Chart;
use crate::chart::coarse::{CoarseChart, CoarseGrammar};
use crate::chart::guide::{GuideClasses, GuideSpan};
use crate::chart::latent::LatentPass;
use crate::chart::marginals::LabelMarginals;
use crate::chart::mask::Mask;
use crate::chart::mixture::Mixture;
use crate::chart::pcfg::PcfgPass;
use crate::chart::rule_posteriors::RulePosteriors;
use crate::chart::span_set::SpanSet;
use crate::crf::{CrfModel, CrfPass, CrfRules, CrfTrees, LatentPrior, TokenAttributes};
use crate::decode::{Best, Derivation, ExpectedGain, PackedForest, PcfgRules, Viterbi};
use crate::grammar::{Grammar, GrammarError, SymbolId, Token};
use crate::span_filter::{FilterWorkspace, SpanFilter};

/// Grammars and what is precomputed from them; shared by threads.
#[derive(Debug, Clone)]
pub struct Parser {
    /// At least one; the first prunes the chart and decides which trees there are.
    grammars: Vec<Arc<Grammar>>,
    coarse: Option<CoarseGrammar>,
    /// What turns labelled spans into classes of the coarse grammar.
    guide: Option<GuideClasses>,
    crf: Option<Arc<CrfModel>>,
    filter: Option<Arc<SpanFilter>>,
    /// The hash of the backbone, and charts that are kept.
    charts: Option<(u64, Arc<ChartCache>)>,
}

/// A sentence, which must not be empty.
#[derive(Debug, Clone, Copy)]
pub struct Sentence<'a> {
    /// The words and tags by their ids in the lexicon.
    pub tokens: &'a [Token],
    /// For unknown words, the factors by which the emission probabilities of their classes change,
    /// one for each tag; empty for other words. Empty if no word has such factors.
    pub tag_factors: &'a [&'a [f32]],
    /// The attributes of the words that features read, for a parser with a CRF; otherwise empty.
    pub attributes: &'a [TokenAttributes],
    /// The strength of the punctuation that each word is, by which long sentences are split: zero
    /// for none, more for stronger punctuation. Empty if it is not known.
    pub breaks: &'a [u8],
    /// The labelled spans that other models consider possible, for a pass in place of the coarse
    /// one; empty if it is not known.
    pub guide: &'a [GuideSpan],
}

impl Sentence<'_> {
    /// The words before a position and those from there on, without a guide.
    fn split_at(self, position: usize) -> (Self, Self) {
        fn split<T>(column: &[T], position: usize) -> (&[T], &[T]) {
            column.split_at(position.min(column.len()))
        }
        let (tokens, other_tokens) = split(self.tokens, position);
        let (tag_factors, other_factors) = split(self.tag_factors, position);
        let (attributes, other_attributes) = split(self.attributes, position);
        let (breaks, other_breaks) = split(self.breaks, position);
        let left = Self { tokens, tag_factors, attributes, breaks, guide: &[] };
        let right = Self {
            tokens: other_tokens,
            tag_factors: other_factors,
            attributes: other_attributes,
            breaks: other_breaks,
            guide: &[],
        };
        (left, right)
    }
}

impl<'a> From<&'a [Token]> for Sentence<'a> {
    fn from(tokens: &'a [Token]) -> Self {
        Self { tokens, tag_factors: &[], attributes: &[], breaks: &[], guide: &[] }
    }
}

/// Memory that a thread reuses from sentence to sentence.
#[derive(Debug, Default)]
pub struct Workspace {
    times: Times,
    /// Once the chart of a sentence is pruned, whether its emissions are smoothed.
    pruned_smoothed: Option<bool>,
    /// The number of bytes that the chart leaves for lists of k-best trees.
    spare_memory: usize,
    words: Vec<Vec<(SymbolId, f64)>>,
    /// The emission probabilities under one member of an ensemble.
    member_words: Vec<Vec<(SymbolId, f64)>>,
    classes: Vec<Vec<(SymbolId, f64)>>,
    filter: FilterWorkspace,
    /// The spans that the filter leaves open, if it was used.
    open: SpanSet,
    is_filtered: bool,
    /// What a guide leaves open, if it is used in place of the coarse pass.
    guided: Mask,
    is_guided: bool,
    coarse: CoarseChart,
    /// Whether the coarse chart has the inside values of the words and open spans.
    coarse_is_filled: bool,
    pass: PcfgPass,
    chart: Chart,
    latent: LatentPass,
    /// The number of the damped models of the last latent pass, if it was one of these.
    damping: Option<usize>,
    crf: CrfPass,
    prior: LatentPrior,
    mixture: Mixture,
    marginals: LabelMarginals,
    gain: ExpectedGain,
    rules: RulePosteriors,
    best: Best,
}

impl Parser {
    /// Prepare a grammar for parsing.
    pub fn new(grammar: Arc<Grammar>, cancel: &Cancel) -> Result<Self, GrammarError> {
        let projection = grammar.projection();
        let coarse = projection.map(|classes| CoarseGrammar::new(classes, cancel)).transpose()?;
        let guide = grammar.projection().map(|classes| GuideClasses::new(&grammar, classes));
        let grammars = vec![grammar];
        Ok(Self { grammars, coarse, guide, crf: None, filter: None, charts: None })
    }

    /// Parse with another grammar as well, which must have the same backbone and, like all of
    /// several grammars, latent states.
    pub fn with(mut self, grammar: Arc<Grammar>) -> Result<Self, GrammarError> {
        self.grammar().check_backbone(&grammar)?;
        self.grammars.push(grammar);
        Ok(self)
    }

    /// Score the trees of the grammar, which must have no unary rules, by a CRF. Latent states of the
    /// grammar are its prior.
    pub fn with_crf(mut self, model: Arc<CrfModel>) -> Result<Self, GrammarError> {
        model.check_grammar(self.grammar())?;
        self.crf = Some(model);
        Ok(self)
    }

    /// Close spans by a filter, which must belong to the lexicon of the first grammar, before the
    /// coarse pass.
    pub fn with_span_filter(mut self, filter: Arc<SpanFilter>) -> Result<Self, GrammarError> {
        let expected = self.grammar().emissions().number_of_words();
        let found = filter.number_of_words();
        if found != expected {
            return Err(GrammarError::Length {
                array: "words of the span filter",
                expected,
                found,
            });
        }
        self.filter = Some(filter);
        Ok(self)
    }

    /// The first grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammars[0]
    }

    /// Parse many sentences on the threads of the current rayon pool. Results are in the order of
    /// the sentences and do not depend on the number of threads.
    pub fn analyze_all(
        &self,
        sentences: &[Sentence<'_>],
        options: Options,
        cancel: &Cancel,
    ) -> Result<Vec<Analysis>, Cancelled> {
        sentences
            .par_iter()
            .map_init(Workspace::default, |workspace, &sentence| {
                self.analyze(sentence, options, workspace, cancel)
            })
            .collect()
    }

    /// Parse one sentence.
    pub fn analyze(
        &self,
        sentence: Sentence<'_>,
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        let deadline = options.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let clock = Stopwatch::start(options.times);
        workspace.times = Times::default();
        let cancel = cancel.with_deadline(deadline);
        let mut analysis = self.analyze_part(sentence, options, workspace, &cancel)?;
        analysis.times = Times { total: clock.seconds(), ..workspace.times };
        Ok(analysis)
    }

    /// Parse a sentence, or a part of one, until the deadline of `cancel`.
    fn analyze_part(
        &self,
        sentence: Sentence<'_>,
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        // A single word cannot be split.
        if sentence.tokens.len() > options.max_length.max(1) {
            return self.parse_parts(sentence, options, workspace, cancel);
        }
        match self.analyze_whole(sentence, options, workspace, cancel) {
            Err(Cancelled) if !cancel.is_cancelled() => {
                let cancel = &cancel.with_deadline(None);
                self.finish_late(sentence, options, workspace, cancel)
            }
            result => result,
        }
    }

    fn analyze_whole(
        &self,
        sentence: Sentence<'_>,
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        let tags_alone = sentence.tokens.iter().all(|token| matches!(token, Token::Tag(_)));
        // The levels that were tried, and the spans and emissions with which no threshold helps.
        let mut tried: Vec<(Pruning, bool)> = Vec::new();
        let mut hopeless: Vec<(f32, bool)> = Vec::new();
        let can_be_guided = self.guide.is_some() && !sentence.guide.is_empty();
        for level in can_be_guided.then_some(Level::GUIDED).into_iter().chain(Level::all()) {
            let Level { status, smoothed, guided, .. } = level;
            let recall = level.span_recall(options);
            let spans = self.span_threshold(sentence.tokens, recall, options.memory);
            let pruning = level.pruning(options, spans);
            let input = (spans, smoothed);
            let repeats = tried.contains(&(pruning, smoothed)) || hopeless.contains(&input);
            if repeats || (smoothed && tags_alone) {
                continue;
            }
            let same_input = tried.last().is_some_and(|last| (last.0.spans, last.1) == input);
            if !guided {
                tried.push((pruning, smoothed));
            }
            workspace.pruned_smoothed = None;
            if !same_input {
                self.filter_spans(sentence.tokens, spans, workspace, cancel)?;
                let emissions = self.grammar().emissions();
                let Sentence { tokens, tag_factors, .. } = sentence;
                emissions.lookup_all(tokens, tag_factors, smoothed, &mut workspace.words);
            }
            workspace.coarse_is_filled &= same_input;
            self.follow_guide(guided.then_some(sentence), workspace);
            let emitted = (sentence, smoothed);
            let status = match self.fill_sentence(emitted, options, pruning, workspace, cancel)? {
                FillOutcome::Spanned { tightened: false } => status,
                FillOutcome::Spanned { tightened: true } => Status::Tightened,
                FillOutcome::NotSpanned { coarsely } => {
                    hopeless.extend(coarsely.then_some(input));
                    continue;
                }
                FillOutcome::TooLarge => {
                    return self.parse_parts(sentence, options, workspace, cancel);
                }
            };
            workspace.pruned_smoothed = Some(smoothed);
            let level = (status, smoothed);
            if let Some(analysis) =
                self.analyze_pruned(sentence, level, options, workspace, cancel)?
            {
                return Ok(analysis);
            }
        }
        let status = Status::Fragments;
        self.join_fragments(status, MAX_FRAGMENT_WIDTH, options.memory, workspace, cancel)
    }

    /// The best trees of the chart, as many as are wanted and fit into memory; none if every tree
    /// has lost a node to pruning.
    fn decode(
        &self,
        decoder: Decoder,
        candidates: usize,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Option<Vec<Derivation>>, Cancelled> {
        let Workspace {
            spare_memory,
            words,
            chart,
            crf,
            mixture,
            marginals,
            gain,
            rules,
            best,
            ..
        } = workspace;
        let forest = PackedForest { grammar: self.grammar(), chart, words };
        let wanted = Wanted { candidates, memory: *spare_memory };
        match decoder {
            Decoder::MaxRecall => {
                gain.prepare_recall(self.grammar(), chart);
                maximise(forest, gain, best, wanted, cancel)
            }
            Decoder::MaxF1 => {
                marginals.prepare(self.grammar(), chart);
                gain.prepare_f1(self.grammar(), chart, marginals);
                maximise(forest, gain, best, wanted, cancel)
            }
            Decoder::MaxRule if self.crf.is_some() => {
                maximise(forest, &CrfRules(crf), best, wanted, cancel)
            }
            Decoder::Viterbi if self.crf.is_some() => {
                maximise(forest, &CrfTrees(crf), best, wanted, cancel)
            }
            Decoder::MaxRule if mixture.members().is_empty() => {
                maximise(forest, &PcfgRules(chart), best, wanted, cancel)
            }
            Decoder::MaxRule => maximise(forest, rules, best, wanted, cancel),
            Decoder::Viterbi => maximise(forest, &Viterbi, best, wanted, cancel),
        }
    }
}
