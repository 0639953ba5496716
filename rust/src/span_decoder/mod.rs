//! Trees from scores of labelled spans, without a grammar (Stern et al. 2017).
//!
//! A tree is as good as the sum of the scores of its labelled spans. It is searched for in binary
//! form; one label may stand for a span that writes no bracket, so that trees of any arity come out
//! of binary ones. Neither a label nor a split depends on any other, which makes all of this a
//! matter of totals of spans: [`scores`] reduces labels to totals, [`decode`] finds the best tree,
//! [`inside_outside`] sums over all of them.

pub mod decode;
pub mod inside_outside;
pub mod scores;

pub use decode::{Method, SpanTree, decode};
pub use inside_outside::{InsideOutside, Marginals, marginals};
pub use scores::{Sentence, SpanError, SpanScores};
