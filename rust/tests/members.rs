//! Several grammars with one backbone against the enumeration of all derivations.

use crate::support;

use std::collections::HashMap;
use std::sync::Arc;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::grammar::GrammarError;
use lpcfg_core::parser::{Analysis, Combine, Decoder, Options, Parser, Status, Workspace};
use proptest::prelude::*;
use support::latent_case::{LatentCase, latent_case, latent_states};
use support::{AnchoredRule, Case, Derived, anchored_rules, case, exact, rule_posteriors};

type Nodes = Vec<(u32, usize, usize)>;

/// Up to three grammars over one backbone. Each symbol writes a label of its own, so that a written
/// tree shows its derivation.
fn members(lowest: f32) -> impl Strategy<Value = Vec<LatentCase>> {
    case(false).prop_flat_map(move |case| {
        let labels = (0..case.symbols).map(|symbol| vec![symbol]).collect();
        let case = Case { labels, ..case };
        proptest::collection::vec(latent_states(case, lowest), 1..4)
    })
}

fn analyze(members: &[LatentCase], decoder: Decoder, combine: Combine) -> Analysis {
    let (first, others) = members.split_first().unwrap();
    let parser = Parser::new(Arc::new(first.grammar(true)), &Cancel::new()).unwrap();
    let parser = others
        .iter()
        .try_fold(parser, |parser, other| parser.with(Arc::new(other.grammar(true))))
        .unwrap();
    let options = Options { combine, ..exact(decoder) };
    parser
        .analyze(
            first.tokens().as_slice().into(),
            options,
            &mut Workspace::default(),
            &Cancel::new(),
        )
        .unwrap()
}

/// A model that gives the sentence a probability: the weights of all trees, and posteriors.
struct Answered {
    trees: Vec<Derived>,
    total: f64,
    nodes: HashMap<(u32, usize, usize), f64>,
    rules: HashMap<AnchoredRule, f64>,
}

impl Answered {
    fn new(member: &LatentCase) -> Self {
        let trees = member.weighted_trees();
        Self {
            total: trees.iter().map(|tree| tree.probability).sum(),
            nodes: member.case.posteriors(&trees),
            rules: rule_posteriors(&trees),
            trees,
        }
    }

    /// How little is left of the weights of the trees where they have different signs.
    fn cancellation(&self) -> f64 {
        let size: f64 = self.trees.iter().map(|tree| tree.probability.abs()).sum();
        if size == 0.0 { 1.0 } else { self.total.abs() / size }
    }
}

fn gain(decoder: Decoder, nodes: &Nodes, share: impl Fn(&(u32, usize, usize)) -> f64) -> f64 {
    let cost = if decoder == Decoder::MaxF1 { 0.4 } else { 0.0 };
    nodes.iter().map(|node| share(node) - cost).sum()
}

fn log_product(nodes: &Nodes, posteriors: &HashMap<AnchoredRule, f64>) -> f64 {
    let rules = anchored_rules(nodes);
    rules.iter().map(|rule| posteriors[rule].max(f64::MIN_POSITIVE).ln()).sum()
}

/// Check that no tree has a higher score than the one that was found.
fn check_best(found: &Analysis, trees: &[Derived], score: impl Fn(&Nodes) -> f64) -> bool {
    let highest = trees.iter().map(|tree| score(&tree.nodes)).fold(f64::NEG_INFINITY, f64::max);
    score(&nodes(found)) >= highest - 1e-3
}

fn nodes(found: &Analysis) -> Nodes {
    let spans = found.trees[0].spans.iter();
    spans.map(|span| (span.label, span.start as usize, span.end as usize)).collect()
}

fn check_posteriors(members: &[LatentCase]) -> Result<(), TestCaseError> {
    prop_assume!(!members[0].case.trees().is_empty());
    let answered: Vec<_> =
        members.iter().map(Answered::new).filter(|member| member.total > 0.0).collect();
    prop_assume!(!answered.is_empty());
    let mean = |value: &dyn Fn(&Answered) -> f64| {
        answered.iter().map(value).sum::<f64>() / answered.len() as f64
    };
    let posterior = |node: &(u32, usize, usize)| mean(&|member| member.nodes[node]);
    for decoder in [Decoder::MaxRecall, Decoder::MaxF1, Decoder::MaxRule] {
        let found = analyze(members, decoder, Combine::Posteriors);
        let best = check_best(&found, &answered[0].trees, |nodes| match decoder {
            Decoder::MaxRule => {
                answered.iter().map(|member| log_product(nodes, &member.rules)).sum()
            }
            _ => gain(decoder, nodes, posterior),
        });
        prop_assert!(best, "{decoder:?}");
        let total = mean(&|member| member.total);
        prop_assert!((found.log_probability - total.ln()).abs() < 1e-3);
        let place = answered[0].trees.iter().position(|tree| tree.nodes == nodes(&found));
        let weight = mean(&|member| member.trees[place.unwrap()].probability);
        // Of trees with equal gains the one that was found may have no weight.
        let found_weight = found.trees[0].log_probability.exp();
        prop_assert!((found_weight - weight).abs() <= 1e-3 * weight);
        for span in &found.marginals {
            let node = (span.label, span.start as usize, span.end as usize);
            prop_assert!((span.probability - posterior(&node)).abs() < 1e-3);
        }
    }
    Ok(())
}

