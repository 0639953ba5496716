//! The latent pass against the enumeration of all derivations, states summed out by hand.

use crate::support;

use std::collections::HashMap;
use std::sync::Arc;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::Chart;
use lpcfg_core::chart::edges::EdgeFinder;
use lpcfg_core::chart::latent::LatentOutcome;
use lpcfg_core::chart::rule_posteriors::RulePosteriors;
use lpcfg_core::decode::{Best, PackedForest};
use lpcfg_core::grammar::{GrammarError, LatentArrays};
use lpcfg_core::parser::{Analysis, Decoder, Parser, Status, Workspace};
use proptest::prelude::*;
use support::latent_case::{LatentCase, Passed, latent_case};
use support::{Case, anchored_rules, exact, key, rule_posteriors};

fn check_marginals(latent: &LatentCase) -> Result<(), TestCaseError> {
    let Passed { chart, outcome, .. } = latent.pass()?;
    let trees = latent.weighted_trees();
    let total: f64 = trees.iter().map(|tree| tree.probability).sum();
    let size: f64 = trees.iter().map(|tree| tree.probability.abs()).sum();
    // Where positive and negative trees all but cancel, single precision cannot tell.
    prop_assume!(total.abs() > 1e-3 * size);
    if total > 0.0 {
        prop_assert_eq!(outcome, LatentOutcome::Positive);
        prop_assert!((chart.log_probability() - total.ln()).abs() < 1e-3);
    } else {
        prop_assert_eq!(outcome, LatentOutcome::Negative);
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

/// A latent pass gives the chart posteriors; inside and outside values stay those of the PCFG.
fn check_inside_and_outside_stay(latent: &LatentCase) -> Result<(), TestCaseError> {
    let Passed { chart, pcfg_chart, .. } = latent.pass()?;
    prop_assert_eq!(chart.len(), pcfg_chart.len());
    for (start, end) in chart.cells().bottom_up() {
        let cell = chart.cells().index(start, end);
        for item in chart.items(cell) {
            let inside = |chart: &Chart| chart.log_inside(cell, item);
            prop_assert_eq!(inside(&chart), inside(&pcfg_chart));
            let outside = |chart: &Chart| chart.emission_posterior(cell, item, 1.0);
            prop_assert_eq!(outside(&chart), outside(&pcfg_chart));
            let posterior = chart.unary_context(item, item);
            prop_assert_eq!(posterior, pcfg_chart.posterior(item));
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
            let split = edge.boundaries[1];
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

fn analyze(latent: &LatentCase, decoder: Decoder) -> Analysis {
    let parser = Parser::new(Arc::new(latent.grammar(true)), &Cancel::new()).unwrap();
    let tokens = latent.tokens();
    let options = exact(decoder);
    let (mut workspace, cancel) = (Workspace::default(), Cancel::new());
    parser.analyze(tokens.as_slice().into(), options, &mut workspace, &cancel).unwrap()
}

/// The parser gives trees their probability under the latent model.
fn check_tree_probability(latent: &LatentCase) -> Result<(), TestCaseError> {
    let trees = latent.weighted_trees();
    prop_assume!(trees.iter().any(|tree| tree.probability > 0.0));
    let analysis = analyze(latent, Decoder::MaxRecall);
    let found = analysis.trees[0].log_probability.exp();
    // The nodes of a tree may be probable, but the tree impossible.
    let status = if found > 0.0 { Status::Parsed } else { Status::Inconsistent };
    prop_assert_eq!(analysis.status, status);
    prop_assert!(
        trees.iter().any(|tree| (tree.probability - found).abs() <= 1e-5 * found),
        "no tree has probability {found}"
    );
    Ok(())
}

/// Where a model that deviates from its backbone gives no probability, one that deviates less does,
/// and all probabilities are those of that model.
fn check_damping(latent: &LatentCase) -> Result<(), TestCaseError> {
    let latent = &latent.clone().deviating();
    prop_assume!(!latent.case.trees().is_empty());
    let analysis = analyze(latent, Decoder::MaxF1);
    let total = |damping| -> (f64, f64) {
        let weights: Vec<f64> =
            latent.damped(damping).weighted_trees().iter().map(|tree| tree.probability).collect();
        (weights.iter().sum(), weights.iter().map(|weight| weight.abs()).sum())
    };
    let (first, size) = total(1.0);
    prop_assume!(first.abs() > 1e-3 * size);
    if first < 0.0 {
        prop_assert_ne!(analysis.status, Status::Parsed);
    }
    let used = match analysis.status {
        Status::Parsed => vec![1.0],
        Status::Loosened => vec![0.7, 0.4, 0.1],
        _ => return Ok(()),
    };
    let found = analysis.trees[0].log_probability.exp();
    let fits = |&damping: &f64| {
        let trees = latent.damped(damping).weighted_trees();
        (analysis.log_probability - total(damping).0.ln()).abs() < 1e-3
            && trees.iter().any(|tree| (tree.probability - found).abs() <= 1e-3 * found)
    };
    prop_assert!(used.iter().any(fits), "{analysis:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn marginals_of_positive_models(latent in latent_case(0.01, false)) {
        check_marginals(&latent)?;
    }

    #[test]
    fn inside_and_outside_values_stay(latent in latent_case(-0.5, false)) {
        check_inside_and_outside_stay(&latent)?;
    }

    #[test]
    fn marginals_of_linear_models(latent in latent_case(-0.5, false)) {
        check_marginals(&latent)?;
    }

    #[test]
    fn max_rule_of_positive_models(latent in latent_case(0.01, false)) {
        check_max_rule(&latent)?;
    }

    #[test]
    fn max_rule_of_linear_models(latent in latent_case(-0.5, false)) {
        check_max_rule(&latent)?;
    }

    #[test]
    fn tree_probabilities(latent in latent_case(0.01, false)) {
        check_tree_probability(&latent)?;
    }

    #[test]
    fn damped_models(latent in latent_case(-1.0, false)) {
        check_damping(&latent)?;
    }

    #[test]
    fn marginals_of_damped_models(latent in latent_case(-0.5, false), damping in 0.1..1.0) {
        check_marginals(&latent.damped(damping))?;
    }

    #[test]
    fn max_rule_of_damped_models(latent in latent_case(-0.5, false), damping in 0.1..1.0) {
        check_max_rule(&latent.damped(damping))?;
    }

    #[test]
    fn marginals_with_unary_rules(latent in latent_case(0.01, true)) {
        check_marginals(&latent)?;
    }

    #[test]
    fn marginals_of_linear_models_with_unary_rules(latent in latent_case(-0.5, true)) {
        check_marginals(&latent)?;
    }

    #[test]
    fn max_rule_with_unary_rules(latent in latent_case(0.01, true)) {
        check_max_rule(&latent)?;
    }

    #[test]
    fn tree_probabilities_with_unary_rules(latent in latent_case(0.01, true)) {
        check_tree_probability(&latent)?;
    }
}

/// `S -> A A`, `A -> x`, with two states each, as arrays to be spoilt.
fn small() -> (Case, LatentArrays<'static>) {
    let case = Case {
        symbols: 2,
        roots: vec![1.0, 0.0],
        binary: vec![(0, 1, 1, 1.0)],
        unary: vec![],
        emissions: vec![vec![(1, 1.0)]],
        labels: vec![vec![0], vec![1]],
        coarse: vec![0, 1],
        weights: vec![1.0, 1.0],
        sentence: vec![0, 0],
    };
    let arrays = LatentArrays {
        states: vec![2, 2],
        roots: vec![1.0; 4],
        binary: vec![0.5, 0.5].into(),
        binary_counts: vec![2],
        binary_positions: vec![1, 7].into(),
        unary: vec![],
        emission_ratios: vec![1.0; 4],
        ratio_symbols: vec![0, 1],
        entry_ratios: vec![1],
        tag_emissions: vec![0.0, 0.0, 1.0, 1.0],
    };
    (case, arrays)
}

#[test]
fn arrays_are_checked() {
    let (case, valid) = small();
    assert!(case.grammar(false).with_latent(valid.clone(), &Cancel::new()).is_ok());
    let refused = |spoil: &dyn Fn(&mut LatentArrays<'_>)| {
        let mut arrays = valid.clone();
        spoil(&mut arrays);
        case.grammar(false).with_latent(arrays, &Cancel::new()).unwrap_err()
    };
    let length = |error| matches!(error, GrammarError::Length { .. });
    assert!(length(refused(&|arrays| arrays.states.push(1))));
    assert!(length(refused(&|arrays| arrays.roots.push(1.0))));
    assert!(length(refused(&|arrays| arrays.binary.to_mut().push(1.0))));
    assert!(length(refused(&|arrays| arrays.binary_counts.push(1))));
    assert!(length(refused(&|arrays| arrays.binary_positions.to_mut().push(8))));
    assert!(length(refused(&|arrays| arrays.unary.push(1.0))));
    assert!(length(refused(&|arrays| arrays.emission_ratios.push(1.0))));
    assert!(length(refused(&|arrays| arrays.entry_ratios.push(1))));
    assert!(length(refused(&|arrays| arrays.tag_emissions.push(1.0))));
    let error = refused(&|arrays| arrays.states[1] = 0);
    assert_eq!(error, GrammarError::NoStates { symbol: 1 });
    let error = refused(&|arrays| arrays.states[1] = u32::MAX);
    assert!(matches!(error, GrammarError::TooMany { .. }));
    let error = refused(&|arrays| arrays.binary_counts[0] = 9);
    assert_eq!(error, GrammarError::TooManyStored { row: 0, found: 9, size: 8 });
    for positions in [vec![7, 1], vec![1, 1], vec![1, 8]] {
        let error = refused(&|arrays| arrays.binary_positions = positions.clone().into());
        assert_eq!(error, GrammarError::Positions { row: 0, size: 8 });
    }
    let error = refused(&|arrays| arrays.ratio_symbols[1] = 2);
    assert!(matches!(
        error,
        GrammarError::Symbol { array: "emission likelihood ratio", row: 1, .. }
    ));
    for vector in [0, 2] {
        let error = refused(&|arrays| arrays.entry_ratios[0] = vector);
        assert_eq!(error, GrammarError::EmissionRatios { row: 0, vector });
    }
    let error = refused(&|arrays| arrays.emission_ratios[3] = f32::NAN);
    let GrammarError::LatentValue { array, row, .. } = error else { panic!("{error}") };
    assert_eq!((array, row), ("emission likelihood ratios", 3));
}
