//! Least squares over the simplex.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::enter::enter;
use super::threads::thread_pool;
use crate::numeric::simplex;

/// The weights of the mixtures of anchors nearest to some points, a row each, from the scalar
/// products of the anchors with each other and of the points with the anchors.
#[pyfunction]
fn nearest_mixtures<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    products: PyReadonlyArray2<'py, f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let anchors = gram.shape()[0];
    let shape = [products.shape()[0], anchors];
    if anchors == 0 || gram.shape()[1] != anchors || products.shape() != shape {
        return Err(PyValueError::new_err(format!(
            "products of shapes {:?} and {:?} are not those of anchors and points",
            gram.shape(),
            products.shape(),
        )));
    }
    let (gram, products) = (gram.as_slice()?, products.as_slice()?);
    let pool = thread_pool(py, threads)?;
    let weights = enter(py, |cancel| {
        pool.install(|| simplex::nearest_mixtures(gram, products, anchors, cancel))
    })?;
    weights.into_pyarray(py).reshape(shape)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(nearest_mixtures, module)?)
}
