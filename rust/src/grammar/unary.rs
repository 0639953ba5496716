//! Unary rules closed over chains of any length.
//!
//! Let U be the matrix of unary probabilities, parents in rows. All chains of unary rules from `a`
//! down to `b` together have probability N[a, b] with N = I + U + U^2 + ... (Stolcke 1995). Inside
//! vectors are multiplied by N once per cell, and outside vectors by its transpose. Trees use the
//! most probable chain of each pair. With latent states, U and N have a matrix over the states of
//! `a` and `b` in place of each number.

use std::collections::{BTreeMap, BinaryHeap};

use super::rules::{GrammarError, SymbolId, UnaryRule};
use crate::cancel::Cancel;

/// The series has converged when its terms are below this fraction of their sums.
const CONVERGED: f64 = 1e-18;

/// A series with this number of terms, or with a term above this value, is taken to diverge.
const MAX_TERMS: usize = 1_000_000;
const MAX_MASS: f64 = 1e9;

/// One element of the closure: the chains from `top` down to a given bottom symbol.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chain {
    /// The symbol at the top of the chain.
    pub top: SymbolId,
    /// The summed probability of all chains, the empty one included if `top` is the bottom.
    pub total: f64,
    /// The log-probability of the best chain (zero for the empty one).
    pub best: f64,
    path: (u32, u32),
}

/// The closure of the unary rules, by bottom symbol.
#[derive(Debug, Clone)]
pub struct UnaryClosure {
    offsets: Vec<u32>,
    chains: Vec<Chain>,
    paths: Vec<SymbolId>,
}

impl UnaryClosure {
    /// Close the rules over chains; fails if a cycle has probability one or more.
    pub fn new(symbols: usize, rules: &[UnaryRule], cancel: &Cancel) -> Result<Self, GrammarError> {
        if rules.is_empty() {
            return Ok(Self { offsets: Vec::new(), chains: Vec::new(), paths: Vec::new() });
        }
        let parents = ParentsOf::new(symbols, rules);
        let mut closure = Self { offsets: vec![0], chains: Vec::new(), paths: Vec::new() };
        for bottom in 0..symbols as u32 {
            let probability = |rule: usize| vec![rules[rule].probability];
            let total = parents.sum_chains(bottom, |_| 1, probability, cancel)?;
            let best = parents.best_chains(bottom);
            for (top, next) in best {
                let start = closure.paths.len() as u32;
                // The path of `top` is itself followed by that of the next symbol below it.
                closure.paths.push(SymbolId(top));
                if let Some(below) = next.below {
                    let row = *closure.offsets.last().expect("starts with one") as usize;
                    let chain = closure.chains[row..]
                        .iter()
                        .find(|chain| chain.top.0 == below)
                        .expect("better chains come first");
                    let (from, to) = chain.path;
                    closure.paths.extend_from_within(from as usize..to as usize);
                }
                closure.chains.push(Chain {
                    top: SymbolId(top),
                    total: total.get(&top).map_or(0.0, |sum| sum[0]),
                    best: next.log_probability,
                    path: (start, closure.paths.len() as u32),
                });
            }
            closure.offsets.push(closure.chains.len() as u32);
        }
        Ok(closure)
    }

    /// Whether there are no unary rules, so that the closure changes nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// All chains that end in `bottom`, the empty one included.
    #[inline]
    pub fn chains(&self, bottom: SymbolId) -> &[Chain] {
        &self.chains[self.numbers(bottom)]
    }

    /// The numbers of all chains that end in `bottom`, in the same order.
    #[inline]
    pub fn numbers(&self, bottom: SymbolId) -> std::ops::Range<usize> {
        let row = bottom.index();
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// A chain by its number.
    #[inline]
    pub fn chain(&self, number: usize) -> &Chain {
        &self.chains[number]
    }

    /// The best chain between two symbols, from top to bottom, both included.
    pub fn path(&self, chain: &Chain) -> &[SymbolId] {
        &self.paths[chain.path.0 as usize..chain.path.1 as usize]
    }
}

/// Unary rules by child.
pub(super) struct ParentsOf<'a> {
    offsets: Vec<usize>,
    rules: &'a [UnaryRule],
}

/// The first step of the best chain from a symbol down to the bottom.
#[derive(Clone, Copy)]
struct Step {
    log_probability: f64,
    below: Option<u32>,
}

impl<'a> ParentsOf<'a> {
    /// `rules` are sorted by child.
    pub(super) fn new(symbols: usize, rules: &'a [UnaryRule]) -> Self {
        let offsets = (0..=symbols as u32)
            .map(|child| rules.partition_point(|rule| rule.child.0 < child))
            .collect();
        Self { offsets, rules }
    }

    fn numbers(&self, child: u32) -> std::ops::Range<usize> {
        self.offsets[child as usize]..self.offsets[child as usize + 1]
    }

