//! Expected counts from the inside and outside vectors of all nodes.

use rayon::prelude::*;

use super::node_vectors::{MAX_SHIFT, NodeVectors, outer_product};
use super::tensors::Tensors;
use super::trees::{LatentTrees, Parameters};
use crate::cancel::{Cancel, Cancelled};
use crate::numeric::scaling::power_of_two;
use crate::numeric::simd_dispatch::simd_dispatch;

/// The number of nodes that are summed in single precision before the sum is added to the total.
const SINGLE_PRECISION_NODES: usize = 256;

/// Expected counts, in the layout of the parameters.
#[derive(Debug)]
pub struct Expectations {
    /// Expected counts of each state of each symbol at the root.
    pub roots: Vec<f64>,
    /// Expected counts of each rule with each combination of states.
    pub binary: Vec<f32>,
}

impl NodeVectors {
    /// Expected counts of roots and rules.
    pub fn count(
        &self,
        trees: &LatentTrees,
        parameters: &Parameters<'_>,
        cancel: &Cancel,
    ) -> Result<Expectations, Cancelled> {
        let mut roots = vec![0.0; parameters.total_states()];
        for bounds in trees.tree_offsets.windows(2).filter(|bounds| bounds[0] < bounds[1]) {
            let root = bounds[1] - 1;
            let own = &mut roots[parameters.state_range(trees.symbol[root])];
            for (count, posterior) in own.iter_mut().zip(self.posteriors(root)) {
                *count += f64::from(trees.weight(root) * posterior);
            }
        }
        let rules = trees.rules.len();
        let mut binary = vec![0.0; parameters.total_binary()];
        let mut rest = binary.as_mut_slice();
        let mut counts = Vec::with_capacity(rules);
        for rule in 0..rules {
            let own;
            (own, rest) = rest.split_at_mut(parameters.tensor_range(rule).len());
            counts.push(own);
        }
        let tensors = Tensors::new(trees, parameters);
        counts.into_par_iter().enumerate().try_for_each_init(
            Sums::default,
            |sums, (rule, own)| {
                cancel.check()?;
                sums.add_up(self, trees, &tensors, rule);
                tensors.write_counts(rule, &sums.total, own);
                Ok(())
            },
        )?;
        Ok(Expectations { roots, binary })
    }
}

/// Sums over the nodes of a rule: outside values of the parent times inside values of the children.
#[derive(Debug, Default)]
struct Sums {
    total: Vec<f64>,
    partial: Vec<f32>,
    matrix: Vec<f32>,
}

impl Sums {
    fn add_up(
        &mut self,
        vectors: &NodeVectors,
        trees: &LatentTrees,
        tensors: &Tensors<'_>,
        rule: usize,
    ) {
        let length = tensors.stored(rule);
        self.total.clear();
        self.total.resize(length, 0.0);
        for nodes in trees.nodes_of_rule(rule).chunks(SINGLE_PRECISION_NODES) {
            self.partial.clear();
            self.partial.resize(length, 0.0);
            self.add_nodes(vectors, trees, tensors, rule, nodes);
            for (total, &sum) in self.total.iter_mut().zip(&self.partial) {
                *total += f64::from(sum);
            }
            // These would overflow single precision.
            for &node in nodes.iter().filter(|&&node| vectors.shifts[node as usize] > MAX_SHIFT) {
                let node = node as usize;
                let range = |node: usize| vectors.offsets[node]..vectors.offsets[node + 1];
                let left = &vectors.inside[range(trees.left[node] as usize)];
                let right = &vectors.inside[range(trees.right[node] as usize)];
                outer_product(left, right, &mut self.matrix);
                let scale = f64::from(trees.weight(node)) * power_of_two(vectors.shifts[node]);
                let parent = &vectors.outside[range(node)];
                tensors.count_in_double(rule, scale, parent, &self.matrix, &mut self.total);
            }
        }
    }

    fn add_nodes(
        &mut self,
        vectors: &NodeVectors,
        trees: &LatentTrees,
        tensors: &Tensors<'_>,
        rule: usize,
        nodes: &[u32],
    ) {
        let sums = self;
        simd_dispatch!(
            Sums::add_nodes_portable,
            (
                sums: &mut Sums,
                vectors: &NodeVectors,
                trees: &LatentTrees,
                tensors: &Tensors<'_>,
                rule: usize,
                nodes: &[u32],
            )
        );
    }

    #[inline(always)]
    fn add_nodes_portable(
        &mut self,
        vectors: &NodeVectors,
        trees: &LatentTrees,
        tensors: &Tensors<'_>,
        rule: usize,
        nodes: &[u32],
    ) {
        let range = |node: usize| vectors.offsets[node]..vectors.offsets[node + 1];
        for &node in nodes {
            let node = node as usize;
            let shift = vectors.shifts[node];
            if shift > MAX_SHIFT {
                continue;
            }
            let left = &vectors.inside[range(trees.left[node] as usize)];
            let right = &vectors.inside[range(trees.right[node] as usize)];
            outer_product(left, right, &mut self.matrix);
            let parent = &vectors.outside[range(node)];
            let scale = trees.weight(node) * power_of_two(shift) as f32;
            tensors.count(rule, scale, parent, &self.matrix, &mut self.partial);
        }
    }
}
