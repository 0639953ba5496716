//! Charts that hold a given tree, for learning from it.

use super::fill::Filled;
use super::{Options, Parser, Workspace};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Cells;
use crate::chart::edges::EdgeFinder;
use crate::chart::pcfg::Chart;
use crate::decode::Node;
use crate::grammar::{SymbolId, Token};

/// A pruned chart that holds a tree.
#[derive(Debug, Clone)]
pub struct TreeChart {
    /// The chart.
    pub chart: Chart,
    /// The emission probabilities of the preterminals of each word.
    pub words: Vec<Vec<(SymbolId, f64)>>,
    /// Whether the tree has each item.
    pub tree: Vec<bool>,
}

impl Parser {
    /// The pruned chart of a sentence, with all nodes of its tree; none if the grammar cannot build
    /// the tree, or the coarse pass lost a part of it.
    pub fn chart_around(
        &self,
        tokens: &[Token],
        nodes: &[Node],
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Option<TreeChart>, Cancelled> {
        let cells = Cells::new(tokens.len());
        let cell = |node: &Node| cells.index(node.start as usize, node.end as usize);
        let mut kept: Vec<(usize, SymbolId)> =
            nodes.iter().map(|node| (cell(node), node.symbol)).collect();
        kept.sort_unstable();
        self.grammar().emissions().lookup_all(tokens, false, &mut workspace.words);
        let Filled::Spanned { .. } = self.fill(options, &kept, workspace, cancel)? else {
            return Ok(None);
        };
        let chart = &workspace.chart;
        let tree = tree_items(chart, nodes);
        // All nodes may be there, each made in another way than in the tree.
        let mut rules = 0;
        let mut finder = EdgeFinder::default();
        for node in nodes {
            let (start, end) = (node.start as usize, node.end as usize);
            finder.for_each(self.grammar(), chart, start, end, |edge| {
                let parts = [edge.item, edge.left, edge.right];
                rules += usize::from(parts.into_iter().all(|item| tree[item]));
            });
        }
        if tree.iter().filter(|&&has| has).count() < nodes.len() || rules < nodes.len() / 2 {
            return Ok(None);
        }
        Ok(Some(TreeChart { chart: chart.clone(), words: workspace.words.clone(), tree }))
    }
}

/// For each item of a chart, whether it is a node of the tree.
pub(super) fn tree_items(chart: &Chart, nodes: &[Node]) -> Vec<bool> {
    let mut has = vec![false; chart.len()];
    for node in nodes {
        let items = chart.items(chart.cells().index(node.start as usize, node.end as usize));
        if let Ok(place) = chart.symbols(items.clone()).binary_search(&node.symbol) {
            has[items.start + place] = true;
        }
    }
    has
}
