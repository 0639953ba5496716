//! Expectations over latent states against the enumeration of all assignments of states.

use lpcfg_core::cancel::Cancel;
use lpcfg_core::em::{LatentTrees, NodeVectors, Parameters, TreesError, merge_losses};
use proptest::prelude::*;

const STATES: [u32; 3] = [1, 2, 3];
const WORDS: u32 = 2;

/// Trees over three symbols as columns, with the parameters that go with them.
#[derive(Debug, Clone)]
struct Case {
    symbol: Vec<u32>,
    left: Vec<i32>,
    right: Vec<i32>,
    event: Vec<u32>,
    tree_offsets: Vec<usize>,
    rules: Vec<[u32; 3]>,
    values: Vec<f32>,
    /// Of ten values of a tensor, how many are zero.
    zeros: usize,
}

impl Case {
    /// Trees whose shapes and symbols are read off `choices`, a slice for each.
    fn new(choices: &[Vec<u32>], values: Vec<f32>) -> Self {
        let mut case = Self {
            symbol: Vec::new(),
            left: Vec::new(),
            right: Vec::new(),
            event: Vec::new(),
            tree_offsets: vec![0],
            rules: Vec::new(),
            values,
            zeros: 0,
        };
        for choices in choices {
            case.subtree(choices);
            case.tree_offsets.push(case.symbol.len());
        }
        case
    }

    fn subtree(&mut self, choices: &[u32]) -> usize {
        let symbol = choices[0] % 3;
        let (left, right, event) = if choices.len() < 2 {
            (-1, -1, symbol * WORDS + choices[0] / 3 % WORDS)
        } else {
            let split = 1 + (choices[0] / 3) as usize % (choices.len() - 1);
            let left = self.subtree(&choices[..split]);
            let right = self.subtree(&choices[split..]);
            let rule = [symbol, self.symbol[left], self.symbol[right]];
            let place = self.rules.iter().position(|known| *known == rule);
            let place = place.unwrap_or_else(|| {
                self.rules.push(rule);
                self.rules.len() - 1
            });
            (left as i32, right as i32, place as u32)
        };
        self.symbol.push(symbol);
        self.left.push(left);
        self.right.push(right);
        self.event.push(event);
        self.symbol.len() - 1
    }

    fn trees(&self) -> LatentTrees {
        let columns =
            (self.symbol.clone(), self.left.clone(), self.right.clone(), self.event.clone());
        let emissions = (0..3).flat_map(|symbol| [symbol; WORDS as usize]).collect();
        LatentTrees::new(columns, self.tree_offsets.clone(), self.rules.clone(), emissions, 3)
            .expect("trees are well formed")
    }

    /// Roots, tensors and emissions, from the case's values over and over.
    fn arrays(&self) -> [Vec<f32>; 3] {
        let size = |symbol: u32| STATES[symbol as usize] as usize;
        let tensors: usize =
            self.rules.iter().map(|rule| rule.map(size).iter().product::<usize>()).sum();
        let emissions = (0..3).map(|symbol| size(symbol) * WORDS as usize).sum();
        let mut values = self.values.iter().copied().cycle();
        let mut arrays: [Vec<f32>; 3] =
            [6, tensors, emissions].map(|length| values.by_ref().take(length).collect());
        for (place, value) in arrays[1].iter_mut().enumerate() {
            if place * 7 % 10 < self.zeros {
                *value = 0.0;
            }
        }
        arrays
    }

    fn tensor_offset(&self, rule: usize) -> usize {
        let size = |symbol: u32| STATES[symbol as usize] as usize;
        self.rules[..rule].iter().map(|rule| rule.map(size).iter().product::<usize>()).sum()
    }

