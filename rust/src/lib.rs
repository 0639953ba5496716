//! The core of `lpcfg`: everything that is done per chart cell or per tree node in a loop.
//!
//! # Source layout
//!
//! Trees: [`bracket`] reads bracketed text into a [`forest`] (trees of any arity, columnar, nodes
//! in post-order); [`clean`] removes what a grammar should not learn; [`transform`] binarises,
//! markovises and collapses into the [`node_table`] that estimators read, and back.
//!
//! Parsing: [`grammar`] holds validated rules with their indices, the lexicon's emissions, the coarse
//! projection and latent states; [`chart`] has the passes (coarse, PCFG, latent) that fill and prune
//! charts; [`decode`] finds trees in them; [`parser`] runs these one after the other, and tries
//! harder where nothing spans a sentence. [`cancel`] lets a caller stop them.
//!
//! Learning: [`em`] computes expectations over latent states, given the trees of a treebank;
//! [`simplex`] has the least squares of the pivot method.
//!
//! Choosing: [`rerank`] extracts the features by which candidate trees are told apart.
//!
//! Sequences: [`hmm`] has hidden Markov models, [`aggregate`] a bigram model with latent states.
//!
//! Without a grammar: [`spans`] searches and sums over trees whose labelled spans have scores.
//!
//! Discriminatively: [`surface`] weighs trees by features of the words at the borders of their spans.
//!
//! Models: [`model_file`] stores named arrays and JSON in one memory-mapped file.
//!
//! The border to Python is the module `python`, compiled only with the feature of that name; no
//! other module knows of it. Functions here take and return flat arrays.

pub mod aggregate;
pub mod bracket;
pub mod cancel;
pub mod chart;
pub mod clean;
pub mod decode;
pub mod em;
pub mod forest;
pub mod grammar;
pub mod hmm;
pub mod interner;
pub mod model_file;
pub mod node_table;
pub mod parser;
pub mod rerank;
pub mod simplex;
pub mod spans;
pub mod surface;
pub mod transform;
mod widest;

#[cfg(feature = "python")]
mod python;
