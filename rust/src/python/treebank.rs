//! Bindings of the tree modules: forests and node tables cross the border as tuples of columns.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use super::enter::enter;
use super::errors::{Exception, IntoPyErr};
use crate::treebank::bracket::{self, BracketError, ReadOptions};
use crate::treebank::clean::{self, CleanOptions, FunctionTags};
use crate::treebank::forest::{Forest, ForestError};
use crate::treebank::node_table::{NodeTable, Symbol, TableError};
use crate::treebank::transform::{self, Annotate, Collapse, Direction, TransformOptions};

/// Labels, words, sizes, tree offsets, label names, word names.
type ForestOut<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<i64>>,
    Vec<String>,
    Vec<String>,
);

/// Symbols, left, right, parents, starts, ends, words, tree offsets.
type TableOut<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i64>>,
);

/// Labels, ancestors, siblings, whether it is a preterminal.
type SymbolParts = (Vec<String>, Vec<String>, Option<Vec<String>>, bool);

#[derive(FromPyObject)]
pub(super) struct ForestIn<'py>(
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, i32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, i64>,
    Vec<String>,
    Vec<String>,
);

/// Symbols, left, right, words, tree offsets.
#[derive(FromPyObject)]
struct TableIn<'py>(
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, i32>,
    PyReadonlyArray1<'py, i32>,
    PyReadonlyArray1<'py, i32>,
    PyReadonlyArray1<'py, i64>,
);

/// An error in a named source of trees.
struct SourceError {
    source: String,
    error: BracketError,
}

impl IntoPyErr for SourceError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Treebank.new_err(py, format!("{}:{}", self.source, self.error))
    }
}

impl IntoPyErr for ForestError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Treebank.new_err(py, self)
    }
}

impl IntoPyErr for TableError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Treebank.new_err(py, self)
    }
}

/// A streaming reader of bracketed trees.
#[pyclass(module = "lpcfg._core")]
struct BracketReader {
    reader: bracket::BracketReader,
    source: String,
}

#[pymethods]
impl BracketReader {
    #[new]
    fn new(keep_empty: bool, skip_malformed: bool) -> Self {
        let options = ReadOptions { keep_empty, skip_malformed };
        Self { reader: bracket::BracketReader::new(options), source: String::new() }
    }

    /// Name the source that is fed next; errors begin with its name.
    fn start(&mut self, source: String) {
        self.source = source;
    }

    /// Read a chunk of the source.
    fn feed(&mut self, py: Python<'_>, chunk: &[u8]) -> PyResult<()> {
        let Self { reader, source } = self;
        enter(py, |_| {
            reader.feed(chunk).map_err(|error| SourceError { source: source.clone(), error })
        })
    }

    /// End the source.
    fn finish(&mut self, py: Python<'_>) -> PyResult<()> {
        let Self { reader, source } = self;
        enter(py, |_| {
            reader.finish().map_err(|error| SourceError { source: source.clone(), error })
        })
    }

    /// Hand over the trees completed since the last call.
    fn take<'py>(&mut self, py: Python<'py>) -> ForestOut<'py> {
        forest_out(py, &self.reader.take_forest())
    }

    /// Hand over the errors of trees dropped since the last call: the first of them.
    fn take_errors(&mut self) -> Vec<String> {
        let errors = self.reader.take_errors();
        errors.iter().map(|error| format!("{}:{error}", self.source)).collect()
    }

    /// How many malformed trees were dropped so far.
    #[getter]
    fn skipped(&self) -> usize {
        self.reader.skipped()
    }
}

/// Remove from trees what a grammar should not learn.
#[pyfunction]
fn clean_forest<'py>(
    py: Python<'py>,
    forest: ForestIn<'py>,
    function_tags: &str,
    remove_empty: bool,
    merge_repeated: bool,
    root_label: Option<String>,
) -> PyResult<ForestOut<'py>> {
    let function_tags = match function_tags {
        "keep" => FunctionTags::Keep,
        "phrases" => FunctionTags::Phrases,
        "all" => FunctionTags::All,
        other => {
            let message = format!("function_tags is keep, phrases or all, not {other:?}");
            return Err(Exception::Input.new_err(py, message));
        }
    };
    let options = CleanOptions { function_tags, remove_empty, merge_repeated, root_label };
    let forest = forest_in(py, &forest)?;
    let cleaned = enter(py, |_| Ok::<_, ForestError>(clean::clean(&forest, &options)))?;
    Ok(forest_out(py, &cleaned))
}

