//! Least squares over the probability simplex: the mixture of some anchors that is nearest to a
//! point, by the method of active sets (Wolfe 1976, "Finding the nearest point in a polytope").
//!
//! Only scalar products are needed: G of the anchors with each other, p of the anchors with the
//! point. Weights w on the simplex minimise w'Gw / 2 - p'w.

use rayon::prelude::*;

use crate::cancel::{Cancel, Cancelled};

/// A gain below this part of the largest product is a rounding error.
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
            || Search::new(gram, anchors),
            |search, (weights, products)| {
                cancel.check()?;
                search.run(products, weights);
                Ok(())
            },
        )?;
    Ok(weights)
}

/// The search for one mixture after the other, with the memory that it uses again.
struct Search<'a> {
    gram: &'a [f64],
    anchors: usize,
    /// Added to all products of anchors with each other, which changes nothing where weights add
    /// up to one, and makes the products of anchors in general position positive definite.
    shift: f64,
    /// The anchors that have a weight, and their weights.
    support: Vec<usize>,
    weights: Vec<f64>,
    /// Rows of the Cholesky factor of the shifted products of the support.
    factor: Vec<Vec<f64>>,
    slope: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(gram: &'a [f64], anchors: usize) -> Self {
        let largest = (0..anchors).map(|anchor| gram[anchor * (anchors + 1)]).fold(0.0, f64::max);
        Self {
            gram,
            anchors,
            shift: if largest > 0.0 { largest } else { 1.0 },
            support: Vec::new(),
            weights: Vec::new(),
            factor: Vec::new(),
            slope: vec![0.0; anchors],
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
        self.join(nearest);
        self.weights[0] = 1.0;
        // Every round lowers the distance, so that no support comes back; rounding errors might
        // let one do so all the same.
        for _ in 0..4 * self.anchors {
            let Some(next) = self.steepest(products) else { break };
            // An anchor among the mixtures of the support has nothing to add.
            if !self.join(next) {
                break;
            }
            self.settle(products);
        }
        result.fill(0.0);
        for (&anchor, &weight) in self.support.iter().zip(&self.weights) {
            result[anchor] = weight;
        }
    }

    /// The anchor that the distance falls towards fastest, unless it falls towards none.
    fn steepest(&mut self, products: &[f64]) -> Option<usize> {
        for (slope, product) in self.slope.iter_mut().zip(products) {
            *slope = -product;
        }
        for (&anchor, &weight) in self.support.iter().zip(&self.weights) {
            for (slope, product) in self.slope.iter_mut().zip(row(self.gram, anchor, self.anchors))
            {
                *slope += weight * product;
            }
        }
        let level: f64 =
            self.support.iter().zip(&self.weights).map(|(&a, weight)| weight * self.slope[a]).sum();
        let next = smallest(self.slope.iter().copied());
        let size = self.shift + products.iter().fold(0.0, |size: f64, p| size.max(p.abs()));
        (self.slope[next] < level - ROUNDING * size).then_some(next)
    }

    /// Give an anchor a place in the support, with a weight of zero, if it is not a mixture of it.
    fn join(&mut self, anchor: usize) -> bool {
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

    /// Move to the best weights of the support; anchors whose weights would be negative leave it.
    fn settle(&mut self, products: &[f64]) {
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

    /// The weights, negative ones too, that add up to one and whose mixture is nearest.
    fn best_weights(&self, products: &[f64]) -> Vec<f64> {
        let mut free: Vec<f64> = self.support.iter().map(|&anchor| products[anchor]).collect();
        let mut level = vec![1.0; self.support.len()];
        self.solve(&mut free);
        self.solve(&mut level);
        let missing = 1.0 - free.iter().sum::<f64>();
        let factor = missing / level.iter().sum::<f64>();
        free.iter().zip(&level).map(|(free, level)| free + factor * level).collect()
    }

    /// Solve the equations of the shifted products for a right side, in place.
    fn solve(&self, values: &mut [f64]) {
        for (place, row) in self.factor.iter().enumerate() {
            let known: f64 = row[..place].iter().zip(&*values).map(|(a, b)| a * b).sum();
            values[place] = (values[place] - known) / row[place];
        }
        for (place, row) in self.factor.iter().enumerate().rev() {
            values[place] /= row[place];
            let value = values[place];
            for (other, factor) in values[..place].iter_mut().zip(row) {
                *other -= factor * value;
            }
        }
    }

    /// Take the anchor out of the support that a step towards `best` has brought down to zero.
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
        for (place, (anchor, weight)) in support.into_iter().zip(weights).enumerate() {
            if place != leaving && self.join(anchor) {
                *self.weights.last_mut().expect("an anchor has just joined") = weight;
            }
        }
    }
}

fn row(matrix: &[f64], number: usize, width: usize) -> &[f64] {
    &matrix[number * width..][..width]
}

/// The place of the smallest value, the first of several.
fn smallest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::INFINITY);
    for (place, value) in values.enumerate() {
        if value < best.1 {
            best = (place, value);
        }
    }
    best.0
}
