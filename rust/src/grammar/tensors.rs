//! The tensors of binary rules over latent states, each stored as dense or sparse.

use super::latent::{check_length, offsets};
use super::rules::{GrammarError, Rules, SymbolId};
use crate::numeric::tensor::{Run, SparseTensor, Tensor};

/// Where a rule starts in each of the buffers.
#[derive(Debug, Clone, Copy, Default)]
struct Start {
    values: usize,
    columns: usize,
    runs: usize,
}

/// The tensors of all rules in the order of [`Rules::binary`], so that those of a pair of children
/// are neighbours in memory.
#[derive(Debug, Clone)]
pub(super) struct Tensors {
    /// One for each rule, and the end.
    starts: Vec<Start>,
    values: Vec<f32>,
    columns: Vec<u32>,
    runs: Vec<Run>,
}

impl Tensors {
    /// Check and sort tensors. In the order in which rules were given, `counts[rule]` of the
    /// `values` belong to each rule. If these are not all values of its tensor, the rule also has
    /// that many ascending `positions`.
    pub fn new(
        rules: &Rules,
        states: impl Fn(SymbolId) -> usize,
        counts: &[u32],
        values: &[f32],
        positions: &[u32],
    ) -> Result<Self, GrammarError> {
        check_length("latent binary counts", counts.len(), rules.binary().len())?;
        let mut shapes = vec![(0, 0); counts.len()];
        for (rule, &given) in rules.binary().iter().zip(rules.binary_order()) {
            let length = states(rule.left) * states(rule.right);
            shapes[given as usize] = (length, states(rule.parent) * length);
        }
        let stored = |given: usize| counts[given] as usize;
        if let Some(row) = (0..counts.len()).find(|&given| stored(given) > shapes[given].1) {
            let (found, size) = (stored(row), shapes[row].1);
            return Err(GrammarError::TooManyStored { row, found, size });
        }
        let is_sparse = |given: usize| stored(given) < shapes[given].1;
        let value_offsets = offsets((0..counts.len()).map(stored));
        let position_offsets = offsets(
            (0..counts.len()).map(|given| if is_sparse(given) { stored(given) } else { 0 }),
        );
        check_length("latent binary rules", values.len(), value_offsets[counts.len()])?;
        check_length("latent binary positions", positions.len(), position_offsets[counts.len()])?;
        let mut tensors = Self {
            starts: Vec::with_capacity(counts.len() + 1),
            values: Vec::with_capacity(values.len()),
            columns: Vec::with_capacity(positions.len()),
            runs: Vec::new(),
        };
        for &given in rules.binary_order() {
            let given = given as usize;
            tensors.starts.push(tensors.end());
            tensors.values.extend(&values[value_offsets[given]..value_offsets[given + 1]]);
            let (length, size) = shapes[given];
            let own = &positions[position_offsets[given]..position_offsets[given + 1]];
            let ascending = own.windows(2).all(|pair| pair[0] < pair[1]);
            if !ascending || own.last().is_some_and(|&last| last as usize >= size) {
                return Err(GrammarError::Positions { row: given, size });
            }
            tensors.columns.extend(own.iter().map(|&position| position % length as u32));
            for run in own.chunk_by(|a, b| *a as usize / length == *b as usize / length) {
                let row = run[0] / length as u32;
                tensors.runs.push(Run { row, length: run.len() as u32 });
            }
        }
        tensors.starts.push(tensors.end());
        Ok(tensors)
    }

    fn end(&self) -> Start {
        Start { values: self.values.len(), columns: self.columns.len(), runs: self.runs.len() }
    }

    /// The tensor of a rule, by its index in [`Rules::binary`].
    #[inline(always)]
    pub fn get(&self, rule: usize) -> Tensor<'_> {
        let (start, end) = (self.starts[rule], self.starts[rule + 1]);
        let values = &self.values[start.values..end.values];
        let columns = &self.columns[start.columns..end.columns];
        // The columns of a dense tensor are not stored.
        if columns.len() < values.len() {
            Tensor::Dense(values)
        } else {
            Tensor::Sparse(SparseTensor { runs: &self.runs[start.runs..end.runs], columns, values })
        }
    }
}
