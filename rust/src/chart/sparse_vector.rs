//! Sparse accumulators for sums over symbols, or over pairs of symbols.

/// A vector over symbols or pairs in which few elements are non-zero.
#[derive(Debug, Default)]
pub(super) struct SparseVector {
    values: Vec<f64>,
    pub(super) in_use: Vec<u32>,
}

impl SparseVector {
    /// Allocate for this number of elements.
    pub(super) fn resize(&mut self, length: usize) {
        self.values.resize(length, 0.0);
    }

    /// Add a positive amount.
    #[inline]
    pub(super) fn add(&mut self, index: u32, amount: f64) {
        let value = &mut self.values[index as usize];
        if *value == 0.0 {
            self.in_use.push(index);
        }
        *value += amount;
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> f64 {
        self.values[index as usize]
    }

    pub(super) fn clear(&mut self) {
        for &index in &self.in_use {
            self.values[index as usize] = 0.0;
        }
        self.in_use.clear();
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.in_use.iter().map(|&index| (index, self.values[index as usize]))
    }
}
