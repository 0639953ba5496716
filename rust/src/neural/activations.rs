//! Logistic functions of many numbers at once, by a polynomial that the compiler vectorises.

use crate::numeric::simd_dispatch::simd_dispatch;

/// The exponential of a number, with a relative error below 1e-6 from -87 to 87. Smaller numbers
/// give about 1e-38 and larger ones about 1e38, so that no result is zero, infinite or not a number.
#[inline(always)]
fn exponential(value: f32) -> f32 {
    let value = value.clamp(-87.0, 87.0);
    // 2^n with n the nearest integer, times a polynomial of the rest.
    let shifted = value * std::f32::consts::LOG2_E + 12_582_912.0;
    let whole = shifted - 12_582_912.0;
    let rest = value - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let mut sum = 1.987_569_1e-4;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_5e-2, 1.666_666_5e-1, 0.5] {
        sum = sum * rest + coefficient;
    }
    let power = f32::from_bits(((whole as i32 + 127) as u32) << 23);
    (sum * rest * rest + rest + 1.0) * power
}

#[inline(always)]
fn sigmoid(value: f32) -> f32 {
    1.0 / (1.0 + exponential(-value))
}

#[inline(always)]
fn tanh(value: f32) -> f32 {
    1.0 - 2.0 / (exponential(2.0 * value) + 1.0)
}

/// Replace numbers by their sigmoids.
pub fn sigmoids(values: &mut [f32]) {
    #[inline(always)]
    fn run(values: &mut [f32]) {
        for value in values {
            *value = sigmoid(*value);
        }
    }
    simd_dispatch!(run, (values: &mut [f32]))
}

/// Replace numbers by their hyperbolic tangents.
pub fn tangents(values: &mut [f32]) {
    #[inline(always)]
    fn run(values: &mut [f32]) {
        for value in values {
            *value = tanh(*value);
        }
    }
    simd_dispatch!(run, (values: &mut [f32]))
}

/// Replace scores by probabilities in proportion to their exponentials; returns the logarithm of
/// the sum of the exponentials. Scores of minus infinity get probabilities of zero.
pub fn soft_max(scores: &mut [f32]) -> f32 {
    #[inline(always)]
    fn run(scores: &mut [f32]) -> f32 {
        let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for score in scores.iter_mut() {
            let value = exponential(*score - highest);
            *score = if *score == f32::NEG_INFINITY { 0.0 } else { value };
        }
        let sum: f32 = scores.iter().sum();
        for score in scores.iter_mut() {
            *score /= sum;
        }
        highest + sum.ln()
    }
    simd_dispatch!(run, (scores: &mut [f32]) -> f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_close_to_those_of_the_standard_library() {
        for step in -2000..=2000 {
            let value = step as f32 / 50.0;
            let exact = f64::from(value).exp();
            assert!((f64::from(exponential(value)) - exact).abs() < 1e-6 * exact, "{value}");
            assert!((tanh(value) - value.tanh()).abs() < 1e-6, "{value}");
            let exact = 1.0 / (1.0 + (-f64::from(value)).exp());
            assert!((f64::from(sigmoid(value)) - exact).abs() < 1e-6, "{value}");
        }
        for value in [-1e30, -100.0, 100.0, 1e30] {
            assert!(exponential(value) > 0.0 && exponential(value).is_finite());
        }
    }

    #[test]
    fn soft_max_gives_probabilities() {
        let mut scores = [1.0, f32::NEG_INFINITY, 1.0 + 3f32.ln()];
        let total = soft_max(&mut scores);
        assert!((total - (1.0 + 4f32.ln())).abs() < 1e-6);
        assert!((scores[0] - 0.25).abs() < 1e-6 && scores[1] == 0.0);
    }
}
