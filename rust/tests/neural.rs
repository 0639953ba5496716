//! The neural parser: gradients against finite differences, the structured loss against all trees,
//! learning, and results that do not depend on the number of threads.

use std::time::Duration;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::Cells;
use lpcfg_core::neural::batch::Tokens;
use lpcfg_core::neural::example::Setting;
use lpcfg_core::neural::loss::{crf_loss, tree_labels};
use lpcfg_core::neural::random::Random;
use lpcfg_core::neural::vocabulary::Spelling;
use lpcfg_core::neural::{
    DropoutRates, Epoch, Example, LabelPlaces, Loss, Model, Network, Objective, Request,
    SentenceWords, Shape, Trainer, Vocabulary,
};
use lpcfg_core::parser::{Decoder, Status, WrittenTree};
use lpcfg_core::span_decoder::InsideOutside;
use rayon::ThreadPoolBuilder;

/// Label 1 is the whole sentence, 2 and 3 are phrases; tag 0 is a noun, 1 a verb.
const WORDS: [&str; 5] = ["dog", "cat", "saw", "bit", "the"];

fn vocabulary() -> Vocabulary {
    let words = WORDS[..4].iter().map(ToString::to_string).collect();
    let vectors = vec![127, 0, -64, 32, 5, 1];
    Vocabulary::new(words, "adogctsbi".chars().collect(), vec!["dog".into(), "cat".into()], vectors)
}

fn shape(layers: usize, characters: usize) -> Shape {
    Shape {
        words: 0,
        word_size: 4,
        vector_size: 0,
        characters: 0,
        character_size: 3,
        character_hidden: characters,
        hidden: 5,
        layers,
        tags: 3,
        tag_size: 2,
        span_hidden: 6,
        labels: 4,
    }
}

fn places() -> LabelPlaces {
    LabelPlaces { whole: vec![false, true, true, false], part: vec![true, false, true, true] }
}

fn objective(loss: Loss, dropout: f32) -> Objective {
    Objective {
        loss,
        tag_weight: 0.7,
        dropout: DropoutRates {
            input: dropout,
            recurrent: dropout,
            output: dropout,
            span: dropout,
        },
        word_dropout: 0.5,
        given_tags: 0.3,
    }
}

/// "the dog saw the cat": a phrase of each noun, one of the verb, and the sentence.
fn example(nouns: [u32; 2], verb: u32, weight: f32) -> Example {
    let tokens = Tokens { spellings: vec![4, nouns[0], verb, 4, nouns[1]], tags: Vec::new() };
    let spans = vec![(0, 5, 1), (0, 2, 2), (2, 5, 3), (3, 5, 2)];
    Example { tokens, spans, tags: vec![2, 0, 1, 2, 0], weight }
}

/// "dog saw": a sentence with a phrase of one word.
fn short(noun: u32, verb: u32) -> Example {
    let tokens = Tokens { spellings: vec![noun, verb], tags: Vec::new() };
    Example { tokens, spans: vec![(0, 2, 1), (0, 1, 2)], tags: vec![0, 1], weight: 1.0 }
}

fn examples() -> Vec<Example> {
    vec![example([0, 1], 2, 1.0), short(1, 3), example([1, 1], 3, 0.5), short(0, 2)]
}

fn table(vocabulary: &Vocabulary) -> Vec<Spelling> {
    WORDS.iter().map(|word| vocabulary.spelling(word)).collect()
}

/// The loss with some parameters, and its gradient.
fn loss_and_gradient(network: &Network, objective: Objective, values: &[f32]) -> (f64, Vec<f32>) {
    let table = table(&network.vocabulary);
    let counts = vec![1.0; network.shape.words];
    let places = places();
    let setting = Setting { network, table: &table, counts: &counts, places: &places, objective };
    let examples = examples();
    let streams: Vec<Random> = (0..4).map(|number| Random::new(&[9, number])).collect();
    let mut gradients = vec![0.0; values.len()];
    let cancel = Cancel::new();
    let chosen: Vec<&Example> = examples.iter().collect();
    let loss = setting.loss(values, &chosen, &streams, &mut gradients, &cancel).unwrap();
    (loss, gradients)
}

