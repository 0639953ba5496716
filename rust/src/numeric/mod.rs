//! Numerical building blocks that the other modules share; nothing here knows of grammars.
//!
//! `vectors` has the inner loops over dense `f32` vectors, [`tensor`] the dense and sparse tensors
//! of rules over latent states, and [`contraction`] their products with matrices. The macro
//! `simd_dispatch!` runs such loops with the wider vector instructions of the processor, where it
//! has them. `scaling` keeps numbers from underflowing. [`simplex`] solves the least-squares
//! problems of the pivot method by Wolfe's active-set method (1976). [`stable_hash`] has the hashes
//! by which model files store the weights of features, [`distinct`] the numbers of distinct rows.

pub mod contraction;
pub mod distinct;
pub(crate) mod scaling;
pub(crate) mod simd_dispatch;
pub mod simplex;
pub mod stable_hash;
pub mod tensor;
pub(crate) mod vectors;
