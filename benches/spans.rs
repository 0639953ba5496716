//! The time of what works on spans alone: the span filter, and the combination of parses.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::span_set::SpanSet;
use lpcfg_core::coverage::{Coverage, LabelledSpan};
use lpcfg_core::grammar::Token;
use lpcfg_core::span_filter::{FilterWorkspace, LOSSES, SpanFilter, Weights};

const WORDS: u32 = 1000;
const LABELS: u32 = 30;
const MEMBERS: usize = 3;
/// Labelled spans of a member for each word, as on GUM.
const SPANS: u32 = 9;

/// Numbers below a limit that look random, the same in every run.
fn numbers() -> impl FnMut(u32) -> u32 {
    let mut state = 1u64;
    move |limit| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as u32 % limit
    }
}

fn span_filter(criterion: &mut Criterion) {
    let tags: Vec<u32> = (0..WORDS).map(|word| word % 40).collect();
    let filter = SpanFilter::new(
        tags.clone(),
        tags,
        Weights::zeros(18, 20),
        vec![0.01; LOSSES],
    )
    .expect("the filter is sound");
    let mut group = criterion.benchmark_group("span filter");
    group
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    let (mut workspace, mut open) = (FilterWorkspace::default(), SpanSet::default());
    for words in [10, 20, 40, 80] {
        let mut below = numbers();
        let tokens: Vec<Token> = (0..words).map(|_| Token::Word(below(WORDS))).collect();
        group.bench_function(BenchmarkId::from_parameter(words), |bencher| {
            bencher.iter(|| filter.open(&tokens, 0.01, &mut workspace, &mut open, &Cancel::new()));
        });
    }
    group.finish();
}

/// A right-branching tree with a tag over each word.
fn tree(words: u32, label: u32) -> Vec<LabelledSpan> {
    let mut nodes = Vec::new();
    for start in 0..words {
        if start + 1 < words {
            nodes.push(LabelledSpan {
                start,
                end: words,
                label,
            });
        }
        nodes.push(LabelledSpan {
            start,
            end: start + 1,
            label: LABELS,
        });
    }
    nodes
}

fn combination(criterion: &mut Criterion) {
    let mut is_tag = vec![false; LABELS as usize];
    is_tag.push(true);
    let mut group = criterion.benchmark_group("combination");
    group
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    for words in [10, 20, 40, 80] {
        let mut below = numbers();
        let mut span = || {
            let start = below(words);
            let end = start + 1 + below(words - start);
            let label = below(LABELS);
            (
                LabelledSpan { start, end, label },
                f64::from(label) / f64::from(LABELS),
            )
        };
        let tables: Vec<Vec<(LabelledSpan, f64)>> = (0..MEMBERS)
            .map(|_| (0..SPANS * words).map(|_| span()).collect())
            .collect();
        group.bench_function(BenchmarkId::from_parameter(words), |bencher| {
            bencher.iter(|| {
                let mut coverage = Coverage::new(words as usize);
                for (member, table) in tables.iter().enumerate() {
                    let nodes = tree(words, member as u32);
                    coverage.add(member, 1.0, table.iter().copied(), nodes);
                }
                coverage.best(&is_tag, &Cancel::new())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, span_filter, combination);
criterion_main!(benches);
