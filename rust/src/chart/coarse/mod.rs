//! The first pruning pass: dense inside-outside over the few symbols of the projected grammar.
//!
//! The loop over split points does not look at rules. For each span, the products of left and right
//! inside values are first summed over all split points into a matrix over pairs of children, with
//! one vector operation for each left child. Each rule then reads the matrix once. The outside pass
//! does the reverse. Pruned items pass no outside values to their children. This saves time and
//! makes posteriors slightly too small.

mod grammar;
mod inside;
mod outside;

pub use grammar::CoarseGrammar;

use super::mask::Mask;
use super::span_set::SpanSet;
use super::{Cells, refill};
use crate::cancel::{Cancel, Cancelled};
use crate::grammar::SymbolId;
use crate::numeric::scaling::EMPTY;
use crate::numeric::simd_dispatch::simd_dispatch;

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
    /// The classes of each word, and their inside values.
    word_ranges: Vec<(u32, u32)>,
    word_items: Vec<(u16, f32)>,
    /// Sums over split points of the inside pass: a matrix over pairs of children that may span
    /// several words, `wide_lanes` a row. It is zero between spans.
    block: Vec<f32>,
    /// A matrix over pairs of children for the outside pass, `unit_lanes` a row, and which rows of
    /// it or of the block are in use.
    matrix: Vec<f32>,
    row_in_use: Vec<bool>,
    rows_in_use: Vec<u16>,
    /// Which lanes are the left child at some split point of the current span.
    is_left_child: Vec<bool>,
    left_children: Vec<u16>,
    /// For each cell, which of the lanes of cells of several words are not zero: bit sets of
    /// `set_words` words.
    sets: Vec<u64>,
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
        refill(&mut self.sets, cells.count() * self.set_words, 0);
        refill(&mut self.exponents, cells.count(), EMPTY);
        refill(&mut self.left_ranges, cells.count(), (0, 0));
        self.left_items.clear();
        refill(&mut self.word_ranges, cells.words(), (0, 0));
        self.word_items.clear();
        refill(&mut self.block, grammar.wide_lanes * grammar.wide_lanes, 0.0);
    }

    /// Where the values of a cell of several words are.
    #[inline(always)]
    fn wide_range(&self, grammar: &CoarseGrammar, cell: usize) -> std::ops::Range<usize> {
        let from = self.wide_numbers[cell] as usize * grammar.wide_lanes;
        from..from + grammar.wide_lanes
    }

    /// The classes of a word, and their inside values.
    #[inline(always)]
    fn word_items(&self, word: usize) -> &[(u16, f32)] {
        let (from, to) = self.word_ranges[word];
        &self.word_items[from as usize..to as usize]
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
}
