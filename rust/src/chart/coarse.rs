//! The first pruning pass: dense inside-outside over the few symbols of the projected grammar.
//!
//! Rules are not looked at inside the loop over split points. For a span, the products of left and
//! right inside values are first summed over all splits into a matrix over pairs of children, a
//! row of vector operations for each left child, and each rule then reads the matrix once; the
//! outside pass does the reverse. Items that do not survive pass nothing on to their parts, which
//! leaves the outside pass less to do and lets posteriors come out a little too small.

use super::mask::Mask;
use super::{Cells, refill};
use crate::cancel::{Cancel, Cancelled};
use crate::grammar::{GrammarError, Projection, SymbolId, UnaryClosure};
use crate::numeric::scaling::{EMPTY, exponent, power_of_two};
use crate::numeric::simd_dispatch::simd_dispatch;
use crate::numeric::vectors::{LANES, add_scaled, dot};

/// More classes than this make a coarse pass pointless, and its matrices large.
const MOST_CLASSES: usize = 1024;

/// Inside values below this part of the largest of their cell are dropped, which keeps subnormal
/// numbers out of the loops and outside values within single precision.
const NEGLIGIBLE: f32 = 1e-30;

#[derive(Debug, Clone, Copy)]
struct RightRule {
    right: u16,
    parent: u16,
    probability: f32,
}

#[derive(Debug, Clone, Copy)]
struct ParentRule {
    left: u16,
    right: u16,
    probability: f32,
}

/// A projected grammar laid out for dense passes. Symbols are renumbered as lanes of vectors, so
/// that those that can span several words come first and wide cells need fewer lanes.
#[derive(Debug, Clone)]
pub struct CoarseGrammar {
    lane_of_class: Vec<u16>,
    class_of_lane: Vec<u32>,
    wide_lanes: usize,
    unit_lanes: usize,
    /// For each left child the rules whose right child may span several words, and those whose
    /// right child is one word: the latter by lane, counted from `wide_lanes`.
    by_left: Vec<Vec<RightRule>>,
    by_left_and_tag: Vec<Vec<Vec<RightRule>>>,
    is_left: Vec<bool>,
    by_parent: Vec<Vec<ParentRule>>,
    roots: Vec<f32>,
    /// For each bottom lane the chains to the lanes above it; empty without unary rules.
    chains: Vec<Vec<(u16, f32)>>,
}

impl CoarseGrammar {
    /// Lay out the projected rules.
    pub fn new(projection: &Projection) -> Result<Self, GrammarError> {
        let rules = projection.rules();
        let classes = rules.number_of_symbols();
        if classes > MOST_CLASSES {
            return Err(GrammarError::TooMany {
                things: "coarse classes",
                found: classes,
                most: MOST_CLASSES,
            });
        }
        let mut is_phrase = vec![false; classes];
        for rule in rules.binary() {
            is_phrase[rule.parent.index()] = true;
        }
        for rule in rules.unary() {
            is_phrase[rule.parent.index()] = true;
        }
        let mut class_of_lane: Vec<u32> = (0..classes as u32).collect();
        class_of_lane.sort_by_key(|&class| !is_phrase[class as usize]);
        let phrases = is_phrase.iter().filter(|&&phrase| phrase).count();
        let mut lane_of_class = vec![0u16; classes];
        for (lane, &class) in class_of_lane.iter().enumerate() {
            lane_of_class[class as usize] = lane as u16;
        }
        let unit_lanes = classes.next_multiple_of(LANES);
        let wide_lanes = phrases.next_multiple_of(LANES).min(unit_lanes);
        let lane = |class: SymbolId| lane_of_class[class.index()];
        let mut by_left = vec![Vec::new(); classes];
        let mut by_left_and_tag = vec![vec![Vec::new(); unit_lanes - wide_lanes]; classes];
        let mut is_left = vec![false; classes];
        let mut by_parent = vec![Vec::new(); classes];
        for rule in rules.binary() {
            let (parent, left, right) = (lane(rule.parent), lane(rule.left), lane(rule.right));
            let probability = rule.probability as f32;
            let row = match (right as usize).checked_sub(wide_lanes) {
                None => &mut by_left[left as usize],
                Some(tag) => &mut by_left_and_tag[left as usize][tag],
            };
            row.push(RightRule { right, parent, probability });
            is_left[left as usize] = true;
            by_parent[parent as usize].push(ParentRule { left, right, probability });
        }
        for row in &mut by_left {
            row.sort_by_key(|rule| (rule.right, rule.parent));
        }
        for row in &mut by_parent {
            row.sort_by_key(|rule| (rule.left, rule.right));
        }
        let mut roots = vec![0.0; unit_lanes];
        for (class, &root) in rules.roots().iter().enumerate() {
            roots[lane_of_class[class] as usize] = root as f32;
        }
        let closure = UnaryClosure::new(classes, rules.unary())?;
        let chains = if closure.is_empty() {
            Vec::new()
        } else {
            class_of_lane
                .iter()
                .map(|&class| {
                    closure
                        .chains(SymbolId(class))
                        .iter()
                        .map(|chain| (lane(chain.top), chain.total as f32))
                        .collect()
                })
                .collect()
        };
        Ok(Self {
            lane_of_class,
            class_of_lane,
            wide_lanes,
            unit_lanes,
            by_left,
            by_left_and_tag,
            is_left,
            by_parent,
            roots,
            chains,
        })
    }

