//! The last fallback: fragments of sentences that no tree spans.

use super::fill::DECODING_BYTES;
use super::{Analysis, Parser, Status, Workspace};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::pcfg::Bounds;
use crate::decode::{Derivation, PackedForest, Viterbi, cover};

/// The largest number of words of a fragment. Without a tree that spans the sentence the chart
/// cannot be pruned by posterior, and its cost grows with the cube of the width.
pub(super) const MAX_FRAGMENT_WIDTH: usize = 15;

impl Parser {
    /// The fewest fragments, of up to `max_width` words, that cover the sentence, under the label of
    /// the most frequent root.
    pub(super) fn join_fragments(
        &self,
        status: Status,
        max_width: usize,
        memory: usize,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        let Workspace { words, pass, chart, best, .. } = workspace;
        let budget = self.memory_budget(words.len(), memory);
        let max_items =
            budget.map_or(0, |budget| budget.items.min(budget.decoding / DECODING_BYTES));
        let mut bounds = Bounds { max_width, max_items, ..Bounds::NONE };
        while !pass.run(self.grammar(), words, bounds, 0.0, chart, cancel)? {
            bounds.max_width /= 2;
            if bounds.max_width <= 1 {
                bounds = Bounds { max_width: 1, ..Bounds::NONE };
            }
        }
        let forest = PackedForest { grammar: self.grammar(), chart, words };
        best.fill(forest, &Viterbi, cancel)?;
        let mut whole = Derivation { nodes: Vec::new(), log_probability: f64::NEG_INFINITY };
        for fragment in cover(forest, best) {
            let tree = best.subtree(forest, fragment.item, fragment.start, fragment.end);
            whole.nodes.extend(tree.nodes);
        }
        let tree = self.write(&whole, workspace);
        Ok(self.under_root(status, tree.spans, workspace.words.len(), Vec::new()))
    }
}
