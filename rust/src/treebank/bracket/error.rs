//! What can be wrong with bracketed text, and where.

use std::fmt;

/// A place in a text; both numbers start at 1, and columns count characters, not bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character within the line.
    pub column: usize,
}

impl Position {
    /// The first character of a text.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// One malformed tree, or one run of text that belongs to no tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BracketError {
    /// Where it was detected.
    pub position: Position,
    /// Where the tree around it opens, if there is one.
    pub tree: Option<Position>,
    /// What is wrong.
    pub reason: Malformed,
}

impl BracketError {
    /// What is wrong, without the position.
    pub fn explanation(&self) -> String {
        // A bracket that is missing in one tree is often only detected in the next.
        match self.tree {
            Some(tree) if tree.line != self.position.line => {
                format!("{} (in the tree that opens at {tree}: is it closed?)", self.reason)
            }
            _ => self.reason.to_string(),
        }
    }
}

impl fmt::Display for BracketError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.position, self.explanation())
    }
}

impl std::error::Error for BracketError {}

/// The ways in which bracketed text can be malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// A closing bracket that closes nothing.
    #[error("a ')' that closes nothing")]
    StrayClose,
    /// A token between trees.
    #[error("text outside brackets: '{0}'")]
    TextOutside(String),
    /// The input ended within a tree; the position is that of its opening bracket.
    #[error("a tree that is never closed")]
    NeverClosed,
    /// A node with a label and nothing else; the position is that of its opening bracket.
    #[error("a node without a word or children: '({0})'")]
    NoChildren(String),
    /// A second word in a node.
    #[error(
        "a second word in one node: '{0}' (escape spaces and brackets within words; if it is the \
         lemma, choose the style of the treebank)"
    )]
    SeveralWords(String),
    /// A word beside a subtree; the position is that of whichever comes second.
    #[error("a node with both a word and subtrees; a word needs a node of its own")]
    WordAmongSubtrees,
    /// A node below the root without a label; the position is that of its opening bracket.
    #[error("a node without a label; only the root of a tree may go without")]
    EmptyLabel,
    /// A tree of no nodes, `()` or `(())`, if these are not kept.
    #[error("an empty tree")]
    EmptyTree,
    /// Bytes that are not UTF-8.
    #[error("the text is not UTF-8; convert it first, for example with iconv -t UTF-8")]
    InvalidUtf8,
}
