//! The inside half of the latent pass.

use super::LatentPass;
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Chart;
use crate::grammar::{Grammar, Latent, SymbolId, Token};
use crate::numeric::contraction::contract;
use crate::numeric::scaling::{EMPTY, exponent, power_of_two};
use crate::numeric::vectors::add_scaled;

impl LatentPass {
    /// Set the inside vectors of a word's preterminals.
    pub(super) fn fill_word(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        chart: &Chart,
        position: usize,
        token: Token,
        emissions: &[(SymbolId, f64)],
    ) {
        let cell = chart.cells().index(position, position + 1);
        for item in chart.items(cell) {
            let symbol = chart.symbol(item);
            let Some(&(_, probability)) = emissions.iter().find(|entry| entry.0 == symbol) else {
                continue;
            };
            let ratios = latent.emission_ratios(grammar.emissions(), token, symbol);
            let own = &mut self.inside[self.offsets[item]..self.offsets[item + 1]];
            for (own, &value) in own.iter_mut().zip(ratios) {
                *own = (probability * f64::from(value)) as f32;
            }
        }
        self.normalise(chart, cell, 0);
        self.close_inside(grammar, latent, chart, cell);
    }

    /// Compute the inside vectors of all spans of several words, shorter ones first.
    #[inline(always)]
    pub(super) fn fill_spans(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        chart: &Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let words = chart.cells().words();
        for width in 2..=words {
            cancel.check()?;
            for start in 0..=words - width {
                self.fill_span(grammar, latent, chart, start, start + width);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn fill_span(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        chart: &Chart,
        start: usize,
        end: usize,
    ) {
        let cells = chart.cells();
        let cell = cells.index(start, end);
        if chart.items(cell).is_empty() {
            return;
        }
        let reference = (start + 1..end)
            .map(|split| {
                self.exponents[cells.index(start, split)]
                    .saturating_add(self.exponents[cells.index(split, end)])
            })
            .max()
            .unwrap_or(EMPTY);
        if reference <= EMPTY {
            return;
        }
        self.mark_items(chart, cell);
        for split in start + 1..end {
            let (left, right) = (cells.index(start, split), cells.index(split, end));
            let shift = self.exponents[left] + self.exponents[right] - reference;
            let factor = power_of_two(shift) as f32;
            if factor == 0.0 {
                continue;
            }
            for left_item in chart.items(left) {
                let left_symbol = chart.symbol(left_item);
                let row = grammar.pairs().row(left_symbol);
                let left_vector =
                    &self.inside[self.offsets[left_item]..self.offsets[left_item + 1]];
                for right_item in chart.items(right) {
                    let right_symbol = chart.symbol(right_item);
                    let Some(pair) = row.get(right_symbol) else { continue };
                    let right_vector =
                        &self.inside[self.offsets[right_item]..self.offsets[right_item + 1]];
                    let width = right_vector.len();
                    let length = left_vector.len() * width;
                    let items = &self.item_of_symbol;
                    let has_parent = || {
                        let mut rules = grammar.pairs().rules(pair).iter();
                        rules.any(|rule| items[rule.parent.index()] != 0)
                    };
                    let Some((offset, _)) =
                        self.matrices.offset(pair, left_symbol, right_symbol, length, has_parent)
                    else {
                        continue;
                    };
                    let matrix = &mut self.matrices.values[offset..offset + length];
                    for (row, &value) in matrix.chunks_exact_mut(width).zip(left_vector) {
                        add_scaled(row, factor * value, right_vector);
                    }
                }
            }
        }
        for &(pair, left, right, offset) in &self.matrices.slots {
            let length = latent.states(left) * latent.states(right);
            let matrix = &self.matrices.values[offset..offset + length];
            for rule in grammar.pairs().rule_numbers(pair) {
                let parent = grammar.rules().binary()[rule].parent;
                let slot = self.item_of_symbol[parent.index()];
                if slot == 0 {
                    continue;
                }
                let item = slot as usize - 1;
                let own = &mut self.inside[self.offsets[item]..self.offsets[item + 1]];
                contract(latent.tensor(rule), matrix, own);
            }
        }
        self.matrices.clear();
        self.unmark_items(chart, cell);
        self.normalise(chart, cell, reference);
        self.close_inside(grammar, latent, chart, cell);
    }

    /// Damp the inside vectors of a cell, if at all, and scale them so that the largest value is near
    /// one.
    fn normalise(&mut self, chart: &Chart, cell: usize, reference: i32) {
        let items = chart.items(cell);
        if items.is_empty() {
            return;
        }
        if self.damping != 1.0 {
            for item in items.clone() {
                let own = &mut self.inside[self.offsets[item]..self.offsets[item + 1]];
                own.iter_mut().skip(1).for_each(|value| *value *= self.damping);
            }
        }
        let vectors = &mut self.inside[self.offsets[items.start]..self.offsets[items.end]];
        let largest = vectors.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        if largest > 0.0 {
            let shift = exponent(f64::from(largest));
            let scale = power_of_two(-shift);
            for value in vectors {
                *value = (f64::from(*value) * scale) as f32;
            }
            self.exponents[cell] = reference + shift;
        }
    }
}
