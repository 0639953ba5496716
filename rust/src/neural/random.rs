//! Random numbers for dropout and for the first weights.

use crate::numeric::stable_hash::combine;

/// A stream of random numbers: SplitMix64 over a counter.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
    counter: u64,
}

impl Random {
    /// The stream of some numbers, for instance a seed, an epoch and a sentence.
    pub fn new(numbers: &[u64]) -> Self {
        let state = numbers.iter().fold(0, |state: u64, &number| {
            // Rotated, so that the stream depends on the order of the numbers.
            combine(state.rotate_left(23), number)
        });
        Self { state, counter: 0 }
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.counter += 1;
        combine(self.state, self.counter.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// A number from 0 up to but not including 1.
    #[inline]
    pub fn uniform(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// A number from 0 up to but not including `count`, which must not be 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// A dropout mask: zero with this probability, in 256ths, otherwise the inverse of that of the
    /// others.
    #[inline(always)]
    pub fn mask(&mut self, values: &mut [f32], dropout: f32) {
        let (limit, kept) = (dropped_bytes(dropout), kept_scale(dropout));
        let chosen = |byte: u8| if byte < limit { 0.0 } else { kept };
        let (eights, others) = values.as_chunks_mut::<8>();
        for eight in eights {
            *eight = self.bits().to_le_bytes().map(chosen);
        }
        for (value, byte) in others.iter_mut().zip(self.bits().to_le_bytes()) {
            *value = chosen(byte);
        }
    }
}

/// How many of all bytes stand for zero in a mask.
#[inline(always)]
fn dropped_bytes(dropout: f32) -> u8 {
    (dropout * 256.0).round().min(255.0) as u8
}

/// What a dropout mask has where it is not zero.
#[inline(always)]
pub fn kept_scale(dropout: f32) -> f32 {
    256.0 / (256.0 - f32::from(dropped_bytes(dropout)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_keep_the_mean() {
        let mut mask = vec![0.0; 100_000];
        Random::new(&[1, 2]).mask(&mut mask, 0.3);
        let zeros = mask.iter().filter(|&&value| value == 0.0).count();
        assert!((29_000..31_000).contains(&zeros), "{zeros}");
        let mean = mask.iter().sum::<f32>() / mask.len() as f32;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        // Never everything.
        let mut mask = vec![0.0; 100_001];
        Random::new(&[1, 3]).mask(&mut mask, 0.9999);
        assert_eq!(mask.iter().copied().fold(0.0, f32::max), 256.0);
    }

    #[test]
    fn streams_depend_on_the_order_of_their_numbers() {
        assert_ne!(Random::new(&[1, 2]).bits(), Random::new(&[2, 1]).bits());
        assert_eq!(Random::new(&[1, 2]).bits(), Random::new(&[1, 2]).bits());
        let mut random = Random::new(&[3]);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.uniform())));
    }
}
