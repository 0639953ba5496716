//! A matrix over the latent states of both children for each pair of symbols in the current cell.

use crate::grammar::SymbolId;

/// The slot of a pair that has no matrix.
const NONE: u32 = u32::MAX;

/// Matrices in the order in which their pairs were first used, in memory that is reused from cell
/// to cell.
#[derive(Debug, Default)]
pub(super) struct PairMatrices {
    slot_of_pair: Vec<u32>,
    /// Pair, its symbols, and where its matrix starts.
    pub slots: Vec<(u32, SymbolId, SymbolId, usize)>,
    pub values: Vec<f32>,
}

impl PairMatrices {
    /// Allocate for this number of pairs.
    pub fn resize(&mut self, pairs: usize) {
        self.slot_of_pair.resize(pairs, NONE);
    }

    /// Where the matrix of a pair starts, and whether it is new, and therefore zero.
    #[inline(always)]
    pub fn offset(
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
        let offset = self.values.len();
        self.slots.push((pair, left, right, offset));
        self.values.resize(offset + length, 0.0);
        (offset, true)
    }

    /// Remove the matrices of a cell.
    pub fn clear(&mut self) {
        for &(pair, ..) in &self.slots {
            self.slot_of_pair[pair as usize] = NONE;
        }
        self.slots.clear();
        self.values.clear();
    }
}
