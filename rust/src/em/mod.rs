//! The E-step of EM for L-PCFGs (Matsuzaki et al. 2005): expectations over latent states, given the
//! trees of a treebank. Also the losses of merging states (Petrov et al. 2006).
//!
//! The trees are fixed, so the only sums are over latent states. [`LatentTrees`] are indexed once
//! and used with the [`Parameters`] of every iteration. [`NodeVectors`] keep the inside and outside
//! vectors of all nodes. The counts of each rule can then be summed by one thread, node by node. So
//! the result is the same for any number of threads, and no thread needs a copy of all counts.

mod counts;
mod merging;
mod node_vectors;
mod tensors;
mod trees;

pub use counts::Expectations;
pub use merging::merge_losses;
pub use node_vectors::NodeVectors;
pub use trees::{LatentTrees, Parameters, TreesError};
