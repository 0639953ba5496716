//! Sparse inside-outside over the symbols of the grammar, where the coarse pass allows.

use super::mask::Mask;
use super::span_set::SpanSet;
use super::sparse_vector::SparseVector;
use super::symbol_set::SymbolSet;
use super::{Chart, refill};
use crate::cancel::{Cancel, Cancelled};
use crate::grammar::{Grammar, PairIndex, Projection, SetWord, SymbolId, UnaryClosure};
use crate::numeric::scaling::{EMPTY, exponent, power_of_two};
use crate::numeric::simd_dispatch::simd_dispatch;

/// Limits on what a pass builds.
#[derive(Debug, Clone, Copy)]
pub struct Bounds<'a> {
    /// The classes that survived the coarse pass, if there was one.
    pub mask: Option<(&'a Mask, &'a Projection)>,
    /// The number of words of the widest span to fill.
    pub max_width: usize,
    /// The most items that the chart may have.
    pub max_items: usize,
}

impl Bounds<'_> {
    /// No limits.
    pub const NONE: Self = Self { mask: None, max_width: usize::MAX, max_items: usize::MAX };
}

/// Memory for passes over a grammar, reused from sentence to sentence.
#[derive(Debug, Default)]
pub struct PcfgPass {
    pairs: SparseVector,
    symbols: SparseVector,
    closed: SparseVector,
    /// The outside value of each pair of children, summed over their parents in the current cell
    /// and computed on first use; and the cell that each value was computed for.
    pair_outside: Vec<f64>,
    pair_cell: Vec<u32>,
    /// The symbols that the mask refuses in the current cell.
    refused: SymbolSet,
    /// The symbols of each cell as a set.
    sets: Vec<SetWord>,
    set_ranges: Vec<(u32, u32)>,
    /// The spans that have items.
    filled: SpanSet,
}

impl PcfgPass {
    /// Fill `chart` for a sentence, within `bounds`, given the emission probabilities of the
    /// preterminals of each word. Returns false, with the chart half filled, if there would be more
    /// items than allowed.
    ///
    /// Outside values are exact if `threshold` is zero. Otherwise items whose posterior is below it
    /// add nothing to the outside values of their children.
    pub fn run(
        &mut self,
        grammar: &Grammar,
        words: &[Vec<(SymbolId, f64)>],
        bounds: Bounds<'_>,
        threshold: f64,
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        let pass = self;
        simd_dispatch!(
            PcfgPass::run_portable,
            (
                pass: &mut PcfgPass,
                grammar: &Grammar,
                words: &[Vec<(SymbolId, f64)>],
                bounds: Bounds<'_>,
                threshold: f64,
                chart: &mut Chart,
                cancel: &Cancel,
            ) -> Result<bool, Cancelled>
        )
    }

    #[inline(always)]
    fn run_portable(
        &mut self,
        grammar: &Grammar,
        words: &[Vec<(SymbolId, f64)>],
        bounds: Bounds<'_>,
        threshold: f64,
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        if !self.inside(grammar, words, bounds, chart, cancel)? {
            return Ok(false);
        }
        self.outside(grammar, threshold, chart, cancel)?;
        Ok(true)
    }

