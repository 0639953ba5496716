//! A streaming reader of bracketed trees.
//!
//! Text arrives in chunks that may end anywhere, even within a character. Line breaks mean nothing
//! to the syntax: a tree may take several lines and a line may hold several trees. A tree's root
//! may lack a label, `( (S ...))`, and a tree may be empty, `(())` or `()`. Escape sequences stand
//! for white space and control characters within tokens (`escape.rs`).
//!
//! ```
//! use lpcfg_core::treebank::bracket::{BracketReader, ReadOptions};
//!
//! let mut reader = BracketReader::new(ReadOptions::default());
//! reader.feed(b"(S (NP (PRP it)) (VP (VBD rai")?;
//! reader.feed(b"ned)))")?;
//! reader.finish()?;
//! assert_eq!(reader.take_forest().bracketed(0), "(S (NP (PRP it)) (VP (VBD rained)))");
//! # Ok::<(), lpcfg_core::treebank::bracket::BracketError>(())
//! ```

mod error;
mod escape;
mod recovery;

pub use error::{BracketError, Malformed, Position};

use crate::treebank::forest::Forest;

/// The number of errors that are kept in skip mode; all are counted.
pub const MAX_KEPT_ERRORS: usize = 100;

/// How a reader treats empty and malformed trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// Keep `(())` and `()` as trees of no nodes; otherwise they are malformed.
    pub keep_empty: bool,
    /// Drop and count malformed trees; otherwise the first one is an error.
    pub skip_malformed: bool,
    /// Ignore what follows the word in a leaf, such as its lemma; otherwise it is malformed.
    pub ignore_lemmas: bool,
}

/// A node whose closing bracket has not been read yet.
#[derive(Debug, Clone, Copy)]
struct OpenNode {
    label: Option<u32>,
    word: Option<u32>,
    /// The number of nodes of the forest when the bracket opened.
    first: usize,
    position: Position,
}

/// Reads bracketed trees from chunks of bytes into a [`Forest`].
///
/// Every source is ended with [`finish`](Self::finish), after which another one may be fed. After
/// an error the trees before it are available, but the rest of that source cannot be read.
#[derive(Debug)]
pub struct BracketReader {
    options: ReadOptions,
    forest: Forest,
    stack: Vec<OpenNode>,
    /// The start of a token that continues in the next chunk.
    token: Vec<u8>,
    token_position: Position,
    position: Position,
    tree_position: Position,
    /// The position of a `()` directly below an unlabelled root, the inner half of an empty tree
    /// `(())`.
    empty_child: Option<Position>,
    /// The error of a malformed tree, while its brackets are being balanced.
    failed: Option<BracketError>,
    /// The number of open brackets of a malformed tree.
    failed_depth: usize,
    /// Whether text outside brackets was already reported for this line.
    outside_reported: bool,
    /// The text of the open tree up to the current chunk, for [`Self::recover`].
    text: Vec<u8>,
    errors: Vec<BracketError>,
    skipped: usize,
}

impl BracketReader {
    /// A reader at the start of its first source.
    pub fn new(options: ReadOptions) -> Self {
        Self {
            options,
            forest: Forest::new(),
            stack: Vec::new(),
            token: Vec::new(),
            token_position: Position::START,
            position: Position::START,
            tree_position: Position::START,
            empty_child: None,
            failed: None,
            failed_depth: 0,
            outside_reported: false,
            text: Vec::new(),
            errors: Vec::new(),
            skipped: 0,
        }
    }

    /// The number of malformed trees that were dropped so far.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The errors of dropped trees since the last call: the first [`MAX_KEPT_ERRORS`] of them.
    pub fn take_errors(&mut self) -> Vec<BracketError> {
        std::mem::take(&mut self.errors)
    }

