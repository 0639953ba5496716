//! Products of matrices. The right factor is packed into panels of columns, which a product reads one
//! after the other, and small blocks of the product are summed in registers.
//!
//! The weights of a recurrent layer are packed once and multiply the few rows of each position.

use super::matrix::{Into, Matrix};

/// The number of rows of the right factor that are multiplied before the next ones: a panel of them
/// stays in the nearest cache.
const DEPTH: usize = 256;

/// The instructions that a product uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instructions {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// Those of the processor, the best ones last.
    fn available() -> impl DoubleEndedIterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let wide = [
            (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"))
                .then_some(Self::Avx2),
            is_x86_feature_detected!("avx512f").then_some(Self::Avx512),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let wide = [None];
        std::iter::once(Self::Portable).chain(wide.into_iter().flatten())
    }

    fn best() -> Self {
        Self::available().next_back().unwrap_or(Self::Portable)
    }

    /// The number of columns of a panel.
    fn width(self) -> usize {
        match self {
            Self::Portable => 16,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 16,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => 32,
        }
    }

    /// The largest number of rows whose sums fit into registers.
    fn most_rows(self) -> usize {
        match self {
            Self::Portable => 4,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 6,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => 8,
        }
    }
}

/// A matrix in panels of columns, as the right factor of products.
#[derive(Debug)]
pub struct Packed {
    instructions: Instructions,
    rows: usize,
    columns: usize,
    /// For each [`DEPTH`] of rows its panels, each by rows; the last panel is filled up with zeros.
    values: Vec<f32>,
}

impl Packed {
    /// Pack a matrix.
    pub fn new(matrix: Matrix<'_>) -> Self {
        Self::with(matrix, Instructions::best(), Vec::new())
    }

    /// Pack a matrix into memory that was used before.
    pub fn reusing(matrix: Matrix<'_>, memory: Vec<f32>) -> Self {
        Self::with(matrix, Instructions::best(), memory)
    }

    /// The memory, for the next matrix.
    pub fn into_memory(self) -> Vec<f32> {
        self.values
    }

    fn with(matrix: Matrix<'_>, instructions: Instructions, mut values: Vec<f32>) -> Self {
        let (rows, columns) = (matrix.rows(), matrix.column_count());
        let width = instructions.width();
        values.clear();
        values.reserve(rows * columns.next_multiple_of(width));
        for first in (0..rows).step_by(DEPTH) {
            let own = first..rows.min(first + DEPTH);
            for column in (0..columns).step_by(width) {
                let count = width.min(columns - column);
                matrix.copy_panel(own.clone(), column..column + count, width, &mut values);
            }
        }
        Self { instructions, rows, columns, values }
    }

    /// The product with a matrix on the left, as the columns from `first` on of a matrix with `stride`
    /// columns. The order of summation depends on the shapes only.
    pub fn multiply(
        &self,
        left: Matrix<'_>,
        product: &mut [f32],
        stride: usize,
        first: usize,
        into: Into,
    ) {
        let rows = left.rows();
        assert_eq!(left.column_count(), self.rows, "the shapes of the factors do not agree");
        assert_eq!(product.len(), rows * stride, "the shape of the product is another one");
        assert!(first + self.columns <= stride, "the product has too many columns");
        assert!(left.is_valid(), "a view leaves its slice");
        if self.rows == 0 && into == Into::Set {
            product.chunks_exact_mut(stride).for_each(|row| row[first..][..self.columns].fill(0.0));
        }
        let (width, most_rows) = (self.instructions.width(), self.instructions.most_rows());
        let (values, row_stride, step) = left.elements();
        let blocks = rows.div_ceil(most_rows);
        for start in (0..self.rows).step_by(DEPTH) {
            let depth = DEPTH.min(self.rows - start);
            let add = into == Into::Add || start > 0;
            let panels = &self.values[start * self.columns.next_multiple_of(width)..];
            for (number, panel) in
                panels.chunks_exact(depth * width).take(self.columns.div_ceil(width)).enumerate()
            {
                let column = number * width;
                for block in 0..blocks {
                    // Blocks of nearly the same size.
                    let own = rows * block / blocks..rows * (block + 1) / blocks;
                    let block = Block {
                        left: &values[own.start * row_stride + start * step..],
                        row_stride,
                        step,
                        panel,
                        stride,
                        columns: width.min(self.columns - column),
                        add,
                    };
                    let target = &mut product[own.start * stride + first + column..];
                    // SAFETY: the processor has the instructions, as was checked when the matrix was
                    // packed. The view of the left factor is in its slice, and a row of the product
                    // has room for the columns, as was checked above.
                    unsafe { block.run(self.instructions, own.len(), target) };
                }
            }
        }
    }
}

