//! Bindings of the features of candidate trees.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use super::arrays::{Runs, elements, offsets_in, offsets_out};
use super::enter::enter;
use super::errors::{ArgumentError, Failure, IntoPyErr};
use super::threads::Threads;
use super::treebank::ForestIn;
use crate::rerank::templates::TEMPLATE_VERSION;
use crate::rerank::view::LabelTables;
use crate::rerank::{ExtractError, extract};

impl IntoPyErr for ExtractError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        let argument = match self {
            Self::Cancelled(error) => return error.into_py_err(py),
            Self::Sentences(_) => "sentence_offsets",
            Self::Empty(_) => "forest",
            Self::Tables(_) => "head_step",
        };
        ArgumentError::new(argument, self).into_py_err(py)
    }
}

/// Row offsets, keys, counts.
type RowsOut<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// The features of candidate trees, without those that all candidates of a sentence have in common.
#[pyfunction]
#[pyo3(signature = (
    forest, sentence_offsets, *, head_step, from_right, punctuation, conjunction, threads
))]
#[expect(clippy::too_many_arguments, reason = "one table each, all by name")]
fn candidate_features<'py>(
    py: Python<'py>,
    forest: ForestIn<'py>,
    sentence_offsets: PyReadonlyArray1<'py, i64>,
    head_step: PyReadonlyArray2<'py, u32>,
    from_right: PyReadonlyArray2<'py, bool>,
    punctuation: PyReadonlyArray1<'py, bool>,
    conjunction: PyReadonlyArray1<'py, bool>,
    threads: usize,
) -> PyResult<RowsOut<'py>> {
    let sentence_offsets = elements("sentence_offsets", &sentence_offsets)?;
    let head_step = elements("head_step", &head_step)?;
    let from_right = elements("from_right", &from_right)?;
    let punctuation = elements("punctuation", &punctuation)?;
    let conjunction = elements("conjunction", &conjunction)?;
    let forest = forest.columns()?;
    let rows = enter(py, |cancel| {
        let forest = forest.build()?;
        let sentence_offsets =
            offsets_in("sentence_offsets", sentence_offsets, forest.len(), Runs::MayBeEmpty)?;
        let tables = LabelTables {
            head_step: head_step.to_vec(),
            from_right: from_right.to_vec(),
            punctuation: punctuation.to_vec(),
            conjunction: conjunction.to_vec(),
        };
        let threads = Threads::new(threads);
        let rows = threads.install(|| extract(&forest, &sentence_offsets, &tables, cancel))?;
        Ok::<_, Failure>(rows)
    })?;
    Ok((offsets_out(py, &rows.offsets), rows.keys.into_pyarray(py), rows.counts.into_pyarray(py)))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("reranker_template_version", TEMPLATE_VERSION)?;
    module.add_function(wrap_pyfunction!(candidate_features, module)?)
}
