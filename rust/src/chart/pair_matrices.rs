//! A matrix over the latent states of both children for each pair of symbols in the current cell.

use crate::grammar::SymbolId;

/// The slot of a pair that was not used yet.
const NONE: u32 = u32::MAX;

/// The slot of a pair that is used without a matrix, since no rule makes a parent of it.
const DEAD: u32 = u32::MAX - 1;

/// Matrices in the order in which their pairs were first used, in memory that is reused from cell
/// to cell.
#[derive(Debug, Default)]
pub(super) struct PairMatrices {
    slot_of_pair: Vec<u32>,
    /// Pair, its symbols, and where its matrix starts.
    pub slots: Vec<(u32, SymbolId, SymbolId, usize)>,
    pub values: Vec<f32>,
    /// The pairs that are used without a matrix.
    dead: Vec<u32>,
}

impl PairMatrices {
    /// Allocate for this number of pairs.
    pub fn resize(&mut self, pairs: usize) {
        self.slot_of_pair.resize(pairs, NONE);
    }

    /// Where the matrix of a pair starts, and whether it is new, and therefore zero; none if
    /// `has_parent`, which is asked on first use, says that the pair has no parent in this cell.
    #[inline(always)]
    pub fn offset(
        &mut self,
        pair: u32,
        left: SymbolId,
        right: SymbolId,
        length: usize,
        has_parent: impl FnOnce() -> bool,
    ) -> Option<(usize, bool)> {
        let slot = &mut self.slot_of_pair[pair as usize];
        match *slot {
            DEAD => return None,
            NONE if !has_parent() => {
                *slot = DEAD;
                self.dead.push(pair);
                return None;
            }
            NONE => {}
            slot => return Some((self.slots[slot as usize].3, false)),
        }
        *slot = self.slots.len() as u32;
        let offset = self.values.len();
        self.slots.push((pair, left, right, offset));
        self.values.resize(offset + length, 0.0);
        Some((offset, true))
    }

    /// Remove the matrices of a cell.
    pub fn clear(&mut self) {
        for &(pair, ..) in &self.slots {
            self.slot_of_pair[pair as usize] = NONE;
        }
        for &pair in &self.dead {
            self.slot_of_pair[pair as usize] = NONE;
        }
        self.dead.clear();
        self.slots.clear();
        self.values.clear();
    }
}
