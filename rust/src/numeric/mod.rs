//! Numbers without grammars: what the algorithms of the other modules share.
//!
//! [`vectors`] has the inner loops over dense `f32` vectors, [`tensor`] dense and sparse tensors of
//! rules over latent states and [`contraction`] their products with matrices. The macro
//! `simd_dispatch!` runs such loops with the widest vector instructions of the processor.
//! [`scaling`] keeps numbers from underflowing, [`simplex`] has the least squares of the pivot
//! method, and [`stable_hash`] the hashes by which model files store the weights of features.

pub mod contraction;
pub(crate) mod scaling;
pub(crate) mod simd_dispatch;
pub mod simplex;
pub mod stable_hash;
pub mod tensor;
pub(crate) mod vectors;
