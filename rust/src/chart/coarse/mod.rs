//! The first pruning pass: dense inside-outside over the few symbols of the projected grammar.
//!
//! The loop over split points does not look at rules. For each span, the products of left and right
//! inside values are first summed over all split points into a matrix over pairs of children, with
//! one vector operation for each left child. Each rule then reads the matrix once. The outside pass
//! does the reverse. Pruned items pass no outside values to their children. This saves time and
//! makes posteriors slightly too small.

mod grammar;
mod outside;

pub use grammar::CoarseGrammar;

use super::mask::Mask;
use super::span_set::SpanSet;
use super::{Cells, refill};
use crate::cancel::{Cancel, Cancelled};
use crate::grammar::SymbolId;
use crate::numeric::scaling::{EMPTY, exponent, power_of_two};
use crate::numeric::simd_dispatch::simd_dispatch;
use crate::numeric::vectors::add_scaled;

/// Inside values below this fraction of the largest of their cell are dropped. This keeps subnormal
/// numbers out of the loops, and outside values within single precision.
const NEGLIGIBLE: f32 = 1e-30;

/// A split point of a span.
#[derive(Debug, Clone, Copy)]
struct Split {
    position: usize,
    left: usize,
    right: usize,
    /// The sum of the exponents of the two parts.
    exponent: i32,
}

/// Memory for coarse passes, reused from sentence to sentence.
#[derive(Debug, Default)]
pub struct CoarseChart {
    cells: Cells,
    /// One-word cells, `unit_lanes` each.
    unit_inside: Vec<f32>,
    unit_outside: Vec<f32>,
    /// Cells of several words that are not empty, `wide_lanes` each, in the order in which they were
    /// filled.
    wide_inside: Vec<f32>,
    wide_outside: Vec<f32>,
    /// For each cell, its number in that order.
    wide_numbers: Vec<u32>,
    exponents: Vec<i32>,
    /// The spans whose cells are not empty.
    filled: SpanSet,
    /// The split points of the current span.
    splits: Vec<Split>,
    /// The symbols of each cell that are the left child of some rule, and their inside values.
    left_ranges: Vec<(u32, u32)>,
    left_items: Vec<(u16, f32)>,
    /// A matrix over pairs of children, `unit_lanes` a row, and which of its rows are in use.
    matrix: Vec<f32>,
    row_in_use: Vec<bool>,
    rows_in_use: Vec<u16>,
    /// Which lanes are the left child at some split point of the current span.
    is_left_child: Vec<bool>,
    left_children: Vec<u16>,
    /// For each cell, and for each row of the matrix, which of the lanes of cells of several words
    /// are not zero: bit sets of `set_words` words.
    sets: Vec<u64>,
    row_sets: Vec<u64>,
    set_words: usize,
    /// Contributions to the outside values of a left child.
    left_sums: Vec<(u16, f32)>,
    scratch: Vec<f32>,
    accumulator: Vec<f32>,
    mask: Mask,
}

impl CoarseChart {
    /// The classes that survived the last [`prune`](Self::prune).
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Keep these classes, given by cell, though the last [`prune`](Self::prune) has pruned them.
    pub fn keep(&mut self, cells: Cells, classes: impl Iterator<Item = (usize, SymbolId)>) {
        self.mask.open(cells, classes);
    }

    /// Compute the inside values of a sentence, given the emission probabilities of the classes of
    /// each word. Only spans that are `open`, if these are given, and single words have classes.
    pub fn fill(
        &mut self,
        grammar: &CoarseGrammar,
        words: &[Vec<(SymbolId, f64)>],
        open: Option<&SpanSet>,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let chart = self;
        simd_dispatch!(
            CoarseChart::fill_portable,
            (
                chart: &mut CoarseChart,
                grammar: &CoarseGrammar,
                words: &[Vec<(SymbolId, f64)>],
                open: Option<&SpanSet>,
                cancel: &Cancel,
            ) -> Result<(), Cancelled>
        )
    }

    /// Compute the outside values of the sentence that was [filled](Self::fill) last, and keep the
    /// classes whose posterior is at least `threshold`. Returns false if no tree of the coarse
    /// grammar spans the sentence.
    pub fn prune(
        &mut self,
        grammar: &CoarseGrammar,
        threshold: f64,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        let chart = self;
        simd_dispatch!(
            CoarseChart::prune_portable,
            (
                chart: &mut CoarseChart,
                grammar: &CoarseGrammar,
                threshold: f64,
                cancel: &Cancel,
            ) -> Result<bool, Cancelled>
        )
    }

