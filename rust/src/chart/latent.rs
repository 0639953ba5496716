//! Inside-outside over latent states, on the items that survived the PCFG pass.
//!
//! The contraction of a rule's tensor costs the cube of the number of states and stays out of the
//! loop over split points. Inside, the outer products of the children are first summed over all
//! splits into one matrix for each pair of symbols, a square of the number of states a split, and
//! each rule's tensor then meets that matrix once. Outside, the tensors of a pair's rules are first
//! contracted with the outside vectors of their parents into one matrix, which then serves all
//! splits. Inside vectors are kept in scaled arithmetic, outside vectors relative to them, as in
//! the PCFG pass.

use super::pair_matrices::PairMatrices;
use super::pcfg::Chart;
use super::refill;
use crate::cancel::{Cancel, Cancelled};
use crate::grammar::{Grammar, Latent, SymbolId, Token};
use crate::numeric::contraction::{contract, expand};
use crate::numeric::scaling::{EMPTY, exponent, power_of_two};
use crate::numeric::simd_dispatch::simd_dispatch;
use crate::numeric::vectors::{add_scaled, dot};

/// What a latent model says of a sentence; better answers are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// It has no probability; the chart was left as it is.
    None,
    /// A linear model, right only up to noise, gave it a negative number; posteriors are relative
    /// to the size of that number.
    Negative,
    /// It has a probability.
    Positive,
}

/// Memory for latent passes, reused from sentence to sentence.
#[derive(Debug, Default)]
pub struct LatentPass {
    /// Where the vectors of each item start.
    offsets: Vec<usize>,
    inside: Vec<f32>,
    outside: Vec<f32>,
    exponents: Vec<i32>,
    matrices: PairMatrices,
    /// For the symbols of the current cell, their item plus one.
    item_of_symbol: Vec<u32>,
}

impl LatentPass {
    /// Replace the posteriors of a chart by those of the latent model, |inside . outside| / |Z|.
    pub fn run(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        sentence: &[Token],
        words: &[Vec<(SymbolId, f64)>],
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<Answer, Cancelled> {
        self.run_inside(grammar, latent, sentence, words, chart, cancel)?;
        self.run_outside(grammar, latent, chart, cancel)
    }

    /// Compute the inside vectors of all items of a chart.
    pub fn run_inside(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        sentence: &[Token],
        words: &[Vec<(SymbolId, f64)>],
        chart: &Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        self.reset(grammar, latent, chart);
        for (position, (&token, emissions)) in sentence.iter().zip(words).enumerate() {
            self.fill_word(grammar, latent, chart, position, token, emissions);
        }
        let pass = self;
        simd_dispatch!(
            LatentPass::fill_spans,
            (
                pass: &mut LatentPass,
                grammar: &Grammar,
                latent: &Latent,
                chart: &Chart,
                cancel: &Cancel,
            ) -> Result<(), Cancelled>
        )
    }

    /// Compute the outside vectors, after the inside ones, and from both the posteriors of the chart.
    pub fn run_outside(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<Answer, Cancelled> {
        let Some(total) = self.start_outside(latent, chart) else {
            return Ok(Answer::None);
        };
        self.descend(grammar, latent, chart, cancel)?;
        let top = chart.cells().index(0, chart.cells().words());
        let log_scale = f64::from(self.exponents[top]) * std::f64::consts::LN_2;
        let negative = total < 0.0;
        let log_probability = if negative { f64::NEG_INFINITY } else { total.ln() + log_scale };
        let posterior = |item| f64::from(dot(self.inside(item), self.outside(item))).abs();
        chart.set_posteriors(log_probability, posterior);
        Ok(if negative { Answer::Negative } else { Answer::Positive })
    }

    /// The inside vector of an item, relative to the scale of its cell.
    #[inline(always)]
    pub(super) fn inside(&self, item: usize) -> &[f32] {
        &self.inside[self.offsets[item]..self.offsets[item + 1]]
    }

    /// The outside vector of an item, relative to the inside scale of its cell and to Z.
    #[inline(always)]
    pub(super) fn outside(&self, item: usize) -> &[f32] {
        &self.outside[self.offsets[item]..self.offsets[item + 1]]
    }

    /// The power of two by which the inside vectors of a cell are scaled.
    #[inline(always)]
    pub(super) fn exponent(&self, cell: usize) -> i32 {
        self.exponents[cell]
    }

    fn reset(&mut self, grammar: &Grammar, latent: &Latent, chart: &Chart) {
        self.offsets.clear();
        self.offsets.reserve_exact(chart.len() + 1);
        self.offsets.push(0);
        let mut end = 0;
        for item in 0..chart.len() {
            end += latent.states(chart.symbol(item));
            self.offsets.push(end);
        }
        refill(&mut self.inside, end, 0.0);
        refill(&mut self.exponents, chart.cells().count(), EMPTY);
        self.matrices.resize(grammar.pairs().number_of_pairs());
        self.item_of_symbol.resize(grammar.rules().number_of_symbols(), 0);
    }

    fn fill_word(
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
            let profile = latent.profile(grammar.emissions(), token, symbol);
            let own = &mut self.inside[self.offsets[item]..self.offsets[item + 1]];
            for (own, &value) in own.iter_mut().zip(profile) {
                *own = (probability * f64::from(value)) as f32;
            }
        }
        self.normalise(chart, cell, 0);
    }

    #[inline(always)]
    fn fill_spans(
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
                    let (place, _) = self.matrices.place(pair, left_symbol, right_symbol, length);
                    let matrix = &mut self.matrices.values[place..place + length];
                    for (row, &value) in matrix.chunks_exact_mut(width).zip(left_vector) {
                        add_scaled(row, factor * value, right_vector);
                    }
                }
            }
        }
        self.mark_items(chart, cell);
        for &(pair, left, right, place) in &self.matrices.slots {
            let length = latent.states(left) * latent.states(right);
            let matrix = &self.matrices.values[place..place + length];
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
    }

    fn mark_items(&mut self, chart: &Chart, cell: usize) {
        for item in chart.items(cell) {
            self.item_of_symbol[chart.symbol(item).index()] = item as u32 + 1;
        }
    }

    fn unmark_items(&mut self, chart: &Chart, cell: usize) {
        for item in chart.items(cell) {
            self.item_of_symbol[chart.symbol(item).index()] = 0;
        }
    }

    /// Scale the inside vectors of a cell so that the largest value is near one.
    fn normalise(&mut self, chart: &Chart, cell: usize, reference: i32) {
        let items = chart.items(cell);
        if items.is_empty() {
            return;
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

    /// Set the outside vectors of the whole sentence and return its scaled probability Z; none if
    /// there is nothing to divide by.
    fn start_outside(&mut self, latent: &Latent, chart: &Chart) -> Option<f64> {
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
    fn descend(
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
