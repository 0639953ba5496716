//! Bindings of the neural parser: models and training.

use std::sync::{Arc, Mutex};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrays::{Runs, check_ids, check_shape, elements, offsets_in};
use super::enter::{enter, lock};
use super::errors::{ArgumentError, Failure};
use super::parser::{Columns, NO_TAG, decoder_named};
use super::threads::Threads;
use crate::neural::batch::Tokens;
use crate::neural::vocabulary::Spelling;
use crate::neural::{
    DropoutRates, Epoch, Example, LabelPlaces, Loss, Model, Network, Objective, SentenceWords,
    Shape, Trainer, Vocabulary,
};
use crate::parser::Decoder;

/// The largest size of a layer, and the largest number of layers.
const MAX_SIZE: usize = 1 << 12;
const MAX_LAYERS: usize = 16;

/// The sizes, words and labels of a network.
#[pyclass(name = "NeuralNetwork", module = "lpcfg._core", frozen)]
struct PyNetwork {
    shape: Shape,
    vocabulary: Vocabulary,
    places: LabelPlaces,
}

#[pymethods]
impl PyNetwork {
    /// `whole` and `part` say for each label whether the whole sentence and whether a part of it may
    /// have it; label 0 is no bracket. `vectors` has a row for each of `vector_words`.
    #[new]
    #[pyo3(signature = (
        *, words, characters, vector_words, vectors, word_size, character_size, character_hidden,
        hidden, layers, tag_size, span_hidden, tags, whole, part
    ))]
    #[expect(clippy::too_many_arguments, reason = "sizes by name")]
    fn new(
        words: Vec<String>,
        characters: &str,
        vector_words: Vec<String>,
        vectors: PyReadonlyArray2<'_, i8>,
        word_size: usize,
        character_size: usize,
        character_hidden: usize,
        hidden: usize,
        layers: usize,
        tag_size: usize,
        span_hidden: usize,
        tags: usize,
        whole: Vec<bool>,
        part: Vec<bool>,
    ) -> PyResult<Self> {
        for (name, size, least, most) in [
            ("word_size", word_size, 1, MAX_SIZE),
            ("character_size", character_size, 1, MAX_SIZE),
            ("character_hidden", character_hidden, 0, MAX_SIZE),
            ("hidden", hidden, 1, MAX_SIZE),
            ("layers", layers, 1, MAX_LAYERS),
            ("tag_size", tag_size, 1, MAX_SIZE),
            ("span_hidden", span_hidden, 1, MAX_SIZE),
            ("tags", tags, 1, usize::MAX),
        ] {
            if !(least..=most).contains(&size) {
                let message = format!("{name} is {size}, not from {least} to {most}");
                return Err(ArgumentError::new(name, message).into());
            }
        }
        let rows = [vector_words.len(), vectors.shape()[1]];
        check_shape("vectors", vectors.shape(), &rows)?;
        check_shape("part", &[part.len()], &[whole.len()])?;
        if !whole.contains(&true) || whole[0] || !part[0] {
            let message = "the whole sentence needs a label, and a part may be without a bracket";
            return Err(ArgumentError::new("whole", message).into());
        }
        let labels = whole.len();
        let vectors = elements("vectors", &vectors)?.to_vec();
        let vocabulary =
            Vocabulary::new(words, characters.chars().collect(), vector_words, vectors);
        let shape = Shape {
            words: 0,
            word_size,
            vector_size: 0,
            characters: 0,
            character_size,
            character_hidden,
            hidden,
            layers,
            tags,
            tag_size,
            span_hidden,
            labels,
        };
        Ok(Self { shape, vocabulary, places: LabelPlaces { whole, part } })
    }

    /// The number of parameters.
    fn __len__(&self) -> usize {
        self.network().layout.size()
    }
}

impl PyNetwork {
    fn network(&self) -> Network {
        Network::new(self.shape, self.vocabulary.clone())
    }
}

/// Trains a network. Several Python threads may share it: each call waits until the one before it
/// has ended.
#[pyclass(name = "NeuralTrainer", module = "lpcfg._core", frozen)]
struct PyTrainer {
    trainer: Mutex<Trainer>,
    threads: Threads,
}

