//! Bindings of the parser.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrays::{Runs, check_ids, check_shape, elements, offsets_in};
use super::crf::PyCrfModel;
use super::enter::enter;
use super::errors::{ArgumentError, Failure};
use super::grammar::PyGrammar;
use super::guide::GuideArrays;
use super::span_columns::SpanColumns;
use super::span_filter::PySpanFilter;
use super::threads::Threads;
use crate::crf::{CrfModel, TokenAttributes};
use crate::grammar::{Grammar, Token};
use crate::parser::{Analysis, ChartCache, Combine, Decoder, Options, Parser, Sentence, Times};

/// The tag id of a word without a given tag.
pub(super) const NO_TAG: u32 = u32::MAX;

/// The row of tag factors of a word without any.
const NO_FACTORS: u32 = u32::MAX;

/// Pruned charts that parsers with the same backbone share.
#[pyclass(name = "ChartCache", module = "lpcfg._core", frozen)]
struct PyChartCache(Arc<ChartCache>);

#[pymethods]
impl PyChartCache {
    /// A cache that keeps charts of up to `memory` bytes in sum; after that new charts replace the
    /// oldest ones, or are not kept.
    #[new]
    #[pyo3(signature = (*, memory, replace))]
    fn new(memory: usize, replace: bool) -> Self {
        Self(Arc::new(ChartCache::new(memory, replace)))
    }

    /// The number of charts.
    fn __len__(&self, py: Python<'_>) -> usize {
        // The lock of the cache is not taken while the interpreter lock is held.
        py.detach(|| self.0.len())
    }

    /// The approximate number of bytes of all charts.
    #[getter]
    fn bytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.bytes())
    }
}

/// Grammars with threads to work on.
#[pyclass(name = "Parser", module = "lpcfg._core", frozen)]
struct PyParser {
    parser: Parser,
    crf: Option<Arc<CrfModel>>,
    threads: Threads,
}

#[pymethods]
impl PyParser {
    #[new]
    #[pyo3(signature = (grammar, others, *, threads, crf=None, span_filter=None, charts=None))]
    fn new(
        py: Python<'_>,
        grammar: &PyGrammar,
        others: Vec<PyRef<'_, PyGrammar>>,
        threads: usize,
        crf: Option<&PyCrfModel>,
        span_filter: Option<&PySpanFilter>,
        charts: Option<&PyChartCache>,
    ) -> PyResult<Self> {
        let charts = charts.map(|cache| Arc::clone(&cache.0));
        let grammar = Arc::clone(&grammar.0);
        let others: Vec<_> = others.iter().map(|other| Arc::clone(&other.0)).collect();
        let crf = crf.map(|model| Arc::clone(&model.0));
        let filter = span_filter.map(|filter| Arc::clone(&filter.0));
        enter(py, move |cancel| {
            let parser =
                others.into_iter().try_fold(Parser::new(grammar, cancel)?, Parser::with)?;
            let parser = crf.iter().cloned().try_fold(parser, Parser::with_crf)?;
            let parser = filter.into_iter().try_fold(parser, Parser::with_span_filter)?;
            let parser = charts.into_iter().fold(parser, Parser::with_charts);
            Ok::<_, Failure>(Self { parser, crf, threads: Threads::new(threads) })
        })
    }

