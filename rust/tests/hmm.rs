//! Hidden Markov models against the enumeration of all paths, and against plain logarithms.

use lpcfg_core::cancel::{Cancel, Cancelled};
use lpcfg_core::sequence::hmm::expectation::{
    expected_counts, expected_visits, log_probabilities, posteriors,
};
use lpcfg_core::sequence::hmm::viterbi::best_states;
use lpcfg_core::sequence::hmm::{HmmError, Model, SecondOrder, Sequences};
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;

/// Parameters as they are given to a model.
#[derive(Debug, Clone)]
struct Parameters {
    states: usize,
    symbols: usize,
    initial: Vec<f64>,
    transitions: Vec<f64>,
    ends: Vec<f64>,
    emissions: Vec<f64>,
}

impl Parameters {
    fn model(&self) -> Model {
        let Self { initial, transitions, ends, emissions, symbols, .. } = self;
        Model::new(initial, transitions, ends, emissions, *symbols).expect("valid parameters")
    }

    /// The probability of a sequence together with a path of states.
    fn joint(&self, symbols: &[u32], path: &[usize]) -> f64 {
        let mut probability = self.initial[path[0]] * self.ends[path[path.len() - 1]];
        for (time, (&state, &symbol)) in path.iter().zip(symbols).enumerate() {
            probability *= self.emissions[state * self.symbols + symbol as usize];
            if time > 0 {
                probability *= self.transitions[path[time - 1] * self.states + state];
            }
        }
        probability
    }

    fn paths(&self, length: usize) -> impl Iterator<Item = Vec<usize>> + '_ {
        (0..self.states.pow(length as u32)).map(move |mut number| {
            (0..length)
                .map(|_| {
                    let state = number % self.states;
                    number /= self.states;
                    state
                })
                .collect()
        })
    }

    /// The forward algorithm in logarithms.
    fn log_forward(&self, symbols: &[u32]) -> f64 {
        let log_sum = |values: &mut dyn Iterator<Item = f64>| {
            let values: Vec<f64> = values.collect();
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if largest == f64::NEG_INFINITY {
                return largest;
            }
            largest + values.iter().map(|value| (value - largest).exp()).sum::<f64>().ln()
        };
        let emission =
            |state: usize, symbol: u32| self.emissions[state * self.symbols + symbol as usize].ln();
        let mut row: Vec<f64> = (0..self.states)
            .map(|state| self.initial[state].ln() + emission(state, symbols[0]))
            .collect();
        for &symbol in &symbols[1..] {
            row = (0..self.states)
                .map(|state| {
                    let entry =
                        |from: usize| row[from] + self.transitions[from * self.states + state].ln();
                    emission(state, symbol) + log_sum(&mut (0..self.states).map(entry))
                })
                .collect();
        }
        log_sum(&mut row.iter().zip(&self.ends).map(|(value, end)| value + end.ln()))
    }
}

fn parameters() -> impl Strategy<Value = Parameters> {
    // Zeros are as common as they are in estimated models.
    let number = || prop_oneof![1 => Just(0.0), 4 => 0.01f64..1.0];
    (1usize..6, 1usize..5).prop_flat_map(move |(states, symbols)| {
        let numbers = |count| proptest::collection::vec(number(), count);
        (numbers(states), numbers(states * states), numbers(states), numbers(states * symbols))
            .prop_map(move |(initial, transitions, ends, emissions)| Parameters {
                states,
                symbols,
                initial,
                transitions,
                ends,
                emissions,
            })
    })
}

fn with_sequences(longest: usize) -> impl Strategy<Value = (Parameters, Vec<Vec<u32>>)> {
    parameters().prop_flat_map(move |parameters| {
        let symbols = parameters.symbols as u32;
        let sequence = proptest::collection::vec(0..symbols, 1..=longest);
        (Just(parameters), proptest::collection::vec(sequence, 1..4))
    })
}

