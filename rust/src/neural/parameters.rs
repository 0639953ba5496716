//! The parameters of a network as one vector of numbers: where each matrix is, and its first values.

use std::ops::Range;

use super::lstm::{LstmGradients, LstmWeights};
use super::random::Random;

/// The sizes of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number of words with embeddings, including the unknown word and both ends of a sentence.
    pub words: usize,
    /// The size of the embedding of a word.
    pub word_size: usize,
    /// The size of the word vectors that are given and not trained; 0 for none.
    pub vector_size: usize,
    /// The number of characters, including the unknown one and both ends of a sentence.
    pub characters: usize,
    /// The size of the embedding of a character.
    pub character_size: usize,
    /// The size of the states that read the characters of a word, in each direction; 0 for none.
    pub character_hidden: usize,
    /// The size of the states that read the words of a sentence, in each direction.
    pub hidden: usize,
    /// The number of layers that read the words of a sentence.
    pub layers: usize,
    /// The number of tags.
    pub tags: usize,
    /// The size of the embedding of a tag.
    pub tag_size: usize,
    /// The size of the hidden layer of the classifier of spans.
    pub span_hidden: usize,
    /// The number of labels of spans; label 0 is no bracket.
    pub labels: usize,
}

impl Shape {
    /// The size of the representation of a word.
    pub fn input(&self) -> usize {
        self.word_size + 2 * self.character_hidden + self.vector_size
    }

    /// The size of the input of a layer: words, or the outputs of the layer below and their tags.
    pub fn layer_input(&self, layer: usize) -> usize {
        match layer {
            0 => self.input(),
            1 => 2 * self.hidden + self.tag_size,
            _ => 2 * self.hidden,
        }
    }
}

/// How the first values of a matrix are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Start {
    /// Uniform between both signs of a limit.
    Uniform(f32),
    /// Zero, except for the gates that decide what is kept: one.
    Gates,
    Zero,
}

/// Where the matrices of an LSTM are.
#[derive(Debug, Clone)]
struct LstmPlace {
    input: Range<usize>,
    recurrent: Range<usize>,
    bias: Range<usize>,
}

/// Where the matrices of both directions of a layer are.
#[derive(Debug, Clone)]
pub struct LayerPlace([LstmPlace; 2]);

impl LayerPlace {
    /// The weights of both directions.
    pub fn weights<'a>(&self, values: &'a [f32]) -> [LstmWeights<'a>; 2] {
        [0, 1].map(|direction| {
            let LstmPlace { input, recurrent, bias } = self.0[direction].clone();
            LstmWeights {
                input: &values[input],
                recurrent: &values[recurrent],
                bias: &values[bias],
            }
        })
    }

    /// The gradients of both directions.
    pub fn gradients<'a>(&self, values: &'a mut [f32]) -> [LstmGradients<'a>; 2] {
        // The matrices follow each other: input, recurrent and bias, in both directions.
        let [first, second] = &self.0;
        let values = &mut values[first.input.start..second.bias.end];
        let (one, other) = values.split_at_mut(second.input.start - first.input.start);
        [(first, one), (second, other)].map(|(place, values)| {
            let (input, values) = values.split_at_mut(place.input.len());
            let (recurrent, bias) = values.split_at_mut(place.recurrent.len());
            LstmGradients { input, recurrent, bias }
        })
    }
}

/// Where each matrix is in the vector of all parameters.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Words x word_size. They come first, as [`super::adam`] expects.
    pub words: Range<usize>,
    /// Characters x character_size.
    pub characters: Range<usize>,
    /// The layer that reads characters, if there is one.
    pub character_layer: Option<LayerPlace>,
    /// The layers that read words.
    pub layers: Vec<LayerPlace>,
    /// Outputs of the first layer x tags.
    pub tag_weights: Range<usize>,
    /// Tags.
    pub tag_bias: Range<usize>,
    /// Tags x tag_size; empty with one layer.
    pub tags: Range<usize>,
    /// Outputs of the last layer x span_hidden.
    pub borders: Range<usize>,
    /// The size of the hidden layer.
    pub border_bias: Range<usize>,
    /// The size of the hidden layer x labels.
    pub labels: Range<usize>,
    /// Labels.
    pub label_bias: Range<usize>,
    tensors: Vec<(String, Range<usize>, Start)>,
    size: usize,
}

