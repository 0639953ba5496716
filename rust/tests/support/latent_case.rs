//! Small random grammars with latent states, and the weights of all their trees.

use lpcfg_core::cancel::Cancel;
use lpcfg_core::chart::Chart;
use lpcfg_core::chart::latent::{LatentOutcome, LatentPass};
use lpcfg_core::chart::pcfg::{Bounds, PcfgPass};
use lpcfg_core::grammar::{Grammar, LatentArrays, Token};
use proptest::prelude::*;

use super::{Case, Derived, case};

/// A grammar with a number of states for each symbol and dense parameters drawn from a list.
#[derive(Debug, Clone)]
pub struct LatentCase {
    pub case: Case,
    arrays: LatentArrays<'static>,
    /// Whether the core is given sparse tensors.
    sparse: bool,
    /// The factor of all states but the first in the weights of trees.
    damping: f64,
}

/// Each symbol has so many vectors of emission likelihood ratios, which its emissions share.
const RATIO_VECTORS: usize = 2;

/// Grammars with parameters from `lowest` up to one, zeros among them.
pub fn latent_case(lowest: f32, with_unary: bool) -> impl Strategy<Value = LatentCase> {
    case(with_unary).prop_flat_map(move |case| latent_states(case, lowest))
}

/// Latent states for a given backbone.
pub fn latent_states(case: Case, lowest: f32) -> impl Strategy<Value = LatentCase> {
    proptest::collection::vec(1u32..4, case.symbols as usize).prop_flat_map(move |states| {
        let case = case.clone();
        let of = |symbol: u32| states[symbol as usize] as usize;
        let vectors: usize = states.iter().map(|&m| m as usize).sum();
        let sizes: Vec<usize> = case.binary.iter().map(|r| of(r.0) * of(r.1) * of(r.2)).collect();
        let may_be_root: Vec<bool> = (0..case.symbols)
            .flat_map(|symbol| vec![case.roots[symbol as usize] > 0.0; of(symbol)])
            .collect();
        let unary_sizes = case.unary.iter().map(|rule| of(rule.0) * of(rule.1));
        let unary_size: usize = unary_sizes.sum();
        let entries = case.emissions.iter().flatten().count();
        let values = move |count| proptest::collection::vec(lowest..1.0f32, count);
        // Half of the values are zero, so that a sparse tensor has holes.
        let holes = proptest::collection::vec(
            prop_oneof![Just(0.0), lowest..1.0f32],
            sizes.iter().sum::<usize>(),
        );
        let chosen = proptest::collection::vec(0..RATIO_VECTORS as u32, entries);
        let rules = (holes, values(unary_size));
        let arrays =
            (values(vectors), rules, values(RATIO_VECTORS * vectors), chosen, values(vectors));
        (arrays, any::<bool>()).prop_map(
            move |((roots, (binary, unary), emission_ratios, chosen, tag_emissions), sparse)| {
                LatentCase {
                    case: case.clone(),
                    sparse,
                    damping: 1.0,
                    arrays: LatentArrays {
                        states: states.clone(),
                        // A symbol that is never a root may still be below one.
                        roots: roots
                            .into_iter()
                            .zip(&may_be_root)
                            .map(|(root, &may)| if may { root } else { 0.0 })
                            .collect(),
                        binary: binary.into(),
                        binary_counts: sizes.iter().map(|&size| size as u32).collect(),
                        binary_positions: vec![].into(),
                        unary,
                        emission_ratios,
                        ratio_symbols: (0..case.symbols)
                            .flat_map(|symbol| [symbol; RATIO_VECTORS])
                            .collect(),
                        entry_ratios: case
                            .emissions
                            .iter()
                            .flatten()
                            .zip(&chosen)
                            .map(|(entry, chosen)| entry.0 * RATIO_VECTORS as u32 + chosen)
                            .collect(),
                        tag_emissions,
                    },
                }
            },
        )
    })
}

/// A sentence after the latent pass.
pub struct Passed {
    pub grammar: Grammar,
    /// The chart before the latent pass.
    pub pcfg_chart: Chart,
    pub chart: Chart,
    pub pass: LatentPass,
    pub outcome: LatentOutcome,
}

impl LatentCase {
    fn states(&self, symbol: u32) -> usize {
        self.arrays.states[symbol as usize] as usize
    }

    /// The same grammar with the backbone as first state of each symbol, as in spectral models.
    pub fn deviating(mut self) -> Self {
        self.sparse = false;
        let mut from = 0;
        for (symbol, &states) in self.arrays.states.iter().enumerate() {
            self.arrays.roots[from] = self.case.roots[symbol] as f32;
            from += states as usize;
        }
        from = 0;
        for &symbol in &self.arrays.ratio_symbols {
            self.arrays.emission_ratios[from] = 1.0;
            from += self.arrays.states[symbol as usize] as usize;
        }
        from = 0;
        for (rule, &size) in self.case.binary.iter().zip(&self.arrays.binary_counts) {
            self.arrays.binary.to_mut()[from] = rule.3 as f32;
            from += size as usize;
        }
        self
    }

    /// The same grammar with damped states in the weights of trees.
    pub fn damped(&self, damping: f64) -> Self {
        Self { damping, ..self.clone() }
    }

    /// A vector over states where it is used.
    fn damp(&self, mut vector: Vec<f64>) -> Vec<f64> {
        vector.iter_mut().skip(1).for_each(|value| *value *= self.damping);
        vector
    }

