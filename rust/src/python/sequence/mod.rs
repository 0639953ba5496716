//! Bindings of models of sequences.

mod aggregate_bigram;
mod hmm;

use pyo3::prelude::*;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    aggregate_bigram::register(module)?;
    hmm::register(module)
}
