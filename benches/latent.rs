//! The time of parsing with latent states: the kernels by number of states, the passes by sentence
//! length, and decoding.
//!
//! The throughput of kernels is in floating-point operations per second. "multiply and add" is the
//! peak of the processor, with all values in registers.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group,
    criterion_main,
};
use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::coarse::CoarseGrammar;
use lpcfg_core::chart::latent::{LatentOutcome, LatentPass};
use lpcfg_core::chart::marginals::LabelMarginals;
use lpcfg_core::chart::rule_posteriors::RulePosteriors;
use lpcfg_core::decode::{Best, ExpectedGain};
use lpcfg_core::numeric::contraction::{contract, expand};
use lpcfg_core::numeric::tensor::{Run, SparseTensor, Tensor};
use lpcfg_core::parser::Parser;

#[path = "support/counted_grammar.rs"]
mod counted_grammar;
#[path = "support/latent_grammar.rs"]
mod latent_grammar;
#[path = "support/pipeline.rs"]
mod pipeline;
#[path = "support/random_trees.rs"]
mod random_trees;
#[path = "support/sentences.rs"]
mod sentences;
#[path = "support/stages.rs"]
mod stages;

use counted_grammar::Counted;
use latent_grammar::with_states;
use random_trees::Random;
use sentences::sentences;
use stages::Stages;

/// The fraction of a sparse tensor's values that are stored.
const DENSITY: f64 = 0.1;
/// The bytes of tensors that a kernel reads: they fit into the first-level or the last-level cache.
const WORKING_SETS: [(&str, usize); 2] = [("near", 1 << 14), ("far", 1 << 23)];

/// Tensors of one shape, stored one after the other.
struct Tensors {
    states: usize,
    values: Vec<f32>,
    /// The columns of the stored values, and the rows of each tensor; empty for dense tensors.
    columns: Vec<u32>,
    runs: Vec<Vec<Run>>,
}

impl Tensors {
    fn dense(states: usize, bytes: usize) -> Self {
        let count = (bytes / size_of::<f32>() / states.pow(3)).max(1);
        let values = vec![0.01; count * states.pow(3)];
        Self {
            states,
            values,
            columns: Vec::new(),
            runs: Vec::new(),
        }
    }

    fn sparse(states: usize, bytes: usize) -> Self {
        let mut random = Random::new(1);
        let (mut columns, mut runs) = (Vec::new(), Vec::new());
        while columns.len() * size_of::<(u32, f32)>() < bytes {
            let mut row = |row: u32| {
                let before = columns.len();
                let all = 0..states.pow(2) as u32;
                columns.extend(all.filter(|_| random.unit() < DENSITY));
                let length = (columns.len() - before) as u32;
                Run { row, length }
            };
            runs.push((0..states as u32).map(&mut row).collect());
        }
        Self {
            states,
            values: vec![0.01; columns.len()],
            columns,
            runs,
        }
    }

    fn list(&self) -> Vec<Tensor<'_>> {
        if self.runs.is_empty() {
            let tensors = self.values.chunks_exact(self.states.pow(3));
            return tensors.map(Tensor::Dense).collect();
        }
        let (mut columns, mut values) = (self.columns.as_slice(), self.values.as_slice());
        let mut list = Vec::new();
        for runs in &self.runs {
            let length = runs.iter().map(|run| run.length as usize).sum();
            let (own_columns, own_values);
            (own_columns, columns) = columns.split_at(length);
            (own_values, values) = values.split_at(length);
            list.push(Tensor::Sparse(SparseTensor {
                runs,
                columns: own_columns,
                values: own_values,
            }));
        }
        list
    }
}

/// Compiled like the passes on processors with AVX2 and FMA, which this bench needs.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
fn contract_all(tensors: &[Tensor<'_>], matrix: &[f32], sums: &mut [f32]) {
    for &tensor in tensors {
        contract(tensor, matrix, sums);
    }
}

/// Like [`contract_all`], for the outside pass.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
fn expand_all(tensors: &[Tensor<'_>], weights: &[f32], matrix: &mut [f32]) {
    for &tensor in tensors {
        expand(tensor, weights, matrix);
    }
}

/// Independent vectors, enough to keep all units busy.
const VECTORS: usize = 12;
const LANES: usize = 8;

/// `steps` multiplications and additions of each vector.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
fn multiply_and_add(steps: usize) -> [[f32; LANES]; VECTORS] {
    let factor = black_box([0.999; LANES]);
    let mut vectors = [[1.0; LANES]; VECTORS];
    for _ in 0..steps {
        for vector in &mut vectors {
            for (value, factor) in vector.iter_mut().zip(factor) {
                *value = f32::mul_add(*value, factor, 0.001);
            }
        }
    }
    vectors
}

fn quick(group: &mut BenchmarkGroup<'_, WallTime>) {
    group
        .sample_size(20)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500));
}

