//! Sentences whose time is up: trees of short fragments, or flat ones.

use std::time::{Duration, Instant};

use super::batch::Batch;
use super::encoder::Encoding;
use super::model::{Model, Request, SentenceWords};
use crate::cancel::{Cancel, Cancelled};
use crate::parser::{Analysis, Span, Status, Times, WrittenTree};
use crate::span_decoder::InsideOutside;

/// The largest number of words of a fragment, as in the parser of charts.
const FRAGMENT_WORDS: usize = 4;

/// The time for sentences that are read side by side.
#[derive(Debug)]
pub(super) struct Clock {
    start: Instant,
    /// The sum of their times; none for no limit.
    total: Option<Duration>,
}

impl Clock {
    /// Start to read sentences with these times; without times there is no limit.
    pub(super) fn start(times: &[Duration]) -> Self {
        let total = (!times.is_empty()).then(|| times.iter().sum());
        Self { start: Instant::now(), total }
    }

    /// What stops reading: it may take the time of all sentences.
    pub(super) fn reading(&self, cancel: &Cancel) -> Cancel {
        cancel.with_deadline(self.total.and_then(|total| self.start.checked_add(total)))
    }

    /// The fraction of the time of each sentence that reading has left.
    pub(super) fn fraction_left(&self) -> f64 {
        let Some(total) = self.total else { return 1.0 };
        let used = self.start.elapsed().as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
        (1.0 - used).max(0.0)
    }
}

impl Model {
    /// The trees of short fragments side by side, from the projections of the borders of a sentence
    /// and its tags. Their spans take a small part of the time of all spans.
    pub(super) fn finish_late(
        &self,
        projections: &[f32],
        tags: &[Vec<Span>],
        sentence: SentenceWords<'_>,
        request: Request,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        let size = self.network.shape.span_hidden;
        let mut parts = Vec::new();
        sentence.parts(FRAGMENT_WORDS, &mut parts);
        let request = Request { candidates: 1, ..request };
        let mut sums = InsideOutside::default();
        let mut first = 0;
        let mut analyses = Vec::with_capacity(parts.len());
        for part in parts {
            let last = first + part.words.len();
            let shift = first as u32;
            let own: Vec<Vec<Span>> = tags[first..last]
                .iter()
                .map(|tags| {
                    let moved = tags.iter().map(|tag| Span {
                        start: tag.start - shift,
                        end: tag.end - shift,
                        ..*tag
                    });
                    moved.collect()
                })
                .collect();
            let borders = &projections[first * size..(last + 1) * size];
            analyses.push(self.analyze_spans(borders, &own, request, &mut sums, cancel)?);
            first = last;
        }
        Ok(Analysis { status: Status::Timeout, ..self.joined(analyses, Status::Timeout) })
    }

    /// The tree without phrases.
    pub(super) fn flat(&self, tags: &[Vec<Span>], request: Request) -> Analysis {
        let any = self.any_root().filter(|_| self.root.is_empty());
        let root = self.root.iter().copied().chain(any);
        let end = tags.len() as u32;
        let above = root.map(|label| Span { label, start: 0, end, probability: 0.0 });
        let spans = above.chain(tags.iter().map(|tags| tags[0])).collect();
        Analysis {
            status: Status::Timeout,
            log_probability: f64::NEG_INFINITY,
            trees: vec![WrittenTree { spans, log_probability: f64::NEG_INFINITY }],
            marginals: if request.marginals { tags.concat() } else { Vec::new() },
            times: Times::default(),
        }
    }

