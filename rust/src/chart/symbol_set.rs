//! A set of symbols that is emptied in constant time.

use crate::grammar::SymbolId;

/// Each symbol has the number of the last set that it was in.
#[derive(Debug, Default)]
pub(super) struct SymbolSet {
    numbers: Vec<u32>,
    /// The number of the present set; a set must be cleared before its first use.
    current: u32,
}

impl SymbolSet {
    /// Allocate for this number of symbols.
    pub(super) fn resize(&mut self, symbols: usize) {
        self.numbers.resize(symbols, 0);
    }

    /// Begin another set.
    pub(super) fn clear(&mut self) {
        if self.current == u32::MAX {
            self.numbers.fill(0);
            self.current = 0;
        }
        self.current += 1;
    }

    #[inline]
    pub(super) fn insert(&mut self, symbol: SymbolId) {
        self.numbers[symbol.index()] = self.current;
    }

    #[inline]
    pub(super) fn contains(&self, symbol: SymbolId) -> bool {
        self.numbers[symbol.index()] == self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_that_is_cleared_is_empty() {
        // The next number but one would not fit.
        let mut set = SymbolSet { numbers: vec![7; 2], current: u32::MAX - 1 };
        for _ in 0..3 {
            set.clear();
            assert!(!set.contains(SymbolId(0)) && !set.contains(SymbolId(1)));
            set.insert(SymbolId(1));
            assert!(!set.contains(SymbolId(0)) && set.contains(SymbolId(1)));
        }
    }
}
