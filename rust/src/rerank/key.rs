//! Hashes that stay the same on every machine, because models store them.

/// A hash that grows part by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(u64);

/// An odd number with well-mixed bits: 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl Key {
    /// The hash of a number that tells kinds of features apart.
    pub const fn kind(kind: u64) -> Self {
        Self(MULTIPLIER).with(kind)
    }

    /// The hash of a string.
    pub fn text(text: &str) -> Self {
        text.bytes().fold(Self::kind(0), |key, byte| key.with(u64::from(byte)))
    }

    /// The hash of what was hashed so far and one part more.
    pub const fn with(self, part: u64) -> Self {
        // A multiplication moves bits up, the shift brings them down again.
        let mixed = (self.0.rotate_left(23) ^ part).wrapping_mul(MULTIPLIER);
        Self(mixed ^ (mixed >> 32))
    }

    /// The hash of what was hashed so far and another hash.
    pub const fn and(self, other: Self) -> Self {
        self.with(other.0)
    }

    /// The number by which a model knows the feature.
    pub const fn feature(self) -> u32 {
        (self.0 ^ (self.0 >> 29)).wrapping_mul(MULTIPLIER).wrapping_shr(32) as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn features_stay_what_they_are() {
        // Models on disk depend on these numbers.
        assert_eq!(Key::kind(1).feature(), 726404690);
        assert_eq!(Key::text("NP").feature(), 870124660);
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
        assert_ne!(Key::kind(1).and(a).and(b), Key::kind(1).and(b).and(a));
    }
}
