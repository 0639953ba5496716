//! Hidden Markov models over categorical observations.
//!
//! [`Model`] holds the parameters, [`Sequences`] the observations. [`forward_backward`] has the
//! forward and the backward algorithm, [`expectation`] their results (log-probabilities,
//! posteriors, and the expected counts of Baum-Welch), and [`viterbi`] the most probable states.
//! [`SecondOrder`] is for part-of-speech tagging: a tag depends on the two before it, and a word
//! has few tags. Probabilities are scaled at each position instead of kept as logarithms.

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
