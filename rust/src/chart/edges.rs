//! Edges: anchored binary rules, that is, binary rules over items of a chart.
//!
//! Edges are not stored, since finding them again is cheaper. They are always found in the same
//! order, so that values of edges can be kept in arrays in that order.

use super::Chart;
use crate::grammar::Grammar;

/// An anchored binary rule: a rule over two adjacent spans.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The cell of its parent.
    pub cell: usize,
    /// Its index among the edges of the cell.
    pub number: usize,
    /// The start of the span, its split point and its end.
    pub boundaries: [usize; 3],
    /// The item that is rewritten.
    pub item: usize,
    /// The item of the left child.
    pub left: usize,
    /// The item of the right child.
    pub right: usize,
    /// The index of the rule in [`Rules::binary`](crate::grammar::Rules::binary).
    pub rule: usize,
    /// The probability of the rule, more than zero.
    pub probability: f64,
}

/// Finds edges, in memory that is reused from cell to cell.
#[derive(Debug, Default)]
pub struct EdgeFinder {
    /// The item of each symbol of the current cell, plus one; zero for other symbols.
    item_of_symbol: Vec<u32>,
}

impl EdgeFinder {
    /// Call `found` with every edge whose parent spans the words from `start` up to `end`.
    #[inline(always)]
    pub fn for_each(
        &mut self,
        grammar: &Grammar,
        chart: &Chart,
        start: usize,
        end: usize,
        mut found: impl FnMut(Edge),
    ) {
        let cells = chart.cells();
        let cell = cells.index(start, end);
        let items = chart.items(cell);
        if items.is_empty() {
            return;
        }
        self.item_of_symbol.resize(grammar.rules().number_of_symbols(), 0);
        for item in items.clone() {
            self.item_of_symbol[chart.symbol(item).index()] = item as u32 + 1;
        }
        let pairs = grammar.pairs();
        let mut number = 0;
        for split in start + 1..end {
            let boundaries = [start, split, end];
            let right_items = chart.items(cells.index(split, end));
            if right_items.is_empty() {
                continue;
            }
            for left in chart.items(cells.index(start, split)) {
                let row = pairs.row(chart.symbol(left));
                for right in right_items.clone() {
                    let Some(pair) = row.get(chart.symbol(right)) else { continue };
                    for (rule, binary) in pairs.rule_numbers(pair).zip(pairs.rules(pair)) {
                        let slot = self.item_of_symbol[binary.parent.index()];
                        if slot == 0 || binary.probability == 0.0 {
                            continue;
                        }
                        let item = slot as usize - 1;
                        let probability = binary.probability;
                        found(Edge {
                            cell,
                            number,
                            boundaries,
                            item,
                            left,
                            right,
                            rule,
                            probability,
                        });
                        number += 1;
                    }
                }
            }
        }
        for item in items {
            self.item_of_symbol[chart.symbol(item).index()] = 0;
        }
    }
}