    /// Parse sentences given as ids of words, of tags or of both, one after the other.
    ///
    /// `breaks` has the strength of the punctuation that each token is, by which long sentences are
    /// split. A parser with a conditional random field also needs the spelling of each word, and can
    /// take its head (the number of words to the right, negative for the left, 0 for the root) and
    /// its relation to the head, which is an empty string in a sentence without dependencies. The
    /// `guide` has the offsets of sentences, labels, starts and ends of the labelled spans that other
    /// models consider possible. Returns a dictionary of arrays, which `lpcfg.parsing.parser` reads.
    #[pyo3(signature = (
        offsets, words, tags, *, breaks, decoder, combine, coarse_threshold, threshold,
        member_threshold, span_recall,
        memory, max_length, timeout, candidates, marginals, times, spellings=None, heads=None,
        relations=None, guide=None, tag_factors=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "options by name")]
    fn analyze<'py>(
        &self,
        py: Python<'py>,
        offsets: PyReadonlyArray1<'py, i64>,
        words: Option<PyReadonlyArray1<'py, u32>>,
        tags: Option<PyReadonlyArray1<'py, u32>>,
        breaks: PyReadonlyArray1<'py, u8>,
        decoder: &str,
        combine: &str,
        coarse_threshold: f64,
        threshold: f64,
        member_threshold: f64,
        span_recall: f64,
        memory: usize,
        max_length: usize,
        timeout: Option<f64>,
        candidates: usize,
        marginals: bool,
        times: bool,
        spellings: Option<Vec<String>>,
        heads: Option<PyReadonlyArray1<'py, i32>>,
        relations: Option<Vec<String>>,
        guide: Option<GuideArrays<'py>>,
        tag_factors: Option<(PyReadonlyArray1<'py, u32>, PyReadonlyArray2<'py, f32>)>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = Options {
            decoder: decoder_named(decoder)?,
            combine: combination_named(combine)?,
            coarse_threshold,
            threshold,
            member_threshold,
            span_recall,
            memory,
            max_length,
            timeout: timeout.map(duration).transpose()?,
            candidates,
            marginals,
            times,
        };
        let offsets = elements("offsets", &offsets)?;
        let words = words.as_ref().map(|array| elements("words", array)).transpose()?;
        let tags = tags.as_ref().map(|array| elements("tags", array)).transpose()?;
        let breaks = elements("breaks", &breaks)?;
        let heads = heads.as_ref().map(|array| elements("heads", array)).transpose()?;
        let guide = guide.as_ref().map(GuideArrays::columns).transpose()?;
        let tag_factors = match &tag_factors {
            Some((rows, table)) => {
                let columns = table.as_array().ncols();
                Some((elements("tag_factors", rows)?, elements("tag_factors", table)?, columns))
            }
            None => None,
        };
        let columns = enter(py, |cancel| {
            let tokens = self.tokens(words, tags)?;
            let mut attributes = self.attributes(spellings.as_deref(), tokens.len())?;
            if let (Some(heads), Some(relations)) = (heads, &relations) {
                add_dependencies(&mut attributes, heads, relations)?;
            }
            check_shape("breaks", &[breaks.len()], &[tokens.len()])?;
            let factors = match tag_factors {
                Some(columns) => tag_factors_of(columns, self.parser.grammar(), tokens.len())?,
                None => Vec::new(),
            };
            let mut sentences = sentences(&tokens, &factors, &attributes, breaks, offsets)?;
            let labels = self.parser.grammar().output().number_of_labels();
            let guide = guide.map(|columns| columns.read(&sentences, labels)).transpose()?;
            if let Some(guide) = &guide {
                guide.give(&mut sentences);
            }
            let analyses =
                self.threads.install(|| self.parser.analyze_all(&sentences, options, cancel))?;
            Ok::<_, Failure>(Columns::new(&analyses))
        })?;
        columns.into_dict(py)
    }
}

/// A number of seconds from outside.
pub(super) fn duration(seconds: f64) -> Result<Duration, ArgumentError> {
    Duration::try_from_secs_f64(seconds).map_err(|error| ArgumentError::new("timeout", error))
}

pub(super) fn decoder_named(name: &str) -> Result<Decoder, ArgumentError> {
    match name {
        "max-f1" => Ok(Decoder::MaxF1),
        "max-recall" => Ok(Decoder::MaxRecall),
        "max-rule" => Ok(Decoder::MaxRule),
        "viterbi" => Ok(Decoder::Viterbi),
        other => Err(ArgumentError::new("decoder", format!("there is no decoder {other:?}"))),
    }
}

fn combination_named(name: &str) -> Result<Combine, ArgumentError> {
    match name {
        "posteriors" => Ok(Combine::Posteriors),
        "trees" => Ok(Combine::Trees),
        other => Err(ArgumentError::new("combine", format!("there is no combination {other:?}"))),
    }
}

impl PyParser {
    /// The attributes of words that the features of the conditional random field read; empty
    /// without one.
    fn attributes(
        &self,
        spellings: Option<&[String]>,
        tokens: usize,
    ) -> Result<Vec<TokenAttributes>, ArgumentError> {
        match (&self.crf, spellings) {
            (None, None) => Ok(Vec::new()),
            (Some(model), Some(words)) if words.len() == tokens => {
                Ok(words.iter().map(|word| model.vocabulary.attributes(word)).collect())
            }
            _ => {
                let message = "a parser with a conditional random field, and no other, needs \
                               spellings, one for each token";
                Err(ArgumentError::new("spellings", message))
            }
        }
    }

    fn tokens(
        &self,
        words: Option<&[u32]>,
        tags: Option<&[u32]>,
    ) -> Result<Vec<Token>, ArgumentError> {
        let emissions = self.parser.grammar().emissions();
        check_ids("words", words.into_iter().flatten(), emissions.number_of_words())?;
        // A word may be without a tag, but no token without both.
        let given = tags.into_iter().flatten().filter(|&&tag| words.is_none() || tag != NO_TAG);
        check_ids("tags", given, emissions.number_of_tags())?;
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
            (Some(_), Some(_)) => {
                Err(ArgumentError::new("tags", "words and tags differ in length"))
            }
            (None, None) => Err(ArgumentError::new("words", "neither words nor tags are given")),
        }
    }
}

