//! Grammars for parsing: PCFGs, and PCFGs with latent states (L-PCFGs, Matsuzaki et al. 2005).
//!
//! A [`Grammar`] has validated [`Rules`], indexed by pairs of children ([`PairIndex`]); unary rules
//! closed over chains ([`UnaryClosure`]); the [`Emissions`] of the lexicon; the [`Output`] labels
//! of symbols; optionally a coarse [`Projection`] for the first pruning pass, and the parameters
//! over latent states ([`Latent`]).

mod emissions;
mod latent;
mod pairs;
mod projection;
mod rules;
mod tensors;
mod unary;
mod unary_matrices;

pub use emissions::{Emissions, Token};
pub use latent::{Latent, LatentArrays};
pub use pairs::{PairIndex, RuleOfPair, SetWord};
pub use projection::{Projection, Uses};
pub use rules::{BinaryRule, GrammarError, Rules, SymbolId, UnaryRule};
pub use unary::UnaryClosure;

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::cancel::Cancel;
use crate::treebank::interner::Interner;

/// For each symbol, the labels that it stands for in a tree, from the top of a unary chain to the
/// bottom. A tag and a phrase label are different labels, even if they have the same name.
///
/// The symbol of a binarisation node has no labels, so that its children become those of its
/// parent.
#[derive(Debug, Clone)]
pub struct Output {
    offsets: Vec<u32>,
    labels: Vec<u32>,
    number_of_labels: usize,
    chains: Vec<u32>,
    number_of_chains: usize,
}

impl Output {
    /// The label chains of all symbols, one after the other.
    pub fn new(offsets: Vec<u32>, labels: Vec<u32>) -> Result<Self, GrammarError> {
        let ascending = offsets.first() == Some(&0)
            && offsets.windows(2).all(|pair| pair[0] <= pair[1])
            && offsets.last().map(|&end| end as usize) == Some(labels.len());
        if !ascending {
            return Err(GrammarError::Offsets { array: "output" });
        }
        let number_of_labels = labels.iter().max().map_or(0, |&label| label as usize + 1);
        // As in the coarse projection: numbers have no large gaps.
        let limit = labels.len() + offsets.len();
        if number_of_labels > limit {
            let (array, found) = ("output label names", number_of_labels);
            return Err(GrammarError::Length { array, expected: limit, found });
        }
        let mut distinct: Interner<Vec<u32>> = Interner::default();
        let chains = offsets
            .windows(2)
            .map(|ends| distinct.intern(&labels[ends[0] as usize..ends[1] as usize]))
            .collect();
        let number_of_chains = distinct.len();
        Ok(Self { offsets, labels, number_of_labels, chains, number_of_chains })
    }

