//! Powers of two as integers beside floating-point numbers.

/// The exponent of a cell in which nothing is possible.
pub(super) const EMPTY: i32 = i32::MIN / 4;

/// The exponent `e` for which `value` lies in `[2^e, 2^(e + 1))`; `value` must be positive.
#[inline]
pub(crate) fn exponent(value: f64) -> i32 {
    debug_assert!(value > 0.0 && value.is_finite());
    let bits = (value.to_bits() >> 52) as i32;
    if bits == 0 {
        // Subnormal: its leading bit is below the usual 52.
        return value.to_bits().ilog2() as i32 - 1074;
    }
    bits - 1023
}

/// Two to the power of `exponent`, zero or the largest power where it does not fit.
#[inline]
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    if exponent < -1022 {
        return 0.0;
    }
    f64::from_bits(((exponent.min(1023) + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_bracket_their_value() {
        for value in [1.0, 0.5, 0.75, 3.9, 1e-300, 1e300, 5e-324, f64::MIN_POSITIVE] {
            let exponent = exponent(value);
            assert!(2f64.powi(exponent) <= value, "{value}");
            assert!(value < 2.0 * 2f64.powi(exponent), "{value}");
        }
    }

    #[test]
    fn powers_saturate() {
        assert_eq!(power_of_two(0), 1.0);
        assert_eq!(power_of_two(-3), 0.125);
        assert_eq!(power_of_two(-5000), 0.0);
        assert!(power_of_two(5000).is_finite());
    }
}
