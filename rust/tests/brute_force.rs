//! Every dynamic program against the enumeration of all derivations of short sentences.

use std::collections::HashMap;
use std::sync::Arc;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::coarse::{CoarseChart, CoarseGrammar, Mask};
use lpcfg_core::chart::marginals::LabelMarginals;
use lpcfg_core::chart::pcfg::{Bounds, Chart, PcfgPass};
use lpcfg_core::decode::{
    Best, BracketF1, KBest, LabelledRecall, Node, Objective, PackedForest, Viterbi,
};
use lpcfg_core::grammar::{
    BinaryRule, Emissions, Grammar, Output, Rules, SymbolId, Token, UnaryRule,
};
use lpcfg_core::parser::{Decoder, Options, Parser, Status, Workspace};
use proptest::prelude::*;

/// A derivation: its nodes in pre-order and the product of its probabilities.
#[derive(Debug, Clone)]
struct Derived {
    nodes: Vec<(u32, usize, usize)>,
    probability: f64,
}

/// A small grammar as plain lists, and a sentence of it.
#[derive(Debug, Clone)]
struct Case {
    symbols: u32,
    roots: Vec<f64>,
    binary: Vec<(u32, u32, u32, f64)>,
    unary: Vec<(u32, u32, f64)>,
    /// `emissions[word]` lists preterminals and probabilities.
    emissions: Vec<Vec<(u32, f64)>>,
    labels: Vec<Vec<u32>>,
    coarse: Vec<u32>,
    weights: Vec<f64>,
    sentence: Vec<u32>,
}

const WORDS: u32 = 3;

fn probability() -> impl Strategy<Value = f64> {
    0.05f64..1.0
}