impl Layout {
    /// The places of the matrices of a network.
    pub fn new(shape: &Shape) -> Self {
        let mut places = Places::default();
        let embedding = |size: usize| Start::Uniform((3.0 / size.max(1) as f32).sqrt() * 0.5);
        let words = places.add("words", shape.words * shape.word_size, embedding(shape.word_size));
        let has_characters = shape.character_hidden > 0;
        let characters = places.add(
            "characters",
            if has_characters { shape.characters * shape.character_size } else { 0 },
            embedding(shape.character_size),
        );
        let character_layer = has_characters
            .then(|| places.layer("character layer", shape.character_size, shape.character_hidden));
        let layers = (0..shape.layers)
            .map(|layer| {
                places.layer(&format!("layer {layer}"), shape.layer_input(layer), shape.hidden)
            })
            .collect();
        let outputs = 2 * shape.hidden;
        let dense = |inputs: usize, outputs: usize| {
            Start::Uniform((6.0 / (inputs + outputs) as f32).sqrt())
        };
        let tag_weights =
            places.add("tag weights", outputs * shape.tags, dense(outputs, shape.tags));
        let tag_bias = places.add("tag bias", shape.tags, Start::Zero);
        let tag_size = if shape.layers > 1 { shape.tag_size } else { 0 };
        let tags = places.add("tags", shape.tags * tag_size, embedding(shape.tag_size));
        let borders =
            places.add("borders", outputs * shape.span_hidden, dense(outputs, shape.span_hidden));
        let border_bias = places.add("border bias", shape.span_hidden, Start::Zero);
        let labels = places.add(
            "labels",
            shape.span_hidden * shape.labels,
            dense(shape.span_hidden, shape.labels),
        );
        let label_bias = places.add("label bias", shape.labels, Start::Zero);
        Self {
            words,
            characters,
            character_layer,
            layers,
            tag_weights,
            tag_bias,
            tags,
            borders,
            border_bias,
            labels,
            label_bias,
            size: places.size,
            tensors: places.tensors,
        }
    }

    /// The number of all parameters.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The name and the place of each matrix.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.tensors.iter().map(|(name, place, _)| (name.as_str(), place.clone()))
    }

    /// The first values of all parameters.
    pub fn start(&self, seed: u64) -> Vec<f32> {
        let mut random = Random::new(&[seed, 0]);
        let mut values = vec![0.0; self.size];
        for (_, place, start) in &self.tensors {
            let values = &mut values[place.clone()];
            match *start {
                Start::Uniform(limit) => {
                    values.fill_with(|| (2.0 * random.uniform() - 1.0) * limit);
                }
                Start::Gates => {
                    let hidden = values.len() / 4;
                    values[hidden..2 * hidden].fill(1.0);
                }
                Start::Zero => {}
            }
        }
        values
    }
}

/// Matrices one after the other.
#[derive(Debug, Default)]
struct Places {
    tensors: Vec<(String, Range<usize>, Start)>,
    size: usize,
}

impl Places {
    fn add(&mut self, name: &str, size: usize, start: Start) -> Range<usize> {
        let place = self.size..self.size + size;
        self.size += size;
        self.tensors.push((name.to_owned(), place.clone(), start));
        place
    }

    fn layer(&mut self, name: &str, inputs: usize, hidden: usize) -> LayerPlace {
        let limit = |inputs: usize| Start::Uniform((6.0 / (inputs + hidden) as f32).sqrt());
        LayerPlace(["forward", "backward"].map(|direction| LstmPlace {
            input: self.add(
                &format!("{name} {direction} input"),
                inputs * 4 * hidden,
                limit(inputs),
            ),
            recurrent: self.add(
                &format!("{name} {direction} recurrent"),
                hidden * 4 * hidden,
                limit(hidden),
            ),
            bias: self.add(&format!("{name} {direction} bias"), 4 * hidden, Start::Gates),
        }))
    }
}