    /// The weight of an assignment of states to the nodes of a tree.
    fn weight(&self, arrays: &[Vec<f32>; 3], from: usize, states: &[usize]) -> f64 {
        let first = |symbol: u32| symbol as usize * (symbol as usize + 1) / 2;
        let size = |symbol: u32| STATES[symbol as usize] as usize;
        let root = from + states.len() - 1;
        let mut weight = f64::from(arrays[0][first(self.symbol[root]) + states[states.len() - 1]]);
        for (place, &state) in states.iter().enumerate() {
            let node = from + place;
            let symbol = self.symbol[node];
            weight *= f64::from(if self.left[node] < 0 {
                let word = (self.event[node] % WORDS) as usize;
                arrays[2][first(symbol) * WORDS as usize + word * size(symbol) + state]
            } else {
                arrays[1][self.tensor_place(node, state, states, from)]
            });
        }
        weight
    }

    fn tensor_place(&self, node: usize, state: usize, states: &[usize], from: usize) -> usize {
        let (left, right) = (self.left[node] as usize, self.right[node] as usize);
        let size = |node: usize| STATES[self.symbol[node] as usize] as usize;
        let inner = (state * size(left) + states[left - from]) * size(right) + states[right - from];
        self.tensor_offset(self.event[node] as usize) + inner
    }

    /// All assignments of states to the nodes of a tree.
    fn assignments(&self, tree: usize) -> Vec<Vec<usize>> {
        let nodes = self.tree_offsets[tree]..self.tree_offsets[tree + 1];
        let mut all = vec![Vec::new()];
        for node in nodes {
            let states = STATES[self.symbol[node] as usize] as usize;
            all = all
                .into_iter()
                .flat_map(|assignment: Vec<usize>| {
                    (0..states).map(move |state| [assignment.as_slice(), &[state]].concat())
                })
                .collect();
        }
        all
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let trees = proptest::collection::vec(proptest::collection::vec(0u32..60, 1..5), 1..4);
    let values = proptest::collection::vec(0.05f32..1.0, 97);
    (trees, values, 0..10usize)
        .prop_map(|(trees, values, zeros)| Case { zeros, ..Case::new(&trees, values) })
}

fn close(found: f64, expected: f64) -> Result<(), TestCaseError> {
    prop_assert!((found - expected).abs() <= 1e-4 * expected.abs().max(1.0), "{found} {expected}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn agree_with_enumeration(case in cases()) {
        let trees = case.trees();
        let arrays = case.arrays();
        let parameters =
            Parameters::new(&trees, &STATES, &arrays[0], &arrays[1], &arrays[2]).unwrap();
        let cancel = Cancel::new();
        let vectors = NodeVectors::compute(&trees, &parameters, &cancel).unwrap();
        let counts = vectors.count(&trees, &parameters, &cancel).unwrap();

        let mut roots = vec![0.0; arrays[0].len()];
        let mut binary = vec![0.0; arrays[1].len()];
        for tree in 0..trees.number_of_trees() {
            let from = case.tree_offsets[tree];
            let assignments = case.assignments(tree);
            let weights: Vec<f64> =
                assignments.iter().map(|states| case.weight(&arrays, from, states)).collect();
            let total: f64 = weights.iter().sum();
            if total == 0.0 {
                prop_assert_eq!(vectors.log_probabilities[tree], f64::NEG_INFINITY);
                continue;
            }
            close(vectors.log_probabilities[tree], total.ln())?;
            let mut posteriors = vec![[0.0; 3]; case.tree_offsets[tree + 1] - from];
            for (states, weight) in assignments.iter().zip(&weights) {
                for (place, &state) in states.iter().enumerate() {
                    posteriors[place][state] += weight / total;
                    if case.left[from + place] >= 0 {
                        binary[case.tensor_place(from + place, state, states, from)] += weight / total;
                    }
                }
                let symbol = case.symbol[case.tree_offsets[tree + 1] - 1] as usize;
                roots[symbol * (symbol + 1) / 2 + states[states.len() - 1]] += weight / total;
            }
            for (place, expected) in posteriors.iter().enumerate() {
                for (found, &expected) in vectors.posteriors(from + place).zip(expected) {
                    close(f64::from(found), expected)?;
                }
            }
        }
        for (&found, &expected) in counts.roots.iter().zip(&roots) {
            close(found, expected)?;
        }
        for (&found, &expected) in counts.binary.iter().zip(&binary) {
            close(f64::from(found), expected)?;
        }
    }

    /// With one tree, and a symbol that occurs in it once, merging at the node is merging
    /// everywhere: the loss is exact.
    #[test]
    fn losses_are_those_of_merging(values in proptest::collection::vec(0.05f32..1.0, 97), share in 0.1f64..0.9) {
        let case = Case::new(&[vec![0, 4]], values);
        let trees = case.trees();
        let arrays = case.arrays();
        let parameters =
            Parameters::new(&trees, &STATES, &arrays[0], &arrays[1], &arrays[2]).unwrap();
        let vectors = NodeVectors::compute(&trees, &parameters, &Cancel::new()).unwrap();
        let counts = [1.0, share, 1.0 - share, 1.0, 1.0, 1.0];
        let losses = merge_losses(&vectors, &trees, &parameters, &counts);

        let node = case.symbol.iter().position(|&symbol| symbol == 1).unwrap();
        let shares = [share, 1.0 - share];
        // Merged, a state generates what either did, in their proportions, wherever either was
        // generated: assignments are summed over the state above and the state below.
        let assignments = case.assignments(0);
        let total: f64 = assignments.iter().map(|states| case.weight(&arrays, 0, states)).sum();
        let leaf = |state: usize| {
            let word = (case.event[node] % WORDS) as usize;
            f64::from(arrays[2][WORDS as usize + word * 2 + state])
        };
        let merged: f64 = assignments
            .iter()
            .map(|states| {
                let above = case.weight(&arrays, 0, states) / leaf(states[node]);
                above * (shares[0] * leaf(0) + shares[1] * leaf(1))
            })
            .sum();
        close(losses[1], (total / merged).ln())?;
        prop_assert_eq!(losses[2], 0.0);
    }
}

#[test]
fn long_trees_do_not_underflow() {
    let choices: Vec<u32> = vec![1; 600];
    let case = Case::new(&[choices], vec![1e-20]);
    let trees = case.trees();
    let arrays = case.arrays();
    let parameters = Parameters::new(&trees, &STATES, &arrays[0], &arrays[1], &arrays[2]).unwrap();
    let vectors = NodeVectors::compute(&trees, &parameters, &Cancel::new()).unwrap();
    assert!(vectors.log_probabilities[0].is_finite());
    let sums = (0..case.symbol.len()).map(|node| vectors.posteriors(node).sum::<f32>());
    assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-3));
}

