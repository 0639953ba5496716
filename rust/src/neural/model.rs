//! Parsing: the probabilities of labelled spans, and the tree with the highest expected F1.

use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::batch::{Batch, Tokens};
use super::encoder::{Encoding, Network};
use super::k_best::KBest;
use super::loss::{LabelPlaces, LabelledSpan, label_probabilities, tree_labels, tree_potentials};
use super::nodes::{MIN_PROBABILITY, spans_in_order};
use super::spans::SpanScores;
use super::unfinished::Clock;
use super::vocabulary::Spelling;
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Cells;
use crate::parser::{Analysis, Decoder, Span, Status, Times, WrittenTree, split_point};
use crate::span_decoder::{InsideOutside, Method, Sentence, SpanError, decode};

/// The largest number of words of sentences that are read side by side.
const BATCH_WORDS: usize = 800;

/// The number of spans whose labels get probabilities between two checks whether to stop.
const BLOCK: usize = 1 << 12;

/// A network with its parameters, and what its labels stand for.
#[derive(Debug)]
pub struct Model {
    /// The network.
    pub network: Network,
    /// Its parameters.
    pub values: Vec<f32>,
    /// Which labels spans may have.
    pub places: LabelPlaces,
    /// Whether labels are independent of each other, or trees have probabilities.
    pub independent: bool,
    /// For each label the labels of nodes that it writes, from the top.
    pub chains: Vec<Vec<u32>>,
    /// The labels of the nodes above the whole sentence that all trees have.
    pub root: Vec<u32>,
    /// For each tag the label of its nodes.
    pub tags: Vec<u32>,
}

/// What is wanted of sentences.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// The objective of the first tree.
    pub decoder: Decoder,
    /// The largest number of trees: the first one, and the most probable ones of the others. Labels
    /// that are independent of each other have one tree.
    pub candidates: usize,
    /// Whether the probabilities of all labelled spans are wanted.
    pub marginals: bool,
    /// Sentences with more words are parsed in parts, which are joined under the root.
    pub max_length: usize,
    /// The largest number of bytes of the spans of a sentence; longer ones are parsed in parts too.
    pub memory: usize,
    /// The time for a sentence. When it is up, the result is a tree of what has been computed.
    pub timeout: Option<Duration>,
}

/// A sentence to parse.
#[derive(Debug, Clone, Copy)]
pub struct SentenceWords<'a> {
    /// Its words.
    pub words: &'a [String],
    /// The tags that are given: empty, or one for each word.
    pub tags: &'a [Option<u32>],
    /// The strength of the punctuation that each word is.
    pub breaks: &'a [u8],
}

impl<'a> SentenceWords<'a> {
    pub(super) fn split_at(self, position: usize) -> [Self; 2] {
        let (words, other_words) = self.words.split_at(position);
        let (tags, other_tags) = self.tags.split_at(position.min(self.tags.len()));
        let (breaks, other_breaks) = self.breaks.split_at(position);
        [
            Self { words, tags, breaks },
            Self { words: other_words, tags: other_tags, breaks: other_breaks },
        ]
    }

    /// The sentence, or its parts if it has more than `max_length` words.
    pub(super) fn parts(self, max_length: usize, into: &mut Vec<SentenceWords<'a>>) {
        if self.words.len() <= max_length.max(1) {
            into.push(self);
            return;
        }
        for part in self.split_at(split_point(self.words.len(), self.breaks)) {
            part.parts(max_length, into);
        }
    }
}

impl Model {
    /// The largest number of words whose spans take up to this number of bytes.
    fn words_in(&self, memory: usize) -> usize {
        let shape = &self.network.shape;
        // The hidden layer, and scores, probabilities and candidates of all labels.
        let span = std::mem::size_of::<f32>() * (shape.span_hidden + 4 * shape.labels);
        (2.0 * memory as f64 / span as f64).sqrt() as usize
    }