    /// How many bytes the chart of a sentence of so many words takes at most.
    pub fn chart_bytes(&self, words: usize) -> usize {
        // Inside and outside, and the left items, which grow one by one: what grows may take up
        // twice as much as is in it.
        let bytes = |lanes: usize| {
            let left = self.is_left.iter().take(lanes).filter(|&&left| left).count();
            2 * lanes * size_of::<f32>() + 2 * left * size_of::<(u16, f32)>()
        };
        let mask = 3 * self.class_of_lane.len().div_ceil(64) * size_of::<u64>();
        let others = size_of::<i32>() + size_of::<(u32, u32)>();
        let cells = Cells::new(words).count();
        cells * (bytes(self.wide_lanes) + mask + others) + words * bytes(self.unit_lanes)
    }

    fn close_inside(&self, values: &mut [f32], scratch: &mut [f32]) {
        if self.chains.is_empty() {
            return;
        }
        let scratch = &mut scratch[..values.len()];
        scratch.fill(0.0);
        for (bottom, &value) in values.iter().enumerate().filter(|entry| *entry.1 > 0.0) {
            for &(top, total) in &self.chains[bottom] {
                scratch[top as usize] += total * value;
            }
        }
        values.copy_from_slice(scratch);
    }

    fn close_outside(&self, values: &mut [f32], scratch: &mut [f32]) {
        if self.chains.is_empty() {
            return;
        }
        let scratch = &mut scratch[..values.len()];
        scratch.fill(0.0);
        for (bottom, sum) in scratch.iter_mut().enumerate().take(self.chains.len()) {
            for &(top, total) in &self.chains[bottom] {
                *sum += total * values.get(top as usize).copied().unwrap_or(0.0);
            }
        }
        values.copy_from_slice(scratch);
    }
}

/// Memory for coarse passes, reused from sentence to sentence.
#[derive(Debug, Default)]
pub struct CoarseChart {
    /// One-word cells, `unit_lanes` each.
    unit_inside: Vec<f32>,
    unit_outside: Vec<f32>,
    /// All cells, `wide_lanes` each; those of one word are not used.
    wide_inside: Vec<f32>,
    wide_outside: Vec<f32>,
    exponents: Vec<i32>,
    /// The symbols of each cell that are the left child of some rule, and their inside values.
    left_ranges: Vec<(u32, u32)>,
    left_items: Vec<(u16, f32)>,
    /// A matrix over pairs of children, `unit_lanes` a row, and which of its rows are in use.
    matrix: Vec<f32>,
    row_in_use: Vec<bool>,
    rows_in_use: Vec<u16>,
    scratch: Vec<f32>,
    accumulator: Vec<f32>,
    mask: Mask,
}

impl CoarseChart {
    /// What survived the last [`run`](Self::run).
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Fill the chart for a sentence, given the emission probabilities of the classes of each
    /// word, and keep what has a posterior of at least `threshold`.
    ///
    /// Returns false if no tree of the coarse grammar spans the sentence.
    pub fn run(
        &mut self,
        grammar: &CoarseGrammar,
        words: &[Vec<(SymbolId, f64)>],
        threshold: f64,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        let chart = self;
        simd_dispatch!(
            CoarseChart::run_portable,
            (
                chart: &mut CoarseChart,
                grammar: &CoarseGrammar,
                words: &[Vec<(SymbolId, f64)>],
                threshold: f64,
                cancel: &Cancel,
            ) -> Result<bool, Cancelled>
        )
    }