#[test]
fn tensors_below_the_normal_numbers_count_as_others() {
    let choices = [vec![0, 4, 2, 7], vec![4, 2], vec![1, 2, 3]];
    for zeros in [0, 7] {
        let case = |value| Case { zeros, ..Case::new(&choices, vec![value]) };
        let (case, usual) = (case(1e-38 / 16.0), case(0.5));
        let counts = |case: &Case| {
            let trees = case.trees();
            let [roots, binary, _] = case.arrays();
            let emissions = usual.arrays()[2].clone();
            let parameters = Parameters::new(&trees, &STATES, &roots, &binary, &emissions).unwrap();
            let cancel = Cancel::new();
            let vectors = NodeVectors::compute(&trees, &parameters, &cancel).unwrap();
            let counts = vectors.count(&trees, &parameters, &cancel).unwrap();
            (vectors.all_posteriors(), counts.binary, counts.roots)
        };
        let (small, expected) = (counts(&case), counts(&usual));
        assert!(expected.1.iter().sum::<f32>() > 1.0);
        let near = |one: f64, two: f64| (one - two).abs() < 1e-3;
        for (&one, &two) in small.0.iter().zip(&expected.0) {
            assert!(near(one.into(), two.into()), "{one} {two}");
        }
        for (&one, &two) in small.1.iter().zip(&expected.1) {
            assert!(near(one.into(), two.into()), "{one} {two}");
        }
        for (&one, &two) in small.2.iter().zip(&expected.2) {
            assert!(near(one, two), "{one} {two}");
        }
    }
}

