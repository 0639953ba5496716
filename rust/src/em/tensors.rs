//! The tensors of rules for the E-step, each dense or sparse. EM drives most parameters to zero,
//! and more of them the more states there are.

use rayon::prelude::*;

use super::trees::{LatentTrees, Parameters};
use crate::numeric::contraction::{contract, expand};
use crate::numeric::tensor::{SparseValues, Tensor};
use crate::numeric::vectors::add_scaled;

/// Tensors with at most this fraction of non-zeros are stored as sparse: a value of a sparse tensor
/// takes about four times as long as one of a dense tensor.
const MAX_SPARSE_DENSITY: f64 = 0.25;

/// The tensors of all rules.
pub(super) struct Tensors<'a> {
    trees: &'a LatentTrees,
    parameters: &'a Parameters<'a>,
    /// The non-zeros of sparse tensors; none for dense ones.
    sparse: Vec<Option<SparseValues>>,
}

impl<'a> Tensors<'a> {
    pub(super) fn new(trees: &'a LatentTrees, parameters: &'a Parameters<'a>) -> Self {
        let non_zeros = |(rule, symbols): (usize, &[u32; 3])| {
            let tensor = parameters.tensor(rule);
            let count = tensor.iter().filter(|&&value| value > 0.0).count();
            if count as f64 > MAX_SPARSE_DENSITY * tensor.len() as f64
                || u32::try_from(count).is_err()
            {
                return None;
            }
            let length = tensor.len() / parameters.states(symbols[0]);
            Some(SparseValues::from_dense(tensor, length, count))
        };
        let sparse = trees.rules.par_iter().enumerate().map(non_zeros).collect();
        Self { trees, parameters, sparse }
    }

    #[inline(always)]
    fn tensor(&self, rule: usize) -> Tensor<'_> {
        match &self.sparse[rule] {
            None => Tensor::Dense(self.parameters.tensor(rule)),
            Some(sparse) => Tensor::Sparse(sparse.tensor()),
        }
    }

    /// Compute the inside vector of a parent, which must be zero, from the outer product of its
    /// children's inside vectors.
    #[inline(always)]
    pub(super) fn inside(&self, rule: usize, children: &[f32], parent: &mut [f32]) {
        match self.tensor(rule) {
            Tensor::Sparse(sparse) => {
                // Unlike `contract`, sum sequentially: rows have few values, and another order of
                // summation would change the result of EM from the same random start.
                for (state, columns, values) in sparse.rows() {
                    let products = columns.iter().zip(values);
                    parent[state] =
                        products.map(|(&column, value)| children[column as usize] * value).sum();
                }
            }
            dense => contract(dense, children, parent),
        }
    }

    /// Sum the matrices of all parent states, each times its scaled outside value.
    #[inline(always)]
    pub(super) fn outside(&self, rule: usize, parent: &[f32], children: &mut [f32]) {
        expand(self.tensor(rule), parent, children);
    }

    /// The number of sums that the counts of a rule need.
    pub(super) fn stored(&self, rule: usize) -> usize {
        match self.tensor(rule) {
            Tensor::Dense(values) => values.len(),
            Tensor::Sparse(sparse) => sparse.values.len(),
        }
    }

    /// For each stored value, add the product of the parent's outside value and the children's
    /// inside values.
    #[inline(always)]
    pub(super) fn count(
        &self,
        rule: usize,
        scale: f32,
        parent: &[f32],
        children: &[f32],
        mut sums: &mut [f32],
    ) {
        match self.tensor(rule) {
            Tensor::Dense(_) => {
                for (row, &outside) in sums.chunks_exact_mut(children.len()).zip(parent) {
                    if outside != 0.0 {
                        add_scaled(row, scale * outside, children);
                    }
                }
            }
            Tensor::Sparse(sparse) => {
                for (state, columns, _) in sparse.rows() {
                    let own;
                    (own, sums) = sums.split_at_mut(columns.len());
                    let factor = scale * parent[state];
                    for (sum, &column) in own.iter_mut().zip(columns) {
                        *sum += factor * children[column as usize];
                    }
                }
            }
        }
    }

    /// As [`count`](Self::count), in double precision.
    pub(super) fn count_in_double(
        &self,
        rule: usize,
        scale: f64,
        parent: &[f32],
        children: &[f32],
        mut sums: &mut [f64],
    ) {
        let factor = |state: usize| scale * f64::from(parent[state]);
        match self.tensor(rule) {
            Tensor::Dense(_) => {
                for (state, row) in sums.chunks_exact_mut(children.len()).enumerate() {
                    for (sum, &value) in row.iter_mut().zip(children) {
                        *sum += factor(state) * f64::from(value);
                    }
                }
            }
            Tensor::Sparse(sparse) => {
                for (state, columns, _) in sparse.rows() {
                    let own;
                    (own, sums) = sums.split_at_mut(columns.len());
                    for (sum, &column) in own.iter_mut().zip(columns) {
                        *sum += factor(state) * f64::from(children[column as usize]);
                    }
                }
            }
        }
    }

    /// Write the counts of a rule, its sums times its values, to a dense tensor.
    pub(super) fn write_counts(&self, rule: usize, mut sums: &[f64], counts: &mut [f32]) {
        match self.tensor(rule) {
            Tensor::Dense(values) => {
                for ((count, &sum), &value) in counts.iter_mut().zip(sums).zip(values) {
                    *count = (sum * f64::from(value)) as f32;
                }
            }
            Tensor::Sparse(sparse) => {
                let parent = self.trees.rules[rule][0];
                let length = counts.len() / self.parameters.states(parent);
                for (state, columns, values) in sparse.rows() {
                    let row = &mut counts[state * length..][..length];
                    let own;
                    (own, sums) = sums.split_at(columns.len());
                    for ((&column, &value), &sum) in columns.iter().zip(values).zip(own) {
                        row[column as usize] = (sum * f64::from(value)) as f32;
                    }
                }
            }
        }
    }
}
