//! Charts from which a CRF over latent states is trained.
//!
//! A training sentence must be one that the grammar has not seen, for its posteriors are too sure of
//! the trees that it was trained on. Its chart is that of a new sentence, which may lack nodes of the
//! gold tree. So the CRF learns the tree of the chart that is nearest to the gold tree.

use super::fill::FillOutcome;
use super::gold_constrained::tree_items;
use super::levels::Pruning;
use super::{GoldTree, LeftOut, Options, Parser, Status, Workspace};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Chart;
use crate::chart::gold::GoldChart;
use crate::crf::LatentPrior;
use crate::decode::{ExpectedGain, Node, PackedForest};
use crate::grammar::Grammar;

impl Parser {
    /// The pruned chart of a sentence with its prior, and the tree in it that is nearest to the gold
    /// tree; or why there is none.
    pub fn latent_example(
        &self,
        tree: &GoldTree<'_>,
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Result<(GoldChart, LatentPrior), LeftOut>, Cancelled> {
        let GoldTree { tokens, tag_factors, nodes, .. } = tree;
        let emissions = self.grammar().emissions();
        emissions.lookup_all(tokens, tag_factors, false, &mut workspace.words);
        let spans = self.span_threshold(tokens, options.span_recall, options.memory);
        self.filter_spans(tokens, spans, workspace, cancel)?;
        workspace.coarse_is_filled = false;
        let pruning = Pruning { spans, ..Pruning::unfiltered(options) };
        // No item is kept for its own sake.
        match self.fill(options, pruning, Some(&[]), workspace, cancel)? {
            FillOutcome::Spanned { .. } => {}
            FillOutcome::NotSpanned { .. } => return Ok(Err(LeftOut::NotDerived)),
            FillOutcome::TooLarge => return Ok(Err(LeftOut::TooLarge)),
        }
        self.latent_prior(tokens, Status::Parsed, workspace, cancel)?;
        let Workspace { words, chart, best, prior, .. } = workspace;
        let forest = PackedForest { grammar: self.grammar(), chart, words };
        let objective = ExpectedGain::new(gains_of_gold(self.grammar(), chart, nodes));
        best.fill(forest, &objective, cancel)?;
        let Some(nearest) = best.tree(forest, &objective) else {
            return Ok(Err(LeftOut::NotDerived));
        };
        let is_gold = tree_items(chart, &nearest.nodes);
        let gold = GoldChart { chart: chart.clone(), words: words.clone(), is_gold };
        Ok(Ok((gold, prior.clone())))
    }
}

/// The gain of a labelled bracket of the gold tree.
const CORRECT: f64 = 1.0;
/// The cost of any other labelled bracket.
const WRONG: f64 = 0.5;
/// The gain of a symbol of the gold tree, which decides between trees with the same brackets.
const SAME_SYMBOL: f64 = 0.01;

/// The gains of the items of a chart by which decoding finds the nearest tree to a gold tree.
fn gains_of_gold(grammar: &Grammar, chart: &Chart, gold: &[Node]) -> Vec<f64> {
    let mut gains: Vec<f64> = (0..chart.len())
        .map(|item| -WRONG * grammar.output().labels(chart.symbol(item)).len() as f64)
        .collect();
    for node in gold {
        let items = chart.items(chart.cells().index(node.start as usize, node.end as usize));
        let correct = grammar.output().labels(node.symbol);
        for item in items {
            let symbol = chart.symbol(item);
            let labels = grammar.output().labels(symbol);
            let found = matches(correct, labels);
            gains[item] += (CORRECT + WRONG) * found as f64;
            if symbol == node.symbol {
                gains[item] += SAME_SYMBOL;
            }
        }
    }
    gains
}

/// How many labels of a node are found, each as often as it is there.
fn matches(correct: &[u32], labels: &[u32]) -> usize {
    let count = |labels: &[u32], label| labels.iter().filter(|&&other| other == label).count();
    let distinct =
        correct.iter().enumerate().filter(|(place, label)| !correct[..*place].contains(label));
    distinct.map(|(_, &label)| count(correct, label).min(count(labels, label))).sum()
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn labels_match_as_often_as_they_are_there() {
        assert_eq!(matches(&[1, 2], &[2, 1, 3]), 2);
        assert_eq!(matches(&[1], &[1, 1]), 1);
        assert_eq!(matches(&[1, 1], &[1]), 1);
        assert_eq!(matches(&[1, 1, 2], &[1, 1]), 2);
    }
}