    #[inline(always)]
    fn fill_portable(
        &mut self,
        grammar: &CoarseGrammar,
        words: &[Vec<(SymbolId, f64)>],
        open: Option<&SpanSet>,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let cells = Cells::new(words.len());
        self.reset(grammar, cells);
        for (start, emissions) in words.iter().enumerate() {
            self.fill_word(grammar, cells, start, emissions);
        }
        for width in 2..=words.len() {
            cancel.check()?;
            for start in 0..=words.len() - width {
                if open.is_none_or(|open| open.contains(start, start + width)) {
                    self.fill_span(grammar, cells, start, start + width);
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn prune_portable(
        &mut self,
        grammar: &CoarseGrammar,
        threshold: f64,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        let cells = self.cells;
        refill(&mut self.unit_outside, self.unit_inside.len(), 0.0);
        refill(&mut self.wide_outside, self.wide_inside.len(), 0.0);
        self.mask.reset(cells, grammar.class_of_lane.len());
        if !self.start_outside(grammar, cells) {
            return Ok(false);
        }
        let threshold = threshold as f32;
        for width in (1..=cells.words()).rev() {
            cancel.check()?;
            for start in 0..=cells.words() - width {
                self.propagate_outside(grammar, cells, start, start + width, threshold);
            }
        }
        self.mask.collect_parents(cells);
        Ok(true)
    }

    fn reset(&mut self, grammar: &CoarseGrammar, cells: Cells) {
        self.cells = cells;
        let units = cells.words() * grammar.unit_lanes;
        for (vector, length) in [
            (&mut self.unit_inside, units),
            (&mut self.scratch, grammar.unit_lanes),
            (&mut self.accumulator, grammar.unit_lanes),
        ] {
            refill(vector, length, 0.0);
        }
        self.wide_inside.clear();
        refill(&mut self.wide_numbers, cells.count(), 0);
        self.filled.reset(cells.words());
        let lanes = grammar.unit_lanes;
        self.matrix.resize(lanes * lanes, 0.0);
        self.row_in_use.clear();
        self.row_in_use.resize(lanes, false);
        self.rows_in_use.clear();
        refill(&mut self.is_left_child, lanes, false);
        self.set_words = grammar.wide_lanes.div_ceil(64);
        refill(&mut self.row_sets, lanes * self.set_words, 0);
        refill(&mut self.sets, cells.count() * self.set_words, 0);
        refill(&mut self.exponents, cells.count(), EMPTY);
        refill(&mut self.left_ranges, cells.count(), (0, 0));
        self.left_items.clear();
    }

    fn fill_word(
        &mut self,
        grammar: &CoarseGrammar,
        cells: Cells,
        start: usize,
        emissions: &[(SymbolId, f64)],
    ) {
        let largest = emissions.iter().map(|entry| entry.1).fold(0.0, f64::max);
        if largest <= 0.0 {
            return;
        }
        let shift = exponent(largest);
        let scale = power_of_two(-shift);
        let mut values = std::mem::take(&mut self.accumulator);
        values.fill(0.0);
        for &(class, probability) in emissions {
            values[grammar.lane_of_class[class.index()] as usize] += (probability * scale) as f32;
        }
        grammar.close_inside(&mut values, &mut self.scratch);
        self.store(grammar, cells, start, start + 1, &values, shift);
        self.accumulator = values;
    }

    #[inline(always)]
    fn fill_span(&mut self, grammar: &CoarseGrammar, cells: Cells, start: usize, end: usize) {
        let reference = self.find_splits(cells, start, end);
        if self.splits.is_empty() {
            return;
        }
        for split in &self.splits {
            let factor = power_of_two(split.exponent - reference) as f32;
            if factor == 0.0 {
                continue;
            }
            let right = if end - split.position == 1 {
                &self.unit_inside[split.position * grammar.unit_lanes..]
            } else {
                &self.wide_inside[self.wide_range(grammar, split.right)]
            };
            let right = &right[..grammar.wide_lanes];
            let set = &self.sets[split.right * self.set_words..][..self.set_words];
            if set.iter().all(|&word| word == 0) {
                continue;
            }
            let (from, to) = self.left_ranges[split.left];
            for &(lane, value) in &self.left_items[from as usize..to as usize] {
                let row = &mut self.matrix[lane as usize * grammar.unit_lanes..];
                let row = &mut row[..grammar.wide_lanes];
                let row_set = &mut self.row_sets[lane as usize * self.set_words..];
                if !self.row_in_use[lane as usize] {
                    self.row_in_use[lane as usize] = true;
                    self.rows_in_use.push(lane);
                    row.fill(0.0);
                    row_set[..self.set_words].fill(0);
                }
                for (row_word, word) in row_set.iter_mut().zip(set) {
                    *row_word |= word;
                }
                add_scaled(row, factor * value, right);
            }
        }
        let mut sums = std::mem::take(&mut self.accumulator);
        let wide = &mut sums[..grammar.wide_lanes];
        wide.fill(0.0);
        for &lane in &self.rows_in_use {
            self.row_in_use[lane as usize] = false;
            let row = &self.matrix[lane as usize * grammar.unit_lanes..][..grammar.wide_lanes];
            let set = &self.row_sets[lane as usize * self.set_words..][..self.set_words];
            for (index, &word) in set.iter().enumerate() {
                let mut bits = word;
                while bits != 0 {
                    let right = index * 64 + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    for rule in grammar.wide_rules(lane as usize, right) {
                        wide[rule.parent as usize] += rule.probability * row[right];
                    }
                }
            }
        }
        self.rows_in_use.clear();
        self.add_last_word(grammar, cells, start, end, reference, wide);
        grammar.close_inside(wide, &mut self.scratch);
        self.store(grammar, cells, start, end, &sums[..grammar.wide_lanes], reference);
        self.accumulator = sums;
    }

    /// Where the values of a cell of several words are.
    #[inline(always)]
    fn wide_range(&self, grammar: &CoarseGrammar, cell: usize) -> std::ops::Range<usize> {
        let from = self.wide_numbers[cell] as usize * grammar.wide_lanes;
        from..from + grammar.wide_lanes
    }

    /// Find the split points of a span; returns the largest of their exponents.
    #[inline(always)]
    fn find_splits(&mut self, cells: Cells, start: usize, end: usize) -> i32 {
        self.splits.clear();
        let mut largest = EMPTY;
        for position in self.filled.splits(start, end) {
            let (left, right) = (cells.index(start, position), cells.index(position, end));
            let exponent = self.exponents[left] + self.exponents[right];
            largest = largest.max(exponent);
            self.splits.push(Split { position, left, right, exponent });
        }
        largest
    }

    /// Add the rules whose right child is a tag. Only the last split point has such rules, and few
    /// tags are possible there, so these rules are looked up instead of going through the matrix.
    #[inline(always)]
    fn add_last_word(
        &self,
        grammar: &CoarseGrammar,
        cells: Cells,
        start: usize,
        end: usize,
        reference: i32,
        sums: &mut [f32],
    ) {
        let (left, last) = (cells.index(start, end - 1), cells.index(end - 1, end));
        let factor = power_of_two(self.exponents[left] + self.exponents[last] - reference) as f32;
        if factor == 0.0 {
            return;
        }
        let word = &self.unit_inside[(end - 1) * grammar.unit_lanes..][..grammar.unit_lanes];
        let (from, to) = self.left_ranges[left];
        for (tag, &tag_value) in word[grammar.wide_lanes..].iter().enumerate() {
            if tag_value == 0.0 {
                continue;
            }
            for &(lane, value) in &self.left_items[from as usize..to as usize] {
                for rule in &grammar.by_left_and_tag[lane as usize][tag] {
                    sums[rule.parent as usize] += rule.probability * factor * tag_value * value;
                }
            }
        }
    }

    /// Normalise the inside values of a cell and store them.
    fn store(
        &mut self,
        grammar: &CoarseGrammar,
        cells: Cells,
        start: usize,
        end: usize,
        values: &[f32],
        reference: i32,
    ) {
        let largest = values.iter().copied().fold(0.0, f32::max);
        if largest <= 0.0 {
            return;
        }
        let shift = exponent(f64::from(largest));
        let scale = power_of_two(-shift) as f32;
        let cell = cells.index(start, end);
        self.exponents[cell] = reference + shift;
        self.filled.insert(start, end);
        let kept = if end - start == 1 {
            &mut self.unit_inside[start * grammar.unit_lanes..][..grammar.unit_lanes]
        } else {
            let offset = self.wide_inside.len();
            self.wide_numbers[cell] = (offset / grammar.wide_lanes) as u32;
            self.wide_inside.resize(offset + grammar.wide_lanes, 0.0);
            &mut self.wide_inside[offset..]
        };
        let from = self.left_items.len() as u32;
        let set = &mut self.sets[cell * self.set_words..][..self.set_words];
        for (lane, (kept, &value)) in kept.iter_mut().zip(values).enumerate() {
            let scaled = value * scale;
            if scaled > NEGLIGIBLE {
                *kept = scaled;
                if lane < grammar.wide_lanes {
                    set[lane / 64] |= 1 << (lane % 64);
                }
                if grammar.is_left[lane] {
                    self.left_items.push((lane as u16, scaled));
                }
            }
        }
        self.left_ranges[cell] = (from, self.left_items.len() as u32);
    }
}
