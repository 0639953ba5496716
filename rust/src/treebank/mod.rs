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

use clean::{CleanOptions, clean};
use forest::Forest;
use node_table::NodeTable;
use transform::{TransformOptions, transform};

/// The node table of trees, which are cleaned first if `cleaning` is given. Trees that have no
/// nodes, before or after cleaning, are dropped.
///
/// ```
/// use lpcfg_core::treebank::bracket::{BracketReader, ReadOptions};
/// use lpcfg_core::treebank::clean::CleanOptions;
/// use lpcfg_core::treebank::clean_and_transform;
/// use lpcfg_core::treebank::transform::TransformOptions;
///
/// let mut reader = BracketReader::new(ReadOptions::default());
/// reader.feed(b"( (S (NP-SBJ (PRP it)) (VP (VBD rained)))) (NP (-NONE- *))")?;
/// reader.finish()?;
/// let cleaning = CleanOptions::default();
/// let table =
///     clean_and_transform(reader.take_forest(), Some(&cleaning), &TransformOptions::default());
/// assert_eq!((table.tree_offsets, table.words), (vec![0, 3], vec!["it".into(), "rained".into()]));
/// # Ok::<(), lpcfg_core::treebank::bracket::BracketError>(())
/// ```
pub fn clean_and_transform(
    forest: Forest,
    cleaning: Option<&CleanOptions>,
    options: &TransformOptions,
) -> NodeTable {
    let mut forest = match cleaning {
        Some(cleaning) => clean(&forest, cleaning),
        None => forest,
    };
    forest.drop_empty();
    transform(&forest, options)
}
