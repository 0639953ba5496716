//! Hashes that are the same on every machine and in every version: models store weights by them.

/// Mix a value into a hash: the finalizer of SplitMix64 (Steele, Lea & Flood 2014).
#[inline]
pub const fn combine(state: u64, value: u64) -> u64 {
    let mut mixed = (state ^ value).wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The hash of some characters. Different values of `kind` give different hashes.
pub fn hash_text(kind: u64, characters: impl IntoIterator<Item = char>) -> u64 {
    characters
        .into_iter()
        .fold(combine(0, kind), |state, character| combine(state, u64::from(u32::from(character))))
}

/// A hash of each row of columns of equal length, from 0 to 2^63 - 1; -1 for a row with a negative
/// value.
///
/// ```
/// use lpcfg_core::numeric::stable_hash::hash_rows;
/// let hashes = hash_rows(&[&[1, 1, 2, 1], &[5, 5, 5, -1]]);
/// assert_eq!(hashes[0], hashes[1]);
/// assert_ne!(hashes[0], hashes[2]);
/// assert_eq!(hashes[3], -1);
/// ```
pub fn hash_rows(columns: &[&[i64]]) -> Vec<i64> {
    /// The first digits of pi, so that a row of zeros does not start from zero.
    const START: u64 = 0x243F_6A88_85A3_08D3;
    let rows = columns.first().map_or(0, |column| column.len());
    let hash = |row: usize| {
        let mut state = START;
        for column in columns {
            let value = column[row];
            if value < 0 {
                return -1;
            }
            state = combine(state, value as u64);
        }
        (state >> 1) as i64
    };
    (0..rows).map(hash).collect()
}

/// A hash that is computed value by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(u64);

impl Key {
    /// The hash of the number of a kind of features.
    pub const fn kind(kind: u64) -> Self {
        Self(combine(0, kind))
    }

    /// The hash of a string.
    pub fn text(text: &str) -> Self {
        Self(hash_text(0, text.chars()))
    }

    /// The hash of this hash and a value.
    pub const fn with(self, value: u64) -> Self {
        // Rotated, so that the hash of two hashes depends on their order.
        Self(combine(self.0.rotate_left(23), value))
    }

    /// The hash of this hash and another one.
    pub const fn and(self, other: Self) -> Self {
        self.with(other.0)
    }

    /// The number of the feature in a model.
    pub const fn feature(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn hashes_never_change() {
        // Model files hold them.
        assert_eq!(combine(1, 2), 0x1D0B_14E4_DB01_8FED);
        assert_eq!(hash_text(3, "word".chars()), 0x4F70_6F9C_4C7B_255B);
    }

    #[test]
    fn hashes_of_rows_never_change() {
        // Features of nodes are sorted by them.
        let hashes = hash_rows(&[&[0, 3, i64::MAX], &[0, 4, -1]]);
        assert_eq!(hashes, [5_320_122_090_117_835_074, 4_180_758_977_672_047_807, -1]);
        assert!(hash_rows(&[]).is_empty());
    }

    #[test]
    fn kinds_and_orders_differ() {
        let texts = ["ab", "ba", "a", ""];
        let mut hashes: Vec<u64> =
            (0..3).flat_map(|kind| texts.map(|text| hash_text(kind, text.chars()))).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 12);
    }

    #[test]
    fn features_never_change() {
        // Model files hold them.
        assert_eq!(Key::kind(1).feature(), 2433363436);
        assert_eq!(Key::text("NP").feature(), 2378143366);
        assert_eq!(Key::text("NP").and(Key::kind(1)).feature(), 1634375008);
    }

    #[test]
    fn few_features_collide() {
        let all: HashSet<u32> = (0..300u64)
            .flat_map(|a| (0..300u64).map(move |b| Key::kind(1).with(a).with(b).feature()))
            .collect();
        // Of n random numbers below 2^32, n^2 / 2^33 are expected to collide: here one.
        assert!(all.len() > 300 * 300 - 10, "{} of 90000", all.len());
    }

    #[test]
    fn order_matters() {
        let (a, b) = (Key::text("NP"), Key::text("VP"));
        assert_ne!(a.and(b), b.and(a));
        assert_ne!(a.and(a), b.and(b));
    }
}
