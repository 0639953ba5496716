//! The coarse grammar of the first pruning pass: symbols are merged into classes, and rule
//! probabilities are averaged.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHashMap;

use super::rules::{BinaryRule, GrammarError, Rules, SymbolId, UnaryRule, hash_numbers};
use super::unary::UnaryClosure;

/// The largest count of a symbol: more than any treebank has nodes, and sums of counts are exact.
const MAX_COUNT: f64 = 1e15;

/// A grammar over classes of symbols. The probability of a rule is the average over the symbols of
/// its parent's class, weighted by their frequencies.
#[derive(Debug, Clone)]
pub struct Projection {
    map: Vec<SymbolId>,
    fraction: Vec<f64>,
    rules: Rules,
    uses: Uses,
}

impl Projection {
    /// Merge the symbols that `map` gives the same class; `weights` are their frequencies.
    pub fn new(
        rules: &Rules,
        closure: &UnaryClosure,
        map: &[u32],
        weights: &[f64],
    ) -> Result<Self, GrammarError> {
        let symbols = rules.number_of_symbols();
        for (array, found) in [("coarse map", map.len()), ("symbol weights", weights.len())] {
            if found != symbols {
                return Err(GrammarError::Length { array, expected: symbols, found });
            }
        }
        for (row, &weight) in weights.iter().enumerate() {
            if !(0.0..=MAX_COUNT).contains(&weight) {
                return Err(GrammarError::Count { symbol: row, value: weight, limit: MAX_COUNT });
            }
        }
        let classes = map.iter().max().map_or(0, |&class| class as usize + 1);
        if classes > symbols {
            // Classes are numbered without large gaps: a typo must not make a huge sparse grammar.
            return Err(GrammarError::Length {
                array: "coarse classes",
                expected: symbols,
                found: classes,
            });
        }
        let mut class_weight = vec![0.0; classes];
        let mut class_size = vec![0usize; classes];
        for (&class, &weight) in map.iter().zip(weights) {
            class_weight[class as usize] += weight;
            class_size[class as usize] += 1;
        }
        // The symbols of a class that was never counted have equal weights.
        let fraction: Vec<f64> = map
            .iter()
            .zip(weights)
            .map(|(&class, &weight)| match class_weight[class as usize] {
                total if total > 0.0 => weight / total,
                _ => 1.0 / class_size[class as usize] as f64,
            })
            .collect();
        let map: Vec<SymbolId> = map.iter().copied().map(SymbolId).collect();

        let mut roots = vec![0.0; classes];
        for (class, &root) in map.iter().zip(rules.roots()) {
            roots[class.index()] += root;
        }
        let mut binary: FxHashMap<[SymbolId; 3], f64> = FxHashMap::default();
        for rule in rules.binary() {
            let key = [rule.parent, rule.left, rule.right].map(|symbol| map[symbol.index()]);
            *binary.entry(key).or_default() += fraction[rule.parent.index()] * rule.probability;
        }
        let mut unary: FxHashMap<[SymbolId; 2], f64> = FxHashMap::default();
        for rule in rules.unary() {
            let key = [rule.parent, rule.child].map(|symbol| map[symbol.index()]);
            *unary.entry(key).or_default() += fraction[rule.parent.index()] * rule.probability;
        }
        let binary = binary
            .into_iter()
            .map(|([parent, left, right], probability)| BinaryRule {
                parent,
                left,
                right,
                probability,
            })
            .collect();
        let unary = unary
            .into_iter()
            .map(|([parent, child], probability)| UnaryRule { parent, child, probability })
            .collect();
        let uses = Uses::new(rules, closure, &map, classes);
        let rules = Rules::from_sums(roots, binary, unary)?;
        Ok(Self { map, fraction, rules, uses })
    }

    /// Mix the classes, from which and from the grammar everything else follows, into a hash.
    pub(super) fn hash_into(&self, state: &mut impl Hasher) {
        self.map.hash(state);
        hash_numbers(&self.fraction, state);
    }

    /// The possible parents of symbols.
    pub fn uses(&self) -> &Uses {
        &self.uses
    }

    /// The class of a symbol.
    #[inline]
    pub fn class(&self, symbol: SymbolId) -> SymbolId {
        self.map[symbol.index()]
    }

    /// The frequency of a symbol divided by that of its class.
    #[inline]
    pub fn fraction(&self, symbol: SymbolId) -> f64 {
        self.fraction[symbol.index()]
    }

    /// The rules over classes.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }
}

/// For each symbol the classes of its possible parents, as bit sets. The PCFG pass skips symbols
/// none of whose possible parents survived the coarse pass.
#[derive(Debug, Clone)]
pub struct Uses {
    as_left: Vec<u64>,
    as_right: Vec<u64>,
    as_root: Vec<bool>,
    words_per_set: usize,
}

impl Uses {
    fn new(rules: &Rules, closure: &UnaryClosure, map: &[SymbolId], classes: usize) -> Self {
        let words_per_set = classes.div_ceil(64);
        let symbols = rules.number_of_symbols();
        let mut as_left = vec![0u64; symbols * words_per_set];
        let mut as_right = as_left.clone();
        let mut as_root: Vec<bool> = rules.roots().iter().map(|&root| root > 0.0).collect();
        for rule in rules.binary() {
            let class = map[rule.parent.index()].index();
            let (word, bit) = (class / 64, 1 << (class % 64));
            as_left[rule.left.index() * words_per_set + word] |= bit;
            as_right[rule.right.index() * words_per_set + word] |= bit;
        }
        if !closure.is_empty() {
            // At the bottom of a unary chain, a symbol has the parents of the symbols above it.
            let (own_left, own_right, own_root) =
                (as_left.clone(), as_right.clone(), as_root.clone());
            for (bottom, root) in as_root.iter_mut().enumerate() {
                for chain in closure.chains(SymbolId(bottom as u32)) {
                    let top = chain.top.index();
                    for word in 0..words_per_set {
                        let (from, to) =
                            (top * words_per_set + word, bottom * words_per_set + word);
                        as_left[to] |= own_left[from];
                        as_right[to] |= own_right[from];
                    }
                    *root |= own_root[top];
                }
            }
        }
        Self { as_left, as_right, as_root, words_per_set }
    }

    /// Whether `symbol` can be the root of a tree, or is connected to a root by unary rules.
    #[inline(always)]
    pub fn as_root(&self, symbol: SymbolId) -> bool {
        self.as_root[symbol.index()]
    }

    /// Whether `symbol` can be the left child of a class in the first set or the right child of
    /// one in the second.
    #[inline(always)]
    pub fn as_child(&self, symbol: SymbolId, to_the_right: &[u64], to_the_left: &[u64]) -> bool {
        let from = symbol.index() * self.words_per_set;
        (0..self.words_per_set).any(|word| {
            self.as_left[from + word] & to_the_right[word] != 0
                || self.as_right[from + word] & to_the_left[word] != 0
        })
    }
}
