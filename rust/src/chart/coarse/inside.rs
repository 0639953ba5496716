//! The inside half of the coarse pass.

use super::{CoarseChart, CoarseGrammar};
use crate::chart::Cells;
use crate::grammar::SymbolId;
use crate::numeric::scaling::{exponent, power_of_two};
use crate::numeric::vectors::add_scaled;

/// Inside values below this fraction of the largest of their cell are dropped. This keeps subnormal
/// numbers out of the loops, and outside values within single precision.
const NEGLIGIBLE: f32 = 1e-30;

/// The exponent of a power of two in single precision, with room to the largest one.
const MAX_SHIFT: i32 = 120;

impl CoarseChart {
    pub(super) fn fill_word(
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
    pub(super) fn fill_span(
        &mut self,
        grammar: &CoarseGrammar,
        cells: Cells,
        start: usize,
        end: usize,
    ) {
        let reference = self.find_splits(cells, start, end);
        if self.splits.is_empty() {
            return;
        }
        let mut sums = std::mem::take(&mut self.accumulator);
        let wide = &mut sums[..grammar.wide_lanes];
        wide.fill(0.0);
        for split in &self.splits {
            let factor = power_of_two(split.exponent - reference) as f32;
            let set = &self.sets[split.right * self.set_words..][..self.set_words];
            if factor == 0.0 || set.iter().all(|&word| word == 0) {
                continue;
            }
            let right = if end - split.position == 1 {
                &self.unit_inside[split.position * grammar.unit_lanes..]
            } else {
                &self.wide_inside[self.wide_range(grammar, split.right)]
            };
            let right = &right[..grammar.wide_lanes];
            let (from, to) = self.left_ranges[split.left];
            for &(lane, value) in &self.left_items[from as usize..to as usize] {
                let (lane, value) = (lane as usize, factor * value);
                if lane >= grammar.wide_lanes {
                    add_first_word(grammar, lane, value, right, set, wide);
                    continue;
                }
                let row = &mut self.block[lane * grammar.wide_lanes..][..grammar.wide_lanes];
                if !self.row_in_use[lane] {
                    self.row_in_use[lane] = true;
                    self.rows_in_use.push(lane as u16);
                }
                add_scaled(row, value, right);
            }
        }
        if !self.rows_in_use.is_empty() {
            for (parent, sum) in wide.iter_mut().enumerate() {
                *sum += sparse_dot(grammar.phrase_rules(parent), &self.block);
            }
        }
        for &lane in &self.rows_in_use {
            self.row_in_use[lane as usize] = false;
            self.block[lane as usize * grammar.wide_lanes..][..grammar.wide_lanes].fill(0.0);
        }
        self.rows_in_use.clear();
        self.add_last_word(grammar, cells, start, end, reference, wide);
        grammar.close_inside(wide, &mut self.scratch);
        self.store(grammar, cells, start, end, &sums[..grammar.wide_lanes], reference);
        self.accumulator = sums;
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
        let (from, to) = self.left_ranges[left];
        for &(tag, tag_value) in self.word_items(end - 1) {
            let Some(tag) = (tag as usize).checked_sub(grammar.wide_lanes) else { continue };
            for &(lane, value) in &self.left_items[from as usize..to as usize] {
                for rule in grammar.last_word_rules(lane as usize, tag) {
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
        // Sums below the normal numbers need a power of two that single precision does not have.
        let first = (-shift).min(MAX_SHIFT);
        let (scale, rest) = (power_of_two(first) as f32, power_of_two(-shift - first) as f32);
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
        let first = self.word_items.len() as u32;
        let set = &mut self.sets[cell * self.set_words..][..self.set_words];
        for (lane, (kept, &value)) in kept.iter_mut().zip(values).enumerate() {
            let scaled = value * scale * rest;
            if scaled > NEGLIGIBLE {
                *kept = scaled;
                if lane < grammar.wide_lanes {
                    set[lane / 64] |= 1 << (lane % 64);
                }
                if grammar.is_left[lane] {
                    self.left_items.push((lane as u16, scaled));
                }
                if end - start == 1 {
                    self.word_items.push((lane as u16, scaled));
                }
            }
        }
        self.left_ranges[cell] = (from, self.left_items.len() as u32);
        if end - start == 1 {
            self.word_ranges[start] = (first, self.word_items.len() as u32);
        }
    }
}

/// Add the rules whose left child is a tag. Only the first split point of a span has such children,
/// and there are few of them, so their rules are looked up.
#[inline(always)]
fn add_first_word(
    grammar: &CoarseGrammar,
    tag: usize,
    value: f32,
    right: &[f32],
    set: &[u64],
    sums: &mut [f32],
) {
    for (index, &word) in set.iter().enumerate() {
        let mut bits = word;
        while bits != 0 {
            let lane = index * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            for rule in grammar.tag_rules(tag, lane) {
                sums[rule.parent as usize] += rule.probability * value * right[lane];
            }
        }
    }
}

/// The scalar product of a sparse vector, given by its places and values, and a dense one. Several
/// sums are independent of each other, so that the processor can overlap them.
#[inline(always)]
fn sparse_dot(sparse: &[(u32, f32)], dense: &[f32]) -> f32 {
    let (chunks, rest) = sparse.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for chunk in chunks {
        for (sum, &(place, value)) in sums.iter_mut().zip(chunk) {
            *sum += value * dense[place as usize];
        }
    }
    let rest: f32 = rest.iter().map(|&(place, value)| value * dense[place as usize]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_products_agree_with_dense_ones() {
        let dense: Vec<f32> = (0..50).map(|place| (place as f32 * 0.7).sin()).collect();
        for length in 0..12 {
            let sparse: Vec<(u32, f32)> =
                (0..length).map(|n| ((n * 13) % 50, 0.1 + n as f32)).collect();
            let expected: f64 = sparse
                .iter()
                .map(|&(place, value)| f64::from(value) * f64::from(dense[place as usize]))
                .sum();
            assert!((f64::from(sparse_dot(&sparse, &dense)) - expected).abs() < 1e-4);
        }
    }
}
