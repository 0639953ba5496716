//! The view of a tree that features read: spans, parents and heads.

use crate::numeric::stable_hash::Key;
use crate::treebank::forest::Forest;

/// The hashes of the names of a forest.
#[derive(Debug)]
pub struct Vocabulary {
    labels: Vec<Key>,
    words: Vec<Key>,
}

impl Vocabulary {
    /// Hash each name once.
    pub fn new(forest: &Forest) -> Self {
        let hash = |names: &[String]| names.iter().map(|name| Key::text(name)).collect();
        Self { labels: hash(forest.label_names()), words: hash(forest.word_names()) }
    }
}

/// Properties of labels, by their ids in a forest.
#[derive(Debug, Default, Clone)]
pub struct LabelTables {
    /// For each label as a parent, a row: the step of the search for a head that finds each child.
    pub head_step: Vec<u32>,
    /// For each label as a parent, a row: whether each step of the search starts from the right.
    pub from_right: Vec<bool>,
    /// Whether each label is punctuation.
    pub punctuation: Vec<bool>,
    /// Whether each label is a conjunction.
    pub conjunction: Vec<bool>,
}

/// The label tables do not fit the labels of a forest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the label tables do not fit the {labels} labels of the trees")]
pub struct TablesError {
    labels: usize,
}

impl LabelTables {
    /// Check that every label, and every step, has an entry.
    pub fn check(&self, forest: &Forest) -> Result<(), TablesError> {
        let labels = forest.label_names().len();
        let steps = self.from_right.len().checked_div(labels).unwrap_or(0);
        let fits = self.punctuation.len() == labels
            && self.conjunction.len() == labels
            && self.head_step.len() == labels * labels
            && self.from_right.len() == labels * steps
            && self.head_step.iter().all(|&step| (step as usize) < steps);
        if fits { Ok(()) } else { Err(TablesError { labels }) }
    }

    /// The index of the head among the children of a node.
    fn head(&self, parent: u32, children: impl Iterator<Item = u32>) -> usize {
        let labels = self.punctuation.len();
        let steps = self.from_right.len() / labels;
        let parent = parent as usize;
        let (mut best, mut lowest) = (0, u32::MAX);
        for (index, child) in children.enumerate() {
            let step = self.head_step[parent * labels + child as usize];
            let later_wins = step == lowest && self.from_right[parent * steps + step as usize];
            if step < lowest || later_wins {
                (best, lowest) = (index, step);
            }
        }
        best
    }
}

/// A node of a tree; nodes are in post-order.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// The hash of its label.
    pub label: Key,
    /// Its parent; the root is its own.
    pub parent: usize,
    /// Its first word.
    pub start: usize,
    /// The word after its last.
    pub end: usize,
    /// Its head child; a preterminal is its own.
    pub head: usize,
    /// The word that is its head.
    pub head_word: usize,
    /// Whether it is punctuation.
    pub punctuation: bool,
    /// Whether it is a conjunction.
    pub conjunction: bool,
    first_child: usize,
    children: usize,
}

/// A word of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    /// The hash of the word.
    pub word: Key,
    /// The hash of its tag.
    pub tag: Key,
    /// Its preterminal.
    pub node: usize,
}

/// A tree, ready for features.
#[derive(Debug)]
pub struct TreeView {
    /// The nodes in post-order, root last.
    pub nodes: Vec<Node>,
    /// The words from left to right.
    pub leaves: Vec<Leaf>,
    children: Vec<usize>,
}

impl TreeView {
    /// The view of a tree, which must not be empty.
    pub fn new(forest: &Forest, tree: usize, names: &Vocabulary, tables: &LabelTables) -> Self {
        let range = forest.nodes(tree);
        let base = range.start;
        let mut view = Self {
            nodes: Vec::with_capacity(range.len()),
            leaves: Vec::new(),
            children: Vec::with_capacity(range.len()),
        };
        for (index, node) in range.enumerate() {
            let label = forest.labels()[node];
            let first_child = view.children.len();
            view.children.extend(forest.children_reversed(node).map(|child| child - base));
            let children = &mut view.children[first_child..];
            children.reverse();
            let own = Node {
                label: names.labels[label as usize],
                parent: index,
                start: view.leaves.len(),
                // Correct for a phrase, whose words all precede it in post-order.
                end: view.leaves.len(),
                head: index,
                head_word: view.leaves.len(),
                punctuation: tables.punctuation[label as usize],
                conjunction: tables.conjunction[label as usize],
                first_child,
                children: children.len(),
            };
            view.nodes.push(own);
            let own = &mut view.nodes[index];
            if let Ok(word) = usize::try_from(forest.words()[node]) {
                own.end += 1;
                let leaf = Leaf { word: names.words[word], tag: own.label, node: index };
                view.leaves.push(leaf);
                continue;
            }
            let labels = children.iter().map(|&child| forest.labels()[base + child]);
            let head = children[tables.head(label, labels)];
            own.head = head;
            let (start, head_word) = (view.nodes[children[0]].start, view.nodes[head].head_word);
            view.nodes[index].start = start;
            view.nodes[index].head_word = head_word;
            for &child in &view.children[first_child..] {
                view.nodes[child].parent = index;
            }
        }
        view
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The children of a node from left to right; a preterminal has none.
    pub fn children(&self, node: &Node) -> &[usize] {
        &self.children[node.first_child..node.first_child + node.children]
    }

    /// The phrases with their indices, children before parents.
    pub fn phrases(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate().filter(|(_, node)| node.children > 0)
    }

    /// The parent of a node, or `None` for the root.
    pub fn parent(&self, index: usize) -> Option<usize> {
        let parent = self.nodes[index].parent;
        (parent != index).then_some(parent)
    }

    /// The label of the ancestor the given number of steps up; [`OUTSIDE`] above the root.
    pub fn ancestor(&self, index: usize, steps: usize) -> Key {
        let above = (0..steps).try_fold(index, |index, _| self.parent(index));
        above.map_or(OUTSIDE, |index| self.nodes[index].label)
    }

    /// The tag of a word that may lie outside the sentence.
    pub fn tag(&self, index: Option<usize>) -> Key {
        index.and_then(|index| self.leaves.get(index)).map_or(OUTSIDE, |leaf| leaf.tag)
    }

    /// A word that may lie outside the sentence.
    pub fn word(&self, index: Option<usize>) -> Key {
        index.and_then(|index| self.leaves.get(index)).map_or(OUTSIDE, |leaf| leaf.word)
    }
}

/// Stands for what lies outside the sentence or above the root.
pub const OUTSIDE: Key = Key::kind(u64::MAX);