    #[inline(always)]
    fn inside(
        &mut self,
        grammar: &Grammar,
        words: &[Vec<(SymbolId, f64)>],
        bounds: Bounds<'_>,
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        let symbols = grammar.rules().number_of_symbols();
        let pairs = grammar.pairs().number_of_pairs();
        self.symbols.resize(symbols);
        self.closed.resize(symbols);
        self.refused.resize(symbols);
        self.pairs.resize(pairs);
        self.pair_outside.resize(pairs, 0.0);
        refill(&mut self.pair_cell, pairs, u32::MAX);
        chart.reset(words.len());
        let cells = chart.cells;
        self.sets.clear();
        refill(&mut self.set_ranges, cells.count(), (0, 0));
        self.filled.reset(words.len());
        let Bounds { mask, max_width, max_items } = bounds;
        for width in 1..=words.len().min(max_width) {
            cancel.check()?;
            for (start, emissions) in words[..=words.len() - width].iter().enumerate() {
                let end = start + width;
                let cell = cells.index(start, end);
                if mask.is_some_and(|(mask, _)| !mask.contains(start, end)) {
                    continue;
                }
                let is_whole = width == words.len();
                let sets = mask
                    .map(|(mask, projection)| (mask.cell(cell), mask.parents(cell), projection));
                let allows = |symbol: SymbolId| match sets {
                    None => true,
                    Some((own, (right, left), projection)) => {
                        Mask::allows(own, projection.class(symbol))
                            && if is_whole {
                                projection.uses().as_root(symbol)
                            } else {
                                projection.uses().as_child(symbol, right, left)
                            }
                    }
                };
                let reference = if width == 1 {
                    self.sum_emissions(emissions, allows)
                } else {
                    self.sum_splits(grammar.pairs(), chart, start, end, allows)
                };
                self.close_inside(grammar.unary(), allows);
                if self.store(chart, cell, reference) {
                    self.filled.insert(start, end);
                }
                if chart.len() > max_items {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn sum_emissions(
        &mut self,
        emissions: &[(SymbolId, f64)],
        allows: impl Fn(SymbolId) -> bool,
    ) -> i32 {
        // Scale before summing, so that not even the smallest probability underflows.
        let largest = emissions.iter().map(|entry| entry.1).fold(0.0, f64::max);
        if largest <= 0.0 {
            return EMPTY;
        }
        let reference = exponent(largest);
        let scale = power_of_two(-reference);
        for &(symbol, probability) in emissions {
            if probability > 0.0 && allows(symbol) {
                self.symbols.add(symbol.0, probability * scale);
            }
        }
        reference
    }

    /// Sum the products of children over all split points, then apply each rule once.
    #[inline(always)]
    fn sum_splits(
        &mut self,
        pairs: &PairIndex,
        chart: &Chart,
        start: usize,
        end: usize,
        allows: impl Fn(SymbolId) -> bool,
    ) -> i32 {
        let cells = chart.cells;
        let sum_of_exponents = |split| {
            chart.exponents[cells.index(start, split)] + chart.exponents[cells.index(split, end)]
        };
        let Some(reference) = self.filled.splits(start, end).map(sum_of_exponents).max() else {
            return EMPTY;
        };
        for split in self.filled.splits(start, end) {
            let (left, right) = (cells.index(start, split), cells.index(split, end));
            let factor = power_of_two(chart.exponents[left] + chart.exponents[right] - reference);
            if factor == 0.0 {
                continue;
            }
            let (from, to) = self.set_ranges[right];
            let right = &self.sets[from as usize..to as usize];
            for item in chart.items(left) {
                if !pairs.is_left(chart.symbols[item]) {
                    continue;
                }
                let scaled = factor * chart.inside[item];
                let sums = &mut self.pairs;
                pairs.row(chart.symbols[item]).for_each_match(right, |right_item, pair| {
                    let product = scaled * chart.inside[right_item];
                    if product > 0.0 {
                        sums.add(pair, product);
                    }
                });
            }
        }
        self.refused.clear();
        for (pair, sum) in self.pairs.entries() {
            for rule in pairs.rules(pair) {
                let amount = rule.probability * sum;
                let is_known = self.symbols.get(rule.parent.0) > 0.0;
                if amount <= 0.0 || (!is_known && self.refused.contains(rule.parent)) {
                    continue;
                }
                if is_known || allows(rule.parent) {
                    self.symbols.add(rule.parent.0, amount);
                } else {
                    self.refused.insert(rule.parent);
                }
            }
        }
        self.pairs.clear();
        reference
    }

    fn close_inside(&mut self, unary: &UnaryClosure, allows: impl Fn(SymbolId) -> bool) {
        if unary.is_empty() {
            return;
        }
        for (bottom, value) in self.symbols.entries() {
            for chain in unary.chains(SymbolId(bottom)) {
                let amount = chain.total * value;
                if amount > 0.0 && allows(chain.top) {
                    self.closed.add(chain.top.0, amount);
                }
            }
        }
        self.symbols.clear();
        std::mem::swap(&mut self.symbols, &mut self.closed);
    }

    /// Move the sums of a cell into the chart, normalised; returns whether there are any.
    fn store(&mut self, chart: &mut Chart, cell: usize, reference: i32) -> bool {
        let from = chart.symbols.len();
        let largest = self.symbols.entries().map(|entry| entry.1).fold(0.0, f64::max);
        if largest > 0.0 {
            let shift = exponent(largest);
            let scale = power_of_two(-shift);
            self.symbols.in_use.sort_unstable();
            chart.exponents[cell] = reference + shift;
            let first_word = self.sets.len();
            for (symbol, value) in self.symbols.entries() {
                let index = symbol / 64;
                if self.sets[first_word..].last().is_none_or(|word| word.index != index) {
                    let first = chart.symbols.len() as u32;
                    self.sets.push(SetWord { bits: 0, index, first });
                }
                let word = self.sets.last_mut().expect("was just made");
                word.bits |= 1 << (symbol % 64);
                chart.symbols.push(SymbolId(symbol));
                chart.inside.push(value * scale);
            }
            self.set_ranges[cell] = (first_word as u32, self.sets.len() as u32);
        }
        self.symbols.clear();
        chart.ranges[cell] = (from as u32, chart.symbols.len() as u32);
        chart.symbols.len() > from
    }

    #[inline(always)]
    fn outside(
        &mut self,
        grammar: &Grammar,
        threshold: f64,
        chart: &mut Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let words = chart.cells.words();
        chart.outside.clear();
        chart.outside.resize(chart.symbols.len(), 0.0);
        if words == 0 {
            return Ok(());
        }
        let top = chart.cells.index(0, words);
        let root = |symbol: SymbolId| grammar.rules().roots()[symbol.index()];
        let total: f64 =
            chart.items(top).map(|item| chart.inside[item] * root(chart.symbols[item])).sum();
        if total <= 0.0 {
            return Ok(());
        }
        chart.pcfg_log_probability =
            total.ln() + f64::from(chart.exponents[top]) * std::f64::consts::LN_2;
        for item in chart.items(top) {
            chart.outside[item] = root(chart.symbols[item]) / total;
        }
        for width in (1..=words).rev() {
            cancel.check()?;
            for start in 0..=words - width {
                if !self.filled.contains(start, start + width) {
                    continue;
                }
                let cell = chart.cells.index(start, start + width);
                self.close_outside(grammar.unary(), chart, cell);
                if width > 1 {
                    self.propagate_outside(grammar.pairs(), chart, start, start + width, threshold);
                }
            }
        }
        Ok(())
    }

    /// Close the outside values of a cell over unary chains: each symbol gets the outside values of
    /// the symbols above it.
    fn close_outside(&mut self, unary: &UnaryClosure, chart: &mut Chart, cell: usize) {
        if unary.is_empty() {
            return;
        }
        for item in chart.items(cell) {
            if chart.outside[item] > 0.0 {
                self.symbols.add(chart.symbols[item].0, chart.outside[item]);
            }
        }
        for item in chart.items(cell) {
            chart.outside[item] = unary
                .chains(chart.symbols[item])
                .iter()
                .map(|chain| chain.total * self.symbols.get(chain.top.0))
                .sum();
        }
        self.symbols.clear();
    }

    /// Add the contributions of a cell's outside values to its children at each split point.
    #[inline(always)]
    fn propagate_outside(
        &mut self,
        pairs: &PairIndex,
        chart: &mut Chart,
        start: usize,
        end: usize,
        threshold: f64,
    ) {
        let cells = chart.cells;
        let cell = cells.index(start, end);
        for item in chart.items(cell) {
            let posterior = chart.pcfg_posterior(item);
            if posterior > 0.0 && posterior >= threshold {
                self.symbols.add(chart.symbols[item].0, chart.outside[item]);
            }
        }
        if self.symbols.in_use.is_empty() {
            return;
        }
        for split in self.filled.splits(start, end) {
            let (left, right) = (cells.index(start, split), cells.index(split, end));
            let shift = chart.exponents[left] + chart.exponents[right] - chart.exponents[cell];
            let factor = power_of_two(shift);
            let (from, to) = self.set_ranges[right];
            let right = &self.sets[from as usize..to as usize];
            for left_item in chart.items(left) {
                if !pairs.is_left(chart.symbols[left_item]) {
                    continue;
                }
                let left_scaled = factor * chart.inside[left_item];
                let mut left_sum = 0.0;
                let (pair_outside, pair_cell) = (&mut self.pair_outside, &mut self.pair_cell);
                let (symbols, inside) = (&self.symbols, &chart.inside);
                let outside = &mut chart.outside;
                let row = pairs.row(chart.symbols[left_item]);
                row.for_each_match(right, |right_item, pair| {
                    let pair_value = &mut pair_outside[pair as usize];
                    if pair_cell[pair as usize] != cell as u32 {
                        pair_cell[pair as usize] = cell as u32;
                        *pair_value = pairs
                            .rules(pair)
                            .iter()
                            .map(|rule| rule.probability * symbols.get(rule.parent.0))
                            .sum();
                    }
                    if *pair_value > 0.0 {
                        left_sum += *pair_value * inside[right_item];
                        outside[right_item] += *pair_value * left_scaled;
                    }
                });
                chart.outside[left_item] += factor * left_sum;
            }
        }
        self.symbols.clear();
    }
}
