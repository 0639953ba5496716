//! Bindings of conditional random fields: models and training.

mod trees;

use std::sync::{Arc, Mutex};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::arrays::{Runs, check_shape, elements, offsets_in};
use super::enter::{enter, lock};
use super::errors::{ArgumentError, Failure, IntoPyErr};
use super::grammar::PyGrammar;
use super::parser::tag_factors_of;
use super::span_filter::PySpanFilter;
use super::threads::Threads;
use crate::crf::{
    CLUSTER_LEVELS, CrfModel, FeatureLabels, Loss, OLDEST_TEMPLATE_VERSION, Steps,
    TEMPLATE_VERSION, TokenAttributes, Trainer, Vocabulary, Weights,
};
use crate::parser::{Combine, Decoder, GoldTree, Options, TrainingError, crf_examples};
use trees::{Dependencies, TreesIn};

/// The number of training trees whose attributes are in memory besides their examples.
const TREES_AT_ONCE: usize = 1024;

/// The weights of a conditional random field, with the vocabulary and the labels of its features.
#[pyclass(name = "CRFModel", module = "lpcfg._core", frozen)]
pub(super) struct PyCrfModel(pub(super) Arc<CrfModel>);

#[pymethods]
impl PyCrfModel {
    #[new]
    #[pyo3(signature = (
        *, loss, prior_weight, template_version, vocabulary, cluster_words, clusters, kinds,
        label_offsets, labels, weights
    ))]
    #[expect(clippy::too_many_arguments, reason = "one array each, all by name")]
    fn new(
        py: Python<'_>,
        loss: &str,
        prior_weight: f64,
        template_version: u32,
        vocabulary: PyReadonlyArray1<'_, u64>,
        cluster_words: PyReadonlyArray1<'_, u64>,
        clusters: PyReadonlyArray2<'_, u16>,
        kinds: PyReadonlyArray1<'_, u32>,
        label_offsets: PyReadonlyArray1<'_, u32>,
        labels: PyReadonlyArray1<'_, u32>,
        weights: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<Self> {
        let loss = match loss {
            "crf" => Loss::Crf,
            "independent" => Loss::Independent,
            other => {
                let message = format!("there is no loss {other:?}");
                return Err(ArgumentError::new("loss", message).into());
            }
        };
        if !(OLDEST_TEMPLATE_VERSION..=TEMPLATE_VERSION).contains(&template_version) {
            let message = format!(
                "must be from {OLDEST_TEMPLATE_VERSION} to {TEMPLATE_VERSION}, not \
                 {template_version}"
            );
            return Err(ArgumentError::new("template_version", message).into());
        }
        let vocabulary = elements("vocabulary", &vocabulary)?;
        let cluster_words = elements("cluster_words", &cluster_words)?;
        check_shape("clusters", clusters.shape(), &[cluster_words.len(), CLUSTER_LEVELS])?;
        let (clusters, _) = elements("clusters", &clusters)?.as_chunks();
        let kinds = elements("kinds", &kinds)?;
        let label_offsets = elements("label_offsets", &label_offsets)?;
        let labels = elements("labels", &labels)?;
        let weights = elements("weights", &weights)?;
        enter(py, |_| {
            offsets_in("label_offsets", label_offsets, labels.len(), Runs::MayBeEmpty)?;
            let labels =
                FeatureLabels::new(kinds.to_vec(), label_offsets.to_vec(), labels.to_vec())?;
            let vocabulary = Vocabulary::from_hashes(vocabulary.iter().copied())
                .with_version(template_version)
                .with_clusters(cluster_words, clusters);
            let weights = Weights::new(weights.to_vec())?;
            let model = CrfModel { loss, prior_weight, vocabulary, labels, weights };
            Ok::<_, Failure>(Self(Arc::new(model)))
        })
    }
}

/// The hashes of frequent words and suffixes, given words and their counts.
#[pyfunction]
fn crf_vocabulary<'py>(
    py: Python<'py>,
    words: Vec<String>,
    counts: PyReadonlyArray1<'py, u32>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let counts = elements("counts", &counts)?;
    if counts.len() != words.len() {
        let message =
            format!("counts has length {}, but there are {} words", counts.len(), words.len());
        return Err(ArgumentError::new("counts", message).into());
    }
    let hashes = enter(py, |_| {
        let words = words.iter().map(String::as_str).zip(counts.iter().copied());
        Ok::<_, Failure>(Vocabulary::learn(words).hashes())
    })?;
    Ok(hashes.into_pyarray(py))
}

