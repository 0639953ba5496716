//! Conversion of node tables to and from columns, and the bindings of the tree transform.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::forest::{ForestIn, ForestOut, forest_out};
use super::options::{CleaningIn, TransformIn};
use crate::cancel::Cancel;
use crate::python::arrays::{Runs, elements, offsets_in, offsets_out};
use crate::python::enter::enter;
use crate::python::errors::{ArgumentError, Exception, Failure, IntoPyErr};
use crate::treebank::clean_and_transform;
use crate::treebank::forest::Forest;
use crate::treebank::interner::Interner;
use crate::treebank::node_table::{NodeTable, Symbol, TableError};
use crate::treebank::transform::invert;

impl IntoPyErr for TableError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Treebank.new_err(py, self)
    }
}

/// Labels, ancestors, siblings, whether it is a preterminal.
type SymbolParts = (Vec<String>, Vec<String>, Option<Vec<String>>, bool);

/// Symbols, left, right, parents, starts, ends, words, tree offsets.
type Columns<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i64>>,
);

/// The columns of a table, its symbols and its words.
pub(super) type TableOut<'py> = (Columns<'py>, Vec<SymbolParts>, Vec<String>);

/// A table with its symbols spelled out.
pub(super) struct SpelledTable {
    table: NodeTable,
    symbols: Vec<SymbolParts>,
}

impl SpelledTable {
    /// Call this inside `enter`.
    pub(super) fn new(table: NodeTable) -> Self {
        let spell = |labels: &[u32]| -> Vec<String> {
            labels.iter().map(|&label| table.label_names[label as usize].clone()).collect()
        };
        let parts = |symbol: &Symbol| {
            let siblings = symbol.siblings.as_deref().map(spell);
            (spell(&symbol.labels), spell(&symbol.ancestors), siblings, symbol.preterminal)
        };
        let symbols = table.symbols.iter().map(parts).collect();
        Self { table, symbols }
    }

    pub(super) fn number_of_trees(&self) -> usize {
        self.table.tree_offsets.len() - 1
    }

    pub(super) fn into_columns(self, py: Python<'_>) -> TableOut<'_> {
        let table = self.table;
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
        (columns, self.symbols, table.words)
    }
}

/// Clean trees, unless `cleaning` is none, then binarise, markovise and collapse them. Trees
/// without nodes are left out.
#[pyfunction]
pub(super) fn transform_forest<'py>(
    py: Python<'py>,
    forest: ForestIn<'py>,
    cleaning: Option<CleaningIn>,
    transform: TransformIn,
) -> PyResult<TableOut<'py>> {
    let cleaning = cleaning.map(CleaningIn::options).transpose()?;
    let transform = transform.options()?;
    let forest = forest.columns()?;
    let table = enter(py, |cancel| {
        let table = clean_and_transform(forest.build()?, cleaning.as_ref(), &transform, cancel)?;
        Ok::<_, Failure>(SpelledTable::new(table))
    })?;
    Ok(table.into_columns(py))
}

/// Symbols, left, right, words, tree offsets.
#[derive(FromPyObject)]
pub(super) struct TableIn<'py>(
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, i32>,
    PyReadonlyArray1<'py, i32>,
    PyReadonlyArray1<'py, i32>,
    PyReadonlyArray1<'py, i64>,
);

impl TableIn<'_> {
    /// The columns, which can be read without the interpreter lock.
    fn columns(&self) -> Result<ColumnsIn<'_>, ArgumentError> {
        Ok(ColumnsIn {
            symbol: elements("symbol", &self.0)?,
            left: elements("left", &self.1)?,
            right: elements("right", &self.2)?,
            word: elements("word", &self.3)?,
            tree_offsets: elements("tree_offsets", &self.4)?,
        })
    }
}

/// The columns of a table, not checked yet.
struct ColumnsIn<'a> {
    symbol: &'a [u32],
    left: &'a [i32],
    right: &'a [i32],
    word: &'a [i32],
    tree_offsets: &'a [i64],
}

impl ColumnsIn<'_> {
    /// Check the columns, and undo the transform: call this inside `enter`.
    fn invert(
        &self,
        symbols: Vec<SymbolParts>,
        words: Vec<String>,
        cancel: &Cancel,
    ) -> Result<Forest, Failure> {
        let nodes = self.symbol.len();
        let tree_offsets = offsets_in("tree_offsets", self.tree_offsets, nodes, Runs::MayBeEmpty)?;
        let mut names = Interner::<String>::default();
        let symbols = symbols.into_iter().map(|(labels, _, siblings, preterminal)| Symbol {
            labels: labels.iter().map(|label| names.intern(label.as_str())).collect(),
            // The inverse does not need the ancestors and siblings of a symbol.
            ancestors: Vec::new(),
            siblings: siblings.map(|_| Vec::new()),
            preterminal,
        });
        let table = NodeTable {
            symbols: symbols.collect(),
            symbol: self.symbol.to_vec(),
            left: self.left.to_vec(),
            right: self.right.to_vec(),
            word: self.word.to_vec(),
            tree_offsets,
            label_names: names.values().to_vec(),
            words,
            ..NodeTable::default()
        };
        Ok(invert(&table, cancel)?)
    }
}

/// Undo `transform_forest`.
#[pyfunction]
pub(super) fn invert_table<'py>(
    py: Python<'py>,
    table: TableIn<'py>,
    symbols: Vec<SymbolParts>,
    words: Vec<String>,
) -> PyResult<ForestOut<'py>> {
    let table = table.columns()?;
    let forest = enter(py, |cancel| table.invert(symbols, words, cancel))?;
    Ok(forest_out(py, &forest))
}

/// Undo the transform of a table, and apply another one.
#[pyfunction]
pub(super) fn transform_table<'py>(
    py: Python<'py>,
    table: TableIn<'py>,
    symbols: Vec<SymbolParts>,
    words: Vec<String>,
    transform: TransformIn,
) -> PyResult<TableOut<'py>> {
    let transform = transform.options()?;
    let table = table.columns()?;
    let transformed = enter(py, |cancel| {
        let forest = table.invert(symbols, words, cancel)?;
        let table = clean_and_transform(forest, None, &transform, cancel)?;
        Ok::<_, Failure>(SpelledTable::new(table))
    })?;
    Ok(transformed.into_columns(py))
}
