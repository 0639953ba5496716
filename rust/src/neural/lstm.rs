//! A long short-term memory over packed sequences (Hochreiter & Schmidhuber 1997), and its gradient.
//!
//! Gates are stored side by side: input, forget, output, candidate. The products with inputs are one
//! matrix product over all rows; only those with the outputs of the position before are computed
//! position by position.

use super::activations::{sigmoids, tangents};
use super::matrix::{Into, Matrix, add_column_sums, fill_rows, multiply};
use super::packing::Packing;
use super::product::Packed;
use crate::numeric::simd_dispatch::simd_dispatch;

/// The weights of one direction.
#[derive(Debug, Clone, Copy)]
pub struct LstmWeights<'a> {
    /// Inputs x four gates.
    pub input: &'a [f32],
    /// Outputs x four gates.
    pub recurrent: &'a [f32],
    /// Four gates.
    pub bias: &'a [f32],
}

impl LstmWeights<'_> {
    fn hidden(&self) -> usize {
        self.bias.len() / 4
    }

    fn inputs(&self) -> usize {
        self.input.len() / self.bias.len()
    }
}

/// The gradients of [`LstmWeights`], to which a backward pass adds.
#[derive(Debug)]
pub struct LstmGradients<'a> {
    /// Inputs x four gates.
    pub input: &'a mut [f32],
    /// Outputs x four gates.
    pub recurrent: &'a mut [f32],
    /// Four gates.
    pub bias: &'a mut [f32],
}

/// What a forward pass computes for each row.
#[derive(Debug)]
pub struct LstmStates {
    gates: Vec<f32>,
    cells: Vec<f32>,
    cell_tangents: Vec<f32>,
    /// The outputs of the position before, after dropout.
    previous: Vec<f32>,
    /// The outputs.
    pub outputs: Vec<f32>,
}

impl LstmStates {
    /// Read sequences. `mask` is the dropout mask of the outputs that a position gets from the
    /// position before: one row for each sequence (Gal & Ghahramani 2016).
    pub fn forward(
        weights: LstmWeights<'_>,
        packing: &Packing,
        inputs: &[f32],
        mask: Option<&[f32]>,
    ) -> Self {
        let (hidden, rows) = (weights.hidden(), packing.rows());
        let mut states = Self {
            gates: vec![0.0; rows * 4 * hidden],
            cells: vec![0.0; rows * hidden],
            cell_tangents: vec![0.0; rows * hidden],
            previous: vec![0.0; rows * hidden],
            outputs: vec![0.0; rows * hidden],
        };
        fill_rows(&mut states.gates, weights.bias);
        let inputs = Matrix::new(inputs, weights.inputs());
        let input_weights = Matrix::new(weights.input, 4 * hidden);
        multiply(inputs, input_weights, &mut states.gates, Into::Add);
        let recurrent = Packed::new(Matrix::new(weights.recurrent, 4 * hidden));
        for (rows, above) in packing.positions() {
            let (first, count) = (rows.start * hidden, rows.len() * hidden);
            let gates = &mut states.gates[4 * first..][..4 * count];
            let (cells_above, cells) = states.cells.split_at_mut(first);
            let cells = &mut cells[..count];
            if let Some(above) = above {
                let previous = &mut states.previous[first..][..count];
                previous.copy_from_slice(&states.outputs[above * hidden..][..count]);
                apply_mask(previous, mask);
                let previous = Matrix::new(previous, hidden);
                recurrent.multiply(previous, gates, 4 * hidden, 0, Into::Add);
                // The forget gate decides what is kept of these.
                cells.copy_from_slice(&cells_above[above * hidden..][..count]);
            }
            let cell_tangents = &mut states.cell_tangents[first..][..count];
            let outputs = &mut states.outputs[first..][..count];
            step(hidden, gates, cells, cell_tangents, outputs);
        }
        states
    }

    /// Add the gradients of the weights and of the inputs, given those of the outputs. `inputs` and
    /// `mask` are those of the forward pass.
    #[expect(clippy::too_many_arguments, reason = "those of the forward pass and the gradients")]
    pub fn backward(
        &self,
        weights: LstmWeights<'_>,
        packing: &Packing,
        inputs: &[f32],
        mask: Option<&[f32]>,
        output_gradients: &[f32],
        gradients: LstmGradients<'_>,
        input_gradients: &mut [f32],
    ) {
        let hidden = weights.hidden();
        let mut gate_gradients = vec![0.0; self.gates.len()];
        let zeros = vec![0.0; packing.sequences() * hidden];
        let recurrent = Packed::new(Matrix::new(weights.recurrent, 4 * hidden).transposed());
        // What comes back from the position after, for each sequence.
        let (mut cell_carry, mut output_carry) = (zeros.clone(), zeros.clone());
        for (rows, above) in packing.positions().rev() {
            let (first, count) = (rows.start * hidden, rows.len() * hidden);
            let carry = &mut output_carry[..count];
            for (carry, gradient) in carry.iter_mut().zip(&output_gradients[first..]) {
                *carry += gradient;
            }
            let target = &mut gate_gradients[4 * first..][..4 * count];
            step_back(
                hidden,
                &self.gates[4 * first..][..4 * count],
                above.map_or(&zeros, |above| &self.cells[above * hidden..]),
                &self.cell_tangents[first..][..count],
                carry,
                &mut cell_carry[..count],
                target,
            );
            if above.is_some() {
                let target = Matrix::new(target, 4 * hidden);
                recurrent.multiply(target, carry, hidden, 0, Into::Set);
                apply_mask(carry, mask);
            }
        }
        let all = Matrix::new(&gate_gradients, 4 * hidden);
        let inputs = Matrix::new(inputs, weights.inputs());
        multiply(inputs.transposed(), all, gradients.input, Into::Add);
        let previous = Matrix::new(&self.previous, hidden);
        multiply(previous.transposed(), all, gradients.recurrent, Into::Add);
        add_column_sums(&gate_gradients, gradients.bias);
        let input_weights = Matrix::new(weights.input, 4 * hidden);
        multiply(all, input_weights.transposed(), input_gradients, Into::Add);
    }
}