fn sequences(listed: &[Vec<u32>]) -> Sequences {
    let mut offsets = vec![0];
    for sequence in listed {
        offsets.push(offsets[offsets.len() - 1] + sequence.len());
    }
    Sequences::new(offsets, listed.concat()).expect("valid offsets")
}

fn close(left: f64, right: f64) -> bool {
    left == right || (left - right).abs() <= 1e-9 * left.abs().max(right.abs()).max(1e-3)
}

fn all_close(left: &[f64], right: &[f64]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(&a, &b)| close(a, b))
}

proptest! {
    #[test]
    fn agrees_with_the_enumeration_of_all_paths((parameters, listed) in with_sequences(4)) {
        let (model, observed, cancel) = (parameters.model(), sequences(&listed), Cancel::new());
        let Parameters { states, symbols, .. } = parameters;
        let mut logs = Vec::new();
        let mut expected_posteriors = Vec::new();
        let mut expected_rows = Vec::new();
        let mut initial = vec![0.0; states];
        let mut ends = vec![0.0; states];
        let mut transitions = vec![0.0; states * states];
        let mut emissions = vec![0.0; states * symbols];
        for sequence in &listed {
            let total: f64 =
                parameters.paths(sequence.len()).map(|path| parameters.joint(sequence, &path)).sum();
            logs.push(total.ln());
            let mut posterior = vec![0.0; sequence.len() * states];
            let mut row = vec![0.0; states + states * states];
            for path in parameters.paths(sequence.len()) {
                let share = parameters.joint(sequence, &path) / total;
                initial[path[0]] += share;
                ends[path[path.len() - 1]] += share;
                for (time, &state) in path.iter().enumerate() {
                    posterior[time * states + state] += share;
                    row[state] += share;
                    emissions[state * symbols + sequence[time] as usize] += share;
                    if time > 0 {
                        transitions[path[time - 1] * states + state] += share;
                        row[states + path[time - 1] * states + state] += share;
                    }
                }
            }
            expected_posteriors.extend(posterior);
            expected_rows.extend(row);
        }
        let found = log_probabilities(&model, &observed, &cancel).unwrap();
        prop_assert!(all_close(&found, &logs), "{found:?} {logs:?}");
        let impossible = logs.iter().position(|&log| log == f64::NEG_INFINITY);
        let counts = expected_counts(&model, &observed, &cancel);
        let best = best_states(&model, &observed, &cancel);
        if let Some(sequence) = impossible {
            let error = HmmError::Impossible { sequence };
            prop_assert_eq!(counts.unwrap_err(), error.clone());
            prop_assert_eq!(best.unwrap_err(), error.clone());
            prop_assert_eq!(posteriors(&model, &observed, &cancel).unwrap_err(), error);
            return Ok(());
        }
        let counts = counts.unwrap();
        prop_assert!(close(counts.log_probability, logs.iter().sum()));
        prop_assert!(all_close(&counts.initial, &initial));
        prop_assert!(all_close(&counts.ends, &ends));
        prop_assert!(all_close(&counts.transitions, &transitions));
        prop_assert!(all_close(&counts.emissions, &emissions));
        let found = posteriors(&model, &observed, &cancel).unwrap();
        prop_assert!(all_close(&found, &expected_posteriors));
        let found = expected_visits(&model, &observed, true, &cancel).unwrap();
        prop_assert!(all_close(&found, &expected_rows));

        let (mut path, log_probabilities) = best.unwrap();
        for (sequence, found) in listed.iter().zip(log_probabilities) {
            let rest = path.split_off(sequence.len());
            let states: Vec<usize> = path.iter().map(|&state| state as usize).collect();
            let joints = parameters.paths(sequence.len()).map(|p| parameters.joint(sequence, &p));
            let best = joints.fold(0.0, f64::max);
            prop_assert!(close(parameters.joint(sequence, &states), best));
            prop_assert!(close(found, best.ln()));
            path = rest;
        }
    }

    #[test]
    fn agrees_with_logarithms_on_longer_sequences((parameters, listed) in with_sequences(300)) {
        let logs: Vec<f64> =
            listed.iter().map(|sequence| parameters.log_forward(sequence)).collect();
        let found =
            log_probabilities(&parameters.model(), &sequences(&listed), &Cancel::new()).unwrap();
        for (found, log) in found.into_iter().zip(logs) {
            prop_assert!(close(found, log), "{found} {log}");
        }
    }
}