#[test]
fn impossible_trees_count_nothing() {
    let case = Case::new(&[vec![0, 4, 2], vec![4]], vec![0.5]);
    let trees = case.trees();
    let mut arrays = case.arrays();
    arrays[1].fill(0.0);
    let parameters = Parameters::new(&trees, &STATES, &arrays[0], &arrays[1], &arrays[2]).unwrap();
    let cancel = Cancel::new();
    let vectors = NodeVectors::compute(&trees, &parameters, &cancel).unwrap();
    assert_eq!(vectors.log_probabilities[0], f64::NEG_INFINITY);
    assert!(vectors.log_probabilities[1].is_finite());
    let counts = vectors.count(&trees, &parameters, &cancel).unwrap();
    assert!(counts.binary.iter().all(|&count| count == 0.0));
    assert!((counts.roots.iter().sum::<f64>() - 1.0).abs() < 1e-6);
}

#[test]
fn wrong_parameters_are_refused() {
    let case = Case::new(&[vec![0, 4, 2]], vec![0.5]);
    let trees = case.trees();
    let arrays = case.arrays();
    let refuse = |states: &[u32], roots: &[f32], binary: &[f32], emissions: &[f32]| {
        Parameters::new(&trees, states, roots, binary, emissions).unwrap_err()
    };
    let [roots, binary, emissions] = &arrays;
    let error = refuse(&STATES[..2], roots, binary, emissions);
    assert_eq!(error, TreesError::Length { array: "states", expected: 3, found: 2 });
    assert_eq!(refuse(&[1, 0, 3], roots, binary, emissions), TreesError::NoStates(1));
    let error = refuse(&STATES, &roots[1..], binary, emissions);
    assert_eq!(error, TreesError::Length { array: "roots", expected: 6, found: 5 });
    let mut negative = roots.clone();
    negative[2] = -1.0;
    let error = refuse(&STATES, &negative, binary, emissions);
    let expected = TreesError::Value { array: "roots", index: 2, value: "-1".to_owned() };
    assert_eq!(error, expected);
}

#[test]
fn wrong_trees_are_refused() {
    let case = Case::new(&[vec![0, 4, 2]], vec![0.5]);
    let build = |left: &[i32], event: &[u32], offsets: &[usize]| {
        let columns = (case.symbol.clone(), left.to_vec(), case.right.clone(), event.to_vec());
        let emissions = (0..3).flat_map(|symbol| [symbol; WORDS as usize]).collect();
        LatentTrees::new(columns, offsets.to_vec(), case.rules.clone(), emissions, 3).map(|_| ())
    };
    let root = case.symbol.len() - 1;
    let offsets = [0, root + 1];
    assert_eq!(build(&case.left, &case.event, &offsets), Ok(()));
    assert_eq!(build(&case.left, &case.event, &[0, 1]), Err(TreesError::Offsets(root + 1)));
    assert_eq!(build(&case.left[1..], &case.event, &offsets), Err(TreesError::Columns));
    let mut left = case.left.clone();
    left[root] = -1;
    assert_eq!(build(&left, &case.event, &offsets), Err(TreesError::Children(root)));
    left[root] = root as i32;
    assert_eq!(build(&left, &case.event, &offsets), Err(TreesError::Children(root)));
    let mut event = case.event.clone();
    event[root] = 99;
    assert_eq!(build(&case.left, &event, &offsets), Err(TreesError::Event(root)));
}

#[test]
fn wrong_weights_are_refused() {
    let trees = || Case::new(&[vec![0, 4, 2]], vec![0.5]).trees();
    let error = trees().weighted(&[1.0, 2.0]).unwrap_err();
    assert_eq!(error, TreesError::Length { array: "weights", expected: 1, found: 2 });
    let error = trees().weighted(&[-1.0]).unwrap_err();
    let expected = TreesError::Value { array: "weights", index: 0, value: "-1".to_owned() };
    assert_eq!(error, expected);
}