#[pymethods]
impl PyTrainer {
    /// `word_column` has the number of each token's word among `spellings`, `tags` its tag. Brackets
    /// are those of each tree; they include the whole sentence. `dropout` has the probabilities for
    /// inputs, recurrent connections, outputs of layers and spans.
    #[new]
    #[pyo3(signature = (
        network, *, spellings, word_column, tags, word_offsets, starts, ends, labels, span_offsets,
        tree_weights, none_ratio, tag_weight, dropout, word_dropout, given_tags, seed, threads
    ))]
    #[expect(clippy::too_many_arguments, reason = "one array each, all by name")]
    fn new(
        py: Python<'_>,
        network: &PyNetwork,
        spellings: Vec<String>,
        word_column: PyReadonlyArray1<'_, u32>,
        tags: PyReadonlyArray1<'_, u32>,
        word_offsets: PyReadonlyArray1<'_, i64>,
        starts: PyReadonlyArray1<'_, u32>,
        ends: PyReadonlyArray1<'_, u32>,
        labels: PyReadonlyArray1<'_, u32>,
        span_offsets: PyReadonlyArray1<'_, i64>,
        tree_weights: PyReadonlyArray1<'_, f32>,
        none_ratio: Option<f32>,
        tag_weight: f32,
        dropout: [f32; 4],
        word_dropout: f32,
        given_tags: f32,
        seed: u64,
        threads: usize,
    ) -> PyResult<Self> {
        let trees = TreesIn {
            words: elements("word_column", &word_column)?,
            tags: elements("tags", &tags)?,
            word_offsets: elements("word_offsets", &word_offsets)?,
            starts: elements("starts", &starts)?,
            ends: elements("ends", &ends)?,
            labels: elements("labels", &labels)?,
            span_offsets: elements("span_offsets", &span_offsets)?,
            weights: elements("tree_weights", &tree_weights)?,
        };
        let [input, recurrent, output, span] = dropout;
        if !dropout.iter().all(|rate| (0.0..1.0).contains(rate)) {
            let message = "probabilities of dropout must be from 0 to below 1";
            return Err(ArgumentError::new("dropout", message).into());
        }
        let objective = Objective {
            loss: none_ratio.map_or(Loss::Crf, |none_ratio| Loss::Independent { none_ratio }),
            tag_weight,
            dropout: DropoutRates { input, recurrent, output, span },
            word_dropout,
            given_tags,
        };
        enter(py, |_| {
            let table: Vec<Spelling> =
                spellings.iter().map(|word| network.vocabulary.spelling(word)).collect();
            let examples = trees.examples(network, table.len())?;
            let places = network.places.clone();
            let trainer = Trainer::new(network.network(), places, objective, table, examples, seed);
            Ok::<_, Failure>(Self { trainer: Mutex::new(trainer), threads: Threads::new(threads) })
        })
    }

    /// Learn from all trees once; returns the sum of their losses. The learning rate changes
    /// linearly from the first to the second one.
    #[pyo3(signature = (epoch, *, batch, learning_rates, largest_norm, average_decay))]
    fn run(
        &self,
        py: Python<'_>,
        epoch: u64,
        batch: usize,
        learning_rates: [f32; 2],
        largest_norm: f32,
        average_decay: f32,
    ) -> PyResult<f64> {
        let epoch = Epoch {
            number: epoch,
            batch: batch.max(1),
            learning_rates,
            largest_norm,
            average_decay,
        };
        enter(py, |cancel| {
            let trainer = &mut *lock(&self.trainer, cancel)?;
            self.threads.install(|| trainer.run(epoch, cancel))
        })
    }

    /// The parameters as they are now.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let values =
            enter(py, |cancel| Ok::<_, Failure>(lock(&self.trainer, cancel)?.values().to_vec()))?;
        Ok(values.into_pyarray(py))
    }
}

/// The columns of tokens and of brackets.
struct TreesIn<'a> {
    words: &'a [u32],
    tags: &'a [u32],
    word_offsets: &'a [i64],
    starts: &'a [u32],
    ends: &'a [u32],
    labels: &'a [u32],
    span_offsets: &'a [i64],
    weights: &'a [f32],
}

impl TreesIn<'_> {
    /// Check the columns and split them into trees.
    fn examples(&self, network: &PyNetwork, words: usize) -> Result<Vec<Example>, ArgumentError> {
        let spans = self.labels.len();
        for (name, found, expected) in [
            ("tags", self.tags.len(), self.words.len()),
            ("starts", self.starts.len(), spans),
            ("ends", self.ends.len(), spans),
            ("span_offsets", self.span_offsets.len(), self.word_offsets.len()),
            ("tree_weights", self.weights.len() + 1, self.word_offsets.len()),
        ] {
            check_shape(name, &[found], &[expected])?;
        }
        check_ids("word_column", self.words, words)?;
        check_ids("tags", self.tags, network.shape.tags)?;
        check_ids("labels", self.labels, network.shape.labels)?;
        if !self.weights.iter().all(|weight| (0.0..f32::INFINITY).contains(weight)) {
            let message = "tree_weights must be finite and not negative";
            return Err(ArgumentError::new("tree_weights", message));
        }
        let words =
            offsets_in("word_offsets", self.word_offsets, self.words.len(), Runs::NonEmpty)?;
        let trees = offsets_in("span_offsets", self.span_offsets, spans, Runs::NonEmpty)?;
        words
            .windows(2)
            .zip(trees.windows(2))
            .zip(self.weights)
            .map(|((words, spans), &weight)| {
                let (words, spans) = (words[0]..words[1], spans[0]..spans[1]);
                let length = words.len() as u32;
                let spans: Vec<(u32, u32, u32)> =
                    spans.map(|n| (self.starts[n], self.ends[n], self.labels[n])).collect();
                let is_whole = |&(start, end, _): &(u32, u32, u32)| (start, end) == (0, length);
                if !spans.iter().any(is_whole)
                    || spans.iter().any(|&(start, end, label)| {
                        let places = &network.places;
                        let open =
                            if (start, end) == (0, length) { &places.whole } else { &places.part };
                        start >= end || end > length || !open[label as usize] || label == 0
                    })
                {
                    let message = format!("a tree of {length} words has a span it cannot have");
                    return Err(ArgumentError::new("starts", message));
                }
                Ok(Example {
                    tokens: Tokens {
                        spellings: self.words[words.clone()].to_vec(),
                        tags: Vec::new(),
                    },
                    spans,
                    tags: self.tags[words].to_vec(),
                    weight,
                })
            })
            .collect()
    }
}

