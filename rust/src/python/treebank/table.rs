//! Conversion of node tables to and from columns, and the bindings of the tree transform.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::forest::{ForestIn, ForestOut, forest_out};
use super::options::{CleaningIn, TransformIn};
use crate::python::arrays::{Runs, elements, offsets_in, offsets_out};
use crate::python::enter::enter;
use crate::python::errors::{Exception, Failure, IntoPyErr};
use crate::treebank::clean_and_transform;
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
    let table = enter(py, |_| {
        let table = clean_and_transform(forest.build()?, cleaning.as_ref(), &transform);
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

/// Undo `transform_forest`.
#[pyfunction]
pub(super) fn invert_table<'py>(
    py: Python<'py>,
    table: TableIn<'py>,
    symbols: Vec<SymbolParts>,
    words: Vec<String>,
) -> PyResult<ForestOut<'py>> {
    let symbol = elements("symbol", &table.0)?;
    let left = elements("left", &table.1)?;
    let right = elements("right", &table.2)?;
    let word = elements("word", &table.3)?;
    let tree_offsets = elements("tree_offsets", &table.4)?;
    let forest = enter(py, move |_| {
        let tree_offsets =
            offsets_in("tree_offsets", tree_offsets, symbol.len(), Runs::MayBeEmpty)?;
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
            symbol: symbol.to_vec(),
            left: left.to_vec(),
            right: right.to_vec(),
            word: word.to_vec(),
            tree_offsets,
            label_names: names.values().to_vec(),
            words,
            ..NodeTable::default()
        };
        Ok::<_, Failure>(invert(&table)?)
    })?;
    Ok(forest_out(py, &forest))
}
