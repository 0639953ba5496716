//! Products of rule tensors with matrices over pairs of child states ([`contract`]) and with
//! vectors over parent states ([`expand`]).
//!
//! Several rows of a dense tensor are processed at once: each value of the matrix is loaded once
//! for all of them, and their sums are independent. The time that is left is that of loading the
//! tensor, every value of which is used once.

use super::tensor::{SparseTensor, Tensor};
use super::vectors::{LANES, sum};

/// `sums[i] += ` the sum over j, k of `tensor[i, j, k] * matrix[j, k]`.
#[inline(always)]
pub fn contract(tensor: Tensor<'_>, matrix: &[f32], sums: &mut [f32]) {
    match tensor {
        Tensor::Dense(values) => {
            let (values, sums) = contract_rows::<8>(values, matrix, sums);
            let (values, sums) = contract_rows::<4>(values, matrix, sums);
            contract_rows::<1>(values, matrix, sums);
        }
        Tensor::Sparse(tensor) => contract_sparse(tensor, matrix, sums),
    }
}

/// `matrix[j, k] += ` the sum over i of `weights[i] * tensor[i, j, k]`.
#[inline(always)]
pub fn expand(tensor: Tensor<'_>, weights: &[f32], matrix: &mut [f32]) {
    match tensor {
        Tensor::Dense(values) => {
            let (values, weights) = expand_rows::<8>(values, weights, matrix);
            let (values, weights) = expand_rows::<4>(values, weights, matrix);
            expand_rows::<1>(values, weights, matrix);
        }
        Tensor::Sparse(tensor) => expand_sparse(tensor, weights, matrix),
    }
}

/// Contract as many groups of rows as there are, and return the rows that are left.
#[inline(always)]
fn contract_rows<'a, 'b, const ROWS: usize>(
    values: &'a [f32],
    matrix: &[f32],
    sums: &'b mut [f32],
) -> (&'a [f32], &'b mut [f32]) {
    let (groups, sums_left) = sums.as_chunks_mut::<ROWS>();
    let (values, values_left) = values.split_at(groups.len() * ROWS * matrix.len());
    let (chunks, last) = matrix.as_chunks::<LANES>();
    for (sums, values) in groups.iter_mut().zip(values.chunks_exact(ROWS * matrix.len())) {
        let rows = rows::<ROWS>(values);
        let mut lanes = [[0.0f32; LANES]; ROWS];
        for (number, chunk) in chunks.iter().enumerate() {
            for (lanes, (row, _)) in lanes.iter_mut().zip(&rows) {
                for ((lane, value), factor) in lanes.iter_mut().zip(row[number]).zip(chunk) {
                    *lane += value * factor;
                }
            }
        }
        for ((total, lanes), (_, row)) in sums.iter_mut().zip(lanes).zip(rows) {
            let rest: f32 = row.iter().zip(last).map(|(value, factor)| value * factor).sum();
            *total += sum(lanes) + rest;
        }
    }
    (values_left, sums_left)
}

/// Expand as many groups of rows as there are, and return the rows that are left.
#[inline(always)]
fn expand_rows<'a, 'b, const ROWS: usize>(
    values: &'a [f32],
    weights: &'b [f32],
    matrix: &mut [f32],
) -> (&'a [f32], &'b [f32]) {
    let (groups, weights_left) = weights.as_chunks::<ROWS>();
    let (values, values_left) = values.split_at(groups.len() * ROWS * matrix.len());
    for (weights, values) in groups.iter().zip(values.chunks_exact(ROWS * matrix.len())) {
        let rows = rows::<ROWS>(values);
        let (chunks, last) = matrix.as_chunks_mut::<LANES>();
        for (number, chunk) in chunks.iter_mut().enumerate() {
            let mut lanes = *chunk;
            for (weight, (row, _)) in weights.iter().zip(&rows) {
                for (lane, value) in lanes.iter_mut().zip(row[number]) {
                    *lane += weight * value;
                }
            }
            *chunk = lanes;
        }
        for (number, sum) in last.iter_mut().enumerate() {
            for (weight, (_, row)) in weights.iter().zip(&rows) {
                *sum += weight * row[number];
            }
        }
    }
    (values_left, weights_left)
}