/// The hashes by which a model finds the clusters of words.
#[pyfunction]
fn crf_cluster_keys<'py>(
    py: Python<'py>,
    words: Vec<String>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let keys = enter(py, |_| {
        Ok::<_, Failure>(words.iter().map(|word| Vocabulary::cluster_key(word)).collect::<Vec<_>>())
    })?;
    Ok(keys.into_pyarray(py))
}

impl IntoPyErr for TrainingError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Grammar(error) => error.into_py_err(py),
            Self::Cancelled(error) => error.into_py_err(py),
        }
    }
}

/// Trains the weights of a conditional random field. Several Python threads may share it: each call
/// waits until the one before it has ended.
#[pyclass(name = "CRFTrainer", module = "lpcfg._core", frozen)]
struct PyCrfTrainer {
    trainer: Mutex<Trainer>,
    threads: Threads,
}

#[pymethods]
impl PyCrfTrainer {
    #[new]
    fn new(py: Python<'_>, model: &PyCrfModel, threads: usize) -> PyResult<Self> {
        let model = Arc::clone(&model.0);
        enter(py, move |_| {
            let trainer = Mutex::new(Trainer::new(CrfModel::clone(&model)));
            Ok::<_, Failure>(Self { trainer, threads: Threads::new(threads) })
        })
    }

