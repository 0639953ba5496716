//! The outside half of the latent pass.

use super::{LatentPass, damp};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::{Chart, refill};
use crate::grammar::{Grammar, Latent, SymbolId};
use crate::numeric::contraction::expand;
use crate::numeric::scaling::{EMPTY, power_of_two};
use crate::numeric::simd_dispatch::simd_dispatch;
use crate::numeric::vectors::{add_scaled, dot};

impl LatentPass {
    /// Set the outside vectors of the whole sentence and return its scaled probability Z; none if Z
    /// is zero or not finite.
    pub(super) fn start_outside(&mut self, latent: &Latent, chart: &Chart) -> Option<f64> {
        let words = chart.cells().words();
        let top = chart.cells().index(0, words);
        let mut total = 0.0;
        for item in chart.items(top) {
            let inside = &self.inside[self.offsets[item]..self.offsets[item + 1]];
            total += f64::from(dot(latent.root(chart.symbol(item)), inside));
        }
        if total == 0.0 || !total.is_finite() {
            return None;
        }
        refill(&mut self.outside, self.inside.len(), 0.0);
        for item in chart.items(top) {
            let outside = &mut self.outside[self.offsets[item]..self.offsets[item + 1]];
            for (outside, &root) in outside.iter_mut().zip(latent.root(chart.symbol(item))) {
                *outside = (f64::from(root) / total) as f32;
            }
        }
        Some(total)
    }

    /// Compute the outside vectors of all cells, wider spans first.
    pub(super) fn propagate_outside(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        chart: &Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let pass = self;
        simd_dispatch!(
            LatentPass::propagate_spans,
            (
                pass: &mut LatentPass,
                grammar: &Grammar,
                latent: &Latent,
                chart: &Chart,
                cancel: &Cancel,
            ) -> Result<(), Cancelled>
        )
    }

    #[inline(always)]
    fn propagate_spans(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        chart: &Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let words = chart.cells().words();
        for width in (2..=words).rev() {
            cancel.check()?;
            for start in 0..=words - width {
                self.propagate_span(grammar, latent, chart, start, start + width);
            }
        }
        for position in 0..words {
            self.close_outside(grammar, latent, chart, chart.cells().index(position, position + 1));
        }
        Ok(())
    }

    /// Add the contributions of a cell's outside vectors to its children at each split point.
    #[inline(always)]
    fn propagate_span(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        chart: &Chart,
        start: usize,
        end: usize,
    ) {
        let cells = chart.cells();
        let cell = cells.index(start, end);
        if self.exponents[cell] == EMPTY {
            return;
        }
        self.close_outside(grammar, latent, chart, cell);
        self.mark_items(chart, cell);
        for split in start + 1..end {
            let (left, right) = (cells.index(start, split), cells.index(split, end));
            if self.exponents[left] == EMPTY || self.exponents[right] == EMPTY {
                continue;
            }
            let shift = self.exponents[left] + self.exponents[right] - self.exponents[cell];
            let factor = power_of_two(shift.min(120)) as f32;
            if factor == 0.0 {
                continue;
            }
            for left_item in chart.items(left) {
                let row = grammar.pairs().row(chart.symbol(left_item));
                for right_item in chart.items(right) {
                    let Some(pair) = row.get(chart.symbol(right_item)) else { continue };
                    let symbols = (chart.symbol(left_item), chart.symbol(right_item));
                    if let Some(offset) = self.outside_matrix(grammar, latent, pair, symbols) {
                        self.propagate_to_children(offset, factor, left_item, right_item);
                    }
                }
            }
        }
        self.matrices.clear();
        self.unmark_items(chart, cell);
    }

    /// Where the matrix of a pair starts: the sum of its rules' tensors, contracted with the
    /// outside vectors of their parents in the current cell. Computed on first use; none if there is no
    /// such parent.
    #[inline(always)]
    fn outside_matrix(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        pair: u32,
        (left, right): (SymbolId, SymbolId),
    ) -> Option<usize> {
        let length = latent.states(left) * latent.states(right);
        let items = &self.item_of_symbol;
        let has_parent = || {
            let mut rules = grammar.pairs().rules(pair).iter();
            rules.any(|rule| items[rule.parent.index()] != 0)
        };
        let (offset, new) = self.matrices.offset(pair, left, right, length, has_parent)?;
        if new {
            let mut damped = std::mem::take(&mut self.damped);
            let matrix = &mut self.matrices.values[offset..offset + length];
            for rule in grammar.pairs().rule_numbers(pair) {
                let parent = grammar.rules().binary()[rule].parent;
                let slot = self.item_of_symbol[parent.index()];
                if slot == 0 {
                    continue;
                }
                let item = slot as usize - 1;
                let outside = &self.outside[self.offsets[item]..self.offsets[item + 1]];
                let outside = damp(outside, self.damping, &mut damped);
                expand(latent.tensor(rule), outside, matrix);
            }
            self.damped = damped;
        }
        Some(offset)
    }

    /// Contract a pair's matrix with the inside vector of each child, and add the result to the
    /// outside vector of its sibling.
    #[inline(always)]
    fn propagate_to_children(
        &mut self,
        offset: usize,
        factor: f32,
        left_item: usize,
        right_item: usize,
    ) {
        let left = self.offsets[left_item]..self.offsets[left_item + 1];
        let right = self.offsets[right_item]..self.offsets[right_item + 1];
        let matrix = &self.matrices.values[offset..offset + left.len() * right.len()];
        let left_inside = &self.inside[left.clone()];
        let right_inside = &self.inside[right.clone()];
        for (number, row) in matrix.chunks_exact(right_inside.len()).enumerate() {
            self.outside[left.start + number] += factor * dot(row, right_inside);
            add_scaled(&mut self.outside[right.clone()], factor * left_inside[number], row);
        }
    }
}