/// The derivative of the loss in each matrix, along its gradient and along random directions.
fn check_gradients(network: &Network, objective: Objective) {
    let mut random = Random::new(&[4]);
    // No parameter is zero, so that the hidden layer is away from its kinks.
    let mut values = network.layout.start(5);
    values.iter_mut().for_each(|value| *value += 0.4 * random.uniform() - 0.2);
    let (_, gradients) = loss_and_gradient(network, objective, &values);
    let mut checked = 0;
    for (name, place) in network.layout.tensors() {
        let own = &gradients[place.clone()];
        let norm = own.iter().map(|value| value * value).sum::<f32>().sqrt();
        if place.is_empty() {
            continue;
        }
        assert!(norm > 1e-4, "nothing reaches {name}");
        for number in 0..4 {
            let mut direction: Vec<f32> = if number == 0 {
                own.to_vec()
            } else {
                own.iter().map(|_| 2.0 * random.uniform() - 1.0).collect()
            };
            let length = direction.iter().map(|value| value * value).sum::<f32>().sqrt();
            direction.iter_mut().for_each(|value| *value /= length);
            let expected: f32 = direction.iter().zip(own).map(|(a, b)| a * b).sum();
            // A unit of the hidden layer may become zero within a step; then a shorter one counts.
            let found = [2e-3, 1e-3, 5e-4].map(|step: f32| {
                let [above, below] = [step, -step].map(|step| {
                    let mut moved = values.clone();
                    for (value, direction) in moved[place.clone()].iter_mut().zip(&direction) {
                        *value += step * direction;
                    }
                    loss_and_gradient(network, objective, &moved).0
                });
                ((above - below) / (2.0 * f64::from(step))) as f32
            });
            let is_close = |found: &f32| (found - expected).abs() < 4e-3 + 0.02 * norm;
            assert!(
                found.iter().any(is_close),
                "{name}: {found:?} by differences, {expected} by the gradient, norm {norm}"
            );
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn gradients_of_the_structured_loss_agree_with_finite_differences() {
    check_gradients(&Network::new(shape(2, 3), vocabulary()), objective(Loss::Crf, 0.0));
}

#[test]
fn gradients_with_dropout_agree_with_finite_differences() {
    check_gradients(&Network::new(shape(2, 3), vocabulary()), objective(Loss::Crf, 0.3));
    check_gradients(&Network::new(shape(1, 3), vocabulary()), objective(Loss::Crf, 0.2));
}

#[test]
fn gradients_of_independent_spans_agree_with_finite_differences() {
    let loss = Loss::Independent { none_ratio: 1.0 };
    check_gradients(&Network::new(shape(3, 2), vocabulary()), objective(loss, 0.1));
}

/// A tree: its score, and its brackets as start, end and label.
type ScoredTree = (f64, Vec<(u32, u32, u32)>);

/// All binary trees over some words.
fn all_trees(
    cells: Cells,
    scores: &[f32],
    labels: usize,
    start: usize,
    end: usize,
) -> Vec<ScoredTree> {
    let mut below: Vec<ScoredTree> = Vec::new();
    if end - start == 1 {
        below.push((0.0, Vec::new()));
    }
    for split in start + 1..end {
        for (left, brackets) in all_trees(cells, scores, labels, start, split) {
            for (right, others) in all_trees(cells, scores, labels, split, end) {
                below.push((left + right, [brackets.clone(), others].concat()));
            }
        }
    }
    let row = &scores[cells.index(start, end) * labels..][..labels];
    let mut trees = Vec::new();
    for (score, brackets) in below {
        for (label, &own) in row.iter().enumerate().filter(|(_, own)| own.is_finite()) {
            let mut brackets = brackets.clone();
            if label > 0 {
                brackets.push((start as u32, end as u32, label as u32));
            }
            trees.push((score + f64::from(own), brackets));
        }
    }
    trees
}

#[test]
fn the_structured_loss_is_that_of_all_trees() {
    let (cells, labels) = (Cells::new(4), 4);
    let mut random = Random::new(&[6]);
    let mut scores: Vec<f32> =
        (0..cells.count() * labels).map(|_| 3.0 * random.uniform() - 1.5).collect();
    places().close(cells, &mut scores);
    let gold = [(0, 4, 1), (0, 3, 2), (3, 4, 3)];
    let trees = all_trees(cells, &scores, labels, 0, 4);
    let total: f64 = trees.iter().map(|(score, _)| score.exp()).sum();
    let is_gold = |brackets: &[(u32, u32, u32)]| {
        let mut own = brackets.to_vec();
        own.sort_unstable();
        own == [(0, 3, 2), (0, 4, 1), (3, 4, 3)]
    };
    let gold_total: f64 =
        trees.iter().filter(|(_, own)| is_gold(own)).map(|(score, _)| score.exp()).sum();
    let mut found = scores.clone();
    let tree = tree_labels(cells, &gold);
    let mut sums = InsideOutside::default();
    let loss = crf_loss(cells, labels, &mut found, &tree, 1.0, &mut sums, &Cancel::new()).unwrap();
    assert!((loss - (total / gold_total).ln()).abs() < 1e-5, "{loss}");
    // The gradient of the score of a bracket: its probability, minus one if the tree has it.
    for (start, end) in cells.bottom_up() {
        for label in 1..labels {
            let bracket = (start as u32, end as u32, label as u32);
            let with: f64 = trees
                .iter()
                .filter(|(_, own)| own.contains(&bracket))
                .map(|(score, _)| score.exp())
                .sum();
            let expected = with / total - f64::from(u8::from(gold.contains(&bracket)));
            let own = f64::from(found[cells.index(start, end) * labels + label]);
            assert!((own - expected).abs() < 1e-5, "{bracket:?}: {own}, not {expected}");
        }
    }
}

fn epoch(number: u64) -> Epoch {
    Epoch { number, batch: 20, learning_rates: [0.02, 0.02], largest_norm: 5.0, average_decay: 0.9 }
}

fn trained(threads: usize, epochs: u64, loss: Loss) -> (Vec<f32>, Vec<f64>) {
    let network = Network::new(shape(2, 3), vocabulary());
    let table = table(&network.vocabulary);
    let many = (0..30).flat_map(|_| examples()).collect();
    let mut trainer = Trainer::new(network, places(), objective(loss, 0.1), table, many, 1);
    assert_eq!((trainer.len(), trainer.is_empty()), (120, false));
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let losses = (0..epochs)
        .map(|number| pool.install(|| trainer.run(epoch(number), &Cancel::new())).unwrap())
        .collect();
    (trainer.average().to_vec(), losses)
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    assert_eq!(trained(1, 2, Loss::Crf), trained(3, 2, Loss::Crf));
}

fn model(values: Vec<f32>, independent: bool) -> Model {
    Model {
        network: Network::new(shape(2, 3), vocabulary()),
        values,
        places: places(),
        independent,
        chains: vec![vec![], vec![], vec![1], vec![2, 3]],
        root: vec![0],
        tags: vec![10, 11, 12],
    }
}

const REQUEST: Request = Request {
    decoder: Decoder::MaxF1,
    candidates: 1,
    marginals: true,
    max_length: 100,
    memory: 1 << 30,
    timeout: None,
};

#[test]
fn several_trees_are_found_with_their_probabilities() {
    let (values, _) = trained(1, 3, Loss::Crf);
    let words = ["the", "cat", "bit"].map(str::to_owned);
    let sentence = SentenceWords { words: &words, tags: &[], breaks: &[0; 3] };
    let request = Request { candidates: 5, ..REQUEST };
    let model = model(values, false);
    let found = &model.analyze_all(&[sentence], request, &Cancel::new()).unwrap()[0].trees;
    assert_eq!(found.len(), 5);
    let log_probabilities: Vec<f64> = found.iter().map(|tree| tree.log_probability).collect();
    assert!(log_probabilities[1..].is_sorted_by(|one, other| one >= other));
    assert!(log_probabilities.iter().map(|value| value.exp()).sum::<f64>() < 1.0 + 1e-9);
    let spans = |tree: &WrittenTree| -> Vec<(u32, u32, u32)> {
        tree.spans.iter().map(|span| (span.start, span.end, span.label)).collect()
    };
    for (number, tree) in found.iter().enumerate() {
        assert!(found[..number].iter().all(|other| spans(other) != spans(tree)));
    }
}

#[test]
fn trees_are_learnt_and_parsed() {
    for (loss, independent) in [(Loss::Crf, false), (Loss::Independent { none_ratio: 2.0 }, true)] {
        let (values, losses) = trained(2, 25, loss);
        assert!(losses[24] < 0.3 * losses[0], "{losses:?}");
        let model = model(values, independent);
        let words = ["the", "cat", "bit", "the", "dog", "dog", "bit"].map(str::to_owned);
        let sentence = |words| SentenceWords { words, tags: &[], breaks: &[0; 7][..] };
        let parse = |max_length: usize| {
            let sentences = [sentence(&words[..5]), sentence(&words[5..]), sentence(&words[..])]
                .map(|own| SentenceWords { breaks: &own.breaks[..own.words.len()], ..own });
            let cancel = Cancel::new();
            model.analyze_all(&sentences, Request { max_length, ..REQUEST }, &cancel).unwrap()
        };
        let found = parse(100);
        let spans = |number: usize| -> Vec<(u32, u32, u32)> {
            let spans = found[number].trees[0].spans.iter();
            spans.map(|span| (span.start, span.end, span.label)).collect()
        };
        let expected = [
            (0, 5, 0),
            (0, 2, 1),
            (0, 1, 12),
            (1, 2, 10),
            (2, 5, 2),
            (2, 5, 3),
            (2, 3, 11),
            (3, 5, 1),
            (3, 4, 12),
            (4, 5, 10),
        ];
        assert_eq!(spans(0), expected);
        assert_eq!(spans(1), [(0, 2, 0), (0, 1, 1), (0, 1, 10), (1, 2, 11)]);
        let tree = &found[0].trees[0];
        assert!(tree.spans.iter().all(|span| span.probability > 0.5), "{tree:?}");
        assert_eq!(tree.log_probability.is_finite(), !independent);
        assert_eq!(found[2].status, Status::Parsed);
        // In parts, under one root.
        let parts = parse(5);
        assert_eq!(parts[2].status, Status::Split);
        let tree = &parts[2].trees[0].spans;
        assert_eq!((tree[0].label, tree[0].start, tree[0].end), (0, 0, 7));
        assert_eq!(tree.iter().filter(|span| span.label >= 10).count(), 7);
    }
}

#[test]
fn enough_time_changes_nothing() {
    let (values, _) = trained(1, 2, Loss::Crf);
    let model = model(values, false);
    let words = ["the", "cat", "bit", "the", "dog", "dog", "bit"].map(str::to_owned);
    let sentences = [7, 2, 5].map(|count| SentenceWords {
        words: &words[..count],
        tags: &[],
        breaks: &[0; 7][..count],
    });
    for max_length in [100, 3] {
        let parse = |timeout| {
            let request = Request { max_length, timeout, ..REQUEST };
            model.analyze_all(&sentences, request, &Cancel::new()).unwrap()
        };
        assert_eq!(parse(Some(Duration::from_secs(3600))), parse(None));
        let late = parse(Some(Duration::from_nanos(1)));
        assert!(late.iter().all(|analysis| analysis.status == Status::Timeout), "{late:?}");
    }
}

#[test]
fn given_tags_are_kept() {
    let (values, _) = trained(1, 2, Loss::Crf);
    let model = model(values, false);
    let words = ["dog".to_owned(), "bit".to_owned()];
    let tags = [Some(1), None];
    let sentence = SentenceWords { words: &words, tags: &tags, breaks: &[0, 0] };
    let request = Request { decoder: Decoder::MaxRecall, ..REQUEST };
    let found = model.analyze_all(&[sentence], request, &Cancel::new()).unwrap();
    let spans = &found[0].trees[0].spans;
    assert!(spans.iter().any(|span| (span.label, span.start, span.probability) == (11, 0, 1.0)));
}
