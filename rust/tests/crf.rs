//! Trees weighed by features, against the enumeration of all derivations and finite differences.

use crate::support;

use std::collections::HashMap;
use std::sync::Arc;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::Chart;
use lpcfg_core::chart::gold::GoldChart;
use lpcfg_core::crf::templates::{span_features, split_features, word_features};
use lpcfg_core::crf::{
    CrfModel, CrfPass, FeatureLabels, Loss, Prior, Steps, TokenAttributes, Trainer, Vocabulary,
    Weights, tagged,
};
use lpcfg_core::decode::Node;
use lpcfg_core::grammar::{SymbolId, Token};
use lpcfg_core::parser::{Decoder, GoldTree, Options, Parser, Sentence, Workspace, crf_examples};
use lpcfg_core::span_filter::{LOSSES, SpanFilter, Weights as FilterWeights};
use proptest::prelude::*;
use support::{Case, Derived, anchored_rules, case, close, exact, rule_posteriors};

const BITS: u32 = 10;

/// A grammar without unary rules whose symbols write a label each, and weights of features. The last
/// two symbols look the same to features.
#[derive(Debug, Clone)]
struct Weighed {
    case: Case,
    model: CrfModel,
}

fn weighed(loss: Loss) -> impl Strategy<Value = Weighed> {
    let weights = proptest::collection::vec(-1.0f32..1.0, 1 << BITS);
    (case(false), weights).prop_map(move |(case, values)| {
        let labels = (0..case.symbols).map(|symbol| vec![symbol]).collect();
        let case = Case { labels, ..case };
        let kinds: Vec<u32> = (0..case.symbols).map(|s| s.min(case.symbols - 2)).collect();
        let offsets = (0..case.symbols).map(|kind| 2 * kind).collect();
        let of_kinds = (0..case.symbols - 1).flat_map(|kind| [kind, 100 + kind / 2]).collect();
        let model = CrfModel {
            loss,
            prior_weight: 0.5,
            vocabulary: Vocabulary::learn([("cat", 9), ("dog", 9)].into_iter())
                .with_clusters(&[Vocabulary::cluster_key("cat")], &[[0, 1, 2]]),
            labels: FeatureLabels::new(kinds, offsets, of_kinds).unwrap(),
            weights: Weights::new(values).unwrap(),
        };
        Weighed { case, model }
    })
}

impl Weighed {
    fn attributes(&self) -> Vec<TokenAttributes> {
        let spellings = ["cat", "Dogs", "("];
        let attributes = |&word: &u32| self.model.vocabulary.attributes(spellings[word as usize]);
        self.case.sentence.iter().map(attributes).collect()
    }

    fn tokens(&self) -> Vec<Token> {
        self.case.sentence.iter().copied().map(Token::Word).collect()
    }

    /// The sentence as features see it, with tags.
    fn tagged(&self) -> Vec<TokenAttributes> {
        let chart = self.chart(&[]).chart;
        tagged(&self.model, &self.attributes(), &chart)
    }

    fn score(&self, symbol: u32, features: &[u64]) -> f64 {
        let CrfModel { labels, weights, .. } = &self.model;
        let labels = labels.of_kind(labels.kind(SymbolId(symbol)));
        let place = |feature: u64, label| weights.index(weights.first(feature), label);
        let each = |&label: &u32| {
            let values =
                features.iter().map(move |&feature| weights.values()[place(feature, label)]);
            values.map(f64::from).sum::<f64>()
        };
        labels.iter().map(each).sum()
    }

    /// The sum of the weights of a symbol over a span.
    fn node_score(&self, (symbol, start, end): (u32, usize, usize)) -> f64 {
        let mut found = Vec::new();
        match end - start {
            1 => word_features(&self.tagged(), start, &mut found),
            _ => span_features(&self.tagged(), start, end, &mut found),
        }
        self.score(symbol, &found)
    }

