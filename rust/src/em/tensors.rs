//! The tensors of rules as expectations use them: dense, or without their zeros where these are
//! many. EM drives most parameters to zero, the more so the more states there are.

use std::ops::Range;

use rayon::prelude::*;

use super::trees::{LatentTrees, Parameters};
use crate::numeric::vectors::{add_scaled, dot};

/// Tensors with at most this share of non-zeros are kept sparse: a value then costs about four
/// times as much as one that is worked on with its neighbours.
const SPARSE: f64 = 0.25;

/// The tensors of all rules.
pub(super) struct Tensors<'a> {
    parameters: &'a Parameters<'a>,
    /// The non-zeros of rules that are kept sparse.
    sparse: Vec<Option<Sparse>>,
}

/// The non-zeros of a tensor, parent state by parent state.
struct Sparse {
    /// Where those of each parent state start.
    rows: Vec<u32>,
    /// The place of each in the matrix of the children's states.
    places: Vec<u32>,
    values: Vec<f32>,
}

impl Sparse {
    fn row(&self, state: usize) -> Range<usize> {
        self.rows[state] as usize..self.rows[state + 1] as usize
    }
}

impl<'a> Tensors<'a> {
    pub(super) fn new(trees: &LatentTrees, parameters: &'a Parameters<'a>) -> Self {
        let thin = |(rule, symbols): (usize, &[u32; 3])| {
            let tensor = parameters.tensor(rule);
            let non_zero = tensor.iter().filter(|&&value| value > 0.0).count();
            if non_zero as f64 > SPARSE * tensor.len() as f64 || u32::try_from(non_zero).is_err() {
                return None;
            }
            let mut thinned = Sparse {
                rows: vec![0],
                places: Vec::with_capacity(non_zero),
                values: Vec::with_capacity(non_zero),
            };
            for row in tensor.chunks_exact(tensor.len() / parameters.states(symbols[0])) {
                for (place, &value) in row.iter().enumerate().filter(|(_, value)| **value > 0.0) {
                    thinned.places.push(place as u32);
                    thinned.values.push(value);
                }
                thinned.rows.push(thinned.values.len() as u32);
            }
            Some(thinned)
        };
        let sparse = trees.rules.par_iter().enumerate().map(thin).collect();
        Self { parameters, sparse }
    }

    /// The inside vector of a parent from the outer product of its children's.
    #[inline(always)]
    pub(super) fn contract(&self, rule: usize, children: &[f32], parent: &mut [f32]) {
        match &self.sparse[rule] {
            None => {
                let rows = self.parameters.tensor(rule).chunks_exact(children.len());
                for (value, row) in parent.iter_mut().zip(rows) {
                    *value = dot(row, children);
                }
            }
            Some(sparse) => {
                for (state, value) in parent.iter_mut().enumerate() {
                    let row = sparse.row(state);
                    let places = &sparse.places[row.clone()];
                    let products = places.iter().zip(&sparse.values[row]);
                    *value = products.map(|(&place, value)| children[place as usize] * value).sum();
                }
            }
        }
    }

    /// Add up the matrices of all parent states, each times its outside value.
    #[inline(always)]
    pub(super) fn spread(&self, rule: usize, scale: f32, parent: &[f32], children: &mut [f32]) {
        match &self.sparse[rule] {
            None => {
                let rows = self.parameters.tensor(rule).chunks_exact(children.len());
                for (&outside, row) in parent.iter().zip(rows) {
                    if outside != 0.0 {
                        add_scaled(children, scale * outside, row);
                    }
                }
            }
            Some(sparse) => {
                for (state, &outside) in parent.iter().enumerate() {
                    let (row, factor) = (sparse.row(state), scale * outside);
                    for (&place, value) in
                        sparse.places[row.clone()].iter().zip(&sparse.values[row])
                    {
                        children[place as usize] += factor * value;
                    }
                }
            }
        }
    }

    /// How many sums the counts of a rule need.
    pub(super) fn stored(&self, rule: usize) -> usize {
        let dense = || self.parameters.tensor(rule).len();
        self.sparse[rule].as_ref().map_or_else(dense, |sparse| sparse.values.len())
    }

    /// For each stored value, add the product of the parent's outside value and the children's.
    #[inline(always)]
    pub(super) fn count(
        &self,
        rule: usize,
        scale: f32,
        parent: &[f32],
        children: &[f32],
        sums: &mut [f32],
    ) {
        match &self.sparse[rule] {
            None => {
                for (row, &outside) in sums.chunks_exact_mut(children.len()).zip(parent) {
                    if outside != 0.0 {
                        add_scaled(row, scale * outside, children);
                    }
                }
            }
            Some(sparse) => {
                for (state, &outside) in parent.iter().enumerate() {
                    let (row, factor) = (sparse.row(state), scale * outside);
                    for (sum, &place) in sums[row.clone()].iter_mut().zip(&sparse.places[row]) {
                        *sum += factor * children[place as usize];
                    }
                }
            }
        }
    }

    /// Write the counts of a rule, its sums times its values, to their places in a dense tensor.
    pub(super) fn write_counts(&self, rule: usize, sums: &[f64], counts: &mut [f32]) {
        match &self.sparse[rule] {
            None => {
                let values = self.parameters.tensor(rule);
                for ((count, &sum), &value) in counts.iter_mut().zip(sums).zip(values) {
                    *count = (sum * f64::from(value)) as f32;
                }
            }
            Some(sparse) => {
                let states = sparse.rows.len() - 1;
                for (state, own) in counts.chunks_exact_mut(counts.len() / states).enumerate() {
                    for stored in sparse.row(state) {
                        let count = sums[stored] * f64::from(sparse.values[stored]);
                        own[sparse.places[stored] as usize] = count as f32;
                    }
                }
            }
        }
    }
}
