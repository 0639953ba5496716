//! A counted grammar with latent states drawn at random.

use lpcfg_core::grammar::{Grammar, LatentArrays};

use crate::counted_grammar::Counted;
use crate::random_trees::Random;

const PARAMETERS: u64 = 3;

/// Nodes up to which a symbol has one state, and from which on it has all of them.
const FEW: f64 = 10.0;
const MANY: f64 = 100.0;

/// The grammar with up to so many states a symbol; this share of the values of each tensor, or all
/// of them, is kept.
pub fn with_states(counted: &Counted, most: u32, density: Option<f64>) -> Grammar {
    let mut random = Random::new(PARAMETERS);
    let states: Vec<u32> = counted
        .weights
        .iter()
        .map(|weight| ((weight - FEW) / (MANY - FEW)).clamp(0.0, 1.0))
        .map(|share| 1 + (f64::from(most - 1) * share) as u32)
        .collect();
    let of = |symbol: u32| states[symbol as usize];
    let mut arrays = LatentArrays {
        states: states.clone(),
        ..LatentArrays::default()
    };
    for (rule, probability) in &counted.binary {
        let [parent, left, right] = rule.map(of);
        let size = parent * left * right;
        let share = density.unwrap_or(1.0);
        let kept: Vec<u32> = (0..size).filter(|_| random.unit() < share).collect();
        let scale = probability / (f64::from(left * right) * share);
        arrays
            .binary
            .extend(kept.iter().map(|_| (2.0 * random.unit() * scale) as f32));
        arrays.binary_counts.push(kept.len() as u32);
        if kept.len() < size as usize {
            arrays.binary_positions.extend(kept);
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
        .with_latent(arrays)
        .expect("the arrays fit the grammar")
}
