//! Weights of features.

use super::template_numbers::Template;
use super::tokens::Vocabulary;
use crate::grammar::{Grammar, GrammarError, SymbolId};
use crate::numeric::stable_hash::combine;

/// A weight for each feature of each label. A feature's hash says where the weights of its labels
/// are, one beside the other; features may overlap, which costs little as most are rare.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// As many as a power of two.
    values: Vec<f32>,
}

impl Weights {
    /// As many weights of zero as the given power of two.
    pub fn zeros(bits: u32) -> Self {
        Self { values: vec![0.0; 1 << bits] }
    }

    /// These weights.
    pub fn new(values: Vec<f32>) -> Result<Self, GrammarError> {
        if !values.len().is_power_of_two() {
            return Err(GrammarError::CrfWeights { length: values.len() });
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(place) => Err(GrammarError::CrfWeight { place, value: values[place] }),
            None => Ok(Self { values }),
        }
    }

    /// The place of the first weight of a feature.
    #[inline]
    pub fn first(&self, feature: u64) -> u32 {
        (feature >> 32) as u32
    }

    /// The place of the weight of a label, given that of the first.
    #[inline]
    pub fn place(&self, first: u32, label: u32) -> usize {
        first.wrapping_add(label) as usize & (self.values.len() - 1)
    }

    /// The weight at each place.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The weight at each place, to be changed.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }
}

/// By which labels features know the symbols of a grammar: each symbol is of one kind, and each
/// kind has some labels, from fine to coarse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureLabels {
    kinds: Vec<u32>,
    offsets: Vec<u32>,
    labels: Vec<u32>,
}

impl FeatureLabels {
    /// The kind of each symbol, and the labels of all kinds one after the other.
    pub fn new(kinds: Vec<u32>, offsets: Vec<u32>, labels: Vec<u32>) -> Result<Self, GrammarError> {
        let ascending = offsets.first() == Some(&0)
            && offsets.windows(2).all(|pair| pair[0] <= pair[1])
            && offsets.last().map(|&end| end as usize) == Some(labels.len())
            && kinds.iter().all(|&kind| (kind as usize) < offsets.len() - 1);
        if ascending {
            Ok(Self { kinds, offsets, labels })
        } else {
            Err(GrammarError::Offsets { array: "feature labels" })
        }
    }

    /// The number of kinds.
    pub fn number_of_kinds(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of symbols.
    pub fn number_of_symbols(&self) -> usize {
        self.kinds.len()
    }

    /// The kind of a symbol.
    #[inline]
    pub fn kind(&self, symbol: SymbolId) -> u32 {
        self.kinds[symbol.index()]
    }

    /// The labels of a kind.
    #[inline]
    pub fn of_kind(&self, kind: u32) -> &[u32] {
        let kind = kind as usize;
        &self.labels[self.offsets[kind] as usize..self.offsets[kind + 1] as usize]
    }
}

/// What a model was learnt for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The probabilities of trees: a conditional random field.
    Crf,
    /// The probabilities of the labels of spans, each by itself.
    Independent,
}

/// A model of trees given sentences, beside the rules of a grammar.
#[derive(Debug, Clone)]
pub struct CrfModel {
    /// What it was learnt for.
    pub loss: Loss,
    /// The exponent of a tree's probability under the grammar, which is the prior of the model.
    pub prior_weight: f64,
    /// Which words are frequent.
    pub vocabulary: Vocabulary,
    /// What symbols are to features.
    pub labels: FeatureLabels,
    /// The weights.
    pub weights: Weights,
}

impl CrfModel {
    /// Check that a grammar has the symbols of the model, and neither latent states nor unary rules.
    pub fn check_grammar(&self, grammar: &Grammar) -> Result<(), GrammarError> {
        let expected = grammar.rules().number_of_symbols();
        let found = self.labels.number_of_symbols();
        if found != expected {
            return Err(GrammarError::Length { array: "feature labels", expected, found });
        }
        if grammar.latent().is_some() || !grammar.unary().is_empty() {
            return Err(GrammarError::CrfBackbone);
        }
        Ok(())
    }

    /// The place of the weight of a binary rule.
    #[inline]
    pub fn rule_place(&self, rule: [SymbolId; 3]) -> usize {
        let weights = &self.weights;
        weights.place(
            weights
                .first(rule.iter().fold(Template::Rule as u64, |hash, symbol| {
                    combine(hash, u64::from(symbol.0))
                })),
            0,
        )
    }
}
