//! Inside-outside over latent states (Cohen et al. 2014), on the items that survived the PCFG pass.
//!
//! Contracting the tensor of a rule takes time cubic in the number of states m. It is therefore
//! done outside the loop over split points, where O(m^2) is left. In the inside pass, the outer
//! products of the children's vectors are first summed over all split points into one matrix for
//! each pair of symbols. The tensor of each rule is then contracted with that matrix once. In the
//! outside pass, the tensors of a pair's rules are first contracted with the outside vectors of
//! their parents into one matrix, which is used for all split points. As in the PCFG pass, inside
//! vectors are kept in scaled arithmetic, and outside vectors relative to them. Unary rules are
//! closed over chains, as in the PCFG pass.

mod inside;
mod outside;
mod unary;

use super::pair_matrices::PairMatrices;
use super::{Chart, refill};
use crate::cancel::{Cancel, Cancelled};
use crate::grammar::{Grammar, Latent, SymbolId, Token};
use crate::numeric::scaling::EMPTY;
use crate::numeric::simd_dispatch::simd_dispatch;
use crate::numeric::vectors::dot;

/// What a latent pass found for a sentence; better outcomes are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LatentOutcome {
    /// The model gives the sentence no probability; the chart is unchanged.
    NoProbability,
    /// The value Z that the model gives the sentence is negative, which can happen with parameters
    /// estimated by spectral methods. Posteriors are relative to |Z|.
    Negative,
    /// The model gives the sentence a positive probability.
    Positive,
}

/// Memory for latent passes, reused from sentence to sentence.
#[derive(Debug, Default)]
pub struct LatentPass {
    /// Where the vectors of each item start, and where the last ones end.
    offsets: Vec<usize>,
    inside: Vec<f32>,
    outside: Vec<f32>,
    /// With unary rules: the inside vectors of derivations that do not start with a unary rule, and
    /// the outside vectors of the current cell before they are closed over chains.
    without_chain: Vec<f32>,
    above: Vec<f32>,
    /// The factor of all states but the first ([`Latent::damping`]), and an outside vector times it.
    damping: f32,
    damped: Vec<f32>,
    /// The value Z of the sentence, relative to the scale of its cell.
    total: f64,
    exponents: Vec<i32>,
    matrices: PairMatrices,
    /// The item of each symbol of the current cell, plus one; zero for other symbols.
    item_of_symbol: Vec<u32>,
}

impl LatentPass {
    /// Replace the posteriors of a chart by those of the latent model, |inside . outside| / |Z|. All
    /// states but the first are multiplied by `damping` ([`Latent::damping`]).
    #[expect(clippy::too_many_arguments, reason = "a model, a sentence and a chart")]
    pub fn run(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        damping: f32,
        sentence: &[Token],
        words: &[Vec<(SymbolId, f64)>],
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<LatentOutcome, Cancelled> {
        self.run_inside(grammar, latent, damping, sentence, words, chart, cancel)?;
        self.run_outside(grammar, latent, chart, cancel)
    }

    /// Compute the inside vectors of all items of a chart.
    #[expect(clippy::too_many_arguments, reason = "a model, a sentence and a chart")]
    pub fn run_inside(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        damping: f32,
        sentence: &[Token],
        words: &[Vec<(SymbolId, f64)>],
        chart: &Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        self.reset(grammar, latent, chart);
        self.damping = damping;
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

    /// Compute the outside vectors, after the inside ones, and from both the posteriors of the
    /// chart.
    pub fn run_outside(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<LatentOutcome, Cancelled> {
        let Some(total) = self.start_outside(latent, chart) else {
            return Ok(LatentOutcome::NoProbability);
        };
        self.total = total;
        self.propagate_outside(grammar, latent, chart, cancel)?;
        let top = chart.cells().index(0, chart.cells().words());
        let log_scale = f64::from(self.exponents[top]) * std::f64::consts::LN_2;
        let negative = total < 0.0;
        let log_probability = if negative { f64::NEG_INFINITY } else { total.ln() + log_scale };
        let posterior = |item| f64::from(dot(self.inside(item), self.outside(item))).abs();
        chart.set_posteriors(log_probability, posterior);
        Ok(if negative { LatentOutcome::Negative } else { LatentOutcome::Positive })
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

    /// The outside vector of an item where the tensor of a rule that rewrites the item is applied to
    /// it; `damped` is memory for it.
    #[inline(always)]
    pub(super) fn rule_outside<'a>(&'a self, item: usize, damped: &'a mut Vec<f32>) -> &'a [f32] {
        damp(self.outside(item), self.damping, damped)
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
        if !grammar.unary().is_empty() {
            refill(&mut self.without_chain, end, 0.0);
        }
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

/// A vector with all values but the first times a factor; `damped` is memory for it.
#[inline(always)]
fn damp<'a>(vector: &'a [f32], factor: f32, damped: &'a mut Vec<f32>) -> &'a [f32] {
    if factor == 1.0 {
        return vector;
    }
    damped.clear();
    damped.extend_from_slice(vector);
    damped.iter_mut().skip(1).for_each(|value| *value *= factor);
    damped
}