    /// The same tensors without their zeros, but for those of every third rule.
    fn sparse(&self) -> LatentArrays<'static> {
        let mut arrays = self.arrays.clone();
        arrays.binary.to_mut().clear();
        arrays.binary_counts.clear();
        let mut from = 0;
        for (rule, &size) in self.arrays.binary_counts.iter().enumerate() {
            let values = &self.arrays.binary[from..][..size as usize];
            let kept: Vec<u32> =
                (0..size).filter(|&p| rule % 3 == 2 || values[p as usize] != 0.0).collect();
            arrays.binary.to_mut().extend(kept.iter().map(|&p| values[p as usize]));
            arrays.binary_counts.push(kept.len() as u32);
            if kept.len() < size as usize {
                arrays.binary_positions.to_mut().extend(kept);
            }
            from += size as usize;
        }
        arrays
    }

    pub fn grammar(&self, coarse: bool) -> Grammar {
        let arrays = if self.sparse { self.sparse() } else { self.arrays.clone() };
        self.case.grammar(coarse).with_latent(arrays, &Cancel::new()).unwrap()
    }

    fn tensor(&self, parent: u32, left: u32, right: u32) -> &[f32] {
        let place = self.case.binary.iter().position(|r| (r.0, r.1, r.2) == (parent, left, right));
        let sizes = &self.arrays.binary_counts;
        let from: u32 = sizes[..place.unwrap()].iter().sum();
        &self.arrays.binary[from as usize..][..sizes[place.unwrap()] as usize]
    }

    fn unary_matrix(&self, parent: u32, child: u32) -> &[f32] {
        let size = |rule: &(u32, u32, f64)| self.states(rule.0) * self.states(rule.1);
        let place = self.case.unary.iter().position(|r| (r.0, r.1) == (parent, child)).unwrap();
        let from: usize = self.case.unary[..place].iter().map(size).sum();
        &self.arrays.unary[from..][..size(&self.case.unary[place])]
    }

    fn emission(&self, word: u32, symbol: u32) -> Vec<f64> {
        let before = self.case.emissions[..word as usize].iter().flatten().count();
        let own = &self.case.emissions[word as usize];
        let place = own.iter().position(|entry| entry.0 == symbol).unwrap();
        let vector = self.arrays.entry_ratios[before + place] as usize;
        let symbols = &self.arrays.ratio_symbols[..vector];
        let from: usize = symbols.iter().map(|&symbol| self.states(symbol)).sum();
        let values = &self.arrays.emission_ratios[from..][..self.states(symbol)];
        values.iter().map(|&value| own[place].1 * f64::from(value)).collect()
    }

    pub fn tokens(&self) -> Vec<Token> {
        self.case.sentence.iter().map(|&word| Token::Word(word)).collect()
    }

    /// Run the passes over an unpruned chart; sentences without a tree are not looked at.
    pub fn pass(&self) -> Result<Passed, TestCaseError> {
        let grammar = self.grammar(false);
        let (words, cancel) = (self.case.words(), Cancel::new());
        let mut chart = Chart::default();
        PcfgPass::default().run(&grammar, &words, Bounds::NONE, 0.0, &mut chart, &cancel).unwrap();
        prop_assume!(chart.log_probability() > f64::NEG_INFINITY);
        chart.prune(0.0);
        let pcfg_chart = chart.clone();
        let mut pass = LatentPass::default();
        let outcome = pass
            .run(
                &grammar,
                grammar.latent().unwrap(),
                self.damping as f32,
                &self.tokens(),
                &words,
                &mut chart,
                &cancel,
            )
            .unwrap();
        Ok(Passed { grammar, pcfg_chart, chart, pass, outcome })
    }

    /// The vector of the first of some nodes in pre-order, and how many nodes it takes up.
    fn vector(&self, nodes: &[(u32, usize, usize)]) -> (Vec<f64>, usize) {
        let (symbol, start, end) = nodes[0];
        if let Some(&(child, from, to)) = nodes.get(1)
            && (from, to) == (start, end)
        {
            let (below, count) = self.vector(&nodes[1..]);
            let rows = self.unary_matrix(symbol, child).chunks_exact(below.len());
            let product =
                |row: &[f32]| row.iter().zip(&below).map(|(&r, b)| f64::from(r) * b).sum();
            return (rows.map(product).collect(), 1 + count);
        }
        if end - start == 1 {
            return (self.emission(self.case.sentence[start], symbol), 1);
        }
        let (left, left_nodes) = self.vector(&nodes[1..]);
        let (right, right_nodes) = self.vector(&nodes[1 + left_nodes..]);
        let (left, right) = (self.damp(left), self.damp(right));
        let tensor = self.tensor(symbol, nodes[1].0, nodes[1 + left_nodes].0);
        let mut vector = vec![0.0; self.states(symbol)];
        for (i, sum) in vector.iter_mut().enumerate() {
            for (j, left_value) in left.iter().enumerate() {
                for (k, right_value) in right.iter().enumerate() {
                    let value = tensor[(i * left.len() + j) * right.len() + k];
                    *sum += f64::from(value) * left_value * right_value;
                }
            }
        }
        (vector, 1 + left_nodes + right_nodes)
    }

    /// All trees of the backbone with their weights under the latent model.
    pub fn weighted_trees(&self) -> Vec<Derived> {
        self.case
            .trees()
            .into_iter()
            .map(|tree| {
                let root = tree.nodes[0].0;
                let from: usize = (0..root).map(|symbol| self.states(symbol)).sum();
                let roots = &self.arrays.roots[from..][..self.states(root)];
                let vector = self.damp(self.vector(&tree.nodes).0);
                let weight = roots.iter().zip(vector).map(|(&r, v)| f64::from(r) * v).sum();
                Derived { nodes: tree.nodes, probability: weight }
            })
            .collect()
    }
}
