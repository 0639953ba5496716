//! Which classes of symbols the coarse pass has left in each span, as bit sets.

use super::{Cells, refill};
use crate::grammar::SymbolId;

/// Which classes survive in which spans.
#[derive(Debug, Clone, Default)]
pub struct Mask {
    bits: Vec<u64>,
    right_parents: Vec<u64>,
    left_parents: Vec<u64>,
    words_per_cell: usize,
}

impl Mask {
    pub(super) fn reset(&mut self, cells: usize, classes: usize) {
        self.words_per_cell = classes.div_ceil(64);
        refill(&mut self.bits, cells * self.words_per_cell, 0);
    }

    pub(super) fn allow(&mut self, cell: usize, class: u32) {
        self.bits[cell * self.words_per_cell + class as usize / 64] |= 1 << (class % 64);
    }

    /// The bits of one cell.
    #[inline]
    pub fn cell(&self, cell: usize) -> &[u64] {
        &self.bits[cell * self.words_per_cell..][..self.words_per_cell]
    }

    /// For every span, collect the classes of the spans of which it could be the left or the right
    /// child.
    pub(super) fn collect_parents(&mut self, cells: Cells) {
        let count = self.words_per_cell;
        for (parents, bits) in
            [(&mut self.right_parents, &self.bits), (&mut self.left_parents, &self.bits)]
        {
            refill(parents, bits.len(), 0);
        }
        let is_empty = |bits: &[u64], cell: usize| bits[cell..cell + count].iter().all(|&b| b == 0);
        for (start, end) in cells.bottom_up() {
            let cell = cells.index(start, end) * count;
            if is_empty(&self.bits, cell) {
                continue;
            }
            for after in end + 1..=cells.words() {
                if !is_empty(&self.bits, cells.index(end, after) * count) {
                    let wider = cells.index(start, after) * count;
                    for word in 0..count {
                        self.right_parents[cell + word] |= self.bits[wider + word];
                    }
                }
            }
            for before in 0..start {
                if !is_empty(&self.bits, cells.index(before, start) * count) {
                    let wider = cells.index(before, end) * count;
                    for word in 0..count {
                        self.left_parents[cell + word] |= self.bits[wider + word];
                    }
                }
            }
        }
    }

    /// The classes of the spans of which a cell could be the left child, and of those of which it
    /// could be the right child.
    #[inline(always)]
    pub fn parents(&self, cell: usize) -> (&[u64], &[u64]) {
        let range = cell * self.words_per_cell..(cell + 1) * self.words_per_cell;
        (&self.right_parents[range.clone()], &self.left_parents[range])
    }

    /// Whether a class survives in a cell given by its bits.
    #[inline]
    pub fn allows(bits: &[u64], class: SymbolId) -> bool {
        bits[class.index() / 64] >> (class.0 % 64) & 1 == 1
    }
}
