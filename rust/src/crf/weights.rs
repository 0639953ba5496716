//! The weights of features, the labels they are conjoined with, and the model of both.

use super::template_numbers::Template;
use super::tokens::Vocabulary;
use crate::grammar::{Grammar, GrammarError, SymbolId};
use crate::numeric::stable_hash::combine;

/// The largest absolute value of a weight: scores of trees, which are sums of weights, stay finite.
const MAX_WEIGHT: f32 = 1e6;

/// A weight for each pair of a feature and a label. The hash of a feature gives the index of its
/// first weight; the weights of all labels follow one another. Features may collide. This costs
/// little, since most features are rare.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Their number is a power of two.
    values: Vec<f32>,
}

impl Weights {
    /// All weights zero; there are 2 to the power of `bits`.
    pub fn zeros(bits: u32) -> Self {
        Self { values: vec![0.0; 1 << bits] }
    }

    /// The given weights, checked.
    pub fn new(values: Vec<f32>) -> Result<Self, GrammarError> {
        if !values.len().is_power_of_two() {
            return Err(GrammarError::CrfWeights { length: values.len() });
        }
        // NaN is out of range, too.
        match values.iter().position(|value| !(-MAX_WEIGHT..=MAX_WEIGHT).contains(value)) {
            Some(index) => {
                let (value, limit) = (values[index], MAX_WEIGHT);
                Err(GrammarError::CrfWeight { index, value, limit })
            }
            None => Ok(Self { values }),
        }
    }

    /// The index of the first weight of a feature, before it is wrapped by [`index`](Self::index).
    #[inline]
    pub fn first(&self, feature: u64) -> u32 {
        (feature >> 32) as u32
    }

    /// The index of the weight of a label, given that of the first weight.
    #[inline]
    pub fn index(&self, first: u32, label: u32) -> usize {
        first.wrapping_add(label) as usize & (self.values.len() - 1)
    }

    /// All weights.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All weights, to be changed.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }
}

/// The labels that features are conjoined with: each symbol of a grammar is of one kind, and each
/// kind has some labels, from fine to coarse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureLabels {
    kinds: Vec<u32>,
    offsets: Vec<u32>,
    labels: Vec<u32>,
}

impl FeatureLabels {
    /// Check the kind of each symbol, and the labels of all kinds one after the other.
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

/// What a model was trained to predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Trees: a conditional random field.
    Crf,
    /// The label of each span, independently of all others.
    Independent,
}

/// A conditional random field: everything but the grammar that prunes its charts.
#[derive(Debug, Clone)]
pub struct CrfModel {
    /// What it was trained to predict.
    pub loss: Loss,
    /// The exponent of the [`Prior`](super::Prior) of a tree.
    pub prior_weight: f64,
    /// The frequent words and suffixes.
    pub vocabulary: Vocabulary,
    /// The labels of symbols that features are conjoined with.
    pub labels: FeatureLabels,
    /// The weights.
    pub weights: Weights,
}

impl CrfModel {
    /// Check that a grammar has the symbols of the model, and no unary rules.
    pub fn check_grammar(&self, grammar: &Grammar) -> Result<(), GrammarError> {
        let expected = grammar.rules().number_of_symbols();
        let found = self.labels.number_of_symbols();
        if found != expected {
            return Err(GrammarError::Length { array: "feature labels", expected, found });
        }
        if !grammar.unary().is_empty() {
            return Err(GrammarError::CrfBackbone);
        }
        Ok(())
    }

    /// The index of the weight of a binary rule.
    #[inline]
    pub fn rule_index(&self, rule: [SymbolId; 3]) -> usize {
        let add = |hash, symbol: &SymbolId| combine(hash, u64::from(symbol.0));
        let feature = rule.iter().fold(Template::Rule as u64, add);
        self.weights.index(self.weights.first(feature), 0)
    }
}
