//! From sentences to the borders between their words.
//!
//! A word is the embedding of the word, what a layer reads from its characters, and a given vector.
//! Layers read the words in both directions. The first one predicts tags, whose embeddings are
//! inputs of the second one, together with its outputs (Zhang & Weiss 2016). The border between two
//! words is what the last layer has read up to it, from the left and from the right.

use super::activations::soft_max;
use super::batch::Batch;
use super::bidirectional::Layer;
use super::dropout::Masks;
use super::matrix::{Into, Matrix, add_column_sums, fill_rows, multiply, multiply_columns};
use super::parameters::{Layout, Shape};
use super::rows::{
    add, add_soft_max_gradient, border_outputs, borders, character_rows, gather, mask_rows,
};
use super::vocabulary::Vocabulary;
use crate::cancel::Cancel;

/// A network without its parameters.
#[derive(Debug)]
pub struct Network {
    /// Its sizes.
    pub shape: Shape,
    /// Where its parameters are.
    pub layout: Layout,
    /// Its words and characters.
    pub vocabulary: Vocabulary,
}

/// What the layers have read.
#[derive(Debug)]
pub struct Encoding {
    character_inputs: Vec<f32>,
    character_layer: Option<Layer>,
    /// The inputs of each layer, after dropout.
    layer_inputs: Vec<Vec<f32>>,
    layers: Vec<Layer>,
    /// The probabilities of the tags of each row.
    pub tag_probabilities: Vec<f32>,
    /// The same, with certainty where a tag is given. Empty if reading stopped before.
    pub used_tags: Vec<f32>,
    /// The two vectors of each border, one sentence after the other.
    borders: Vec<f32>,
    /// The inputs of the hidden layer of the span classifier for each border. Empty if reading
    /// stopped before.
    pub projections: Vec<f32>,
}

impl Network {
    /// A network with a vocabulary. The sizes of its vocabulary replace those of the shape.
    pub fn new(shape: Shape, vocabulary: Vocabulary) -> Self {
        let shape = Shape {
            words: vocabulary.words(),
            characters: vocabulary.characters(),
            vector_size: vocabulary.vector_size(),
            ..shape
        };
        Self { layout: Layout::new(&shape), shape, vocabulary }
    }

    /// Read sentences. If `cancel` asks to stop, the result has what was read until then.
    pub fn encode(
        &self,
        values: &[f32],
        batch: &Batch,
        masks: Option<&Masks>,
        cancel: &Cancel,
    ) -> Encoding {
        let (shape, layout, packing) = (&self.shape, &self.layout, &batch.packing);
        let character_inputs = match layout.character_layer {
            Some(_) => {
                gather(&values[layout.characters.clone()], shape.character_size, &batch.characters)
            }
            None => Vec::new(),
        };
        let character_layer = layout.character_layer.as_ref().map(|place| {
            Layer::forward(place.weights(values), &batch.character_packing, &character_inputs, None)
        });
        let mut inputs = self.word_inputs(values, batch, character_layer.as_ref());
        if let Some(masks) = masks {
            mask_rows(packing, &mut inputs, &masks.input);
        }
        let mut encoding = Encoding {
            character_inputs,
            character_layer,
            layer_inputs: vec![inputs],
            layers: Vec::new(),
            tag_probabilities: Vec::new(),
            used_tags: Vec::new(),
            borders: Vec::new(),
            projections: Vec::new(),
        };
        for (number, place) in layout.layers.iter().enumerate() {
            if cancel.check().is_err() {
                return encoding;
            }
            let layer = Layer::forward(
                place.weights(values),
                packing,
                &encoding.layer_inputs[number],
                masks.map(|masks| masks.recurrent[number].each_ref().map(Vec::as_slice)),
            );
            let mut outputs = layer.outputs.clone();
            if let Some(masks) = masks {
                mask_rows(packing, &mut outputs, &masks.outputs[number]);
            }
            encoding.layers.push(layer);
            if number == 0 {
                self.predict_tags(values, batch, &outputs, &mut encoding);
            }
            if number == 0 && shape.layers > 1 {
                outputs = self.with_tags(values, &outputs, &encoding.used_tags);
            }
            encoding.layer_inputs.push(outputs);
        }
        if cancel.check().is_err() {
            return encoding;
        }
        let outputs = &encoding.layer_inputs[shape.layers];
        encoding.borders = borders(packing, outputs, shape.hidden);
        let rows = encoding.borders.len() / (2 * shape.hidden);
        encoding.projections = vec![0.0; rows * shape.span_hidden];
        multiply(
            Matrix::new(&encoding.borders, 2 * shape.hidden),
            Matrix::new(&values[layout.borders.clone()], shape.span_hidden),
            &mut encoding.projections,
            Into::Set,
        );
        encoding
    }

