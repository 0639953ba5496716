//! A counted grammar with latent states drawn at random.

use lpcfg_core::cancel::Cancel;
use lpcfg_core::grammar::{Grammar, LatentArrays};

use crate::counted_grammar::Counted;
use crate::random_trees::Random;

const PARAMETERS: u64 = 3;

/// A symbol seen up to `MIN_COUNT` times has one state, one seen `FULL_COUNT` times or more has
/// all.
const MIN_COUNT: f64 = 10.0;
const FULL_COUNT: f64 = 100.0;

/// The grammar with up to `max_states` states for each symbol. Of the values of each tensor the
/// fraction `density` is kept, or all of them.
pub fn with_states(counted: &Counted, max_states: u32, density: Option<f64>) -> Grammar {
    let mut random = Random::new(PARAMETERS);
    let states: Vec<u32> = counted
        .weights
        .iter()
        .map(|weight| ((weight - MIN_COUNT) / (FULL_COUNT - MIN_COUNT)).clamp(0.0, 1.0))
        .map(|fraction| 1 + (f64::from(max_states - 1) * fraction) as u32)
        .collect();
    let of = |symbol: u32| states[symbol as usize];
    let mut arrays = LatentArrays {
        states: states.clone(),
        ..LatentArrays::default()
    };
    for (rule, probability) in &counted.binary {
        let [parent, left, right] = rule.map(of);
        let size = parent * left * right;
        let fraction = density.unwrap_or(1.0);
        let kept: Vec<u32> = (0..size).filter(|_| random.unit() < fraction).collect();
        let scale = probability / (f64::from(left * right) * fraction);
        arrays
            .binary
            .to_mut()
            .extend(kept.iter().map(|_| (2.0 * random.unit() * scale) as f32));
        arrays.binary_counts.push(kept.len() as u32);
        if kept.len() < size as usize {
            arrays.binary_positions.to_mut().extend(kept);
        }
    }
    for (symbol, &count) in states.iter().enumerate() {
        let root = counted.grammar.rules().roots()[symbol] as f32 / count as f32;
        arrays.roots.extend((0..count).map(|_| root));
        arrays.tag_emissions.extend((0..count).map(|_| 1.0));
    }
    // A vector of likelihood ratios for each entry of the lexicon.
    arrays.ratio_symbols.clone_from(&counted.entry_symbols);
    arrays.entry_ratios = (0..counted.entry_symbols.len() as u32).collect();
    for &symbol in &counted.entry_symbols {
        arrays
            .emission_ratios
            .extend((0..of(symbol)).map(|_| (2.0 * random.unit()) as f32));
    }
    let grammar = Grammar::clone(&counted.grammar);
    grammar
        .with_latent(arrays, &Cancel::new())
        .expect("the arrays fit the grammar")
}
