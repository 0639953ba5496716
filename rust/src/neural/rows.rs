//! Rows of matrices: by number, by mask, and those of the borders between words.

use super::batch::Batch;
use super::packing::Packing;

/// Add values to the first of some sums.
pub fn add(sums: &mut [f32], values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

/// Rows of a matrix by their numbers.
pub fn gather(matrix: &[f32], columns: usize, numbers: &[u32]) -> Vec<f32> {
    numbers.iter().flat_map(|&n| &matrix[n as usize * columns..][..columns]).copied().collect()
}

/// The rows of the last and of the first character of a word, where the two directions have read
/// all of its characters.
pub fn character_rows(batch: &Batch, row: usize) -> [usize; 2] {
    let sequence = batch.character_sequences[row] as usize;
    let length = batch.character_packing.length(sequence);
    [length - 1, 0].map(|position| batch.character_packing.row(sequence, position))
}

/// Multiply each row by the mask of its sequence.
pub fn mask_rows(packing: &Packing, values: &mut [f32], masks: &[f32]) {
    let columns = values.len() / packing.rows();
    for (rows, _) in packing.positions() {
        let own = &mut values[rows.start * columns..rows.end * columns];
        own.iter_mut().zip(masks).for_each(|(value, kept)| *value *= kept);
    }
}

/// For each border of each sentence what was read from the left before it, and from the right after
/// it.
pub fn borders(packing: &Packing, outputs: &[f32], hidden: usize) -> Vec<f32> {
    let mut borders = Vec::with_capacity(outputs.len());
    for sequence in 0..packing.sequences() {
        for border in 0..packing.length(sequence) - 1 {
            let before = packing.row(sequence, border) * 2 * hidden;
            let after = packing.row(sequence, border + 1) * 2 * hidden + hidden;
            borders.extend_from_slice(&outputs[before..before + hidden]);
            borders.extend_from_slice(&outputs[after..after + hidden]);
        }
    }
    borders
}

/// The gradients of outputs, given those of borders.
pub fn border_outputs(packing: &Packing, border_gradients: &[f32], hidden: usize) -> Vec<f32> {
    let mut gradients = vec![0.0; packing.rows() * 2 * hidden];
    let mut rows = border_gradients.chunks_exact(2 * hidden);
    for sequence in 0..packing.sequences() {
        for border in 0..packing.length(sequence) - 1 {
            let Some(row) = rows.next() else { return gradients };
            let before = packing.row(sequence, border) * 2 * hidden;
            let after = packing.row(sequence, border + 1) * 2 * hidden + hidden;
            gradients[before..before + hidden].copy_from_slice(&row[..hidden]);
            gradients[after..after + hidden].copy_from_slice(&row[hidden..]);
        }
    }
    gradients
}

/// Add the gradient of scores, given the gradient of the probabilities that they have.
pub fn add_soft_max_gradient(probabilities: &[f32], gradients: &[f32], sums: &mut [f32]) {
    let mean: f32 = probabilities.iter().zip(gradients).map(|(p, gradient)| p * gradient).sum();
    for ((sum, p), gradient) in sums.iter_mut().zip(probabilities).zip(gradients) {
        *sum += p * (gradient - mean);
    }
}
