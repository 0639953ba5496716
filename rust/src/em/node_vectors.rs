//! Inside and outside vectors of all nodes.

use rayon::prelude::*;

use super::tensors::Tensors;
use super::trees::{LatentTrees, Parameters};
use crate::cancel::{Cancel, Cancelled};
use crate::numeric::scaling::{exponent, power_of_two};
use crate::numeric::simd_dispatch::simd_dispatch;
use crate::numeric::vectors::{add_scaled, dot};
use crate::treebank::node_table::NONE;

/// The approximate number of nodes of a block of trees, the unit of work of a thread.
const BLOCK_NODES: usize = 4096;

/// Inside and outside vectors of all nodes under given parameters.
///
/// An inside vector is scaled so that its largest value is near one. An outside vector is scaled
/// so that its product with the inside vector is one: the products of their elements are the
/// posteriors of the states. In a tree without any probability they are zero.
#[derive(Debug)]
pub struct NodeVectors {
    /// Where the vectors of each node start.
    pub(super) offsets: Vec<usize>,
    pub(super) inside: Vec<f32>,
    pub(super) outside: Vec<f32>,
    /// The exponent of the power of two by which the inside vector of each node was scaled, beyond
    /// the scales of its children.
    pub(super) shifts: Vec<i32>,
    /// The log-probability of each tree.
    pub log_probabilities: Vec<f64>,
}

/// A block of trees, the unit of work of a thread, with its slices of the vectors.
struct Block<'a> {
    trees: std::ops::Range<usize>,
    /// The first node, and the offset of its vectors.
    origin: (usize, usize),
    inside: &'a mut [f32],
    outside: &'a mut [f32],
    shifts: &'a mut [i32],
    log_probabilities: &'a mut [f64],
}

/// The exponent of a power of two in single precision, with room to the largest one.
pub(super) const MAX_SHIFT: i32 = 100;

impl NodeVectors {
    /// Compute the vectors of all trees.
    pub fn compute(
        trees: &LatentTrees,
        parameters: &Parameters<'_>,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let mut offsets = Vec::with_capacity(trees.nodes() + 1);
        let mut end = 0;
        offsets.push(0);
        for &symbol in &trees.symbol {
            end += parameters.states(symbol);
            offsets.push(end);
        }
        let mut vectors = Self {
            offsets,
            inside: vec![0.0; end],
            outside: vec![0.0; end],
            shifts: vec![0; trees.nodes()],
            log_probabilities: vec![f64::NEG_INFINITY; trees.number_of_trees()],
        };
        let Self { offsets, inside, outside, shifts, log_probabilities } = &mut vectors;
        let blocks = blocks(trees, offsets, (inside, outside, shifts, log_probabilities));
        let tensors = Tensors::new(trees, parameters);
        blocks.into_par_iter().try_for_each(|mut block| {
            cancel.check()?;
            block.run(trees, parameters, &tensors, offsets);
            Ok(())
        })?;
        Ok(vectors)
    }

    /// The posteriors of a node's states.
    pub fn posteriors(&self, node: usize) -> impl Iterator<Item = f32> + '_ {
        let range = self.offsets[node]..self.offsets[node + 1];
        self.inside[range.clone()].iter().zip(&self.outside[range]).map(|(a, b)| a * b)
    }

    /// The posteriors of all nodes' states, one node after the other.
    pub fn all_posteriors(&self) -> Vec<f32> {
        self.inside.iter().zip(&self.outside).map(|(inside, outside)| inside * outside).collect()
    }

    /// The posteriors of all preterminals' states, `width` values for each, zero where a symbol
    /// has fewer states.
    pub fn leaf_posteriors(&self, trees: &LatentTrees, width: usize) -> Vec<f32> {
        let mut rows = vec![0.0; trees.number_of_leaves() * width];
        let leaves = (0..trees.nodes()).filter(|&node| trees.left[node] == NONE);
        for (row, leaf) in rows.chunks_exact_mut(width.max(1)).zip(leaves) {
            for (value, posterior) in row.iter_mut().zip(self.posteriors(leaf)) {
                *value = posterior;
            }
        }
        rows
    }
}

/// Split trees and vectors into blocks of whole trees. Blocks do not depend on the number of
/// threads.
fn blocks<'a>(
    trees: &LatentTrees,
    offsets: &[usize],
    columns: (&'a mut [f32], &'a mut [f32], &'a mut [i32], &'a mut [f64]),
) -> Vec<Block<'a>> {
    let (mut inside, mut outside, mut shifts, mut log_probabilities) = columns;
    let mut blocks = Vec::new();
    let mut first = 0;
    while first < trees.number_of_trees() {
        let from = trees.tree_offsets[first];
        let mut last = first + 1;
        while last < trees.number_of_trees() && trees.tree_offsets[last] - from < BLOCK_NODES {
            last += 1;
        }
        let (nodes, length) =
            (trees.tree_offsets[last] - from, offsets[trees.tree_offsets[last]] - offsets[from]);
        let block;
        (block, (inside, outside, shifts, log_probabilities)) = {
            let (inside, inside_rest) = inside.split_at_mut(length);
            let (outside, outside_rest) = outside.split_at_mut(length);
            let (shifts, shifts_rest) = shifts.split_at_mut(nodes);
            let (own, rest) = log_probabilities.split_at_mut(last - first);
            let origin = (from, offsets[from]);
            let block = Block {
                trees: first..last,
                origin,
                inside,
                outside,
                shifts,
                log_probabilities: own,
            };
            (block, (inside_rest, outside_rest, shifts_rest, rest))
        };
        blocks.push(block);
        first = last;
    }
    blocks
}

