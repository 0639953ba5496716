//! The loss in likelihood from merging two states (Petrov et al. 2006, section 2.2).

use super::node_vectors::NodeVectors;
use super::trees::{LatentTrees, Parameters};

/// For each pair of neighbouring states (0 and 1, 2 and 3, ...) of each symbol, the approximate
/// loss in log-likelihood from merging the two. The losses of merging at single nodes are summed,
/// as if the states of all other nodes stayed apart.
///
/// `counts` are the expected counts of the states; the merged state mixes the two in proportion to
/// them. The loss of a pair is at the index of its first state. It is zero at the index of the
/// second state, and for a last state without a partner.
pub fn merge_losses(
    vectors: &NodeVectors,
    trees: &LatentTrees,
    parameters: &Parameters<'_>,
    counts: &[f64],
) -> Vec<f64> {
    let mut losses = vec![0.0; parameters.total_states()];
    for node in 0..trees.symbol.len() {
        let states = parameters.state_range(trees.symbol[node]);
        let range = vectors.offsets[node]..vectors.offsets[node + 1];
        let (inside, _) = vectors.inside[range.clone()].as_chunks::<2>();
        let (outside, _) = vectors.outside[range].as_chunks::<2>();
        for (pair, (inside, outside)) in inside.iter().zip(outside).enumerate() {
            let state = states.start + 2 * pair;
            let [first, second] = [counts[state], counts[state + 1]];
            if first + second == 0.0 {
                continue;
            }
            let weight = first / (first + second);
            let [inside, outside] = [inside.map(f64::from), outside.map(f64::from)];
            let before = inside[0] * outside[0] + inside[1] * outside[1];
            let merged =
                (weight * inside[0] + (1.0 - weight) * inside[1]) * (outside[0] + outside[1]);
            // The other states of the node keep their posteriors, which sum to 1 - before.
            let gain = (1.0 - before + merged).max(f64::MIN_POSITIVE).ln();
            losses[state] -= f64::from(trees.weight(node)) * gain;
        }
    }
    losses
}
