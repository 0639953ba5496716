//! The outside half of the coarse pass, which marks the classes that survive.

use super::{CoarseChart, CoarseGrammar, inside_of};
use crate::chart::Cells;
use crate::numeric::scaling::{EMPTY, power_of_two};
use crate::numeric::vectors::{add_scaled, dot};

impl CoarseChart {
    /// Set the outside values of the whole sentence; false if its probability is zero.
    pub(super) fn start_outside(&mut self, grammar: &CoarseGrammar, cells: Cells) -> bool {
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
            // A posterior that overflowed is not a number and fails both comparisons: it is kept.
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
            self.propagate_split(grammar, cells, start, split, end);
        }
        for &lane in &self.rows_in_use {
            self.row_in_use[lane as usize] = false;
        }
        self.rows_in_use.clear();
    }

    #[inline(always)]
    fn propagate_split(
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
        // Larger powers of two would overflow single precision.
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
            let left_outside = factor * dot(row, right_inside);
            let right_outside = if end - split == 1 {
                &mut self.unit_outside[split * grammar.unit_lanes..][..grammar.unit_lanes]
            } else {
                &mut self.wide_outside[right * grammar.wide_lanes..][..grammar.wide_lanes]
            };
            add_scaled(right_outside, factor * value, row);
            if split - start == 1 {
                self.unit_outside[start * grammar.unit_lanes + lane as usize] += left_outside;
            } else {
                self.wide_outside[left * grammar.wide_lanes + lane as usize] += left_outside;
            }
        }
    }
}