/// Consecutive rows, each split into whole vectors and the remaining elements.
#[inline(always)]
fn rows<const ROWS: usize>(values: &[f32]) -> [(&[[f32; LANES]], &[f32]); ROWS] {
    let length = values.len() / ROWS;
    std::array::from_fn(|row| values[row * length..][..length].as_chunks())
}

/// The number of independent partial sums of a row.
const SPARSE_LANES: usize = 4;

#[inline(always)]
fn contract_sparse(tensor: SparseTensor<'_>, matrix: &[f32], sums: &mut [f32]) {
    for (row, columns, values) in tensor.rows() {
        let (columns, last_columns) = columns.as_chunks::<SPARSE_LANES>();
        let (values, last_values) = values.as_chunks::<SPARSE_LANES>();
        let mut lanes = [0.0f32; SPARSE_LANES];
        for (columns, values) in columns.iter().zip(values) {
            for ((lane, &column), value) in lanes.iter_mut().zip(columns).zip(values) {
                *lane += value * matrix[column as usize];
            }
        }
        let last = last_columns.iter().zip(last_values);
        let rest: f32 = last.map(|(&column, value)| value * matrix[column as usize]).sum();
        sums[row] += lanes.iter().sum::<f32>() + rest;
    }
}

#[inline(always)]
fn expand_sparse(tensor: SparseTensor<'_>, weights: &[f32], matrix: &mut [f32]) {
    for (row, columns, values) in tensor.rows() {
        let weight = weights[row];
        for (&column, value) in columns.iter().zip(values) {
            matrix[column as usize] += weight * value;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::numeric::tensor::SparseValues;

    /// A tensor with zeros, a matrix and a vector with an element for each row, all flat.
    fn case() -> impl Strategy<Value = (Vec<f32>, Vec<f32>, Vec<f32>)> {
        (1usize..20, 1usize..60).prop_flat_map(|(rows, length)| {
            let value = || prop_oneof![Just(0.0), -1.0f32..1.0];
            (
                proptest::collection::vec(value(), rows * length),
                proptest::collection::vec(value(), length),
                proptest::collection::vec(value(), rows),
            )
        })
    }

    /// The same contraction, one product after the other.
    fn contract_plainly(values: &[f32], matrix: &[f32], sums: &mut [f32]) {
        for (index, value) in values.iter().enumerate() {
            sums[index / matrix.len()] += value * matrix[index % matrix.len()];
        }
    }

    /// The same expansion, one product after the other.
    fn expand_plainly(values: &[f32], weights: &[f32], matrix: &mut [f32]) {
        for (index, value) in values.iter().enumerate() {
            matrix[index % matrix.len()] += value * weights[index / matrix.len()];
        }
    }

    proptest! {
        #[test]
        fn dense_and_sparse_kernels_agree_with_plain_loops((values, matrix, vector) in case()) {
            let stored = values.iter().filter(|&&value| value != 0.0).count();
            let sparse = SparseValues::from_dense(&values, matrix.len(), stored);
            let mut expected = (vector.clone(), matrix.clone());
            contract_plainly(&values, &matrix, &mut expected.0);
            expand_plainly(&values, &vector, &mut expected.1);
            for tensor in [Tensor::Dense(&values), Tensor::Sparse(sparse.tensor())] {
                let mut found = (vector.clone(), matrix.clone());
                contract(tensor, &matrix, &mut found.0);
                expand(tensor, &vector, &mut found.1);
                for (a, b) in found.0.iter().zip(&expected.0).chain(found.1.iter().zip(&expected.1)) {
                    prop_assert!((a - b).abs() < 1e-4);
                }
            }
        }
    }
}
