//! Bindings of the span filter.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::arrays::{Runs, check_ids, check_shape, elements, offsets_in};
use super::enter::enter;
use super::errors::{ArgumentError, Failure};
use crate::span_filter::{
    Examples, SpanFilter, TokenFeatures, TrainingOptions, VERSION, Weights, train,
};

/// A span filter, checked.
#[pyclass(name = "SpanFilter", module = "lpcfg._core", frozen)]
pub(super) struct PySpanFilter(pub(super) Arc<SpanFilter>);

#[pymethods]
impl PySpanFilter {
    #[new]
    #[pyo3(signature = (*, word_tags, word_tag_sets, border_weights, pair_weights, thresholds))]
    fn new(
        py: Python<'_>,
        word_tags: PyReadonlyArray1<'_, u32>,
        word_tag_sets: PyReadonlyArray1<'_, u32>,
        border_weights: PyReadonlyArray1<'_, f32>,
        pair_weights: PyReadonlyArray1<'_, f32>,
        thresholds: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<Self> {
        let word_tags = elements("word_tags", &word_tags)?;
        let word_tag_sets = elements("word_tag_sets", &word_tag_sets)?;
        let border_weights = elements("border_weights", &border_weights)?;
        let pair_weights = elements("pair_weights", &pair_weights)?;
        let thresholds = elements("thresholds", &thresholds)?;
        enter(py, |_| {
            let weights = Weights::new(border_weights, pair_weights.to_vec())?;
            let (tags, tag_sets) = (word_tags.to_vec(), word_tag_sets.to_vec());
            let filter = SpanFilter::new(tags, tag_sets, weights, thresholds.to_vec())?;
            Ok::<_, Failure>(Self(Arc::new(filter)))
        })
    }

    /// The probability below which spans are closed, so that this fraction of correct ones is left.
    fn threshold(&self, recall: f64) -> f32 {
        self.0.threshold(recall)
    }
}

type FilterArrays<'py> =
    (Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<f32>>);

/// Learn a span filter from the sentences of `fitted`, in this order, and calibrate it on those of
/// `held_out`. Returns the weights of border features and of pair features, and the thresholds.
#[pyfunction]
#[pyo3(signature = (
    *, words, word_offsets, starts, ends, tree_offsets, word_tags, word_tag_sets, fitted, held_out,
    epochs, learning_rate, initial_accumulator, border_bits, pair_bits
))]
#[expect(clippy::too_many_arguments, reason = "one array each, all by name")]
fn train_span_filter<'py>(
    py: Python<'py>,
    words: PyReadonlyArray1<'py, u32>,
    word_offsets: PyReadonlyArray1<'py, i64>,
    starts: PyReadonlyArray1<'py, u32>,
    ends: PyReadonlyArray1<'py, u32>,
    tree_offsets: PyReadonlyArray1<'py, i64>,
    word_tags: PyReadonlyArray1<'py, u32>,
    word_tag_sets: PyReadonlyArray1<'py, u32>,
    fitted: PyReadonlyArray1<'py, u32>,
    held_out: PyReadonlyArray1<'py, u32>,
    epochs: usize,
    learning_rate: f32,
    initial_accumulator: f32,
    border_bits: u32,
    pair_bits: u32,
) -> PyResult<FilterArrays<'py>> {
    let words = elements("words", &words)?;
    let word_offsets = elements("word_offsets", &word_offsets)?;
    let (starts, ends) = (elements("starts", &starts)?, elements("ends", &ends)?);
    let tree_offsets = elements("tree_offsets", &tree_offsets)?;
    let word_tags = elements("word_tags", &word_tags)?;
    let word_tag_sets = elements("word_tag_sets", &word_tag_sets)?;
    let (fitted, held_out) = (elements("fitted", &fitted)?, elements("held_out", &held_out)?);
    let options =
        TrainingOptions { epochs, learning_rate, initial_accumulator, border_bits, pair_bits };
    let (weights, thresholds) = enter(py, |cancel| {
        check_shape("word_tag_sets", &[word_tag_sets.len()], &[word_tags.len()])?;
        check_ids("words", words, word_tags.len())?;
        let token_offsets = offsets_in("word_offsets", word_offsets, words.len(), Runs::NonEmpty)?;
        check_shape("ends", &[ends.len()], &[starts.len()])?;
        let span_offsets = offsets_in("tree_offsets", tree_offsets, starts.len(), Runs::NonEmpty)?;
        check_shape("tree_offsets", &[span_offsets.len()], &[token_offsets.len()])?;
        for (name, sentences) in [("fitted", fitted), ("held_out", held_out)] {
            check_ids(name, sentences, token_offsets.len() - 1)?;
        }
        check_spans(starts, ends, &token_offsets, &span_offsets)?;
        for (name, bits) in [("border_bits", border_bits), ("pair_bits", pair_bits)] {
            if !(1..=28).contains(&bits) {
                return Err(ArgumentError::new(name, "must be from 1 to 28").into());
            }
        }
        let features = |&word: &u32| TokenFeatures {
            word,
            tag: word_tags[word as usize],
            tags: word_tag_sets[word as usize],
        };
        let tokens: Vec<TokenFeatures> = words.iter().map(features).collect();
        let examples = Examples {
            tokens: &tokens,
            token_offsets: &token_offsets,
            starts,
            ends,
            span_offsets: &span_offsets,
        };
        Ok::<_, Failure>(train(examples, fitted, held_out, options, cancel)?)
    })?;
    Ok((
        weights.borders().to_vec().into_pyarray(py),
        weights.pairs().to_vec().into_pyarray(py),
        thresholds.into_pyarray(py),
    ))
}

/// Check that all spans lie in their sentences.
fn check_spans(
    starts: &[u32],
    ends: &[u32],
    token_offsets: &[usize],
    span_offsets: &[usize],
) -> Result<(), ArgumentError> {
    for (tokens, spans) in token_offsets.windows(2).zip(span_offsets.windows(2)) {
        let words = tokens[1] - tokens[0];
        for span in spans[0]..spans[1] {
            if starts[span] >= ends[span] || ends[span] as usize > words {
                let (start, end) = (starts[span], ends[span]);
                let message = format!("span {start} to {end} in a sentence of {words} words");
                return Err(ArgumentError::new("ends", message));
            }
        }
    }
    Ok(())
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("span_filter_version", VERSION)?;
    module.add_function(wrap_pyfunction!(train_span_filter, module)?)?;
    module.add_class::<PySpanFilter>()
}
