//! The forward and the backward algorithm.
//!
//! Forward rows are scaled to sum to one, and backward rows so that their scalar product with the
//! forward row of the same position is one. So nothing underflows in long sequences, except for
//! states that are 10^308 times less likely than others at the same position.

use super::kernels::{add_outer_products, combine_rows, multiply, scale};
use super::log_product::LogProduct;
use super::model::{HmmError, Model};
use super::sequences::Sequences;
use crate::cancel::{Cancel, Cancelled};
use crate::numeric::simd_dispatch::simd_dispatch;

/// The number of positions between two checks of the cancel flag.
const CHECK_INTERVAL: usize = 1 << 12;

/// Memory for the passes over a sequence, reused from one to the next. There is a padded row for
/// each position ("now").
#[derive(Debug, Default)]
pub struct Lattice {
    width: usize,
    /// P(state now | symbols up to now).
    forward: Vec<f64>,
    /// P(later symbols | state now) / P(later symbols | symbols up to now).
    backward: Vec<f64>,
    /// P(symbols from now on | state now) / P(symbols from now on | earlier symbols).
    onward: Vec<f64>,
    /// P(symbol now | earlier symbols).
    scales: Vec<f64>,
    /// P(end | symbols).
    end: f64,
}

impl Lattice {
    /// Run both passes over one of the sequences.
    pub fn of_sequence(
        model: &Model,
        sequences: &Sequences,
        sequence: usize,
        cancel: &Cancel,
    ) -> Result<Self, HmmError> {
        sequences.check(model.symbols())?;
        let mut lattice = Self::default();
        lattice.fill(model, sequences, sequence, cancel)?;
        Ok(lattice)
    }

    /// Run both passes over a sequence and return its log-probability.
    pub(super) fn fill(
        &mut self,
        model: &Model,
        sequences: &Sequences,
        sequence: usize,
        cancel: &Cancel,
    ) -> Result<f64, HmmError> {
        let symbols = sequences.get(sequence);
        let log_probability = self.forward(model, symbols, cancel)?;
        if log_probability == f64::NEG_INFINITY {
            return Err(HmmError::Impossible { sequence });
        }
        self.backward(model, symbols, cancel)?;
        Ok(log_probability)
    }

    /// Run the forward algorithm and return the log-probability of a sequence.
    pub(super) fn forward(
        &mut self,
        model: &Model,
        symbols: &[u32],
        cancel: &Cancel,
    ) -> Result<f64, Cancelled> {
        let lattice = self;
        simd_dispatch!(Lattice::run_forward, (lattice: &mut Lattice, model: &Model, symbols: &[u32],
            cancel: &Cancel) -> Result<f64, Cancelled>)
    }

    /// Run the backward algorithm, after the forward algorithm has found a probability.
    fn backward(
        &mut self,
        model: &Model,
        symbols: &[u32],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let lattice = self;
        simd_dispatch!(Lattice::run_backward, (lattice: &mut Lattice, model: &Model, symbols: &[u32],
            cancel: &Cancel) -> Result<(), Cancelled>)
    }

    #[inline(always)]
    fn run_forward(
        &mut self,
        model: &Model,
        symbols: &[u32],
        cancel: &Cancel,
    ) -> Result<f64, Cancelled> {
        let width = model.width();
        self.width = width;
        self.forward.resize(symbols.len() * width, 0.0);
        self.scales.clear();
        let mut log_probability = LogProduct::default();
        for (position, &symbol) in symbols.iter().enumerate() {
            if position % CHECK_INTERVAL == 0 {
                cancel.check()?;
            }
            let (earlier, later) = self.forward.split_at_mut(position * width);
            let now = &mut later[..width];
            match earlier.rchunks_exact(width).next() {
                Some(before) => combine_rows(&model.transitions, before, now),
                None => now.copy_from_slice(&model.initial),
            }
            let sum = multiply(now, model.emission(symbol));
            // The reciprocal of a subnormal sum may be infinite.
            if sum < f64::MIN_POSITIVE {
                return Ok(f64::NEG_INFINITY);
            }
            scale(now, 1.0 / sum);
            self.scales.push(sum);
            log_probability.multiply(sum);
        }
        let last = &self.forward[(symbols.len() - 1) * width..];
        self.end = last.iter().zip(&model.ends).map(|(now, end)| now * end).sum();
        if self.end < f64::MIN_POSITIVE {
            return Ok(f64::NEG_INFINITY);
        }
        log_probability.multiply(self.end);
        Ok(log_probability.finish())
    }

    #[inline(always)]
    fn run_backward(
        &mut self,
        model: &Model,
        symbols: &[u32],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let width = self.width;
        self.backward.resize(symbols.len() * width, 0.0);
        self.onward.resize(symbols.len() * width, 0.0);
        let last = &mut self.backward[(symbols.len() - 1) * width..][..width];
        last.copy_from_slice(&model.ends);
        scale(last, 1.0 / self.end);
        for (position, &symbol) in symbols.iter().enumerate().rev() {
            if position % CHECK_INTERVAL == 0 {
                cancel.check()?;
            }
            let (earlier, later) = self.backward.split_at_mut(position * width);
            let onward = &mut self.onward[position * width..][..width];
            onward.copy_from_slice(&later[..width]);
            multiply(onward, model.emission(symbol));
            scale(onward, 1.0 / self.scales[position]);
            if let Some(before) = earlier.rchunks_exact_mut(width).next() {
                combine_rows(&model.entries, onward, before);
            }
        }
        Ok(())
    }

    /// P(symbol | earlier symbols) at each position.
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// For each position, two padded rows: P(state | symbols up to now) and P(later symbols |
    /// state) / P(later symbols | symbols up to now). Their elementwise product is the posterior of
    /// each state.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = (&[f64], &[f64])> {
        let size = self.scales.len() * self.width;
        let forward = self.forward[..size].chunks_exact(self.width);
        forward.zip(self.backward[..size].chunks_exact(self.width))
    }

    /// Add to a matrix of padded rows the expected counts of transitions, each divided by the
    /// probability of the transition.
    pub(super) fn add_steps(&self, sums: &mut [f64]) {
        let (size, width) = (self.scales.len() * self.width, self.width);
        let (left, right) = (&self.forward[..size - width], &self.onward[width..size]);
        simd_dispatch!(add_outer_products, (sums: &mut [f64], left: &[f64], right: &[f64], width: usize)
            -> ())
    }
}
