//! Logarithms of long products.

/// The logarithm of a product of positive numbers, computed with few calls of `ln`.
#[derive(Debug)]
pub(super) struct LogProduct {
    log: f64,
    product: f64,
}

impl Default for LogProduct {
    fn default() -> Self {
        Self { log: 0.0, product: 1.0 }
    }
}

impl LogProduct {
    #[inline(always)]
    pub(super) fn multiply(&mut self, factor: f64) {
        let product = self.product * factor;
        if (1e-200..1e200).contains(&product) {
            self.product = product;
        } else {
            self.log += self.product.ln();
            self.product = factor;
        }
    }

    pub(super) fn finish(self) -> f64 {
        self.log + self.product.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_sum_of_logarithms() {
        let factors = [0.5, 1e-300, 1e-308, 3.0, 1e300, 1e-5];
        let mut product = LogProduct::default();
        let mut sum = 0.0;
        for factor in factors.into_iter().cycle().take(6000) {
            product.multiply(factor);
            sum += f64::ln(factor);
        }
        assert!((product.finish() / sum - 1.0).abs() < 1e-12);
    }
}
