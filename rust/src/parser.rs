//! From a sentence to its analysis: passes, decoding, and what to do when nothing spans it.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::cancel::{Cancel, Cancelled};
use crate::chart::coarse::{CoarseChart, CoarseGrammar};
use crate::chart::latent::{Answer, LatentPass};
use crate::chart::marginals::LabelMarginals;
use crate::chart::pcfg::{Bounds, Chart, PcfgPass};
use crate::chart::rule_posteriors::RulePosteriors;
use crate::decode::{
    Best, Derivation, ExpectedGain, KBest, Node, Objective, PackedForest, PcfgRules, Viterbi,
    cover, latent_log_probability,
};
use crate::grammar::{Grammar, GrammarError, Latent, SymbolId, Token};

/// What is maximised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoder {
    /// The expected number of right nodes of the binary tree.
    MaxRecall,
    /// The expected F1 of labelled brackets.
    MaxF1,
    /// The product of the posteriors of rules.
    MaxRule,
    /// The probability of the tree.
    Viterbi,
}

/// How to parse.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What is maximised.
    pub decoder: Decoder,
    /// Posteriors below which classes of symbols are dropped after the coarse pass.
    pub coarse_threshold: f64,
    /// Posteriors below which symbols are dropped before decoding.
    pub threshold: f64,
    /// How many trees are wanted.
    pub candidates: usize,
    /// Whether the posteriors of all labelled spans are wanted.
    pub marginals: bool,
}

/// Which rung of the ladder gave the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// The usual way.
    Parsed = 0,
    /// After pruning less.
    Loosened = 1,
    /// After letting every word have every tag.
    Smoothed = 2,
    /// No tree spans the sentence: the largest fragments side by side under a root.
    Fragments = 3,
    /// The latent model gave the sentence no probability: the answer of its backbone.
    Backbone = 4,
    /// The latent model, a linear one, gave the sentence a negative number for its probability.
    Negative = 5,
}

/// A labelled span of a tree as it is written, with its posterior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The label.
    pub label: u32,
    /// The first word.
    pub start: u32,
    /// One past the last word.
    pub end: u32,
    /// The probability that the sentence's tree has this labelled span.
    pub probability: f64,
}

/// A tree as it is written: labelled spans in pre-order, those of the words included.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenTree {
    /// Parents before children, left before right.
    pub spans: Vec<Span>,
    /// The log-probability of its derivation.
    pub log_probability: f64,
}

/// What is known of a sentence after parsing.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Which rung of the ladder gave the answer.
    pub status: Status,
    /// The log-probability of the sentence, minus infinity if no tree spans it.
    pub log_probability: f64,
    /// Trees, best first, at least one.
    pub trees: Vec<WrittenTree>,
    /// Posteriors of all labelled spans that were not pruned, if wanted.
    pub marginals: Vec<Span>,
}

/// How much less is pruned on the second rung.
const LOOSEN: f64 = 1e-3;

/// Fragments wider than this are not looked for: without a tree that spans the sentence nothing
/// prunes the chart, and its cost grows with the cube of the width.
const WIDEST_FRAGMENT: usize = 15;

/// How many derivations are looked at for each tree that is wanted, before giving up.
const DERIVATIONS_PER_TREE: usize = 20;

/// A grammar and what is precomputed from it; shared by threads.
#[derive(Debug, Clone)]
pub struct Parser {
    grammar: Arc<Grammar>,
    coarse: Option<CoarseGrammar>,
}

/// Memory that a thread reuses from sentence to sentence.
#[derive(Debug, Default)]
pub struct Workspace {
    words: Vec<Vec<(SymbolId, f64)>>,
    classes: Vec<Vec<(SymbolId, f64)>>,
    coarse: CoarseChart,
    pass: PcfgPass,
    chart: Chart,
    latent: LatentPass,
    marginals: LabelMarginals,
    gain: ExpectedGain,
    rules: RulePosteriors,
    best: Best,
}

