//! The labelled spans that other models consider possible, as arrays.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use super::arrays::{Runs, check_ids, check_shape, elements, offsets_in};
use super::errors::ArgumentError;
use crate::chart::guide::GuideSpan;
use crate::parser::Sentence;

/// The offsets of sentences, and the labels, starts and ends of spans.
#[derive(FromPyObject)]
pub(super) struct GuideArrays<'py>(
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
);

/// The same columns, which do not depend on Python.
#[derive(Clone, Copy)]
pub(super) struct GuideColumns<'a> {
    offsets: &'a [i64],
    labels: &'a [u32],
    starts: &'a [u32],
    ends: &'a [u32],
}

/// The labelled spans of several sentences.
pub(super) struct Guides {
    offsets: Vec<usize>,
    spans: Vec<GuideSpan>,
}

impl GuideArrays<'_> {
    /// The elements of the arrays.
    pub(super) fn columns(&self) -> Result<GuideColumns<'_>, ArgumentError> {
        Ok(GuideColumns {
            offsets: elements("guide", &self.0)?,
            labels: elements("guide", &self.1)?,
            starts: elements("guide", &self.2)?,
            ends: elements("guide", &self.3)?,
        })
    }
}

impl GuideColumns<'_> {
    /// Check the spans against their sentences and the number of labels.
    pub(super) fn read(
        self,
        sentences: &[Sentence<'_>],
        number_of_labels: usize,
    ) -> Result<Guides, ArgumentError> {
        let Self { offsets, labels, starts, ends } = self;
        check_shape("guide", &[starts.len(), ends.len()], &[labels.len(), labels.len()])?;
        check_ids("guide", labels, number_of_labels)?;
        let offsets = offsets_in("guide", offsets, labels.len(), Runs::MayBeEmpty)?;
        check_shape("guide", &[offsets.len()], &[sentences.len() + 1])?;
        let spans: Vec<GuideSpan> = labels
            .iter()
            .zip(starts)
            .zip(ends)
            .map(|((&label, &start), &end)| GuideSpan { label, start, end })
            .collect();
        for (pair, sentence) in offsets.windows(2).zip(sentences) {
            let words = sentence.tokens.len();
            let fits = |span: &GuideSpan| span.start < span.end && span.end as usize <= words;
            if !spans[pair[0]..pair[1]].iter().all(fits) {
                let message = format!("a span is not in its sentence of {words} words");
                return Err(ArgumentError::new("guide", message));
            }
        }
        Ok(Guides { offsets, spans })
    }
}

impl Guides {
    /// Give each sentence its spans.
    pub(super) fn give<'a>(&'a self, sentences: &mut [Sentence<'a>]) {
        for (sentence, pair) in sentences.iter_mut().zip(self.offsets.windows(2)) {
            sentence.guide = &self.spans[pair[0]..pair[1]];
        }
    }
}
