//! The loss of some training trees, and its gradient.

use super::batch::{Batch, Tokens};
use super::dropout::{DropoutRates, Masks};
use super::encoder::Network;
use super::loss::{
    LabelPlaces, LabelledSpan, Loss, crf_loss, independent_loss, tag_loss, tree_labels,
};
use super::random::Random;
use super::spans::SpanScores;
use super::vocabulary::Spelling;
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Cells;
use crate::span_decoder::InsideOutside;

/// A sentence with its tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The words of the sentence; no tags are given.
    pub tokens: Tokens,
    /// The brackets of the tree, which include the whole sentence.
    pub spans: Vec<LabelledSpan>,
    /// The tags of its words.
    pub tags: Vec<u32>,
    /// The weight of its loss.
    pub weight: f32,
}

/// What is computed for each training tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective {
    /// The loss of brackets.
    pub loss: Loss,
    /// The weight of the loss of tags.
    pub tag_weight: f32,
    /// The probabilities of dropout.
    pub dropout: DropoutRates,
    /// Words are replaced by the unknown word with probability
    /// `word_dropout / (word_dropout + count)`.
    pub word_dropout: f32,
    /// The probability that a sentence is read with its tags.
    pub given_tags: f32,
}

/// What all training trees share.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The network.
    pub network: &'a Network,
    /// The spellings to which examples refer.
    pub table: &'a [Spelling],
    /// The number of occurrences of each word.
    pub counts: &'a [f32],
    /// Which labels spans may have.
    pub places: &'a LabelPlaces,
    /// What is computed.
    pub objective: Objective,
}

impl Setting<'_> {
    /// The sum of the losses of some examples, to whose gradient this adds. Each example has its own
    /// random numbers.
    pub fn loss(
        &self,
        values: &[f32],
        examples: &[&Example],
        streams: &[Random],
        gradients: &mut [f32],
        cancel: &Cancel,
    ) -> Result<f64, Cancelled> {
        let (network, objective) = (self.network, &self.objective);
        let shape = &network.shape;
        let mut streams = streams.to_vec();
        let tokens: Vec<Tokens> = examples
            .iter()
            .zip(&mut streams)
            .map(|(example, random)| {
                let mut tokens = example.tokens.clone();
                if random.uniform() < objective.given_tags {
                    tokens.tags = example.tags.iter().copied().map(Some).collect();
                }
                tokens
            })
            .collect();
        let mut batch =
            Batch::new(&network.vocabulary, self.table, &tokens.iter().collect::<Vec<_>>());
        // From here on in the order of sequences.
        let mut streams: Vec<Random> =
            batch.order.iter().map(|&sentence| streams[sentence].clone()).collect();
        for (sequence, random) in streams.iter_mut().enumerate() {
            batch.drop_words(sequence, self.counts, objective.word_dropout, random);
        }
        let masks = Masks::new(shape, objective.dropout, &mut streams);
        let encoding = network.encode(values, &batch, Some(&masks), &Cancel::new());
        let mut tag_gradients = vec![0.0; encoding.tag_probabilities.len()];
        let mut projection_gradients = vec![0.0; encoding.projections.len()];
        let mut sums = InsideOutside::default();
        let mut loss = 0.0;
        let mut first = 0;
        for (sequence, random) in streams.iter_mut().enumerate() {
            cancel.check()?;
            let example = examples[batch.order[sequence]];
            let cells = Cells::new(example.tags.len());
            let own = first..first + (cells.words() + 1) * shape.span_hidden;
            first = own.end;
            let mut spans = SpanScores::new(
                network,
                values,
                &encoding.projections[own.clone()],
                Some((objective.dropout.span, random)),
                cancel,
            )?;
            let mut scores = std::mem::take(&mut spans.scores);
            self.places.close(cells, &mut scores);
            let tree = tree_labels(cells, &example.spans);
            let (labels, weight) = (shape.labels, example.weight);
            loss += match objective.loss {
                Loss::Crf => {
                    crf_loss(cells, labels, &mut scores, &tree, weight, &mut sums, cancel)?
                }
                Loss::Independent { none_ratio } => {
                    independent_loss(labels, &mut scores, &tree, none_ratio, weight, random)
                }
            };
            let projection_gradients = &mut projection_gradients[own];
            spans.backward(network, values, &scores, gradients, projection_gradients);
            let tag_weight = objective.tag_weight * weight;
            for (position, &tag) in example.tags.iter().enumerate() {
                let row = batch.packing.row(sequence, position + 1) * shape.tags;
                let own = row..row + shape.tags;
                let probabilities = &encoding.tag_probabilities[own.clone()];
                let tag_gradients = &mut tag_gradients[own];
                loss += tag_loss(probabilities, tag as usize, tag_weight, tag_gradients);
            }
        }
        network.propagate(
            values,
            &batch,
            Some(&masks),
            &encoding,
            &projection_gradients,
            tag_gradients,
            gradients,
        );
        Ok(loss)
    }
}
