//! Parsers that share pruned charts give the results that each of them gives alone.

use crate::support;

use std::sync::Arc;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::parser::{Analysis, ChartCache, Combine, Decoder, Options, Parser, Workspace};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use support::Case;
use support::latent_case::{LatentCase, latent_case, latent_states};

fn options(threshold: f64) -> Options {
    Options {
        decoder: Decoder::MaxF1,
        combine: Combine::Posteriors,
        coarse_threshold: threshold,
        threshold,
        span_recall: 1.0,
        member_threshold: 0.0,
        memory: 1 << 30,
        candidates: 1,
        max_length: usize::MAX,
        timeout: None,
        marginals: true,
        times: false,
    }
}

fn analyze(member: &LatentCase, options: Options, cache: Option<&Arc<ChartCache>>) -> Analysis {
    let parser = Parser::new(Arc::new(member.grammar(true)), &Cancel::new()).unwrap();
    let parser = cache.into_iter().cloned().fold(parser, Parser::with_charts);
    let tokens = member.tokens();
    parser.analyze((&*tokens).into(), options, &mut Workspace::default(), &Cancel::new()).unwrap()
}

/// The backbone with one part changed in each.
fn changed(case: &Case) -> Vec<Case> {
    let change = |edit: &dyn Fn(&mut Case)| {
        let mut case = case.clone();
        edit(&mut case);
        case
    };
    let last = case.symbols - 1;
    vec![
        change(&|case| case.roots[0] = 0.3),
        change(&|case| case.binary[0].3 *= 0.01),
        change(&|case| case.emissions[0][0].1 *= 0.01),
        change(&|case| case.weights[0] += 10.0),
        change(&|case| case.coarse[0] = last - case.coarse[0]),
        change(&|case| case.sentence.rotate_left(1)),
    ]
}

/// Grammars over one backbone, and grammars that differ in a part of it.
fn related() -> impl Strategy<Value = Vec<LatentCase>> {
    latent_case(0.1, false).prop_flat_map(|first| {
        let same = proptest::collection::vec(latent_states(first.case.clone(), 0.1), 2);
        let others: Vec<_> =
            changed(&first.case).into_iter().map(|case| latent_states(case, 0.1)).collect();
        (same, others).prop_map(|(same, others)| same.into_iter().chain(others).collect())
    })
}

proptest! {
    #[test]
    fn results_do_not_depend_on_shared_charts(cases in related()) {
        let cache = Arc::new(ChartCache::new(1 << 30, false));
        for threshold in [0.0, 0.05, 0.3] {
            for case in cases.iter().chain(&cases) {
                let alone = analyze(case, options(threshold), None);
                prop_assert_eq!(analyze(case, options(threshold), Some(&cache)), alone);
            }
        }
    }

    #[test]
    fn the_charts_of_one_backbone_are_kept_once(case in latent_case(0.1, false)) {
        let cache = Arc::new(ChartCache::new(1 << 30, false));
        analyze(&case, options(0.0), Some(&cache));
        let kept = (cache.len(), cache.bytes());
        prop_assert!(kept.0 > 0);
        let timed = Options { times: true, ..options(0.0) };
        prop_assert!(analyze(&case, timed, Some(&cache)).times.pcfg == 0.0);
        prop_assert_eq!((cache.len(), cache.bytes()), kept);
    }

    #[test]
    fn new_charts_replace_the_oldest_ones(case in latent_case(0.1, false)) {
        let whole = Arc::new(ChartCache::new(1 << 30, false));
        analyze(&case, options(0.0), Some(&whole));
        let (count, bytes) = (whole.len(), whole.bytes());
        // There is room for the charts of one threshold.
        for replace in [false, true] {
            let cache = Arc::new(ChartCache::new(bytes, replace));
            for threshold in [0.3, 0.0] {
                let alone = analyze(&case, options(threshold), None);
                prop_assert_eq!(analyze(&case, options(threshold), Some(&cache)), alone);
                prop_assert!(cache.bytes() <= bytes);
            }
            let timed = Options { times: true, ..options(0.0) };
            let is_kept = analyze(&case, timed, Some(&cache)).times.pcfg == 0.0;
            prop_assert!(is_kept || !replace || count > 1);
        }
    }
}

#[test]
fn a_full_cache_keeps_no_more_charts() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let case = latent_case(0.1, false).new_tree(&mut runner).unwrap().current();
    let cache = Arc::new(ChartCache::new(8, true));
    assert_eq!(analyze(&case, options(0.0), Some(&cache)), analyze(&case, options(0.0), None));
    assert!(cache.is_empty() && cache.bytes() == 0);
}