    /// The trees completed since the last call.
    pub fn take_forest(&mut self) -> Forest {
        let start = self.forest.open_start();
        let mut rest = self.forest.split_open();
        std::mem::swap(&mut self.forest, &mut rest);
        for open in &mut self.stack {
            open.first -= start;
            open.label =
                open.label.map(|id| self.forest.intern_label(&rest.label_names()[id as usize]));
            open.word =
                open.word.map(|id| self.forest.intern_word(&rest.word_names()[id as usize]));
        }
        rest
    }

    /// Read a chunk.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), BracketError> {
        let mut tree_start = 0;
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if !is_delimiter(byte) {
                let length = bytes[at..].iter().take_while(|byte| !is_delimiter(**byte)).count();
                self.text_run(&bytes[at..at + length], at + length == bytes.len())?;
                at += length;
                continue;
            }
            self.end_token()?;
            match byte {
                b'(' => {
                    if self.depth() == 0 {
                        tree_start = at;
                        self.text.clear();
                    }
                    self.open()?;
                }
                b')' => self.close()?,
                _ => {}
            }
            if byte == b'\n' {
                self.position = Position { line: self.position.line + 1, column: 1 };
                self.outside_reported = false;
            } else {
                self.position.column += 1;
            }
            at += 1;
        }
        if self.options.skip_malformed && self.depth() > 0 {
            self.text.extend_from_slice(&bytes[tree_start..]);
        }
        Ok(())
    }

    /// End a source: a tree that is still open is malformed. The next chunk starts another one.
    pub fn finish(&mut self) -> Result<(), BracketError> {
        self.end_token()?;
        if self.depth() > 0 {
            self.abandon_tree();
            if !self.options.skip_malformed {
                return Err(self.never_closed(self.tree_position));
            }
            self.recover()?;
        }
        self.position = Position::START;
        self.outside_reported = false;
        Ok(())
    }

    fn depth(&self) -> usize {
        if self.failed.is_some() { self.failed_depth } else { self.stack.len() }
    }

    /// Some bytes of a token, which may continue in the next chunk if they end this one.
    fn text_run(&mut self, run: &[u8], ends_chunk: bool) -> Result<(), BracketError> {
        if self.token.is_empty() {
            self.token_position = self.position;
        }
        if ends_chunk || !self.token.is_empty() {
            self.token.extend_from_slice(run);
        } else {
            self.token(run)?;
        }
        self.position.column += characters(run);
        Ok(())
    }

    /// Complete a token that began in an earlier chunk, at a delimiter.
    fn end_token(&mut self) -> Result<(), BracketError> {
        if self.token.is_empty() {
            return Ok(());
        }
        let mut token = std::mem::take(&mut self.token);
        let outcome = self.token(&token);
        token.clear();
        self.token = token;
        outcome
    }

    fn token(&mut self, bytes: &[u8]) -> Result<(), BracketError> {
        if self.failed.is_some() {
            return Ok(());
        }
        let at = self.token_position;
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let column = at.column + characters(&bytes[..error.valid_up_to()]);
                return self.fail(Position { column, ..at }, Malformed::InvalidUtf8);
            }
        };
        let Some(top) = self.stack.last_mut() else {
            let text = match text.strip_prefix('\u{feff}') {
                Some(rest) if at == Position::START => rest,
                _ => text,
            };
            if text.is_empty() {
                return Ok(());
            }
            return self.fail(at, Malformed::TextOutside(text.to_owned()));
        };
        if let Some(empty_child) = self.empty_child {
            return self.fail(empty_child, Malformed::EmptyLabel);
        }
        let has_children = self.forest.node_count() > top.first;
        if has_children {
            self.fail(at, Malformed::WordAmongSubtrees)
        } else if top.label.is_none() {
            top.label = Some(self.forest.intern_label(&escape::unescape(text)));
            Ok(())
        } else if top.word.is_none() {
            top.word = Some(self.forest.intern_word(&escape::unescape(text)));
            Ok(())
        } else if self.options.ignore_lemmas {
            Ok(())
        } else {
            self.fail(at, Malformed::SeveralWords(text.to_owned()))
        }
    }

    fn open(&mut self) -> Result<(), BracketError> {
        let at = self.position;
        if self.failed.is_some() {
            self.failed_depth += 1;
            return Ok(());
        }
        if let Some(top) = self.stack.last() {
            let wrong = if let Some(empty_child) = self.empty_child {
                Some((empty_child, Malformed::EmptyLabel))
            } else if top.word.is_some() {
                Some((at, Malformed::WordAmongSubtrees))
            } else if top.label.is_none() && self.stack.len() > 1 {
                Some((top.position, Malformed::EmptyLabel))
            } else {
                None
            };
            if let Some((position, reason)) = wrong {
                self.fail(position, reason)?;
                self.failed_depth += 1;
                return Ok(());
            }
        } else {
            self.tree_position = at;
            self.outside_reported = false;
        }
        let first = self.forest.node_count();
        self.stack.push(OpenNode { label: None, word: None, first, position: at });
        Ok(())
    }

    fn close(&mut self) -> Result<(), BracketError> {
        if let Some(error) = self.failed.take() {
            self.failed_depth -= 1;
            if self.failed_depth == 0 {
                self.record(error);
            } else {
                self.failed = Some(error);
            }
            return Ok(());
        }
        let Some(top) = self.stack.pop() else {
            return self.fail(self.position, Malformed::StrayClose);
        };
        let below = self.forest.node_count() - top.first;
        match (top.label, top.word) {
            (Some(label), Some(word)) => self.forest.push_preterminal(label, word),
            (Some(label), None) if below > 0 => self.forest.push_phrase(label, below),
            (Some(label), None) => {
                let label = self.forest.label_names()[label as usize].clone();
                return self.fail(top.position, Malformed::NoChildren(label));
            }
            (None, _) if below > 0 => {
                let label = self.forest.intern_label("");
                self.forest.push_phrase(label, below);
            }
            (None, _) => return self.close_empty(top),
        }
        if self.stack.is_empty() {
            self.forest.end_tree();
        }
        Ok(())
    }

    /// Close a node without label and children: an empty tree, its inner half, or malformed.
    fn close_empty(&mut self, node: OpenNode) -> Result<(), BracketError> {
        match self.stack.as_slice() {
            [] => {
                self.empty_child = None;
                if !self.options.keep_empty {
                    return self.fail(node.position, Malformed::EmptyTree);
                }
                self.forest.end_tree();
                Ok(())
            }
            [root] if root.label.is_none() && root.first == self.forest.node_count() => {
                self.empty_child = Some(node.position);
                Ok(())
            }
            _ => self.fail(node.position, Malformed::EmptyLabel),
        }
    }

    /// Drop the open tree, which is malformed. Return the error, or record it in skip mode.
    fn fail(&mut self, position: Position, reason: Malformed) -> Result<(), BracketError> {
        let outside = matches!(reason, Malformed::TextOutside(_) | Malformed::StrayClose);
        let tree = (!outside).then_some(self.tree_position);
        let error = BracketError { position, tree, reason };
        let depth = self.stack.len();
        self.abandon_tree();
        if !self.options.skip_malformed {
            return Err(error);
        }
        if depth > 0 {
            self.failed = Some(error);
            self.failed_depth = depth;
        } else if !outside || !self.outside_reported {
            self.outside_reported = outside;
            self.record(error);
        }
        Ok(())
    }

    fn abandon_tree(&mut self) {
        self.forest.truncate(self.forest.open_start());
        self.stack.clear();
        self.empty_child = None;
        self.failed = None;
    }

    fn never_closed(&self, position: Position) -> BracketError {
        BracketError { position, tree: Some(position), reason: Malformed::NeverClosed }
    }

    fn record(&mut self, error: BracketError) {
        self.skipped += 1;
        if self.errors.len() < MAX_KEPT_ERRORS {
            self.errors.push(error);
        }
    }
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b' ' | b'\n' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// The number of characters: UTF-8 bytes that do not continue one.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests;
