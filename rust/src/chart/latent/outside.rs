//! The outside half of the latent pass.

use super::LatentPass;
use crate::cancel::{Cancel, Cancelled};
use crate::chart::{Chart, refill};
use crate::grammar::{Grammar, Latent, SymbolId};
use crate::numeric::contraction::expand;
use crate::numeric::scaling::{EMPTY, power_of_two};
use crate::numeric::simd_dispatch::simd_dispatch;
use crate::numeric::vectors::{add_scaled, dot};

impl LatentPass {
    /// Set the outside vectors of the whole sentence and return its scaled probability Z; none if
    /// there is nothing to divide by.
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

    /// Pass the outside vectors of all cells on, wider spans first.
    pub(super) fn descend(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        chart: &Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let pass = self;
        simd_dispatch!(
            LatentPass::descend_spans,
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
    fn descend_spans(
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
                self.descend_span(grammar, latent, chart, start, start + width);
            }
        }
        Ok(())
    }

    /// Pass the outside vectors of a cell to the children of each of its splits.
    #[inline(always)]
    fn descend_span(
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
                    let place = self.outside_matrix(
                        grammar,
                        latent,
                        pair,
                        chart.symbol(left_item),
                        chart.symbol(right_item),
                    );
                    self.pass_down(place, factor, left_item, right_item);
                }
            }
        }
        self.matrices.clear();
        self.unmark_items(chart, cell);
    }

    /// The matrix that a pair gets from its parents in the current cell, computed on first use.
    #[inline(always)]
    fn outside_matrix(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        pair: u32,
        left: SymbolId,
        right: SymbolId,
    ) -> usize {
        let length = latent.states(left) * latent.states(right);
        let (place, new) = self.matrices.place(pair, left, right, length);
        if new {
            let matrix = &mut self.matrices.values[place..place + length];
            for rule in grammar.pairs().rule_numbers(pair) {
                let parent = grammar.rules().binary()[rule].parent;
                let slot = self.item_of_symbol[parent.index()];
                if slot == 0 {
                    continue;
                }
                let item = slot as usize - 1;
                let outside = &self.outside[self.offsets[item]..self.offsets[item + 1]];
                expand(latent.tensor(rule), outside, matrix);
            }
        }
        place
    }

    /// Contract a pair's matrix with either child for the sake of the other.
    #[inline(always)]
    fn pass_down(&mut self, place: usize, factor: f32, left_item: usize, right_item: usize) {
        let left = self.offsets[left_item]..self.offsets[left_item + 1];
        let right = self.offsets[right_item]..self.offsets[right_item + 1];
        let matrix = &self.matrices.values[place..place + left.len() * right.len()];
        let left_inside = &self.inside[left.clone()];
        let right_inside = &self.inside[right.clone()];
        for (number, row) in matrix.chunks_exact(right_inside.len()).enumerate() {
            self.outside[left.start + number] += factor * dot(row, right_inside);
            add_scaled(&mut self.outside[right.clone()], factor * left_inside[number], row);
        }
    }
}