    /// All trees, with their weights instead of their probabilities.
    fn trees(&self) -> Vec<Derived> {
        let weigh = |tree: Derived| {
            let mut score = self.model.prior_weight * tree.probability.ln();
            score += tree.nodes.iter().map(|&node| self.node_score(node)).sum::<f64>();
            let rules = anchored_rules(&tree.nodes);
            for rule in rules.iter().filter(|rule| rule.len() == 3) {
                let places = [rule[0].1, rule[2].1, rule[0].2];
                let mut found = Vec::new();
                split_features(&self.tagged(), places, &mut found);
                score += self.score(rule[0].0, &found);
                let symbols = [rule[0].0, rule[1].0, rule[2].0].map(SymbolId);
                let place = self.model.rule_index(symbols);
                score += f64::from(self.model.weights.values()[place]);
            }
            Derived { probability: score.exp(), ..tree }
        };
        self.case.trees().into_iter().map(weigh).collect()
    }

    fn parser(&self) -> Parser {
        let parser = Parser::new(Arc::new(self.case.grammar(true)), &Cancel::new()).unwrap();
        parser.with_crf(Arc::new(self.model.clone())).unwrap()
    }

    /// The chart with all items.
    fn chart(&self, nodes: &[Node]) -> GoldChart {
        self.chart_with(nodes, exact(Decoder::MaxF1))
    }

    fn chart_with(&self, nodes: &[Node], options: Options) -> GoldChart {
        let (mut workspace, cancel) = (Workspace::default(), Cancel::new());
        self.parser()
            .gold_constrained(&self.tokens(), nodes, options, &mut workspace, &cancel)
            .unwrap()
            .unwrap()
    }

    /// The chart with all items, and the pass over it.
    fn pass(&self, tree: &Derived) -> (GoldChart, CrfPass) {
        let gold = self.chart(&nodes(tree));
        let cancel = Cancel::new();
        let mut pass = CrfPass::default();
        let grammar = self.case.grammar(false);
        let GoldChart { chart, words, .. } = &gold;
        let prior = Prior::Pcfg(words);
        pass.run(&grammar, &self.model, &self.attributes(), chart, prior, &cancel).unwrap();
        (gold, pass)
    }
}

fn nodes(tree: &Derived) -> Vec<Node> {
    let node = |&(symbol, start, end): &(u32, usize, usize)| Node {
        symbol: SymbolId(symbol),
        start: start as u32,
        end: end as u32,
    };
    tree.nodes.iter().map(node).collect()
}

fn items(chart: &Chart) -> HashMap<(u32, usize, usize), usize> {
    let cells = chart.cells();
    cells
        .bottom_up()
        .flat_map(|(start, end)| {
            let items = chart.items(cells.index(start, end));
            items.map(move |item| ((chart.symbol(item).0, start, end), item))
        })
        .collect()
}

