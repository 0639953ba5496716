//! The Viterbi algorithm: the most probable states of a sequence.

use super::kernels::{LANES, multiply, scale};
use super::log_product::LogProduct;
use super::model::{HmmError, Model};
use super::sequences::Sequences;
use crate::cancel::{Cancel, Cancelled};
use crate::numeric::simd_dispatch::simd_dispatch;

/// The best path of each sequence, and the joint log-probability of the sequence and that path. Of
/// equally good paths, the one with the smallest last state is taken, then with the smallest state
/// before it, and so on.
pub fn best_states(
    model: &Model,
    sequences: &Sequences,
    cancel: &Cancel,
) -> Result<(Vec<u32>, Vec<f64>), HmmError> {
    sequences.check(model.symbols())?;
    let paths = sequences.map(Vec::new, |rows, sequence| {
        let path = best_path(model, sequences.get(sequence), rows, cancel)?;
        path.ok_or(HmmError::Impossible { sequence })
    })?;
    let (states, log_probabilities): (Vec<_>, Vec<_>) = paths.into_iter().unzip();
    Ok((states.concat(), log_probabilities))
}

/// The best states of a sequence; none if it is impossible. For each position, `rows` has the
/// probability of the best path to each state, relative to the best state. There are no
/// backpointers: the predecessors of the states on the best path are found again from the end.
fn best_path(
    model: &Model,
    symbols: &[u32],
    rows: &mut Vec<f64>,
    cancel: &Cancel,
) -> Result<Option<(Vec<u32>, f64)>, Cancelled> {
    let width = model.width();
    rows.resize(symbols.len() * width, 0.0);
    let mut log_probability = LogProduct::default();
    for (position, &symbol) in symbols.iter().enumerate() {
        cancel.check()?;
        let (earlier, later) = rows.split_at_mut(position * width);
        let now = &mut later[..width];
        match earlier.rchunks_exact(width).next() {
            Some(before) => best_entries(&model.transitions, before, now),
            None => now.copy_from_slice(&model.initial),
        }
        multiply(now, model.emission(symbol));
        let best = now.iter().copied().fold(0.0, f64::max);
        if best < f64::MIN_POSITIVE {
            return Ok(None);
        }
        scale(now, 1.0 / best);
        log_probability.multiply(best);
    }
    let mut states = vec![0; symbols.len()];
    let mut onward = &model.ends[..];
    let mut best = None;
    for (now, state) in rows.chunks_exact(width).zip(&mut states).rev() {
        let reached = now.iter().zip(onward).map(|(now, onward)| now * onward);
        let (chosen, value) = first_maximum(reached);
        best.get_or_insert(value);
        *state = chosen as u32;
        onward = &model.entries[chosen * width..][..width];
    }
    log_probability.multiply(best.unwrap_or_default());
    let log_probability = log_probability.finish();
    Ok((log_probability > f64::NEG_INFINITY).then_some((states, log_probability)))
}

fn first_maximum(values: impl Iterator<Item = f64>) -> (usize, f64) {
    values.enumerate().fold(
        (0, 0.0),
        |best, (state, value)| {
            if value > best.1 { (state, value) } else { best }
        },
    )
}

/// `now[j]` = the largest of `before[i] * transitions[i][j]`.
fn best_entries(transitions: &[f64], before: &[f64], now: &mut [f64]) {
    simd_dispatch!(maximise_rows, (transitions: &[f64], before: &[f64], now: &mut [f64]) -> ())
}

#[inline(always)]
fn maximise_rows(matrix: &[f64], factors: &[f64], result: &mut [f64]) {
    result.fill(0.0);
    for (row, &factor) in matrix.chunks_exact(result.len()).zip(factors) {
        let (row, _) = row.as_chunks::<LANES>();
        let (best, _) = result.as_chunks_mut::<LANES>();
        for (best, value) in best.iter_mut().zip(row) {
            for (best, value) in best.iter_mut().zip(value) {
                let value = factor * value;
                *best = if value > *best { value } else { *best };
            }
        }
    }
}
