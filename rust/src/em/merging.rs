//! What would be lost if two states were one (Petrov et al. 2006, section 2.2).

use super::node_vectors::NodeVectors;
use super::trees::{LatentTrees, Parameters};

/// For each pair of neighbouring states (0 and 1, 2 and 3, ...) of each symbol, about how much the
/// log-likelihood falls if the two become one: at each node by itself, as if all others stayed.
///
/// `counts` says how often each state is used, by which the merged state mixes the two. The loss
/// of a pair is at the place of its first state; the other places, and last states without a
/// partner, have zero.
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
            let place = states.start + 2 * pair;
            let [first, second] = [counts[place], counts[place + 1]];
            if first + second == 0.0 {
                continue;
            }
            let share = first / (first + second);
            let [inside, outside] = [inside.map(f64::from), outside.map(f64::from)];
            let before = inside[0] * outside[0] + inside[1] * outside[1];
            let merged =
                (share * inside[0] + (1.0 - share) * inside[1]) * (outside[0] + outside[1]);
            // The rest of the posterior mass is that of other states.
            losses[place] -= (1.0 - before + merged).max(f64::MIN_POSITIVE).ln();
        }
    }
    losses
}
