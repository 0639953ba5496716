//! The time of the neural network by sentence length: reading, scores of spans, the sum over trees,
//! the gradient of a training tree, and a whole step of training.

use std::time::Duration;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::Cells;
use lpcfg_core::neural::batch::{Batch, Tokens};
use lpcfg_core::neural::loss::label_probabilities;
use lpcfg_core::neural::spans::SpanScores;
use lpcfg_core::neural::vocabulary::Spelling;
use lpcfg_core::neural::{
    DropoutRates, Epoch, Example, LabelPlaces, Loss, Network, Objective, Shape, Trainer, Vocabulary,
};
use lpcfg_core::span_decoder::InsideOutside;

const LENGTHS: [usize; 3] = [10, 20, 40];
const WORDS: u32 = 2000;

/// As many sentences as a group of training has.
const GROUP: usize = 16;

const EPOCH: Epoch = Epoch {
    number: 0,
    batch: GROUP,
    learning_rates: [1e-3, 1e-3],
    largest_norm: 5.0,
    average_decay: 0.999,
};

fn spelling(word: u32) -> String {
    format!(
        "{}{}",
        char::from(b'a' + (word % 26) as u8),
        "ing".repeat(1 + word as usize % 3)
    ) + &word.to_string()
}

/// A network of the default sizes, with as many labels and tags as GUM has.
fn network() -> Network {
    let shape = Shape {
        words: 0,
        word_size: 100,
        vector_size: 0,
        characters: 0,
        character_size: 32,
        character_hidden: 50,
        hidden: 200,
        layers: 2,
        tags: 45,
        tag_size: 25,
        span_hidden: 200,
        labels: 80,
    };
    let words: Vec<String> = (0..WORDS).map(spelling).collect();
    let characters = ('a'..='z').chain('0'..='9').collect();
    Network::new(
        shape,
        Vocabulary::new(words, characters, Vec::new(), Vec::new()),
    )
}

fn objective() -> Objective {
    Objective {
        loss: Loss::Crf,
        tag_weight: 1.0,
        dropout: DropoutRates {
            input: 0.3,
            recurrent: 0.3,
            output: 0.3,
            span: 0.3,
        },
        word_dropout: 0.5,
        given_tags: 0.0,
    }
}

/// Right-branching trees, whose brackets have each label in turn.
fn example(number: u32, length: u32) -> Example {
    let spellings = (0..length)
        .map(|position| (number * 37 + position * 101) % WORDS)
        .collect();
    Example {
        tokens: Tokens {
            spellings,
            tags: Vec::new(),
        },
        spans: (0..length - 1)
            .map(|start| (start, length, 1 + start % 79))
            .collect(),
        tags: (0..length).map(|position| position % 45).collect(),
        weight: 1.0,
    }
}

fn places(labels: usize) -> LabelPlaces {
    LabelPlaces {
        whole: (0..labels).map(|label| label > 0).collect(),
        part: vec![true; labels],
    }
}

fn training(criterion: &mut Criterion) {
    let network = network();
    let table: Vec<Spelling> = (0..WORDS)
        .map(|word| network.vocabulary.spelling(&spelling(word)))
        .collect();
    let values = network.layout.start(1);
    let labels = network.shape.labels;
    for length in LENGTHS {
        let mut group = criterion.benchmark_group("neural");
        group
            .throughput(Throughput::Elements(GROUP as u64))
            .sample_size(10)
            .sampling_mode(SamplingMode::Flat)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(2));
        let id = |name| BenchmarkId::new(name, length);
        let examples: Vec<Example> = (0..GROUP as u32)
            .map(|number| example(number, length as u32))
            .collect();
        let tokens: Vec<&Tokens> = examples.iter().map(|example| &example.tokens).collect();
        let batch = Batch::new(&network.vocabulary, &table, &tokens);
        group.bench_function(id("read"), |bencher| {
            bencher.iter(|| network.encode(&values, &batch, None, &Cancel::new()));
        });

        let encoding = network.encode(&values, &batch, None, &Cancel::new());
        let size = (length + 1) * network.shape.span_hidden;
        let score = |projections: &[f32]| {
            SpanScores::new(&network, &values, projections, None, &Cancel::new())
                .expect("nobody cancels")
                .scores
        };
        group.bench_function(id("score spans"), |bencher| {
            bencher.iter(|| {
                let own = encoding.projections.chunks_exact(size);
                own.map(|projections| score(projections).len())
                    .sum::<usize>()
            });
        });

        let scores: Vec<Vec<f32>> = encoding.projections.chunks_exact(size).map(score).collect();
        let mut sums = InsideOutside::default();
        group.bench_function(id("sum over trees"), |bencher| {
            bencher.iter(|| {
                for own in &scores {
                    let log_totals = label_probabilities(labels, &mut own.clone());
                    sums.run(Cells::new(length), &log_totals, &Cancel::new())
                        .expect("nobody cancels");
                }
            });
        });

        let mut trainer = Trainer::new(
            Network::new(network.shape, network.vocabulary.clone()),
            places(labels),
            objective(),
            table.clone(),
            examples,
            1,
        );
        group.bench_function(id("training step"), |bencher| {
            bencher.iter(|| trainer.run(EPOCH, &Cancel::new()).expect("nobody cancels"));
        });
        group.finish();
    }
}

criterion_group!(benches, training);
criterion_main!(benches);
