//! Grammars and parsing.

use std::sync::Arc;

use numpy::{Element, IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::enter::enter;
use super::errors::{Exception, IntoPyErr};
use super::surface::PySurfaceModel;
use super::threads::thread_pool;
use crate::cancel::Cancelled;
use crate::grammar::{
    BinaryRule, Emissions, Grammar, GrammarError, LatentArrays, Output, Rules, SymbolId, Token,
    UnaryRule,
};
use crate::parser::{Analysis, Combine, Decoder, Options, Parser, Sentence, Span};
use crate::surface::{Surface, SurfaceModel};

impl IntoPyErr for GrammarError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Grammar.new_err(py, self)
    }
}

impl IntoPyErr for Cancelled {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Internal.new_err(py, self)
    }
}

/// A grammar indexed for parsing.
#[pyclass(name = "Grammar", module = "lpcfg._core", frozen)]
pub(super) struct PyGrammar(pub(super) Arc<Grammar>);

/// The columns of a table of rules: `width` symbols each, and a probability.
fn rows<const WIDTH: usize>(
    name: &str,
    symbols: &PyReadonlyArray2<'_, u32>,
    probabilities: &PyReadonlyArray1<'_, f64>,
) -> PyResult<Vec<([u32; WIDTH], f64)>> {
    if symbols.shape() != [probabilities.len(), WIDTH] {
        return Err(PyValueError::new_err(format!(
            "{name} rules have shape {:?}, expected [{}, {WIDTH}] to go with their probabilities",
            symbols.shape(),
            probabilities.len(),
        )));
    }
    let (symbols, _) = symbols.as_slice()?.as_chunks::<WIDTH>();
    Ok(symbols.iter().copied().zip(probabilities.as_slice()?.iter().copied()).collect())
}

#[pymethods]
impl PyGrammar {
    #[new]
    #[pyo3(signature = (
        *, roots, binary_rules, binary_probabilities, unary_rules, unary_probabilities,
        emission_offsets, emission_symbols, emission_probabilities, tag_of_symbol,
        output_offsets, output_labels, coarse=None, weights=None, latent=None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "one array each, all by name")]
    fn new(
        py: Python<'_>,
        roots: PyReadonlyArray1<'_, f64>,
        binary_rules: PyReadonlyArray2<'_, u32>,
        binary_probabilities: PyReadonlyArray1<'_, f64>,
        unary_rules: PyReadonlyArray2<'_, u32>,
        unary_probabilities: PyReadonlyArray1<'_, f64>,
        emission_offsets: PyReadonlyArray1<'_, i64>,
        emission_symbols: PyReadonlyArray1<'_, u32>,
        emission_probabilities: PyReadonlyArray1<'_, f64>,
        tag_of_symbol: PyReadonlyArray1<'_, i32>,
        output_offsets: PyReadonlyArray1<'_, u32>,
        output_labels: PyReadonlyArray1<'_, u32>,
        coarse: Option<PyReadonlyArray1<'_, u32>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        latent: Option<Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let binary = rows::<3>("binary", &binary_rules, &binary_probabilities)?
            .into_iter()
            .map(|(symbols, probability)| {
                let [parent, left, right] = symbols.map(SymbolId);
                BinaryRule { parent, left, right, probability }
            })
            .collect();
        let unary = rows::<2>("unary", &unary_rules, &unary_probabilities)?
            .into_iter()
            .map(|(symbols, probability)| {
                let [parent, child] = symbols.map(SymbolId);
                UnaryRule { parent, child, probability }
            })
            .collect();
        let roots = roots.as_slice()?.to_vec();
        let offsets: Vec<usize> = emission_offsets
            .as_slice()?
            .iter()
            // A negative offset cannot ascend from zero: it is refused with the others.
            .map(|&offset| usize::try_from(offset).unwrap_or(usize::MAX))
            .collect();
        let symbols = emission_symbols.as_slice()?.to_vec();
        let probabilities = emission_probabilities.as_slice()?.to_vec();
        let tag_of_symbol = tag_of_symbol.as_slice()?.to_vec();
        let output_offsets = output_offsets.as_slice()?.to_vec();
        let output_labels = output_labels.as_slice()?.to_vec();
        let coarse = match (&coarse, &weights) {
            (Some(map), Some(weights)) => Some((map.as_slice()?, weights.as_slice()?)),
            (None, None) => None,
            _ => return Err(PyValueError::new_err("coarse and weights go together")),
        };
        let latent = latent.map(|arrays| latent_arrays(&arrays)).transpose()?;
        enter(py, |_cancel| {
            let rules = Rules::new(roots, binary, unary)?;
            let emissions = Emissions::new(offsets, symbols, probabilities, &tag_of_symbol)?;
            let output = Output::new(output_offsets, output_labels)?;
            let mut grammar = Grammar::new(rules, emissions, output, coarse)?;
            if let Some(arrays) = latent {
                grammar = grammar.with_latent(arrays)?;
            }
            Ok::<_, GrammarError>(Self(Arc::new(grammar)))
        })
    }
}

