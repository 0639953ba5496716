//! Parameters over latent states: what an L-PCFG has beyond its backbone PCFG.

use std::borrow::Cow;

use super::emissions::{Emissions, Token};
use super::rules::{GrammarError, Rules, SymbolId, check_symbol};
use super::tensors::Tensors;
use super::unary::UnaryClosure;
use super::unary_matrices::UnaryMatrices;
use crate::cancel::Cancel;
use crate::numeric::tensor::Tensor;

/// The arrays of an L-PCFG as an estimator gives them; rules and emissions are in the order in
/// which they were given to [`Rules`] and [`Emissions`]. Tensors may be borrowed, since they are
/// copied into another order.
#[derive(Debug, Clone, Default)]
pub struct LatentArrays<'a> {
    /// The number of states of each symbol.
    pub states: Vec<u32>,
    /// The root vectors of all symbols, one after the other.
    pub roots: Vec<f32>,
    /// The stored values of the tensors of all binary rules: parent by left child by right child.
    pub binary: Cow<'a, [f32]>,
    /// The number of stored values of each binary rule; if all are stored, the tensor is dense.
    pub binary_counts: Vec<u32>,
    /// The flat indices, in ascending order, of the values of each tensor that is not dense.
    pub binary_positions: Cow<'a, [u32]>,
    /// The matrices of all unary rules, one after the other: parent by child.
    pub unary: Vec<f32>,
    /// Emission likelihood ratios: vectors over the states of preterminals. An element is the
    /// probability of a word given the state, divided by its probability given the symbol.
    pub emission_ratios: Vec<f32>,
    /// The symbol of each vector of likelihood ratios.
    pub ratio_symbols: Vec<u32>,
    /// For each emission, the number of its vector of likelihood ratios. The emission probability
    /// times that vector is the emission vector.
    pub entry_ratios: Vec<u32>,
    /// For each symbol, the emission vector of its tag alone: the sum over all words.
    pub tag_emissions: Vec<f32>,
}

/// The most states that a symbol may have: the tensor of three such symbols takes 4 GB.
const MAX_STATES: usize = 1024;

/// The largest absolute value of a parameter. Likelihood ratios and the parameters of linear models
/// may exceed one, but sums of their products over states must not overflow.
const MAX_VALUE: f32 = 1e12;

/// The factors of all states but the first in damped models, in the order in which they are tried.
const DAMPING: [f32; 3] = [0.7, 0.4, 0.1];

/// The parameters of an L-PCFG, checked, with the offsets of its vectors and tensors.
#[derive(Debug, Clone)]
pub struct Latent {
    states: Vec<u32>,
    /// Where the vectors of each symbol start.
    state_offsets: Vec<usize>,
    roots: Vec<f32>,
    tensors: Tensors,
    unary: UnaryMatrices,
    emission_ratios: Vec<f32>,
    ratio_offsets: Vec<usize>,
    entry_ratios: Vec<u32>,
    tag_emissions: Vec<f32>,
    /// Whether the first state of each symbol is the backbone, and others deviate from it.
    deviates: bool,
}

impl Latent {
    /// The number of damped models.
    pub const DAMPED: usize = DAMPING.len();

    /// Check that all lengths and indices agree.
    pub fn new(
        rules: &Rules,
        closure: &UnaryClosure,
        emissions: &Emissions,
        arrays: LatentArrays<'_>,
        cancel: &Cancel,
    ) -> Result<Self, GrammarError> {
        let symbols = rules.number_of_symbols();
        check_length("latent states", arrays.states.len(), symbols)?;
        for (symbol, &states) in arrays.states.iter().enumerate() {
            match states as usize {
                0 => return Err(GrammarError::NoStates { symbol: symbol as u32 }),
                1..=MAX_STATES => {}
                found => {
                    let things = "latent states of a symbol";
                    return Err(GrammarError::TooMany { things, found, limit: MAX_STATES });
                }
            }
        }
        for (array, values) in [
            ("latent roots", &arrays.roots[..]),
            ("latent binary rules", &arrays.binary),
            ("latent unary rules", &arrays.unary),
            ("emission likelihood ratios", &arrays.emission_ratios),
            ("tag emissions", &arrays.tag_emissions),
        ] {
            let in_range = |value: &f32| value.abs() <= MAX_VALUE;
            if let Some(row) = values.iter().position(|value| !in_range(value)) {
                let (value, limit) = (values[row], MAX_VALUE);
                return Err(GrammarError::LatentValue { array, row, value, limit });
            }
        }
        let state_offsets = offsets(arrays.states.iter().map(|&states| states as usize));
        check_length("latent roots", arrays.roots.len(), state_offsets[symbols])?;
        check_length("tag emissions", arrays.tag_emissions.len(), state_offsets[symbols])?;
        let states = |symbol: SymbolId| arrays.states[symbol.index()] as usize;
        let unary = UnaryMatrices::new(rules, closure, states, &arrays.unary, cancel)?;
        let tensors = Tensors::new(
            rules,
            states,
            &arrays.binary_counts,
            &arrays.binary,
            &arrays.binary_positions,
        )?;
        for (row, &symbol) in arrays.ratio_symbols.iter().enumerate() {
            check_symbol("emission likelihood ratio", row, symbol, symbols)?;
        }
        let ratio_symbols = arrays.ratio_symbols.iter();
        let ratio_offsets =
            offsets(ratio_symbols.map(|&symbol| arrays.states[symbol as usize] as usize));
        let expected = ratio_offsets[arrays.ratio_symbols.len()];
        check_length("emission likelihood ratios", arrays.emission_ratios.len(), expected)?;
        let entries = emissions.symbols();
        check_length("likelihood ratios of emissions", arrays.entry_ratios.len(), entries.len())?;
        for (row, (&vector, symbol)) in arrays.entry_ratios.iter().zip(entries).enumerate() {
            if arrays.ratio_symbols.get(vector as usize) != Some(&symbol.0) {
                return Err(GrammarError::EmissionRatios { row, vector });
            }
        }
        let mut latent = Self {
            states: arrays.states,
            state_offsets,
            roots: arrays.roots,
            tensors,
            unary,
            emission_ratios: arrays.emission_ratios,
            ratio_offsets,
            entry_ratios: arrays.entry_ratios,
            tag_emissions: arrays.tag_emissions,
            deviates: false,
        };
        latent.deviates = latent.deviates_from(rules);
        Ok(latent)
    }

