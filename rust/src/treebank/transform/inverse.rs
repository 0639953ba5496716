//! The inverse of the tree transform: from a node table to trees.

use crate::cancel::Cancel;
use crate::treebank::TREES_BETWEEN_CHECKS;
use crate::treebank::forest::{Forest, check_offsets};
use crate::treebank::node_table::{NONE, NodeTable, TableError};

/// The trees whose transform is the given table.
///
/// Spans and parents are not read. Everything else is checked, so that an invalid table is an
/// error.
pub fn invert(table: &NodeTable, cancel: &Cancel) -> Result<Forest, TableError> {
    let nodes = table.symbol.len();
    let lengths = [nodes, table.left.len(), table.right.len(), table.word.len()];
    if lengths.iter().any(|length| *length != nodes) {
        return Err(TableError::Lengths(lengths.to_vec()));
    }
    check_offsets(&table.tree_offsets, nodes)?;
    let mut forest = Forest::new();
    let labels: Vec<u32> = table.label_names.iter().map(|name| forest.intern_label(name)).collect();
    let words: Vec<u32> = table.words.iter().map(|word| forest.intern_word(word)).collect();
    let is_known = |label: &u32| (*label as usize) < labels.len();
    for (id, symbol) in table.symbols.iter().enumerate() {
        if symbol.labels.is_empty() || !symbol.labels.iter().all(is_known) {
            return Err(TableError::Labels(id));
        }
    }
    // Where each node's subtree starts in the table, and how many nodes of the forest precede it.
    let mut firsts: Vec<usize> = Vec::with_capacity(nodes);
    let mut before: Vec<usize> = Vec::with_capacity(nodes);
    for (number, tree) in table.tree_offsets.windows(2).enumerate() {
        if number.is_multiple_of(TREES_BETWEEN_CHECKS) {
            cancel.check()?;
        }
        for node in tree[0]..tree[1] {
            let first = first_of_subtree(table, node, tree[0], &firsts)?;
            firsts.push(first);
            before.push(forest.node_count());
            let (id, word) = (table.symbol[node], table.word[node]);
            let known = table.symbols.len();
            let symbol = table.symbols.get(id as usize);
            let symbol = symbol.ok_or(TableError::Symbol { node, symbol: id, known })?;
            let known = words.len();
            let wrong_word = TableError::Word { node, word, known };
            let is_leaf = first == node;
            if symbol.preterminal != is_leaf || is_leaf != (word != NONE) {
                return Err(wrong_word);
            }
            let mut chain = symbol.labels.iter().rev().map(|label| labels[*label as usize]);
            if is_leaf {
                let word = usize::try_from(word).ok().and_then(|word| words.get(word));
                let tag = chain.next().ok_or(TableError::Labels(id as usize))?;
                forest.push_preterminal(tag, *word.ok_or(wrong_word)?);
            } else if symbol.siblings.is_some() {
                continue;
            }
            for label in chain {
                forest.push_phrase(label, forest.node_count() - before[first]);
            }
        }
        if let Some(root) = (tree[0]..tree[1]).last() {
            let is_binarization = table.symbols[table.symbol[root] as usize].siblings.is_some();
            if firsts[root] != tree[0] || is_binarization {
                return Err(TableError::Root(root));
            }
        }
        forest.end_tree();
    }
    Ok(forest)
}

/// Where the subtree of a node starts; an error if its children do not precede it in post-order.
fn first_of_subtree(
    table: &NodeTable,
    node: usize,
    tree_start: usize,
    firsts: &[usize],
) -> Result<usize, TableError> {
    let (left, right) = (table.left[node], table.right[node]);
    let error = TableError::Children { node, left, right };
    let mut first = node;
    for child in [right, left] {
        if child == NONE {
            continue;
        }
        match usize::try_from(child) {
            Ok(child) if child >= tree_start && child + 1 == first => first = firsts[child],
            _ => return Err(error),
        }
    }
    // An only child is a left one.
    if left == NONE && right != NONE { Err(error) } else { Ok(first) }
}