    fn word_inputs(&self, values: &[f32], batch: &Batch, characters: Option<&Layer>) -> Vec<f32> {
        let shape = &self.shape;
        let (width, read) = (shape.input(), shape.character_hidden);
        let mut inputs = vec![0.0; batch.packing.rows() * width];
        let words = &values[self.layout.words.clone()];
        for (row, input) in inputs.chunks_exact_mut(width).enumerate() {
            let (word, others) = input.split_at_mut(shape.word_size);
            let number = batch.words[row] as usize;
            word.copy_from_slice(&words[number * shape.word_size..][..shape.word_size]);
            let (own, vector) = others.split_at_mut(2 * read);
            if let Some(layer) = characters {
                let [last, first] = character_rows(batch, row);
                own[..read].copy_from_slice(&layer.outputs[last * 2 * read..][..read]);
                own[read..].copy_from_slice(&layer.outputs[first * 2 * read + read..][..read]);
            }
            if let Some(place) = batch.vectors[row] {
                for (input, &value) in vector.iter_mut().zip(self.vocabulary.vector(place)) {
                    *input = f32::from(value) / 127.0;
                }
            }
        }
        inputs
    }

    fn predict_tags(&self, values: &[f32], batch: &Batch, outputs: &[f32], into: &mut Encoding) {
        let (tags, rows) = (self.shape.tags, batch.packing.rows());
        let mut scores = vec![0.0; rows * tags];
        fill_rows(&mut scores, &values[self.layout.tag_bias.clone()]);
        multiply(
            Matrix::new(outputs, 2 * self.shape.hidden),
            Matrix::new(&values[self.layout.tag_weights.clone()], tags),
            &mut scores,
            Into::Add,
        );
        for row in scores.chunks_exact_mut(tags) {
            soft_max(row);
        }
        into.used_tags = scores.clone();
        into.tag_probabilities = scores;
        for (row, tag) in batch.tags.iter().enumerate() {
            if let Some(tag) = *tag {
                let probabilities = &mut into.used_tags[row * tags..][..tags];
                probabilities.fill(0.0);
                probabilities[tag as usize] = 1.0;
            }
        }
    }

    /// The outputs of the first layer beside the mean embeddings of the tags.
    fn with_tags(&self, values: &[f32], outputs: &[f32], tags: &[f32]) -> Vec<f32> {
        let (columns, width) = (2 * self.shape.hidden, self.shape.layer_input(1));
        let mut inputs = vec![0.0; outputs.len() / columns * width];
        for (input, output) in inputs.chunks_exact_mut(width).zip(outputs.chunks_exact(columns)) {
            input[..columns].copy_from_slice(output);
        }
        multiply_columns(
            Matrix::new(tags, self.shape.tags),
            Matrix::new(&values[self.layout.tags.clone()], self.shape.tag_size),
            &mut inputs,
            width,
            columns,
            Into::Set,
        );
        inputs
    }

    /// Add the gradients of all parameters up to the projections of borders. `tag_gradients` are
    /// those of the scores of tags.
    #[expect(clippy::too_many_arguments, reason = "those of the forward pass and the gradients")]
    pub fn propagate(
        &self,
        values: &[f32],
        batch: &Batch,
        masks: Option<&Masks>,
        encoding: &Encoding,
        projection_gradients: &[f32],
        mut tag_gradients: Vec<f32>,
        gradients: &mut [f32],
    ) {
        let (shape, layout, packing) = (&self.shape, &self.layout, &batch.packing);
        let columns = 2 * shape.hidden;
        let projection_gradients = Matrix::new(projection_gradients, shape.span_hidden);
        multiply(
            Matrix::new(&encoding.borders, columns).transposed(),
            projection_gradients,
            &mut gradients[layout.borders.clone()],
            Into::Add,
        );
        let mut border_gradients = vec![0.0; encoding.borders.len()];
        multiply(
            projection_gradients,
            Matrix::new(&values[layout.borders.clone()], shape.span_hidden).transposed(),
            &mut border_gradients,
            Into::Set,
        );
        let mut output_gradients = border_outputs(packing, &border_gradients, shape.hidden);
        for number in (0..shape.layers).rev() {
            if number == 0 {
                self.propagate_tags(
                    values,
                    &mut output_gradients,
                    batch,
                    encoding,
                    &mut tag_gradients,
                    gradients,
                );
            }
            if let Some(masks) = masks {
                mask_rows(packing, &mut output_gradients, &masks.outputs[number]);
            }
            let inputs = &encoding.layer_inputs[number];
            let mut input_gradients = vec![0.0; inputs.len()];
            encoding.layers[number].backward(
                layout.layers[number].weights(values),
                packing,
                inputs,
                masks.map(|masks| masks.recurrent[number].each_ref().map(Vec::as_slice)),
                &output_gradients,
                layout.layers[number].gradients(gradients),
                &mut input_gradients,
            );
            output_gradients = input_gradients;
        }
        if let Some(masks) = masks {
            mask_rows(packing, &mut output_gradients, &masks.input);
        }
        self.propagate_words(values, batch, encoding, &output_gradients, gradients);
    }

