//! Weights of features of trees, and learning them.

use std::sync::{Arc, Mutex, MutexGuard};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::enter::enter;
use super::errors::IntoPyErr;
use super::grammar::PyGrammar;
use super::threads::thread_pool;
use crate::crf::{
    CrfModel, Example, FeatureLabels, Loss, Steps, TEMPLATE_VERSION, TokenAttributes, Trainer,
    TrainingError, Vocabulary, Weights,
};
use crate::decode::Node;
use crate::grammar::{Grammar, SymbolId, Token};
use crate::parser::{Combine, Decoder, Options};

/// Weights of features, and what is needed to find features.
#[pyclass(name = "SurfaceModel", module = "lpcfg._core", frozen)]
pub(super) struct PyCrfModel(pub(super) Arc<CrfModel>);

#[pymethods]
impl PyCrfModel {
    #[new]
    #[pyo3(signature = (*, loss, base, vocabulary, kinds, label_offsets, labels, weights))]
    #[expect(clippy::too_many_arguments, reason = "one array each, all by name")]
    fn new(
        py: Python<'_>,
        loss: &str,
        base: f64,
        vocabulary: PyReadonlyArray1<'_, u64>,
        kinds: PyReadonlyArray1<'_, u32>,
        label_offsets: PyReadonlyArray1<'_, u32>,
        labels: PyReadonlyArray1<'_, u32>,
        weights: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<Self> {
        let loss = match loss {
            "crf" => Loss::Crf,
            "independent" => Loss::Independent,
            other => return Err(PyValueError::new_err(format!("no loss {other:?}"))),
        };
        let vocabulary = Vocabulary::from_hashes(vocabulary.as_slice()?);
        let (kinds, label_offsets) = (kinds.as_slice()?, label_offsets.as_slice()?);
        let labels =
            FeatureLabels::new(kinds.to_vec(), label_offsets.to_vec(), labels.as_slice()?.to_vec())
                .map_err(|error| error.into_py_err(py))?;
        let weights =
            Weights::new(weights.as_slice()?.to_vec()).map_err(|error| error.into_py_err(py))?;
        Ok(Self(Arc::new(CrfModel { loss, base, vocabulary, labels, weights })))
    }
}

/// The hashes of frequent words and suffixes, given words with the numbers of their uses.
#[pyfunction]
fn surface_vocabulary<'py>(
    py: Python<'py>,
    words: Vec<String>,
    counts: PyReadonlyArray1<'py, u32>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let counts = counts.as_slice()?.iter().copied();
    let vocabulary = Vocabulary::learn(words.iter().map(String::as_str).zip(counts));
    Ok(vocabulary.hashes().into_pyarray(py))
}

impl IntoPyErr for TrainingError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Grammar(error) => error.into_py_err(py),
            Self::Cancelled(error) => error.into_py_err(py),
        }
    }
}

/// Weights on their way.
#[pyclass(name = "SurfaceTrainer", module = "lpcfg._core", frozen)]
struct PyCrfTrainer {
    trainer: Mutex<Trainer>,
    pool: rayon::ThreadPool,
}

#[pymethods]
impl PyCrfTrainer {
    #[new]
    fn new(py: Python<'_>, model: &PyCrfModel, threads: usize) -> PyResult<Self> {
        let trainer = Mutex::new(Trainer::new(CrfModel::clone(&model.0)));
        Ok(Self { trainer, pool: thread_pool(py, threads)? })
    }

