//! Bindings of the span decoder.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::arrays::elements;
use super::enter::enter;
use super::errors::{ArgumentError, Failure, IntoPyErr};
use super::threads::Threads;
use crate::span_decoder::{self, Method, Sentence, SpanError};

/// An error in one of several sentences.
impl IntoPyErr for (usize, SpanError) {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        match self {
            (_, SpanError::Cancelled(cancelled)) => cancelled.into_py_err(py),
            (row, error) => {
                let message = format!("sentence {}: {error}", row + 1);
                ArgumentError::new("scores", message).into_py_err(py)
            }
        }
    }
}

/// The scores of a sentence: an array of shape words x (words + 1) x labels, or the number of words
/// and columns of starts, ends, labels and scores.
#[derive(FromPyObject)]
enum Scores<'py> {
    Dense(PyReadonlyArray3<'py, f64>),
    Sparse(
        usize,
        PyReadonlyArray1<'py, u32>,
        PyReadonlyArray1<'py, u32>,
        PyReadonlyArray1<'py, u32>,
        PyReadonlyArray1<'py, f64>,
    ),
}

impl Scores<'_> {
    fn sentence(&self) -> Result<Sentence<'_>, ArgumentError> {
        let wrong = |message: String| Err(ArgumentError::new("sentences", message));
        let sentence = match self {
            Self::Dense(scores) => {
                let &[words, ends, labels] = scores.shape() else { unreachable!("three axes") };
                if ends != words + 1 {
                    let message = "scores must have shape words x (words + 1) x labels";
                    return wrong(format!("{message}, not {words} x {ends} x {labels}"));
                }
                Sentence::Dense { words, labels, scores: elements("sentences", scores)? }
            }
            Self::Sparse(words, starts, ends, labels, scores) => {
                let lengths = [starts.len(), ends.len(), labels.len(), scores.len()];
                if lengths.iter().any(|&length| length != lengths[0]) {
                    return wrong(format!("columns differ in length: {lengths:?}"));
                }
                Sentence::Sparse {
                    words: *words,
                    starts: elements("sentences", starts)?,
                    ends: elements("sentences", ends)?,
                    labels: elements("sentences", labels)?,
                    scores: elements("sentences", scores)?,
                }
            }
        };
        let (Sentence::Dense { words, .. } | Sentence::Sparse { words, .. }) = sentence;
        if words == 0 {
            return wrong("a sentence has at least one word".to_owned());
        }
        Ok(sentence)
    }
}

/// The scores of all sentences.
fn borrow<'a>(sentences: &'a [Scores<'_>]) -> Result<Vec<Sentence<'a>>, ArgumentError> {
    sentences.iter().map(Scores::sentence).collect()
}

/// The offsets of the sentences; the start, end and label of each span; the score of each tree.
type Trees<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
);

/// The best trees of sentences, given the scores of their spans.
#[pyfunction]
fn decode_spans<'py>(
    py: Python<'py>,
    sentences: Vec<Scores<'py>>,
    none: Option<u32>,
    greedy: bool,
    threads: usize,
) -> PyResult<Trees<'py>> {
    let sentences = borrow(&sentences)?;
    let method = if greedy { Method::Greedy } else { Method::Exact };
    let (offsets, starts, ends, labels, scores) = enter(py, |cancel| {
        let threads = Threads::new(threads);
        let trees = threads.install(|| span_decoder::decode(&sentences, none, method, cancel))?;
        let mut offsets = vec![0];
        let (mut starts, mut ends, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for tree in &trees {
            for &(start, end, label) in &tree.spans {
                starts.push(start);
                ends.push(end);
                labels.push(label);
            }
            offsets.push(labels.len() as i64);
        }
        let scores: Vec<f64> = trees.iter().map(|tree| tree.score).collect();
        Ok::<_, Failure>((offsets, starts, ends, labels, scores))
    })?;
    Ok((
        offsets.into_pyarray(py),
        starts.into_pyarray(py),
        ends.into_pyarray(py),
        labels.into_pyarray(py),
        scores.into_pyarray(py),
    ))
}

/// For each sentence, the logarithm of the sum of exp(score) over its trees, and the probability of
/// each of its labelled spans, in the order of the scores.
#[pyfunction]
fn span_marginals<'py>(
    py: Python<'py>,
    sentences: Vec<Scores<'py>>,
    none: Option<u32>,
    threads: usize,
) -> PyResult<Vec<(f64, Bound<'py, PyArray1<f64>>)>> {
    let sentences = borrow(&sentences)?;
    let found = enter(py, |cancel| {
        let threads = Threads::new(threads);
        let found = threads.install(|| span_decoder::marginals(&sentences, none, cancel))?;
        Ok::<_, Failure>(found)
    })?;
    Ok(found
        .into_iter()
        .map(|found| (found.log_partition, found.probabilities.into_pyarray(py)))
        .collect())
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decode_spans, module)?)?;
    module.add_function(wrap_pyfunction!(span_marginals, module)?)
}