/// The tree with the most nodes in the best trees of the members.
fn check_trees(members: &[LatentCase]) -> Result<(), TestCaseError> {
    prop_assume!(!members[0].case.trees().is_empty());
    let answered: Vec<_> =
        members.iter().map(Answered::new).filter(|member| member.total > 0.0).collect();
    prop_assume!(!answered.is_empty());
    for decoder in [Decoder::MaxRecall, Decoder::MaxF1, Decoder::MaxRule] {
        let mut shares: HashMap<(u32, usize, usize), f64> = HashMap::new();
        for member in &answered {
            let mut scored: Vec<(f64, &Nodes)> = member
                .trees
                .iter()
                .map(|tree| {
                    let score = match decoder {
                        Decoder::MaxRule => log_product(&tree.nodes, &member.rules),
                        _ => gain(decoder, &tree.nodes, |node| member.nodes[node]),
                    };
                    (score, &tree.nodes)
                })
                .collect();
            scored.sort_by(|a, b| b.0.total_cmp(&a.0));
            // Which of two equally good trees a member finds is not for this test to say.
            prop_assume!(scored.len() == 1 || scored[0].0 > scored[1].0 + 1e-3);
            for &node in scored[0].1 {
                *shares.entry(node).or_default() += 1.0 / answered.len() as f64;
            }
        }
        let found = analyze(members, decoder, Combine::Trees);
        let best = check_best(&found, &answered[0].trees, |nodes| {
            gain(decoder, nodes, |node| shares.get(node).copied().unwrap_or(0.0))
        });
        prop_assert!(best, "{decoder:?}");
        // Probabilities are those of the models all the same.
        let other = analyze(members, decoder, Combine::Posteriors);
        prop_assert_eq!(found.log_probability, other.log_probability);
        prop_assert_eq!(found.marginals, other.marginals);
    }
    Ok(())
}

fn check_status(members: &[LatentCase]) -> Result<(), TestCaseError> {
    prop_assume!(!members[0].case.trees().is_empty());
    let mut answered: Vec<_> = members.iter().map(Answered::new).collect();
    // In single precision it may have another sign.
    prop_assume!(answered.iter().all(|member| member.cancellation() > 1e-3));
    let totals: Vec<f64> = answered.iter().map(|member| member.total).collect();
    answered.retain(|member| member.total > 0.0);
    let expected = if totals.iter().all(|&total| total > 0.0) {
        Status::Parsed
    } else if totals.iter().any(|&total| total > 0.0) {
        Status::FewerMembers
    } else if totals.iter().any(|&total| total < 0.0) {
        Status::Negative
    } else {
        Status::Backbone
    };
    for decoder in [Decoder::MaxF1, Decoder::MaxRule] {
        for combine in [Combine::Posteriors, Combine::Trees] {
            let found = analyze(members, decoder, combine);
            if found.status == Status::Inconsistent {
                prop_assert_eq!(found.trees[0].log_probability, f64::NEG_INFINITY);
                let total: f64 = answered.iter().map(|member| member.total).sum();
                let place = answered[0].trees.iter().position(|tree| tree.nodes == nodes(&found));
                let weights = answered.iter().map(|m| m.trees[place.unwrap()].probability.max(0.0));
                let fraction = weights.sum::<f64>() / total;
                prop_assert!(!(1e-6..0.99).contains(&fraction), "{fraction}");
            } else {
                prop_assert_eq!(found.status, expected);
            }
            prop_assert_eq!(
                found.log_probability.is_finite(),
                !matches!(expected, Status::Negative)
            );
        }
    }
    Ok(())
}

fn check_backbone(member: &LatentCase, other: &LatentCase) -> Result<(), TestCaseError> {
    let lacks = |error: &GrammarError, parts: &[&str]| matches!(error, GrammarError::Backbone { part } if parts.contains(part));
    let (own, plain) = (Arc::new(member.grammar(true)), Arc::new(member.case.grammar(true)));
    let parser = Parser::new(own.clone(), &Cancel::new()).unwrap();
    prop_assert!(parser.clone().with(own.clone()).is_ok());
    let without_states = ["latent states"];
    prop_assert!(lacks(&parser.clone().with(plain.clone()).unwrap_err(), &without_states));
    prop_assert!(lacks(
        &Parser::new(plain, &Cancel::new()).unwrap().with(own).unwrap_err(),
        &without_states
    ));
    let rules = |case: &Case| case.binary.iter().map(|r| (r.0, r.1, r.2)).collect::<Vec<_>>();
    prop_assume!(rules(&member.case) != rules(&other.case));
    let refused = parser.with(Arc::new(other.grammar(true))).unwrap_err();
    prop_assert!(lacks(&refused, &["symbols", "binary rules"]));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn posteriors(members in members(0.01)) {
        check_posteriors(&members)?;
    }

    #[test]
    fn trees(members in members(0.01)) {
        check_trees(&members)?;
    }

    #[test]
    fn statuses(members in members(-0.5)) {
        check_status(&members)?;
    }

    #[test]
    fn other_backbones_are_refused(members in members(0.01), other in latent_case(0.01, false)) {
        check_backbone(&members[0], &other)?;
    }
}
