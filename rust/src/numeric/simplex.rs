//! Least squares over the probability simplex: the convex combination of anchors that is nearest to
//! a point, by the active-set method (Wolfe 1976, "Finding the nearest point in a polytope").
//!
//! Only scalar products are needed: the matrix G of the anchors with each other, and the vector p
//! of the anchors with the point. The weights w on the simplex minimise w'Gw / 2 - p'w.

use rayon::prelude::*;

use crate::cancel::{Cancel, Cancelled};

/// A gain below this fraction of the largest product is a rounding error.
const ROUNDING: f64 = 1e-12;

/// The weights of the mixtures nearest to some points, a row each.
///
/// `gram` has a row of scalar products for each anchor, `products` one for each point.
pub fn nearest_mixtures(
    gram: &[f64],
    products: &[f64],
    anchors: usize,
    cancel: &Cancel,
) -> Result<Vec<f64>, Cancelled> {
    assert!(anchors > 0 && gram.len() == anchors * anchors, "the products of the anchors");
    assert!(products.len().is_multiple_of(anchors), "the products of the points");
    let mut weights = vec![0.0; products.len()];
    weights
        .par_chunks_exact_mut(anchors)
        .zip(products.par_chunks_exact(anchors))
        .try_for_each_init(
            || ActiveSet::new(gram, anchors),
            |active_set, (weights, products)| {
                cancel.check()?;
                active_set.run(products, weights);
                Ok(())
            },
        )?;
    Ok(weights)
}

/// The active-set method for one point after the other, in memory that is reused.
struct ActiveSet<'a> {
    gram: &'a [f64],
    anchors: usize,
    /// Added to all products of anchors with each other. Where weights sum to one, this changes the
    /// objective by a constant, and it makes the products of affinely independent anchors positive
    /// definite.
    shift: f64,
    /// The anchors that have a weight, and their weights.
    support: Vec<usize>,
    weights: Vec<f64>,
    /// Rows of the Cholesky factor of the shifted products of the support.
    factor: Vec<Vec<f64>>,
    gradient: Vec<f64>,
}

impl<'a> ActiveSet<'a> {
    fn new(gram: &'a [f64], anchors: usize) -> Self {
        let largest = (0..anchors).map(|anchor| gram[anchor * (anchors + 1)]).fold(0.0, f64::max);
        Self {
            gram,
            anchors,
            shift: if largest > 0.0 { largest } else { 1.0 },
            support: Vec::new(),
            weights: Vec::new(),
            factor: Vec::new(),
            gradient: vec![0.0; anchors],
        }
    }

    fn run(&mut self, products: &[f64], result: &mut [f64]) {
        self.support.clear();
        self.weights.clear();
        self.factor.clear();
        let nearest = smallest(
            (0..self.anchors)
                .map(|anchor| self.gram[anchor * (self.anchors + 1)] / 2.0 - products[anchor]),
        );
        self.add_to_support(nearest);
        self.weights[0] = 1.0;
        // Every round lowers the distance, so no support occurs twice, apart from rounding errors:
        // hence the limit.
        for _ in 0..4 * self.anchors {
            let Some(next) = self.steepest_anchor(products) else { break };
            // An anchor that is an affine combination of the support cannot lower the distance.
            if !self.add_to_support(next) {
                break;
            }
            self.optimise_weights(products);
        }
        result.fill(0.0);
        for (&anchor, &weight) in self.support.iter().zip(&self.weights) {
            result[anchor] = weight;
        }
    }

    /// The anchor in whose direction the distance falls fastest; none at the minimum.
    fn steepest_anchor(&mut self, products: &[f64]) -> Option<usize> {
        for (gradient, product) in self.gradient.iter_mut().zip(products) {
            *gradient = -product;
        }
        for (&anchor, &weight) in self.support.iter().zip(&self.weights) {
            for (gradient, product) in
                self.gradient.iter_mut().zip(row(self.gram, anchor, self.anchors))
            {
                *gradient += weight * product;
            }
        }
        let level: f64 = self
            .support
            .iter()
            .zip(&self.weights)
            .map(|(&a, weight)| weight * self.gradient[a])
            .sum();
        let next = smallest(self.gradient.iter().copied());
        let size = self.shift + products.iter().fold(0.0, |size: f64, p| size.max(p.abs()));
        (self.gradient[next] < level - ROUNDING * size).then_some(next)
    }