impl Parser {
    /// Prepare a grammar for parsing.
    pub fn new(grammar: Arc<Grammar>) -> Result<Self, GrammarError> {
        let coarse = grammar.projection().map(CoarseGrammar::new).transpose()?;
        Ok(Self { grammar, coarse })
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Parse many sentences on the threads of the current rayon pool; answers are in the order
    /// of the sentences and do not depend on the number of threads.
    pub fn analyze_all(
        &self,
        sentences: &[&[Token]],
        options: Options,
        cancel: &Cancel,
    ) -> Result<Vec<Analysis>, Cancelled> {
        sentences
            .par_iter()
            .map_init(Workspace::default, |workspace, sentence| {
                self.analyze(sentence, options, workspace, cancel)
            })
            .collect()
    }

    /// Parse one sentence, which must not be empty.
    pub fn analyze(
        &self,
        sentence: &[Token],
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        let loose = Options {
            coarse_threshold: options.coarse_threshold * LOOSEN,
            threshold: options.threshold * LOOSEN,
            ..options
        };
        let rungs = [
            (Status::Parsed, options, false),
            (Status::Loosened, loose, false),
            (Status::Smoothed, loose, true),
        ];
        let exact = options.coarse_threshold == 0.0 && options.threshold == 0.0;
        let tags_alone = sentence.iter().all(|token| matches!(token, Token::Tag(_)));
        for (status, options, smoothed) in rungs {
            // A rung that would repeat the one before it.
            if status == Status::Loosened && exact || status == Status::Smoothed && tags_alone {
                continue;
            }
            workspace.look_up(&self.grammar, sentence, smoothed);
            if !self.fill(options, workspace, cancel)? {
                continue;
            }
            let mut status = status;
            let mut latent = self.grammar.latent();
            if let Some(model) = latent {
                let Workspace { words, chart, latent: pass, .. } = workspace;
                match pass.run(&self.grammar, model, sentence, words, chart, cancel)? {
                    Answer::Positive => {}
                    Answer::Negative => status = Status::Negative,
                    Answer::None => (status, latent) = (Status::Backbone, None),
                }
            }
            if let Some(mut trees) = self.decode(options, latent, workspace, cancel)? {
                if let Some(latent) = latent {
                    let words = &workspace.words;
                    for tree in &mut trees {
                        tree.log_probability =
                            latent_log_probability(&self.grammar, latent, sentence, words, tree);
                    }
                }
                return Ok(self.finish(status, trees, options, workspace));
            }
        }
        self.join_fragments(workspace, cancel)
    }

    /// Run the passes; false if no tree spans the sentence.
    fn fill(
        &self,
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        let Workspace { words, classes, coarse, pass, chart, .. } = workspace;
        let mut bounds = Bounds::NONE;
        if let (Some(grammar), Some(projection)) = (&self.coarse, self.grammar.projection()) {
            classes.resize_with(words.len(), Vec::new);
            for (word, merged) in words.iter().zip(classes.iter_mut()) {
                merged.clear();
                merged.extend(word.iter().map(|&(symbol, probability)| {
                    (projection.class(symbol), projection.share(symbol) * probability)
                }));
            }
            let classes = &classes[..words.len()];
            if !coarse.run(grammar, classes, options.coarse_threshold, cancel)? {
                return Ok(false);
            }
            bounds.mask = Some((coarse.mask(), projection));
        }
        pass.run(&self.grammar, words, bounds, options.threshold, chart, cancel)?;
        if chart.log_probability() == f64::NEG_INFINITY {
            return Ok(false);
        }
        chart.prune(options.threshold);
        Ok(true)
    }

    /// The best trees of the chart, whose posteriors are those of the latent model if there is one,
    /// or none if pruning broke all of them.
    fn decode(
        &self,
        options: Options,
        latent: Option<&Latent>,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Option<Vec<Derivation>>, Cancelled> {
        let Workspace { words, chart, latent: pass, marginals, gain, rules, best, .. } = workspace;
        marginals.prepare(&self.grammar, chart);
        let forest = PackedForest { grammar: &self.grammar, chart, words };
        match options.decoder {
            Decoder::MaxRecall => {
                gain.prepare_recall(&self.grammar, chart);
                maximise(forest, gain, best, options.candidates, cancel)
            }
            Decoder::MaxF1 => {
                gain.prepare_f1(&self.grammar, chart, marginals);
                maximise(forest, gain, best, options.candidates, cancel)
            }
            Decoder::MaxRule => match latent {
                None => maximise(forest, &PcfgRules(chart), best, options.candidates, cancel),
                Some(latent) => {
                    rules.reset(&self.grammar, chart);
                    rules.multiply(&self.grammar, latent, pass, chart, cancel)?;
                    maximise(forest, rules, best, options.candidates, cancel)
                }
            },
            Decoder::Viterbi => maximise(forest, &Viterbi, best, options.candidates, cancel),
        }
    }

    fn finish(
        &self,
        status: Status,
        trees: Vec<Derivation>,
        options: Options,
        workspace: &Workspace,
    ) -> Analysis {
        let cells = workspace.chart.cells();
        let marginals = if options.marginals {
            cells
                .bottom_up()
                .flat_map(|(start, end)| {
                    workspace.marginals.cell(cells.index(start, end)).iter().map(
                        move |&(label, probability)| Span {
                            label,
                            start: start as u32,
                            end: end as u32,
                            probability,
                        },
                    )
                })
                .collect()
        } else {
            Vec::new()
        };
        Analysis {
            status,
            log_probability: workspace.chart.log_probability(),
            trees: trees.iter().map(|tree| self.write(tree, workspace)).collect(),
            marginals,
        }
    }

    /// Replace symbols by the labels they write.
    fn write(&self, derivation: &Derivation, workspace: &Workspace) -> WrittenTree {
        let cells = workspace.chart.cells();
        let mut spans = Vec::with_capacity(derivation.nodes.len());
        for node in &derivation.nodes {
            for &label in self.grammar.output().labels(node.symbol) {
                let cell = cells.index(node.start as usize, node.end as usize);
                spans.push(Span {
                    label,
                    start: node.start,
                    end: node.end,
                    probability: workspace.marginals.get(cell, label),
                });
            }
        }
        WrittenTree { spans, log_probability: derivation.log_probability }
    }

    /// The fewest fragments that cover the sentence, under the label of the commonest root.
    fn join_fragments(
        &self,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        let bounds = Bounds { mask: None, widest: WIDEST_FRAGMENT };
        let Workspace { words, pass, chart, best, marginals, .. } = workspace;
        pass.run(&self.grammar, words, bounds, 0.0, chart, cancel)?;
        marginals.prepare(&self.grammar, chart);
        let forest = PackedForest { grammar: &self.grammar, chart, words };
        best.fill(forest, &Viterbi, cancel)?;
        let mut whole = Derivation { nodes: Vec::new(), log_probability: f64::NEG_INFINITY };
        for fragment in cover(forest, best) {
            let tree = best.subtree(forest, fragment.item, fragment.start, fragment.end);
            whole.nodes.extend(tree.nodes);
        }
        let mut tree = self.write(&whole, workspace);
        if let Some(&label) = self.commonest_root() {
            let end = workspace.words.len() as u32;
            tree.spans.insert(0, Span { label, start: 0, end, probability: 0.0 });
        }
        Ok(Analysis {
            status: Status::Fragments,
            log_probability: f64::NEG_INFINITY,
            trees: vec![tree],
            marginals: Vec::new(),
        })
    }

    fn commonest_root(&self) -> Option<&u32> {
        let roots = self.grammar.rules().roots();
        let commonest = (0..roots.len() as u32)
            .map(SymbolId)
            .filter(|&symbol| !self.grammar.output().labels(symbol).is_empty())
            .max_by(|a, b| roots[a.index()].total_cmp(&roots[b.index()]).then(b.cmp(a)))?;
        self.grammar.output().labels(commonest).first()
    }
}

impl Workspace {
    fn look_up(&mut self, grammar: &Grammar, sentence: &[Token], smoothed: bool) {
        self.words.resize_with(sentence.len(), Vec::new);
        for (&token, found) in sentence.iter().zip(&mut self.words) {
            if smoothed {
                grammar.emissions().lookup_smoothed(token, found);
            } else {
                grammar.emissions().lookup(token, found);
            }
        }
    }
}

fn maximise<O: Objective>(
    forest: PackedForest<'_>,
    objective: &O,
    best: &mut Best,
    candidates: usize,
    cancel: &Cancel,
) -> Result<Option<Vec<Derivation>>, Cancelled> {
    best.fill(forest, objective, cancel)?;
    if candidates <= 1 {
        return Ok(best.tree(forest, objective).map(|tree| vec![tree]));
    }
    let mut ranked = KBest::new(forest, objective, best);
    let mut trees: Vec<Derivation> = Vec::new();
    let mut written: FxHashSet<Vec<(u32, u32, u32)>> = FxHashSet::default();
    for rank in 0..candidates.saturating_mul(DERIVATIONS_PER_TREE) {
        cancel.check()?;
        let Some((_, tree)) = ranked.tree(rank) else { break };
        // Derivations that differ in annotations alone are one tree.
        if written.insert(brackets(forest.grammar, &tree)) {
            trees.push(tree);
            if trees.len() == candidates {
                break;
            }
        }
    }
    Ok((!trees.is_empty()).then_some(trees))
}

/// What a derivation looks like when it is written.
fn brackets(grammar: &Grammar, tree: &Derivation) -> Vec<(u32, u32, u32)> {
    let labels = |node: &Node| grammar.output().labels(node.symbol).iter();
    tree.nodes
        .iter()
        .flat_map(|node| labels(node).map(|&label| (label, node.start, node.end)))
        .collect()
}