/// Some rows of a product with one panel.
#[derive(Debug, Clone, Copy)]
struct Block<'a> {
    left: &'a [f32],
    row_stride: usize,
    /// The distance of the elements of a row of the left factor.
    step: usize,
    panel: &'a [f32],
    /// The distance of the rows of the product.
    stride: usize,
    columns: usize,
    add: bool,
}

/// Call a function with a number of rows that is known at compile time.
macro_rules! with_rows {
    ($kernel:ident, $block:ident, $product:ident, $rows:ident: $($count:literal)*) => {
        match $rows {
            $($count => $kernel::<$count>($block, $product),)*
            _ => unreachable!("a block has more rows than there are registers"),
        }
    };
}

impl Block<'_> {
    /// # Safety
    /// The processor must have the instructions; the left factor must have the rows, each with as many
    /// elements as the panel has rows.
    unsafe fn run(self, instructions: Instructions, rows: usize, product: &mut [f32]) {
        // SAFETY: as the caller promises.
        unsafe {
            match instructions {
                Instructions::Portable => with_rows!(portable, self, product, rows: 1 2 3 4),
                #[cfg(target_arch = "x86_64")]
                Instructions::Avx2 => with_rows!(avx2, self, product, rows: 1 2 3 4 5 6),
                #[cfg(target_arch = "x86_64")]
                Instructions::Avx512 => {
                    with_rows!(avx512, self, product, rows: 1 2 3 4 5 6 7 8);
                }
            }
        }
    }

    /// Set a row of the product, or add to it.
    #[inline(always)]
    fn write(&self, row: usize, sums: &[f32], product: &mut [f32]) {
        let target = &mut product[row * self.stride..][..self.columns];
        if self.add {
            target.iter_mut().zip(sums).for_each(|(target, sum)| *target += sum);
        } else {
            target.copy_from_slice(&sums[..self.columns]);
        }
    }
}

