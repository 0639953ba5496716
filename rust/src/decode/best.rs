//! The best derivation of a chart, by dynamic programming over its items.

use super::{Derivation, Node, Objective, PackedForest};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::edges::EdgeFinder;
use crate::grammar::SymbolId;

/// The binary rule or the emission by which an item has its best score.
#[derive(Debug, Clone, Copy)]
enum Backpointer {
    None,
    Emission { probability: f64 },
    Binary { left: u32, right: u32, split: u32, probability: f64 },
}

/// The unary chain by which an item has its best score: the item at the bottom of the chain, and
/// the number of the chain among those of that item. An item that is best without a chain has none.
#[derive(Debug, Clone, Copy)]
struct ChainBackpointer {
    item: u32,
    chain: u32,
}

/// Best scores of the items of a chart, in memory that is reused from sentence to sentence.
#[derive(Debug, Default)]
pub struct Best {
    backpointers: Vec<Backpointer>,
    /// The best score by a binary rule or an emission.
    rule_score: Vec<f64>,
    /// The best score, with or without a unary chain.
    score: Vec<f64>,
    chain_backpointers: Vec<Option<ChainBackpointer>>,
    edges: EdgeFinder,
}

impl Best {
    /// Score all items, shorter spans first.
    pub fn fill<O: Objective>(
        &mut self,
        forest: PackedForest<'_>,
        objective: &O,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let chart = forest.chart;
        self.backpointers.clear();
        self.backpointers.resize(chart.len(), Backpointer::None);
        for scores in [&mut self.rule_score, &mut self.score] {
            scores.clear();
            scores.resize(chart.len(), f64::NEG_INFINITY);
        }
        self.chain_backpointers.clear();
        self.chain_backpointers.resize(chart.len(), None);
        let words = chart.cells().words();
        for width in 1..=words {
            cancel.check()?;
            for start in 0..=words - width {
                let cell = chart.cells().index(start, start + width);
                if chart.items(cell).is_empty() {
                    continue;
                }
                if width == 1 {
                    self.fill_word(forest, objective, start);
                } else {
                    self.fill_span(forest, objective, start, start + width);
                }
                self.fill_chains(forest, objective, cell);
            }
        }
        Ok(())
    }

    fn fill_word<O: Objective>(
        &mut self,
        forest: PackedForest<'_>,
        objective: &O,
        position: usize,
    ) {
        let cell = forest.chart.cells().index(position, position + 1);
        for item in forest.chart.items(cell) {
            let probability = forest.emission(position, forest.chart.symbol(item));
            if probability > 0.0 {
                self.backpointers[item] = Backpointer::Emission { probability };
                self.rule_score[item] = objective.emission(cell, item, probability);
            }
        }
    }

    fn fill_span<O: Objective>(
        &mut self,
        forest: PackedForest<'_>,
        objective: &O,
        start: usize,
        end: usize,
    ) {
        let Self { backpointers, rule_score, score, edges, .. } = self;
        edges.for_each(forest.grammar, forest.chart, start, end, |edge| {
            let total = score[edge.left] + score[edge.right] + objective.binary(&edge);
            if total > rule_score[edge.item] {
                rule_score[edge.item] = total;
                backpointers[edge.item] = Backpointer::Binary {
                    left: edge.left as u32,
                    right: edge.right as u32,
                    split: edge.boundaries[1] as u32,
                    probability: edge.probability,
                };
            }
        });
    }

    fn fill_chains<O: Objective>(&mut self, forest: PackedForest<'_>, objective: &O, cell: usize) {
        let chart = forest.chart;
        let unary = forest.grammar.unary();
        let items = chart.items(cell);
        for item in items.clone() {
            self.score[item] = self.rule_score[item];
        }
        if unary.is_empty() {
            return;
        }
        for bottom in items {
            if self.rule_score[bottom] == f64::NEG_INFINITY {
                continue;
            }
            for (number, chain) in unary.chains(chart.symbol(bottom)).iter().enumerate() {
                let path = unary.path(chain);
                if path.len() == 1 {
                    continue;
                }
                let Some(path_items) = forest.chain_items(cell, path) else { continue };
                let top = path_items[0];
                let score = self.rule_score[bottom] + objective.chain(&path_items, chain.best);
                if score > self.score[top] {
                    self.score[top] = score;
                    self.chain_backpointers[top] =
                        Some(ChainBackpointer { item: bottom as u32, chain: number as u32 });
                }
            }
        }
    }

    /// The best score of an item, minus infinity if it has no derivation.
    pub fn score(&self, item: usize) -> f64 {
        self.score[item]
    }

    /// The best score of an item that is rewritten by a binary rule or an emission, not by a unary
    /// chain.
    pub fn rule_score(&self, item: usize) -> f64 {
        self.rule_score[item]
    }

    /// The best tree of the total sentence, if there is one.
    pub fn tree<O: Objective>(
        &self,
        forest: PackedForest<'_>,
        objective: &O,
    ) -> Option<Derivation> {
        let chart = forest.chart;
        let words = chart.cells().words();
        let mut best: Option<(f64, usize, f64)> = None;
        for item in chart.items(chart.cells().index(0, words)) {
            let root = forest.grammar.rules().roots()[chart.symbol(item).index()];
            if root == 0.0 || self.score[item] == f64::NEG_INFINITY {
                continue;
            }
            let score = self.score[item] + objective.root(item, root);
            if best.is_none_or(|(highest, _, _)| score > highest) {
                best = Some((score, item, root));
            }
        }
        let (_, item, root) = best?;
        let mut derivation = self.subtree(forest, item, 0, words);
        derivation.log_probability += root.ln();
        Some(derivation)
    }

    /// The best subtree of an item, which must have a derivation.
    pub fn subtree(
        &self,
        forest: PackedForest<'_>,
        item: usize,
        start: usize,
        end: usize,
    ) -> Derivation {
        let mut derivation = Derivation { nodes: Vec::new(), log_probability: 0.0 };
        let mut stack = vec![(item, start, end)];
        while let Some((item, start, end)) = stack.pop() {
            let symbol = forest.chart.symbol(item);
            let bottom = match self.chain_backpointers[item] {
                None => {
                    derivation.push(symbol, start, end);
                    item
                }
                Some(pointer) => {
                    let unary = forest.grammar.unary();
                    let bottom = pointer.item as usize;
                    let chain = &unary.chains(forest.chart.symbol(bottom))[pointer.chain as usize];
                    derivation.log_probability += chain.best;
                    for &symbol in unary.path(chain) {
                        derivation.push(symbol, start, end);
                    }
                    bottom
                }
            };
            match self.backpointers[bottom] {
                Backpointer::None => unreachable!("an item with a score has a derivation"),
                Backpointer::Emission { probability } => {
                    derivation.log_probability += probability.ln()
                }
                Backpointer::Binary { left, right, split, probability } => {
                    derivation.log_probability += probability.ln();
                    stack.push((right as usize, split as usize, end));
                    stack.push((left as usize, start, split as usize));
                }
            }
        }
        derivation
    }
}

impl Derivation {
    pub(super) fn push(&mut self, symbol: SymbolId, start: usize, end: usize) {
        self.nodes.push(Node { symbol, start: start as u32, end: end as u32 });
    }
}
