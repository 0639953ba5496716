//! Dropout masks. One mask serves all positions of a sentence (Gal & Ghahramani 2016).

use super::parameters::Shape;
use super::random::Random;

/// The probabilities with which numbers are set to zero in training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DropoutRates {
    /// Of the representations of words.
    pub input: f32,
    /// Of the outputs that an LSTM gets from the position before.
    pub recurrent: f32,
    /// Of the outputs of layers.
    pub output: f32,
    /// Of the hidden layer of the classifier of spans.
    pub span: f32,
}

/// The masks of some sequences: a row for each.
#[derive(Debug)]
pub struct Masks {
    /// Of the inputs of the first layer.
    pub input: Vec<f32>,
    /// Of what each layer gets from the position before, in both directions.
    pub recurrent: Vec<[Vec<f32>; 2]>,
    /// Of the outputs of each layer.
    pub outputs: Vec<Vec<f32>>,
}

impl Masks {
    /// Masks for some sequences, each with its own random numbers.
    pub fn new(shape: &Shape, rates: DropoutRates, streams: &mut [Random]) -> Self {
        let mut mask = |columns: usize, rate: f32| {
            let mut values = vec![1.0; streams.len() * columns];
            for (row, random) in values.chunks_exact_mut(columns).zip(streams.iter_mut()) {
                random.mask(row, rate);
            }
            values
        };
        let input = mask(shape.input(), rates.input);
        let mut recurrent = Vec::new();
        let mut outputs = Vec::new();
        for _ in 0..shape.layers {
            recurrent.push([0, 1].map(|_| mask(shape.hidden, rates.recurrent)));
            outputs.push(mask(2 * shape.hidden, rates.output));
        }
        Self { input, recurrent, outputs }
    }
}