    /// Turn the gradients of the inputs of the second layer into those of the outputs of the first
    /// one, by way of the predicted tags.
    fn propagate_tags(
        &self,
        values: &[f32],
        output_gradients: &mut Vec<f32>,
        batch: &Batch,
        encoding: &Encoding,
        tag_gradients: &mut [f32],
        gradients: &mut [f32],
    ) {
        let (shape, layout) = (&self.shape, &self.layout);
        let (columns, tags) = (2 * shape.hidden, shape.tags);
        if shape.layers > 1 {
            let width = shape.layer_input(1);
            let inputs = Matrix::new(output_gradients, width);
            let embedding_gradients = inputs.columns(columns, shape.tag_size);
            multiply(
                Matrix::new(&encoding.used_tags, tags).transposed(),
                embedding_gradients,
                &mut gradients[layout.tags.clone()],
                Into::Add,
            );
            let mut probability_gradients = vec![0.0; encoding.used_tags.len()];
            multiply(
                embedding_gradients,
                Matrix::new(&values[layout.tags.clone()], shape.tag_size).transposed(),
                &mut probability_gradients,
                Into::Set,
            );
            for (row, given) in batch.tags.iter().enumerate() {
                if given.is_none() {
                    let own = row * tags..(row + 1) * tags;
                    add_soft_max_gradient(
                        &encoding.tag_probabilities[own.clone()],
                        &probability_gradients[own.clone()],
                        &mut tag_gradients[own],
                    );
                }
            }
            *output_gradients = output_gradients
                .chunks_exact(width)
                .flat_map(|row| &row[..columns])
                .copied()
                .collect();
        }
        // With several layers these are the outputs beside which tags are.
        let width = encoding.layer_inputs[1].len() / batch.packing.rows();
        let outputs = Matrix::new(&encoding.layer_inputs[1], width).columns(0, columns);
        add_column_sums(tag_gradients, &mut gradients[layout.tag_bias.clone()]);
        let tag_gradients = Matrix::new(tag_gradients, tags);
        multiply(
            outputs.transposed(),
            tag_gradients,
            &mut gradients[layout.tag_weights.clone()],
            Into::Add,
        );
        let weights = Matrix::new(&values[layout.tag_weights.clone()], tags);
        multiply(tag_gradients, weights.transposed(), output_gradients, Into::Add);
    }

    fn propagate_words(
        &self,
        values: &[f32],
        batch: &Batch,
        encoding: &Encoding,
        input_gradients: &[f32],
        gradients: &mut [f32],
    ) {
        let (shape, layout) = (&self.shape, &self.layout);
        let read = shape.character_hidden;
        let mut character_gradients = vec![0.0; batch.character_packing.rows() * 2 * read];
        let words = &mut gradients[layout.words.clone()];
        for (row, input) in input_gradients.chunks_exact(shape.input()).enumerate() {
            let (word, others) = input.split_at(shape.word_size);
            let number = batch.words[row] as usize;
            add(&mut words[number * shape.word_size..], word);
            if read > 0 {
                let [last, first] = character_rows(batch, row);
                add(&mut character_gradients[last * 2 * read..], &others[..read]);
                add(&mut character_gradients[first * 2 * read + read..], &others[read..2 * read]);
            }
        }
        if let (Some(place), Some(layer)) = (&layout.character_layer, &encoding.character_layer) {
            let mut embedding_gradients = vec![0.0; encoding.character_inputs.len()];
            layer.backward(
                place.weights(values),
                &batch.character_packing,
                &encoding.character_inputs,
                None,
                &character_gradients,
                place.gradients(gradients),
                &mut embedding_gradients,
            );
            let size = shape.character_size;
            let embeddings = &mut gradients[layout.characters.clone()];
            for (&character, own) in
                batch.characters.iter().zip(embedding_gradients.chunks_exact(size))
            {
                add(&mut embeddings[character as usize * size..], own);
            }
        }
    }
}
