//! The tree transform: from trees to the binary node table that estimators read, and exactly back.
//!
//! The transform has three steps (Klein & Manning 2003 for the last two). Unary chains are
//! collapsed: a chain of nodes over the same words becomes one node whose symbol has all their
//! labels. Nodes with more than two children are binarised: binarisation nodes are inserted, whose
//! symbols have some of the labels of siblings (horizontal markovisation). Symbols are annotated
//! with the labels of some ancestors (vertical markovisation). Symbols are structured, so the
//! inverse needs only the table.
//!
//! # Unary chains
//!
//! A chain runs from a node through only children down to a node with several children or a word.
//! [`Collapse`] says which chains become one node. A chain that starts at the root of a tree is
//! collapsed with `root`. Without it the root stays a node of its own, and what hangs below it is
//! a chain like any other. Chains that end in a preterminal are collapsed with `preterminals`, all
//! others with `inside`. So the tree of a one-word sentence is a single preterminal with `root`,
//! and without it a root above what `preterminals` makes of the rest. What is not collapsed stays
//! as unary nodes.

mod forward;
mod inverse;

pub use forward::transform;
pub use inverse::invert;

/// The side to which binarisation nodes branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `X -> @X c_n`, where `@X` covers all children but the last.
    Left,
    /// `X -> c_1 @X`, where `@X` covers all children but the first.
    Right,
}

/// Which unary chains become one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collapse {
    /// Those that start at the root of a tree.
    pub root: bool,
    /// Those that end in a node with several children.
    pub inside: bool,
    /// Those that end in a preterminal.
    pub preterminals: bool,
}

/// Which nodes, besides phrases, are annotated with their ancestors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotate {
    /// Binarisation nodes, with the ancestors of the node that was binarised.
    pub binarization_nodes: bool,
    /// Preterminals.
    pub preterminals: bool,
}

/// How trees become binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransformOptions {
    /// The side to which binarisation nodes branch.
    pub direction: Direction,
    /// The number of sibling labels in the symbol of a binarisation node: those of the children it
    /// covers, in the order of generation (from the left for [`Direction::Right`]); all if none.
    pub horizontal: Option<usize>,
    /// The number of ancestors in the symbol of a node.
    pub vertical: usize,
    /// Which nodes are annotated with their ancestors.
    pub annotate: Annotate,
    /// Which unary chains become one node.
    pub collapse: Collapse,
}

impl Default for TransformOptions {
    /// Two-stage markovisation (v < 1, h = 1), all unary chains collapsed.
    fn default() -> Self {
        Self {
            direction: Direction::Right,
            horizontal: Some(1),
            vertical: 1,
            annotate: Annotate { binarization_nodes: false, preterminals: true },
            collapse: Collapse { root: true, inside: true, preterminals: true },
        }
    }
}

#[cfg(test)]
mod tests;