/// Binarise, markovise and collapse: the node table, its symbols and its words.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "one argument for each option")]
fn transform_forest<'py>(
    py: Python<'py>,
    forest: ForestIn<'py>,
    binarize: &str,
    horizontal: Option<usize>,
    vertical: usize,
    annotate_made: bool,
    annotate_preterminals: bool,
    collapse_root: bool,
    collapse_inside: bool,
    collapse_preterminals: bool,
) -> PyResult<(TableOut<'py>, Vec<SymbolParts>, Vec<String>)> {
    let direction = match binarize {
        "left" => Direction::Left,
        "right" => Direction::Right,
        other => {
            let message = format!("binarize is left or right, not {other:?}");
            return Err(Exception::Input.new_err(py, message));
        }
    };
    let options = TransformOptions {
        direction,
        horizontal,
        vertical,
        annotate: Annotate { made: annotate_made, preterminals: annotate_preterminals },
        collapse: Collapse {
            root: collapse_root,
            inside: collapse_inside,
            preterminals: collapse_preterminals,
        },
    };
    let forest = forest_in(py, &forest)?;
    let table = enter(py, |_| Ok::<_, ForestError>(transform::transform(&forest, &options)))?;
    let symbols = table.symbols.iter().map(|symbol| symbol_out(symbol, &table.label_names));
    let symbols = symbols.collect();
    let columns = (
        table.symbol.into_pyarray(py),
        table.left.into_pyarray(py),
        table.right.into_pyarray(py),
        table.parent.into_pyarray(py),
        table.start.into_pyarray(py),
        table.end.into_pyarray(py),
        table.word.into_pyarray(py),
        offsets_out(py, &table.tree_offsets),
    );
    Ok((columns, symbols, table.words))
}

/// Undo `transform_forest`.
#[pyfunction]
fn invert_table<'py>(
    py: Python<'py>,
    table: TableIn<'py>,
    symbols: Vec<SymbolParts>,
    words: Vec<String>,
) -> PyResult<ForestOut<'py>> {
    let mut names = crate::treebank::interner::Interner::<String>::default();
    let symbols = symbols.into_iter().map(|(labels, _, siblings, preterminal)| Symbol {
        labels: labels.iter().map(|label| names.intern(label.as_str())).collect(),
        // What a node remembers of others is not needed on the way back.
        ancestors: Vec::new(),
        siblings: siblings.map(|_| Vec::new()),
        preterminal,
    });
    let table = NodeTable {
        symbols: symbols.collect(),
        symbol: column(&table.0),
        left: column(&table.1),
        right: column(&table.2),
        word: column(&table.3),
        tree_offsets: offsets_in(&table.4),
        label_names: names.values().to_vec(),
        words,
        ..NodeTable::default()
    };
    let forest = enter(py, |_| transform::invert(&table))?;
    Ok(forest_out(py, &forest))
}

fn column<T: numpy::Element + Copy>(array: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    array.as_array().to_vec()
}

/// Offsets as indices; a negative one becomes a number that no check lets pass.
pub(super) fn offsets_in(offsets: &PyReadonlyArray1<'_, i64>) -> Vec<usize> {
    let index = |offset: &i64| usize::try_from(*offset).unwrap_or(usize::MAX);
    offsets.as_array().iter().map(index).collect()
}

pub(super) fn offsets_out<'py>(py: Python<'py>, offsets: &[usize]) -> Bound<'py, PyArray1<i64>> {
    offsets.iter().map(|offset| *offset as i64).collect::<Vec<_>>().into_pyarray(py)
}

pub(super) fn forest_in(py: Python<'_>, columns: &ForestIn<'_>) -> PyResult<Forest> {
    let ForestIn(labels, words, sizes, offsets, label_names, word_names) = columns;
    let (labels, words, sizes) = (column(labels), column(words), column(sizes));
    let offsets = offsets_in(offsets);
    enter(py, |_| Forest::from_columns(&labels, &words, &sizes, offsets, label_names, word_names))
}

fn forest_out<'py>(py: Python<'py>, forest: &Forest) -> ForestOut<'py> {
    (
        forest.labels().to_pyarray(py),
        forest.words().to_pyarray(py),
        forest.sizes().to_pyarray(py),
        offsets_out(py, forest.tree_offsets()),
        forest.label_names().to_vec(),
        forest.word_names().to_vec(),
    )
}

fn symbol_out(symbol: &Symbol, label_names: &[String]) -> SymbolParts {
    let names = |labels: &[u32]| -> Vec<String> {
        labels.iter().map(|label| label_names[*label as usize].clone()).collect()
    };
    (
        names(&symbol.labels),
        names(&symbol.ancestors),
        symbol.siblings.as_deref().map(names),
        symbol.preterminal,
    )
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<BracketReader>()?;
    module.add_function(wrap_pyfunction!(clean_forest, module)?)?;
    module.add_function(wrap_pyfunction!(transform_forest, module)?)?;
    module.add_function(wrap_pyfunction!(invert_table, module)?)?;
    Ok(())
}
