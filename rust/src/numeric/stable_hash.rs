//! Hashes that are the same everywhere and always: weights are stored by them.

/// Mix a value into a hash: the finalizer of SplitMix64 (Steele, Lea & Flood 2014).
#[inline]
pub fn combine(state: u64, value: u64) -> u64 {
    let mut mixed = (state ^ value).wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The hash of some characters, which `kind` keeps apart from those of other kinds.
pub fn hash_text(kind: u64, characters: impl IntoIterator<Item = char>) -> u64 {
    characters
        .into_iter()
        .fold(combine(0, kind), |state, character| combine(state, u64::from(u32::from(character))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_never_change() {
        // Model files hold them.
        assert_eq!(combine(1, 2), 0x1D0B_14E4_DB01_8FED);
        assert_eq!(hash_text(3, "word".chars()), 0x4F70_6F9C_4C7B_255B);
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
}
