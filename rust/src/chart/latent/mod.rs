//! Inside-outside over latent states, on the items that survived the PCFG pass.
//!
//! The contraction of a rule's tensor costs the cube of the number of states and stays out of the
//! loop over split points. Inside, the outer products of the children are first summed over all
//! splits into one matrix for each pair of symbols, a square of the number of states a split, and
//! each rule's tensor then meets that matrix once. Outside, the tensors of a pair's rules are first
//! contracted with the outside vectors of their parents into one matrix, which then serves all
//! splits. Inside vectors are kept in scaled arithmetic, outside vectors relative to them, as in
//! the PCFG pass.

mod inside;
mod outside;

use super::pair_matrices::PairMatrices;
use super::{Chart, refill};
use crate::cancel::{Cancel, Cancelled};
use crate::grammar::{Grammar, Latent, SymbolId, Token};
use crate::numeric::scaling::EMPTY;
use crate::numeric::simd_dispatch::simd_dispatch;
use crate::numeric::vectors::dot;

/// Whether a latent model gives a sentence a probability; better answers are larger.
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
}
