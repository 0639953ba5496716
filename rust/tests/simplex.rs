//! The nearest mixtures of anchors against a look at every support.

use lpcfg_core::cancel::Cancel;
use lpcfg_core::numeric::simplex::nearest_mixtures;
use proptest::prelude::*;

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

fn mixture(weights: &[f64], anchors: &[Vec<f64>]) -> Vec<f64> {
    let mut mixed = vec![0.0; anchors[0].len()];
    for (weight, anchor) in weights.iter().zip(anchors) {
        for (sum, value) in mixed.iter_mut().zip(anchor) {
            *sum += weight * value;
        }
    }
    mixed
}

fn squared_distance(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| (a - b).powi(2)).sum()
}

fn nearest(points: &[Vec<f64>], anchors: &[Vec<f64>]) -> Vec<f64> {
    let products = |rows: &[Vec<f64>]| -> Vec<f64> {
        rows.iter().flat_map(|row| anchors.iter().map(|anchor| dot(row, anchor))).collect()
    };
    nearest_mixtures(&products(anchors), &products(points), anchors.len(), &Cancel::new()).unwrap()
}

/// The least squared distance over a fine grid of weights.
fn least_on_grid(point: &[f64], anchors: &[Vec<f64>], steps: usize) -> f64 {
    fn walk(
        weights: &mut Vec<f64>,
        left: usize,
        steps: usize,
        point: &[f64],
        anchors: &[Vec<f64>],
    ) -> f64 {
        if weights.len() + 1 == anchors.len() {
            weights.push(left as f64 / steps as f64);
            let distance = squared_distance(&mixture(weights, anchors), point);
            weights.pop();
            return distance;
        }
        (0..=left)
            .map(|part| {
                weights.push(part as f64 / steps as f64);
                let least = walk(weights, left - part, steps, point, anchors);
                weights.pop();
                least
            })
            .fold(f64::INFINITY, f64::min)
    }
    walk(&mut Vec::new(), steps, steps, point, anchors)
}

fn rows(count: std::ops::Range<usize>, width: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    proptest::collection::vec(proptest::collection::vec(-2.0..2.0, width), count)
}

proptest! {
    #[test]
    fn no_mixture_on_a_grid_is_nearer(
        (anchors, points) in (1..4usize).prop_flat_map(|width| (rows(1..5, width), rows(1..4, width)))
    ) {
        let weights = nearest(&points, &anchors);
        for (point, weights) in points.iter().zip(weights.chunks(anchors.len())) {
            prop_assert!(weights.iter().all(|&weight| weight >= 0.0));
            prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let distance = squared_distance(&mixture(weights, &anchors), point);
            prop_assert!(distance <= least_on_grid(point, &anchors, 24) + 1e-9);
        }
    }

    /// At the optimum no anchor is in a direction in which the distance falls.
    #[test]
    fn no_anchor_is_worth_more_weight(
        (anchors, points) in (1..9usize).prop_flat_map(|width| (rows(1..20, width), rows(1..4, width)))
    ) {
        let weights = nearest(&points, &anchors);
        for (point, weights) in points.iter().zip(weights.chunks(anchors.len())) {
            let mixed = mixture(weights, &anchors);
            let away: Vec<f64> = mixed.iter().zip(point).map(|(a, b)| a - b).collect();
            for anchor in &anchors {
                prop_assert!(dot(&away, anchor) >= dot(&away, &mixed) - 1e-8);
            }
        }
    }
}

#[test]
fn anchors_may_repeat_and_be_mixtures_of_others() {
    let anchors = [vec![0.0, 0.0], vec![2.0, 0.0], vec![1.0, 0.0], vec![2.0, 0.0], vec![0.0, 2.0]];
    let points = [vec![1.0, -1.0], vec![0.5, 0.5], vec![3.0, 3.0], vec![2.0, 0.0]];
    let weights = nearest(&points, &anchors);
    let expected = [vec![1.0, 0.0], vec![0.5, 0.5], vec![1.0, 1.0], vec![2.0, 0.0]];
    for (expected, weights) in expected.iter().zip(weights.chunks(anchors.len())) {
        assert!(squared_distance(&mixture(weights, &anchors), expected) < 1e-18);
    }
}

#[test]
fn a_raised_flag_stops_the_work() {
    let cancel = Cancel::new();
    cancel.cancel();
    assert!(nearest_mixtures(&[1.0], &[1.0], 1, &cancel).is_err());
}
