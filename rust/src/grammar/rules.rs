//! Symbols and weighted rules, validated.

use std::hash::{Hash, Hasher};

use crate::cancel::Cancelled;

/// A symbol of a grammar. Fine and coarse grammars number their symbols separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub u32);

impl SymbolId {
    /// The id as an index into an array with one element for each symbol.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// `parent -> left right`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BinaryRule {
    /// The symbol that is rewritten.
    pub parent: SymbolId,
    /// Its left child.
    pub left: SymbolId,
    /// Its right child.
    pub right: SymbolId,
    /// The probability of the rule given its parent.
    pub probability: f64,
}

/// `parent -> child`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnaryRule {
    /// The symbol that is rewritten.
    pub parent: SymbolId,
    /// Its only child.
    pub child: SymbolId,
    /// The probability of the rule given its parent.
    pub probability: f64,
}

/// The ways in which a grammar can be invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GrammarError {
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A rule or an emission names a symbol that does not exist.
    #[error("{array} {row} names symbol {symbol}, but there are only {symbols}")]
    Symbol {
        /// Which array.
        array: &'static str,
        /// Which of its rows.
        row: usize,
        /// The symbol it names.
        symbol: u32,
        /// The number of symbols.
        symbols: usize,
    },
    /// A probability is not a number from zero to one.
    #[error("{array} {row} has probability {value}; it must be from 0 to 1")]
    Probability {
        /// Which array.
        array: &'static str,
        /// Which of its rows.
        row: usize,
        /// The value found.
        value: f64,
    },
    /// The count of a symbol is negative, too large or not a number.
    #[error("symbol {symbol} has the count {value}; it must be from 0 to {limit:e}")]
    Count {
        /// The symbol.
        symbol: usize,
        /// The value found.
        value: f64,
        /// The largest count that is possible.
        limit: f64,
    },
    /// An array has the wrong length.
    #[error("{array} has length {found}, expected {expected}")]
    Length {
        /// Which array.
        array: &'static str,
        /// The length it should have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// Offsets do not start at zero, do not ascend or do not end at the length of their data.
    #[error("{array} offsets must start at 0, ascend and end at the length of their data")]
    Offsets {
        /// Which array.
        array: &'static str,
    },
    /// The number of CRF weights is not a power of two, as feature hashing needs it.
    #[error("there are {length} CRF weights; their number must be a power of two")]
    CrfWeights {
        /// Their number.
        length: usize,
    },
    /// A CRF is combined with a grammar that has unary rules.
    #[error("a CRF needs a grammar without unary rules")]
    CrfBackbone,
    /// A CRF weight is too large or not a number.
    #[error("CRF weight {index} is {value}; it must be between -{limit:e} and {limit:e}")]
    CrfWeight {
        /// The index of the weight.
        index: usize,
        /// The value found.
        value: f32,
        /// The largest absolute value that is possible.
        limit: f32,
    },
    /// The weights of a span filter have another number than feature hashing needs.
    #[error("a table of the span filter has {length} rows; their number must be a power of two")]
    FilterWeights {
        /// The number of rows.
        length: usize,
    },
    /// A weight of a span filter is too large or not a number.
    #[error(
        "weight {index} of the span filter is {value}; it must be between -{limit} and {limit}"
    )]
    FilterWeight {
        /// The index of the weight.
        index: usize,
        /// The value found.
        value: f32,
        /// The largest absolute value that is possible.
        limit: f32,
    },
    /// The same rule is given twice.
    #[error("rule {row} ({array}) repeats an earlier one; add their probabilities instead")]
    Duplicate {
        /// Which array.
        array: &'static str,
        /// Which of its rows.
        row: usize,
    },
    /// No symbol can be the root of a tree.
    #[error("no symbol has a positive root probability")]
    NoRoot,
    /// There are more symbols, coarse classes or latent states than can be indexed.
    #[error("{found} {things} are too many; at most {limit} can be indexed")]
    TooMany {
        /// What there is too much of.
        things: &'static str,
        /// Their number.
        found: usize,
        /// The largest number that is possible.
        limit: usize,
    },
    /// A symbol has no latent state.
    #[error("symbol {symbol} has no latent state; it needs one or more")]
    NoStates {
        /// The symbol.
        symbol: u32,
    },
    /// A latent parameter is too large or not a number.
    #[error("{array}: element {row} is {value}; it must be between -{limit:e} and {limit:e}")]
    LatentValue {
        /// Which array.
        array: &'static str,
        /// Which of its elements.
        row: usize,
        /// The value found.
        value: f32,
        /// The largest absolute value that is possible.
        limit: f32,
    },
    /// More values of a rule's tensor are stored than the tensor has.
    #[error("latent binary rule {row}: {found} values are stored, but the tensor has only {size}")]
    TooManyStored {
        /// Which rule.
        row: usize,
        /// The number of stored values.
        found: usize,
        /// The number of values of the tensor.
        size: usize,
    },
    /// The positions of a sparse tensor's values do not ascend or are out of range.
    #[error("latent binary rule {row}: positions must ascend and be below {size}")]
    Positions {
        /// Which rule.
        row: usize,
        /// The size of its tensor.
        size: usize,
    },
    /// The vector of likelihood ratios of an emission does not exist, or belongs to another symbol.
    #[error("emission {row} has likelihood ratios {vector}, which are not those of its symbol")]
    EmissionRatios {
        /// Which emission.
        row: usize,
        /// The number of its vector.
        vector: u32,
    },
    /// Two grammars cannot be members of one ensemble.
    #[error("the grammars of an ensemble must have the same {part}")]
    Backbone {
        /// What differs or is missing.
        part: &'static str,
    },
    /// A cycle of unary rules has probability one or more: sentences have infinite probability.
    #[error("the unary rules from symbol {symbol} form a cycle of probability one or more")]
    UnaryCycle {
        /// A symbol on the cycle.
        symbol: u32,
    },
}