    /// Add training trees, whose charts a grammar prunes; returns the number of trees that were left
    /// out because their charts would take more than `memory` bytes. `word_column` has the number of
    /// each token's word among `spellings`; `emissions` has its id in the lexicon of the grammar.
    ///
    /// Optionally, `tags` has the id of its given tag, `heads` how far to the right its head is, and
    /// `relations` its relation to the head as a number among `relation_names`; an empty name is for
    /// the words of sentences without dependencies. `tag_factors` is as for parsing.
    ///
    /// A grammar with latent states must not have been trained on these trees.
    #[pyo3(signature = (
        grammar, *, spellings, word_column, emissions, word_offsets, symbols, starts, ends,
        tree_offsets, tree_weights, coarse_threshold, threshold, span_recall, memory,
        span_filter=None, tag_factors=None, tags=None, heads=None, relations=None, relation_names=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "one array each, all by name")]
    fn add(
        &self,
        py: Python<'_>,
        grammar: &PyGrammar,
        spellings: Vec<String>,
        word_column: PyReadonlyArray1<'_, u32>,
        emissions: PyReadonlyArray1<'_, u32>,
        word_offsets: PyReadonlyArray1<'_, i64>,
        symbols: PyReadonlyArray1<'_, u32>,
        starts: PyReadonlyArray1<'_, i32>,
        ends: PyReadonlyArray1<'_, i32>,
        tree_offsets: PyReadonlyArray1<'_, i64>,
        tree_weights: Option<PyReadonlyArray1<'_, f64>>,
        coarse_threshold: f64,
        threshold: f64,
        span_recall: f64,
        memory: usize,
        span_filter: Option<&PySpanFilter>,
        tag_factors: Option<(PyReadonlyArray1<'_, u32>, PyReadonlyArray2<'_, f32>)>,
        tags: Option<PyReadonlyArray1<'_, u32>>,
        heads: Option<PyReadonlyArray1<'_, i32>>,
        relations: Option<PyReadonlyArray1<'_, u32>>,
        relation_names: Option<Vec<String>>,
    ) -> PyResult<usize> {
        let dependencies = match (&heads, &relations, &relation_names) {
            (Some(heads), Some(relations), Some(names)) => Some(Dependencies {
                heads: elements("heads", heads)?,
                relations: elements("relations", relations)?,
                names,
            }),
            _ => None,
        };
        let tag_factors = match &tag_factors {
            Some((rows, table)) => {
                let columns = table.as_array().ncols();
                let columns =
                    (elements("tag_factors", rows)?, elements("tag_factors", table)?, columns);
                tag_factors_of(columns, &grammar.0, word_column.as_slice()?.len())?
            }
            None => Vec::new(),
        };
        let trees = TreesIn {
            tag_factors,
            tags: tags.as_ref().map(|array| elements("tags", array)).transpose()?,
            dependencies,
            words: elements("word_column", &word_column)?,
            emissions: elements("emissions", &emissions)?,
            word_offsets: elements("word_offsets", &word_offsets)?,
            symbols: elements("symbols", &symbols)?,
            starts: elements("starts", &starts)?,
            ends: elements("ends", &ends)?,
            tree_offsets: elements("tree_offsets", &tree_offsets)?,
            weights: tree_weights
                .as_ref()
                .map(|array| elements("tree_weights", array))
                .transpose()?,
        };
        let grammar = &grammar.0;
        let filter = span_filter.map(|filter| Arc::clone(&filter.0));
        let options = Options {
            decoder: Decoder::MaxF1,
            combine: Combine::Posteriors,
            coarse_threshold,
            span_recall,
            member_threshold: 0.0,
            threshold,
            memory,
            candidates: 1,
            max_length: usize::MAX,
            timeout: None,
            marginals: false,
            times: false,
        };
        enter(py, |cancel| {
            let trainer = &mut *lock(&self.trainer, cancel)?;
            let vocabulary = &trainer.model().vocabulary;
            let attributes: Vec<TokenAttributes> =
                spellings.iter().map(|word| vocabulary.attributes(word)).collect();
            let bounds = trees.check(grammar, attributes.len())?;
            let model = trainer.model();
            let (mut examples, mut too_large) = (Vec::new(), 0);
            // Tensors are large, and training does not need them.
            let rules = match grammar.latent() {
                Some(_) => Arc::new(grammar.without_latent()),
                None => Arc::clone(grammar),
            };
            // A tree with the attributes of its words takes as much memory as its example.
            for batch in bounds.chunks(TREES_AT_ONCE) {
                let batch: Vec<GoldTree<'_>> =
                    batch.iter().map(|bounds| trees.gold_tree(bounds, &attributes)).collect();
                let added = self.threads.install(|| {
                    crf_examples(model, grammar, &rules, filter.clone(), batch, options, cancel)
                })?;
                examples.extend(added.examples);
                too_large += added.too_large;
            }
            trainer.add(examples);
            Ok::<_, Failure>(too_large)
        })
    }

    /// The number of training sentences.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        enter(py, |cancel| Ok::<_, Failure>(lock(&self.trainer, cancel)?.len()))
    }

    /// Train on sentences in the given order; returns the sum of the log-probabilities of their
    /// trees.
    #[pyo3(signature = (order, *, learning_rate, initial_accumulator, penalty, batch))]
    fn run(
        &self,
        py: Python<'_>,
        order: PyReadonlyArray1<'_, i64>,
        learning_rate: f32,
        initial_accumulator: f32,
        penalty: f32,
        batch: usize,
    ) -> PyResult<f64> {
        let order = elements("order", &order)?;
        let steps = Steps { learning_rate, initial_accumulator, penalty, batch: batch.max(1) };
        enter(py, |cancel| {
            let trainer = &mut *lock(&self.trainer, cancel)?;
            let sentences = trainer.len();
            let known = |row: &i64| usize::try_from(*row).ok().filter(|&row| row < sentences);
            let order: Vec<usize> =
                order.iter().map(known).collect::<Option<_>>().ok_or_else(|| {
                    let message = format!("order must have sentence numbers below {sentences}");
                    ArgumentError::new("order", message)
                })?;
            let log_probability = self.threads.install(|| trainer.run(&order, steps, cancel))?;
            Ok::<_, Failure>(log_probability)
        })
    }

    /// The weights as they are now.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let weights = enter(py, |cancel| {
            let trainer = lock(&self.trainer, cancel)?;
            Ok::<_, Failure>(trainer.model().weights.values().to_vec())
        })?;
        Ok(weights.into_pyarray(py))
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("crf_template_version", TEMPLATE_VERSION)?;
    module.add("crf_oldest_template_version", OLDEST_TEMPLATE_VERSION)?;
    module.add("crf_cluster_levels", CLUSTER_LEVELS)?;
    module.add_class::<PyCrfModel>()?;
    module.add_class::<PyCrfTrainer>()?;
    module.add_function(wrap_pyfunction!(crf_cluster_keys, module)?)?;
    module.add_function(wrap_pyfunction!(crf_vocabulary, module)?)
}
