//! The time from bracketed text to the node table, and back.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lpcfg_core::cancel::Cancel;
use lpcfg_core::treebank::clean::{CleanOptions, clean};
use lpcfg_core::treebank::transform::{invert, transform};

#[path = "support/pipeline.rs"]
mod pipeline;
#[path = "support/random_trees.rs"]
mod random_trees;

use pipeline::{TRANSFORM, read};
use random_trees::{Language, Random};

const TREES: usize = 2_000;

fn trees(criterion: &mut Criterion) {
    let text = Language::new(7).treebank(TREES, &mut Random::new(1));
    let forest = read(&text);
    let cancel = Cancel::new();
    let clean = || clean(&forest, &CleanOptions::default(), &cancel).expect("nobody cancels");
    let cleaned = clean();
    let transform = || transform(&cleaned, &TRANSFORM, &cancel).expect("nobody cancels");
    let table = transform();
    println!(
        "{} trees, {} nodes, {} bytes",
        forest.len(),
        forest.node_count(),
        text.len()
    );

    let mut group = criterion.benchmark_group("trees");
    group
        .throughput(Throughput::Bytes(text.len() as u64))
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    group.bench_function("read", |bencher| bencher.iter(|| read(&text)));
    group.bench_function("clean", |bencher| bencher.iter(clean));
    group.bench_function("transform", |bencher| bencher.iter(transform));
    group.bench_function("invert", |bencher| {
        bencher.iter(|| invert(&table, &cancel).expect("the table is sound"));
    });
    group.finish();
}

criterion_group!(benches, trees);
criterion_main!(benches);
