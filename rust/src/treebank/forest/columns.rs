//! Forests from columns that must be checked.

use super::{Forest, NO_WORD};

/// Why columns do not describe a forest. Positions are node or tree indices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForestError {
    /// The node columns differ in length.
    #[error("columns differ in length: {labels} labels, {words} words, {sizes} sizes")]
    Lengths {
        /// Number of labels.
        labels: usize,
        /// Number of words.
        words: usize,
        /// Number of sizes.
        sizes: usize,
    },
    /// The trees do not partition the nodes.
    #[error(transparent)]
    Offset(#[from] OffsetError),
    /// A label id has no name.
    #[error("node {node} has label id {label}, but there are {known} labels")]
    Label {
        /// The node.
        node: usize,
        /// Its label id.
        label: u32,
        /// The number of label names.
        known: usize,
    },
    /// A word id has no name, or a node has both a word and children, or neither.
    #[error(
        "node {node} of size {size} has word id {word}; a node of size 1 must have a word id below \
         {known}, and other nodes -1"
    )]
    Word {
        /// The node.
        node: usize,
        /// The size of its subtree.
        size: u32,
        /// Its word id.
        word: i32,
        /// The number of word names.
        known: usize,
    },
    /// Subtree sizes do not nest, or a tree has several roots.
    #[error("node {node} has a subtree of size {size}, which does not fit the nodes before it")]
    Size {
        /// The node.
        node: usize,
        /// The size of its subtree.
        size: u32,
    },
}

/// Tree offsets must start at zero, never decrease, and end at the number of nodes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tree offsets must rise from 0 to the number of nodes, {nodes}; offset {index} is wrong")]
pub struct OffsetError {
    /// Which offset is missing or wrong.
    pub index: usize,
    /// The number of nodes.
    pub nodes: usize,
}

impl Forest {
    /// Check columns and make a forest of them. Names that occur twice become one id.
    pub fn from_columns(
        labels: &[u32],
        words: &[i32],
        sizes: &[u32],
        tree_offsets: Vec<usize>,
        label_names: &[String],
        word_names: &[String],
    ) -> Result<Self, ForestError> {
        let nodes = labels.len();
        if words.len() != nodes || sizes.len() != nodes {
            let (words, sizes) = (words.len(), sizes.len());
            return Err(ForestError::Lengths { labels: nodes, words, sizes });
        }
        let mut forest = Self::new();
        check_offsets(&tree_offsets, nodes)?;
        forest.tree_offsets = tree_offsets;
        let label_ids: Vec<u32> =
            label_names.iter().map(|name| forest.label_names.intern(name.as_str())).collect();
        let word_ids: Vec<u32> =
            word_names.iter().map(|name| forest.word_names.intern(name.as_str())).collect();
        forest.sizes = sizes.to_vec();
        forest.check_sizes()?;
        forest.labels.reserve(nodes);
        forest.words.reserve(nodes);
        for node in 0..nodes {
            let (label, word, size) = (labels[node], words[node], sizes[node]);
            let id = label_ids.get(label as usize);
            let known = label_names.len();
            forest.labels.push(*id.ok_or(ForestError::Label { node, label, known })?);
            let known = word_names.len();
            let id = match (size, usize::try_from(word)) {
                (1, Ok(word)) if word < known => word_ids[word] as i32,
                (2.., _) if word == NO_WORD => NO_WORD,
                _ => return Err(ForestError::Word { node, size, word, known }),
            };
            forest.words.push(id);
        }
        Ok(forest)
    }

    fn check_sizes(&self) -> Result<(), ForestError> {
        let mut pending: Vec<u32> = Vec::new();
        for tree in 0..self.len() {
            let range = self.nodes(tree);
            pending.clear();
            for node in range.clone() {
                let size = self.sizes[node];
                let error = ForestError::Size { node, size };
                let mut missing = size.checked_sub(1).ok_or(error.clone())?;
                while missing > 0 {
                    let child = pending.pop().ok_or(error.clone())?;
                    missing = missing.checked_sub(child).ok_or(error.clone())?;
                }
                pending.push(size);
            }
            if pending.len() > 1 {
                let node = range.end - 1;
                return Err(ForestError::Size { node, size: self.sizes[node] });
            }
        }
        Ok(())
    }
}

