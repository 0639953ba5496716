//! Edges: binary rules over items of a chart, always found in the same order.
//!
//! Storing an edge would take more than it takes to find it again: whoever keeps something about
//! edges keeps it in their order.

use super::Chart;
use crate::grammar::Grammar;

/// A binary rule over two adjacent spans.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The cell of its parent.
    pub cell: usize,
    /// Its place among the edges of the cell.
    pub number: usize,
    /// The first word of the parent, of the right child, and one past the last word.
    pub places: [usize; 3],
    /// The item that is rewritten.
    pub item: usize,
    /// The item of the left child.
    pub left: usize,
    /// The item of the right child.
    pub right: usize,
    /// The place of the rule in [`Rules::binary`](crate::grammar::Rules::binary).
    pub rule: usize,
    /// The probability of the rule, more than zero.
    pub probability: f64,
}

/// Finds edges, in memory that is reused from cell to cell.
#[derive(Debug, Default)]
pub struct EdgeFinder {
    /// For the symbols of the current cell, their item plus one.
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
            let places = [start, split, end];
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
                        found(Edge { cell, number, places, item, left, right, rule, probability });
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
