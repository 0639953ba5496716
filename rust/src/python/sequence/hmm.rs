//! Bindings of hidden Markov models.

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::cancel::Cancel;
use crate::python::arrays::{Runs, check_shape, elements, offsets_in};
use crate::python::enter::enter;
use crate::python::errors::{ArgumentError, Failure, IntoPyErr};
use crate::python::threads::Threads;
use crate::sequence::hmm::expectation::{
    expected_counts, expected_visits, log_probabilities, posteriors,
};
use crate::sequence::hmm::viterbi::best_states;
use crate::sequence::hmm::{HmmError, Lattice, Model, SecondOrder, Sequences};

impl IntoPyErr for HmmError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        let argument = match self {
            Self::Cancelled(error) => return error.into_py_err(py),
            Self::Length { array, .. } | Self::Probability { array, .. } => array,
            Self::Offsets(_) => "offsets",
            Self::Symbol { .. } => "symbols",
            Self::Impossible { .. } => "sequences",
        };
        ArgumentError::new(argument, self).into_py_err(py)
    }
}

/// The parameters of a hidden Markov model, checked and laid out for the passes.
#[pyclass(name = "HiddenMarkovModel", module = "lpcfg._core", frozen)]
struct PyModel(Model);

#[pymethods]
impl PyModel {
    #[new]
    #[pyo3(signature = (*, initial, transitions, ends, emissions))]
    fn new(
        py: Python<'_>,
        initial: PyReadonlyArray1<'_, f64>,
        transitions: PyReadonlyArray2<'_, f64>,
        ends: PyReadonlyArray1<'_, f64>,
        emissions: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Self> {
        let (states, symbols) = (initial.len(), emissions.shape()[1]);
        check_shape("transitions", transitions.shape(), &[states; 2])?;
        check_shape("emissions", emissions.shape(), &[states, symbols])?;
        let initial = elements("initial", &initial)?;
        let transitions = elements("transitions", &transitions)?;
        let ends = elements("ends", &ends)?;
        let emissions = elements("emissions", &emissions)?;
        enter(py, |_| Model::new(initial, transitions, ends, emissions, symbols)).map(Self)
    }
}

/// A second-order model of words and their tags.
#[pyclass(name = "SecondOrderModel", module = "lpcfg._core", frozen)]
struct PySecondOrder(SecondOrder);

#[pymethods]
impl PySecondOrder {
    #[new]
    #[pyo3(signature = (*, transitions, offsets, tags, emissions))]
    fn new(
        py: Python<'_>,
        transitions: PyReadonlyArray3<'_, f64>,
        offsets: PyReadonlyArray1<'_, i64>,
        tags: PyReadonlyArray1<'_, u32>,
        emissions: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        // Besides the tags there is a boundary symbol before the first and after the last word.
        let size = transitions.shape()[0];
        check_shape("transitions", transitions.shape(), &[size; 3])?;
        let transitions = elements("transitions", &transitions)?;
        let offsets = elements("offsets", &offsets)?;
        let tags = elements("tags", &tags)?;
        let emissions = elements("emissions", &emissions)?;
        enter(py, |_| {
            let offsets = offsets_in("offsets", offsets, tags.len(), Runs::NonEmpty)?;
            let model = SecondOrder::new(
                size.saturating_sub(1),
                transitions.to_vec(),
                offsets,
                tags.to_vec(),
                emissions.to_vec(),
            )?;
            Ok::<_, Failure>(Self(model))
        })
    }
}

/// Sequences of symbols, with threads to work on.
#[pyclass(name = "Sequences", module = "lpcfg._core", frozen)]
struct PySequences {
    sequences: Sequences,
    threads: Threads,
}

#[pymethods]
impl PySequences {
    #[new]
    fn new(
        py: Python<'_>,
        offsets: PyReadonlyArray1<'_, i64>,
        symbols: PyReadonlyArray1<'_, u32>,
        threads: usize,
    ) -> PyResult<Self> {
        let offsets = elements("offsets", &offsets)?;
        let symbols = elements("symbols", &symbols)?;
        enter(py, |_| {
            let offsets = offsets_in("offsets", offsets, symbols.len(), Runs::NonEmpty)?;
            let sequences = Sequences::new(offsets, symbols.to_vec())?;
            Ok::<_, Failure>(Self { sequences, threads: Threads::new(threads) })
        })
    }

    /// The log-probability of each sequence.
    fn log_probabilities<'py>(
        &self,
        py: Python<'py>,
        model: &PyModel,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let logs = self.run(py, |cancel| log_probabilities(&model.0, &self.sequences, cancel))?;
        Ok(logs.into_pyarray(py))
    }