/// A network with its parameters, for parsing.
#[pyclass(name = "NeuralModel", module = "lpcfg._core", frozen)]
struct PyModel(Arc<Model>);

#[pymethods]
impl PyModel {
    /// Label i writes nodes with the labels `chains[i]`; `root` are those above every sentence, and
    /// `tag_labels` those of tags.
    #[new]
    #[pyo3(signature = (network, *, values, independent, chains, root, tag_labels))]
    fn new(
        py: Python<'_>,
        network: &PyNetwork,
        values: PyReadonlyArray1<'_, f32>,
        independent: bool,
        chains: Vec<Vec<u32>>,
        root: Vec<u32>,
        tag_labels: Vec<u32>,
    ) -> PyResult<Self> {
        let values = elements("values", &values)?;
        enter(py, |_| {
            let places = network.places.clone();
            let network = network.network();
            check_shape("values", &[values.len()], &[network.layout.size()])?;
            check_shape("chains", &[chains.len()], &[network.shape.labels])?;
            check_shape("tag_labels", &[tag_labels.len()], &[network.shape.tags])?;
            if !values.iter().all(|value| value.is_finite()) {
                return Err(ArgumentError::new("values", "values must be finite").into());
            }
            Ok::<_, Failure>(Self(Arc::new(Model {
                network,
                values: values.to_vec(),
                places,
                independent,
                chains,
                root,
                tags: tag_labels,
            })))
        })
    }
}

/// A model with threads to work on.
#[pyclass(name = "NeuralParser", module = "lpcfg._core", frozen)]
struct PyNeuralParser {
    model: Arc<Model>,
    threads: Threads,
}

#[pymethods]
impl PyNeuralParser {
    #[new]
    #[pyo3(signature = (model, *, threads))]
    fn new(model: &PyModel, threads: usize) -> Self {
        Self { model: Arc::clone(&model.0), threads: Threads::new(threads) }
    }

    /// Parse sentences given by their words and optionally tags, one after the other. Returns a
    /// dictionary of arrays, as `Parser.analyze` does.
    #[pyo3(signature = (offsets, spellings, tags, *, breaks, decoder, max_length, marginals))]
    #[expect(clippy::too_many_arguments, reason = "options by name")]
    fn analyze<'py>(
        &self,
        py: Python<'py>,
        offsets: PyReadonlyArray1<'py, i64>,
        spellings: Vec<String>,
        tags: Option<PyReadonlyArray1<'py, u32>>,
        breaks: PyReadonlyArray1<'py, u8>,
        decoder: &str,
        max_length: usize,
        marginals: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let decoder = decoder_named(decoder)?;
        if !matches!(decoder, Decoder::MaxF1 | Decoder::MaxRecall) {
            let message = "a neural parser has the decoders max-f1 and max-recall";
            return Err(ArgumentError::new("decoder", message).into());
        }
        let offsets = elements("offsets", &offsets)?;
        let tags = tags.as_ref().map(|array| elements("tags", array)).transpose()?;
        let breaks = elements("breaks", &breaks)?;
        let columns = enter(py, |cancel| {
            let offsets = offsets_in("offsets", offsets, spellings.len(), Runs::NonEmpty)?;
            check_shape("breaks", &[breaks.len()], &[spellings.len()])?;
            let given: Option<Vec<Option<u32>>> =
                tags.map(|tags| tags.iter().map(|&tag| (tag != NO_TAG).then_some(tag)).collect());
            if let Some(given) = &given {
                check_shape("tags", &[given.len()], &[spellings.len()])?;
                check_ids("tags", given.iter().flatten(), self.model.network.shape.tags)?;
            }
            let sentences: Vec<SentenceWords<'_>> = offsets
                .windows(2)
                .map(|pair| SentenceWords {
                    words: &spellings[pair[0]..pair[1]],
                    tags: given.as_ref().map_or(&[], |given| &given[pair[0]..pair[1]]),
                    breaks: &breaks[pair[0]..pair[1]],
                })
                .collect();
            let analyses = self.threads.install(|| {
                self.model.analyze_all(&sentences, decoder, max_length, marginals, cancel)
            })?;
            Ok::<_, Failure>(Columns::new(&analyses))
        })?;
        columns.into_dict(py)
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyNetwork>()?;
    module.add_class::<PyTrainer>()?;
    module.add_class::<PyModel>()?;
    module.add_class::<PyNeuralParser>()
}
