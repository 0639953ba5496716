//! Small random grammars, and the enumeration of all derivations of short sentences.

#![allow(dead_code, reason = "each test uses a part")]

pub mod latent_case;

use std::collections::HashMap;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::decode::Node;
use lpcfg_core::grammar::{BinaryRule, Emissions, Grammar, Output, Rules, SymbolId, UnaryRule};
use lpcfg_core::parser::{Combine, Decoder, Options};
use proptest::prelude::*;

/// A derivation: its nodes in pre-order and the product of its probabilities.
#[derive(Debug, Clone)]
pub struct Derived {
    pub nodes: Vec<(u32, usize, usize)>,
    pub probability: f64,
}

/// A small grammar as plain lists, and a sentence of it.
#[derive(Debug, Clone)]
pub struct Case {
    pub symbols: u32,
    pub roots: Vec<f64>,
    pub binary: Vec<(u32, u32, u32, f64)>,
    pub unary: Vec<(u32, u32, f64)>,
    /// `emissions[word]` lists preterminals and probabilities.
    pub emissions: Vec<Vec<(u32, f64)>>,
    pub labels: Vec<Vec<u32>>,
    pub coarse: Vec<u32>,
    pub weights: Vec<f64>,
    pub sentence: Vec<u32>,
}

const WORDS: u32 = 3;

/// Options without any limit or pruning, and with marginals.
pub fn exact(decoder: Decoder) -> Options {
    Options {
        decoder,
        combine: Combine::Posteriors,
        coarse_threshold: 0.0,
        span_recall: 1.0,
        member_threshold: 0.0,
        threshold: 0.0,
        memory: usize::MAX,
        candidates: 1,
        max_length: usize::MAX,
        timeout: None,
        marginals: true,
        times: false,
    }
}

pub fn probability() -> impl Strategy<Value = f64> {
    0.05f64..1.0
}

pub fn case(with_unary: bool) -> impl Strategy<Value = Case> {
    (3u32..6).prop_flat_map(move |symbols| {
        let triple = (0..symbols, 0..symbols, 0..symbols);
        let count = symbols as usize;
        // Each symbol has at most one unary parent, of a lower number: chains are unique.
        let unary = if with_unary {
            proptest::collection::vec(
                proptest::option::weighted(0.5, (0u32..symbols, probability())),
                count,
            )
            .boxed()
        } else {
            Just(vec![None; count]).boxed()
        };
        (
            proptest::collection::vec(prop_oneof![Just(0.0), probability()], count),
            proptest::collection::btree_map(triple, probability(), 3..16),
            unary,
            proptest::collection::vec(
                proptest::collection::btree_map(0..symbols, probability(), 1..3),
                WORDS as usize,
            ),
            proptest::collection::vec(proptest::collection::vec(0u32..3, 0..3), count),
            proptest::collection::vec(0..symbols, count),
            proptest::collection::vec(probability(), count),
            proptest::collection::vec(0..WORDS, 1..6),
        )
            .prop_map(
                move |(mut roots, binary, unary, emissions, labels, coarse, weights, sentence)| {
                    roots[0] = 0.7;
                    Case {
                        symbols,
                        roots,
                        binary: binary.into_iter().map(|((a, b, c), p)| (a, b, c, p)).collect(),
                        unary: unary
                            .into_iter()
                            .enumerate()
                            .filter_map(|(child, parent)| {
                                let (parent, p) = parent?;
                                (parent < child as u32).then_some((parent, child as u32, p))
                            })
                            .collect(),
                        emissions: emissions
                            .into_iter()
                            .map(|word| word.into_iter().collect())
                            .collect(),
                        labels,
                        coarse,
                        weights,
                        sentence,
                    }
                },
            )
    })
}

impl Case {
    pub fn grammar(&self, coarse: bool) -> Grammar {
        let binary = self
            .binary
            .iter()
            .map(|&(parent, left, right, probability)| BinaryRule {
                parent: SymbolId(parent),
                left: SymbolId(left),
                right: SymbolId(right),
                probability,
            })
            .collect();
        let unary = self
            .unary
            .iter()
            .map(|&(parent, child, probability)| UnaryRule {
                parent: SymbolId(parent),
                child: SymbolId(child),
                probability,
            })
            .collect();
        let rules = Rules::new(self.roots.clone(), binary, unary).unwrap();
        let mut offsets = vec![0];
        let (mut symbols, mut probabilities) = (Vec::new(), Vec::new());
        for word in &self.emissions {
            for &(symbol, probability) in word {
                symbols.push(symbol);
                probabilities.push(probability);
            }
            offsets.push(symbols.len());
        }
        let tags: Vec<i32> = (0..self.symbols as i32).collect();
        let emissions = Emissions::new(offsets, symbols, probabilities, &tags).unwrap();
        let mut offsets = vec![0];
        let mut labels = Vec::new();
        for chain in &self.labels {
            labels.extend(chain);
            offsets.push(labels.len() as u32);
        }
        let output = Output::new(offsets, labels).unwrap();
        let map = coarse.then_some((&self.coarse[..], &self.weights[..]));
        Grammar::new(rules, emissions, output, map, &Cancel::new()).unwrap()
    }

