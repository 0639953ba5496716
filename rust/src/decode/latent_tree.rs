//! The probability of a tree under a model with latent states.

use super::{Derivation, Words};
use crate::grammar::{Grammar, Latent, SymbolId, Token};
use crate::numeric::simd_dispatch::simd_dispatch;
use crate::numeric::tensor::Tensor;

/// The log-probability of a derivation of `sentence`, summed over all latent states; minus infinity
/// if the model gives it no positive probability. All states but the first are multiplied by
/// `damping` ([`Latent::damping`]).
pub fn latent_log_probability(
    grammar: &Grammar,
    latent: &Latent,
    damping: f32,
    sentence: &[Token],
    words: &Words,
    derivation: &Derivation,
) -> f64 {
    // In reverse pre-order, the inside vectors of a node's children are on the stack before the
    // node is reached, the left one on top. Each vector is scaled so that its largest value is one,
    // and the logarithms of the scales are summed.
    let mut stack: Vec<(SymbolId, Vec<f64>)> = Vec::new();
    let mut log_scale = 0.0;
    for (place, node) in derivation.nodes.iter().enumerate().rev() {
        let next = derivation.nodes.get(place + 1);
        let is_unary = next.is_some_and(|next| (next.start, next.end) == (node.start, node.end));
        let mut vector = if is_unary {
            let Some((child, vector)) = stack.pop() else { return f64::NEG_INFINITY };
            let key = (child, node.symbol);
            let rules = grammar.rules().unary();
            match rules.binary_search_by_key(&key, |rule| (rule.child, rule.parent)) {
                Ok(rule) => latent
                    .unary_matrix(rule)
                    .chunks_exact(vector.len())
                    .map(|row| row.iter().zip(&vector).map(|(&r, v)| f64::from(r) * v).sum())
                    .collect(),
                Err(_) => return f64::NEG_INFINITY,
            }
        } else if node.end - node.start == 1 {
            let position = node.start as usize;
            let probability =
                words[position].iter().find(|entry| entry.0 == node.symbol).map_or(0.0, |e| e.1);
            let ratios =
                latent.emission_ratios(grammar.emissions(), sentence[position], node.symbol);
            ratios.iter().map(|&value| probability * f64::from(value)).collect()
        } else {
            let (Some((left, left_vector)), Some((right, right_vector))) =
                (stack.pop(), stack.pop())
            else {
                return f64::NEG_INFINITY;
            };
            let pairs = grammar.pairs();
            let rule = pairs.row(left).get(right).and_then(|pair| {
                pairs
                    .rule_numbers(pair)
                    .find(|&rule| grammar.rules().binary()[rule].parent == node.symbol)
            });
            let Some(rule) = rule else { return f64::NEG_INFINITY };
            contract(latent.tensor(rule), latent.states(node.symbol), &left_vector, &right_vector)
        };
        vector.iter_mut().skip(1).for_each(|value| *value *= f64::from(damping));
        let largest = vector.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        if largest == 0.0 {
            return f64::NEG_INFINITY;
        }
        for value in &mut vector {
            *value /= largest;
        }
        log_scale += largest.ln();
        stack.push((node.symbol, vector));
    }
    let Some((root, vector)) = stack.pop() else { return f64::NEG_INFINITY };
    let total: f64 = latent.root(root).iter().zip(&vector).map(|(&r, v)| f64::from(r) * v).sum();
    if total > 0.0 { total.ln() + log_scale } else { f64::NEG_INFINITY }
}

/// The inside vector of a parent with this number of states (`rows`): the tensor of a rule
/// contracted with the vectors of both children.
fn contract(tensor: Tensor<'_>, rows: usize, left: &[f64], right: &[f64]) -> Vec<f64> {
    simd_dispatch!(
        contract_portable,
        (tensor: Tensor<'_>, rows: usize, left: &[f64], right: &[f64]) -> Vec<f64>
    )
}

#[inline(always)]
fn contract_portable(tensor: Tensor<'_>, rows: usize, left: &[f64], right: &[f64]) -> Vec<f64> {
    let matrix: Vec<f64> =
        left.iter().flat_map(|left| right.iter().map(move |right| left * right)).collect();
    let product = |(&value, pair): (&f32, &f64)| f64::from(value) * pair;
    match tensor {
        Tensor::Dense(values) => {
            values.chunks_exact(matrix.len()).map(|row| dot_in_double(row, &matrix)).collect()
        }
        Tensor::Sparse(tensor) => {
            let mut vector = vec![0.0; rows];
            for (row, columns, values) in tensor.rows() {
                let pairs = columns.iter().map(|&column| &matrix[column as usize]);
                vector[row] = values.iter().zip(pairs).map(product).sum();
            }
            vector
        }
    }
}

/// The scalar product of two vectors. Eight sums do not wait for each other.
#[inline(always)]
fn dot_in_double(single: &[f32], double: &[f64]) -> f64 {
    let ((single, single_rest), (double, double_rest)) =
        (single.as_chunks::<8>(), double.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (single, double) in single.iter().zip(double) {
        for ((sum, &one), other) in sums.iter_mut().zip(single).zip(double) {
            *sum += f64::from(one) * other;
        }
    }
    let rest = single_rest.iter().zip(double_rest);
    let rest: f64 = rest.map(|(&one, other)| f64::from(one) * other).sum();
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
}
