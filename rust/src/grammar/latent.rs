//! Parameters over latent states: what an L-PCFG has beyond its backbone PCFG.

use super::emissions::{Emissions, Token};
use super::rules::{GrammarError, Rules, SymbolId};

/// The arrays of an L-PCFG as an estimator gives them; rules and emissions are in the order in
/// which they were given to [`Rules`] and [`Emissions`].
#[derive(Debug, Clone, Default)]
pub struct LatentArrays {
    /// The number of states of each symbol.
    pub states: Vec<u32>,
    /// The root vectors of all symbols, one after the other.
    pub roots: Vec<f32>,
    /// The tensors of all binary rules: parent by left child by right child.
    pub binary: Vec<f32>,
    /// The vectors of all emissions.
    pub emissions: Vec<f32>,
    /// For each symbol, the emission vector of its tag alone: the sum over all words.
    pub tag_emissions: Vec<f32>,
}

/// The same, with the place of everything.
#[derive(Debug, Clone)]
pub struct Latent {
    arrays: LatentArrays,
    /// Where the vectors of each symbol start.
    state_offsets: Vec<usize>,
    /// Where the tensor of each rule starts, in the order of [`Rules::binary`].
    tensor_offsets: Vec<usize>,
    emission_offsets: Vec<usize>,
}

impl Latent {
    /// Check that all lengths agree.
    pub fn new(
        rules: &Rules,
        emissions: &Emissions,
        arrays: LatentArrays,
    ) -> Result<Self, GrammarError> {
        let symbols = rules.number_of_symbols();
        check_length("latent states", arrays.states.len(), symbols)?;
        if let Some(symbol) = arrays.states.iter().position(|&states| states == 0) {
            return Err(GrammarError::NoStates { symbol: symbol as u32 });
        }
        if !rules.unary().is_empty() {
            return Err(GrammarError::LatentUnary);
        }
        let states = |symbol: SymbolId| arrays.states[symbol.index()] as usize;
        let state_offsets = offsets(arrays.states.iter().map(|&states| states as usize));
        check_length("latent roots", arrays.roots.len(), state_offsets[symbols])?;
        check_length("tag emissions", arrays.tag_emissions.len(), state_offsets[symbols])?;
        // Sizes in the order of the arrays, then looked up in the order of the rules.
        let mut sizes = vec![0; rules.binary().len()];
        for (rule, &given) in rules.binary().iter().zip(rules.binary_order()) {
            sizes[given as usize] = [rule.parent, rule.left, rule.right]
                .into_iter()
                .map(states)
                .try_fold(1usize, usize::checked_mul)
                .unwrap_or(usize::MAX / 2);
        }
        let given_offsets = offsets(sizes.into_iter());
        check_length(
            "latent binary rules",
            arrays.binary.len(),
            given_offsets[rules.binary().len()],
        )?;
        let tensor_offsets =
            rules.binary_order().iter().map(|&given| given_offsets[given as usize]).collect();
        let emission_offsets = offsets(emissions.symbols().iter().map(|&symbol| states(symbol)));
        check_length(
            "latent emissions",
            arrays.emissions.len(),
            *emission_offsets.last().expect("never empty"),
        )?;
        for (array, values) in [
            ("latent roots", &arrays.roots),
            ("latent binary rules", &arrays.binary),
            ("latent emissions", &arrays.emissions),
            ("tag emissions", &arrays.tag_emissions),
        ] {
            if let Some(row) = values.iter().position(|value| !value.is_finite()) {
                return Err(GrammarError::NotFinite { array, row });
            }
        }
        Ok(Self { arrays, state_offsets, tensor_offsets, emission_offsets })
    }

    /// The number of states of a symbol.
    #[inline(always)]
    pub fn states(&self, symbol: SymbolId) -> usize {
        self.arrays.states[symbol.index()] as usize
    }

    /// The root vector of a symbol.
    pub fn root(&self, symbol: SymbolId) -> &[f32] {
        &self.arrays.roots[self.vector(symbol)]
    }

    /// The tensor of a binary rule, by its place in [`Rules::binary`]; the caller knows its shape.
    #[inline(always)]
    pub fn tensor(&self, rule: usize, length: usize) -> &[f32] {
        &self.arrays.binary[self.tensor_offsets[rule]..][..length]
    }

    /// The emission vector of a symbol at a token that it emits with `probability` under the
    /// backbone, as a vector and a factor.
    pub fn emission(
        &self,
        emissions: &Emissions,
        token: Token,
        symbol: SymbolId,
        probability: f64,
    ) -> (&[f32], f64) {
        if let Token::Word(word) | Token::Tagged { word, .. } = token
            && let Some(entry) = emissions.entry(word, symbol)
        {
            let from = self.emission_offsets[entry];
            return (&self.arrays.emissions[from..][..self.states(symbol)], 1.0);
        }
        // A word that the symbol was not seen with is like the average of its words.
        (&self.arrays.tag_emissions[self.vector(symbol)], probability)
    }

    fn vector(&self, symbol: SymbolId) -> std::ops::Range<usize> {
        self.state_offsets[symbol.index()]..self.state_offsets[symbol.index() + 1]
    }
}

fn offsets(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut offsets = vec![0usize];
    let mut end = 0usize;
    for length in lengths {
        end = end.saturating_add(length);
        offsets.push(end);
    }
    offsets
}

fn check_length(array: &'static str, found: usize, expected: usize) -> Result<(), GrammarError> {
    if found != expected {
        return Err(GrammarError::Length { array, expected, found });
    }
    Ok(())
}