    pub fn words(&self) -> Vec<Vec<(SymbolId, f64)>> {
        self.sentence
            .iter()
            .map(|&word| {
                self.emissions[word as usize].iter().map(|&(s, p)| (SymbolId(s), p)).collect()
            })
            .collect()
    }

    /// All derivations of a symbol over a span.
    pub fn derive(&self, symbol: u32, start: usize, end: usize) -> Vec<Derived> {
        let mut all = Vec::new();
        let own = (symbol, start, end);
        if end - start == 1 {
            let word = self.sentence[start] as usize;
            for &(_, probability) in self.emissions[word].iter().filter(|entry| entry.0 == symbol) {
                all.push(Derived { nodes: vec![own], probability });
            }
        }
        for &(_, child, p) in self.unary.iter().filter(|rule| rule.0 == symbol) {
            for below in self.derive(child, start, end) {
                let mut nodes = vec![own];
                nodes.extend(below.nodes);
                all.push(Derived { nodes, probability: p * below.probability });
            }
        }
        for &(_, left, right, p) in self.binary.iter().filter(|rule| rule.0 == symbol) {
            for split in start + 1..end {
                let lefts = self.derive(left, start, split);
                if lefts.is_empty() {
                    continue;
                }
                for second in self.derive(right, split, end) {
                    for first in &lefts {
                        let mut nodes = vec![own];
                        nodes.extend(&first.nodes);
                        nodes.extend(&second.nodes);
                        let probability = p * first.probability * second.probability;
                        all.push(Derived { nodes, probability });
                    }
                }
            }
        }
        all
    }

    /// All trees of the sentence, with the probability of their root.
    pub fn trees(&self) -> Vec<Derived> {
        (0..self.symbols)
            .flat_map(|symbol| {
                let root = self.roots[symbol as usize];
                self.derive(symbol, 0, self.sentence.len())
                    .into_iter()
                    .map(move |tree| Derived { probability: root * tree.probability, ..tree })
            })
            .filter(|tree| tree.probability > 0.0)
            .collect()
    }

    /// The expected number of nodes of each kind.
    pub fn posteriors(&self, trees: &[Derived]) -> HashMap<(u32, usize, usize), f64> {
        let total: f64 = trees.iter().map(|tree| tree.probability).sum();
        let mut posteriors = HashMap::new();
        for tree in trees {
            for &node in &tree.nodes {
                *posteriors.entry(node).or_default() += tree.probability / total;
            }
        }
        posteriors
    }
}

/// A rule over its words: its parent and its children, none for a word, each over its span.
pub type AnchoredRule = Vec<(u32, usize, usize)>;

/// The rules of a derivation; the first has no parent and makes the root.
pub fn anchored_rules(nodes: &[(u32, usize, usize)]) -> Vec<AnchoredRule> {
    let mut rules = vec![vec![(u32::MAX, 0, 0), nodes[0]]];
    for (place, &node) in nodes.iter().enumerate() {
        let mut rule = vec![node];
        if let Some(&first) = nodes.get(place + 1).filter(|child| child.1 < node.2) {
            rule.push(first);
            let second = nodes[place + 2..].iter().find(|child| child.1 == first.2);
            rule.extend(second.filter(|_| first.2 < node.2));
        }
        rules.push(rule);
    }
    rules
}

/// The expected number of times that each rule is used, given weights of all trees.
pub fn rule_posteriors(trees: &[Derived]) -> HashMap<AnchoredRule, f64> {
    let total: f64 = trees.iter().map(|tree| tree.probability).sum();
    let mut posteriors = HashMap::new();
    for tree in trees {
        for rule in anchored_rules(&tree.nodes) {
            *posteriors.entry(rule).or_default() += tree.probability / total;
        }
    }
    posteriors
}

/// Equal up to rounding.
pub fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1e-9)
}

/// Nodes as plain numbers.
pub fn key(nodes: &[Node]) -> Vec<(u32, usize, usize)> {
    nodes.iter().map(|n| (n.symbol.0, n.start as usize, n.end as usize)).collect()
}
