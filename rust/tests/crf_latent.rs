//! A CRF over the chart of a latent grammar, against the enumeration of all derivations.

use crate::support;

use std::collections::HashMap;
use std::sync::Arc;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::crf::{
    CrfModel, FeatureLabels, Loss, Steps, TokenAttributes, Trainer, Vocabulary, Weights,
};
use lpcfg_core::decode::Node;
use lpcfg_core::grammar::SymbolId;
use lpcfg_core::parser::{
    Analysis, Decoder, GoldTree, Parser, Sentence, Status, Workspace, crf_examples,
};
use proptest::prelude::*;
use support::latent_case::{LatentCase, latent_states};
use support::{Case, Derived, anchored_rules, case, exact, rule_posteriors};

type Place = (u32, usize, usize);

/// The least posterior that a prior knows.
const LEAST: f64 = 1e-5;

/// Grammars whose symbols write a label each, with parameters from `lowest` up to one.
fn labelled(lowest: f32) -> impl Strategy<Value = LatentCase> {
    case(false).prop_flat_map(move |case| {
        let labels = (0..case.symbols).map(|symbol| vec![symbol]).collect();
        latent_states(Case { labels, ..case }, lowest)
    })
}

/// Grammars with positive parameters.
fn labelled_case() -> impl Strategy<Value = LatentCase> {
    labelled(0.1)
}

/// Grammars that may give sentences a negative value.
fn negative_case() -> impl Strategy<Value = LatentCase> {
    labelled(-1.0)
}

fn sum(trees: &[Derived]) -> f64 {
    trees.iter().map(|tree| tree.probability).sum()
}

/// A model whose weights are all zero.
fn model(latent: &LatentCase, prior_weight: f64) -> CrfModel {
    let symbols = latent.case.symbols;
    let labels =
        FeatureLabels::new((0..symbols).collect(), (0..=symbols).collect(), (0..symbols).collect());
    CrfModel {
        loss: Loss::Crf,
        prior_weight,
        vocabulary: Vocabulary::learn([("cat", 9)].into_iter()),
        labels: labels.unwrap(),
        weights: Weights::zeros(10),
    }
}

fn attributes(latent: &LatentCase, model: &CrfModel) -> Vec<TokenAttributes> {
    let spellings = ["cat", "Dogs", "("];
    let word = |&word: &u32| model.vocabulary.attributes(spellings[word as usize]);
    latent.case.sentence.iter().map(word).collect()
}

fn analyze(latent: &LatentCase, model: &CrfModel, decoder: Decoder) -> Analysis {
    let cancel = Cancel::new();
    let parser = Parser::new(Arc::new(latent.grammar(true)), &cancel).unwrap();
    let parser = parser.with_crf(Arc::new(model.clone())).unwrap();
    let (tokens, attributes) = (latent.tokens(), attributes(latent, model));
    let sentence = Sentence { attributes: &attributes, ..Sentence::from(&tokens[..]) };
    parser.analyze(sentence, exact(decoder), &mut Workspace::default(), &cancel).unwrap()
}

/// The sums of the weights of the trees that have each node.
fn node_sums(trees: &[Derived]) -> HashMap<Place, f64> {
    let mut sums = HashMap::new();
    for tree in trees {
        for &node in &tree.nodes {
            *sums.entry(node).or_default() += tree.probability;
        }
    }
    sums
}

/// All trees with the products of the posteriors of their rules given their parents.
fn approximated(trees: &[Derived], prior_weight: f64) -> Vec<Derived> {
    let total = sum(trees);
    let rules = rule_posteriors(trees);
    let nodes = node_sums(trees);
    let log = |posterior: f64| posterior.clamp(LEAST, 1.0).ln();
    let approximate = |tree: &Derived| {
        let mut score = log(nodes[&tree.nodes[0]] / total);
        for rule in anchored_rules(&tree.nodes).iter().filter(|rule| rule.len() == 3) {
            score += log(rules[rule]) - log(nodes[&rule[0]] / total);
        }
        Derived { nodes: tree.nodes.clone(), probability: (prior_weight * score).exp() }
    };
    trees.iter().map(approximate).collect()
}

/// What the nearest tree to a gold tree has most of.
fn gain(tree: &[Place], gold: &[Place]) -> f64 {
    let of_node = |&(symbol, start, end): &Place| {
        let is_correct = gold.contains(&(symbol, start, end));
        // Each symbol writes one label, so that the same label is the same symbol.
        if is_correct { 1.01 } else { -0.5 }
    };
    tree.iter().map(of_node).sum()
}

fn nodes(tree: &[Place]) -> Vec<Node> {
    let node = |&(symbol, start, end): &Place| Node {
        symbol: SymbolId(symbol),
        start: start as u32,
        end: end as u32,
    };
    tree.iter().map(node).collect()
}

fn gold_tree(latent: &LatentCase, model: &CrfModel, tree: &[Place]) -> GoldTree<'static> {
    GoldTree {
        tokens: latent.tokens(),
        tag_factors: Vec::new(),
        sentence: attributes(latent, model),
        nodes: nodes(tree),
        weight: 1.0,
    }
}

