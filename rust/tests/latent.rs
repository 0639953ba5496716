//! The latent pass against the enumeration of all derivations, states summed out by hand.

mod support;

use std::collections::HashMap;
use std::sync::Arc;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::edges::EdgeFinder;
use lpcfg_core::chart::latent::{Answer, LatentPass};
use lpcfg_core::chart::pcfg::{Bounds, Chart, PcfgPass};
use lpcfg_core::chart::rule_posteriors::RulePosteriors;
use lpcfg_core::decode::{Best, PackedForest};
use lpcfg_core::grammar::{Grammar, LatentArrays, Token};
use lpcfg_core::parser::{Decoder, Options, Parser, Status, Workspace};
use proptest::prelude::*;
use support::{Case, Derived, anchored_rules, case, key, rule_posteriors};

/// A grammar with a number of states for each symbol and parameters drawn from a list.
#[derive(Debug, Clone)]
struct LatentCase {
    case: Case,
    arrays: LatentArrays,
}

fn latent_case(lowest: f32) -> impl Strategy<Value = LatentCase> {
    case(false).prop_flat_map(move |case| {
        let symbols = case.symbols as usize;
        proptest::collection::vec(1u32..4, symbols).prop_flat_map(move |states| {
            let case = case.clone();
            let of = |symbol: u32| states[symbol as usize] as usize;
            let vectors: usize = states.iter().map(|&m| m as usize).sum();
            let tensors: usize = case.binary.iter().map(|r| of(r.0) * of(r.1) * of(r.2)).sum();
            let emissions: usize = case.emissions.iter().flatten().map(|e| of(e.0)).sum();
            let values = move |count| proptest::collection::vec(lowest..1.0f32, count);
            (values(vectors), values(tensors), values(emissions), values(vectors)).prop_map(
                move |(roots, binary, emissions, tag_emissions)| LatentCase {
                    case: case.clone(),
                    arrays: LatentArrays {
                        states: states.clone(),
                        roots,
                        binary,
                        emissions,
                        tag_emissions,
                    },
                },
            )
        })
    })
}

/// A sentence after the latent pass.
struct Passed {
    grammar: Grammar,
    chart: Chart,
    pass: LatentPass,
    answer: Answer,
}

impl LatentCase {
    fn states(&self, symbol: u32) -> usize {
        self.arrays.states[symbol as usize] as usize
    }

    fn grammar(&self, coarse: bool) -> Grammar {
        self.case.grammar(coarse).with_latent(self.arrays.clone()).unwrap()
    }

    fn tensor(&self, parent: u32, left: u32, right: u32) -> &[f32] {
        let size =
            |r: &(u32, u32, u32, f64)| self.states(r.0) * self.states(r.1) * self.states(r.2);
        let place = self.case.binary.iter().position(|r| (r.0, r.1, r.2) == (parent, left, right));
        let from: usize = self.case.binary[..place.unwrap()].iter().map(size).sum();
        &self.arrays.binary[from..][..size(&self.case.binary[place.unwrap()])]
    }

    fn emission(&self, word: u32, symbol: u32) -> &[f32] {
        let mut from = 0;
        for (other, entries) in self.case.emissions.iter().enumerate() {
            for &(emitting, _) in entries {
                if (other as u32, emitting) == (word, symbol) {
                    return &self.arrays.emissions[from..][..self.states(symbol)];
                }
                from += self.states(emitting);
            }
        }
        panic!("symbol {symbol} does not emit word {word}");
    }

    fn tokens(&self) -> Vec<Token> {
        self.case.sentence.iter().map(|&word| Token::Word(word)).collect()
    }

    /// Run the passes over an unpruned chart; sentences without a tree are not looked at.
    fn pass(&self) -> Result<Passed, TestCaseError> {
        let grammar = self.grammar(false);
        let (words, cancel) = (self.case.words(), Cancel::new());
        let mut chart = Chart::default();
        PcfgPass::default().run(&grammar, &words, Bounds::NONE, 0.0, &mut chart, &cancel).unwrap();
        prop_assume!(chart.log_probability() > f64::NEG_INFINITY);
        chart.prune(0.0);
        let mut pass = LatentPass::default();
        let answer = pass
            .run(&grammar, grammar.latent().unwrap(), &self.tokens(), &words, &mut chart, &cancel)
            .unwrap();
        Ok(Passed { grammar, chart, pass, answer })
    }

    /// The vector of the first of some nodes in pre-order, and how many nodes it takes up.
    fn vector(&self, nodes: &[(u32, usize, usize)]) -> (Vec<f64>, usize) {
        let (symbol, start, end) = nodes[0];
        if end - start == 1 {
            let vector = self.emission(self.case.sentence[start], symbol);
            return (vector.iter().map(|&value| f64::from(value)).collect(), 1);
        }
        let (left, left_nodes) = self.vector(&nodes[1..]);
        let (right, right_nodes) = self.vector(&nodes[1 + left_nodes..]);
        let tensor = self.tensor(symbol, nodes[1].0, nodes[1 + left_nodes].0);
        let mut vector = vec![0.0; self.states(symbol)];
        for (i, sum) in vector.iter_mut().enumerate() {
            for (j, left_value) in left.iter().enumerate() {
                for (k, right_value) in right.iter().enumerate() {
                    let value = tensor[(i * left.len() + j) * right.len() + k];
                    *sum += f64::from(value) * left_value * right_value;
                }
            }
        }
        (vector, 1 + left_nodes + right_nodes)
    }