    /// The labels that `symbol` writes.
    pub fn labels(&self, symbol: SymbolId) -> &[u32] {
        let row = symbol.index();
        &self.labels[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The number of the chain of labels that `symbol` writes. Symbols with the same number write
    /// the same labels.
    #[inline]
    pub fn chain(&self, symbol: SymbolId) -> u32 {
        self.chains[symbol.index()]
    }

    /// The number of different chains.
    pub fn number_of_chains(&self) -> usize {
        self.number_of_chains
    }

    /// One more than the largest label.
    pub fn number_of_labels(&self) -> usize {
        self.number_of_labels
    }

    fn number_of_symbols(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// A grammar ready for parsing.
#[derive(Debug, Clone)]
pub struct Grammar {
    rules: Rules,
    pairs: PairIndex,
    unary: UnaryClosure,
    emissions: Emissions,
    output: Output,
    projection: Option<Projection>,
    latent: Option<Latent>,
}

impl Grammar {
    /// Index `rules` for parsing.
    ///
    /// With a `coarse` map (a coarse symbol for each symbol, and each symbol's expected frequency)
    /// parsing starts with a pass over the projected grammar.
    pub fn new(
        rules: Rules,
        emissions: Emissions,
        output: Output,
        coarse: Option<(&[u32], &[f64])>,
        cancel: &Cancel,
    ) -> Result<Self, GrammarError> {
        let symbols = rules.number_of_symbols();
        if output.number_of_symbols() != symbols {
            return Err(GrammarError::Length {
                array: "output",
                expected: symbols,
                found: output.number_of_symbols(),
            });
        }
        emissions.check(symbols)?;
        let unary = UnaryClosure::new(symbols, rules.unary(), cancel)?;
        let projection = coarse
            .map(|(map, weights)| Projection::new(&rules, &unary, map, weights))
            .transpose()?;
        let pairs = PairIndex::new(&rules);
        Ok(Self { rules, pairs, unary, emissions, output, projection, latent: None })
    }

    /// The same grammar with latent states.
    pub fn with_latent(
        self,
        arrays: LatentArrays<'_>,
        cancel: &Cancel,
    ) -> Result<Self, GrammarError> {
        let latent = Latent::new(&self.rules, &self.unary, &self.emissions, arrays, cancel)?;
        let latent = Some(latent);
        Ok(Self { latent, ..self })
    }

    /// The same grammar without latent states.
    pub fn without_latent(&self) -> Self {
        Self {
            rules: self.rules.clone(),
            pairs: self.pairs.clone(),
            unary: self.unary.clone(),
            emissions: self.emissions.clone(),
            output: self.output.clone(),
            projection: self.projection.clone(),
            latent: None,
        }
    }

    /// Check that another grammar can be in one ensemble with this one. Both must have latent
    /// states, the same rules, and the same numbers of symbols, words and tags.
    pub(crate) fn check_backbone(&self, other: &Self) -> Result<(), GrammarError> {
        let symbols = |rule: &BinaryRule| (rule.parent, rule.left, rule.right);
        let rules = self.rules.binary().iter().map(symbols);
        let unary_symbols = |rule: &UnaryRule| (rule.parent, rule.child);
        let unary_rules = self.rules.unary().iter().map(unary_symbols);
        let (own, others) = (&self.emissions, &other.emissions);
        let parts = [
            ("latent states", self.latent.is_some() && other.latent.is_some()),
            ("symbols", self.rules.number_of_symbols() == other.rules.number_of_symbols()),
            ("binary rules", rules.eq(other.rules.binary().iter().map(symbols))),
            ("unary rules", unary_rules.eq(other.rules.unary().iter().map(unary_symbols))),
            ("words", own.number_of_words() == others.number_of_words()),
            ("tags", own.number_of_tags() == others.number_of_tags()),
        ];
        match parts.iter().find(|part| !part.1) {
            Some(&(part, _)) => Err(GrammarError::Backbone { part }),
            None => Ok(()),
        }
    }

    /// A hash of everything that the passes before the latent one read: rules and roots with their
    /// probabilities, emissions, and coarse classes. It is the same within one process only.
    pub(crate) fn backbone_hash(&self) -> u64 {
        let mut state = DefaultHasher::new();
        self.rules.hash_into(&mut state);
        self.emissions.hash_into(&mut state);
        self.projection.is_some().hash(&mut state);
        if let Some(projection) = &self.projection {
            projection.hash_into(&mut state);
        }
        state.finish()
    }

    /// Parameters over latent states, if there are any.
    pub fn latent(&self) -> Option<&Latent> {
        self.latent.as_ref()
    }

    /// Parameters over latent states, and the factor ([`Latent::damping`]) of a damped model if a
    /// number is given.
    pub fn latent_damped(&self, number: Option<usize>) -> Option<(&Latent, f32)> {
        let latent = self.latent()?;
        latent.damping(number).map(|factor| (latent, factor))
    }

    /// The rules as given.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Binary rules by their pair of children.
    pub fn pairs(&self) -> &PairIndex {
        &self.pairs
    }

    /// Unary rules, closed over chains.
    pub fn unary(&self) -> &UnaryClosure {
        &self.unary
    }

    /// Which preterminals emit which words and tags.
    pub fn emissions(&self) -> &Emissions {
        &self.emissions
    }

    /// The labels that symbols write in trees.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// The coarse grammar of the first pruning pass, if there is one.
    pub fn projection(&self) -> Option<&Projection> {
        self.projection.as_ref()
    }
}
