//! The time of the conditional random field by sentence length: the sum over trees, its gradient, and
//! the labels of spans by themselves.

use std::time::Duration;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::coarse::CoarseGrammar;
use lpcfg_core::crf::{
    CrfModel, CrfPass, FeatureLabels, Loss, Prior, TokenAttributes, Vocabulary, Weights,
};
use lpcfg_core::decode::{Best, Viterbi};
use lpcfg_core::grammar::{Grammar, Token};
use lpcfg_core::parser::Parser;

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
use sentences::sentences;
use stages::Stages;

const LENGTHS: [usize; 3] = [10, 20, 40];

/// The default number of weights is 2 to this power.
const BITS: u32 = 22;

/// Two labels for each symbol, as trained models have: a fine one, and one that several share.
fn model(grammar: &Grammar, loss: Loss) -> CrfModel {
    let symbols = grammar.rules().number_of_symbols() as u32;
    let labels = (0..symbols)
        .flat_map(|symbol| [symbol, symbols + symbol / 8])
        .collect();
    let offsets = (0..=symbols).map(|symbol| 2 * symbol).collect();
    let mut weights = Weights::zeros(BITS);
    // Weights that are not zero, so that no part has the same score as another.
    for (place, value) in weights.values_mut().iter_mut().enumerate() {
        *value = (place % 17) as f32 * 1e-3;
    }
    let words: Vec<String> = (0..1000).map(spelling).collect();
    CrfModel {
        loss,
        prior_weight: 0.5,
        vocabulary: Vocabulary::learn(words.iter().map(|word| (word.as_str(), 9))),
        labels: FeatureLabels::new((0..symbols).collect(), offsets, labels)
            .expect("the labels are sound"),
        weights,
    }
}

fn spelling(word: u32) -> String {
    format!("{}ing", char::from(b'a' + (word % 26) as u8)).repeat(1 + word as usize % 3)
}

/// A sentence with its pruned chart, and which items are in its most probable tree.
struct Example {
    attributes: Vec<TokenAttributes>,
    stages: Stages,
    tree: Vec<bool>,
}

impl Example {
    fn new(
        grammar: &Grammar,
        coarse: &CoarseGrammar,
        model: &CrfModel,
        sentence: &[Token],
    ) -> Self {
        let attributes = sentence
            .iter()
            .map(|token| match token {
                Token::Word(word) => model.vocabulary.attributes(&spelling(*word)),
                _ => unreachable!("sentences have words alone"),
            })
            .collect();
        let stages = Stages::new(grammar, coarse, sentence);
        let chart = &stages.chart;
        let found = stages.decode(grammar, &Viterbi, &mut Best::default());
        let mut tree = vec![false; chart.len()];
        for node in found.nodes {
            let cell = chart.cells().index(node.start as usize, node.end as usize);
            for item in chart.items(cell) {
                tree[item] |= chart.symbol(item) == node.symbol;
            }
        }
        Self {
            attributes,
            stages,
            tree,
        }
    }

    fn run(&self, grammar: &Grammar, model: &CrfModel, pass: &mut CrfPass) {
        pass.run(
            grammar,
            model,
            &self.attributes,
            &self.stages.chart,
            Prior::Pcfg(&self.stages.words),
            &Cancel::new(),
        )
        .expect("nobody cancels");
    }
}

fn passes(criterion: &mut Criterion) {
    let counted = Counted::new();
    let grammar = &counted.grammar;
    let projection = grammar.projection().expect("the grammar has one");
    let coarse = CoarseGrammar::new(projection, &Cancel::new()).expect("the grammar is sound");
    let parser = Parser::new(grammar.clone(), &Cancel::new()).expect("the grammar is sound");
    let trees = model(grammar, Loss::Crf);
    let spans = model(grammar, Loss::Independent);
    for length in LENGTHS {
        let examples: Vec<Example> = sentences(&counted, &parser, length)
            .iter()
            .map(|sentence| Example::new(grammar, &coarse, &trees, sentence))
            .collect();
        let mut group = criterion.benchmark_group("crf");
        group
            .throughput(Throughput::Elements(examples.len() as u64))
            .sample_size(10)
            .sampling_mode(SamplingMode::Flat)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(1));
        let id = |name| BenchmarkId::new(name, length);
        let mut pass = CrfPass::default();
        group.bench_function(id("sum over trees"), |bencher| {
            bencher.iter(|| {
                for example in &examples {
                    example.run(grammar, &trees, &mut pass);
                }
            });
        });
        group.bench_function(id("sum over trees, gradient"), |bencher| {
            bencher.iter(|| {
                let gradient = |example: &Example| {
                    example.run(grammar, &trees, &mut pass);
                    pass.gradient(&trees, &example.tree).len()
                };
                examples.iter().map(gradient).sum::<usize>()
            });
        });
        group.bench_function(id("independent spans"), |bencher| {
            bencher.iter(|| {
                for example in &examples {
                    example.run(grammar, &spans, &mut pass);
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, passes);
criterion_main!(benches);
