//! The matrices of unary rules over latent states, and of their chains.

use super::latent::{check_length, offsets};
use super::rules::{GrammarError, Rules, SymbolId};
use super::unary::{ParentsOf, UnaryClosure};
use crate::cancel::Cancel;

/// A matrix over the states of its parent, in rows, and of its child for each unary rule, and one
/// for each chain of the [`UnaryClosure`].
#[derive(Debug, Clone)]
pub(super) struct UnaryMatrices {
    /// In the order of [`Rules::unary`].
    rules: Matrices,
    /// In the order of the closure. All chains between two symbols are summed.
    chains: Matrices,
}

#[derive(Debug, Clone)]
struct Matrices {
    offsets: Vec<usize>,
    values: Vec<f32>,
}

impl Matrices {
    #[inline(always)]
    fn get(&self, number: usize) -> &[f32] {
        &self.values[self.offsets[number]..self.offsets[number + 1]]
    }
}

impl UnaryMatrices {
    /// Check, sort and close the matrices of unary rules, given in the order of the rules.
    pub fn new(
        rules: &Rules,
        closure: &UnaryClosure,
        states: impl Fn(SymbolId) -> usize,
        values: &[f32],
        cancel: &Cancel,
    ) -> Result<Self, GrammarError> {
        let size = |row: usize| {
            let rule = &rules.unary()[row];
            states(rule.parent) * states(rule.child)
        };
        let mut given_sizes = vec![0; rules.unary().len()];
        for (row, &given) in rules.unary_order().iter().enumerate() {
            given_sizes[given as usize] = size(row);
        }
        let given_offsets = offsets(given_sizes.into_iter());
        check_length("latent unary rules", values.len(), given_offsets[rules.unary().len()])?;
        let mut sorted = Matrices {
            offsets: offsets((0..rules.unary().len()).map(size)),
            values: Vec::with_capacity(values.len()),
        };
        for &given in rules.unary_order() {
            let given = given as usize;
            sorted.values.extend(&values[given_offsets[given]..given_offsets[given + 1]]);
        }
        let mut chains = Matrices { offsets: vec![0], values: Vec::new() };
        if !closure.is_empty() {
            let parents = ParentsOf::new(rules.number_of_symbols(), rules.unary());
            let matrix = |rule| sorted.get(rule).iter().map(|&value| f64::from(value)).collect();
            for bottom in (0..rules.number_of_symbols() as u32).map(SymbolId) {
                let states = |symbol| states(SymbolId(symbol));
                let sums = parents.sum_chains(bottom.0, states, matrix, cancel)?;
                for chain in closure.chains(bottom) {
                    let length = states(chain.top.0) * states(bottom.0);
                    match sums.get(&chain.top.0) {
                        Some(sum) => chains.values.extend(sum.iter().map(|&value| value as f32)),
                        None => chains.values.resize(chains.values.len() + length, 0.0),
                    }
                    chains.offsets.push(chains.values.len());
                }
            }
        }
        Ok(Self { rules: sorted, chains })
    }

    /// The matrix of a rule, by its index in [`Rules::unary`].
    #[inline(always)]
    pub fn rule(&self, number: usize) -> &[f32] {
        self.rules.get(number)
    }

    /// The matrix of a chain, by its number in the closure.
    #[inline(always)]
    pub fn chain(&self, number: usize) -> &[f32] {
        self.chains.get(number)
    }
}
