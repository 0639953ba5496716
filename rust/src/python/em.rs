//! Bindings of the E-step of EM: expectations over latent states, given trees.

use numpy::{
    IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrays::{Runs, check_shape, elements, offsets_in};
use super::enter::enter;
use super::errors::{Exception, Failure, IntoPyErr};
use super::threads::Threads;
use crate::cancel::{Cancel, Cancelled};
use crate::em::{LatentTrees, NodeVectors, Parameters, TreesError, merge_losses};

impl IntoPyErr for TreesError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Grammar.new_err(py, self)
    }
}

/// States, roots, binary and emission parameters.
#[derive(FromPyObject)]
struct ParametersIn<'py>(
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, f32>,
    PyReadonlyArray1<'py, f32>,
    PyReadonlyArray1<'py, f32>,
);

/// Trees indexed for the E-step, with threads to work on.
#[pyclass(name = "LatentTrees", module = "lpcfg._core", frozen)]
struct PyLatentTrees {
    trees: LatentTrees,
    threads: Threads,
}

impl PyLatentTrees {
    /// Compute the vectors of all nodes, and call `use_them` with them.
    fn with_vectors<T: Send>(
        &self,
        py: Python<'_>,
        parameters: &ParametersIn<'_>,
        use_them: impl FnOnce(&NodeVectors, &Parameters<'_>, &Cancel) -> Result<T, Cancelled> + Send,
    ) -> PyResult<T> {
        let states = elements("states", &parameters.0)?;
        let roots = elements("roots", &parameters.1)?;
        let binary = elements("binary", &parameters.2)?;
        let emissions = elements("emissions", &parameters.3)?;
        enter(py, |cancel| {
            self.threads.install(|| {
                let parameters = Parameters::new(&self.trees, states, roots, binary, emissions)?;
                let vectors = NodeVectors::compute(&self.trees, &parameters, cancel)?;
                use_them(&vectors, &parameters, cancel).map_err(Failure::from)
            })
        })
    }
}

#[pymethods]
impl PyLatentTrees {
    #[new]
    #[pyo3(signature = (
        *, symbol, left, right, event, tree_offsets, weights, rules, emission_symbols, symbols,
        threads
    ))]
    #[expect(clippy::too_many_arguments, reason = "one array each, all by name")]
    fn new(
        py: Python<'_>,
        symbol: PyReadonlyArray1<'_, u32>,
        left: PyReadonlyArray1<'_, i32>,
        right: PyReadonlyArray1<'_, i32>,
        event: PyReadonlyArray1<'_, u32>,
        tree_offsets: PyReadonlyArray1<'_, i64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        rules: PyReadonlyArray2<'_, u32>,
        emission_symbols: PyReadonlyArray1<'_, u32>,
        symbols: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let symbol = elements("symbol", &symbol)?;
        let left = elements("left", &left)?;
        let right = elements("right", &right)?;
        let event = elements("event", &event)?;
        let tree_offsets = elements("tree_offsets", &tree_offsets)?;
        check_shape("rules", rules.shape(), &[rules.shape()[0], 3])?;
        let rules = elements("rules", &rules)?;
        let emission_symbols = elements("emission_symbols", &emission_symbols)?;
        let weights = weights.as_ref().map(|array| elements("weights", array)).transpose()?;
        enter(py, |_| {
            let tree_offsets =
                offsets_in("tree_offsets", tree_offsets, symbol.len(), Runs::MayBeEmpty)?;
            let trees = LatentTrees::new(
                (symbol.to_vec(), left.to_vec(), right.to_vec(), event.to_vec()),
                tree_offsets,
                rules.as_chunks::<3>().0.to_vec(),
                emission_symbols.to_vec(),
                symbols,
            )?;
            let trees = match weights {
                Some(weights) => trees.weighted(weights)?,
                None => trees,
            };
            Ok::<_, Failure>(Self { trees, threads: Threads::new(threads) })
        })
    }

    /// Log-probabilities of the trees, expected counts of roots and rules, and the posteriors of
    /// the preterminals' states (a row each), under parameters given as a tuple of states, roots,
    /// binary and emission parameters.
    fn expect<'py>(
        &self,
        py: Python<'py>,
        parameters: ParametersIn<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let width =
            elements("states", &parameters.0)?.iter().max().map_or(1, |&most| most as usize);
        let (log_probabilities, counts, leaves) =
            self.with_vectors(py, &parameters, |vectors, parameters, cancel| {
                let counts = vectors.count(&self.trees, parameters, cancel)?;
                let leaves = vectors.leaf_posteriors(&self.trees, width);
                Ok((vectors.log_probabilities.clone(), counts, leaves))
            })?;
        let dict = PyDict::new(py);
        dict.set_item("log_probabilities", log_probabilities.into_pyarray(py))?;
        dict.set_item("roots", counts.roots.into_pyarray(py))?;
        dict.set_item("binary", counts.binary.into_pyarray(py))?;
        let rows = [self.trees.number_of_leaves(), width];
        dict.set_item("leaves", leaves.into_pyarray(py).reshape(rows)?)?;
        Ok(dict)
    }

    /// The posteriors of all nodes' states, one node after the other.
    fn posteriors<'py>(
        &self,
        py: Python<'py>,
        parameters: ParametersIn<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let posteriors =
            self.with_vectors(py, &parameters, |vectors, _, _| Ok(vectors.all_posteriors()))?;
        Ok(posteriors.into_pyarray(py))
    }

    /// The losses of merging neighbouring states; see `lpcfg.estimators.em.split_merge`.
    fn merge_losses<'py>(
        &self,
        py: Python<'py>,
        parameters: ParametersIn<'py>,
        counts: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        check_shape("counts", counts.shape(), &[parameters.1.len()])?;
        let counts = elements("counts", &counts)?;
        let losses = self.with_vectors(py, &parameters, |vectors, parameters, _| {
            Ok(merge_losses(vectors, &self.trees, parameters, counts))
        })?;
        Ok(losses.into_pyarray(py))
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyLatentTrees>()
}