    /// Parse sentences on the threads of the current rayon pool.
    pub fn analyze_all(
        &self,
        sentences: &[SentenceWords<'_>],
        request: Request,
        cancel: &Cancel,
    ) -> Result<Vec<Analysis>, Cancelled> {
        let max_length = request.max_length.min(self.words_in(request.memory));
        let mut parts = Vec::new();
        let mut numbers = Vec::new();
        // Parts have shares of the time of their sentence.
        let mut times: Vec<Duration> = Vec::new();
        for sentence in sentences {
            let before = parts.len();
            sentence.parts(max_length, &mut parts);
            numbers.push(parts.len() - before);
            if let Some(timeout) = request.timeout {
                let words = sentence.words.len() as f64;
                let shares = parts[before..].iter().map(|part| part.words.len() as f64 / words);
                times.extend(shares.map(|share| timeout.mul_f64(share)));
            }
        }
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|&part| parts[part].words.len());
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut words = usize::MAX;
        for part in order {
            words = words.saturating_add(parts[part].words.len());
            if words > BATCH_WORDS {
                groups.push(Vec::new());
                words = parts[part].words.len();
            }
            groups.last_mut().expect("the first part starts a group").push(part);
        }
        let found: Vec<Result<Vec<Analysis>, Cancelled>> = groups
            .par_iter()
            .map(|group| {
                let own: Vec<SentenceWords<'_>> = group.iter().map(|&part| parts[part]).collect();
                let times: Vec<Duration> =
                    group.iter().filter_map(|&part| times.get(part).copied()).collect();
                self.analyze_group(&own, request, &times, cancel)
            })
            .collect();
        let mut analyses: Vec<Option<Analysis>> = parts.iter().map(|_| None).collect();
        for (group, found) in groups.iter().zip(found) {
            for (&part, analysis) in group.iter().zip(found?) {
                analyses[part] = Some(analysis);
            }
        }
        let mut analyses = analyses.into_iter().flatten();
        Ok(numbers
            .into_iter()
            .map(|number| {
                let own: Vec<Analysis> = analyses.by_ref().take(number).collect();
                self.joined(own, Status::Split)
            })
            .collect())
    }

