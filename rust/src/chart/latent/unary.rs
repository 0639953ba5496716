//! Unary chains in the latent pass: the vectors of a cell are multiplied by the closure of the
//! unary rules, inside vectors upwards and outside vectors downwards.

use super::LatentPass;
use crate::chart::Chart;
use crate::grammar::{Grammar, Latent, UnaryClosure};
use crate::numeric::scaling::EMPTY;
use crate::numeric::vectors::{add_scaled, dot};

impl LatentPass {
    /// Add to the inside vectors of a cell what chains of unary rules bring up from below them.
    pub(super) fn close_inside(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        chart: &Chart,
        cell: usize,
    ) {
        let closure = grammar.unary();
        if closure.is_empty() || self.exponents[cell] == EMPTY {
            return;
        }
        let items = chart.items(cell);
        let range = self.offsets[items.start]..self.offsets[items.end];
        self.without_chain[range.clone()].copy_from_slice(&self.inside[range.clone()]);
        self.inside[range].fill(0.0);
        self.for_each_chain(closure, chart, cell, |pass, top, bottom, number| {
            let below = &pass.without_chain[pass.offsets[bottom]..pass.offsets[bottom + 1]];
            let above = &mut pass.inside[pass.offsets[top]..pass.offsets[top + 1]];
            let rows = latent.chain_matrix(number).chunks_exact(below.len());
            for (above, row) in above.iter_mut().zip(rows) {
                *above += dot(row, below);
            }
        });
    }

    /// Add to the outside vectors of a cell what chains of unary rules bring down from above them.
    pub(super) fn close_outside(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        chart: &Chart,
        cell: usize,
    ) {
        let closure = grammar.unary();
        if closure.is_empty() || self.exponents[cell] == EMPTY {
            return;
        }
        let items = chart.items(cell);
        let range = self.offsets[items.start]..self.offsets[items.end];
        self.above.clear();
        self.above.extend_from_slice(&self.outside[range.clone()]);
        self.outside[range.clone()].fill(0.0);
        self.for_each_chain(closure, chart, cell, |pass, top, bottom, number| {
            let above = pass.offsets[top] - range.start..pass.offsets[top + 1] - range.start;
            let below = &mut pass.outside[pass.offsets[bottom]..pass.offsets[bottom + 1]];
            let rows = latent.chain_matrix(number).chunks_exact(below.len());
            for (&value, row) in pass.above[above].iter().zip(rows) {
                add_scaled(below, value, row);
            }
        });
    }

    /// Call `found` with the items at the top and at the bottom of every chain in a cell, and with
    /// its number in the closure.
    #[inline(always)]
    fn for_each_chain(
        &mut self,
        closure: &UnaryClosure,
        chart: &Chart,
        cell: usize,
        mut found: impl FnMut(&mut Self, usize, usize, usize),
    ) {
        self.mark_items(chart, cell);
        for bottom in chart.items(cell) {
            for number in closure.numbers(chart.symbol(bottom)) {
                let slot = self.item_of_symbol[closure.chain(number).top.index()];
                if slot > 0 {
                    found(self, slot as usize - 1, bottom, number);
                }
            }
        }
        self.unmark_items(chart, cell);
    }

    /// The posterior of an item that is rewritten by a binary rule or emits its word. Only for
    /// grammars with unary rules: without them, every item is.
    pub(in crate::chart) fn posterior_without_chain(&self, item: usize) -> f64 {
        let inside = &self.without_chain[self.offsets[item]..self.offsets[item + 1]];
        f64::from(dot(inside, self.outside(item))).abs()
    }

    /// The posterior of an item of the whole sentence at the root of the tree.
    pub(in crate::chart) fn root_posterior(
        &self,
        latent: &Latent,
        chart: &Chart,
        item: usize,
    ) -> f64 {
        let root = latent.root(chart.symbol(item));
        (f64::from(dot(root, self.inside(item))) / self.total).abs()
    }
}
