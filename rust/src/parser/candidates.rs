//! The best tree of a chart, or several.

use rustc_hash::FxHashSet;

use crate::cancel::{Cancel, Cancelled};
use crate::decode::{Best, Derivation, KBest, Node, Objective, PackedForest};
use crate::grammar::Grammar;

/// The largest number of derivations that are ranked for each tree that is wanted.
const DERIVATIONS_PER_TREE: usize = 20;

/// The number of trees that are wanted, and the number of bytes that they may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub candidates: usize,
    pub memory: usize,
}

/// The bytes that a node of a candidate takes: as a node of its derivation, a labelled bracket, a
/// span of the result, and an object of the caller.
const CANDIDATE_NODE_BYTES: usize = 256;

/// The best trees of a chart, as many as are wanted; none if no tree spans the sentence.
pub(super) fn maximise<O: Objective>(
    forest: PackedForest<'_>,
    objective: &O,
    best: &mut Best,
    wanted: Wanted,
    cancel: &Cancel,
) -> Result<Option<Vec<Derivation>>, Cancelled> {
    best.fill(forest, objective, cancel)?;
    let Wanted { candidates, memory } = wanted;
    if candidates <= 1 {
        return Ok(best.tree(forest, objective).map(|tree| vec![tree]));
    }
    let mut ranked = KBest::new(forest, objective, best);
    let mut trees: Vec<Derivation> = Vec::new();
    let mut bytes = 0;
    let mut written: FxHashSet<Vec<(u32, u32, u32)>> = FxHashSet::default();
    for rank in 0..candidates.saturating_mul(DERIVATIONS_PER_TREE) {
        match cancel.check() {
            // The trees found so far are the best ones.
            Err(Cancelled) if !cancel.is_cancelled() && !trees.is_empty() => break,
            checked => checked?,
        }
        let left = memory.saturating_sub(bytes);
        let Some((_, tree)) = ranked.tree(rank, left) else { break };
        // Derivations that differ in annotations only are the same tree.
        if written.insert(brackets(forest.grammar, &tree)) {
            bytes += tree.nodes.len() * CANDIDATE_NODE_BYTES;
            trees.push(tree);
            if trees.len() == candidates {
                break;
            }
        }
    }
    Ok((!trees.is_empty()).then_some(trees))
}

/// The labelled brackets of a derivation.
fn brackets(grammar: &Grammar, tree: &Derivation) -> Vec<(u32, u32, u32)> {
    let labels = |node: &Node| grammar.output().labels(node.symbol).iter();
    tree.nodes
        .iter()
        .flat_map(|node| labels(node).map(|&label| (label, node.start, node.end)))
        .collect()
}