    /// Analyse sentences that are read side by side. `times` has the time of each, or is empty.
    fn analyze_group(
        &self,
        sentences: &[SentenceWords<'_>],
        request: Request,
        times: &[Duration],
        cancel: &Cancel,
    ) -> Result<Vec<Analysis>, Cancelled> {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let mut table: Vec<Spelling> = Vec::new();
        let tokens: Vec<Tokens> = sentences
            .iter()
            .map(|sentence| Tokens {
                spellings: sentence
                    .words
                    .iter()
                    .map(|word| {
                        *numbers.entry(word).or_insert_with(|| {
                            table.push(self.network.vocabulary.spelling(word));
                            table.len() as u32 - 1
                        })
                    })
                    .collect(),
                tags: sentence.tags.to_vec(),
            })
            .collect();
        let batch =
            Batch::new(&self.network.vocabulary, &table, &tokens.iter().collect::<Vec<_>>());
        let clock = Clock::start(times);
        let encoding = self.network.encode(&self.values, &batch, None, &clock.reading(cancel));
        let left = clock.fraction_left();
        let mut analyses: Vec<Option<Analysis>> = sentences.iter().map(|_| None).collect();
        let mut sums = InsideOutside::default();
        let mut first = 0;
        for (sequence, &sentence) in batch.order.iter().enumerate() {
            cancel.check()?;
            if encoding.projections.is_empty() {
                let tags = self.known_tags(sentences[sentence], &batch, &encoding, sequence);
                analyses[sentence] = Some(self.flat(&tags, request));
                continue;
            }
            let words = batch.packing.length(sequence) - 2;
            let own = first..first + (words + 1) * self.network.shape.span_hidden;
            first = own.end;
            let tags = self.tag_spans(&batch, &encoding, sequence);
            let projections = &encoding.projections[own];
            let deadline =
                times.get(sentence).and_then(|time| Instant::now().checked_add(time.mul_f64(left)));
            let own_cancel = cancel.with_deadline(deadline);
            let found = self.analyze_spans(projections, &tags, request, &mut sums, &own_cancel);
            analyses[sentence] = Some(match found {
                Err(Cancelled) => {
                    self.finish_late(projections, &tags, sentences[sentence], request, cancel)?
                }
                Ok(analysis) => analysis,
            });
        }
        Ok(analyses.into_iter().flatten().collect())
    }

    /// The probable tags of each word, the most probable one first.
    pub(super) fn tag_spans(
        &self,
        batch: &Batch,
        encoding: &Encoding,
        sequence: usize,
    ) -> Vec<Vec<Span>> {
        let tags = self.network.shape.tags;
        (0..batch.packing.length(sequence) - 2)
            .map(|word| {
                let row = batch.packing.row(sequence, word + 1);
                let probabilities = &encoding.used_tags[row * tags..][..tags];
                let best = probabilities
                    .iter()
                    .enumerate()
                    .reduce(|best, next| if next.1 > best.1 { next } else { best })
                    .map_or(0, |(tag, _)| tag);
                let span = |tag: usize| Span {
                    label: self.tags[tag],
                    start: word as u32,
                    end: word as u32 + 1,
                    probability: f64::from(probabilities[tag]),
                };
                let others =
                    (0..tags).filter(|&tag| tag != best && probabilities[tag] >= MIN_PROBABILITY);
                std::iter::once(best).chain(others).map(span).collect()
            })
            .collect()
    }

    /// The analysis of a sentence, given the projections of its borders and its tags.
    pub(super) fn analyze_spans(
        &self,
        projections: &[f32],
        tags: &[Vec<Span>],
        request: Request,
        sums: &mut InsideOutside,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        let labels = self.network.shape.labels;
        let cells = Cells::new(tags.len());
        let spans = SpanScores::new(&self.network, &self.values, projections, None, cancel)?;
        let mut scores = spans.scores;
        self.places.close(cells, &mut scores);
        let mut probabilities = scores.clone();
        let mut log_totals = Vec::with_capacity(cells.count());
        for rows in probabilities.chunks_mut(labels * BLOCK) {
            cancel.check()?;
            log_totals.extend(label_probabilities(labels, rows));
        }
        if !self.independent {
            sums.run(cells, &log_totals, cancel)?;
            let rows = probabilities.chunks_exact_mut(labels).zip(sums.posteriors());
            for (row, &posterior) in rows {
                row.iter_mut().for_each(|value| *value *= posterior as f32);
            }
        }
        let log_partition = sums.log_partition();
        let mut trees = Vec::new();
        if request.candidates > 1 && !self.independent {
            let (wanted, memory) = (request.candidates, request.memory);
            let posteriors = sums.posteriors();
            trees = KBest::new(cells, labels, &scores, posteriors, wanted, memory, cancel)?.trees();
        }
        cancel.check()?;
        let (nodes, choices) = self.candidates(cells, &probabilities, request.decoder);
        let sparse = Sentence::Sparse {
            words: cells.words(),
            starts: &choices.starts,
            ends: &choices.ends,
            labels: &choices.labels,
            scores: &choices.gains,
        };
        let brackets = match decode(&[sparse], Some(0), Method::Exact, cancel) {
            Ok(mut trees) => trees.remove(0).spans,
            Err((_, SpanError::Cancelled(error))) => return Err(error),
            // Cannot be: every span may be without a bracket, and the whole sentence has a label.
            Err((_, error)) => unreachable!("{error}"),
        };
        let mut log_probability = |tree: &[LabelledSpan]| {
            if self.independent {
                return Ok(f64::NEG_INFINITY);
            }
            let tree = tree_labels(cells, tree);
            sums.run(cells, &tree_potentials(labels, &scores, &tree), cancel)?;
            let tags: f64 = tags.iter().map(|tags| tags[0].probability.ln()).sum();
            Ok((sums.log_partition() - log_partition + tags).min(0.0))
        };
        trees.retain(|tree| *tree != brackets);
        let mut others: Vec<(f64, Vec<LabelledSpan>)> = trees
            .into_iter()
            .map(|tree| Ok((log_probability(&tree)?, tree)))
            .collect::<Result<_, Cancelled>>()?;
        // The best binary tree is not always that of the best tree.
        others.sort_by(|one, other| other.0.total_cmp(&one.0));
        others.truncate(request.candidates.saturating_sub(1));
        let first = (log_probability(&brackets)?, brackets);
        let trees = std::iter::once(first).chain(others);
        let trees = trees
            .map(|(log_probability, tree)| WrittenTree {
                spans: self.written(cells, &tree, &nodes, tags),
                log_probability,
            })
            .collect();
        let mut all = Vec::new();
        if request.marginals {
            for (cell, (start, end)) in spans_in_order(cells).enumerate() {
                for &(label, probability) in &nodes[cell] {
                    all.push(Span { label, start, end, probability });
                }
            }
            all.extend(tags.iter().flatten());
        }
        Ok(Analysis {
            status: Status::Parsed,
            log_probability: if self.independent { f64::NEG_INFINITY } else { 0.0 },
            trees,
            marginals: all,
            times: Times::default(),
        })
    }

    /// The analysis of a sentence from those of its parts, with a status if there are several.
    pub(super) fn joined(&self, mut parts: Vec<Analysis>, status: Status) -> Analysis {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let is_late = parts.iter().any(|part| part.status == Status::Timeout);
        let (mut spans, mut marginals) = (Vec::new(), Vec::new());
        let mut first = 0;
        for part in parts {
            let shift =
                |span: Span| Span { start: span.start + first, end: span.end + first, ..span };
            let own = part.trees.into_iter().next().map_or(Vec::new(), |tree| tree.spans);
            let words = own.iter().map(|span| span.end).max().unwrap_or(0);
            spans.extend(own.into_iter().skip(self.root.len()).map(shift));
            marginals.extend(part.marginals.into_iter().map(shift));
            first += words;
        }
        let root = self.root.first().copied().or_else(|| self.any_root());
        if let Some(label) = root {
            spans.insert(0, Span { label, start: 0, end: first, probability: 0.0 });
        }
        Analysis {
            status: if is_late { Status::Timeout } else { status },
            log_probability: f64::NEG_INFINITY,
            trees: vec![WrittenTree { spans, log_probability: f64::NEG_INFINITY }],
            marginals,
            times: Times::default(),
        }
    }

    /// The label of a node over some whole sentence.
    pub(super) fn any_root(&self) -> Option<u32> {
        let labels = (0..self.chains.len()).filter(|&label| self.places.whole[label]);
        labels.filter_map(|label| self.chains[label].first().copied()).next()
    }
}