    /// Add an anchor to the support, with weight zero; false if it is an affine combination of the
    /// support.
    fn add_to_support(&mut self, anchor: usize) -> bool {
        let products = row(self.gram, anchor, self.anchors);
        let mut new: Vec<f64> = Vec::with_capacity(self.support.len() + 1);
        for (&other, row) in self.support.iter().zip(&self.factor) {
            let known: f64 = row.iter().zip(&new).map(|(a, b)| a * b).sum();
            new.push((products[other] + self.shift - known) / row[new.len()]);
        }
        let square =
            products[anchor] + self.shift - new.iter().map(|value| value * value).sum::<f64>();
        if square <= ROUNDING * self.shift {
            return false;
        }
        new.push(square.sqrt());
        self.factor.push(new);
        self.support.push(anchor);
        self.weights.push(0.0);
        true
    }

    /// Move to the best weights of the support, dropping anchors whose weights would be negative.
    fn optimise_weights(&mut self, products: &[f64]) {
        loop {
            let best = self.best_weights(products);
            let step = best
                .iter()
                .zip(&self.weights)
                .filter(|&(&best, _)| best <= 0.0)
                .map(|(best, weight)| weight / (weight - best))
                .fold(1.0, f64::min);
            for (weight, best) in self.weights.iter_mut().zip(&best) {
                *weight += step * (best - *weight);
            }
            if step == 1.0 && best.iter().all(|&best| best > 0.0) {
                self.weights = best;
                return;
            }
            self.drop_smallest(&best);
        }
    }

    /// The best weights of the support that sum to one; they may be negative.
    fn best_weights(&self, products: &[f64]) -> Vec<f64> {
        let mut free: Vec<f64> = self.support.iter().map(|&anchor| products[anchor]).collect();
        let mut level = vec![1.0; self.support.len()];
        self.solve(&mut free);
        self.solve(&mut level);
        let missing = 1.0 - free.iter().sum::<f64>();
        let factor = missing / level.iter().sum::<f64>();
        free.iter().zip(&level).map(|(free, level)| free + factor * level).collect()
    }

    /// Solve the linear system of the shifted products for a right-hand side, in index.
    fn solve(&self, values: &mut [f64]) {
        for (index, row) in self.factor.iter().enumerate() {
            let known: f64 = row[..index].iter().zip(&*values).map(|(a, b)| a * b).sum();
            values[index] = (values[index] - known) / row[index];
        }
        for (index, row) in self.factor.iter().enumerate().rev() {
            values[index] /= row[index];
            let value = values[index];
            for (other, factor) in values[..index].iter_mut().zip(row) {
                *other -= factor * value;
            }
        }
    }

    /// Drop the anchor whose weight a step towards `best` has reduced to zero.
    fn drop_smallest(&mut self, best: &[f64]) {
        let leaving = smallest(
            self.weights.iter().zip(best).map(
                |(&weight, &best)| {
                    if best <= 0.0 { weight } else { f64::INFINITY }
                },
            ),
        );
        let (support, weights) =
            (std::mem::take(&mut self.support), std::mem::take(&mut self.weights));
        self.factor.clear();
        for (index, (anchor, weight)) in support.into_iter().zip(weights).enumerate() {
            if index != leaving && self.add_to_support(anchor) {
                *self.weights.last_mut().expect("an anchor was just added") = weight;
            }
        }
    }
}

fn row(matrix: &[f64], number: usize, width: usize) -> &[f64] {
    &matrix[number * width..][..width]
}

/// The index of the smallest value, the first of several.
fn smallest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::INFINITY);
    for (index, value) in values.enumerate() {
        if value < best.1 {
            best = (index, value);
        }
    }
    best.0
}
