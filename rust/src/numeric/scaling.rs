//! Scaled arithmetic: floating-point numbers with separate binary exponents, which do not
//! underflow.

/// The exponent of a cell in which all values are zero.
pub(crate) const EMPTY: i32 = i32::MIN / 4;

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

/// Two to the power of `exponent`: zero where it underflows, the largest power where it overflows.
#[inline]
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    if exponent < -1022 {
        return 0.0;
    }
    f64::from_bits(((exponent.min(1023) + 1023) as u64) << 52)
}

/// A non-negative number as a factor between one and two, and an exponent of two, for sums of
/// products that may be very small or very large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scaled {
    factor: f64,
    exponent: i64,
}

impl Scaled {
    pub(crate) const ZERO: Self = Self { factor: 0.0, exponent: i64::MIN / 4 };
    pub(crate) const ONE: Self = Self { factor: 1.0, exponent: 0 };

    /// A factor that need not lie between one and two.
    #[inline]
    fn new(factor: f64, scale: i64) -> Self {
        if factor == 0.0 {
            return Self::ZERO;
        }
        let own = exponent(factor);
        Self { factor: factor * power_of_two(-own), exponent: scale + i64::from(own) }
    }

    /// The number with this logarithm.
    pub(crate) fn from_log(logarithm: f64) -> Self {
        if logarithm == f64::NEG_INFINITY {
            return Self::ZERO;
        }
        let whole = (logarithm / std::f64::consts::LN_2).floor();
        Self::new((logarithm - whole * std::f64::consts::LN_2).exp(), whole as i64)
    }

    /// The logarithm of the number.
    pub(crate) fn logarithm(self) -> f64 {
        self.factor.ln() + self.exponent as f64 * std::f64::consts::LN_2
    }

    /// Whether this is zero.
    #[inline]
    pub(crate) fn is_zero(self) -> bool {
        self.factor == 0.0
    }

    /// The product of two numbers.
    #[inline]
    pub(crate) fn times(self, other: Self) -> Self {
        Self::new(self.factor * other.factor, self.exponent + other.exponent)
    }

    /// The sum of two numbers.
    #[inline]
    pub(crate) fn plus(self, other: Self) -> Self {
        let (large, small) =
            if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        // Beyond the precision of a factor, the smaller number makes no difference.
        let difference = (small.exponent - large.exponent).max(-2000) as i32;
        Self::new(large.factor + small.factor * power_of_two(difference), large.exponent)
    }

    /// The quotient of this and another number, which must not be zero.
    #[inline]
    pub(crate) fn ratio(self, divisor: Self) -> f64 {
        let difference = (self.exponent - divisor.exponent).clamp(-2000, 1000) as i32;
        self.factor / divisor.factor * power_of_two(difference)
    }
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
    fn scaled_numbers_add_and_multiply() {
        let numbers: [f64; 6] = [0.0, 1e-9, 0.5, 1.0, 3.0, 1e9];
        for a in numbers {
            for b in numbers {
                let (x, y) = (Scaled::from_log(a.ln()), Scaled::from_log(b.ln()));
                assert!((x.plus(y).ratio(Scaled::ONE) - (a + b)).abs() <= 1e-12 * (a + b));
                assert!((x.times(y).ratio(Scaled::ONE) - a * b).abs() <= 1e-12 * a * b);
            }
        }
        let (large, small) = (Scaled::from_log(5000.0), Scaled::from_log(-5000.0));
        assert!((large.times(small).logarithm()).abs() < 1e-9);
        assert_eq!(large.plus(small), large);
        assert_eq!(small.ratio(large), 0.0);
    }

    #[test]
    fn powers_saturate() {
        assert_eq!(power_of_two(0), 1.0);
        assert_eq!(power_of_two(-3), 0.125);
        assert_eq!(power_of_two(-5000), 0.0);
        assert!(power_of_two(5000).is_finite());
    }
}