    /// Prepare to learn from trees, pruned by a grammar: `word_column` has the number of each token's
    /// word among `spellings`, `emissions` what it is to the grammar.
    #[pyo3(signature = (
        grammar, *, spellings, word_column, emissions, word_offsets, symbols, starts, ends,
        tree_offsets, coarse_threshold, threshold
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
        coarse_threshold: f64,
        threshold: f64,
    ) -> PyResult<()> {
        let mut trainer = self.lock()?;
        let trainer = &mut *trainer;
        let vocabulary = &trainer.model().vocabulary;
        let attributes: Vec<TokenAttributes> =
            spellings.iter().map(|word| vocabulary.attributes(word)).collect();
        let trees = TreesIn {
            attributes: &attributes,
            words: word_column.as_slice()?,
            emissions: emissions.as_slice()?,
            symbols: symbols.as_slice()?,
            starts: starts.as_slice()?,
            ends: ends.as_slice()?,
        };
        let grammar = &grammar.0;
        let examples =
            trees.examples(grammar, word_offsets.as_slice()?, tree_offsets.as_slice()?)?;
        let options = Options {
            decoder: Decoder::MaxF1,
            combine: Combine::Posteriors,
            coarse_threshold,
            threshold,
            memory: usize::MAX,
            candidates: 1,
            marginals: false,
        };
        enter(py, |cancel| self.pool.install(|| trainer.add(grammar, examples, options, cancel)))
    }

    /// How many sentences there are to learn from.
    fn __len__(&self) -> PyResult<usize> {
        Ok(self.lock()?.len())
    }

    /// Learn from sentences in the given order; returns the sum of their trees' log-probabilities.
    #[pyo3(signature = (order, *, rate, damping, penalty, batch))]
    fn run(
        &self,
        py: Python<'_>,
        order: PyReadonlyArray1<'_, i64>,
        rate: f32,
        damping: f32,
        penalty: f32,
        batch: usize,
    ) -> PyResult<f64> {
        let mut trainer = self.lock()?;
        let trainer = &mut *trainer;
        let known = |row: &i64| usize::try_from(*row).ok().filter(|&row| row < trainer.len());
        let order: Option<Vec<usize>> = order.as_slice()?.iter().map(known).collect();
        let Some(order) = order else {
            return Err(PyValueError::new_err("the order names sentences that are not there"));
        };
        let steps = Steps { rate, damping, penalty, batch: batch.max(1) };
        enter(py, |cancel| self.pool.install(|| trainer.run(&order, steps, cancel)))
    }

    /// The weights as they are now.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        Ok(PyArray1::from_slice(py, self.lock()?.model().weights.values()))
    }
}

impl PyCrfTrainer {
    fn lock(&self) -> PyResult<MutexGuard<'_, Trainer>> {
        self.trainer.lock().map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// The columns of tokens and of nodes.
struct TreesIn<'a> {
    attributes: &'a [TokenAttributes],
    words: &'a [u32],
    emissions: &'a [u32],
    symbols: &'a [u32],
    starts: &'a [i32],
    ends: &'a [i32],
}

impl TreesIn<'_> {
    /// Cut the columns into trees, after a check of all numbers.
    fn examples(
        &self,
        grammar: &Grammar,
        word_offsets: &[i64],
        tree_offsets: &[i64],
    ) -> PyResult<Vec<Example>> {
        let (tokens, nodes) = (self.words.len(), self.symbols.len());
        let fits = self.emissions.len() == tokens
            && [self.starts.len(), self.ends.len()] == [nodes; 2]
            && word_offsets.len() == tree_offsets.len()
            && ascends(word_offsets, tokens)
            && ascends(tree_offsets, nodes)
            && below(self.words, self.attributes.len())
            && below(self.emissions, grammar.emissions().number_of_words())
            && below(self.symbols, grammar.rules().number_of_symbols());
        if !fits {
            return Err(PyValueError::new_err("columns of words and trees do not fit together"));
        }
        let ranges = word_offsets.windows(2).zip(tree_offsets.windows(2));
        ranges
            .map(|(words, nodes)| {
                let words = words[0] as usize..words[1] as usize;
                let length = words.len() as i64;
                let nodes: Option<Vec<Node>> = (nodes[0] as usize..nodes[1] as usize)
                    .map(|node| {
                        let (start, end) = (self.starts[node], self.ends[node]);
                        let inside = start >= 0 && start < end && i64::from(end) <= length;
                        inside.then_some(Node {
                            symbol: SymbolId(self.symbols[node]),
                            start: start as u32,
                            end: end as u32,
                        })
                    })
                    .collect();
                let nodes =
                    nodes.ok_or_else(|| PyValueError::new_err("a node outside its sentence"))?;
                let attributes = |&word: &u32| self.attributes[word as usize];
                Ok(Example {
                    tokens: self.emissions[words.clone()]
                        .iter()
                        .copied()
                        .map(Token::Word)
                        .collect(),
                    sentence: self.words[words].iter().map(attributes).collect(),
                    nodes,
                })
            })
            .collect()
    }
}

fn below(numbers: &[u32], count: usize) -> bool {
    numbers.iter().all(|&number| (number as usize) < count)
}

fn ascends(offsets: &[i64], end: usize) -> bool {
    offsets.first() == Some(&0)
        && offsets.last() == Some(&(end as i64))
        && offsets.windows(2).all(|pair| pair[0] < pair[1])
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("crf_template_version", TEMPLATE_VERSION)?;
    module.add_class::<PyCrfModel>()?;
    module.add_class::<PyCrfTrainer>()?;
    module.add_function(wrap_pyfunction!(surface_vocabulary, module)?)
}
