//! Expectations over latent states, given the trees of a treebank: the E-step of EM.
//!
//! The trees are fixed, so nothing is summed over but states: one [`LatentTrees`] is indexed once
//! and then meets the parameters of every iteration. Inside and outside vectors of all nodes are
//! kept, which lets the counts of a rule be summed node after node by one thread: the result is
//! the same for any number of threads, and no thread needs a copy of all counts.

mod counts;
mod merging;
mod node_vectors;
mod tensors;
mod trees;

pub use counts::Expectations;
pub use merging::merge_losses;
pub use node_vectors::NodeVectors;
pub use trees::{LatentTrees, Parameters, TreesError};
