//! Features of the candidate trees of a sentence, for a log-linear reranker (Charniak & Johnson
//! 2005).
//!
//! A feature is a pattern in a tree, identified by a [stable hash](crate::numeric::stable_hash) of
//! its parts. Its value is the number of occurrences of the pattern. [`templates`] lists the
//! patterns; [`view`] has the spans and heads of a tree that they read.
//!
//! Only differences between the candidates of a sentence matter to a reranker. [`extract`]
//! therefore subtracts from the count of each feature its smallest count among the candidates.

pub mod templates;
pub mod view;

use rayon::prelude::*;

use crate::cancel::{Cancel, Cancelled};
use crate::treebank::forest::{Forest, OffsetError, check_offsets};
use view::{LabelTables, TablesError, Vocabulary};

/// Sparse rows, one for each tree: the keys ascend within a row.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Rows {
    /// Where each row starts, and where the last one ends.
    pub offsets: Vec<usize>,
    /// The features of all rows.
    pub keys: Vec<u32>,
    /// The count of each feature, minus its smallest count among the candidates of the sentence.
    pub counts: Vec<u32>,
}

/// Why features could not be extracted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// The sentences do not partition the trees.
    #[error("sentence offsets must rise from 0 to the number of trees: {0}")]
    Sentences(OffsetError),
    /// A tree has no nodes.
    #[error("candidate {0} is an empty tree")]
    Empty(usize),
    /// The tables of labels do not fit the labels of the forest.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// The features of candidate trees; sentence `s` has the trees from `sentence_offsets[s]` on.
///
/// The result does not depend on the number of threads.
pub fn extract(
    forest: &Forest,
    sentence_offsets: &[usize],
    tables: &LabelTables,
    cancel: &Cancel,
) -> Result<Rows, ExtractError> {
    check_offsets(sentence_offsets, forest.len()).map_err(ExtractError::Sentences)?;
    tables.check(forest)?;
    if let Some(tree) = (0..forest.len()).find(|&tree| forest.nodes(tree).is_empty()) {
        return Err(ExtractError::Empty(tree));
    }
    let vocabulary = Vocabulary::new(forest);
    let sentences: Vec<Vec<Counts>> = sentence_offsets
        .par_windows(2)
        .map(|bounds| {
            cancel.check()?;
            let trees = bounds[0]..bounds[1];
            let mut rows: Vec<Counts> =
                trees.map(|tree| count(forest, tree, &vocabulary, tables)).collect();
            drop_common(&mut rows);
            Ok(rows)
        })
        .collect::<Result<_, Cancelled>>()?;
    let mut all = Rows { offsets: vec![0], ..Rows::default() };
    for row in sentences.iter().flatten() {
        all.keys.extend(row.iter().map(|(key, _)| key));
        all.counts.extend(row.iter().map(|(_, count)| count));
        all.offsets.push(all.keys.len());
    }
    Ok(all)
}

/// Features with their counts, by ascending key.
type Counts = Vec<(u32, u32)>;

fn count(forest: &Forest, tree: usize, names: &Vocabulary, tables: &LabelTables) -> Counts {
    let view = view::TreeView::new(forest, tree, names, tables);
    let mut keys = Vec::with_capacity(32 * view.len());
    templates::all(&view, &mut keys);
    keys.sort_unstable();
    keys.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
}

/// Subtract from each row the counts that all rows have in common.
fn drop_common(rows: &mut [Counts]) {
    let Some((first, others)) = rows.split_first() else { return };
    let mut common = first.clone();
    for row in others {
        let mut rest = row.iter().peekable();
        common.retain_mut(|(key, count)| {
            while rest.next_if(|(other, _)| other < key).is_some() {}
            match rest.peek() {
                Some((other, others)) if other == key => *count = (*count).min(*others),
                _ => return false,
            }
            true
        });
    }
    for row in rows {
        let mut rest = common.iter().peekable();
        row.retain_mut(|(key, count)| {
            if let Some((_, shared)) = rest.next_if(|(other, _)| other == key) {
                *count -= shared;
            }
            *count > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    use super::*;

    proptest! {
        #[test]
        fn common_counts_go_and_differences_stay(
            maps in prop::collection::vec(prop::collection::btree_map(0..6u32, 1..4u32, 0..6), 1..5),
        ) {
            let mut rows: Vec<Counts> =
                maps.iter().map(|map| map.clone().into_iter().collect()).collect();
            drop_common(&mut rows);
            for key in 0..6 {
                let before: Vec<u32> =
                    maps.iter().map(|map| map.get(&key).copied().unwrap_or(0)).collect();
                let smallest = *before.iter().min().unwrap();
                for (row, count) in rows.iter().zip(before) {
                    let map: BTreeMap<u32, u32> = row.iter().copied().collect();
                    prop_assert_eq!(map.len(), row.len());
                    prop_assert_eq!(map.get(&key).copied().unwrap_or(0), count - smallest);
                }
            }
        }
    }
}