/// A second-order model over three tags and four words, with tags for each word.
fn second_order() -> impl Strategy<Value = (Vec<f64>, Vec<Vec<(u32, f64)>>)> {
    let number = || 0.01f64..1.0;
    let entries =
        proptest::sample::subsequence(vec![0u32, 1, 2], 1..=3).prop_flat_map(move |tags| {
            let count = tags.len();
            (Just(tags), proptest::collection::vec(number(), count))
                .prop_map(|(tags, numbers)| tags.into_iter().zip(numbers).collect())
        });
    (proptest::collection::vec(number(), 64), proptest::collection::vec(entries, 4))
}

proptest! {
    #[test]
    fn tags_agree_with_the_enumeration_of_all_paths(
        (transitions, entries) in second_order(),
        listed in proptest::collection::vec(proptest::collection::vec(0u32..4, 1..5), 1..4),
    ) {
        let mut offsets = vec![0];
        for tags in &entries {
            offsets.push(offsets[offsets.len() - 1] + tags.len());
        }
        let (tags, emissions): (Vec<_>, Vec<_>) = entries.iter().flatten().copied().unzip();
        let model = SecondOrder::new(3, transitions.clone(), offsets, tags, emissions).unwrap();
        let mut expected = Vec::new();
        for sentence in &listed {
            let mut rows = vec![0.0; 3 * sentence.len()];
            for mut number in 0..3usize.pow(sentence.len() as u32) {
                let mut path = vec![];
                let mut joint = 1.0;
                let (mut first, mut second) = (3, 3);
                for &word in sentence {
                    let tag = number % 3;
                    number /= 3;
                    let entry = entries[word as usize].iter().find(|entry| entry.0 == tag as u32);
                    joint *= transitions[16 * first + 4 * second + tag];
                    joint *= entry.map_or(0.0, |entry| entry.1);
                    (first, second) = (second, tag);
                    path.push(tag);
                }
                joint *= transitions[16 * first + 4 * second + 3];
                for (time, tag) in path.into_iter().enumerate() {
                    rows[3 * time + tag] += joint;
                }
            }
            for row in rows.chunks_mut(3) {
                let total: f64 = row.iter().sum();
                row.iter_mut().for_each(|value| *value /= total);
            }
            expected.extend(rows);
        }
        let (sentences, cancel) = (sequences(&listed), Cancel::new());
        let found = model.posteriors(&sentences, &cancel).unwrap();
        prop_assert!(all_close(&found, &expected), "{found:?} {expected:?}");
        let best = model.best_tags(&sentences, &cancel).unwrap();
        for ((tag, probability), row) in best.into_iter().zip(found.chunks(3)) {
            prop_assert_eq!(probability, row.iter().copied().fold(0.0, f64::max));
            prop_assert_eq!(row[tag as usize], probability);
        }
    }
}

/// A model and more sequences than a chunk holds, drawn without a library.
fn many_sequences() -> (Parameters, Vec<Vec<u32>>) {
    let mut seed = 7u64;
    let mut number = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let (states, symbols) = (7, 50);
    let mut numbers = |count: usize| -> Vec<f64> { (0..count).map(|_| number()).collect() };
    let parameters = Parameters {
        states,
        symbols,
        initial: numbers(states),
        transitions: numbers(states * states),
        ends: numbers(states),
        emissions: numbers(states * symbols),
    };
    let listed = (0..2000)
        .map(|_| {
            let length = 1 + (numbers(1)[0] * 30.0) as usize;
            numbers(length).iter().map(|value| (value * symbols as f64) as u32).collect()
        })
        .collect();
    (parameters, listed)
}