/// Check that offsets start at zero, never decrease, and end at `nodes`.
pub(crate) fn check_offsets(offsets: &[usize], nodes: usize) -> Result<(), OffsetError> {
    let wrong = |index| Err(OffsetError { index, nodes });
    match (offsets.first(), offsets.last()) {
        (Some(0), Some(last)) if *last == nodes => {}
        (Some(0), Some(_)) => return wrong(offsets.len() - 1),
        _ => return wrong(0),
    }
    match offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        Some(index) => wrong(index + 1),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    fn build(words: &[i32], sizes: &[u32], offsets: &[usize]) -> Result<Forest, ForestError> {
        let labels = vec![0; sizes.len()];
        Forest::from_columns(
            &labels,
            words,
            sizes,
            offsets.to_vec(),
            &names(&["X"]),
            &names(&["a", "b"]),
        )
    }

    #[test]
    fn accepts_what_it_gives_out() {
        let forest = build(&[0, 1, -1, -1, 0], &[1, 1, 3, 4, 1], &[0, 4, 4, 5]).unwrap();
        assert_eq!(forest.bracketed(0), "(X (X (X a) (X b)))");
        assert_eq!(forest.bracketed(1), "(())");
        assert_eq!(forest.bracketed(2), "(X a)");
        assert_eq!(forest.children_reversed(2).collect::<Vec<_>>(), [1, 0]);
        assert_eq!((forest.only_child(3), forest.only_child(2)), (Some(2), None));
    }

    proptest! {
        #[test]
        fn columns_made_up_never_panic(
            nodes in prop::collection::vec((-2..3i32, 0..6u32), 0..7),
            offsets in prop::collection::vec(0..8usize, 0..4),
        ) {
            let (words, sizes): (Vec<i32>, Vec<u32>) = nodes.into_iter().unzip();
            if let Ok(forest) = build(&words, &sizes, &offsets) {
                let found: usize = (0..forest.len())
                    .map(|tree| forest.bracketed(tree).matches("(X").count())
                    .sum();
                prop_assert_eq!(found, sizes.len());
            }
        }
    }

    #[test]
    fn repeated_names_become_one() {
        let (labels, words) = (names(&["A", "B", "A"]), names(&["w", "w"]));
        let forest =
            Forest::from_columns(&[2, 1], &[1, -1], &[1, 2], vec![0, 2], &labels, &words).unwrap();
        assert_eq!((forest.labels(), forest.words()), (&[0, 1][..], &[0, -1][..]));
    }

    #[test]
    fn each_inconsistency_is_named() {
        let one = |words: &[i32], sizes: &[u32], offsets: &[usize]| {
            build(words, sizes, offsets).expect_err("inconsistent")
        };
        assert!(matches!(one(&[0, 0], &[1], &[0, 1]), ForestError::Lengths { .. }));
        assert!(matches!(one(&[0], &[1], &[]), ForestError::Offset(OffsetError { index: 0, .. })));
        assert!(matches!(
            one(&[0], &[1], &[0, 2]),
            ForestError::Offset(OffsetError { index: 1, .. })
        ));
        assert!(matches!(
            one(&[0], &[1], &[1, 1]),
            ForestError::Offset(OffsetError { index: 0, .. })
        ));
        assert!(matches!(
            one(&[0], &[1], &[0, 0]),
            ForestError::Offset(OffsetError { index: 1, .. })
        ));
        assert!(matches!(
            one(&[0], &[1], &[0, 1, 0]),
            ForestError::Offset(OffsetError { index: 2, .. })
        ));
        assert!(matches!(one(&[7], &[1], &[0, 1]), ForestError::Word { node: 0, .. }));
        assert!(matches!(one(&[-1], &[1], &[0, 1]), ForestError::Word { node: 0, .. }));
        assert!(matches!(one(&[0, 0], &[1, 2], &[0, 2]), ForestError::Word { node: 1, .. }));
        assert!(matches!(one(&[0, -1], &[1, 3], &[0, 2]), ForestError::Size { node: 1, .. }));
        assert!(matches!(one(&[0, 0], &[1, 1], &[0, 2]), ForestError::Size { node: 1, .. }));
        assert!(matches!(one(&[0], &[0], &[0, 1]), ForestError::Size { node: 0, .. }));
        let labels =
            Forest::from_columns(&[3], &[0], &[1], vec![0, 1], &names(&["X"]), &names(&["w"]));
        assert!(matches!(labels, Err(ForestError::Label { label: 3, .. })));
    }
}
