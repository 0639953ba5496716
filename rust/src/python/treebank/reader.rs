//! Bindings of the reader of bracketed trees.

use std::sync::Mutex;

use pyo3::prelude::*;

use super::forest::{ForestOut, forest_out};
use super::options::{CleaningIn, TransformIn};
use super::table::{SpelledTable, TableOut};
use crate::python::enter::{enter, lock};
use crate::python::errors::{Exception, Failure, IntoPyErr};
use crate::treebank::bracket::{self, BracketError, ReadOptions};
use crate::treebank::clean_and_transform;

/// An error in a named source of trees.
struct SourceError {
    source: String,
    error: BracketError,
}

impl IntoPyErr for SourceError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        let Self { source, error } = self;
        Exception::Treebank.about(py, error.explanation(), |attributes| {
            attributes.set_item("file", source)?;
            attributes.set_item("line", error.position.line)?;
            attributes.set_item("column", error.position.column)
        })
    }
}

/// A streaming reader of bracketed trees. Several Python threads may share it: each call waits
/// until the one before it has ended.
#[pyclass(module = "lpcfg._core", frozen)]
pub(super) struct BracketReader(Mutex<bracket::BracketReader>);

impl BracketReader {
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut bracket::BracketReader) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        enter(py, |cancel| work(&mut *lock(&self.0, cancel)?))
    }
}

fn feed(
    reader: &mut bracket::BracketReader,
    source: &str,
    chunk: &[u8],
) -> Result<(), SourceError> {
    reader.feed(chunk).map_err(|error| SourceError { source: source.to_owned(), error })
}

#[pymethods]
impl BracketReader {
    #[new]
    #[pyo3(signature = (keep_empty, skip_malformed, ignore_lemmas = false))]
    fn new(keep_empty: bool, skip_malformed: bool, ignore_lemmas: bool) -> Self {
        let options = ReadOptions { keep_empty, skip_malformed, ignore_lemmas };
        Self(Mutex::new(bracket::BracketReader::new(options)))
    }

    /// Read a chunk of a source; errors name the source as their file.
    fn feed(&self, py: Python<'_>, source: &str, chunk: &[u8]) -> PyResult<()> {
        self.run(py, |reader| Ok(feed(reader, source, chunk)?))
    }

    /// Read a chunk of a source, and return the trees completed since the last call.
    fn read<'py>(&self, py: Python<'py>, source: &str, chunk: &[u8]) -> PyResult<ForestOut<'py>> {
        let forest = self.run(py, |reader| {
            feed(reader, source, chunk)?;
            Ok(reader.take_forest())
        })?;
        Ok(forest_out(py, &forest))
    }

    /// End a source. Returns the errors of the first trees dropped from it, and the number of trees
    /// dropped from all sources so far.
    fn finish(&self, py: Python<'_>, source: &str) -> PyResult<(Vec<String>, usize)> {
        self.run(py, |reader| {
            let outcome = reader.finish();
            outcome.map_err(|error| SourceError { source: source.to_owned(), error })?;
            let errors = reader.take_errors();
            let errors = errors.iter().map(|error| format!("{source}:{error}")).collect();
            Ok((errors, reader.skipped()))
        })
    }

    /// Return the trees completed since the last call.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<ForestOut<'py>> {
        let forest = self.run(py, |reader| Ok(reader.take_forest()))?;
        Ok(forest_out(py, &forest))
    }

    /// Return the trees completed since the last call, cleaned (unless `cleaning` is none) and
    /// transformed, and the number of trees without nodes, which are left out.
    fn take_table<'py>(
        &self,
        py: Python<'py>,
        cleaning: Option<CleaningIn>,
        transform: TransformIn,
    ) -> PyResult<(TableOut<'py>, usize)> {
        let cleaning = cleaning.map(CleaningIn::options).transpose()?;
        let transform = transform.options()?;
        let (table, empty) = self.run(py, |reader| {
            let forest = reader.take_forest();
            let trees = forest.len();
            let table = clean_and_transform(forest, cleaning.as_ref(), &transform);
            let table = SpelledTable::new(table);
            let empty = trees - table.number_of_trees();
            Ok((table, empty))
        })?;
        Ok((table.into_columns(py), empty))
    }
}
