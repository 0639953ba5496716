//! The tensors of binary rules over latent states, each kept dense or sparse.

use super::latent::{check_length, offsets};
use super::rules::{GrammarError, Rules, SymbolId};

/// A rule's tensor: a row for each state of the parent, in which the states of the left and the
/// right child are the rows and columns of a matrix.
#[derive(Debug, Clone, Copy)]
pub enum Tensor<'a> {
    /// All values, row by row.
    Dense(&'a [f32]),
    /// Some values; the others are zero.
    Sparse(SparseTensor<'a>),
}

/// The stored values of a tensor, row by row.
#[derive(Debug, Clone, Copy)]
pub struct SparseTensor<'a> {
    /// The rows that have any.
    pub runs: &'a [Run],
    /// The place of each value in the matrix of its row.
    pub places: &'a [u32],
    /// The values.
    pub values: &'a [f32],
}

/// Stored values of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Which row.
    pub row: u32,
    /// How many there are.
    pub length: u32,
}

impl<'a> SparseTensor<'a> {
    /// The rows that have any values, with the places and the values.
    #[inline(always)]
    pub fn rows(self) -> impl Iterator<Item = (usize, &'a [u32], &'a [f32])> {
        let (mut places, mut values) = (self.places, self.values);
        self.runs.iter().map(move |run| {
            let (own_places, own_values);
            (own_places, places) = places.split_at(run.length as usize);
            (own_values, values) = values.split_at(run.length as usize);
            (run.row as usize, own_places, own_values)
        })
    }
}

/// Where something of a rule starts in each of the buffers.
#[derive(Debug, Clone, Copy, Default)]
struct Start {
    values: usize,
    places: usize,
    runs: usize,
}

/// The tensors of all rules in the order of [`Rules::binary`], so that those of a pair of children
/// are neighbours in memory.
#[derive(Debug, Clone)]
pub(super) struct Tensors {
    /// One for each rule, and the end.
    starts: Vec<Start>,
    values: Vec<f32>,
    places: Vec<u32>,
    runs: Vec<Run>,
}

impl Tensors {
    /// Sort and check tensors: `counts[rule]` of the `values` belong to each rule in the order in
    /// which rules were given; where these are not all, they have ascending `positions`.
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
            let (found, most) = (stored(row), shapes[row].1);
            return Err(GrammarError::TooManyStored { row, found, most });
        }
        let is_sparse = |given: usize| stored(given) < shapes[given].1;
        let value_offsets = offsets((0..counts.len()).map(stored));
        let place_offsets = offsets(
            (0..counts.len()).map(|given| if is_sparse(given) { stored(given) } else { 0 }),
        );
        check_length("latent binary rules", values.len(), value_offsets[counts.len()])?;
        check_length("latent binary positions", positions.len(), place_offsets[counts.len()])?;
        let mut tensors = Self {
            starts: Vec::with_capacity(counts.len() + 1),
            values: Vec::with_capacity(values.len()),
            places: Vec::with_capacity(positions.len()),
            runs: Vec::new(),
        };
        for &given in rules.binary_order() {
            let given = given as usize;
            tensors.starts.push(tensors.end());
            tensors.values.extend(&values[value_offsets[given]..value_offsets[given + 1]]);
            let (length, size) = shapes[given];
            let own = &positions[place_offsets[given]..place_offsets[given + 1]];
            let ascending = own.windows(2).all(|pair| pair[0] < pair[1]);
            if !ascending || own.last().is_some_and(|&last| last as usize >= size) {
                return Err(GrammarError::Positions { row: given, size });
            }
            tensors.places.extend(own.iter().map(|&position| position % length as u32));
            for run in own.chunk_by(|a, b| *a as usize / length == *b as usize / length) {
                let row = run[0] / length as u32;
                tensors.runs.push(Run { row, length: run.len() as u32 });
            }
        }
        tensors.starts.push(tensors.end());
        Ok(tensors)
    }

    fn end(&self) -> Start {
        Start { values: self.values.len(), places: self.places.len(), runs: self.runs.len() }
    }

    /// The tensor of a rule, by its place in [`Rules::binary`].
    #[inline(always)]
    pub fn get(&self, rule: usize) -> Tensor<'_> {
        let (start, end) = (self.starts[rule], self.starts[rule + 1]);
        let values = &self.values[start.values..end.values];
        let places = &self.places[start.places..end.places];
        // A dense tensor has values, but no places.
        if places.len() < values.len() {
            Tensor::Dense(values)
        } else {
            Tensor::Sparse(SparseTensor { runs: &self.runs[start.runs..end.runs], places, values })
        }
    }
}
