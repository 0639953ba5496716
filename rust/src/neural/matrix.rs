//! Views of matrices, and their product.

use std::cell::Cell;
use std::ops::Range;

use super::product::Packed;

thread_local! {
    /// Where right factors are packed.
    static PACKING_MEMORY: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// A view of a matrix, or of its transpose.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// The matrix with this number of columns whose elements are given row by row.
    pub fn new(values: &'a [f32], columns: usize) -> Self {
        assert!(columns > 0 && values.len().is_multiple_of(columns), "not a matrix");
        Self {
            values,
            rows: values.len() / columns,
            columns,
            row_stride: columns,
            column_stride: 1,
        }
    }

    /// Some of the columns.
    pub fn columns(self, start: usize, count: usize) -> Self {
        assert!(self.column_stride == 1 && start + count <= self.columns, "no such columns");
        let values = if self.rows == 0 { self.values } else { &self.values[start..] };
        Self { values, columns: count, ..self }
    }

    /// The transposed matrix.
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn column_count(&self) -> usize {
        self.columns
    }

    /// The elements, the distance of rows and that of the elements of a row.
    pub fn elements(&self) -> (&'a [f32], usize, usize) {
        (self.values, self.row_stride, self.column_stride)
    }

    /// Append some rows of some columns, each filled up with zeros to a width.
    pub fn copy_panel(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        width: usize,
        target: &mut Vec<f32>,
    ) {
        assert!(rows.end <= self.rows && columns.end <= self.columns, "no such panel");
        let padding = width - columns.len();
        if self.column_stride == 1 {
            for row in rows {
                let own = row * self.row_stride;
                target.extend_from_slice(&self.values[own + columns.start..own + columns.end]);
                target.extend(std::iter::repeat_n(0.0, padding));
            }
            return;
        }
        let start = target.len();
        target.resize(start + rows.len() * width, 0.0);
        for (place, column) in columns.enumerate() {
            let own = &self.values[column * self.column_stride + rows.start * self.row_stride..];
            let elements = own.iter().step_by(self.row_stride);
            for (row, value) in target[start..].chunks_exact_mut(width).zip(elements) {
                row[place] = *value;
            }
        }
    }

    /// Whether every element of the view is inside its slice.
    pub fn is_valid(&self) -> bool {
        self.rows == 0
            || self.columns == 0
            || (self.rows - 1) * self.row_stride + (self.columns - 1) * self.column_stride
                < self.values.len()
    }
}

/// Whether a product replaces its target or is added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Into {
    /// Replace.
    Set,
    /// Add.
    Add,
}

/// The product of two matrices, by rows. The order of summation depends on the shapes only.
pub fn multiply(left: Matrix<'_>, right: Matrix<'_>, product: &mut [f32], into: Into) {
    let columns = right.columns;
    multiply_columns(left, right, product, columns, 0, into);
}

/// The product of two matrices, as the columns from `first` on of a matrix with `width` columns.
pub fn multiply_columns(
    left: Matrix<'_>,
    right: Matrix<'_>,
    product: &mut [f32],
    width: usize,
    first: usize,
    into: Into,
) {
    assert!(right.is_valid(), "a view leaves its slice");
    let packed = Packed::reusing(right, PACKING_MEMORY.take());
    packed.multiply(left, product, width, first, into);
    PACKING_MEMORY.set(packed.into_memory());
}

/// Add each row of a matrix to the sums of its columns.
pub fn add_column_sums(values: &[f32], sums: &mut [f32]) {
    for row in values.chunks_exact(sums.len()) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
}

/// Set all rows of a matrix to the same row.
pub fn fill_rows(values: &mut [f32], row: &[f32]) {
    for target in values.chunks_exact_mut(row.len()) {
        target.copy_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_views_are_right() {
        let left = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let right = [1.0, -1.0, 0.5, 2.0, 0.0, 1.0];
        let mut product = vec![1.0; 4];
        multiply(Matrix::new(&left, 3), Matrix::new(&right, 2), &mut product, Into::Set);
        assert_eq!(product, [2.0, 6.0, 6.5, 12.0]);
        multiply(Matrix::new(&left, 3), Matrix::new(&right, 2), &mut product, Into::Add);
        assert_eq!(product, [4.0, 12.0, 13.0, 24.0]);
        // The transpose of the left factor, of which only the last two columns are used.
        let mut sums = vec![0.0; 8];
        multiply_columns(
            Matrix::new(&left, 3).columns(1, 2).transposed(),
            Matrix::new(&right[..6], 3),
            &mut sums,
            4,
            1,
            Into::Set,
        );
        assert_eq!(sums, [0.0, 12.0, -2.0, 6.0, 0.0, 15.0, -3.0, 7.5]);
    }

    #[test]
    #[should_panic(expected = "do not agree")]
    fn shapes_are_checked() {
        multiply(Matrix::new(&[1.0; 6], 3), Matrix::new(&[1.0; 4], 2), &mut [0.0; 4], Into::Set);
    }
}
