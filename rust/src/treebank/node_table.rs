//! Binary trees with structured symbols, stored as columns: what estimators learn from.

use crate::cancel::Cancelled;
use crate::treebank::forest::OffsetError;

/// The absence of a child, a parent or a word.
pub const NONE: i32 = -1;

/// The symbol of a node in a transformed tree. Labels are ids into a table of label names. Nothing
/// is encoded in the names themselves, so labels may contain any character.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Symbol {
    /// The labels of a collapsed unary chain from top to bottom, at least one. A binarisation node
    /// has one: the lowest label of the node that was binarised.
    pub labels: Vec<u32>,
    /// The labels of parent, grandparent and so on, as many as the markovisation keeps.
    pub ancestors: Vec<u32>,
    /// For a binarisation node, the labels of children that the markovisation keeps.
    pub siblings: Option<Vec<u32>>,
    /// Whether the node carries a word.
    pub preterminal: bool,
}

/// The nodes of binary trees in post-order. Children and parents are indices into the whole table.
#[derive(Debug, Clone, Default)]
pub struct NodeTable {
    /// Ids of [`symbols`](Self::symbols).
    pub symbol: Vec<u32>,
    /// The left or only child.
    pub left: Vec<i32>,
    /// The right child.
    pub right: Vec<i32>,
    /// The parent; roots have none.
    pub parent: Vec<i32>,
    /// The first token of the node, counted within its sentence.
    pub start: Vec<i32>,
    /// The token after the last one.
    pub end: Vec<i32>,
    /// Ids of [`words`](Self::words) for preterminals.
    pub word: Vec<i32>,
    /// Where each tree starts, and where the last one ends.
    pub tree_offsets: Vec<usize>,
    /// The symbols in the order of their ids.
    pub symbols: Vec<Symbol>,
    /// The labels that symbols consist of.
    pub label_names: Vec<String>,
    /// The words in the order of their ids.
    pub words: Vec<String>,
}

/// Why a node table does not describe trees.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The columns differ in length.
    #[error("columns differ in length: {0:?}")]
    Lengths(Vec<usize>),
    /// Tree offsets must start at zero, never decrease, and end at the number of nodes.
    #[error(transparent)]
    Offset(#[from] OffsetError),
    /// A symbol id has no symbol.
    #[error("node {node} has symbol id {symbol}, but there are {known} symbols")]
    Symbol {
        /// The node.
        node: usize,
        /// Its symbol id.
        symbol: u32,
        /// The number of symbols.
        known: usize,
    },
    /// A symbol has no labels, or a label id has no name.
    #[error("symbol {0} has no labels, or unknown ones")]
    Labels(usize),
    /// A word on a node that is no preterminal, or none on one that is, or an unknown one.
    #[error(
        "node {node} has word id {word}; a preterminal must have a word id below {known}, and \
         other nodes -1"
    )]
    Word {
        /// The node.
        node: usize,
        /// Its word id.
        word: i32,
        /// The number of words.
        known: usize,
    },
    /// Children do not precede their parent in post-order.
    #[error("node {node} has children {left} and {right}, which do not precede it in post-order")]
    Children {
        /// The node.
        node: usize,
        /// Its left child.
        left: i32,
        /// Its right child.
        right: i32,
    },
    /// A tree has several roots, or its root is a binarisation node.
    #[error("node {0} is the last of its tree, but is not the root, or is a binarisation node")]
    Root(usize),
}
