//! The inner loops: products of small dense matrices whose rows are padded to whole vectors.

use crate::numeric::vectors::add_scaled_lanes;

/// The number of columns of a row is a multiple of this.
pub(super) const LANES: usize = 4;

type Lanes = [f64; LANES];

/// The number of columns of a padded row.
pub(super) fn padded(columns: usize) -> usize {
    columns.next_multiple_of(LANES)
}

/// `result[c]` = sum over rows r of `factors[r] * matrix[r][c]`, for as many rows as factors.
#[inline(always)]
pub(super) fn combine_rows(matrix: &[f64], factors: &[f64], result: &mut [f64]) {
    let width = result.len();
    let mut column = 0;
    // The sums of a few vectors fit into registers, and their additions overlap.
    while column + 4 * LANES <= width {
        combine_panel::<4>(matrix, factors, result, column);
        column += 4 * LANES;
    }
    match (width - column) / LANES {
        3 => combine_panel::<3>(matrix, factors, result, column),
        2 => combine_panel::<2>(matrix, factors, result, column),
        1 => combine_panel::<1>(matrix, factors, result, column),
        _ => {}
    }
}

#[inline(always)]
fn combine_panel<const VECTORS: usize>(
    matrix: &[f64],
    factors: &[f64],
    result: &mut [f64],
    column: usize,
) {
    let mut sums = [[0.0; LANES]; VECTORS];
    for (row, &factor) in matrix.chunks_exact(result.len()).zip(factors) {
        add_scaled_lanes(&mut sums, factor, vectors::<VECTORS>(&row[column..]));
    }
    result[column..column + VECTORS * LANES].copy_from_slice(sums.as_flattened());
}

/// `sums[r][c]` += sum over times t of `left[t][r] * right[t][c]`, all with rows of one width.
#[inline(always)]
pub(super) fn add_outer_products(sums: &mut [f64], left: &[f64], right: &[f64], width: usize) {
    // The rows of a tile stay in the first-level cache while they are added to all blocks of sums.
    let tile = width * TILE;
    for (left, right) in left.chunks(tile).zip(right.chunks(tile)) {
        for (number, rows) in sums.chunks_exact_mut(LANES * width).enumerate() {
            let mut column = 0;
            while column + 2 * LANES <= width {
                outer_block::<2>(rows, left, right, width, number * LANES, column);
                column += 2 * LANES;
            }
            if column < width {
                outer_block::<1>(rows, left, right, width, number * LANES, column);
            }
        }
    }
}

/// The number of rows of a tile.
const TILE: usize = 64;

/// The part of [`add_outer_products`] for as many rows as lanes, from `first` on, and a few
/// columns.
#[inline(always)]
fn outer_block<const VECTORS: usize>(
    rows: &mut [f64],
    left: &[f64],
    right: &[f64],
    width: usize,
    first: usize,
    column: usize,
) {
    let mut sums = [[[0.0; LANES]; VECTORS]; LANES];
    for (left, right) in left.chunks_exact(width).zip(right.chunks_exact(width)) {
        let [factors] = *vectors::<1>(&left[first..]);
        let values = vectors::<VECTORS>(&right[column..]);
        for (sums, factor) in sums.iter_mut().zip(factors) {
            add_scaled_lanes(sums, factor, values);
        }
    }
    for (row, sums) in rows.chunks_exact_mut(width).zip(sums) {
        for (total, sum) in row[column..].iter_mut().zip(sums.as_flattened()) {
            *total += sum;
        }
    }
}

/// The first elements as whole vectors; the slice must be long enough.
#[inline(always)]
fn vectors<const VECTORS: usize>(values: &[f64]) -> &[Lanes; VECTORS] {
    let (lanes, _) = values.as_chunks::<LANES>();
    lanes.first_chunk().expect("rows are padded to whole vectors")
}

/// Multiply element by element and return the sum of the products.
#[inline(always)]
pub(super) fn multiply(values: &mut [f64], factors: &[f64]) -> f64 {
    let (values, _) = values.as_chunks_mut::<LANES>();
    let (factors, _) = factors.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (value, factor) in values.iter_mut().zip(factors) {
        for ((value, factor), sum) in value.iter_mut().zip(factor).zip(&mut sums) {
            *value *= factor;
            *sum += *value;
        }
    }
    // Halves first, so that the additions can overlap.
    let [a, b, c, d] = sums;
    (a + c) + (b + d)
}

/// Multiply by a number.
#[inline(always)]
pub(super) fn scale(values: &mut [f64], factor: f64) {
    for value in values {
        *value *= factor;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows of small numbers, as many as asked for, padded.
    fn matrix(rows: usize, width: usize) -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(-1.0..1.0, rows * width)
    }

    fn close(left: &[f64], right: &[f64]) -> bool {
        left.iter().zip(right).all(|(left, right)| (left - right).abs() < 1e-12)
    }

    proptest! {
        #[test]
        fn agree_with_plain_loops(
            (width, rows, left, right) in (1usize..40, 0usize..150).prop_flat_map(|(columns, rows)| {
                let width = padded(columns);
                (Just(width), Just(rows), matrix(rows, width), matrix(rows, width))
            }),
            factors in proptest::collection::vec(-1.0..1.0, 150),
        ) {
            let mut combined = vec![f64::NAN; width];
            combine_rows(&left, &factors, &mut combined);
            let mut outer = vec![0.5; width * width];
            add_outer_products(&mut outer, &left, &right, width);
            let mut expected_combined = vec![0.0; width];
            let mut expected_outer = vec![0.5; width * width];
            for row in 0..rows {
                for column in 0..width {
                    expected_combined[column] += factors[row] * left[row * width + column];
                    for other in 0..width {
                        expected_outer[other * width + column] +=
                            left[row * width + other] * right[row * width + column];
                    }
                }
            }
            prop_assert!(close(&combined, &expected_combined));
            prop_assert!(close(&outer, &expected_outer));

            let mut products = left.clone();
            let sum = multiply(&mut products, &right);
            let expected: Vec<f64> = left.iter().zip(&right).map(|(a, b)| a * b).collect();
            prop_assert!(close(&products, &expected));
            prop_assert!((sum - expected.iter().sum::<f64>()).abs() < 1e-9);
        }
    }
}
