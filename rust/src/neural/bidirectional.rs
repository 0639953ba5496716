//! A layer that reads sequences in both directions.

use super::lstm::{LstmGradients, LstmStates, LstmWeights};
use super::packing::Packing;

/// The dropout masks of both directions, if there is dropout.
pub type Masks<'a> = Option<[&'a [f32]; 2]>;

/// The states of both directions. Those of the second one are in the order in which it reads.
#[derive(Debug)]
pub struct Layer {
    states: [LstmStates; 2],
    reversed_inputs: Vec<f32>,
    /// For each row, the outputs of the first direction, then those of the second.
    pub outputs: Vec<f32>,
}

impl Layer {
    /// Read sequences in both directions.
    pub fn forward(
        weights: [LstmWeights<'_>; 2],
        packing: &Packing,
        inputs: &[f32],
        masks: Masks<'_>,
    ) -> Self {
        let hidden = weights[0].bias.len() / 4;
        let columns = inputs.len() / packing.rows();
        let mut reversed_inputs = Vec::with_capacity(inputs.len());
        packing.reverse(inputs, columns, &mut reversed_inputs);
        let [first, second] = masks.map_or([None; 2], |masks| masks.map(Some));
        let states = [
            LstmStates::forward(weights[0], packing, inputs, first),
            LstmStates::forward(weights[1], packing, &reversed_inputs, second),
        ];
        let mut outputs = Vec::with_capacity(packing.rows() * 2 * hidden);
        for row in 0..packing.rows() {
            outputs.extend_from_slice(&states[0].outputs[row * hidden..][..hidden]);
            let reversed = packing.reversed(row);
            outputs.extend_from_slice(&states[1].outputs[reversed * hidden..][..hidden]);
        }
        Self { states, reversed_inputs, outputs }
    }

    /// Add the gradients of the weights and of the inputs, given those of the outputs.
    #[expect(clippy::too_many_arguments, reason = "those of the forward pass and the gradients")]
    pub fn backward(
        &self,
        weights: [LstmWeights<'_>; 2],
        packing: &Packing,
        inputs: &[f32],
        masks: Masks<'_>,
        output_gradients: &[f32],
        gradients: [LstmGradients<'_>; 2],
        input_gradients: &mut [f32],
    ) {
        let hidden = weights[0].bias.len() / 4;
        let columns = inputs.len() / packing.rows();
        let [first, second] = masks.map_or([None; 2], |masks| masks.map(Some));
        let [first_gradients, second_gradients] = gradients;
        let mut halves = [Vec::new(), Vec::new()];
        for row in 0..packing.rows() {
            let own = &output_gradients[row * 2 * hidden..][..hidden];
            halves[0].extend_from_slice(own);
            let reversed = packing.reversed(row) * 2 * hidden;
            halves[1].extend_from_slice(&output_gradients[reversed + hidden..][..hidden]);
        }
        self.states[0].backward(
            weights[0],
            packing,
            inputs,
            first,
            &halves[0],
            first_gradients,
            input_gradients,
        );
        let mut reversed_gradients = vec![0.0; inputs.len()];
        self.states[1].backward(
            weights[1],
            packing,
            &self.reversed_inputs,
            second,
            &halves[1],
            second_gradients,
            &mut reversed_gradients,
        );
        for (row, gradients) in input_gradients.chunks_exact_mut(columns).enumerate() {
            let reversed = &reversed_gradients[packing.reversed(row) * columns..][..columns];
            gradients.iter_mut().zip(reversed).for_each(|(sum, value)| *sum += value);
        }
    }
}
