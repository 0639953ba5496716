//! Networks with their parameters, and parsing.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::network::PyNetwork;
use crate::neural::{Model, Request, SentenceWords};
use crate::parser::Decoder;
use crate::python::arrays::{Runs, check_ids, check_shape, elements, offsets_in};
use crate::python::enter::enter;
use crate::python::errors::{ArgumentError, Failure};
use crate::python::parser::{Columns, NO_TAG, decoder_named, duration};
use crate::python::threads::Threads;

/// The largest absolute value of a parameter: no sum of products of these overflows.
const MAX_VALUE: f32 = 1e4;

/// A network with its parameters, for parsing.
#[pyclass(name = "NeuralModel", module = "lpcfg._core", frozen)]
pub(super) struct PyModel(Arc<Model>);

#[pymethods]
impl PyModel {
    /// Label i writes nodes with the labels `chains[i]`; `root` are those above every sentence, and
    /// `tag_labels` those of tags.
    #[new]
    #[pyo3(signature = (network, *, values, independent, chains, root, tag_labels))]
    fn new(
        py: Python<'_>,
        network: &PyNetwork,
        values: PyReadonlyArray1<'_, f32>,
        independent: bool,
        chains: Vec<Vec<u32>>,
        root: Vec<u32>,
        tag_labels: Vec<u32>,
    ) -> PyResult<Self> {
        let values = elements("values", &values)?;
        enter(py, |_| {
            let places = network.places.clone();
            let network = network.network();
            check_shape("values", &[values.len()], &[network.layout.size()])?;
            check_shape("chains", &[chains.len()], &[network.shape.labels])?;
            check_shape("tag_labels", &[tag_labels.len()], &[network.shape.tags])?;
            if !values.iter().all(|value| value.abs() <= MAX_VALUE) {
                let message = format!("values must be numbers up to {MAX_VALUE}");
                return Err(ArgumentError::new("values", message).into());
            }
            Ok::<_, Failure>(Self(Arc::new(Model {
                network,
                values: values.to_vec(),
                places,
                independent,
                chains,
                root,
                tags: tag_labels,
            })))
        })
    }
}

/// A model with threads to work on.
#[pyclass(name = "NeuralParser", module = "lpcfg._core", frozen)]
pub(super) struct PyNeuralParser {
    model: Arc<Model>,
    threads: Threads,
}

#[pymethods]
impl PyNeuralParser {
    #[new]
    #[pyo3(signature = (model, *, threads))]
    fn new(model: &PyModel, threads: usize) -> Self {
        Self { model: Arc::clone(&model.0), threads: Threads::new(threads) }
    }

    /// Parse sentences given by their words and optionally tags, one after the other. Returns a
    /// dictionary of arrays, as `Parser.analyze` does.
    #[pyo3(signature = (offsets, spellings, tags, *, breaks, decoder, max_length, memory, candidates, marginals, timeout=None))]
    #[expect(clippy::too_many_arguments, reason = "options by name")]
    fn analyze<'py>(
        &self,
        py: Python<'py>,
        offsets: PyReadonlyArray1<'py, i64>,
        spellings: Vec<String>,
        tags: Option<PyReadonlyArray1<'py, u32>>,
        breaks: PyReadonlyArray1<'py, u8>,
        decoder: &str,
        max_length: usize,
        memory: usize,
        candidates: usize,
        marginals: bool,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let decoder = decoder_named(decoder)?;
        if !matches!(decoder, Decoder::MaxF1 | Decoder::MaxRecall) {
            let message = "a neural parser has the decoders max-f1 and max-recall";
            return Err(ArgumentError::new("decoder", message).into());
        }
        let offsets = elements("offsets", &offsets)?;
        let tags = tags.as_ref().map(|array| elements("tags", array)).transpose()?;
        let breaks = elements("breaks", &breaks)?;
        let columns = enter(py, |cancel| {
            let offsets = offsets_in("offsets", offsets, spellings.len(), Runs::NonEmpty)?;
            check_shape("breaks", &[breaks.len()], &[spellings.len()])?;
            let given: Option<Vec<Option<u32>>> =
                tags.map(|tags| tags.iter().map(|&tag| (tag != NO_TAG).then_some(tag)).collect());
            if let Some(given) = &given {
                check_shape("tags", &[given.len()], &[spellings.len()])?;
                check_ids("tags", given.iter().flatten(), self.model.network.shape.tags)?;
            }
            let sentences: Vec<SentenceWords<'_>> = offsets
                .windows(2)
                .map(|pair| SentenceWords {
                    words: &spellings[pair[0]..pair[1]],
                    tags: given.as_ref().map_or(&[], |given| &given[pair[0]..pair[1]]),
                    breaks: &breaks[pair[0]..pair[1]],
                })
                .collect();
            let timeout = timeout.map(duration).transpose()?;
            let request = Request { decoder, candidates, marginals, max_length, memory, timeout };
            let analyses =
                self.threads.install(|| self.model.analyze_all(&sentences, request, cancel))?;
            Ok::<_, Failure>(Columns::new(&analyses))
        })?;
        columns.into_dict(py)
    }
}
