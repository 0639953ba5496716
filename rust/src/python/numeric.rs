//! Bindings of least squares over the simplex.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::arrays::{check_shape, elements};
use super::enter::enter;
use super::errors::{ArgumentError, Failure};
use super::threads::Threads;
use crate::numeric::simplex;

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

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(nearest_mixtures, module)?)
}