proptest! {
    #[test]
    fn sums_over_trees_are_those_of_all_trees(weighed in weighed(Loss::Crf)) {
        let trees = weighed.trees();
        prop_assume!(!trees.is_empty());
        let total: f64 = trees.iter().map(|tree| tree.probability).sum();
        let posteriors = weighed.case.posteriors(&trees);
        let (gold, pass) = weighed.pass(&trees[0]);
        let own = (trees[0].probability / total).ln();
        prop_assert!((pass.log_probability(&gold.is_gold) - own).abs() < 1e-4);
        for (node, item) in items(&gold.chart) {
            let expected = posteriors.get(&node).copied().unwrap_or(0.0);
            prop_assert!((pass.posterior(item) - expected).abs() < 1e-4);
        }
    }

    #[test]
    fn gold_trees_are_never_pruned(weighed in weighed(Loss::Crf), threshold in 0.01..0.99) {
        let plain = exact(Decoder::MaxF1);
        let hard = Options { coarse_threshold: threshold, threshold, ..plain };
        for tree in weighed.case.trees() {
            let nodes = nodes(&tree);
            let gold = weighed.chart_with(&nodes, hard);
            prop_assert_eq!(gold.is_gold.iter().filter(|&&gold| gold).count(), nodes.len());
        }
    }

    #[test]
    fn no_tree_is_better_than_the_best(weighed in weighed(Loss::Crf)) {
        let trees = weighed.trees();
        prop_assume!(!trees.is_empty());
        let total: f64 = trees.iter().map(|tree| tree.probability).sum();
        let posteriors = weighed.case.posteriors(&trees);
        let rules = rule_posteriors(&trees);
        for decoder in [Decoder::MaxRecall, Decoder::MaxF1, Decoder::MaxRule, Decoder::Viterbi] {
            let score = |nodes: &[(u32, usize, usize)]| -> f64 {
                match decoder {
                    Decoder::MaxRecall => nodes.iter().map(|node| posteriors[node]).sum(),
                    Decoder::MaxF1 => nodes.iter().map(|node| posteriors[node] - 0.4).sum(),
                    Decoder::MaxRule => {
                        anchored_rules(nodes).iter().map(|rule| rules[rule].ln()).sum()
                    }
                    Decoder::Viterbi => {
                        let own = trees.iter().find(|tree| tree.nodes == nodes).unwrap();
                        (own.probability / total).ln()
                    }
                }
            };
            let (tokens, attributes) = (weighed.tokens(), weighed.attributes());
            let sentence = Sentence { attributes: &attributes, ..Sentence::from(&tokens[..]) };
            let mut workspace = Workspace::default();
            let parser = weighed.parser();
            let found = parser
                .analyze(sentence, exact(decoder), &mut workspace, &Cancel::new())
                .unwrap();
            let spans = &found.trees[0].spans;
            let nodes: Vec<_> =
                spans.iter().map(|s| (s.label, s.start as usize, s.end as usize)).collect();
            let best = trees.iter().map(|tree| score(&tree.nodes)).fold(f64::MIN, f64::max);
            prop_assert!(score(&nodes) >= best - 1e-3, "{decoder:?}");
            let own = trees.iter().find(|tree| tree.nodes == nodes).unwrap();
            let log_probability = (own.probability / total).ln();
            prop_assert!((found.trees[0].log_probability - log_probability).abs() < 1e-4);
            prop_assert!(close(found.log_probability + 1.0, 1.0));
        }
    }

    #[test]
    fn spans_are_independent_if_learnt_so(weighed in weighed(Loss::Independent)) {
        let trees = weighed.trees();
        prop_assume!(!trees.is_empty());
        let (gold, pass) = weighed.pass(&trees[0]);
        let words = weighed.case.sentence.len();
        let found = items(&gold.chart);
        for (&node, &item) in &found {
            let (_, start, end) = node;
            let kind = |symbol| weighed.model.labels.kind(SymbolId(symbol));
            let cell: Vec<_> = found.keys().filter(|n| (n.1, n.2) == (start, end)).collect();
            let alike = |n: &(u32, usize, usize)| {
                cell.iter().filter(|other| kind(other.0) == kind(n.0)).count() as f64
            };
            let weight = |n: &(u32, usize, usize)| {
                weighed.node_score(*n).exp() * grammar_part(&weighed, *n) / alike(n)
            };
            let needed = end - start == 1 || end - start == words;
            let none = if needed { 0.0 } else { 1.0 };
            let total = none + cell.iter().map(|n| weight(n)).sum::<f64>();
            prop_assert!((pass.posterior(item) - weight(&node) / total).abs() < 1e-4);
        }
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences(
        weighed in prop_oneof![weighed(Loss::Crf), weighed(Loss::Independent)],
        chosen in any::<prop::sample::Index>(),
    ) {
        let trees = weighed.trees();
        prop_assume!(!trees.is_empty());
        let tree = &trees[chosen.index(trees.len())];
        let (gold, pass) = weighed.pass(tree);
        let gradient = sums(pass.gradient(&weighed.model, &gold.is_gold));
        // A step large enough for single precision; the error of the middle is of third order.
        let step = 0.02f32;
        for (&place, &slope) in gradient.iter().take(12) {
            let value = |sign: f32| {
                let mut moved = weighed.clone();
                moved.model.weights.values_mut()[place as usize] += sign * step;
                moved.pass(tree).1.log_probability(&gold.is_gold)
            };
            let measured = (value(1.0) - value(-1.0)) / f64::from(2.0 * step);
            // What differs by little is left out of the gradient, for each part.
            prop_assert!((measured - slope).abs() < 0.03, "{measured} {slope}");
        }
    }

    #[test]
    fn the_gold_tree_is_kept_where_a_filter_closes_all_other_spans(
        weighed in weighed(Loss::Crf),
        chosen in 0usize..50,
    ) {
        let trees = weighed.trees();
        prop_assume!(!trees.is_empty());
        let tree = &trees[chosen % trees.len()];
        let (gold, nodes) = (&tree.nodes, nodes(tree));
        let words = weighed.case.emissions.len();
        // All bracketings are alike to it, and it closes every span that is not in all of them.
        let weights = FilterWeights::zeros(4, 4);
        let filter = SpanFilter::new(vec![0; words], vec![0; words], weights, vec![1.0; LOSSES]);
        let parser = weighed.parser().with_span_filter(Arc::new(filter.unwrap())).unwrap();
        let options = Options { span_recall: 0.9, ..exact(Decoder::MaxF1) };
        let (mut workspace, cancel) = (Workspace::default(), Cancel::new());
        let found = parser
            .gold_constrained(&weighed.tokens(), &nodes, options, &mut workspace, &cancel)
            .unwrap()
            .unwrap();
        let length = weighed.case.sentence.len();
        let items = items(&found.chart);
        prop_assert!(gold.iter().all(|node| items.contains_key(node)));
        for &(_, start, end) in items.keys() {
            let is_gold = gold.iter().any(|node| (node.1, node.2) == (start, end));
            prop_assert!(is_gold || end - start == 1 || end - start == length);
        }
    }

    #[test]
    fn learning_makes_a_tree_likelier_on_any_number_of_threads(
        weighed in prop_oneof![weighed(Loss::Crf), weighed(Loss::Independent)],
    ) {
        let trees = weighed.trees();
        prop_assume!(trees.len() > 1);
        let learn = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let tree = GoldTree {
                    tokens: weighed.tokens(),
                    tag_factors: Vec::new(),
                    sentence: weighed.attributes(),
                    nodes: nodes(&trees[0]),
                    weight: 1.0,
                };
                let cancel = Cancel::new();
                let mut trainer = Trainer::new(weighed.model.clone());
                let grammar = Arc::new(weighed.case.grammar(true));
                let trees = vec![tree.clone(), tree];
                let options = exact(Decoder::MaxF1);
                let model = &weighed.model;
                let added = crf_examples(model, &grammar, &grammar, None, trees, options, &cancel).unwrap();
                assert_eq!(added.too_large, 0);
                trainer.add(added.examples);
                let steps = Steps {
                    learning_rate: 0.05,
                    initial_accumulator: 1.0,
                    penalty: 0.0,
                    batch: 2,
                };
                let mut totals = Vec::new();
                for _ in 0..8 {
                    let order = [1, 0];
                    totals.push(trainer.run(&order, steps, &cancel).unwrap());
                }
                (totals, trainer.model().weights.clone())
            })
        };
        let (totals, weights) = learn(1);
        // Trees that features cannot tell apart, or as good as certain, stay as they are.
        let (gold, pass) = weighed.pass(&trees[0]);
        let settled = sums(pass.gradient(&weighed.model, &gold.is_gold)).values().all(|s| s.abs() < 1e-2);
        prop_assert!(settled || totals[7] > totals[0], "{totals:?}");
        prop_assert_eq!((totals, weights), learn(3));
    }
}

/// The partial derivative by the weight at each place.
fn sums(gradient: Vec<(u32, f32)>) -> HashMap<u32, f64> {
    let mut sums = HashMap::new();
    for (place, slope) in gradient {
        *sums.entry(place).or_default() += f64::from(slope);
    }
    sums
}

/// What the grammar says of a node by itself: emission and root.
fn grammar_part(weighed: &Weighed, (symbol, start, end): (u32, usize, usize)) -> f64 {
    let case = &weighed.case;
    let mut probability = 1.0;
    if end - start == 1 {
        let word = &case.emissions[case.sentence[start] as usize];
        probability *= word.iter().find(|entry| entry.0 == symbol).map_or(0.0, |entry| entry.1);
    }
    if end - start == case.sentence.len() {
        probability *= case.roots[symbol as usize];
    }
    probability.powf(weighed.model.prior_weight)
}