/// The factors of the tags of each token: the row of the table that it names, or none.
pub(super) fn tag_factors_of<'a>(
    (rows, table, tags): (&[u32], &'a [f32], usize),
    grammar: &Grammar,
    tokens: usize,
) -> Result<Vec<&'a [f32]>, ArgumentError> {
    let expected = grammar.emissions().number_of_tags();
    check_shape("tag_factors", &[rows.len(), tags], &[tokens, expected])?;
    if table.iter().any(|factor| !(0.0..f32::INFINITY).contains(factor)) {
        let message = "a factor is negative or not a finite number";
        return Err(ArgumentError::new("tag_factors", message));
    }
    let given = rows.iter().filter(|&&row| row != NO_FACTORS);
    check_ids("tag_factors", given, table.len() / tags.max(1))?;
    let factors = |&row: &u32| match row {
        NO_FACTORS => &[][..],
        row => &table[row as usize * tags..][..tags],
    };
    Ok(rows.iter().map(factors).collect())
}

/// Add heads and relations to words; a word with an empty relation stays as it is.
fn add_dependencies(
    attributes: &mut [TokenAttributes],
    heads: &[i32],
    relations: &[String],
) -> Result<(), ArgumentError> {
    check_shape("heads", &[heads.len()], &[attributes.len()])?;
    check_shape("relations", &[relations.len()], &[attributes.len()])?;
    for ((token, &head), relation) in attributes.iter_mut().zip(heads).zip(relations) {
        if !relation.is_empty() {
            *token = token.with_dependency(head, relation);
        }
    }
    Ok(())
}

/// A part of a column, which may be empty as a whole.
pub(super) fn part<'a, T>(column: &'a [T], range: &Range<usize>) -> &'a [T] {
    if column.is_empty() { column } else { &column[range.clone()] }
}

/// Split a sequence of tokens at the offsets; no sentence may be empty.
fn sentences<'a>(
    tokens: &'a [Token],
    factors: &'a [&'a [f32]],
    attributes: &'a [TokenAttributes],
    breaks: &'a [u8],
    offsets: &[i64],
) -> Result<Vec<Sentence<'a>>, ArgumentError> {
    let offsets = offsets_in("offsets", offsets, tokens.len(), Runs::NonEmpty)?;
    let sentence = |pair: &[usize]| {
        let range = pair[0]..pair[1];
        Sentence {
            tokens: &tokens[range.clone()],
            tag_factors: part(factors, &range),
            attributes: part(attributes, &range),
            breaks: &breaks[range],
            guide: &[],
        }
    };
    Ok(offsets.windows(2).map(sentence).collect())
}

/// Analyses as columns.
pub(super) struct Columns {
    statuses: Vec<u8>,
    log_probabilities: Vec<f64>,
    tree_offsets: Vec<i64>,
    tree_log_probabilities: Vec<f64>,
    spans: SpanColumns,
    marginals: SpanColumns,
    /// The sum over all sentences.
    times: Times,
}

impl Columns {
    pub(super) fn new(analyses: &[Analysis]) -> Self {
        let mut columns = Self {
            statuses: Vec::with_capacity(analyses.len()),
            log_probabilities: Vec::with_capacity(analyses.len()),
            tree_offsets: vec![0],
            tree_log_probabilities: Vec::new(),
            spans: SpanColumns::new(),
            marginals: SpanColumns::new(),
            times: analyses.iter().map(|analysis| analysis.times).sum(),
        };
        for analysis in analyses {
            columns.statuses.push(analysis.status as u8);
            columns.log_probabilities.push(analysis.log_probability);
            for tree in &analysis.trees {
                columns.tree_log_probabilities.push(tree.log_probability);
                columns.spans.push(tree.spans.iter().copied());
            }
            columns.tree_offsets.push(columns.tree_log_probabilities.len() as i64);
            columns.marginals.push(analysis.marginals.iter().copied());
        }
        columns
    }

    pub(super) fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("statuses", self.statuses.into_pyarray(py))?;
        dict.set_item("log_probabilities", self.log_probabilities.into_pyarray(py))?;
        dict.set_item("tree_offsets", self.tree_offsets.into_pyarray(py))?;
        let tree_log_probabilities = self.tree_log_probabilities.into_pyarray(py);
        dict.set_item("tree_log_probabilities", tree_log_probabilities)?;
        let Times { coarse, pcfg, latent, decoding, total, reused } = self.times;
        let times = vec![coarse, pcfg, latent, decoding, total, reused];
        dict.set_item("times", times.into_pyarray(py))?;
        self.spans.add_to(&dict, "span")?;
        self.marginals.add_to(&dict, "marginal")?;
        Ok(dict)
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyChartCache>()?;
    module.add_class::<PyParser>()
}
