//! The inner loops of dense passes: vector addition and scalar products.

use std::ops::{AddAssign, Mul};

/// The number of elements of a SIMD vector.
pub(crate) const LANES: usize = 8;

/// `sums += factor * values`.
#[inline(always)]
pub(crate) fn add_scaled(sums: &mut [f32], factor: f32, values: &[f32]) {
    let (sums, last_sums) = sums.as_chunks_mut::<LANES>();
    let (values, last_values) = values.as_chunks::<LANES>();
    add_scaled_lanes(sums, factor, values);
    for (sum, &value) in last_sums.iter_mut().zip(last_values) {
        *sum += factor * value;
    }
}

/// `sums += factor * values` on whole vectors of any floating-point type.
#[inline(always)]
pub(crate) fn add_scaled_lanes<T, const LANES: usize>(
    sums: &mut [[T; LANES]],
    factor: T,
    values: &[[T; LANES]],
) where
    T: Copy + AddAssign + Mul<Output = T>,
{
    for (sum, value) in sums.iter_mut().zip(values) {
        // With copies, the compiler knows that nothing overlaps and uses vector instructions.
        let (mut lanes, value) = (*sum, *value);
        for (lane, value) in lanes.iter_mut().zip(value) {
            *lane += factor * value;
        }
        *sum = lanes;
    }
}

/// The scalar product of two vectors.
#[inline(always)]
pub(crate) fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (left, last_left) = left.as_chunks::<LANES>();
    let (right, last_right) = right.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (left, right) in left.iter().zip(right) {
        for ((sum, left), right) in sums.iter_mut().zip(*left).zip(*right) {
            *sum += left * right;
        }
    }
    let rest: f32 = last_left.iter().zip(last_right).map(|(left, right)| left * right).sum();
    sum(sums) + rest
}

/// The sum of a vector's elements, halves first, so that the additions can overlap.
#[inline(always)]
pub(crate) fn sum([a, b, c, d, e, f, g, h]: [f32; LANES]) -> f32 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agree_with_plain_loops(
            pairs in proptest::collection::vec((-1.0f32..1.0, -1.0f32..1.0), 0..40),
            factor in -1.0f32..1.0,
        ) {
            let (left, right): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let expected: f32 = left.iter().zip(&right).map(|(a, b)| a * b).sum();
            prop_assert!((dot(&left, &right) - expected).abs() < 1e-4);
            let mut sums = left.clone();
            add_scaled(&mut sums, factor, &right);
            for ((sum, a), b) in sums.iter().zip(&left).zip(&right) {
                prop_assert!((sum - (a + factor * b)).abs() < 1e-6);
            }
        }
    }
}
