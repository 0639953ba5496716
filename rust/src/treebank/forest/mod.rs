//! Trees of any arity, stored as columns with the nodes of each tree in post-order.
//!
//! A node's subtree is a contiguous run that ends with the node itself, so its size is all that is
//! needed to find its children: the last child is the node before, and each earlier sibling lies
//! one subtree further to the left. No pass over a forest needs recursion.

mod columns;

pub(crate) use columns::check_offsets;
pub use columns::{ForestError, OffsetError};

use std::fmt::Write;

use crate::treebank::interner::Interner;

/// The word of a node that is no preterminal.
pub const NO_WORD: i32 = -1;

/// A sequence of trees; a tree may be empty (have no nodes).
#[derive(Debug, Clone)]
pub struct Forest {
    labels: Vec<u32>,
    words: Vec<i32>,
    sizes: Vec<u32>,
    tree_offsets: Vec<usize>,
    label_names: Interner<String>,
    word_names: Interner<String>,
}

impl Default for Forest {
    fn default() -> Self {
        Self {
            labels: Vec::new(),
            words: Vec::new(),
            sizes: Vec::new(),
            tree_offsets: vec![0],
            label_names: Interner::default(),
            word_names: Interner::default(),
        }
    }
}

impl Forest {
    /// A forest of no trees.
    pub fn new() -> Self {
        Self::default()
    }

    /// A forest of no trees that numbers labels and words as another does.
    pub fn with_names_of(other: &Self) -> Self {
        Self {
            label_names: other.label_names.clone(),
            word_names: other.word_names.clone(),
            ..Self::default()
        }
    }

    /// The id of a label, which is added if it is new.
    pub fn intern_label(&mut self, label: &str) -> u32 {
        self.label_names.intern(label)
    }

    /// The id of a word, which is added if it is new.
    pub fn intern_word(&mut self, word: &str) -> u32 {
        self.word_names.intern(word)
    }

    /// Append a preterminal to the tree being built.
    pub fn push_preterminal(&mut self, label: u32, word: u32) {
        self.labels.push(label);
        self.words.push(word as i32);
        self.sizes.push(1);
    }

    /// Append a node above the last `below` nodes of the tree being built.
    pub fn push_phrase(&mut self, label: u32, below: usize) {
        debug_assert!(below > 0, "a phrase needs children");
        self.labels.push(label);
        self.words.push(NO_WORD);
        self.sizes.push(below as u32 + 1);
    }

    /// Drop nodes of the tree being built until only `nodes` are left in the forest.
    pub fn truncate(&mut self, nodes: usize) {
        debug_assert!(nodes >= self.open_start(), "only the tree being built can shrink");
        self.labels.truncate(nodes);
        self.words.truncate(nodes);
        self.sizes.truncate(nodes);
    }

    /// Move the tree being built to a new forest, which has only the names that it needs.
    pub fn split_open(&mut self) -> Self {
        let start = self.open_start();
        let mut rest = Self::new();
        for node in start..self.node_count() {
            let label = rest.intern_label(&self.label_names()[self.labels[node] as usize]);
            let word = match usize::try_from(self.words[node]) {
                Ok(word) => rest.intern_word(&self.word_names()[word]) as i32,
                Err(_) => NO_WORD,
            };
            rest.labels.push(label);
            rest.words.push(word);
            rest.sizes.push(self.sizes[node]);
        }
        self.truncate(start);
        rest
    }

    /// Give the last node of the tree being built another label.
    pub fn relabel_last(&mut self, label: u32) {
        if let Some(last) = self.labels.last_mut() {
            *last = label;
        }
    }

    /// End the tree being built. Its nodes are all those since the last call; without any, the tree
    /// is empty.
    pub fn end_tree(&mut self) {
        self.tree_offsets.push(self.labels.len());
    }

    /// Drop the trees that have no nodes.
    pub fn drop_empty(&mut self) {
        // They own no nodes, so it is enough to drop their offsets.
        self.tree_offsets.dedup();
    }

    /// The index at which the tree being built starts.
    pub fn open_start(&self) -> usize {
        self.tree_offsets[self.len()]
    }

    /// The number of complete trees.
    pub fn len(&self) -> usize {
        self.tree_offsets.len() - 1
    }

    /// Whether no tree is complete.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of nodes, including those of the tree being built.
    pub fn node_count(&self) -> usize {
        self.labels.len()
    }

    /// The nodes of a tree, root last.
    pub fn nodes(&self, tree: usize) -> std::ops::Range<usize> {
        self.tree_offsets[tree]..self.tree_offsets[tree + 1]
    }

    /// The children of a node from right to left, the order in which they are found.
    pub fn children_reversed(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.first(node);
        let mut end = node;
        std::iter::from_fn(move || {
            (end > first).then(|| {
                let child = end - 1;
                end -= self.sizes[child] as usize;
                child
            })
        })
    }

    /// The first node, in post-order, of a node's subtree.
    pub fn first(&self, node: usize) -> usize {
        node + 1 - self.sizes[node] as usize
    }

    /// The only child of a node, if it has just one.
    pub fn only_child(&self, node: usize) -> Option<usize> {
        let size = self.sizes[node];
        (size > 1 && self.sizes[node - 1] == size - 1).then(|| node - 1)
    }

    /// The label ids of all nodes.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The word ids of all nodes, [`NO_WORD`] for those that are no preterminals.
    pub fn words(&self) -> &[i32] {
        &self.words
    }

    /// The subtree sizes of all nodes.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Where each tree starts, and where the last one ends.
    pub fn tree_offsets(&self) -> &[usize] {
        &self.tree_offsets
    }

    /// The labels in the order of their ids.
    pub fn label_names(&self) -> &[String] {
        self.label_names.values()
    }

    /// The words in the order of their ids.
    pub fn word_names(&self) -> &[String] {
        self.word_names.values()
    }

    /// A tree in brackets; brackets in words and labels are not escaped.
    ///
    /// ```
    /// use lpcfg_core::treebank::forest::Forest;
    ///
    /// let mut forest = Forest::new();
    /// let (phrase, tag) = (forest.intern_label("NP"), forest.intern_label("NN"));
    /// let word = forest.intern_word("rain");
    /// forest.push_preterminal(tag, word);
    /// forest.push_phrase(phrase, 1);
    /// forest.end_tree();
    /// assert_eq!(forest.bracketed(0), "(NP (NN rain))");
    /// ```
    pub fn bracketed(&self, tree: usize) -> String {
        let nodes = self.nodes(tree);
        if nodes.is_empty() {
            return "(())".to_owned();
        }
        let mut text = String::new();
        // In pre-order. `None` on the stack stands for a closing bracket.
        let mut stack = vec![Some(nodes.end - 1)];
        while let Some(step) = stack.pop() {
            let Some(node) = step else {
                text.push(')');
                continue;
            };
            let separator = if text.is_empty() { "" } else { " " };
            let label = &self.label_names()[self.labels[node] as usize];
            let _ = write!(text, "{separator}({label}");
            stack.push(None);
            if self.words[node] == NO_WORD {
                stack.extend(self.children_reversed(node).map(Some));
            } else {
                let _ = write!(text, " {}", self.word_names()[self.words[node] as usize]);
            }
        }
        text
    }
}