    /// The factor of all states but the first, wherever a vector over states is used, in a model
    /// between this one and its backbone PCFG; models are numbered below [`DAMPED`](Self::DAMPED),
    /// and the factor is one if no number is given.
    ///
    /// In a model of the spectral method, the first state of each symbol is the backbone, and the
    /// others are directions of deviation from it. They are estimated with noise, so a sentence may
    /// have a negative value, or a tree a larger one than its sentence. Where each vector over states
    /// is scaled towards the first state, values approach the probabilities of the backbone. There
    /// is no such model if the first states are not the backbone, as in models without negative
    /// parameters.
    pub fn damping(&self, number: Option<usize>) -> Option<f32> {
        match number {
            None => Some(1.0),
            Some(number) => self.deviates.then(|| DAMPING[number]),
        }
    }

    fn deviates_from(&self, rules: &Rules) -> bool {
        /// Parameters are in single precision.
        const ROUNDING: f64 = 1e-3;
        let is_near = |value: f32, expected: f64| {
            (f64::from(value) - expected).abs() <= ROUNDING * expected.max(f64::from(f32::EPSILON))
        };
        self.emission_ratios.iter().any(|&ratio| ratio < 0.0)
            && rules.unary().is_empty()
            && self.ratio_offsets.windows(2).all(|bounds| {
                bounds[0] < bounds[1] && is_near(self.emission_ratios[bounds[0]], 1.0)
            })
            && rules.binary().iter().enumerate().all(|(number, rule)| {
                let first = match self.tensors.get(number) {
                    Tensor::Dense(values) => values.first(),
                    Tensor::Sparse(_) => None,
                };
                first.is_some_and(|&first| is_near(first, rule.probability))
            })
    }

    /// The number of states of a symbol.
    #[inline(always)]
    pub fn states(&self, symbol: SymbolId) -> usize {
        self.states[symbol.index()] as usize
    }

    /// The root vector of a symbol.
    pub fn root(&self, symbol: SymbolId) -> &[f32] {
        &self.roots[self.vector(symbol)]
    }

    /// The tensor of a binary rule, by its index in [`Rules::binary`].
    #[inline(always)]
    pub fn tensor(&self, rule: usize) -> Tensor<'_> {
        self.tensors.get(rule)
    }

    /// The matrix of a unary rule, by its index in [`Rules::unary`]: states of the parent in rows.
    #[inline(always)]
    pub fn unary_matrix(&self, rule: usize) -> &[f32] {
        self.unary.rule(rule)
    }

    /// The matrix of all chains of unary rules between two symbols, by the number of the chain in
    /// the [`UnaryClosure`]: states of the top symbol in rows.
    #[inline(always)]
    pub fn chain_matrix(&self, chain: usize) -> &[f32] {
        self.unary.chain(chain)
    }

    /// The emission likelihood ratios of a token for the states of a symbol. Times its emission
    /// probability under the backbone PCFG, this is its emission vector.
    pub fn emission_ratios(&self, emissions: &Emissions, token: Token, symbol: SymbolId) -> &[f32] {
        if let Token::Word(word) | Token::Tagged { word, .. } = token
            && let Some(entry) = emissions.entry(word, symbol)
        {
            let vector = self.entry_ratios[entry] as usize;
            return &self.emission_ratios
                [self.ratio_offsets[vector]..self.ratio_offsets[vector + 1]];
        }
        // A word that was not seen with the symbol counts as the average of the symbol's words.
        &self.tag_emissions[self.vector(symbol)]
    }

    fn vector(&self, symbol: SymbolId) -> std::ops::Range<usize> {
        self.state_offsets[symbol.index()]..self.state_offsets[symbol.index() + 1]
    }
}

pub(super) fn offsets(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut offsets = vec![0usize];
    let mut end = 0usize;
    for length in lengths {
        end = end.saturating_add(length);
        offsets.push(end);
    }
    offsets
}

pub(super) fn check_length(
    array: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), GrammarError> {
    if found != expected {
        return Err(GrammarError::Length { array, expected, found });
    }
    Ok(())
}
