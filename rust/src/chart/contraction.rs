//! Tensors of rules against the matrices of pairs of children, in either direction.

use super::vectors::{add_scaled, dot};
use crate::grammar::Tensor;

/// `sums[i] += ` the sum over j, k of `tensor[i, j, k] * matrix[j, k]`.
#[inline(always)]
pub(super) fn contract(tensor: Tensor<'_>, matrix: &[f32], sums: &mut [f32]) {
    match tensor {
        Tensor::Dense(values) => {
            for (sum, row) in sums.iter_mut().zip(values.chunks_exact(matrix.len())) {
                *sum += dot(row, matrix);
            }
        }
        Tensor::Sparse(tensor) => {
            for (row, places, values) in tensor.rows() {
                let products =
                    places.iter().zip(values).map(|(&place, value)| value * matrix[place as usize]);
                sums[row] += products.sum::<f32>();
            }
        }
    }
}

/// `matrix[j, k] += ` the sum over i of `weights[i] * tensor[i, j, k]`.
#[inline(always)]
pub(super) fn expand(tensor: Tensor<'_>, weights: &[f32], matrix: &mut [f32]) {
    match tensor {
        Tensor::Dense(values) => {
            for (&weight, row) in weights.iter().zip(values.chunks_exact(matrix.len())) {
                add_scaled(matrix, weight, row);
            }
        }
        Tensor::Sparse(tensor) => {
            for (row, places, values) in tensor.rows() {
                let weight = weights[row];
                for (&place, value) in places.iter().zip(values) {
                    matrix[place as usize] += weight * value;
                }
            }
        }
    }
}
