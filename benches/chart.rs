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
use lpcfg_core::grammar::Token;
use lpcfg_core::parser::{Combine, Decoder, Options, Parser, Status, Workspace};

#[path = "support/counted_grammar.rs"]
mod counted_grammar;
#[path = "support/pipeline.rs"]
mod pipeline;
#[path = "support/random_trees.rs"]
mod random_trees;
#[path = "support/stages.rs"]
mod stages;

use counted_grammar::Counted;
use stages::{COARSE_THRESHOLD, Stages, THRESHOLD};

const LENGTHS: [usize; 4] = [10, 20, 40, 80];
const SENTENCES: usize = 4;

fn options(decoder: Decoder) -> Options {
    Options {
        decoder,
        combine: Combine::Posteriors,
        coarse_threshold: COARSE_THRESHOLD,
        span_recall: 1.0,
        member_threshold: 0.0,
        threshold: THRESHOLD,
        memory: usize::MAX,
        candidates: 1,
        max_length: usize::MAX,
        timeout: None,
        marginals: false,
        times: false,
    }
}

/// Sentences that parse without a fallback, which would run the passes more than once.
fn sentences(counted: &Counted, parser: &Parser, length: usize) -> Vec<Vec<Token>> {
    let mut workspace = Workspace::default();
    let mut kept = counted.sentences(length, 2 * SENTENCES);
    kept.retain(|sentence| {
        let analysis = parser.analyze(
            sentence.as_slice().into(),
            options(Decoder::MaxF1),
            &mut workspace,
            &Cancel::new(),
        );
        analysis.expect("nobody cancels").status == Status::Parsed
    });
    kept.truncate(SENTENCES);
    assert!(
        !kept.is_empty(),
        "no sentence of length {length} parses without a fallback"
    );
    kept
}

fn charts(criterion: &mut Criterion) {
    let counted = Counted::new();
    let grammar = &counted.grammar;
    let parser = Parser::new(grammar.clone()).expect("the grammar is sound");
    let projection = grammar.projection().expect("the grammar has one");
    let coarse_grammar = CoarseGrammar::new(projection).expect("the grammar is sound");
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
