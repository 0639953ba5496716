//! Bindings of least squares over the simplex, and of hashes and numbers of rows.

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use super::arrays::{check_shape, elements};
use super::enter::enter;
use super::errors::{ArgumentError, Failure};
use super::threads::Threads;
use crate::numeric::{distinct, simplex, stable_hash};

/// The weights of the convex combinations of anchors that are nearest to some points, a row each,
/// given the scalar products of the anchors with each other and of the points with the anchors.
#[pyfunction]
fn nearest_mixtures<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    products: PyReadonlyArray2<'py, f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let anchors = gram.shape()[0];
    let shape = [products.shape()[0], anchors];
    if anchors == 0 {
        return Err(ArgumentError::new("gram", "gram has no rows: there are no anchors").into());
    }
    check_shape("gram", gram.shape(), &[anchors; 2])?;
    check_shape("products", products.shape(), &shape)?;
    let (gram, products) = (elements("gram", &gram)?, elements("products", &products)?);
    let weights = enter(py, |cancel| {
        let threads = Threads::new(threads);
        let weights =
            threads.install(|| simplex::nearest_mixtures(gram, products, anchors, cancel))?;
        Ok::<_, Failure>(weights)
    })?;
    weights.into_pyarray(py).reshape(shape)
}

/// A hash of each row of some columns, from 0 to 2^63 - 1; -1 for a row with a negative value.
#[pyfunction]
fn hash_rows<'py>(
    py: Python<'py>,
    columns: Vec<PyReadonlyArray1<'py, i64>>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let columns: Vec<&[i64]> =
        columns.iter().map(|column| elements("columns", column)).collect::<Result<_, _>>()?;
    if let Some(first) = columns.first() {
        for column in &columns {
            check_shape("columns", &[column.len()], &[first.len()])?;
        }
    }
    let hashes = enter(py, |_| Ok::<_, Failure>(stable_hash::hash_rows(&columns)))?;
    Ok(hashes.into_pyarray(py))
}

/// The number of each pair of a group and a key among the distinct ones, in the order in which they
/// come first, and how many there are. The rows of a group follow one another.
#[pyfunction]
fn number_pairs<'py>(
    py: Python<'py>,
    groups: PyReadonlyArray1<'py, i64>,
    keys: PyReadonlyArray1<'py, i64>,
) -> PyResult<(Bound<'py, PyArray1<i64>>, usize)> {
    let (groups, keys) = (elements("groups", &groups)?, elements("keys", &keys)?);
    check_shape("keys", &[keys.len()], &[groups.len()])?;
    let (numbers, count) = enter(py, |_| Ok::<_, Failure>(distinct::number_pairs(groups, keys)))?;
    Ok((numbers.into_pyarray(py), count))
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(hash_rows, module)?)?;
    module.add_function(wrap_pyfunction!(number_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(nearest_mixtures, module)?)
}