    /// The tags of a sentence that was not read to its end: those that were found, otherwise those
    /// that are given, and the most usual one for the other words.
    pub(super) fn known_tags(
        &self,
        sentence: SentenceWords<'_>,
        batch: &Batch,
        encoding: &Encoding,
        sequence: usize,
    ) -> Vec<Vec<Span>> {
        if !encoding.used_tags.is_empty() {
            return self.tag_spans(batch, encoding, sequence);
        }
        let bias = &self.values[self.network.layout.tag_bias.clone()];
        let usual = (0..bias.len()).max_by(|&one, &other| bias[one].total_cmp(&bias[other]));
        (0..sentence.words.len())
            .map(|word| {
                let given = sentence.tags.get(word).copied().flatten();
                let tag = given.map_or(usual.unwrap_or(0), |tag| tag as usize);
                vec![Span {
                    label: self.tags[tag],
                    start: word as u32,
                    end: word as u32 + 1,
                    probability: if given.is_some() { 1.0 } else { 0.0 },
                }]
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::{LabelPlaces, Network, Shape, Vocabulary};
    use crate::parser::Decoder;

    const REQUEST: Request = Request {
        decoder: Decoder::MaxF1,
        candidates: 3,
        marginals: true,
        max_length: 100,
        memory: 1 << 30,
        timeout: None,
    };

    /// A network with random parameters; label 1 is that of whole sentences, 2 that of phrases.
    fn model(root: Vec<u32>) -> Model {
        let shape = Shape {
            words: 0,
            word_size: 4,
            vector_size: 0,
            characters: 0,
            character_size: 3,
            character_hidden: 2,
            hidden: 5,
            layers: 2,
            tags: 3,
            tag_size: 2,
            span_hidden: 6,
            labels: 3,
        };
        let words = vec!["dog".to_owned(), "bit".to_owned()];
        let vocabulary = Vocabulary::new(words, vec!['d', 'o'], Vec::new(), Vec::new());
        let network = Network::new(shape, vocabulary);
        let mut random = crate::neural::random::Random::new(&[1]);
        let values = (0..network.layout.size()).map(|_| random.uniform() - 0.5).collect();
        Model {
            network,
            values,
            places: LabelPlaces { whole: vec![false, true, true], part: vec![true, false, true] },
            independent: false,
            chains: vec![vec![], vec![1], vec![2]],
            root,
            tags: vec![10, 11, 12],
        }
    }

    /// The labels over one word each, and the number of nodes over the whole sentence.
    fn tags_and_roots(analysis: &Analysis, words: u32) -> (Vec<u32>, usize) {
        let spans = &analysis.trees[0].spans;
        let tags = spans.iter().filter(|span| span.label >= 10);
        let roots = spans.iter().filter(|span| (span.start, span.end) == (0, words)).count();
        (tags.map(|span| span.start).collect(), roots)
    }

    #[test]
    fn the_time_of_sentences_is_used_up_by_reading() {
        assert_eq!(Clock::start(&[]).fraction_left(), 1.0);
        assert!(Clock::start(&[]).reading(&Cancel::new()).check().is_ok());
        let hours = Clock::start(&[Duration::from_secs(3600); 2]);
        assert!(hours.fraction_left() > 0.9 && hours.reading(&Cancel::new()).check().is_ok());
        let over = Clock::start(&[Duration::ZERO]);
        assert!(over.fraction_left() == 0.0 && over.reading(&Cancel::new()).check().is_err());
    }

    #[test]
    fn without_time_there_is_a_flat_tree_with_the_tags_that_are_given() {
        let words: Vec<String> = ["dog"; 6].map(str::to_owned).into();
        let tags = [Some(2), None, Some(0), None, None, None];
        let sentence = SentenceWords { words: &words, tags: &tags, breaks: &[0; 6] };
        for (root, label) in [(vec![7, 8], 7), (vec![], 1)] {
            let model = model(root);
            let request = Request { timeout: Some(Duration::ZERO), ..REQUEST };
            let found = model.analyze_all(&[sentence], request, &Cancel::new()).unwrap();
            assert_eq!(found[0].status, Status::Timeout);
            let (words, roots) = tags_and_roots(&found[0], 6);
            assert_eq!((words, roots), ((0..6).collect(), model.root.len().max(1)));
            let spans = &found[0].trees[0].spans;
            assert_eq!(spans[0].label, label);
            let tags: Vec<u32> = spans[roots..].iter().map(|span| span.label).collect();
            assert_eq!((tags[0], tags[2]), (12, 10));
            // In parts there is one root.
            let parts = Request { max_length: 2, ..request };
            let found = model.analyze_all(&[sentence], parts, &Cancel::new()).unwrap();
            assert_eq!(found[0].status, Status::Timeout);
            assert_eq!(tags_and_roots(&found[0], 6), ((0..6).collect(), 1));
        }
    }

    #[test]
    fn sentences_that_were_read_have_trees_of_fragments() {
        for count in [1, 3, 11] {
            let model = model(vec![7]);
            let words = vec!["bit".to_owned(); count];
            let breaks = vec![0; count];
            let sentence = SentenceWords { words: &words, tags: &[], breaks: &breaks };
            let spelling = model.network.vocabulary.spelling("bit");
            let tokens =
                crate::neural::batch::Tokens { spellings: vec![0; count], tags: Vec::new() };
            let batch = Batch::new(&model.network.vocabulary, &[spelling], &[&tokens]);
            let cancel = Cancel::new();
            let encoding = model.network.encode(&model.values, &batch, None, &cancel);
            let tags = model.known_tags(sentence, &batch, &encoding, 0);
            let found = model
                .finish_late(&encoding.projections, &tags, sentence, REQUEST, &cancel)
                .unwrap();
            assert_eq!((found.status, found.trees.len()), (Status::Timeout, 1));
            let (tagged, roots) = tags_and_roots(&found, count as u32);
            assert_eq!(tagged, (0..count as u32).collect::<Vec<_>>());
            assert!(roots > 0 && found.trees[0].spans[0].label == 7);
            assert!(found.marginals.iter().all(|span| span.end <= count as u32));
            if count > FRAGMENT_WORDS {
                let widest = found.trees[0].spans[1..].iter().map(|span| span.end - span.start);
                assert!(widest.max().unwrap() <= FRAGMENT_WORDS as u32);
                // A network that has all the time for the first words finds the same tree there.
                let first: usize = {
                    let mut parts = Vec::new();
                    sentence.parts(FRAGMENT_WORDS, &mut parts);
                    parts[0].words.len()
                };
                let own = model.analyze_spans(
                    &encoding.projections[..(first + 1) * model.network.shape.span_hidden],
                    &tags[..first],
                    REQUEST,
                    &mut InsideOutside::default(),
                    &cancel,
                );
                let own = &own.unwrap().trees[0].spans[1..];
                assert_eq!(&found.trees[0].spans[1..=own.len()], own);
            }
        }
    }
}