    /// All trees of the backbone with their weights under the latent model.
    fn weighted_trees(&self) -> Vec<Derived> {
        self.case
            .trees()
            .into_iter()
            .map(|tree| {
                let root = tree.nodes[0].0;
                let from: usize = (0..root).map(|symbol| self.states(symbol)).sum();
                let roots = &self.arrays.roots[from..][..self.states(root)];
                let (vector, _) = self.vector(&tree.nodes);
                let weight = roots.iter().zip(vector).map(|(&r, v)| f64::from(r) * v).sum();
                Derived { nodes: tree.nodes, probability: weight }
            })
            .collect()
    }
}

fn check_marginals(latent: &LatentCase) -> Result<(), TestCaseError> {
    let Passed { chart, answer, .. } = latent.pass()?;
    let trees = latent.weighted_trees();
    let total: f64 = trees.iter().map(|tree| tree.probability).sum();
    let size: f64 = trees.iter().map(|tree| tree.probability.abs()).sum();
    // Where positive and negative trees all but cancel, single precision cannot tell.
    prop_assume!(total.abs() > 1e-3 * size);
    if total > 0.0 {
        prop_assert_eq!(answer, Answer::Positive);
        prop_assert!((chart.log_probability() - total.ln()).abs() < 1e-3);
    } else {
        prop_assert_eq!(answer, Answer::Negative);
        prop_assert_eq!(chart.log_probability(), f64::NEG_INFINITY);
    }
    let mut expected: HashMap<(u32, usize, usize), f64> = HashMap::new();
    for tree in &trees {
        for &node in &tree.nodes {
            *expected.entry(node).or_default() += tree.probability / total;
        }
    }
    for (start, end) in chart.cells().bottom_up() {
        for item in chart.items(chart.cells().index(start, end)) {
            let wanted = expected.get(&(chart.symbol(item).0, start, end)).copied().unwrap_or(0.0);
            let tolerance = 1e-3 * (size / total.abs()).max(1.0);
            prop_assert!((chart.posterior(item) - wanted.abs()).abs() < tolerance);
        }
    }
    Ok(())
}

/// Posteriors of rules, and the tree with the highest product of them.
fn check_max_rule(latent: &LatentCase) -> Result<(), TestCaseError> {
    let Passed { grammar, chart, pass, .. } = latent.pass()?;
    let trees = latent.weighted_trees();
    let total: f64 = trees.iter().map(|tree| tree.probability).sum();
    let size: f64 = trees.iter().map(|tree| tree.probability.abs()).sum();
    prop_assume!(total.abs() > 1e-3 * size);
    let expected = rule_posteriors(&trees);
    let mut rules = RulePosteriors::default();
    rules.reset(&grammar, &chart);
    rules.multiply(&grammar, grammar.latent().unwrap(), &pass, &chart, &Cancel::new()).unwrap();
    let mut finder = EdgeFinder::default();
    let mut wrong = Vec::new();
    for (start, end) in chart.cells().bottom_up() {
        finder.for_each(&grammar, &chart, start, end, |edge| {
            let split = edge.places[1];
            let node = |item, start, end| (chart.symbol(item).0, start, end);
            let rule = vec![
                node(edge.item, start, end),
                node(edge.left, start, split),
                node(edge.right, split, end),
            ];
            let wanted = expected.get(&rule).copied().unwrap_or(0.0).abs();
            let found = rules.log_edge(&edge).exp();
            if (found - wanted).abs() > 1e-3 * (size / total.abs()).max(1.0) {
                wrong.push((rule, found, wanted));
            }
        });
    }
    prop_assert!(wrong.is_empty(), "{wrong:?}");
    let words = latent.case.words();
    let forest = PackedForest { grammar: &grammar, chart: &chart, words: &words };
    let mut best = Best::default();
    best.fill(forest, &rules, &Cancel::new()).unwrap();
    let found = best.tree(forest, &rules).unwrap();
    let log_product = |nodes: &[(u32, usize, usize)]| -> f64 {
        anchored_rules(nodes).iter().map(|rule| expected[rule].abs().ln()).sum()
    };
    let highest =
        trees.iter().map(|tree| log_product(&tree.nodes)).fold(f64::NEG_INFINITY, f64::max);
    // What single precision loses where trees cancel out may decide between two of them.
    if size == total {
        prop_assert!(log_product(&key(&found.nodes)) > highest - 1e-3);
    }
    Ok(())
}

/// The parser gives trees their probability under the latent model.
fn check_tree_probability(latent: &LatentCase) -> Result<(), TestCaseError> {
    let parser = Parser::new(Arc::new(latent.grammar(true))).unwrap();
    let tokens = latent.tokens();
    let options = Options {
        decoder: Decoder::MaxRecall,
        coarse_threshold: 0.0,
        threshold: 0.0,
        candidates: 1,
        marginals: false,
    };
    let trees = latent.weighted_trees();
    prop_assume!(!trees.is_empty());
    let analysis =
        parser.analyze(&tokens, options, &mut Workspace::default(), &Cancel::new()).unwrap();
    prop_assert_eq!(analysis.status, Status::Parsed);
    let found = analysis.trees[0].log_probability.exp();
    prop_assert!(
        trees.iter().any(|tree| (tree.probability - found).abs() < 1e-5 * found),
        "no tree has probability {found}"
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn marginals_of_positive_models(latent in latent_case(0.01)) {
        check_marginals(&latent)?;
    }

    #[test]
    fn marginals_of_linear_models(latent in latent_case(-0.5)) {
        check_marginals(&latent)?;
    }

    #[test]
    fn max_rule_of_positive_models(latent in latent_case(0.01)) {
        check_max_rule(&latent)?;
    }

    #[test]
    fn max_rule_of_linear_models(latent in latent_case(-0.5)) {
        check_max_rule(&latent)?;
    }

    #[test]
    fn tree_probabilities(latent in latent_case(0.01)) {
        check_tree_probability(&latent)?;
    }
}
