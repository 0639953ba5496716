//! The coarse grammar of the first pruning pass: symbols merged, rule probabilities averaged.

use rustc_hash::FxHashMap;

use super::rules::{BinaryRule, GrammarError, Rules, SymbolId, UnaryRule, check_probability};

/// A grammar over classes of symbols, each rule weighted by how often its parent is expected.
#[derive(Debug, Clone)]
pub struct Projection {
    map: Vec<SymbolId>,
    share: Vec<f64>,
    rules: Rules,
}

impl Projection {
    /// Merge the symbols that `map` gives the same class; `weights` are their frequencies.
    pub fn new(rules: &Rules, map: &[u32], weights: &[f64]) -> Result<Self, GrammarError> {
        let symbols = rules.number_of_symbols();
        for (array, found) in [("coarse map", map.len()), ("symbol weights", weights.len())] {
            if found != symbols {
                return Err(GrammarError::Length { array, expected: symbols, found });
            }
        }
        for (row, &weight) in weights.iter().enumerate() {
            check_probability("symbol weight", row, weight)?;
        }
        let classes = map.iter().max().map_or(0, |&class| class as usize + 1);
        if classes > symbols {
            // Every class is used, or the map would make a huge sparse grammar out of a typo.
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
        // A class whose members were never counted shares its weight evenly.
        let share: Vec<f64> = map
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
            *binary.entry(key).or_default() += share[rule.parent.index()] * rule.probability;
        }
        let mut unary: FxHashMap<[SymbolId; 2], f64> = FxHashMap::default();
        for rule in rules.unary() {
            let key = [rule.parent, rule.child].map(|symbol| map[symbol.index()]);
            *unary.entry(key).or_default() += share[rule.parent.index()] * rule.probability;
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
        let rules = Rules::new(roots, binary, unary)?;
        Ok(Self { map, share, rules })
    }

    /// The class of a symbol.
    #[inline]
    pub fn class(&self, symbol: SymbolId) -> SymbolId {
        self.map[symbol.index()]
    }

    /// The part that a symbol has in the frequency of its class.
    #[inline]
    pub fn share(&self, symbol: SymbolId) -> f64 {
        self.share[symbol.index()]
    }

    /// The rules over classes.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }
}