/// Multiply rows by the masks of their sequences, if there are masks.
fn apply_mask(values: &mut [f32], mask: Option<&[f32]>) {
    if let Some(mask) = mask {
        values.iter_mut().zip(mask).for_each(|(value, kept)| *value *= kept);
    }
}

/// Compute one position. `cells` has those of the position before, which are replaced.
fn step(
    hidden: usize,
    gates: &mut [f32],
    cells: &mut [f32],
    cell_tangents: &mut [f32],
    outputs: &mut [f32],
) {
    for row in gates.chunks_exact_mut(4 * hidden) {
        let (logistic, candidate) = row.split_at_mut(3 * hidden);
        sigmoids(logistic);
        tangents(candidate);
    }
    for (gates, cells) in gates.chunks_exact(4 * hidden).zip(cells.chunks_exact_mut(hidden)) {
        let (input, gates) = gates.split_at(hidden);
        let (forget, gates) = gates.split_at(hidden);
        let factors = input.iter().zip(forget).zip(&gates[hidden..]);
        for (cell, ((input, forget), candidate)) in cells.iter_mut().zip(factors) {
            *cell = forget * *cell + input * candidate;
        }
    }
    cell_tangents.copy_from_slice(cells);
    tangents(cell_tangents);
    let rows = outputs.chunks_exact_mut(hidden).zip(cell_tangents.chunks_exact(hidden));
    for ((outputs, tangents), gates) in rows.zip(gates.chunks_exact(4 * hidden)) {
        let gates = &gates[2 * hidden..];
        for ((output, tangent), gate) in outputs.iter_mut().zip(tangents).zip(gates) {
            *output = tangent * gate;
        }
    }
}

/// The gradients of the gates of one position, before their activation functions. `cell_carry` has
/// the gradients of the cells, which become those of the cells of the position before.
fn step_back(
    hidden: usize,
    gates: &[f32],
    cells_above: &[f32],
    cell_tangents: &[f32],
    output_gradients: &[f32],
    cell_carry: &mut [f32],
    gate_gradients: &mut [f32],
) {
    #[inline(always)]
    fn run(
        hidden: usize,
        gates: &[f32],
        cells_above: &[f32],
        cell_tangents: &[f32],
        output_gradients: &[f32],
        cell_carry: &mut [f32],
        gate_gradients: &mut [f32],
    ) {
        for row in 0..cell_carry.len() / hidden {
            let own = row * hidden;
            let above = &cells_above[own..own + hidden];
            let tangents = &cell_tangents[own..own + hidden];
            let outputs = &output_gradients[own..own + hidden];
            let carry = &mut cell_carry[own..own + hidden];
            let (input, others) = gates[4 * own..][..4 * hidden].split_at(hidden);
            let (forget, others) = others.split_at(hidden);
            let (output, candidate) = others.split_at(hidden);
            let (to_input, others) = gate_gradients[4 * own..][..4 * hidden].split_at_mut(hidden);
            let (to_forget, others) = others.split_at_mut(hidden);
            let (to_output, to_candidate) = others.split_at_mut(hidden);
            for unit in 0..hidden {
                let (i, f, o, g) = (input[unit], forget[unit], output[unit], candidate[unit]);
                let cell =
                    carry[unit] + outputs[unit] * o * (1.0 - tangents[unit] * tangents[unit]);
                to_input[unit] = cell * g * i * (1.0 - i);
                to_forget[unit] = cell * above[unit] * f * (1.0 - f);
                to_output[unit] = outputs[unit] * tangents[unit] * o * (1.0 - o);
                to_candidate[unit] = cell * i * (1.0 - g * g);
                carry[unit] = cell * f;
            }
        }
    }
    simd_dispatch!(
        run,
        (
            hidden: usize,
            gates: &[f32],
            cells_above: &[f32],
            cell_tangents: &[f32],
            output_gradients: &[f32],
            cell_carry: &mut [f32],
            gate_gradients: &mut [f32],
        )
    )
}
