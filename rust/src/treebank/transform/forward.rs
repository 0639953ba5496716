//! The tree transform: from trees to a node table.

use super::{Direction, TransformOptions};
use crate::cancel::{Cancel, Cancelled};
use crate::treebank::TREES_BETWEEN_CHECKS;
use crate::treebank::forest::{Forest, NO_WORD};
use crate::treebank::interner::Interner;
use crate::treebank::node_table::{NONE, NodeTable, Symbol};

/// Binarise, markovise and collapse every tree. Empty trees stay empty.
pub fn transform(
    forest: &Forest,
    options: &TransformOptions,
    cancel: &Cancel,
) -> Result<NodeTable, Cancelled> {
    let mut transformer = Transformer::new(forest, options);
    for tree in 0..forest.len() {
        if tree.is_multiple_of(TREES_BETWEEN_CHECKS) {
            cancel.check()?;
        }
        transformer.tree(tree);
    }
    Ok(transformer.finish())
}

/// The parent of a root.
const NO_PARENT: usize = usize::MAX;

/// Vectors with an element for each node are indexed by the node's position in its tree; they are
/// reused from tree to tree. A unary chain is identified by its bottom node. In post-order its
/// nodes follow one another, so its top is `length - 1` nodes after its bottom.
struct Transformer<'a> {
    forest: &'a Forest,
    options: &'a TransformOptions,
    table: NodeTable,
    symbols: Interner<Vec<u32>>,
    /// The symbol being looked up: a buffer, so that finding a known one allocates nothing.
    key: Vec<u32>,
    words: Interner<u32>,
    /// The first node of the tree.
    base: usize,
    /// The number of nodes of the chain of each bottom node; zero for other nodes.
    lengths: Vec<usize>,
    /// The parent of the topmost node of a chain: the bottom of the chain above.
    parents: Vec<usize>,
    /// The table's node for the topmost node of a chain.
    table_nodes: Vec<i32>,
    /// The table's node that covers the children of a bottom node seen so far
    /// ([`Direction::Left`]).
    covering: Vec<i32>,
    children: Vec<usize>,
    tokens: i32,
}

impl<'a> Transformer<'a> {
    fn new(forest: &'a Forest, options: &'a TransformOptions) -> Self {
        let label_names = forest.label_names().to_vec();
        Self {
            forest,
            options,
            table: NodeTable { tree_offsets: vec![0], label_names, ..NodeTable::default() },
            symbols: Interner::default(),
            key: Vec::new(),
            words: Interner::default(),
            base: 0,
            lengths: Vec::new(),
            parents: Vec::new(),
            table_nodes: Vec::new(),
            covering: Vec::new(),
            children: Vec::new(),
            tokens: 0,
        }
    }

    fn finish(mut self) -> NodeTable {
        self.table.symbols = self.symbols.values().iter().map(|key| decode(key)).collect();
        let names = self.forest.word_names();
        self.table.words =
            self.words.values().iter().map(|word| names[*word as usize].clone()).collect();
        self.table
    }

    fn tree(&mut self, tree: usize) {
        let nodes = self.forest.nodes(tree);
        self.base = nodes.start;
        self.tokens = 0;
        self.find_chains(tree);
        for node in nodes {
            if self.lengths[node - self.base] > 0 {
                let table_node = self.push_chain(node);
                if self.options.direction == Direction::Left {
                    self.cover(node, table_node);
                }
            }
        }
        self.table.tree_offsets.push(self.table.symbol.len());
    }

    /// Decide which nodes are collapsed, from the root down.
    fn find_chains(&mut self, tree: usize) {
        let nodes = self.forest.nodes(tree);
        for (column, value) in [(&mut self.lengths, 0), (&mut self.parents, NO_PARENT)] {
            column.clear();
            column.resize(nodes.len(), value);
        }
        for column in [&mut self.table_nodes, &mut self.covering] {
            column.clear();
            column.resize(nodes.len(), NONE);
        }
        let collapse = &self.options.collapse;
        let mut rest = nodes.end;
        while rest > nodes.start {
            let top = rest - 1;
            let is_root = rest == nodes.end;
            let mut bottom = top;
            while let Some(child) = self.forest.only_child(bottom) {
                bottom = child;
            }
            let collapsed = if is_root {
                collapse.root
            } else if self.forest.words()[bottom] == NO_WORD {
                collapse.inside
            } else {
                collapse.preterminals
            };
            if collapsed {
                self.set_chain(bottom, top);
                rest = bottom;
            } else if is_root {
                self.set_chain(top, top);
                rest = top;
            } else {
                (bottom..=top).rev().for_each(|node| self.set_chain(node, node));
                rest = bottom;
            }
        }
    }

    fn set_chain(&mut self, bottom: usize, top: usize) {
        self.lengths[bottom - self.base] = top - bottom + 1;
        for child in self.forest.children_reversed(bottom) {
            self.parents[child - self.base] = bottom;
        }
    }

    fn top(&self, bottom: usize) -> usize {
        bottom + self.lengths[bottom - self.base] - 1
    }

