//! The outside half of the coarse pass, which marks the classes that survive.

use super::{CoarseChart, CoarseGrammar, Split};
use crate::chart::Cells;
use crate::numeric::scaling::{EMPTY, power_of_two};
use crate::numeric::vectors::{add_scaled, dot};

impl CoarseChart {
    /// Set the outside values of the whole sentence; false if its probability is zero.
    pub(super) fn start_outside(&mut self, grammar: &CoarseGrammar, cells: Cells) -> bool {
        let words = cells.words();
        let top = cells.index(0, words);
        if self.exponents[top] == EMPTY {
            return false;
        }
        let (inside, outside) = if words == 1 {
            (&self.unit_inside[..], &mut self.unit_outside[..])
        } else {
            let range = self.wide_range(grammar, top);
            (&self.wide_inside[range.clone()], &mut self.wide_outside[range])
        };
        let total: f32 =
            inside.iter().zip(&grammar.roots).map(|(inside, root)| inside * root).sum();
        if total <= 0.0 {
            return false;
        }
        for (outside, root) in outside.iter_mut().zip(&grammar.roots) {
            *outside = root / total;
        }
        true
    }

    /// Finish the outside values of a cell, mark the classes that survive, and add their
    /// contributions to the outside values of their children.
    #[inline(always)]
    pub(super) fn propagate_outside(
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
        if end - start > 1 {
            self.find_left_children(cells, start, end);
        }
        let (inside, outside) = if end - start == 1 {
            let range = start * grammar.unit_lanes..(start + 1) * grammar.unit_lanes;
            (&self.unit_inside[range.clone()], &mut self.unit_outside[range])
        } else {
            let range = self.wide_range(grammar, cell);
            (&self.wide_inside[range.clone()], &mut self.wide_outside[range])
        };
        grammar.close_outside(outside, &mut self.scratch);
        let mut survives = false;
        for (lane, (inside, outside)) in inside.iter().zip(outside.iter()).enumerate() {
            let posterior = inside * outside;
            // A posterior that overflowed is not a number and fails both comparisons: it is kept.
            if *inside == 0.0 || posterior < threshold || posterior == 0.0 {
                continue;
            }
            survives = true;
            self.mask.allow(cell, grammar.class_of_lane[lane]);
            if end - start > 1 {
                let (groups, mut end) = grammar.parent_rules(lane);
                for rules in groups {
                    let start = std::mem::replace(&mut end, rules.end());
                    let left = rules.left as usize;
                    if !self.is_left_child[left] {
                        continue;
                    }
                    let row = &mut self.matrix[left * grammar.unit_lanes..];
                    if !self.row_in_use[left] {
                        self.row_in_use[left] = true;
                        self.rows_in_use.push(rules.left);
                        row[..grammar.unit_lanes].fill(0.0);
                    }
                    for &(right, probability) in rules.rights(grammar, start) {
                        row[right as usize] += probability * outside;
                    }
                }
            }
        }
        if survives {
            self.mask.insert(start, end);
        }
        for lane in self.left_children.drain(..) {
            self.is_left_child[lane as usize] = false;
        }
        if self.rows_in_use.is_empty() {
            return;
        }
        for index in 0..self.splits.len() {
            self.propagate_split(grammar, cell, self.splits[index], start, end);
        }
        for &lane in &self.rows_in_use {
            self.row_in_use[lane as usize] = false;
        }
        self.rows_in_use.clear();
    }

    /// Find the split points of a span, and mark the lanes that are the left child at any of them.
    #[inline(always)]
    fn find_left_children(&mut self, cells: Cells, start: usize, end: usize) {
        self.find_splits(cells, start, end);
        for split in &self.splits {
            let (from, to) = self.left_ranges[split.left];
            for &(lane, _) in &self.left_items[from as usize..to as usize] {
                if !self.is_left_child[lane as usize] {
                    self.is_left_child[lane as usize] = true;
                    self.left_children.push(lane);
                }
            }
        }
    }

    #[inline(always)]
    fn propagate_split(
        &mut self,
        grammar: &CoarseGrammar,
        whole: usize,
        split: Split,
        start: usize,
        end: usize,
    ) {
        let (from, to) = self.left_ranges[split.left];
        let shift = split.exponent - self.exponents[whole];
        // Larger powers of two would overflow single precision.
        let factor = power_of_two(shift.min(120)) as f32;
        if factor == 0.0 || from == to {
            return;
        }
        let mut left_sums = std::mem::take(&mut self.left_sums);
        left_sums.clear();
        let is_word = end - split.position == 1;
        let wide_range = if is_word { 0..0 } else { self.wide_range(grammar, split.right) };
        for &(lane, value) in &self.left_items[from as usize..to as usize] {
            if !self.row_in_use[lane as usize] {
                continue;
            }
            let row = &self.matrix[lane as usize * grammar.unit_lanes..][..grammar.unit_lanes];
            let sum = if is_word {
                // Words have few classes.
                let outside = &mut self.unit_outside[split.position * grammar.unit_lanes..];
                let (first, last) = self.word_ranges[split.position];
                let mut sum = 0.0;
                for &(right, inside) in &self.word_items[first as usize..last as usize] {
                    sum += row[right as usize] * inside;
                    outside[right as usize] += factor * value * row[right as usize];
                }
                sum
            } else {
                let row = &row[..grammar.wide_lanes];
                add_scaled(&mut self.wide_outside[wide_range.clone()], factor * value, row);
                dot(row, &self.wide_inside[wide_range.clone()])
            };
            left_sums.push((lane, factor * sum));
        }
        let left_outside = if split.position - start == 1 {
            &mut self.unit_outside[start * grammar.unit_lanes..]
        } else {
            let range = self.wide_range(grammar, split.left);
            &mut self.wide_outside[range]
        };
        for &(lane, sum) in &left_sums {
            left_outside[lane as usize] += sum;
        }
        self.left_sums = left_sums;
    }
}
