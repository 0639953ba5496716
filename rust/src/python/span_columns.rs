//! Labelled spans of several sentences or trees as columns.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::parser::Span;

/// Labelled spans with their probabilities, and the offsets of sentences or trees.
pub(super) struct SpanColumns {
    offsets: Vec<i64>,
    labels: Vec<u32>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    probabilities: Vec<f64>,
}

impl SpanColumns {
    pub(super) fn new() -> Self {
        Self {
            offsets: vec![0],
            labels: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            probabilities: Vec::new(),
        }
    }

    /// Add the spans of the next sentence or tree.
    pub(super) fn push(&mut self, spans: impl Iterator<Item = Span>) {
        for span in spans {
            self.labels.push(span.label);
            self.starts.push(span.start);
            self.ends.push(span.end);
            self.probabilities.push(span.probability);
        }
        self.offsets.push(self.labels.len() as i64);
    }

    /// Add the columns to a dictionary, with names that start with `prefix`.
    pub(super) fn add_to(self, dict: &Bound<'_, PyDict>, prefix: &str) -> PyResult<()> {
        let py = dict.py();
        dict.set_item(format!("{prefix}_offsets"), self.offsets.into_pyarray(py))?;
        dict.set_item(format!("{prefix}_labels"), self.labels.into_pyarray(py))?;
        dict.set_item(format!("{prefix}_starts"), self.starts.into_pyarray(py))?;
        dict.set_item(format!("{prefix}_ends"), self.ends.into_pyarray(py))?;
        dict.set_item(format!("{prefix}_probabilities"), self.probabilities.into_pyarray(py))
    }
}
