//! EM for the aggregate bigram model against its definition.

use lpcfg_core::cancel::{Cancel, Cancelled};
use lpcfg_core::sequence::aggregate_bigram::{Factors, PairCounts, PairCountsError};
use proptest::prelude::*;

fn tables() -> impl Strategy<Value = (Vec<Vec<u8>>, usize, Vec<f32>)> {
    (1..5usize, 1..5usize, 1..12usize).prop_flat_map(|(firsts, seconds, states)| {
        (
            proptest::collection::vec(proptest::collection::vec(0..4u8, seconds), firsts),
            Just(states),
            proptest::collection::vec(0.05f32..1.0, (firsts + seconds) * states),
        )
    })
}

fn pair_counts(table: &[Vec<u8>]) -> PairCounts {
    let (mut offsets, mut seconds, mut counts) = (vec![0], vec![], vec![]);
    for row in table {
        for (second, &count) in row.iter().enumerate().filter(|&(_, &count)| count > 0) {
            seconds.push(second as u32);
            counts.push(f32::from(count));
        }
        offsets.push(seconds.len());
    }
    PairCounts::new(offsets, &seconds, &counts, table[0].len()).unwrap()
}

/// Split the values into factors that are distributions.
fn factors(values: &[f32], firsts: usize, states: usize) -> (Vec<f32>, Vec<f32>) {
    let (mut first, mut second) =
        (values[..firsts * states].to_vec(), values[firsts * states..].to_vec());
    for row in first.chunks_exact_mut(states) {
        let total: f32 = row.iter().sum();
        row.iter_mut().for_each(|value| *value /= total);
    }
    for state in 0..states {
        let total: f32 = second.iter().skip(state).step_by(states).sum();
        second.iter_mut().skip(state).step_by(states).for_each(|value| *value /= total);
    }
    (first, second)
}

proptest! {
    #[test]
    fn a_step_is_that_of_expected_counts((table, states, values) in tables()) {
        let counts = pair_counts(&table);
        let (first, second) = factors(&values, table.len(), states);
        let factors = Factors { states, firsts: &first, seconds: &second };
        let cancel = Cancel::new();
        let step = counts.step(factors, true, &cancel).unwrap();

        // The definition, one state at a time, in double precision.
        let mut by_first = vec![0.0f64; first.len()];
        let mut by_second = vec![0.0f64; second.len()];
        let mut log_likelihood = 0.0;
        for (w, row) in table.iter().enumerate() {
            for (x, &count) in row.iter().enumerate().filter(|&(_, &count)| count > 0) {
                let joint: Vec<f64> = (0..states)
                    .map(|h| f64::from(first[w * states + h]) * f64::from(second[x * states + h]))
                    .collect();
                let total: f64 = joint.iter().sum();
                log_likelihood += f64::from(count) * total.ln();
                for (h, value) in joint.iter().enumerate() {
                    by_first[w * states + h] += f64::from(count) * value / total;
                    by_second[x * states + h] += f64::from(count) * value / total;
                }
            }
        }
        prop_assert!((step.log_likelihood - log_likelihood).abs() < 1e-4);
        let again = counts.log_likelihood(factors, &cancel).unwrap();
        prop_assert!((again - log_likelihood).abs() < 1e-4);
        for (w, row) in by_first.chunks_exact(states).enumerate() {
            let total: f64 = row.iter().sum();
            for (h, value) in row.iter().enumerate() {
                let old = f64::from(first[w * states + h]);
                let expected = if total > 0.0 { value / total } else { old };
                prop_assert!((f64::from(step.firsts[w * states + h]) - expected).abs() < 1e-5);
            }
        }
        let seconds = step.seconds.unwrap();
        for h in 0..states {
            let total: f64 = by_second.iter().skip(h).step_by(states).sum();
            for x in 0..table[0].len() {
                let expected = if total > 0.0 { by_second[x * states + h] / total } else { 0.0 };
                prop_assert!((f64::from(seconds[x * states + h]) - expected).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn likelihood_never_falls((table, states, values) in tables()) {
        let counts = pair_counts(&table);
        let (mut firsts, mut seconds) = factors(&values, table.len(), states);
        let mut last = f64::NEG_INFINITY;
        for iteration in 0..30 {
            let factors = Factors { states, firsts: &firsts, seconds: &seconds };
            let step = counts.step(factors, iteration % 3 > 0, &Cancel::new()).unwrap();
            prop_assert!(step.log_likelihood >= last - 1e-4, "{} < {last}", step.log_likelihood);
            last = step.log_likelihood;
            firsts = step.firsts;
            seconds = step.seconds.unwrap_or(seconds);
        }
    }
}

#[test]
fn columns_are_checked() {
    let error = |offsets: &[usize], seconds: &[u32], counts: &[f32]| {
        PairCounts::new(offsets.to_vec(), seconds, counts, 2).unwrap_err()
    };
    assert_eq!(error(&[], &[0], &[1.0]), PairCountsError::Offsets(1));
    assert_eq!(error(&[0, 2, 1], &[0], &[1.0]), PairCountsError::Offsets(1));
    assert_eq!(error(&[0, 1], &[2], &[1.0]), PairCountsError::Word { word: 2, words: 2 });
    assert_eq!(error(&[0, 1], &[1], &[0.0]), PairCountsError::Count);
    assert_eq!(error(&[0, 1], &[1], &[]), PairCountsError::Lengths { seconds: 1, counts: 0 });
    let counts = PairCounts::new(vec![0, 1], &[1], &[1.0], 2).unwrap();
    let factors = Factors { states: 2, firsts: &[0.5, 0.5], seconds: &[1.0] };
    assert!(matches!(
        counts.step(factors, true, &Cancel::new()),
        Err(PairCountsError::Factors { expected: 4, found: 1, .. })
    ));
}

#[test]
fn a_raised_flag_stops_the_work() {
    let counts = PairCounts::new(vec![0, 1], &[0], &[1.0], 1).unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    let factors = Factors { states: 1, firsts: &[1.0], seconds: &[1.0] };
    let cancelled = PairCountsError::Cancelled(Cancelled);
    assert_eq!(counts.step(factors, true, &cancel).unwrap_err(), cancelled);
    assert_eq!(counts.log_likelihood(factors, &cancel).unwrap_err(), cancelled);
}