    /// Sum the series for one bottom symbol: for each symbol that chains reach, the matrix of all
    /// chains down to the bottom, states of the top in rows. `matrix` gives that of each rule, and
    /// `states` the number of states of each symbol.
    pub(super) fn sum_chains(
        &self,
        bottom: u32,
        states: impl Fn(u32) -> usize,
        matrix: impl Fn(usize) -> Vec<f64>,
        cancel: &Cancel,
    ) -> Result<BTreeMap<u32, Vec<f64>>, GrammarError> {
        let columns = states(bottom);
        let identity = (0..columns * columns)
            .map(|place| if place % (columns + 1) == 0 { 1.0 } else { 0.0 })
            .collect::<Vec<f64>>();
        let mut sums = BTreeMap::from([(bottom, identity.clone())]);
        let mut layer = BTreeMap::from([(bottom, identity)]);
        for _ in 0..MAX_TERMS {
            cancel.check()?;
            let mut next: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for (&child, below) in &layer {
                for number in self.numbers(child) {
                    let parent = self.rules[number].parent.0;
                    let term =
                        next.entry(parent).or_insert_with(|| vec![0.0; states(parent) * columns]);
                    add_product(term, &matrix(number), below, columns);
                }
            }
            next.retain(|symbol, term| {
                largest(term) > CONVERGED * sums.get(symbol).map_or(0.0, |sum| largest(sum))
            });
            if next.is_empty() {
                return Ok(sums);
            }
            if next.values().any(|term| largest(term) > MAX_MASS) {
                break;
            }
            for (&symbol, term) in &next {
                let sum = sums.entry(symbol).or_insert_with(|| vec![0.0; term.len()]);
                for (sum, value) in sum.iter_mut().zip(term) {
                    *sum += value;
                }
            }
            layer = next;
        }
        Err(GrammarError::UnaryCycle { symbol: bottom })
    }

    /// The best chains that end in `bottom`, best first, by Dijkstra's algorithm.
    fn best_chains(&self, bottom: u32) -> Vec<(u32, Step)> {
        let mut done: Vec<(u32, Step)> = Vec::new();
        let mut queue =
            BinaryHeap::from([Candidate { log_probability: 0.0, symbol: bottom, below: None }]);
        while let Some(candidate) = queue.pop() {
            if done.iter().any(|&(symbol, _)| symbol == candidate.symbol) {
                continue;
            }
            let Candidate { log_probability, symbol, below } = candidate;
            done.push((symbol, Step { log_probability, below }));
            let rules = &self.rules[self.numbers(symbol)];
            for rule in rules.iter().filter(|rule| rule.probability > 0.0) {
                queue.push(Candidate {
                    log_probability: log_probability + rule.probability.ln(),
                    symbol: rule.parent.0,
                    below: Some(symbol),
                });
            }
        }
        done
    }
}

/// The largest absolute value of a matrix.
fn largest(matrix: &[f64]) -> f64 {
    matrix.iter().fold(0.0, |largest, value| value.abs().max(largest))
}

/// Add the product of two matrices, the second with this number of `columns`, to a matrix.
fn add_product(sum: &mut [f64], left: &[f64], right: &[f64], columns: usize) {
    let inner = right.len() / columns;
    for (row, left) in sum.chunks_exact_mut(columns).zip(left.chunks_exact(inner)) {
        for (&value, right) in left.iter().zip(right.chunks_exact(columns)) {
            for (sum, &other) in row.iter_mut().zip(right) {
                *sum += value * other;
            }
        }
    }
}

#[derive(PartialEq)]
struct Candidate {
    log_probability: f64,
    symbol: u32,
    below: Option<u32>,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |c: &Self| (std::cmp::Reverse(c.symbol), std::cmp::Reverse(c.below));
        self.log_probability
            .total_cmp(&other.log_probability)
            .then_with(|| key(self).cmp(&key(other)))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::Cancelled;

    fn closed(symbols: usize, rules: &[UnaryRule]) -> Result<UnaryClosure, GrammarError> {
        UnaryClosure::new(symbols, rules, &Cancel::new())
    }

    fn rule(parent: u32, child: u32, probability: f64) -> UnaryRule {
        UnaryRule { parent: SymbolId(parent), child: SymbolId(child), probability }
    }

    #[test]
    fn sums_all_chains_and_keeps_the_best() {
        // Two ways from 0 down to 3: 0.5 * 0.5 and 0.1.
        let mut rules = vec![rule(0, 1, 0.5), rule(1, 3, 0.5), rule(0, 3, 0.1)];
        rules.sort_by_key(|rule| (rule.child, rule.parent));
        let closure = closed(4, &rules).unwrap();
        let chain = *closure.chains(SymbolId(3)).iter().find(|chain| chain.top.0 == 0).unwrap();
        assert!((chain.total - 0.35).abs() < 1e-15);
        assert!((chain.best - 0.25f64.ln()).abs() < 1e-15);
        assert_eq!(closure.path(&chain), [SymbolId(0), SymbolId(1), SymbolId(3)]);
        assert_eq!(closure.chains(SymbolId(2)).len(), 1);
    }

    #[test]
    fn sums_cycles_as_a_geometric_series() {
        let rules = [rule(1, 0, 0.5), rule(0, 1, 0.5)];
        let closure = closed(2, &rules).unwrap();
        let own = closure.chains(SymbolId(0)).iter().find(|chain| chain.top.0 == 0).unwrap();
        assert!((own.total - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!(own.best, 0.0);
    }

    #[test]
    fn sums_cycles_that_hardly_lose_anything() {
        let rules = [rule(1, 0, 1.0), rule(0, 1, 0.999)];
        let closure = closed(2, &rules).unwrap();
        let own = closure.chains(SymbolId(0)).iter().find(|chain| chain.top.0 == 0).unwrap();
        assert!((own.total - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn refuses_a_cycle_that_keeps_all_its_probability() {
        let rules = [rule(1, 0, 1.0), rule(0, 1, 1.0)];
        assert_eq!(closed(2, &rules).unwrap_err(), GrammarError::UnaryCycle { symbol: 0 });
    }

    #[test]
    fn a_raised_flag_stops_a_series_that_hardly_ends() {
        let cancel = Cancel::new();
        cancel.cancel();
        let rules = [rule(1, 0, 1.0), rule(0, 1, 0.99999)];
        let stopped = UnaryClosure::new(2, &rules, &cancel).unwrap_err();
        assert_eq!(stopped, GrammarError::Cancelled(Cancelled));
    }
}