/// # Safety
/// As for [`Block::run`].
unsafe fn portable<const ROWS: usize>(block: Block<'_>, product: &mut [f32]) {
    const WIDTH: usize = 16;
    let mut sums = [[0.0; WIDTH]; ROWS];
    for (place, right) in block.panel.chunks_exact(WIDTH).enumerate() {
        for (row, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the caller promises that the left factor has this element.
            let factor =
                unsafe { *block.left.get_unchecked(row * block.row_stride + place * block.step) };
            sums.iter_mut().zip(right).for_each(|(sum, right)| *sum += factor * right);
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        block.write(row, sums, product);
    }
}

/// A kernel that keeps two vectors of sums for each row.
#[cfg(target_arch = "x86_64")]
macro_rules! vector_kernel {
    (
        $name:ident, $features:literal, $lanes:literal,
        $zero:ident, $load:ident, $fill:ident, $multiply_add:ident, $store:ident
    ) => {
        /// # Safety
        /// As for [`Block::run`].
        #[target_feature(enable = $features)]
        unsafe fn $name<const ROWS: usize>(block: Block<'_>, product: &mut [f32]) {
            use std::arch::x86_64::{$fill, $load, $multiply_add, $store, $zero};
            let mut sums = [[$zero(); 2]; ROWS];
            for (place, right) in block.panel.chunks_exact(2 * $lanes).enumerate() {
                // SAFETY: the chunk has two vectors, and the caller promises that the left factor has
                // these elements.
                unsafe {
                    let right = [$load(right.as_ptr()), $load(right.as_ptr().add($lanes))];
                    for (row, sums) in sums.iter_mut().enumerate() {
                        let own = row * block.row_stride + place * block.step;
                        let factor = $fill(*block.left.get_unchecked(own));
                        sums[0] = $multiply_add(factor, right[0], sums[0]);
                        sums[1] = $multiply_add(factor, right[1], sums[1]);
                    }
                }
            }
            for (row, sums) in sums.iter().enumerate() {
                let mut own = [0.0f32; 2 * $lanes];
                // SAFETY: there is room for two vectors.
                unsafe {
                    $store(own.as_mut_ptr(), sums[0]);
                    $store(own.as_mut_ptr().add($lanes), sums[1]);
                }
                block.write(row, &own, product);
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
vector_kernel!(
    avx2,
    "avx2,fma",
    8,
    _mm256_setzero_ps,
    _mm256_loadu_ps,
    _mm256_set1_ps,
    _mm256_fmadd_ps,
    _mm256_storeu_ps
);

#[cfg(target_arch = "x86_64")]
vector_kernel!(
    avx512,
    "avx512f",
    16,
    _mm512_setzero_ps,
    _mm512_loadu_ps,
    _mm512_set1_ps,
    _mm512_fmadd_ps,
    _mm512_storeu_ps
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::random::Random;

    /// A product by its definition, in double precision.
    fn naive(left: &[f32], right: &[f32], depth: usize, columns: usize) -> Vec<f32> {
        let rows = left.chunks_exact(depth);
        rows.flat_map(|row| {
            (0..columns).map(|column| {
                let terms = row.iter().enumerate().map(|(place, value)| {
                    f64::from(*value) * f64::from(right[place * columns + column])
                });
                terms.sum::<f64>() as f32
            })
        })
        .collect()
    }

    fn transpose(values: &[f32], columns: usize) -> Vec<f32> {
        (0..values.len())
            .map(|place| {
                let rows = values.len() / columns;
                values[place % rows * columns + place / rows]
            })
            .collect()
    }

    fn assert_close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
        }
    }

    #[test]
    fn products_of_all_kernels_are_those_of_the_definition() {
        let mut random = Random::new(&[3]);
        for (rows, depth, columns) in [
            (1, 1, 1),
            (8, 20, 33),
            (12, 7, 32),
            (13, 300, 5),
            (5, 513, 16),
            (30, 2, 70),
            (0, 3, 4),
        ] {
            let mut matrix =
                |size: usize| -> Vec<f32> { (0..size).map(|_| random.uniform() - 0.5).collect() };
            let (left, right) = (matrix(rows * depth), matrix(depth * columns));
            let expected = naive(&left, &right, depth, columns);
            let (left_turned, right_turned) = (transpose(&left, depth), transpose(&right, columns));
            for instructions in Instructions::available() {
                let pack = |matrix| Packed::with(matrix, instructions, vec![9.0]);
                let packed = pack(Matrix::new(&right, columns));
                let mut product = vec![5.0; rows * columns];
                packed.multiply(Matrix::new(&left, depth), &mut product, columns, 0, Into::Set);
                assert_close(&product, &expected);
                // Both factors from their transposes, added, as columns of a wider matrix.
                let packed = pack(Matrix::new(&right_turned, depth).transposed());
                if rows == 0 {
                    continue;
                }
                let turned = Matrix::new(&left_turned, rows).transposed();
                let mut wide = vec![1.0; rows * (columns + 3)];
                packed.multiply(turned, &mut wide, columns + 3, 2, Into::Add);
                for (row, expected) in wide.chunks(columns + 3).zip(expected.chunks(columns)) {
                    let expected: Vec<f32> = expected.iter().map(|value| value + 1.0).collect();
                    assert_close(&row[2..columns + 2], &expected);
                    assert_eq!([row[0], row[1], row[columns + 2]], [1.0; 3]);
                }
            }
        }
    }

    #[test]
    fn a_row_does_not_depend_on_the_rows_beside_it() {
        let mut random = Random::new(&[7]);
        let values: Vec<f32> = (0..40 * 30).map(|_| random.uniform()).collect();
        let packed = Packed::new(Matrix::new(&values, 30));
        let product = |rows: usize| {
            let mut product = vec![0.0; rows * 30];
            let left = Matrix::new(&values[..rows * 40], 40);
            packed.multiply(left, &mut product, 30, 0, Into::Set);
            product
        };
        assert_eq!(product(3), product(25)[..90]);
    }
}
