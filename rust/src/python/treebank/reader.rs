//! Bindings of the reader of bracketed trees.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyIterator;

use super::forest::{ForestOut, forest_out};
use super::options::{CleaningIn, TransformIn};
use super::table::{SpelledTable, TableOut};
use crate::cancel::Cancel;
use crate::python::enter::{enter, lock};
use crate::python::errors::{Exception, Failure, IntoPyErr};
use crate::treebank::bracket::{self, BracketError, MAX_KEPT_ERRORS, ReadOptions};
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
        work: impl FnOnce(&mut bracket::BracketReader, &Cancel) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        enter(py, |cancel| work(&mut *lock(&self.0, cancel)?, cancel))
    }
}

/// The next value of a Python iterator. The interpreter lock is held meanwhile.
fn next<T>(iterator: &Py<PyIterator>) -> PyResult<Option<T>>
where
    T: for<'a, 'py> FromPyObject<'a, 'py>,
{
    Python::attach(|py| match iterator.bind(py).clone().next() {
        Some(value) => Ok(Some(value?.extract().map_err(Into::into)?)),
        None => Ok(None),
    })
}

/// Read all sources: names, and iterators of their chunks. Returns the errors of the first trees
/// that were dropped.
fn read_sources(
    reader: &mut bracket::BracketReader,
    sources: &Py<PyIterator>,
    cancel: &Cancel,
) -> Result<Vec<String>, Failure> {
    let mut errors = Vec::new();
    while let Some((source, chunks)) = next::<(String, Py<PyIterator>)>(sources)? {
        while let Some(chunk) = next::<PyBackedBytes>(&chunks)? {
            cancel.check()?;
            feed(reader, &source, &chunk)?;
        }
        errors.append(&mut finish(reader, &source)?);
        errors.truncate(MAX_KEPT_ERRORS);
    }
    Ok(errors)
}

fn feed(
    reader: &mut bracket::BracketReader,
    source: &str,
    chunk: &[u8],
) -> Result<(), SourceError> {
    reader.feed(chunk).map_err(|error| SourceError { source: source.to_owned(), error })
}

/// End a source. Returns the errors of the first trees dropped from it.
fn finish(reader: &mut bracket::BracketReader, source: &str) -> Result<Vec<String>, SourceError> {
    reader.finish().map_err(|error| SourceError { source: source.to_owned(), error })?;
    Ok(reader.take_errors().iter().map(|error| format!("{source}:{error}")).collect())
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
        self.run(py, |reader, _| Ok(feed(reader, source, chunk)?))
    }

    /// Read a chunk of a source, and return the trees completed since the last call.
    fn read<'py>(&self, py: Python<'py>, source: &str, chunk: &[u8]) -> PyResult<ForestOut<'py>> {
        let forest = self.run(py, |reader, _| {
            feed(reader, source, chunk)?;
            Ok(reader.take_forest())
        })?;
        Ok(forest_out(py, &forest))
    }

    /// End a source. Returns the errors of the first trees dropped from it, and the number of trees
    /// dropped from all sources so far.
    fn finish(&self, py: Python<'_>, source: &str) -> PyResult<(Vec<String>, usize)> {
        self.run(py, |reader, _| {
            let errors = finish(reader, source)?;
            Ok((errors, reader.skipped()))
        })
    }

    /// Return the trees completed since the last call.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<ForestOut<'py>> {
        let forest = self.run(py, |reader, _| Ok(reader.take_forest()))?;
        Ok(forest_out(py, &forest))
    }

    /// Read all chunks of sources, and clean (unless `cleaning` is none) and transform their trees.
    ///
    /// `sources` are pairs of a name and an iterator of chunks, which must not wait for anybody:
    /// Ctrl-C is noticed between chunks, and while trees are cleaned and transformed. Returns the table, the number of trees without nodes,
    /// which are left out, the errors of the first trees that were dropped, and their number.
    fn read_table<'py>(
        &self,
        py: Python<'py>,
        sources: Py<PyIterator>,
        cleaning: Option<CleaningIn>,
        transform: TransformIn,
    ) -> PyResult<(TableOut<'py>, usize, Vec<String>, usize)> {
        let cleaning = cleaning.map(CleaningIn::options).transpose()?;
        let transform = transform.options()?;
        let (table, empty, errors, skipped) = self.run(py, |reader, cancel| {
            let errors = read_sources(reader, &sources, cancel)?;
            let forest = reader.take_forest();
            let trees = forest.len();
            let table = clean_and_transform(forest, cleaning.as_ref(), &transform, cancel)?;
            let table = SpelledTable::new(table);
            let empty = trees - table.number_of_trees();
            Ok((table, empty, errors, reader.skipped()))
        })?;
        Ok((table.into_columns(py), empty, errors, skipped))
    }
}
