//! Gold-constrained charts: pruned charts that keep all nodes of a given tree, for training on it.

use std::sync::Arc;

use rayon::prelude::*;

use super::fill::FillOutcome;
use super::levels::Pruning;
use super::{Options, Parser, Workspace};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::edges::EdgeFinder;
use crate::chart::gold::GoldChart;
use crate::chart::{Cells, Chart};
use crate::crf::{CrfModel, Example, TokenAttributes};
use crate::decode::Node;
use crate::grammar::{Grammar, GrammarError, SymbolId, Token};
use crate::span_filter::SpanFilter;

/// A sentence with its gold tree.
#[derive(Debug, Clone)]
pub struct GoldTree<'a> {
    /// The words by their ids in the lexicon.
    pub tokens: Vec<Token>,
    /// The factors of the tags of unknown words, as those of a sentence to parse; may be empty.
    pub tag_factors: Vec<&'a [f32]>,
    /// The attributes of the words that features read.
    pub sentence: Vec<TokenAttributes>,
    /// The nodes of the tree.
    pub nodes: Vec<Node>,
    /// The weight of the tree: 2 counts it twice.
    pub weight: f32,
}

/// Why trees could not be made into training examples.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrainingError {
    /// The grammar cannot be used with a CRF.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Why a tree has no gold-constrained chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// The grammar cannot derive the tree.
    NotDerived,
    /// The charts do not fit into memory.
    TooLarge,
}

/// Trees as training examples of a CRF.
#[derive(Debug, Default)]
pub struct CrfExamples {
    /// The examples.
    pub examples: Vec<Example>,
    /// The number of trees that were left out because their charts do not fit into memory.
    pub too_large: usize,
}

/// The charts of trees as training examples of a CRF, computed on the threads of the current rayon
/// pool: gold-constrained ones, or those of a grammar with latent states, which must not have been
/// trained on these trees. Examples keep `rules`: the grammar, without latent states. The grammar must fit the model, and the span filter, if there is one, the
/// grammar. Trees that the grammar cannot derive, or whose charts do not fit into memory, are left
/// out.
pub fn crf_examples(
    model: &CrfModel,
    grammar: &Arc<Grammar>,
    rules: &Arc<Grammar>,
    filter: Option<Arc<SpanFilter>>,
    trees: Vec<GoldTree<'_>>,
    options: Options,
    cancel: &Cancel,
) -> Result<CrfExamples, TrainingError> {
    model.check_grammar(grammar)?;
    let parser = Parser::new(Arc::clone(grammar), cancel)?;
    let parser = filter.into_iter().try_fold(parser, Parser::with_span_filter)?;
    let outcomes: Result<Vec<Result<Example, LeftOut>>, Cancelled> = trees
        .into_par_iter()
        .map_init(Workspace::default, |workspace, tree: GoldTree<'_>| {
            let GoldTree { tokens, sentence, nodes, weight, .. } = &tree;
            let example = |chart| Example::new(model, Arc::clone(rules), sentence, chart);
            let found = if grammar.latent().is_some() {
                let found = parser.latent_example(&tree, options, workspace, cancel)?;
                found.map(|(chart, prior)| example(chart).with_prior(prior))
            } else {
                parser.gold_constrained(tokens, nodes, options, workspace, cancel)?.map(example)
            };
            Ok(found.map(|example| example.weighted(*weight)))
        })
        .collect();
    let mut found = CrfExamples::default();
    for outcome in outcomes? {
        match outcome {
            Ok(example) => found.examples.push(example),
            Err(LeftOut::TooLarge) => found.too_large += 1,
            Err(LeftOut::NotDerived) => {}
        }
    }
    Ok(found)
}

impl Parser {
    /// The pruned chart of a sentence with all nodes of its gold tree, or why there is none.
    pub fn gold_constrained(
        &self,
        tokens: &[Token],
        nodes: &[Node],
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Result<GoldChart, LeftOut>, Cancelled> {
        let cells = Cells::new(tokens.len());
        let cell = |node: &Node| cells.index(node.start as usize, node.end as usize);
        let mut gold: Vec<(usize, SymbolId)> =
            nodes.iter().map(|node| (cell(node), node.symbol)).collect();
        gold.sort_unstable();
        self.grammar().emissions().lookup_all(tokens, &[], false, &mut workspace.words);
        let spans = self.span_threshold(tokens, options.span_recall, options.memory);
        self.filter_spans(tokens, spans, workspace, cancel)?;
        if workspace.is_filtered {
            for node in nodes {
                workspace.open.insert(node.start as usize, node.end as usize);
            }
        }
        workspace.coarse_is_filled = false;
        let pruning = Pruning { spans, ..Pruning::unfiltered(options) };
        match self.fill(options, pruning, Some(&gold), workspace, cancel)? {
            FillOutcome::Spanned { .. } => {}
            FillOutcome::NotSpanned { .. } => return Ok(Err(LeftOut::NotDerived)),
            FillOutcome::TooLarge => return Ok(Err(LeftOut::TooLarge)),
        }
        let chart = &workspace.chart;
        let is_gold = tree_items(chart, nodes);
        // All nodes may be in the chart although the grammar lacks some rules of the tree.
        let mut rules = 0;
        let mut finder = EdgeFinder::default();
        for node in nodes {
            let (start, end) = (node.start as usize, node.end as usize);
            finder.for_each(self.grammar(), chart, start, end, |edge| {
                let items = [edge.item, edge.left, edge.right];
                rules += usize::from(items.into_iter().all(|item| is_gold[item]));
            });
        }
        if is_gold.iter().filter(|&&gold| gold).count() < nodes.len() || rules < nodes.len() / 2 {
            return Ok(Err(LeftOut::NotDerived));
        }
        let (chart, words) = (chart.clone(), workspace.words.clone());
        Ok(Ok(GoldChart { chart, words, is_gold }))
    }
}

/// For each item of a chart, whether it is a node of the tree.
pub(super) fn tree_items(chart: &Chart, nodes: &[Node]) -> Vec<bool> {
    let mut is_node = vec![false; chart.len()];
    for node in nodes {
        let items = chart.items(chart.cells().index(node.start as usize, node.end as usize));
        if let Ok(offset) = chart.symbols(items.clone()).binary_search(&node.symbol) {
            is_node[items.start + offset] = true;
        }
    }
    is_node
}
