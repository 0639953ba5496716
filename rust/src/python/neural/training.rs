//! Training of networks.

use std::sync::Mutex;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::network::PyNetwork;
use crate::neural::batch::Tokens;
use crate::neural::vocabulary::Spelling;
use crate::neural::{DropoutRates, Epoch, Example, Loss, Objective, Trainer};
use crate::python::arrays::{Runs, check_ids, check_shape, elements, offsets_in};
use crate::python::enter::{enter, lock};
use crate::python::errors::{ArgumentError, Failure};
use crate::python::threads::Threads;

/// Trains a network. Several Python threads may share it: each call waits until the one before it
/// has ended.
#[pyclass(name = "NeuralTrainer", module = "lpcfg._core", frozen)]
pub(super) struct PyTrainer {
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

    /// The mean of the parameters over the last steps.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let values =
            enter(py, |cancel| Ok::<_, Failure>(lock(&self.trainer, cancel)?.average().to_vec()))?;
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
