//! Bindings of the aggregate bigram model.

use numpy::{
    IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::python::arrays::{Runs, check_shape, elements, offsets_in};
use crate::python::enter::enter;
use crate::python::errors::{ArgumentError, Failure, IntoPyErr};
use crate::python::threads::Threads;
use crate::sequence::aggregate_bigram::{Factors, PairCounts, PairCountsError};

impl IntoPyErr for PairCountsError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        let argument = match self {
            Self::Cancelled(error) => return error.into_py_err(py),
            Self::Offsets(_) => "offsets",
            Self::Lengths { .. } | Self::TooMany(_) | Self::Count => "counts",
            Self::Word { .. } => "seconds",
            Self::Factors { .. } => "factors",
        };
        ArgumentError::new(argument, self).into_py_err(py)
    }
}

/// Counts of pairs of adjacent words, with threads to work on.
#[pyclass(name = "PairCounts", module = "lpcfg._core", frozen)]
struct PyPairCounts {
    counts: PairCounts,
    threads: Threads,
}

/// New P(state | first word) and, if asked for, P(second word | state), and the log-likelihood.
type Step<'py> = (Bound<'py, PyArray2<f32>>, Option<Bound<'py, PyArray2<f32>>>, f64);

#[pymethods]
impl PyPairCounts {
    #[new]
    fn new(
        py: Python<'_>,
        offsets: PyReadonlyArray1<'_, i64>,
        seconds: PyReadonlyArray1<'_, u32>,
        counts: PyReadonlyArray1<'_, f32>,
        words: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let offsets = elements("offsets", &offsets)?;
        let (seconds, counts) = (elements("seconds", &seconds)?, elements("counts", &counts)?);
        enter(py, |_| {
            let offsets = offsets_in("offsets", offsets, seconds.len(), Runs::MayBeEmpty)?;
            let counts = PairCounts::new(offsets, seconds, counts, words)?;
            Ok::<_, Failure>(Self { counts, threads: Threads::new(threads) })
        })
    }

    /// The logarithm of the probability of all second words given the first ones.
    fn log_likelihood(
        &self,
        py: Python<'_>,
        firsts: PyReadonlyArray2<'_, f32>,
        seconds: PyReadonlyArray2<'_, f32>,
    ) -> PyResult<f64> {
        let factors = factors(&firsts, &seconds)?;
        enter(py, |cancel| self.threads.install(|| self.counts.log_likelihood(factors, cancel)))
    }

    /// An iteration of EM: new parameters, and the log-likelihood of the old ones.
    fn step<'py>(
        &self,
        py: Python<'py>,
        firsts: PyReadonlyArray2<'py, f32>,
        seconds: PyReadonlyArray2<'py, f32>,
        update_seconds: bool,
    ) -> PyResult<Step<'py>> {
        let factors = factors(&firsts, &seconds)?;
        let step = enter(py, |cancel| {
            self.threads.install(|| self.counts.step(factors, update_seconds, cancel))
        })?;
        let array = |values: Vec<f32>| {
            let words = values.len() / factors.states;
            values.into_pyarray(py).reshape([words, factors.states])
        };
        let seconds = step.seconds.map(array).transpose()?;
        Ok((array(step.firsts)?, seconds, step.log_likelihood))
    }
}

fn factors<'a>(
    firsts: &'a PyReadonlyArray2<'_, f32>,
    seconds: &'a PyReadonlyArray2<'_, f32>,
) -> Result<Factors<'a>, ArgumentError> {
    let states = firsts.shape()[1];
    check_shape("seconds", seconds.shape(), &[seconds.shape()[0], states])?;
    let (firsts, seconds) = (elements("firsts", firsts)?, elements("seconds", seconds)?);
    Ok(Factors { states, firsts, seconds })
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPairCounts>()
}