    #[inline(always)]
    fn run_portable(
        &mut self,
        grammar: &CoarseGrammar,
        words: &[Vec<(SymbolId, f64)>],
        threshold: f64,
        cancel: &Cancel,
    ) -> Result<bool, Cancelled> {
        let cells = Cells::new(words.len());
        self.reset(grammar, cells);
        for (start, emissions) in words.iter().enumerate() {
            self.fill_word(grammar, cells, start, emissions);
        }
        for width in 2..=words.len() {
            cancel.check()?;
            for start in 0..=words.len() - width {
                self.fill_span(grammar, cells, start, start + width);
            }
        }
        if !self.start_outside(grammar, cells) {
            return Ok(false);
        }
        let threshold = threshold as f32;
        for width in (1..=words.len()).rev() {
            cancel.check()?;
            for start in 0..=words.len() - width {
                self.descend(grammar, cells, start, start + width, threshold);
            }
        }
        self.mask.note_parents(cells);
        Ok(true)
    }

    fn reset(&mut self, grammar: &CoarseGrammar, cells: Cells) {
        let units = cells.words() * grammar.unit_lanes;
        let wides = cells.count() * grammar.wide_lanes;
        for (vector, length) in [
            (&mut self.unit_inside, units),
            (&mut self.unit_outside, units),
            (&mut self.wide_inside, wides),
            (&mut self.wide_outside, wides),
            (&mut self.scratch, grammar.unit_lanes),
            (&mut self.accumulator, grammar.unit_lanes),
        ] {
            refill(vector, length, 0.0);
        }
        let lanes = grammar.unit_lanes;
        self.matrix.resize(lanes * lanes, 0.0);
        self.row_in_use.clear();
        self.row_in_use.resize(lanes, false);
        self.rows_in_use.clear();
        refill(&mut self.exponents, cells.count(), EMPTY);
        refill(&mut self.left_ranges, cells.count(), (0, 0));
        self.left_items.clear();
        self.mask.reset(cells.count(), grammar.class_of_lane.len());
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
        let mut reference = EMPTY;
        for split in start + 1..end {
            let sum = self.exponents[cells.index(start, split)]
                .saturating_add(self.exponents[cells.index(split, end)]);
            reference = reference.max(sum);
        }
        if reference <= EMPTY {
            return;
        }
        for split in start + 1..end {
            let (left, right) = (cells.index(start, split), cells.index(split, end));
            let factor =
                power_of_two(self.exponents[left] + self.exponents[right] - reference) as f32;
            if factor == 0.0 {
                continue;
            }
            let right = inside_of(&self.unit_inside, &self.wide_inside, grammar, split, end, right);
            let right = &right[..grammar.wide_lanes];
            let (from, to) = self.left_ranges[left];
            for &(lane, value) in &self.left_items[from as usize..to as usize] {
                let row = &mut self.matrix[lane as usize * grammar.unit_lanes..];
                let row = &mut row[..grammar.wide_lanes];
                if !self.row_in_use[lane as usize] {
                    self.row_in_use[lane as usize] = true;
                    self.rows_in_use.push(lane);
                    row.fill(0.0);
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
            for rule in &grammar.by_left[lane as usize] {
                wide[rule.parent as usize] += rule.probability * row[rule.right as usize];
            }
        }
        self.rows_in_use.clear();
        self.add_last_word(grammar, cells, start, end, reference, wide);
        grammar.close_inside(wide, &mut self.scratch);
        self.store(grammar, cells, start, end, &sums[..grammar.wide_lanes], reference);
        self.accumulator = sums;
    }

    /// Add what ends in a tag. Only the last split has one, and only few tags are possible there, so
    /// that rules are looked up instead of passing all of them through the matrix.
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

    /// Normalise the inside values of a cell and keep them.
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
        let kept = if end - start == 1 {
            &mut self.unit_inside[start * grammar.unit_lanes..][..grammar.unit_lanes]
        } else {
            &mut self.wide_inside[cell * grammar.wide_lanes..][..grammar.wide_lanes]
        };
        let from = self.left_items.len() as u32;
        for (lane, (kept, &value)) in kept.iter_mut().zip(values).enumerate() {
            let scaled = value * scale;
            if scaled > NEGLIGIBLE {
                *kept = scaled;
                if grammar.is_left[lane] {
                    self.left_items.push((lane as u16, scaled));
                }
            }
        }
        self.left_ranges[cell] = (from, self.left_items.len() as u32);
    }

    /// Set the outside values of the whole sentence; false if its probability is zero.
    fn start_outside(&mut self, grammar: &CoarseGrammar, cells: Cells) -> bool {
        let words = cells.words();
        let top = cells.index(0, words);
        let inside = inside_of(&self.unit_inside, &self.wide_inside, grammar, 0, words, top);
        let total: f32 =
            inside.iter().zip(&grammar.roots).map(|(inside, root)| inside * root).sum();
        if total <= 0.0 {
            return false;
        }
        let outside = if words == 1 {
            &mut self.unit_outside[..grammar.unit_lanes]
        } else {
            &mut self.wide_outside[top * grammar.wide_lanes..][..grammar.wide_lanes]
        };
        for (outside, root) in outside.iter_mut().zip(&grammar.roots) {
            *outside = root / total;
        }
        true
    }

    /// Finish the outside values of a cell, mark what survives and pass its share to its parts.
    #[inline(always)]
    fn descend(
        &mut self,
        grammar: &CoarseGrammar,
        cells: Cells,
        start: usize,
        end: usize,
        threshold: f32,
    ) {
        let cell = cells.index(start, end);
        if self.exponents[cell] == EMPTY {
            return;
        }
        let (inside, outside) = if end - start == 1 {
            let range = start * grammar.unit_lanes..(start + 1) * grammar.unit_lanes;
            (&self.unit_inside[range.clone()], &mut self.unit_outside[range])
        } else {
            let range = cell * grammar.wide_lanes..(cell + 1) * grammar.wide_lanes;
            (&self.wide_inside[range.clone()], &mut self.wide_outside[range])
        };
        grammar.close_outside(outside, &mut self.scratch);
        for (lane, (inside, outside)) in inside.iter().zip(outside.iter()).enumerate() {
            let posterior = inside * outside;
            // A posterior that is not a number is one that overflowed: keep the item.
            if *inside == 0.0 || posterior < threshold || posterior == 0.0 {
                continue;
            }
            self.mask.allow(cell, grammar.class_of_lane[lane]);
            if end - start > 1 {
                for rule in &grammar.by_parent[lane] {
                    let left = rule.left as usize;
                    let row = &mut self.matrix[left * grammar.unit_lanes..];
                    if !self.row_in_use[left] {
                        self.row_in_use[left] = true;
                        self.rows_in_use.push(rule.left);
                        row[..grammar.unit_lanes].fill(0.0);
                    }
                    row[rule.right as usize] += rule.probability * outside;
                }
            }
        }
        if self.rows_in_use.is_empty() {
            return;
        }
        for split in start + 1..end {
            self.descend_split(grammar, cells, start, split, end);
        }
        for &lane in &self.rows_in_use {
            self.row_in_use[lane as usize] = false;
        }
        self.rows_in_use.clear();
    }

    #[inline(always)]
    fn descend_split(
        &mut self,
        grammar: &CoarseGrammar,
        cells: Cells,
        start: usize,
        split: usize,
        end: usize,
    ) {
        let whole = cells.index(start, end);
        let (left, right) = (cells.index(start, split), cells.index(split, end));
        let (from, to) = self.left_ranges[left];
        if from == to || self.exponents[right] == EMPTY {
            return;
        }
        let shift = self.exponents[left] + self.exponents[right] - self.exponents[whole];
        // Beyond this the split cannot matter, or single precision could not hold it.
        let factor = power_of_two(shift.min(120)) as f32;
        if factor == 0.0 {
            return;
        }
        let right_inside =
            inside_of(&self.unit_inside, &self.wide_inside, grammar, split, end, right);
        for &(lane, value) in &self.left_items[from as usize..to as usize] {
            if !self.row_in_use[lane as usize] {
                continue;
            }
            let row = &self.matrix[lane as usize * grammar.unit_lanes..][..right_inside.len()];
            let share = factor * dot(row, right_inside);
            let right_outside = if end - split == 1 {
                &mut self.unit_outside[split * grammar.unit_lanes..][..grammar.unit_lanes]
            } else {
                &mut self.wide_outside[right * grammar.wide_lanes..][..grammar.wide_lanes]
            };
            add_scaled(right_outside, factor * value, row);
            if split - start == 1 {
                self.unit_outside[start * grammar.unit_lanes + lane as usize] += share;
            } else {
                self.wide_outside[left * grammar.wide_lanes + lane as usize] += share;
            }
        }
    }
}

#[inline(always)]
fn inside_of<'a>(
    unit: &'a [f32],
    wide: &'a [f32],
    grammar: &CoarseGrammar,
    start: usize,
    end: usize,
    cell: usize,
) -> &'a [f32] {
    if end - start == 1 {
        &unit[start * grammar.unit_lanes..][..grammar.unit_lanes]
    } else {
        &wide[cell * grammar.wide_lanes..][..grammar.wide_lanes]
    }
}
