//! A matrix over states for each pair of children that occurs in the current cell.

use crate::grammar::SymbolId;

/// The number of a pair that has no matrix.
const NONE: u32 = u32::MAX;

/// Matrices in the order in which pairs came up, in memory that is reused from cell to cell.
#[derive(Debug, Default)]
pub(super) struct PairMatrices {
    slot_of_pair: Vec<u32>,
    /// Pair, its symbols, and where its matrix starts.
    pub slots: Vec<(u32, SymbolId, SymbolId, usize)>,
    pub values: Vec<f32>,
}

impl PairMatrices {
    /// Make room for so many pairs.
    pub fn resize(&mut self, pairs: usize) {
        self.slot_of_pair.resize(pairs, NONE);
    }

    /// The place of a pair's matrix; the second value says whether it is new, and zero.
    #[inline(always)]
    pub fn place(
        &mut self,
        pair: u32,
        left: SymbolId,
        right: SymbolId,
        length: usize,
    ) -> (usize, bool) {
        let slot = &mut self.slot_of_pair[pair as usize];
        if *slot != NONE {
            return (self.slots[*slot as usize].3, false);
        }
        *slot = self.slots.len() as u32;
        let start = self.values.len();
        self.slots.push((pair, left, right, start));
        self.values.resize(start + length, 0.0);
        (start, true)
    }

    /// Forget the matrices of a cell.
    pub fn clear(&mut self) {
        for &(pair, ..) in &self.slots {
            self.slot_of_pair[pair as usize] = NONE;
        }
        self.slots.clear();
        self.values.clear();
    }
}
