//! The mixture of several latent models over one chart: an ensemble.

use super::Chart;

/// A mixture of models with equal weights, in memory that is reused.
#[derive(Debug, Default)]
pub struct Mixture {
    members: Vec<usize>,
    log_probabilities: Vec<f64>,
    /// For each item, the sum of its posteriors.
    posteriors: Vec<f64>,
    /// For each item, the number of members whose best tree has it.
    trees: Vec<u32>,
}

impl Mixture {
    /// Remove all models.
    pub fn clear(&mut self) {
        self.members.clear();
        self.log_probabilities.clear();
        self.posteriors.clear();
        self.trees.clear();
    }

    /// Add the model whose posteriors are in the chart.
    pub fn add(&mut self, member: usize, chart: &Chart) {
        self.members.push(member);
        self.log_probabilities.push(chart.log_probability());
        self.posteriors.resize(chart.len(), 0.0);
        self.trees.resize(chart.len(), 0);
        for (item, sum) in self.posteriors.iter_mut().enumerate() {
            *sum += chart.posterior(item);
        }
    }

    /// Add an item of the best tree of the model that was added last.
    pub fn add_to_tree(&mut self, item: usize) {
        self.trees[item] += 1;
    }

    /// The numbers of the models.
    pub fn members(&self) -> &[usize] {
        &self.members
    }

    /// Set the posteriors of the chart, and its probability, to the means of those of the members.
    pub fn set_means(&self, chart: &mut Chart) {
        let count = self.members.len() as f64;
        chart.set_posteriors(log_mean(&self.log_probabilities), |item| {
            self.posteriors[item] / count
        });
    }

    /// Set the posterior of each item of the chart to the fraction of the members' best trees that
    /// have it.
    pub fn set_tree_fractions(&self, chart: &mut Chart) {
        let count = self.members.len() as f64;
        chart.set_posteriors(log_mean(&self.log_probabilities), |item| {
            f64::from(self.trees[item]) / count
        });
    }
}

/// The logarithm of the mean of numbers, given their logarithms.
pub fn log_mean(logarithms: &[f64]) -> f64 {
    let highest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    let sum: f64 = logarithms.iter().map(|logarithm| (logarithm - highest).exp()).sum();
    highest + (sum / logarithms.len() as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_logarithms() {
        assert_eq!(log_mean(&[-1234.5]), -1234.5);
        assert_eq!(log_mean(&[f64::NEG_INFINITY; 3]), f64::NEG_INFINITY);
        assert!(
            (log_mean(&[0.5f64.ln(), 0.1f64.ln(), f64::NEG_INFINITY]).exp() - 0.2).abs() < 1e-12
        );
        assert!((log_mean(&[-2000.0, -2000.0 + 3f64.ln()]) - (-2000.0 + 2f64.ln())).abs() < 1e-9);
    }
}