impl Block<'_> {
    fn run(
        &mut self,
        trees: &LatentTrees,
        parameters: &Parameters<'_>,
        tensors: &Tensors<'_>,
        offsets: &[usize],
    ) {
        let block = self;
        simd_dispatch!(
            Block::run_portable,
            (
                block: &mut Block<'_>,
                trees: &LatentTrees,
                parameters: &Parameters<'_>,
                tensors: &Tensors<'_>,
                offsets: &[usize],
            )
        );
    }

    #[inline(always)]
    fn run_portable(
        &mut self,
        trees: &LatentTrees,
        parameters: &Parameters<'_>,
        tensors: &Tensors<'_>,
        offsets: &[usize],
    ) {
        let (mut matrix, mut weights) = (Vec::new(), Vec::new());
        for tree in self.trees.clone() {
            let nodes = trees.tree_offsets[tree]..trees.tree_offsets[tree + 1];
            if nodes.is_empty() {
                continue;
            }
            let mut exponents = 0i64;
            for node in nodes.clone() {
                exponents +=
                    self.fill_inside(trees, parameters, tensors, offsets, node, &mut matrix);
            }
            let root = nodes.end - 1;
            let range = self.range(offsets, root);
            let vector = parameters.root(trees.symbol[root]);
            let total = dot(vector, &self.inside[range.clone()]);
            if total <= 0.0 {
                continue;
            }
            self.log_probabilities[tree - self.trees.start] =
                f64::from(total).ln() + exponents as f64 * std::f64::consts::LN_2;
            for (outside, &root) in self.outside[range].iter_mut().zip(vector) {
                *outside = root / total;
            }
            for node in nodes.rev() {
                if trees.left[node] != NONE {
                    self.fill_outside(trees, tensors, offsets, node, (&mut matrix, &mut weights));
                }
            }
        }
    }

    /// The range of the vectors of a node in this block.
    #[inline(always)]
    fn range(&self, offsets: &[usize], node: usize) -> std::ops::Range<usize> {
        offsets[node] - self.origin.1..offsets[node + 1] - self.origin.1
    }

    /// Compute the inside vector of a node from those of its children, and return the exponent by
    /// which it was scaled.
    #[inline(always)]
    fn fill_inside(
        &mut self,
        trees: &LatentTrees,
        parameters: &Parameters<'_>,
        tensors: &Tensors<'_>,
        offsets: &[usize],
        node: usize,
        matrix: &mut Vec<f32>,
    ) -> i64 {
        let range = self.range(offsets, node);
        let event = trees.event[node] as usize;
        if trees.left[node] == NONE {
            self.inside[range.clone()].copy_from_slice(parameters.emission(event));
        } else {
            let left = self.range(offsets, trees.left[node] as usize);
            let right = self.range(offsets, trees.right[node] as usize);
            outer_product(&self.inside[left], &self.inside[right], matrix);
            tensors.inside(event, matrix, &mut self.inside[range.clone()]);
        }
        let own = &mut self.inside[range];
        let largest = own.iter().fold(0.0f32, |largest, &value| largest.max(value));
        if largest == 0.0 {
            return 0;
        }
        let exponent = exponent(f64::from(largest));
        let scale = power_of_two(-exponent);
        for value in own {
            *value = (f64::from(*value) * scale) as f32;
        }
        self.shifts[node - self.origin.0] = -exponent;
        i64::from(exponent)
    }

    /// Compute the outside vectors of the children of a node.
    #[inline(always)]
    fn fill_outside(
        &mut self,
        trees: &LatentTrees,
        tensors: &Tensors<'_>,
        offsets: &[usize],
        node: usize,
        (matrix, weights): (&mut Vec<f32>, &mut Vec<f32>),
    ) {
        let left = self.range(offsets, trees.left[node] as usize);
        let right = self.range(offsets, trees.right[node] as usize);
        let shift = self.shifts[node - self.origin.0];
        let scale = power_of_two(shift.min(MAX_SHIFT)) as f32;
        matrix.clear();
        matrix.resize(left.len() * right.len(), 0.0);
        let event = trees.event[node] as usize;
        let outside = &self.outside[self.range(offsets, node)];
        weights.clear();
        weights.extend(outside.iter().map(|value| scale * value));
        tensors.outside(event, weights, matrix);
        if shift > MAX_SHIFT {
            // A larger power of two would overflow. The values of such a tensor are very small.
            let rest = power_of_two(shift - MAX_SHIFT) as f32;
            matrix.iter_mut().for_each(|value| *value *= rest);
        }
        for (number, row) in matrix.chunks_exact(right.len()).enumerate() {
            self.outside[left.start + number] = dot(row, &self.inside[right.clone()]);
            let inside = self.inside[left.start + number];
            add_scaled(&mut self.outside[right.clone()], inside, row);
        }
    }
}

/// The outer product of two vectors, row by row.
#[inline(always)]
pub(super) fn outer_product(left: &[f32], right: &[f32], matrix: &mut Vec<f32>) {
    matrix.clear();
    for &value in left {
        matrix.extend(right.iter().map(|other| value * other));
    }
}
