//! Hidden Markov models over categorical observations.
//!
//! [`Model`] holds the parameters, [`Sequences`] what was observed. [`forward_backward`] has the
//! forward and the backward algorithm, [`expectation`] what is read off them (log-probabilities, posteriors, and
//! the expected counts of Baum and Welch), [`viterbi`] the most probable states. [`SecondOrder`] is for
//! tagging: states depend on two before them, and words have few. Numbers are scaled, not in
//! logarithms.

pub mod expectation;
pub mod forward_backward;
mod kernels;
mod log_product;
mod model;
mod second_order;
mod sequences;
pub mod viterbi;

pub use forward_backward::Lattice;
pub use model::{HmmError, Model};
pub use second_order::SecondOrder;
pub use sequences::Sequences;
