//! The parts of trees that have features, and their scores.
//!
//! A part is a kind of symbol at an anchor: a span, or a span with its split point. All symbols of
//! one kind have the same features at an anchor, so the score of a part is computed once.

use super::weights::CrfModel;
use crate::grammar::SymbolId;

/// A kind of symbol at an anchor.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// The range of its features among those of all anchors.
    from: u32,
    to: u32,
    kind: u32,
}

/// The parts of a sentence, in memory that is reused.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The feature hashes of the current anchor.
    found: Vec<u64>,
    /// The features of all anchors, each as the index of its first weight.
    features: Vec<u32>,
    parts: Vec<Part>,
    scores: Vec<f64>,
    /// For each kind, its part at the current anchor plus one; zero for none.
    part_of_kind: Vec<u32>,
    /// The kinds that have a part at the current anchor.
    kinds_in_use: Vec<u32>,
}

impl Parts {
    /// Start a sentence.
    pub(super) fn reset(&mut self, model: &CrfModel) {
        self.part_of_kind.clear();
        self.part_of_kind.resize(model.labels.number_of_kinds(), 0);
        self.kinds_in_use.clear();
        self.features.clear();
        self.parts.clear();
        self.scores.clear();
    }

    /// The number of parts.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The buffer to which templates write the features of a new anchor.
    pub(super) fn found(&mut self) -> &mut Vec<u64> {
        &mut self.found
    }

    /// Make the anchor whose features were written last the current one, and return the range of
    /// its features.
    pub(super) fn keep_features(&mut self, model: &CrfModel) -> (u32, u32) {
        for kind in self.kinds_in_use.drain(..) {
            self.part_of_kind[kind as usize] = 0;
        }
        let from = self.features.len() as u32;
        self.features.extend(self.found.iter().map(|&feature| model.weights.first(feature)));
        (from, self.features.len() as u32)
    }

    /// The part of a symbol at the current anchor, which has these features.
    pub(super) fn get(
        &mut self,
        model: &CrfModel,
        symbol: SymbolId,
        (from, to): (u32, u32),
    ) -> u32 {
        let kind = model.labels.kind(symbol);
        let slot = &mut self.part_of_kind[kind as usize];
        if *slot == 0 {
            self.parts.push(Part { from, to, kind });
            *slot = self.parts.len() as u32;
            self.kinds_in_use.push(kind);
            let values = model.weights.values();
            let mut sum = 0.0;
            for &label in model.labels.of_kind(kind) {
                for &feature in &self.features[from as usize..to as usize] {
                    sum += values[model.weights.index(feature, label)];
                }
            }
            self.scores.push(f64::from(sum));
        }
        *slot - 1
    }

    /// The sum of the weights of a part's features.
    #[inline]
    pub(super) fn score(&self, part: u32) -> f64 {
        self.scores[part as usize]
    }

    /// Call `found` with the index of every weight in the score of a part.
    pub(super) fn for_each_weight(
        &self,
        model: &CrfModel,
        part: usize,
        mut found: impl FnMut(usize),
    ) {
        let Part { from, to, kind } = self.parts[part];
        for &label in model.labels.of_kind(kind) {
            for &feature in &self.features[from as usize..to as usize] {
                found(model.weights.index(feature, label));
            }
        }
    }
}
