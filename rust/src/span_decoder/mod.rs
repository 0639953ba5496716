//! Trees from scores of labelled spans, without a grammar (Stern et al. 2017).
//!
//! The score of a tree is the sum of the scores of its labelled spans. Trees are searched in binary
//! form, by CKY or greedily. One label may stand for a span without a bracket, so that binary trees
//! represent trees of any arity. Labels and split points are scored independently, so the search
//! over split points needs only one value for each span. [`scores`] checks the scores,
//! [`decode()`] finds the best tree, and [`inside_outside`] sums over all trees.

pub mod decode;
pub mod inside_outside;
pub mod scores;

pub use decode::{Method, SpanTree, decode};
pub use inside_outside::{InsideOutside, Marginals, marginals};
pub use scores::{Sentence, SpanError, SpanScores};