proptest! {
    #[test]
    fn without_features_posteriors_are_those_of_the_latent_grammar(latent in labelled_case()) {
        let trees = latent.weighted_trees();
        let sums = node_sums(&trees);
        let total = sum(&trees);
        prop_assume!(total > 0.0);
        // Smaller posteriors than a prior knows are raised.
        prop_assume!(rule_posteriors(&trees).values().all(|&posterior| posterior > LEAST));
        let found = analyze(&latent, &model(&latent, 1.0), Decoder::MaxF1);
        for span in &found.marginals {
            let expected = sums[&(span.label, span.start as usize, span.end as usize)] / total;
            prop_assert!((span.probability - expected).abs() < 1e-3, "{span:?} {expected}");
        }
    }

    #[test]
    fn the_prior_of_a_tree_is_the_product_of_the_posteriors_of_its_rules(
        latent in labelled_case(),
        prior_weight in 0.2..1.5,
    ) {
        let trees = latent.weighted_trees();
        prop_assume!(trees.iter().any(|tree| tree.probability > 0.0));
        let trees = approximated(&trees, prior_weight);
        let total = sum(&trees);
        let found = analyze(&latent, &model(&latent, prior_weight), Decoder::Viterbi);
        let best = trees.iter().map(|tree| tree.probability).fold(0.0, f64::max);
        let log_probability = found.trees[0].log_probability;
        prop_assert!((log_probability - (best / total).ln()).abs() < 2e-3);
        let sums = node_sums(&trees);
        for span in &found.marginals {
            let expected = sums[&(span.label, span.start as usize, span.end as usize)] / total;
            prop_assert!((span.probability - expected).abs() < 2e-3);
        }
    }

    #[test]
    fn without_a_positive_value_the_prior_is_that_of_the_pcfg(latent in negative_case()) {
        let trees = latent.weighted_trees();
        let total = sum(&trees);
        let size: f64 = trees.iter().map(|tree| tree.probability.abs()).sum();
        prop_assume!(total.abs() > 1e-3 * size);
        let found = analyze(&latent, &model(&latent, 1.0), Decoder::MaxF1);
        prop_assert_eq!(found.status == Status::Parsed, total > 0.0);
        prop_assert_eq!(found.status == Status::Backbone, total < 0.0);
        let backbone = latent.case.trees();
        prop_assume!(rule_posteriors(&backbone).values().all(|&posterior| posterior > LEAST));
        if total < 0.0 {
            let (sums, total) = (node_sums(&backbone), sum(&backbone));
            for span in &found.marginals {
                let expected = sums[&(span.label, span.start as usize, span.end as usize)] / total;
                prop_assert!((span.probability - expected).abs() < 1e-3, "{span:?} {expected}");
            }
        }
    }

    #[test]
    fn the_tree_that_is_learnt_is_the_nearest_one_to_the_gold_tree(
        latent in labelled_case(),
        chosen in any::<prop::sample::Index>(),
        other in 0u32..3,
    ) {
        let trees = latent.weighted_trees();
        prop_assume!(!trees.is_empty());
        let mut gold = trees[chosen.index(trees.len())].nodes.clone();
        // Another symbol somewhere, so that the grammar may not derive the tree.
        let changed = chosen.index(gold.len());
        gold[changed].0 = (gold[changed].0 + other) % latent.case.symbols;
        let (model, cancel) = (model(&latent, 1.0), Cancel::new());
        let parser = Parser::new(Arc::new(latent.grammar(true)), &cancel).unwrap();
        let (found, _) = parser
            .latent_example(
                &gold_tree(&latent, &model, &gold),
                exact(Decoder::MaxF1),
                &mut Workspace::default(),
                &cancel,
            )
            .unwrap()
            .unwrap();
        let chart = &found.chart;
        let nearest: Vec<Place> = chart
            .cells()
            .bottom_up()
            .flat_map(|(start, end)| {
                let items = chart.items(chart.cells().index(start, end));
                let own = items.filter(|&item| found.is_gold[item]);
                own.map(move |item| (chart.symbol(item).0, start, end))
            })
            .collect();
        let best = trees.iter().map(|tree| gain(&tree.nodes, &gold)).fold(f64::MIN, f64::max);
        prop_assert_eq!(nearest.len(), gold.len());
        prop_assert!((gain(&nearest, &gold) - best).abs() < 1e-9);
    }

    #[test]
    fn learning_makes_a_tree_likelier(
        latent in labelled_case(),
        chosen in any::<prop::sample::Index>(),
    ) {
        let trees = latent.weighted_trees();
        prop_assume!(trees.len() > 1);
        let gold = &trees[chosen.index(trees.len())].nodes;
        let (model, cancel) = (model(&latent, 0.5), Cancel::new());
        let grammar = Arc::new(latent.grammar(true));
        let rules = Arc::new(grammar.without_latent());
        let tree = gold_tree(&latent, &model, gold);
        let options = exact(Decoder::MaxF1);
        let added = crf_examples(&model, &grammar, &rules, None, vec![tree], options, &cancel).unwrap();
        let mut trainer = Trainer::new(model);
        trainer.add(added.examples);
        let steps =
            Steps { learning_rate: 0.05, initial_accumulator: 1.0, penalty: 0.0, batch: 1 };
        let mut totals = Vec::new();
        for _ in 0..8 {
            totals.push(trainer.run(&[0], steps, &cancel).unwrap());
        }
        prop_assert!(totals[7] > totals[0] || totals[0] > -1e-2, "{totals:?}");
    }
}
