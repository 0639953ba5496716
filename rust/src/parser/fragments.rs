//! The last fallback: fragments of sentences that no tree spans, and halves of sentences that are
//! too long.

use super::fill::DECODING_BYTES;
use super::{Analysis, Options, Parser, Sentence, Span, Status, Workspace, WrittenTree};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::pcfg::Bounds;
use crate::decode::{Derivation, PackedForest, Viterbi, cover};
use crate::grammar::SymbolId;

/// The largest number of words of a fragment. Without a tree that spans the sentence the chart
/// cannot be pruned by posterior, and its cost grows with the cube of the width.
const MAX_FRAGMENT_WIDTH: usize = 15;

impl Parser {
    /// The fewest fragments that cover the sentence, under the label of the most frequent root.
    pub(super) fn join_fragments(
        &self,
        memory: usize,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        let Workspace { words, pass, chart, best, .. } = workspace;
        let budget = self.memory_budget(words.len(), memory);
        let max_items =
            budget.map_or(0, |budget| budget.items.min(budget.decoding / DECODING_BYTES));
        let mut bounds = Bounds { mask: None, max_width: MAX_FRAGMENT_WIDTH, max_items };
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
        Ok(self.under_root(tree.spans, workspace.words.len(), Vec::new()))
    }

    /// Parse both halves of a sentence that is too long to be parsed as a whole, and join their
    /// trees under the label of the most frequent root.
    pub(super) fn parse_halves(
        &self,
        sentence: Sentence<'_>,
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        let middle = sentence.tokens.len() / 2;
        let (left, right) = sentence.split_at(middle);
        let (mut spans, mut marginals) = (Vec::new(), Vec::new());
        for (half, first) in [(left, 0), (right, middle as u32)] {
            let analysis = self.analyze(half, options, workspace, cancel)?;
            let shift =
                |span: Span| Span { start: span.start + first, end: span.end + first, ..span };
            let own = analysis.trees.into_iter().next().map_or(Vec::new(), |tree| tree.spans);
            // The root is written once, above both halves. A one-word tree is kept in any case.
            let is_root = own.first().map(|span| &span.label) == self.most_frequent_root();
            let skipped = usize::from(is_root && own.len() > 1);
            spans.extend(own.into_iter().skip(skipped).map(shift));
            marginals.extend(analysis.marginals.into_iter().map(shift));
        }
        Ok(self.under_root(spans, sentence.tokens.len(), marginals))
    }

    /// Trees side by side under the label of the most frequent root.
    fn under_root(&self, mut spans: Vec<Span>, words: usize, marginals: Vec<Span>) -> Analysis {
        if let Some(&label) = self.most_frequent_root() {
            spans.insert(0, Span { label, start: 0, end: words as u32, probability: 0.0 });
        }
        Analysis {
            status: Status::Fragments,
            log_probability: f64::NEG_INFINITY,
            trees: vec![WrittenTree { spans, log_probability: f64::NEG_INFINITY }],
            marginals,
        }
    }

    fn most_frequent_root(&self) -> Option<&u32> {
        let roots = self.grammar().rules().roots();
        let most_frequent = (0..roots.len() as u32)
            .map(SymbolId)
            .filter(|&symbol| !self.grammar().output().labels(symbol).is_empty())
            .max_by(|a, b| roots[a.index()].total_cmp(&roots[b.index()]).then(b.cmp(a)))?;
        self.grammar().output().labels(most_frequent).first()
    }
}
