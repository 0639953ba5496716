//! Which classes of symbols the coarse pass has left in each span, as bit sets.

use super::span_set::SpanSet;
use super::{Cells, refill};
use crate::grammar::SymbolId;

/// Which classes survive in which spans.
#[derive(Debug, Clone, Default)]
pub struct Mask {
    bits: Vec<u64>,
    right_parents: Vec<u64>,
    left_parents: Vec<u64>,
    words_per_cell: usize,
    /// The spans in which any class survives.
    spans: SpanSet,
}

impl Mask {
    pub(super) fn reset(&mut self, cells: Cells, classes: usize) {
        self.words_per_cell = classes.div_ceil(64);
        refill(&mut self.bits, cells.count() * self.words_per_cell, 0);
        self.spans.reset(cells.words());
    }

    /// Note that some class survives in a span.
    pub(super) fn insert(&mut self, start: usize, end: usize) {
        self.spans.insert(start, end);
    }

    /// Whether any class survives in a span.
    #[inline]
    pub fn contains(&self, start: usize, end: usize) -> bool {
        self.spans.contains(start, end)
    }

    pub(super) fn allow(&mut self, cell: usize, class: u32) {
        self.bits[cell * self.words_per_cell + class as usize / 64] |= 1 << (class % 64);
    }

    /// Let classes survive in spans that the coarse pass has closed to them: the nodes of a gold tree.
    pub fn open(&mut self, cells: Cells, items: impl Iterator<Item = (usize, SymbolId)>) {
        for (cell, class) in items {
            self.allow(cell, class.0);
        }
        for (start, end) in cells.bottom_up() {
            if self.cell(cells.index(start, end)).iter().any(|&bits| bits != 0) {
                self.insert(start, end);
            }
        }
        self.collect_parents(cells);
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
        let Self { bits, right_parents, left_parents, spans, .. } = self;
        for (start, end) in cells.bottom_up() {
            if !spans.contains(start, end) {
                continue;
            }
            let cell = cells.index(start, end) * count;
            let add = |parents: &mut [u64], wider: usize| {
                for word in 0..count {
                    parents[cell + word] |= bits[wider * count + word];
                }
            };
            for after in spans.completions_to_the_right(start, end, cells.words()) {
                add(right_parents, cells.index(start, after));
            }
            for before in spans.completions_to_the_left(start, end) {
                add(left_parents, cells.index(before, end));
            }
        }
    }

    /// Collect the classes of the spans of which a span, itself in the set or not, could be the left
    /// child, and of those of which it could be the right child.
    pub(super) fn possible_parents(
        &self,
        cells: Cells,
        (start, end): (usize, usize),
        [right, left]: &mut [Vec<u64>; 2],
    ) {
        refill(right, self.words_per_cell, 0);
        refill(left, self.words_per_cell, 0);
        let add = |parents: &mut [u64], wider: usize| {
            parents.iter_mut().zip(self.cell(wider)).for_each(|(set, own)| *set |= own);
        };
        for after in self.spans.completions_to_the_right(start, end, cells.words()) {
            add(right, cells.index(start, after));
        }
        for before in self.spans.completions_to_the_left(start, end) {
            add(left, cells.index(before, end));
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
