//! From a pair of children to the rules that combine them, in one probe.

use super::rules::{Rules, SymbolId};

/// A rule seen from its children.
#[derive(Debug, Clone, Copy)]
pub struct RuleOfPair {
    /// The symbol that is rewritten.
    pub parent: SymbolId,
    /// The probability of the rule given its parent.
    pub probability: f64,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    left: u32,
    pair: u32,
}

const NOBODY: u32 = u32::MAX;

/// All pairs of children that occur in rules, numbered, and found by row displacement: the sparse
/// row of each left child is shifted until no two rows collide in one shared table, so that a
/// probe is an addition and a comparison, and the table stays small enough for the cache.
#[derive(Debug, Clone)]
pub struct PairIndex {
    shifts: Vec<u32>,
    slots: Vec<Slot>,
    offsets: Vec<u32>,
    rules: Vec<RuleOfPair>,
}

impl PairIndex {
    /// Index the binary rules, which [`Rules`] keeps sorted by their children.
    pub fn new(rules: &Rules) -> Self {
        let symbols = rules.number_of_symbols();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut offsets = Vec::new();
        for (row, rule) in rules.binary().iter().enumerate() {
            let pair = (rule.left.0, rule.right.0);
            if pairs.last() != Some(&pair) {
                pairs.push(pair);
                offsets.push(row as u32);
            }
        }
        offsets.push(rules.binary().len() as u32);
        let (shifts, slots) = displace(&pairs, symbols);
        let rules = rules
            .binary()
            .iter()
            .map(|rule| RuleOfPair { parent: rule.parent, probability: rule.probability })
            .collect();
        Self { shifts, slots, offsets, rules }
    }

    /// How many pairs there are.
    pub fn number_of_pairs(&self) -> usize {
        self.offsets.len() - 1
    }

    /// A view for looking up many right children beside one left child.
    #[inline]
    pub fn row(&self, left: SymbolId) -> PairRow<'_> {
        PairRow { left: left.0, slots: &self.slots[self.shifts[left.index()] as usize..] }
    }

    /// The rules of a pair.
    #[inline]
    pub fn rules(&self, pair: u32) -> &[RuleOfPair] {
        let pair = pair as usize;
        &self.rules[self.offsets[pair] as usize..self.offsets[pair + 1] as usize]
    }
}

/// The pairs with one left child.
#[derive(Debug, Clone, Copy)]
pub struct PairRow<'a> {
    left: u32,
    slots: &'a [Slot],
}

impl PairRow<'_> {
    /// The pair with this right child, if any rule has it.
    #[inline]
    pub fn get(&self, right: SymbolId) -> Option<u32> {
        let slot = self.slots[right.index()];
        (slot.left == self.left).then_some(slot.pair)
    }
}

/// First-fit placement of rows, longest first.
fn displace(pairs: &[(u32, u32)], symbols: usize) -> (Vec<u32>, Vec<Slot>) {
    let mut rows: Vec<(u32, std::ops::Range<usize>)> = Vec::new();
    for (pair, &(left, _)) in pairs.iter().enumerate() {
        match rows.last_mut() {
            Some((last, range)) if *last == left => range.end = pair + 1,
            _ => rows.push((left, pair..pair + 1)),
        }
    }
    rows.sort_by_key(|(left, range)| (std::cmp::Reverse(range.len()), *left));
    let empty = Slot { left: NOBODY, pair: 0 };
    let mut shifts = vec![0u32; symbols];
    let mut slots = vec![empty; symbols];
    let mut first_free = 0usize;
    for (left, range) in rows {
        while slots.get(first_free).is_some_and(|slot| slot.left != NOBODY) {
            first_free += 1;
        }
        let row = &pairs[range.clone()];
        let mut shift = first_free.saturating_sub(row[0].1 as usize);
        while row.iter().any(|&(_, right)| {
            slots.get(shift + right as usize).is_some_and(|slot| slot.left != NOBODY)
        }) {
            shift += 1;
        }
        // Every probe of this row stays inside the table, hits and misses alike.
        if slots.len() < shift + symbols {
            slots.resize(shift + symbols, empty);
        }
        for (pair, &(_, right)) in range.zip(row) {
            slots[shift + right as usize] = Slot { left, pair: pair as u32 };
        }
        shifts[left as usize] = shift as u32;
    }
    (shifts, slots)
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
                    probability: f64::from(parent + 1),
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
        }
    }
}