/// The index of pairs of symbols takes a quarter of a byte for each pair: half a gigabyte for this
/// number of symbols.
const MAX_SYMBOLS: usize = 45_000;

/// How far a sum of probabilities may exceed one.
const ROUNDING: f64 = 1e-6;

/// Root probabilities and rules over symbols `0..number_of_symbols`.
#[derive(Debug, Clone)]
pub struct Rules {
    roots: Vec<f64>,
    binary: Vec<BinaryRule>,
    binary_order: Vec<u32>,
    unary: Vec<UnaryRule>,
    unary_order: Vec<u32>,
}

impl Rules {
    /// Check and sort the rules; `roots` has one probability for each symbol.
    pub fn new(
        roots: Vec<f64>,
        binary: Vec<BinaryRule>,
        unary: Vec<UnaryRule>,
    ) -> Result<Self, GrammarError> {
        for (row, &value) in roots.iter().enumerate() {
            check_probability("root", row, value)?;
        }
        for (row, rule) in binary.iter().enumerate() {
            check_probability("binary rule", row, rule.probability)?;
        }
        for (row, rule) in unary.iter().enumerate() {
            check_probability("unary rule", row, rule.probability)?;
        }
        Self::from_sums(roots, binary, unary)
    }

    /// Mix the rules and their probabilities into a hash.
    pub(super) fn hash_into(&self, state: &mut impl Hasher) {
        hash_numbers(&self.roots, state);
        for rule in &self.binary {
            (rule.parent, rule.left, rule.right, rule.probability.to_bits()).hash(state);
        }
        for rule in &self.unary {
            (rule.parent, rule.child, rule.probability.to_bits()).hash(state);
        }
        (self.binary.len(), self.unary.len()).hash(state);
    }