/// The parameters of an L-PCFG from arrays by name.
fn latent_arrays(arrays: &Bound<'_, PyDict>) -> PyResult<LatentArrays> {
    fn get<T: Element + Clone>(arrays: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
        let array = arrays
            .get_item(name)?
            .ok_or_else(|| PyValueError::new_err(format!("latent lacks {name:?}")))?;
        let array: PyReadonlyArray1<'_, T> = array.extract()?;
        Ok(array.as_slice()?.to_vec())
    }
    Ok(LatentArrays {
        states: get(arrays, "states")?,
        roots: get(arrays, "roots")?,
        binary: get(arrays, "binary")?,
        binary_counts: get(arrays, "binary_counts")?,
        binary_positions: get(arrays, "binary_positions")?,
        profiles: get(arrays, "profiles")?,
        profile_symbols: get(arrays, "profile_symbols")?,
        entry_profiles: get(arrays, "entry_profiles")?,
        tag_emissions: get(arrays, "tag_emissions")?,
    })
}

/// What stands for the tag of a word that has none.
const NO_TAG: u32 = u32::MAX;

/// Grammars with a pool of threads.
#[pyclass(name = "Parser", module = "lpcfg._core", frozen)]
struct PyParser {
    parser: Parser,
    surface: Option<Arc<SurfaceModel>>,
    pool: rayon::ThreadPool,
}

#[pymethods]
impl PyParser {
    #[new]
    #[pyo3(signature = (grammar, others, *, threads, surface=None))]
    fn new(
        py: Python<'_>,
        grammar: &PyGrammar,
        others: Vec<PyRef<'_, PyGrammar>>,
        threads: usize,
        surface: Option<&PySurfaceModel>,
    ) -> PyResult<Self> {
        let others = others.iter().map(|other| Arc::clone(&other.0));
        let surface = surface.map(|model| Arc::clone(&model.0));
        let parser = Parser::new(Arc::clone(&grammar.0))
            .and_then(|parser| others.into_iter().try_fold(parser, Parser::with))
            .and_then(|parser| surface.iter().cloned().try_fold(parser, Parser::with_surface))
            .map_err(|error| error.into_py_err(py))?;
        Ok(Self { parser, surface, pool: thread_pool(py, threads)? })
    }

    /// Parse sentences given as ids of words, of tags or of both, one after the other.
    ///
    /// A parser that has features needs the words as they are written, too. Returns a dictionary of
    /// arrays; read by `lpcfg.parser`.
    #[pyo3(signature = (
        offsets, words, tags, *, decoder, combine, coarse_threshold, threshold, memory, candidates,
        marginals, spellings=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "options by name")]
    fn analyze<'py>(
        &self,
        py: Python<'py>,
        offsets: PyReadonlyArray1<'py, i64>,
        words: Option<PyReadonlyArray1<'py, u32>>,
        tags: Option<PyReadonlyArray1<'py, u32>>,
        decoder: &str,
        combine: &str,
        coarse_threshold: f64,
        threshold: f64,
        memory: usize,
        candidates: usize,
        marginals: bool,
        spellings: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let decoder = match decoder {
            "max-f1" => Decoder::MaxF1,
            "max-recall" => Decoder::MaxRecall,
            "max-rule" => Decoder::MaxRule,
            "viterbi" => Decoder::Viterbi,
            other => return Err(PyValueError::new_err(format!("no decoder {other:?}"))),
        };
        let combine = match combine {
            "posteriors" => Combine::Posteriors,
            "trees" => Combine::Trees,
            other => return Err(PyValueError::new_err(format!("no combination {other:?}"))),
        };
        let options = Options {
            decoder,
            combine,
            coarse_threshold,
            threshold,
            memory,
            candidates,
            marginals,
        };
        let words = words.as_ref().map(|array| array.as_slice()).transpose()?;
        let tags = tags.as_ref().map(|array| array.as_slice()).transpose()?;
        let tokens = self.tokens(words, tags)?;
        let surfaces = self.surfaces(spellings, tokens.len())?;
        let sentences = sentences(&tokens, &surfaces, offsets.as_slice()?)?;
        let analyses = enter(py, |cancel| {
            self.pool.install(|| self.parser.analyze_all(&sentences, options, cancel))
        })?;
        Columns::new(&analyses).into_dict(py)
    }
}

impl PyParser {
    /// The words as features see them; none if there are no features.
    fn surfaces(&self, spellings: Option<Vec<String>>, tokens: usize) -> PyResult<Vec<Surface>> {
        match (&self.surface, spellings) {
            (None, None) => Ok(Vec::new()),
            (Some(model), Some(words)) if words.len() == tokens => {
                Ok(words.iter().map(|word| model.vocabulary.look(word)).collect())
            }
            _ => Err(PyValueError::new_err("spellings go with features, one for each token")),
        }
    }