fn case(with_unary: bool) -> impl Strategy<Value = Case> {
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
    fn grammar(&self, coarse: bool) -> Grammar {
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
        Grammar::new(rules, emissions, output, map).unwrap()
    }

    fn words(&self) -> Vec<Vec<(SymbolId, f64)>> {
        self.sentence
            .iter()
            .map(|&word| {
                self.emissions[word as usize].iter().map(|&(s, p)| (SymbolId(s), p)).collect()
            })
            .collect()
    }

    /// All derivations of a symbol over a span.
    fn derive(&self, symbol: u32, start: usize, end: usize) -> Vec<Derived> {
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
    fn trees(&self) -> Vec<Derived> {
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
    fn posteriors(&self, trees: &[Derived]) -> HashMap<(u32, usize, usize), f64> {
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

fn exact_chart(case: &Case, grammar: &Grammar) -> Chart {
    let mut chart = Chart::default();
    PcfgPass::default()
        .run(grammar, &case.words(), Bounds::NONE, 0.0, &mut chart, &Cancel::new())
        .unwrap();
    chart
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1e-9)
}

fn key(nodes: &[Node]) -> Vec<(u32, usize, usize)> {
    nodes.iter().map(|n| (n.symbol.0, n.start as usize, n.end as usize)).collect()
}

fn check_inside_and_marginals(case: &Case) -> Result<(), TestCaseError> {
    let grammar = case.grammar(false);
    let chart = exact_chart(case, &grammar);
    let trees = case.trees();
    let total: f64 = trees.iter().map(|tree| tree.probability).sum();
    if total == 0.0 {
        prop_assert_eq!(chart.log_probability(), f64::NEG_INFINITY);
    } else {
        prop_assert!(close(chart.log_probability().exp(), total));
    }
    let posteriors = case.posteriors(&trees);
    for (start, end) in chart.cells().bottom_up() {
        let cell = chart.cells().index(start, end);
        for symbol in 0..case.symbols {
            let inside: f64 =
                case.derive(symbol, start, end).iter().map(|tree| tree.probability).sum();
            let item = chart.items(cell).find(|&item| chart.symbol(item).0 == symbol);
            match item {
                None => prop_assert_eq!(inside, 0.0),
                Some(item) => {
                    prop_assert!(close(chart.log_inside(cell, item).exp(), inside));
                    let expected = posteriors.get(&(symbol, start, end)).copied().unwrap_or(0.0);
                    prop_assert!((chart.posterior(item) - expected).abs() < 1e-9);
                }
            }
        }
    }
    Ok(())
}

fn check_viterbi_and_k_best(case: &Case) -> Result<(), TestCaseError> {
    let grammar = case.grammar(false);
    let chart = exact_chart(case, &grammar);
    let words = case.words();
    let forest = PackedForest { grammar: &grammar, chart: &chart, words: &words };
    let mut best = Best::default();
    best.fill(forest, &Viterbi, &Cancel::new()).unwrap();
    let mut trees = case.trees();
    trees.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let Some(found) = best.tree(forest, &Viterbi) else {
        prop_assert!(trees.is_empty());
        return Ok(());
    };
    prop_assert!(close(found.log_probability.exp(), trees[0].probability));
    let by_nodes: HashMap<_, _> =
        trees.iter().map(|tree| (tree.nodes.clone(), tree.probability)).collect();
    prop_assert!(close(by_nodes[&key(&found.nodes)], trees[0].probability));

    let mut ranking = KBest::new(forest, &Viterbi, &best);
    let ranked: Vec<_> = (0..20).map_while(|rank| ranking.tree(rank)).collect();
    prop_assert_eq!(ranked.len(), trees.len().min(20));
    let mut seen = std::collections::HashSet::new();
    for ((score, tree), expected) in ranked.iter().zip(&trees) {
        prop_assert!(close(score.exp(), expected.probability));
        prop_assert!(close(tree.log_probability.exp(), expected.probability));
        prop_assert!(close(by_nodes[&key(&tree.nodes)], expected.probability));
        prop_assert!(seen.insert(key(&tree.nodes)), "the same tree twice");
    }
    Ok(())
}

/// Maximise `gain(labels, start, end)`, summed over nodes, by enumeration.
fn check_gain<O: Objective>(
    case: &Case,
    forest: PackedForest<'_>,
    objective: &O,
    gain: impl Fn(&[u32], usize, usize) -> f64,
) -> Result<(), TestCaseError> {
    let total = |nodes: &[(u32, usize, usize)]| -> f64 {
        nodes.iter().map(|&(s, start, end)| gain(&case.labels[s as usize], start, end)).sum()
    };
    let mut best = Best::default();
    best.fill(forest, objective, &Cancel::new()).unwrap();
    let trees = case.trees();
    let Some(found) = best.tree(forest, objective) else {
        prop_assert!(trees.is_empty());
        return Ok(());
    };
    let highest = trees.iter().map(|tree| total(&tree.nodes)).fold(f64::NEG_INFINITY, f64::max);
    prop_assert!(trees.iter().any(|tree| tree.nodes == key(&found.nodes)), "not a tree");
    prop_assert!((total(&key(&found.nodes)) - highest).abs() < 1e-9);
    Ok(())
}

fn check_max_recall_and_f1(case: &Case) -> Result<(), TestCaseError> {
    let grammar = case.grammar(false);
    let chart = exact_chart(case, &grammar);
    let words = case.words();
    let forest = PackedForest { grammar: &grammar, chart: &chart, words: &words };
    let mut labelled: HashMap<(u32, usize, usize), f64> = HashMap::new();
    let mut chains: HashMap<(&[u32], usize, usize), f64> = HashMap::new();
    for (&(symbol, start, end), &posterior) in &case.posteriors(&case.trees()) {
        let labels = &case.labels[symbol as usize][..];
        *chains.entry((labels, start, end)).or_default() += posterior;
        for &label in labels {
            *labelled.entry((label, start, end)).or_default() += posterior;
        }
    }
    let mut recall = LabelledRecall::default();
    recall.prepare(&grammar, &chart);
    check_gain(case, forest, &recall, |labels, start, end| chains[&(labels, start, end)])?;
    let mut marginals = LabelMarginals::default();
    marginals.prepare(&grammar, &chart);
    let mut f1 = BracketF1::default();
    f1.prepare(&grammar, &chart, &marginals);
    check_gain(case, forest, &f1, |labels, start, end| {
        labels.iter().map(|&label| labelled[&(label, start, end)] - 0.4).sum()
    })
}

/// With the grammar as its own projection the coarse pass computes the same posteriors.
fn check_coarse_pass(case: &Case, threshold: f64) -> Result<(), TestCaseError> {
    let identity = Case { coarse: (0..case.symbols).collect(), ..case.clone() };
    let grammar = identity.grammar(true);
    let projection = grammar.projection().unwrap();
    let mut coarse = CoarseChart::default();
    let spans = coarse
        .run(&CoarseGrammar::new(projection).unwrap(), &case.words(), threshold, &Cancel::new())
        .unwrap();
    let trees = case.trees();
    prop_assert_eq!(spans, !trees.is_empty());
    let posteriors = case.posteriors(&trees);
    let chart = exact_chart(case, &grammar);
    for (start, end) in chart.cells().bottom_up() {
        let bits = coarse.mask().cell(chart.cells().index(start, end));
        for symbol in 0..case.symbols {
            let posterior = posteriors.get(&(symbol, start, end)).copied().unwrap_or(0.0);
            let allowed = Mask::allows(bits, SymbolId(symbol));
            // What does not survive passes nothing on: posteriors are exact without a threshold,
            // and never too large with one.
            if threshold == 0.0 {
                prop_assert_eq!(allowed, posterior > 0.0);
            } else if posterior < threshold * 0.999 {
                prop_assert!(!allowed);
            }
        }
    }
    Ok(())
}

/// With merged symbols and no threshold, nothing that has a posterior is lost.
fn check_pruned_parser(case: &Case) -> Result<(), TestCaseError> {
    let trees = case.trees();
    let parser = Parser::new(Arc::new(case.grammar(true))).unwrap();
    let tokens: Vec<Token> = case.sentence.iter().map(|&word| Token::Word(word)).collect();
    let options = Options {
        decoder: Decoder::Viterbi,
        coarse_threshold: 0.0,
        threshold: 0.0,
        candidates: 1,
        marginals: true,
    };
    let analysis =
        parser.analyze(&tokens, options, &mut Workspace::default(), &Cancel::new()).unwrap();
    prop_assert!(!analysis.trees.is_empty());
    if trees.is_empty() {
        prop_assert!(matches!(analysis.status, Status::Smoothed | Status::Fragments));
        return Ok(());
    }
    prop_assert_eq!(analysis.status, Status::Parsed);
    let total: f64 = trees.iter().map(|tree| tree.probability).sum();
    prop_assert!(close(analysis.log_probability.exp(), total));
    let highest = trees.iter().map(|tree| tree.probability).fold(0.0, f64::max);
    prop_assert!(close(analysis.trees[0].log_probability.exp(), highest));
    Ok(())
}

/// A coarse grammar whose merged unary rules form a cycle that keeps all its mass is refused; the
/// random grammars here are not normalised, so that this can happen.
fn has_proper_projection(case: &Case) -> bool {
    let mut leaving = vec![0.0; case.symbols as usize];
    let mut weights = vec![0.0; case.symbols as usize];
    for (&class, &weight) in case.coarse.iter().zip(&case.weights) {
        weights[class as usize] += weight;
    }
    for &(parent, _, p) in &case.unary {
        let class = case.coarse[parent as usize] as usize;
        leaving[class] += p * case.weights[parent as usize] / weights[class];
    }
    leaving.iter().all(|&mass| mass < 0.99)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn inside_and_marginals(case in case(false)) {
        check_inside_and_marginals(&case)?;
    }

    #[test]
    fn inside_and_marginals_with_unary_rules(case in case(true)) {
        check_inside_and_marginals(&case)?;
    }

    #[test]
    fn viterbi_and_k_best(case in case(false)) {
        check_viterbi_and_k_best(&case)?;
    }

    #[test]
    fn viterbi_and_k_best_with_unary_rules(case in case(true)) {
        check_viterbi_and_k_best(&case)?;
    }

    #[test]
    fn max_recall_and_f1(case in case(false)) {
        check_max_recall_and_f1(&case)?;
    }

    #[test]
    fn max_recall_and_f1_with_unary_rules(case in case(true)) {
        check_max_recall_and_f1(&case)?;
    }

    #[test]
    fn coarse_pass(case in case(true), threshold in prop_oneof![Just(0.0), 0.001f64..0.3]) {
        prop_assume!(has_proper_projection(&case));
        check_coarse_pass(&case, threshold)?;
    }

    #[test]
    fn pruned_parser(case in case(true)) {
        prop_assume!(has_proper_projection(&case));
        check_pruned_parser(&case)?;
    }
}
