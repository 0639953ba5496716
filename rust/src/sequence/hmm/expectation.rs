//! Log-probabilities of sequences, posteriors of states and expected counts.

use rayon::prelude::*;

use super::forward_backward::Lattice;
use super::model::{HmmError, Model};
use super::sequences::{Chunk, Sequences};
use crate::cancel::Cancel;

/// The number of chunks whose counts are kept at once before they are summed.
const CHUNKS_AT_ONCE: usize = 32;

/// Expected counts summed over sequences: the E-step of Baum-Welch.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Of states at the beginning.
    pub initial: Vec<f64>,
    /// Of transitions, a row for each source state.
    pub transitions: Vec<f64>,
    /// Of states at the end.
    pub ends: Vec<f64>,
    /// Of symbols, a row for each state.
    pub emissions: Vec<f64>,
    /// The log-probability of all sequences together.
    pub log_probability: f64,
}

/// The log-probability of each sequence, minus infinity if the model cannot generate it.
pub fn log_probabilities(
    model: &Model,
    sequences: &Sequences,
    cancel: &Cancel,
) -> Result<Vec<f64>, HmmError> {
    sequences.check(model.symbols())?;
    sequences.map(Lattice::default, |lattice, sequence| {
        Ok(lattice.forward(model, sequences.get(sequence), cancel)?)
    })
}

/// The posteriors of states, a row for each symbol of all sequences.
pub fn posteriors(
    model: &Model,
    sequences: &Sequences,
    cancel: &Cancel,
) -> Result<Vec<f64>, HmmError> {
    let rows = map_lattices(model, sequences, cancel, |lattice| {
        let rows = lattice.rows().flat_map(|(forward, backward)| {
            forward.iter().zip(backward).take(model.states()).map(|(left, right)| left * right)
        });
        rows.collect::<Vec<f64>>()
    })?;
    Ok(rows.concat())
}

/// For each sequence, the expected counts of states, followed by those of transitions if
/// `transitions` is true, with a row for each source state.
pub fn expected_visits(
    model: &Model,
    sequences: &Sequences,
    transitions: bool,
    cancel: &Cancel,
) -> Result<Vec<f64>, HmmError> {
    let (states, width) = (model.states(), model.width());
    let rows = map_lattices(model, sequences, cancel, |lattice| {
        let mut counts = vec![0.0; width];
        for (forward, backward) in lattice.rows() {
            add_products(&mut counts, forward, backward);
        }
        counts.truncate(states);
        if transitions {
            let mut steps = vec![0.0; width * width];
            lattice.add_steps(&mut steps);
            counts.extend(times_transitions(model, &steps));
        }
        counts
    })?;
    Ok(rows.concat())
}

/// Run both passes over each sequence and collect the results of `read`.
fn map_lattices<T: Send>(
    model: &Model,
    sequences: &Sequences,
    cancel: &Cancel,
    read: impl Fn(&Lattice) -> T + Sync,
) -> Result<Vec<T>, HmmError> {
    sequences.check(model.symbols())?;
    sequences.map(Lattice::default, |lattice, sequence| {
        lattice.fill(model, sequences, sequence, cancel)?;
        Ok(read(lattice))
    })
}

/// Expected counts over all sequences, on the threads of the current rayon pool; the sums do not
/// depend on their number.
pub fn expected_counts(
    model: &Model,
    sequences: &Sequences,
    cancel: &Cancel,
) -> Result<Counts, HmmError> {
    sequences.check(model.symbols())?;
    let (states, width) = (model.states(), model.width());
    let mut sums = ChunkCounts::new(width, model.symbols());
    for chunks in sequences.chunks().chunks(CHUNKS_AT_ONCE) {
        let counted: Vec<_> = chunks
            .par_iter()
            .map_init(Lattice::default, |lattice, chunk| {
                ChunkCounts::count(model, sequences, chunk, lattice, cancel)
            })
            .collect();
        for (chunk, counts) in chunks.iter().zip(counted) {
            sums.add(chunk, &counts?);
        }
    }
    let mut emissions = vec![0.0; states * model.symbols()];
    for (symbol, row) in sums.emissions.chunks_exact(width).enumerate() {
        for (state, &count) in row[..states].iter().enumerate() {
            emissions[state * model.symbols() + symbol] = count;
        }
    }
    Ok(Counts {
        initial: sums.initial[..states].to_vec(),
        transitions: times_transitions(model, &sums.steps),
        ends: sums.ends[..states].to_vec(),
        emissions,
        log_probability: sums.log_probability,
    })
}

/// The counts of a chunk. Emissions have a padded row for each symbol of its vocabulary.
struct ChunkCounts {
    initial: Vec<f64>,
    steps: Vec<f64>,
    ends: Vec<f64>,
    emissions: Vec<f64>,
    log_probability: f64,
}

impl ChunkCounts {
    fn new(width: usize, symbols: usize) -> Self {
        Self {
            initial: vec![0.0; width],
            steps: vec![0.0; width * width],
            ends: vec![0.0; width],
            emissions: vec![0.0; symbols * width],
            log_probability: 0.0,
        }
    }

    fn count(
        model: &Model,
        sequences: &Sequences,
        chunk: &Chunk,
        lattice: &mut Lattice,
        cancel: &Cancel,
    ) -> Result<Self, HmmError> {
        let width = model.width();
        let mut counts = Self::new(width, chunk.vocabulary.len());
        let mut numbers = chunk.vocabulary_numbers.iter();
        for sequence in chunk.sequences.clone() {
            counts.log_probability += lattice.fill(model, sequences, sequence, cancel)?;
            lattice.add_steps(&mut counts.steps);
            if let Some((forward, backward)) = lattice.rows().next() {
                add_products(&mut counts.initial, forward, backward);
            }
            if let Some((forward, backward)) = lattice.rows().next_back() {
                add_products(&mut counts.ends, forward, backward);
            }
            for ((forward, backward), &number) in lattice.rows().zip(&mut numbers) {
                let counts = &mut counts.emissions[number as usize * width..][..width];
                add_products(counts, forward, backward);
            }
        }
        Ok(counts)
    }

    /// Add the counts of a chunk to those of all symbols.
    fn add(&mut self, chunk: &Chunk, counts: &Self) {
        add(&mut self.initial, &counts.initial);
        add(&mut self.steps, &counts.steps);
        add(&mut self.ends, &counts.ends);
        let width = self.initial.len();
        for (&symbol, row) in chunk.vocabulary.iter().zip(counts.emissions.chunks_exact(width)) {
            add(&mut self.emissions[symbol as usize * width..][..width], row);
        }
        self.log_probability += counts.log_probability;
    }
}

fn add(sums: &mut [f64], values: &[f64]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += value;
    }
}

fn add_products(sums: &mut [f64], left: &[f64], right: &[f64]) {
    for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
        *sum += left * right;
    }
}

/// Expected transitions, without padding, from what [`Lattice::add_steps`] has summed.
fn times_transitions(model: &Model, steps: &[f64]) -> Vec<f64> {
    let width = model.width();
    let rows = steps.chunks_exact(width).zip(model.transitions.chunks_exact(width));
    rows.flat_map(|(steps, transitions)| {
        steps.iter().zip(transitions).take(model.states()).map(|(left, right)| left * right)
    })
    .collect()
}