#[test]
fn counts_do_not_depend_on_the_number_of_threads() {
    let (parameters, listed) = many_sequences();
    let (model, observed) = (parameters.model(), sequences(&listed));
    let counts = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| expected_counts(&model, &observed, &Cancel::new())).unwrap()
    };
    let first = counts(1);
    assert_eq!(first, counts(2));
    assert_eq!(first, counts(5));
    let symbols = listed.iter().map(Vec::len).sum::<usize>() as f64;
    assert!(close(first.emissions.iter().sum(), symbols));
    assert!(close(first.transitions.iter().sum(), symbols - listed.len() as f64));
}

#[test]
fn ten_thousand_symbols_do_not_underflow() {
    let (mut parameters, _) = many_sequences();
    // Without normalisation the probability would be about 10^-50000.
    parameters.emissions.iter_mut().for_each(|value| *value *= 1e-5);
    let symbols: Vec<u32> = (0..10_000).map(|time| (time * time % 50) as u32).collect();
    let expected = parameters.log_forward(&symbols);
    let (model, observed) = (parameters.model(), sequences(&[symbols]));
    let found = log_probabilities(&model, &observed, &Cancel::new()).unwrap();
    assert!(expected < -100_000.0);
    assert!(close(found[0], expected));
    let rows = posteriors(&model, &observed, &Cancel::new()).unwrap();
    assert!(rows.chunks(7).all(|row| close(row.iter().sum(), 1.0)));
    let (_, best) = best_states(&model, &observed, &Cancel::new()).unwrap();
    assert!(best[0].is_finite() && best[0] < found[0]);
}

#[test]
fn what_is_wrong_is_refused() {
    let model = Model::new(&[1.0], &[1.0], &[1.0], &[0.5, 0.5], 2).unwrap();
    assert_eq!(
        Model::new(&[1.0], &[1.0, 0.0], &[1.0], &[1.0], 1).unwrap_err(),
        HmmError::Length { array: "transitions", expected: 1, found: 2 }
    );
    assert_eq!(
        Model::new(&[], &[], &[], &[], 0).unwrap_err(),
        HmmError::Length { array: "initial", expected: 1, found: 0 }
    );
    for value in [-0.5, f64::INFINITY] {
        assert_eq!(
            Model::new(&[1.0], &[1.0], &[1.0], &[value], 1).unwrap_err(),
            HmmError::Probability { array: "emissions", value }
        );
    }
    for offsets in [vec![], vec![0], vec![1, 2], vec![0, 1], vec![0, 2, 2], vec![0, 2, 1, 2]] {
        assert_eq!(Sequences::new(offsets, vec![0, 1]).unwrap_err(), HmmError::Offsets(2));
    }
    let one = || vec![1.0; 8];
    assert!(SecondOrder::new(1, one(), vec![0, 1], vec![0], vec![0.5]).is_ok());
    for (transitions, offsets, tags, emissions) in [
        (vec![1.0; 7], vec![0, 1], vec![0], vec![0.5]),
        (vec![0.0; 8], vec![0, 1], vec![0], vec![0.5]),
        (one(), vec![0, 0], vec![], vec![]),
        (one(), vec![0, 1], vec![1], vec![0.5]),
        (one(), vec![0, 1], vec![0], vec![f64::NAN]),
        (one(), vec![0, 1], vec![0], vec![]),
    ] {
        assert!(SecondOrder::new(1, transitions, offsets, tags, emissions).is_err());
    }
    let cancel = Cancel::new();
    let observed = sequences(&[vec![0], vec![1, 2]]);
    assert_eq!(
        log_probabilities(&model, &observed, &cancel),
        Err(HmmError::Symbol { symbol: 2, symbols: 2 })
    );
    cancel.cancel();
    let observed = sequences(&[vec![0], vec![1]]);
    assert_eq!(expected_counts(&model, &observed, &cancel), Err(HmmError::Cancelled(Cancelled)));
    assert_eq!(best_states(&model, &observed, &cancel), Err(HmmError::Cancelled(Cancelled)));
}