    /// Add the node of a chain, after those below it.
    fn push_chain(&mut self, bottom: usize) -> i32 {
        let top = self.top(bottom);
        let word = self.forest.words()[bottom];
        let table_node = if word != NO_WORD {
            let symbol = self.chain_symbol(bottom, true);
            let table_node = self.push(symbol, NONE, NONE);
            let node = table_node as usize;
            self.table.word[node] = self.words.intern(&(word as u32)) as i32;
            self.table.start[node] = self.tokens;
            self.tokens += 1;
            self.table.end[node] = self.tokens;
            table_node
        } else {
            let (left, right) = self.binary_children(bottom);
            let symbol = self.chain_symbol(bottom, false);
            self.push(symbol, left, right)
        };
        self.table_nodes[top - self.base] = table_node;
        table_node
    }

    /// The one or two children of a node in the table.
    fn binary_children(&mut self, bottom: usize) -> (i32, i32) {
        let mut children = std::mem::take(&mut self.children);
        children.clear();
        children.extend(self.forest.children_reversed(bottom));
        let node_of = |this: &Self, child: usize| this.table_nodes[child - this.base];
        let last = node_of(self, children[0]);
        let pair = match (children.len(), self.options.direction) {
            (1, _) => (last, NONE),
            (_, Direction::Left) => (self.covering[bottom - self.base], last),
            (count, Direction::Right) => {
                let mut covering = last;
                for index in 1..count - 1 {
                    let siblings = children[..=index].iter().rev().copied();
                    let symbol = self.binarization_symbol(bottom, siblings);
                    let left = node_of(self, children[index]);
                    covering = self.push(symbol, left, covering);
                }
                (node_of(self, children[count - 1]), covering)
            }
        };
        self.children = children;
        pair
    }

    /// With [`Direction::Left`], binarisation nodes come between the children in post-order. If the
    /// chain is any child but the last, add a node that covers it and the children before it.
    fn cover(&mut self, bottom: usize, table_node: i32) {
        let child = self.top(bottom);
        let parent = self.parents[child - self.base];
        if parent == NO_PARENT || child + 1 == parent {
            return;
        }
        let forest = self.forest;
        let first = forest.first(parent);
        let covered = self.covering[parent - self.base];
        let covering = if covered == NONE {
            table_node
        } else {
            let leftwards = std::iter::successors(Some(child), |sibling| {
                let start = forest.first(*sibling);
                (start > first).then(|| start - 1)
            });
            let symbol = self.binarization_symbol(parent, leftwards);
            self.push(symbol, covered, table_node)
        };
        self.covering[parent - self.base] = covering;
    }

    fn push(&mut self, symbol: u32, left: i32, right: i32) -> i32 {
        let table = &mut self.table;
        let node = i32::try_from(table.symbol.len()).expect("fewer than 2^31 nodes");
        let last = if right == NONE { left } else { right };
        let (mut start, mut end) = (NONE, NONE);
        if left != NONE {
            start = table.start[left as usize];
            end = table.end[last as usize];
            table.parent[left as usize] = node;
            table.parent[last as usize] = node;
        }
        table.symbol.push(symbol);
        table.left.push(left);
        table.right.push(right);
        table.parent.push(NONE);
        table.start.push(start);
        table.end.push(end);
        table.word.push(NONE);
        node
    }

    /// The symbol of a node of the original tree.
    fn chain_symbol(&mut self, bottom: usize, preterminal: bool) -> u32 {
        let (top, labels) = (self.top(bottom), self.forest.labels());
        self.key.clear();
        self.key.extend([u32::from(preterminal), (top - bottom + 1) as u32, 0]);
        self.key.extend(labels[bottom..=top].iter().rev());
        if !preterminal || self.options.annotate.preterminals {
            self.key_ancestors(bottom);
        }
        self.symbols.intern(self.key.as_slice())
    }

    /// The symbol of a binarisation node, which covers some of the children of another node.
    fn binarization_symbol(&mut self, bottom: usize, siblings: impl Iterator<Item = usize>) -> u32 {
        let labels = self.forest.labels();
        self.key.clear();
        self.key.extend([BINARIZATION, 1, 0, labels[bottom]]);
        if self.options.annotate.binarization_nodes {
            self.key_ancestors(bottom);
        }
        let number = self.options.horizontal.unwrap_or(usize::MAX);
        self.key.extend(siblings.take(number).map(|sibling| labels[sibling]));
        self.symbols.intern(self.key.as_slice())
    }

    fn key_ancestors(&mut self, bottom: usize) {
        let mut ancestor = self.parents[self.top(bottom) - self.base];
        for _ in 0..self.options.vertical {
            if ancestor == NO_PARENT {
                break;
            }
            self.key.push(self.forest.labels()[ancestor]);
            self.key[2] += 1;
            ancestor = self.parents[self.top(ancestor) - self.base];
        }
    }
}

/// The kind of a binarisation node in a key; preterminals have kind 1, phrases kind 0.
const BINARIZATION: u32 = 2;

/// A key holds the kind, the numbers of labels and ancestors, then labels, ancestors, siblings.
fn decode(key: &[u32]) -> Symbol {
    let (header, rest) = key.split_at(3);
    let (labels, rest) = rest.split_at(header[1] as usize);
    let (ancestors, siblings) = rest.split_at(header[2] as usize);
    Symbol {
        labels: labels.to_vec(),
        ancestors: ancestors.to_vec(),
        siblings: (header[0] == BINARIZATION).then(|| siblings.to_vec()),
        preterminal: header[0] == 1,
    }
}
