//! Treebanks: from bracketed text to the table of binary nodes that estimators read, and back.
//!
//! [`bracket`] reads text into a [`forest`] (trees of any arity, columnar, nodes in post-order);
//! [`clean`] removes what a grammar should not learn; [`transform`] binarises, markovises and
//! collapses unary chains into a [`node_table`], and undoes it. An [`interner`] numbers labels and
//! words.

pub mod bracket;
pub mod clean;
pub mod forest;
pub mod interner;
pub mod node_table;
pub mod transform;
