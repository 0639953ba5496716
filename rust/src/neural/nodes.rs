//! From labels of spans to nodes of trees: their probabilities, what the search for the best tree
//! gains by them, and the tree that is written.

use super::loss::LabelledSpan;
use super::model::Model;
use crate::chart::Cells;
use crate::parser::{Decoder, Span};

/// Labelled spans with a lower probability are left out.
pub(super) const MIN_PROBABILITY: f32 = 1e-4;

/// The cost of a bracket in the search for the best expected F1, as in the decoder of charts: half
/// of a typical F1.
const BRACKET_COST: f64 = 0.4;

impl Model {
    /// The probable labels of nodes over each span, and the labels among which the search chooses,
    /// with their gains.
    pub(super) fn candidates(
        &self,
        cells: Cells,
        probabilities: &[f32],
        decoder: Decoder,
    ) -> (Vec<Vec<(u32, f64)>>, Choices) {
        let labels = self.network.shape.labels;
        let mut choices = Choices::default();
        let mut nodes = Vec::with_capacity(cells.count());
        for (cell, (start, end)) in spans_in_order(cells).enumerate() {
            let row = &probabilities[cell * labels..][..labels];
            let mut own: Vec<(u32, f64)> = Vec::new();
            let probable: Vec<usize> =
                (1..labels).filter(|&label| row[label] >= MIN_PROBABILITY).collect();
            for &label in &probable {
                for &node in self.chain(cells, cell, label) {
                    let probability = f64::from(row[label]);
                    match own.iter_mut().find(|(known, _)| *known == node) {
                        Some((_, sum)) => *sum += probability,
                        None => own.push((node, probability)),
                    }
                }
            }
            for &label in &probable {
                let gain = match decoder {
                    Decoder::MaxRecall => f64::from(row[label]),
                    _ => {
                        let chain = self.chain(cells, cell, label);
                        chain.map(|node| probability_of(&own, *node) - BRACKET_COST).sum()
                    }
                };
                choices.push(start, end, label as u32, gain);
            }
            if decoder == Decoder::MaxRecall && (start, end) != (0, cells.words() as u32) {
                choices.push(start, end, 0, f64::from(row[0]));
            }
            nodes.push(own);
        }
        (nodes, choices)
    }

    /// The labels of nodes that a label of a span writes.
    fn chain(&self, cells: Cells, cell: usize, label: usize) -> impl Iterator<Item = &u32> {
        let is_whole = cell == cells.index(0, cells.words());
        let root: &[u32] = if is_whole { &self.root } else { &[] };
        root.iter().chain(&self.chains[label])
    }

    /// A tree as labelled spans in pre-order.
    pub(super) fn written(
        &self,
        cells: Cells,
        brackets: &[LabelledSpan],
        nodes: &[Vec<(u32, f64)>],
        tags: &[Vec<Span>],
    ) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut word = 0;
        // Brackets are in pre-order; a tag comes after all brackets that start with its word.
        for &(start, end, label) in brackets {
            while word < start as usize {
                spans.push(tags[word][0]);
                word += 1;
            }
            let cell = cells.index(start as usize, end as usize);
            for &node in self.chain(cells, cell, label as usize) {
                let probability = probability_of(&nodes[cell], node);
                spans.push(Span { label: node, start, end, probability });
            }
        }
        spans.extend(tags[word..].iter().map(|tags| tags[0]));
        spans
    }
}

/// Labels among which the search chooses.
#[derive(Debug, Default)]
pub(super) struct Choices {
    pub(super) starts: Vec<u32>,
    pub(super) ends: Vec<u32>,
    pub(super) labels: Vec<u32>,
    pub(super) gains: Vec<f64>,
}

impl Choices {
    fn push(&mut self, start: u32, end: u32, label: u32, gain: f64) {
        self.starts.push(start);
        self.ends.push(end);
        self.labels.push(label);
        self.gains.push(gain);
    }
}

/// All spans in the order of [`Cells`].
pub(super) fn spans_in_order(cells: Cells) -> impl Iterator<Item = (u32, u32)> {
    let words = cells.words() as u32;
    (0..words).flat_map(move |start| (start + 1..=words).map(move |end| (start, end)))
}

fn probability_of(nodes: &[(u32, f64)], node: u32) -> f64 {
    nodes.iter().find(|(known, _)| *known == node).map_or(0.0, |&(_, probability)| probability)
}
