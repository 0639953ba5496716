//! Bindings of the combination of parses.

use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use super::arrays::{Runs, check_ids, check_shape, elements, offsets_in};
use super::enter::enter;
use super::errors::{ArgumentError, Failure};
use super::span_columns::SpanColumns;
use super::threads::Threads;
use crate::cancel::{Cancel, Cancelled};
use crate::coverage::{BRACKET_COST, Coverage, Found, LabelledSpan};
use crate::parser::Span;

type Column<'py, T> = PyReadonlyArray1<'py, T>;

type Table<'py> =
    (Column<'py, i64>, Column<'py, u32>, Column<'py, u32>, Column<'py, u32>, Column<'py, f64>);

type Trees<'py> = (Column<'py, i64>, Column<'py, u32>, Column<'py, u32>, Column<'py, u32>);

/// What a member says: the weight of each sentence, zero to leave the member out; the offsets,
/// labels, starts, ends and probabilities of labelled spans; and the offsets, labels, starts and ends
/// of the nodes of trees in pre-order.
#[derive(FromPyObject)]
struct Member<'py>(Column<'py, f64>, Table<'py>, Trees<'py>);

/// Labelled spans of several sentences.
struct Spans<'a> {
    offsets: Vec<usize>,
    labels: &'a [u32],
    starts: &'a [u32],
    ends: &'a [u32],
}

impl<'a> Spans<'a> {
    fn new(
        columns: [&'a Column<'_, u32>; 3],
        offsets: &Column<'_, i64>,
        words: &[i64],
        labels: usize,
    ) -> Result<Self, ArgumentError> {
        let name = "members";
        let offsets = elements(name, offsets)?;
        let [own, starts, ends] = columns;
        let (own, starts, ends) =
            (elements(name, own)?, elements(name, starts)?, elements(name, ends)?);
        check_shape(name, &[starts.len(), ends.len()], &[own.len(), own.len()])?;
        check_ids(name, own, labels)?;
        let offsets = offsets_in(name, offsets, own.len(), Runs::MayBeEmpty)?;
        check_shape(name, &[offsets.len()], &[words.len() + 1])?;
        for (pair, &words) in offsets.windows(2).zip(words) {
            let spans = starts[pair[0]..pair[1]].iter().zip(&ends[pair[0]..pair[1]]);
            if !spans.clone().all(|(start, end)| start < end && i64::from(*end) <= words) {
                let message = format!("a span is not in its sentence of {words} words");
                return Err(ArgumentError::new(name, message));
            }
        }
        Ok(Self { offsets, labels: own, starts, ends })
    }

    fn sentence(&self, row: usize) -> impl Iterator<Item = LabelledSpan> + '_ {
        let own = self.offsets[row]..self.offsets[row + 1];
        own.map(|at| LabelledSpan {
            start: self.starts[at],
            end: self.ends[at],
            label: self.labels[at],
        })
    }
}

/// A member, checked.
struct Checked<'a> {
    weights: &'a [f64],
    spans: Spans<'a>,
    probabilities: &'a [f64],
    trees: Spans<'a>,
}

impl Member<'_> {
    fn check(&self, words: &[i64], labels: usize) -> Result<Checked<'_>, ArgumentError> {
        let Self(weights, spans, trees) = self;
        let weights = elements("members", weights)?;
        let probabilities = elements("members", &spans.4)?;
        check_shape("members", &[weights.len()], &[words.len()])?;
        let spans = Spans::new([&spans.1, &spans.2, &spans.3], &spans.0, words, labels)?;
        check_shape("members", &[probabilities.len()], &[spans.labels.len()])?;
        let trees = Spans::new([&trees.1, &trees.2, &trees.3], &trees.0, words, labels)?;
        let is_sound = |value: &f64| value.is_finite() && *value >= 0.0;
        if !weights.iter().chain(probabilities).all(is_sound) {
            let message = "weights and probabilities must be numbers from zero";
            return Err(ArgumentError::new("members", message));
        }
        Ok(Checked { weights, spans, probabilities, trees })
    }
}

/// The combination of a sentence: its table and its tree.
type Combined = (Coverage, Found);

fn combine(
    members: &[Checked<'_>],
    words: &[i64],
    is_tag: &[bool],
    cancel: &Cancel,
) -> Result<Vec<Combined>, Cancelled> {
    let sentence = |row: usize| {
        cancel.check()?;
        let mut coverage = Coverage::new(words[row] as usize);
        for (number, member) in members.iter().enumerate() {
            if member.weights[row] > 0.0 {
                let probabilities = &member.probabilities[member.spans.offsets[row]..];
                let spans = member.spans.sentence(row).zip(probabilities.iter().copied());
                let tree = member.trees.sentence(row).collect();
                coverage.add(number, member.weights[row], spans, tree);
            }
        }
        let none = Found { tree: Vec::new(), proposers: Vec::new() };
        let found = coverage.best(is_tag, cancel)?.unwrap_or(none);
        Ok((coverage, found))
    };
    (0..words.len()).into_par_iter().map(sentence).collect()
}

/// A labelled span with its probability.
fn with_probability((span, probability): (LabelledSpan, f64)) -> Span {
    Span { label: span.label, start: span.start, end: span.end, probability }
}

/// Combine what members say of the labelled spans of sentences with these numbers of words.
///
/// Labels are numbers, and `is_tag` says which of them are tags. Returns a dictionary of columns: the
/// means of all labelled spans (`marginal`), the nodes of the best trees in pre-order (`span`),
/// whether each member (in the rows) has the tree of each sentence.
#[pyfunction]
#[pyo3(signature = (words, members, *, is_tag, threads))]
fn cover_spans<'py>(
    py: Python<'py>,
    words: PyReadonlyArray1<'py, i64>,
    members: Vec<Member<'py>>,
    is_tag: Vec<bool>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let words = elements("words", &words)?;
    if !words.iter().all(|count| (1..=i64::from(u32::MAX)).contains(count)) {
        return Err(ArgumentError::new("words", "a sentence has at least one word").into());
    }
    let members: Vec<Checked<'_>> =
        members.iter().map(|member| member.check(words, is_tag.len())).collect::<Result<_, _>>()?;
    let (means, trees, proposed) = enter(py, |cancel| {
        let threads = Threads::new(threads);
        let found = threads.install(|| combine(&members, words, &is_tag, cancel))?;
        let (mut means, mut trees) = (SpanColumns::new(), SpanColumns::new());
        let mut proposed = vec![false; members.len() * words.len()];
        for (row, (coverage, found)) in found.iter().enumerate() {
            means.push(coverage.means().map(with_probability));
            let nodes = found.tree.iter().map(|&span| (span, coverage.mean(span)));
            trees.push(nodes.map(with_probability));
            for member in &found.proposers {
                proposed[member * words.len() + row] = true;
            }
        }
        Ok::<_, Failure>((means, trees, proposed))
    })?;
    let dict = PyDict::new(py);
    means.add_to(&dict, "marginal")?;
    trees.add_to(&dict, "span")?;
    dict.set_item("proposed", proposed.into_pyarray(py))?;
    Ok(dict)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("bracket_cost", BRACKET_COST)?;
    module.add_function(wrap_pyfunction!(cover_spans, module)?)
}
