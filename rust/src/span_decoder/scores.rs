//! Scores of the labels of each span of a sentence.

use crate::cancel::Cancelled;
use crate::chart::Cells;

/// The largest absolute value of a score. Sums of larger scores would lose too much precision.
pub const MAX_SCORE: f64 = 1e15;

/// Why there is no tree for some scores.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpanError {
    /// The computation was stopped.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Scores are numbers, or minus infinity for what is impossible.
    #[error(
        "span ({start}, {end}), label {label}: the score is {score}, expected a number up to \
         {MAX_SCORE:e} or minus infinity"
    )]
    Score {
        /// The first word.
        start: u32,
        /// One past the last word.
        end: u32,
        /// The label.
        label: u32,
        /// The score.
        score: f64,
    },
    /// A span is empty or does not lie in the sentence.
    #[error("({start}, {end}) is not a span of a sentence of {words} words")]
    NoSpan {
        /// The first word.
        start: u32,
        /// One past the last word.
        end: u32,
        /// The number of words.
        words: usize,
    },
    /// The same label is given twice for the same span.
    #[error("span ({start}, {end}) has two scores for label {label}")]
    Twice {
        /// The first word.
        start: u32,
        /// One past the last word.
        end: u32,
        /// The label.
        label: u32,
    },
    /// Every tree has an impossible span.
    #[error("no tree is possible: each would need a span with no possible label")]
    NoTree,
}

/// The scores of one sentence, not checked yet.
#[derive(Debug, Clone, Copy)]
pub enum Sentence<'a> {
    /// A score for each start, end and label: an array of shape words x (words + 1) x labels in
    /// row-major order. Only entries whose end is after their start are read.
    Dense {
        /// The number of words, at least one.
        words: usize,
        /// The number of labels.
        labels: usize,
        /// All scores.
        scores: &'a [f64],
    },
    /// A list of labelled spans. Labels that are not listed for a span are impossible there, except
    /// for the label of no bracket, if there is one, which then has score zero.
    Sparse {
        /// The number of words, at least one.
        words: usize,
        /// The first word of each span.
        starts: &'a [u32],
        /// One past its last word.
        ends: &'a [u32],
        /// Its label.
        labels: &'a [u32],
        /// Its score.
        scores: &'a [f64],
    },
}

/// A possible label of a span.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The label.
    pub label: u32,
    /// Its score, a finite number.
    pub score: f64,
    /// The index of the score in the input; none for an implied score of zero.
    pub index: Option<usize>,
}

/// The possible labels of each span of a sentence, checked.
#[derive(Debug, Clone)]
pub struct SpanScores {
    cells: Cells,
    /// Where the entries of each cell start, and where the last ones end.
    offsets: Vec<usize>,
    entries: Vec<Entry>,
    none: Option<u32>,
}

impl SpanScores {
    /// Check and sort scores. The label `none` stands for no bracket. It is impossible over the
    /// whole sentence, since a tree has a root.
    pub fn new(sentence: Sentence<'_>, none: Option<u32>) -> Result<Self, SpanError> {
        match sentence {
            Sentence::Dense { words, labels, scores } => {
                let cells = Cells::new(words);
                let mut this = Self::empty(cells, none);
                for start in 0..words {
                    for end in start + 1..=words {
                        let from = (start * (words + 1) + end) * labels;
                        for (label, &score) in scores[from..from + labels].iter().enumerate() {
                            let entry =
                                Entry { label: label as u32, score, index: Some(from + label) };
                            this.push(start, end, entry)?;
                        }
                        this.offsets.push(this.entries.len());
                    }
                }
                Ok(this)
            }
            Sentence::Sparse { words, starts, ends, labels, scores } => {
                let cells = Cells::new(words);
                let mut rows = Vec::with_capacity(scores.len());
                for (row, (&start, &end)) in starts.iter().zip(ends).enumerate() {
                    if start >= end || end as usize > words {
                        return Err(SpanError::NoSpan { start, end, words });
                    }
                    rows.push((cells.index(start as usize, end as usize), labels[row], row));
                }
                rows.sort_unstable();
                let mut this = Self::empty(cells, none);
                let mut rows = rows.into_iter().peekable();
                for start in 0..words {
                    for end in start + 1..=words {
                        let cell = cells.index(start, end);
                        let mut previous = None;
                        let mut has_none = none.is_none();
                        while let Some((_, label, row)) = rows.next_if(|row| row.0 == cell) {
                            if previous.replace(label) == Some(label) {
                                let (start, end) = (start as u32, end as u32);
                                return Err(SpanError::Twice { start, end, label });
                            }
                            has_none |= none == Some(label);
                            let entry = Entry { label, score: scores[row], index: Some(row) };
                            this.push(start, end, entry)?;
                        }
                        if let (Some(label), false) = (none, has_none) {
                            this.push(start, end, Entry { label, score: 0.0, index: None })?;
                        }
                        this.offsets.push(this.entries.len());
                    }
                }
                Ok(this)
            }
        }
    }

    fn empty(cells: Cells, none: Option<u32>) -> Self {
        Self { cells, offsets: vec![0], entries: Vec::new(), none }
    }

    /// Add a label to the current cell if it is possible there.
    fn push(&mut self, start: usize, end: usize, entry: Entry) -> Result<(), SpanError> {
        let Entry { label, score, .. } = entry;
        if !(score.abs() <= MAX_SCORE || score == f64::NEG_INFINITY) {
            let (start, end) = (start as u32, end as u32);
            return Err(SpanError::Score { start, end, label, score });
        }
        let rootless = end - start == self.cells.words() && Some(label) == self.none;
        if score > f64::NEG_INFINITY && !rootless {
            self.entries.push(entry);
        }
        Ok(())
    }

    /// The spans of the sentence.
    pub fn cells(&self) -> Cells {
        self.cells
    }

    /// The possible labels of a cell.
    pub fn cell(&self, cell: usize) -> &[Entry] {
        &self.entries[self.offsets[cell]..self.offsets[cell + 1]]
    }

    /// Whether a label writes a bracket.
    pub fn writes(&self, label: u32) -> bool {
        Some(label) != self.none
    }
}
