//! Conversion of forests to and from columns, and the binding of cleaning.

use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use super::options::CleaningIn;
use crate::python::arrays::{Runs, elements, offsets_in, offsets_out};
use crate::python::enter::enter;
use crate::python::errors::{ArgumentError, Exception, Failure, IntoPyErr};
use crate::treebank::clean::clean;
use crate::treebank::forest::{Forest, ForestError};

impl IntoPyErr for ForestError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Treebank.new_err(py, self)
    }
}

/// Labels, words, sizes, tree offsets, label names, word names.
#[derive(FromPyObject)]
pub(in crate::python) struct ForestIn<'py>(
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, i32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, i64>,
    Vec<String>,
    Vec<String>,
);

impl ForestIn<'_> {
    /// The columns, which can be read without the interpreter lock.
    pub(in crate::python) fn columns(&self) -> Result<Columns<'_>, ArgumentError> {
        Ok(Columns {
            labels: elements("labels", &self.0)?,
            words: elements("words", &self.1)?,
            sizes: elements("sizes", &self.2)?,
            tree_offsets: elements("tree_offsets", &self.3)?,
            label_names: &self.4,
            word_names: &self.5,
        })
    }
}

/// The columns of a forest, not checked yet.
pub(in crate::python) struct Columns<'a> {
    labels: &'a [u32],
    words: &'a [i32],
    sizes: &'a [u32],
    tree_offsets: &'a [i64],
    label_names: &'a [String],
    word_names: &'a [String],
}

impl Columns<'_> {
    /// Check the columns: call this inside `enter`.
    pub(in crate::python) fn build(&self) -> Result<Forest, Failure> {
        let nodes = self.labels.len();
        let tree_offsets = offsets_in("tree_offsets", self.tree_offsets, nodes, Runs::MayBeEmpty)?;
        let forest = Forest::from_columns(
            self.labels,
            self.words,
            self.sizes,
            tree_offsets,
            self.label_names,
            self.word_names,
        )?;
        Ok(forest)
    }
}

/// The columns of a forest as [`ForestIn`] takes them.
pub(super) type ForestOut<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<i64>>,
    Vec<String>,
    Vec<String>,
);

pub(super) fn forest_out<'py>(py: Python<'py>, forest: &Forest) -> ForestOut<'py> {
    (
        forest.labels().to_pyarray(py),
        forest.words().to_pyarray(py),
        forest.sizes().to_pyarray(py),
        offsets_out(py, forest.tree_offsets()),
        forest.label_names().to_vec(),
        forest.word_names().to_vec(),
    )
}

/// Clean trees.
#[pyfunction]
pub(super) fn clean_forest<'py>(
    py: Python<'py>,
    forest: ForestIn<'py>,
    cleaning: CleaningIn,
) -> PyResult<ForestOut<'py>> {
    let options = cleaning.options()?;
    let forest = forest.columns()?;
    let cleaned = enter(py, |cancel| Ok::<_, Failure>(clean(&forest.build()?, &options, cancel)?))?;
    Ok(forest_out(py, &cleaned))
}
