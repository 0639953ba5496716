//! An index from pairs of children to the rules that combine them.
//!
//! The inside pass asks which symbols of the cell to the right can be the right sibling of a given
//! left child. The possible siblings and the symbols of the cell are both bit sets, so one
//! intersection answers for 64 symbols at once. The rank of a common bit in the set of siblings
//! gives the number of the pair; its rank in the set of the cell gives the item.

use super::rules::{Rules, SymbolId};

/// A rule seen from its children.
#[derive(Debug, Clone, Copy)]
pub struct RuleOfPair {
    /// The symbol that is rewritten.
    pub parent: SymbolId,
    /// The probability of the rule given its parent.
    pub probability: f64,
}

/// One word of a bit set of symbols: 64 symbols, and the number that belongs to the first of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct SetWord {
    /// The symbols from `64 * index` on, as bits.
    pub bits: u64,
    /// Which 64 symbols these are.
    pub index: u32,
    /// The number of the item or pair that belongs to the lowest bit that is set.
    pub first: u32,
}

/// All pairs of children that occur in rules, numbered in the order of [`Rules::binary`].
#[derive(Debug, Clone)]
pub struct PairIndex {
    /// For each left child, the set of its right siblings.
    right_siblings: Vec<SetWord>,
    words_per_set: usize,
    offsets: Vec<u32>,
    rules: Vec<RuleOfPair>,
    is_left: Vec<bool>,
}

impl PairIndex {
    /// Index the binary rules, which [`Rules`] keeps sorted by their children.
    pub fn new(rules: &Rules) -> Self {
        let symbols = rules.number_of_symbols();
        let words_per_set = symbols.div_ceil(64);
        let mut right_siblings = vec![SetWord::default(); symbols * words_per_set];
        let mut is_left = vec![false; symbols];
        let mut offsets = Vec::new();
        let mut last = None;
        for (row, rule) in rules.binary().iter().enumerate() {
            let pair = (rule.left, rule.right);
            if last == Some(pair) {
                continue;
            }
            last = Some(pair);
            let right = rule.right.index();
            let word = &mut right_siblings[rule.left.index() * words_per_set + right / 64];
            if word.bits == 0 {
                word.first = offsets.len() as u32;
            }
            word.bits |= 1 << (right % 64);
            word.index = (right / 64) as u32;
            is_left[rule.left.index()] = true;
            offsets.push(row as u32);
        }
        offsets.push(rules.binary().len() as u32);
        let rules = rules
            .binary()
            .iter()
            .map(|rule| RuleOfPair { parent: rule.parent, probability: rule.probability })
            .collect();
        Self { right_siblings, words_per_set, offsets, rules, is_left }
    }

    /// The number of pairs.
    pub fn number_of_pairs(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether any rule has this left child.
    #[inline(always)]
    pub fn is_left(&self, symbol: SymbolId) -> bool {
        self.is_left[symbol.index()]
    }

    /// The pairs with a given left child.
    #[inline(always)]
    pub fn row(&self, left: SymbolId) -> PairRow<'_> {
        let from = left.index() * self.words_per_set;
        PairRow { siblings: &self.right_siblings[from..from + self.words_per_set] }
    }

    /// The numbers of the rules of a pair, in the order of [`Rules::binary`].
    #[inline(always)]
    pub fn rule_numbers(&self, pair: u32) -> std::ops::Range<usize> {
        let pair = pair as usize;
        self.offsets[pair] as usize..self.offsets[pair + 1] as usize
    }

    /// The rules of a pair.
    #[inline(always)]
    pub fn rules(&self, pair: u32) -> &[RuleOfPair] {
        &self.rules[self.rule_numbers(pair)]
    }
}

/// The pairs with one left child.
#[derive(Debug, Clone, Copy)]
pub struct PairRow<'a> {
    siblings: &'a [SetWord],
}

impl PairRow<'_> {
    /// The pair with this right child, if any rule has it.
    #[inline]
    pub fn get(&self, right: SymbolId) -> Option<u32> {
        let word = self.siblings[right.index() / 64];
        let bit = 1u64 << (right.0 % 64);
        (word.bits & bit != 0).then(|| word.first + (word.bits & (bit - 1)).count_ones())
    }

    /// Call `found` with the item and the pair of every right child in `set`.
    #[inline(always)]
    pub fn for_each_match(&self, set: &[SetWord], mut found: impl FnMut(usize, u32)) {
        for word in set {
            let sibling = &self.siblings[word.index as usize];
            let mut common = word.bits & sibling.bits;
            while common != 0 {
                let below = (common & common.wrapping_neg()) - 1;
                let item = word.first + (word.bits & below).count_ones();
                let pair = sibling.first + (sibling.bits & below).count_ones();
                found(item as usize, pair);
                common &= common - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::grammar::BinaryRule;

    proptest! {
        #[test]
        fn finds_every_pair_and_no_other(
            triples in proptest::collection::btree_set((0u32..12, 0u32..12, 0u32..12), 0..80)
        ) {
            let binary: Vec<_> = triples
                .iter()
                .map(|&(parent, left, right)| BinaryRule {
                    parent: SymbolId(parent),
                    left: SymbolId(left),
                    right: SymbolId(right),
                    probability: f64::from(parent + 1) / 12.0,
                })
                .collect();
            let rules = Rules::new(vec![1.0; 12], binary, vec![]).unwrap();
            let index = PairIndex::new(&rules);
            for left in 0..12 {
                for right in 0..12 {
                    let expected: Vec<u32> = triples
                        .iter()
                        .filter(|&&(_, l, r)| (l, r) == (left, right))
                        .map(|&(parent, _, _)| parent)
                        .collect();
                    let found: Vec<u32> = index
                        .row(SymbolId(left))
                        .get(SymbolId(right))
                        .map(|pair| index.rules(pair).iter().map(|rule| rule.parent.0).collect())
                        .unwrap_or_default();
                    prop_assert_eq!(found, expected);
                }
            }
            // The even symbols, as if they were the items of a cell.
            let set = [SetWord { bits: 0x555, index: 0, first: 100 }];
            for left in 0..12 {
                let row = index.row(SymbolId(left));
                let mut found = Vec::new();
                row.for_each_match(&set, |item, pair| found.push((item, pair)));
                let expected: Vec<_> = (0..6)
                    .filter_map(|rank| Some((100 + rank, row.get(SymbolId(2 * rank as u32))?)))
                    .collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