    /// The posteriors of states, a row for each symbol of all sequences.
    fn posteriors<'py>(
        &self,
        py: Python<'py>,
        model: &PyModel,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = self.run(py, |cancel| posteriors(&model.0, &self.sequences, cancel))?;
        matrix(py, rows, model.0.states())
    }

    /// Expected counts of states and, if wanted, of transitions, a row for each sequence.
    fn expected_visits<'py>(
        &self,
        py: Python<'py>,
        model: &PyModel,
        transitions: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let states = model.0.states();
        let columns = if transitions { states + states * states } else { states };
        let rows =
            self.run(py, |cancel| expected_visits(&model.0, &self.sequences, transitions, cancel))?;
        matrix(py, rows, columns)
    }

    /// Expected counts over all sequences: the E-step of Baum-Welch.
    fn expected_counts<'py>(
        &self,
        py: Python<'py>,
        model: &PyModel,
    ) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.run(py, |cancel| expected_counts(&model.0, &self.sequences, cancel))?;
        let dict = PyDict::new(py);
        dict.set_item("initial", counts.initial.into_pyarray(py))?;
        dict.set_item("transitions", matrix(py, counts.transitions, model.0.states())?)?;
        dict.set_item("ends", counts.ends.into_pyarray(py))?;
        dict.set_item("emissions", matrix(py, counts.emissions, model.0.symbols())?)?;
        dict.set_item("log_probability", counts.log_probability)?;
        Ok(dict)
    }

    /// The states of the most probable path of each sequence, and the joint log-probability of the
    /// sequence and that path.
    #[expect(clippy::type_complexity, reason = "a pair of arrays")]
    fn best_states<'py>(
        &self,
        py: Python<'py>,
        model: &PyModel,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>)> {
        let (states, logs) =
            self.run(py, |cancel| best_states(&model.0, &self.sequences, cancel))?;
        Ok((states.into_pyarray(py), logs.into_pyarray(py)))
    }

    /// The most probable tag of each word under a second-order model, and its probability.
    #[expect(clippy::type_complexity, reason = "a pair of arrays")]
    fn best_tags<'py>(
        &self,
        py: Python<'py>,
        model: &PySecondOrder,
    ) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>)> {
        let best = self.run(py, |cancel| model.0.best_tags(&self.sequences, cancel))?;
        let (tags, probabilities): (Vec<_>, Vec<_>) = best.into_iter().unzip();
        Ok((tags.into_pyarray(py), probabilities.into_pyarray(py)))
    }

    /// The probabilities of tags under a second-order model, a row for each word.
    fn tag_posteriors<'py>(
        &self,
        py: Python<'py>,
        model: &PySecondOrder,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = self.run(py, |cancel| model.0.posteriors(&self.sequences, cancel))?;
        matrix(py, rows, model.0.tags())
    }

    /// The scaled forward and backward rows of one sequence, and their scales: the probability of
    /// each symbol given the earlier ones.
    #[expect(clippy::type_complexity, reason = "three arrays")]
    fn passes<'py>(
        &self,
        py: Python<'py>,
        model: &PyModel,
        sequence: usize,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>)>
    {
        if sequence >= self.sequences.len() {
            let message = format!("there is no sequence {sequence}");
            return Err(ArgumentError::new("sequence", message).into());
        }
        let states = model.0.states();
        let (forward, backward, scales) = self.run(py, |cancel| {
            let lattice = Lattice::of_sequence(&model.0, &self.sequences, sequence, cancel)?;
            let (forward, backward): (Vec<_>, Vec<_>) = lattice
                .rows()
                .map(|(forward, backward)| (&forward[..states], &backward[..states]))
                .unzip();
            Ok((forward.concat(), backward.concat(), lattice.scales().to_vec()))
        })?;
        Ok((matrix(py, forward, states)?, matrix(py, backward, states)?, scales.into_pyarray(py)))
    }
}

impl PySequences {
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Cancel) -> Result<T, HmmError> + Send,
    ) -> PyResult<T> {
        enter(py, |cancel| self.threads.install(|| work(cancel)))
    }
}

/// Rows with this number of columns as a NumPy array.
fn matrix(py: Python<'_>, rows: Vec<f64>, columns: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let shape = [rows.len() / columns.max(1), columns];
    rows.into_pyarray(py).reshape(shape)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyModel>()?;
    module.add_class::<PySecondOrder>()?;
    module.add_class::<PySequences>()
}
