//! Tensors of binary rules over latent states, dense or sparse.

/// The tensor of a rule: a row for each state of the parent. Each row is a flattened matrix over
/// the states of the left and the right child.
#[derive(Debug, Clone, Copy)]
pub enum Tensor<'a> {
    /// All values, row by row.
    Dense(&'a [f32]),
    /// Some values; the others are zero.
    Sparse(SparseTensor<'a>),
}

/// The stored values of a sparse tensor, row by row.
#[derive(Debug, Clone, Copy)]
pub struct SparseTensor<'a> {
    /// The rows that have stored values.
    pub runs: &'a [Run],
    /// The column of each value: its index in the flattened matrix of its row.
    pub columns: &'a [u32],
    /// The values.
    pub values: &'a [f32],
}

/// The run of stored values of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Which row.
    pub row: u32,
    /// Their number.
    pub length: u32,
}

impl<'a> SparseTensor<'a> {
    /// The rows that have stored values, with their columns and values.
    #[inline(always)]
    pub fn rows(self) -> impl Iterator<Item = (usize, &'a [u32], &'a [f32])> {
        let (mut columns, mut values) = (self.columns, self.values);
        self.runs.iter().map(move |run| {
            let (own_columns, own_values);
            (own_columns, columns) = columns.split_at(run.length as usize);
            (own_values, values) = values.split_at(run.length as usize);
            (run.row as usize, own_columns, own_values)
        })
    }
}

/// A sparse tensor that owns its values.
#[derive(Debug, Clone, Default)]
pub struct SparseValues {
    runs: Vec<Run>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl SparseValues {
    /// The non-zeros, `count` in all, of a dense tensor whose rows have `length` values.
    pub fn from_dense(tensor: &[f32], length: usize, count: usize) -> Self {
        let mut sparse = Self {
            runs: Vec::new(),
            columns: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
        };
        for (row, values) in tensor.chunks_exact(length).enumerate() {
            let before = sparse.values.len();
            for (column, &value) in values.iter().enumerate().filter(|entry| *entry.1 != 0.0) {
                sparse.columns.push(column as u32);
                sparse.values.push(value);
            }
            let stored = sparse.values.len() - before;
            if stored > 0 {
                sparse.runs.push(Run { row: row as u32, length: stored as u32 });
            }
        }
        sparse
    }

    /// The tensor, borrowed.
    #[inline(always)]
    pub fn tensor(&self) -> SparseTensor<'_> {
        SparseTensor { runs: &self.runs, columns: &self.columns, values: &self.values }
    }
}