#[allow(
    unused_unsafe,
    reason = "only calls of functions for wide vectors are unsafe"
)]
fn kernels(criterion: &mut Criterion) {
    #[cfg(target_arch = "x86_64")]
    if !(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")) {
        println!("the kernels are timed on processors with AVX2 and FMA only");
        return;
    }
    let mut group = criterion.benchmark_group("kernel");
    quick(&mut group);
    let steps = 10_000;
    group.throughput(Throughput::Elements((2 * steps * VECTORS * LANES) as u64));
    group.bench_function("multiply and add", |bencher| {
        // SAFETY: the processor has these instructions, as was just checked, here and below.
        bencher.iter(|| unsafe { multiply_and_add(black_box(steps)) });
    });
    for states in [8, 16, 32] {
        for (column, bytes) in WORKING_SETS {
            let dense = Tensors::dense(states, bytes);
            let sparse = Tensors::sparse(states, bytes);
            for (kind, tensors) in [("dense", dense), ("sparse", sparse)] {
                let list = tensors.list();
                let mut matrix = vec![0.01; states * states];
                let mut vector = vec![0.01; states];
                group.throughput(Throughput::Elements(2 * tensors.values.len() as u64));
                let id = |name| BenchmarkId::new(format!("{name} {kind} {column}"), states);
                group.bench_function(id("contract"), |bencher| {
                    // SAFETY: see above.
                    bencher.iter(|| unsafe { contract_all(&list, &matrix, &mut vector) });
                });
                vector.fill(0.01);
                group.bench_function(id("expand"), |bencher| {
                    // SAFETY: see above.
                    bencher.iter(|| unsafe { expand_all(&list, &vector, &mut matrix) });
                });
            }
        }
    }
}

fn passes(criterion: &mut Criterion) {
    let counted = Counted::new();
    let parser =
        Parser::new(counted.grammar.clone(), &Cancel::new()).expect("the grammar is sound");
    let projection = counted.grammar.projection().expect("the grammar has one");
    let coarse_grammar =
        CoarseGrammar::new(projection, &Cancel::new()).expect("the grammar is sound");
    for (states, density) in [(8, None), (16, None), (16, Some(DENSITY)), (32, None)] {
        let grammar = with_states(&counted, states, density);
        let latent = grammar.latent().expect("it was just given some");
        for length in [10, 20, 40, 80] {
            let sentences = sentences(&counted, &parser, length);
            let mut stages: Vec<Stages> = sentences
                .iter()
                .map(|sentence| Stages::new(&grammar, &coarse_grammar, sentence))
                .collect();
            let mut passes: Vec<LatentPass> =
                sentences.iter().map(|_| LatentPass::default()).collect();
            let kind = density.map_or("dense", |_| "sparse");
            let mut group = criterion.benchmark_group(format!("latent, {states} states {kind}"));
            group.throughput(Throughput::Elements(sentences.len() as u64));
            quick(&mut group);
            let cancel = Cancel::new();
            group.bench_function(BenchmarkId::new("inside pass", length), |bencher| {
                bencher.iter(|| {
                    for ((stage, pass), sentence) in stages.iter().zip(&mut passes).zip(&sentences)
                    {
                        let Stages { words, chart, .. } = stage;
                        pass.run_inside(&grammar, latent, 1.0, sentence, words, chart, &cancel)
                            .expect("nobody cancels");
                    }
                });
            });
            group.bench_function(BenchmarkId::new("outside pass", length), |bencher| {
                bencher.iter(|| {
                    for (stage, pass) in stages.iter_mut().zip(&mut passes) {
                        let outcome = pass.run_outside(&grammar, latent, &mut stage.chart, &cancel);
                        assert_eq!(outcome, Ok(LatentOutcome::Positive));
                    }
                });
            });
            let (mut marginals, mut gain) = (LabelMarginals::default(), ExpectedGain::default());
            let (mut best, mut rules) = (Best::default(), RulePosteriors::default());
            group.bench_function(BenchmarkId::new("max-f1", length), |bencher| {
                bencher.iter(|| {
                    for stage in &stages {
                        marginals.prepare(&grammar, &stage.chart);
                        gain.prepare_f1(&grammar, &stage.chart, &marginals);
                        stage.decode(&grammar, &gain, &mut best);
                    }
                });
            });
            group.bench_function(BenchmarkId::new("max-rule", length), |bencher| {
                bencher.iter(|| {
                    for (stage, pass) in stages.iter().zip(&passes) {
                        rules.reset(&grammar, &stage.chart);
                        rules
                            .multiply(&grammar, latent, pass, &stage.chart, &cancel)
                            .expect("nobody cancels");
                        stage.decode(&grammar, &rules, &mut best);
                    }
                });
            });
            group.finish();
        }
    }
}

criterion_group!(benches, kernels, passes);
criterion_main!(benches);
