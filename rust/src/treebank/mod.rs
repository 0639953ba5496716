//! Treebanks: from bracketed text to the table of binary nodes that estimators read, and back.
//!
//! [`bracket`] reads text into a [`forest`] (trees of any arity, columnar, nodes in post-order);
//! [`mod@clean`] removes traces, function tags and other things that a grammar should not learn.
//! [`mod@transform`] collapses unary chains, binarises and markovises (Klein & Manning 2003) into a
//! [`node_table`], and inverts this exactly. An [`interner`] numbers labels and words.

pub mod bracket;
pub mod clean;
pub mod forest;
pub mod interner;
pub mod node_table;
pub mod transform;

use crate::cancel::{Cancel, Cancelled};
use clean::{CleanOptions, clean};
use forest::Forest;
use node_table::NodeTable;
use transform::{TransformOptions, transform};

/// The number of trees between two checks of whether the work should stop.
const TREES_BETWEEN_CHECKS: usize = 1024;

/// The node table of trees, which are cleaned first if `cleaning` is given. Trees that have no
/// nodes, before or after cleaning, are dropped.
///
/// ```
/// use lpcfg_core::cancel::Cancel;
/// use lpcfg_core::treebank::bracket::{BracketReader, ReadOptions};
/// use lpcfg_core::treebank::clean::CleanOptions;
/// use lpcfg_core::treebank::clean_and_transform;
/// use lpcfg_core::treebank::transform::TransformOptions;
///
/// let mut reader = BracketReader::new(ReadOptions::default());
/// reader.feed(b"( (S (NP-SBJ (PRP it)) (VP (VBD rained)))) (NP (-NONE- *))")?;
/// reader.finish()?;
/// let cleaning = CleanOptions::default();
/// let (forest, transform) = (reader.take_forest(), TransformOptions::default());
/// let table = clean_and_transform(forest, Some(&cleaning), &transform, &Cancel::new())?;
/// assert_eq!((table.tree_offsets, table.words), (vec![0, 3], vec!["it".into(), "rained".into()]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn clean_and_transform(
    forest: Forest,
    cleaning: Option<&CleanOptions>,
    options: &TransformOptions,
    cancel: &Cancel,
) -> Result<NodeTable, Cancelled> {
    let mut forest = match cleaning {
        Some(cleaning) => clean(&forest, cleaning, cancel)?,
        None => forest,
    };
    forest.drop_empty();
    transform(&forest, options, cancel)
}