    fn tokens(&self, words: Option<&[u32]>, tags: Option<&[u32]>) -> PyResult<Vec<Token>> {
        let emissions = self.parser.grammar().emissions();
        check_ids(words.into_iter().flatten(), emissions.number_of_words())?;
        // A word may be without a tag, but no token without both.
        let given = tags.into_iter().flatten().filter(|&&tag| words.is_none() || tag != NO_TAG);
        check_ids(given, emissions.number_of_tags())?;
        match (words, tags) {
            (Some(words), None) => Ok(words.iter().map(|&word| Token::Word(word)).collect()),
            (None, Some(tags)) => Ok(tags.iter().map(|&tag| Token::Tag(tag)).collect()),
            (Some(words), Some(tags)) if words.len() == tags.len() => Ok(words
                .iter()
                .zip(tags)
                .map(|(&word, &tag)| match tag {
                    NO_TAG => Token::Word(word),
                    tag => Token::Tagged { word, tag },
                })
                .collect()),
            (Some(_), Some(_)) => Err(PyValueError::new_err("words and tags differ in length")),
            (None, None) => Err(PyValueError::new_err("neither words nor tags are given")),
        }
    }
}

fn check_ids<'a>(ids: impl Iterator<Item = &'a u32>, count: usize) -> PyResult<()> {
    match ids.max() {
        Some(&id) if id as usize >= count => {
            Err(PyValueError::new_err(format!("id {id} is out of range of {count}")))
        }
        _ => Ok(()),
    }
}

/// Cut a sequence of tokens at the offsets; no sentence may be empty.
fn sentences<'a>(
    tokens: &'a [Token],
    surfaces: &'a [Surface],
    offsets: &[i64],
) -> PyResult<Vec<Sentence<'a>>> {
    let ends = offsets.first() == Some(&0) && offsets.last() == Some(&(tokens.len() as i64));
    if !ends || offsets.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(PyValueError::new_err("offsets must ascend from 0 to the number of tokens"));
    }
    let sentence = |pair: &[i64]| {
        let range = pair[0] as usize..pair[1] as usize;
        let surface = if surfaces.is_empty() { surfaces } else { &surfaces[range.clone()] };
        Sentence { tokens: &tokens[range], surface }
    };
    Ok(offsets.windows(2).map(sentence).collect())
}

/// Labelled spans as columns.
#[derive(Default)]
struct SpanColumns {
    offsets: Vec<i64>,
    labels: Vec<u32>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    probabilities: Vec<f64>,
}

impl SpanColumns {
    fn push(&mut self, spans: &[Span]) {
        for span in spans {
            self.labels.push(span.label);
            self.starts.push(span.start);
            self.ends.push(span.end);
            self.probabilities.push(span.probability);
        }
        self.offsets.push(self.labels.len() as i64);
    }

    fn add_to(self, dict: &Bound<'_, PyDict>, prefix: &str) -> PyResult<()> {
        let py = dict.py();
        dict.set_item(format!("{prefix}_offsets"), self.offsets.into_pyarray(py))?;
        dict.set_item(format!("{prefix}_labels"), self.labels.into_pyarray(py))?;
        dict.set_item(format!("{prefix}_starts"), self.starts.into_pyarray(py))?;
        dict.set_item(format!("{prefix}_ends"), self.ends.into_pyarray(py))?;
        dict.set_item(format!("{prefix}_probabilities"), self.probabilities.into_pyarray(py))
    }
}

/// Analyses as columns.
struct Columns {
    statuses: Vec<u8>,
    log_probabilities: Vec<f64>,
    tree_offsets: Vec<i64>,
    tree_log_probabilities: Vec<f64>,
    spans: SpanColumns,
    marginals: SpanColumns,
}

impl Columns {
    fn new(analyses: &[Analysis]) -> Self {
        let starting = || SpanColumns { offsets: vec![0], ..SpanColumns::default() };
        let mut columns = Self {
            statuses: Vec::with_capacity(analyses.len()),
            log_probabilities: Vec::with_capacity(analyses.len()),
            tree_offsets: vec![0],
            tree_log_probabilities: Vec::new(),
            spans: starting(),
            marginals: starting(),
        };
        for analysis in analyses {
            columns.statuses.push(analysis.status as u8);
            columns.log_probabilities.push(analysis.log_probability);
            for tree in &analysis.trees {
                columns.tree_log_probabilities.push(tree.log_probability);
                columns.spans.push(&tree.spans);
            }
            columns.tree_offsets.push(columns.tree_log_probabilities.len() as i64);
            columns.marginals.push(&analysis.marginals);
        }
        columns
    }

    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("statuses", self.statuses.into_pyarray(py))?;
        dict.set_item("log_probabilities", self.log_probabilities.into_pyarray(py))?;
        dict.set_item("tree_offsets", self.tree_offsets.into_pyarray(py))?;
        let tree_log_probabilities = self.tree_log_probabilities.into_pyarray(py);
        dict.set_item("tree_log_probabilities", tree_log_probabilities)?;
        self.spans.add_to(&dict, "span")?;
        self.marginals.add_to(&dict, "marginal")?;
        Ok(dict)
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyGrammar>()?;
    module.add_class::<PyParser>()
}
