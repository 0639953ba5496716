//! The time of parsing by sentence length: the passes, the decoders and the whole parser.

use std::time::Duration;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::coarse::CoarseGrammar;
use lpcfg_core::chart::marginals::LabelMarginals;
use lpcfg_core::chart::pcfg::PcfgPass;
use lpcfg_core::decode::{Best, ExpectedGain, Viterbi};
use lpcfg_core::parser::{Decoder, Parser, Workspace};

#[path = "support/counted_grammar.rs"]
mod counted_grammar;
#[path = "support/pipeline.rs"]
mod pipeline;
#[path = "support/random_trees.rs"]
mod random_trees;
#[path = "support/sentences.rs"]
mod sentences;
#[path = "support/stages.rs"]
mod stages;

use counted_grammar::Counted;
use sentences::{options, sentences};
use stages::{Stages, THRESHOLD};

const LENGTHS: [usize; 4] = [10, 20, 40, 80];
fn charts(criterion: &mut Criterion) {
    let counted = Counted::new();
    let grammar = &counted.grammar;
    let parser = Parser::new(grammar.clone(), &Cancel::new()).expect("the grammar is sound");
    let projection = grammar.projection().expect("the grammar has one");
    let coarse_grammar =
        CoarseGrammar::new(projection, &Cancel::new()).expect("the grammar is sound");
    println!(
        "grammar: {} symbols, {} binary rules, {} coarse classes, {} words",
        grammar.rules().number_of_symbols(),
        grammar.rules().binary().len(),
        projection.rules().number_of_symbols(),
        grammar.emissions().number_of_words(),
    );
    for length in LENGTHS {
        let sentences = sentences(&counted, &parser, length);
        let mut stages: Vec<Stages> = sentences
            .iter()
            .map(|sentence| Stages::new(grammar, &coarse_grammar, sentence))
            .collect();
        let items: usize = stages.iter().map(|stage| stage.chart.len()).sum();
        println!(
            "length {length}: {} items survive in a sentence",
            items / stages.len()
        );

        let mut group = criterion.benchmark_group("chart");
        group
            .throughput(Throughput::Elements(sentences.len() as u64))
            .sample_size(10)
            .sampling_mode(SamplingMode::Flat)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(1));
        let id = |name| BenchmarkId::new(name, length);
        group.bench_function(id("coarse pass"), |bencher| {
            bencher.iter(|| {
                stages
                    .iter_mut()
                    .for_each(|stage| stage.run_coarse(&coarse_grammar))
            });
        });
        let mut pass = PcfgPass::default();
        group.bench_function(id("pcfg pass"), |bencher| {
            bencher.iter(|| {
                stages
                    .iter_mut()
                    .for_each(|stage| stage.run_pcfg(grammar, &mut pass))
            });
        });
        stages
            .iter_mut()
            .for_each(|stage| stage.chart.prune(THRESHOLD));
        let (mut best, mut marginals, mut f1) = (
            Best::default(),
            LabelMarginals::default(),
            ExpectedGain::default(),
        );
        group.bench_function(id("max-f1"), |bencher| {
            bencher.iter(|| {
                for stage in &stages {
                    marginals.prepare(grammar, &stage.chart);
                    f1.prepare_f1(grammar, &stage.chart, &marginals);
                    stage.decode(grammar, &f1, &mut best);
                }
            });
        });
        group.bench_function(id("viterbi"), |bencher| {
            bencher.iter(|| {
                for stage in &stages {
                    stage.decode(grammar, &Viterbi, &mut best);
                }
            });
        });
        let mut workspace = Workspace::default();
        group.bench_function(id("parser"), |bencher| {
            bencher.iter(|| {
                for sentence in &sentences {
                    parser
                        .analyze(
                            sentence.as_slice().into(),
                            options(Decoder::MaxF1),
                            &mut workspace,
                            &Cancel::new(),
                        )
                        .expect("nobody cancels");
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, charts);
criterion_main!(benches);