    /// As [`new`](Self::new), for sums of probabilities that were checked. The probabilities of an
    /// improper grammar may sum to more than one.
    pub(super) fn from_sums(
        roots: Vec<f64>,
        binary: Vec<BinaryRule>,
        unary: Vec<UnaryRule>,
    ) -> Result<Self, GrammarError> {
        let symbols = roots.len();
        if symbols > MAX_SYMBOLS {
            return Err(GrammarError::TooMany {
                things: "symbols",
                found: symbols,
                limit: MAX_SYMBOLS,
            });
        }
        if !roots.iter().any(|&value| value > 0.0) {
            return Err(GrammarError::NoRoot);
        }
        for (row, rule) in binary.iter().enumerate() {
            for symbol in [rule.parent, rule.left, rule.right] {
                check_symbol("binary rule", row, symbol.0, symbols)?;
            }
        }
        for (row, rule) in unary.iter().enumerate() {
            for symbol in [rule.parent, rule.child] {
                check_symbol("unary rule", row, symbol.0, symbols)?;
            }
        }
        let mut binary_order: Vec<u32> = (0..binary.len() as u32).collect();
        binary_order.sort_unstable_by_key(|&row| {
            let rule = &binary[row as usize];
            (rule.left, rule.right, rule.parent)
        });
        let binary: Vec<BinaryRule> =
            binary_order.iter().map(|&row| binary[row as usize]).collect();
        let mut unary_order: Vec<u32> = (0..unary.len() as u32).collect();
        unary_order.sort_unstable_by_key(|&row| {
            let rule = &unary[row as usize];
            (rule.child, rule.parent)
        });
        let unary: Vec<UnaryRule> = unary_order.iter().map(|&row| unary[row as usize]).collect();
        let same = |pair: &[BinaryRule]| {
            (pair[0].left, pair[0].right, pair[0].parent)
                == (pair[1].left, pair[1].right, pair[1].parent)
        };
        if let Some(row) = binary.windows(2).position(same) {
            return Err(GrammarError::Duplicate { array: "binary rule", row });
        }
        let same =
            |pair: &[UnaryRule]| (pair[0].child, pair[0].parent) == (pair[1].child, pair[1].parent);
        if let Some(row) = unary.windows(2).position(same) {
            return Err(GrammarError::Duplicate { array: "unary rule", row });
        }
        Ok(Self { roots, binary, binary_order, unary, unary_order })
    }

    /// The number of symbols.
    pub fn number_of_symbols(&self) -> usize {
        self.roots.len()
    }

    /// The probability of each symbol at the root.
    pub fn roots(&self) -> &[f64] {
        &self.roots
    }

    /// Binary rules, sorted by left child, right child and parent.
    pub fn binary(&self) -> &[BinaryRule] {
        &self.binary
    }

    /// For each of [`binary`](Self::binary), its index among the rules as they were given.
    pub fn binary_order(&self) -> &[u32] {
        &self.binary_order
    }

    /// Unary rules, sorted by child and parent.
    pub fn unary(&self) -> &[UnaryRule] {
        &self.unary
    }

    /// For each of [`unary`](Self::unary), its index among the rules as they were given.
    pub fn unary_order(&self) -> &[u32] {
        &self.unary_order
    }
}

/// Mix numbers into a hash by their bits.
pub(super) fn hash_numbers(numbers: &[f64], state: &mut impl Hasher) {
    numbers.len().hash(state);
    numbers.iter().for_each(|number| number.to_bits().hash(state));
}

pub(super) fn check_symbol(
    array: &'static str,
    row: usize,
    symbol: u32,
    symbols: usize,
) -> Result<(), GrammarError> {
    if symbol as usize >= symbols {
        return Err(GrammarError::Symbol { array, row, symbol, symbols });
    }
    Ok(())
}

pub(super) fn check_probability(
    array: &'static str,
    row: usize,
    value: f64,
) -> Result<(), GrammarError> {
    if !(0.0..=1.0 + ROUNDING).contains(&value) {
        return Err(GrammarError::Probability { array, row, value });
    }
    Ok(())
}
