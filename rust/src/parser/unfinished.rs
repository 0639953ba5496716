//! Sentences whose time is up: the best tree of what has been computed.

use super::{Analysis, Decoder, Options, Parser, Sentence, Status, Workspace};
use crate::cancel::{Cancel, Cancelled};

/// The largest number of words of a fragment when there is no time left. Fragments of so few words
/// take a small part of the time of a chart.
const QUICK_FRAGMENT_WIDTH: usize = 4;

impl Parser {
    /// The best tree of the pruned chart, if the sentence got that far: by the posteriors of the
    /// members of the ensemble that were finished, otherwise by those of the backbone PCFG. Without
    /// a pruned chart, short fragments.
    pub(super) fn finish_late(
        &self,
        sentence: Sentence<'_>,
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        if let Some(smoothed) = workspace.pruned_smoothed {
            let Workspace { chart, mixture, .. } = &mut *workspace;
            if mixture.members().is_empty() {
                chart.reset_posteriors();
            } else {
                mixture.set_means(chart);
            }
            // The scores of rules and trees under the model may be unfinished.
            let decoder = match options.decoder {
                Decoder::MaxRule if !mixture.members().is_empty() => Decoder::MaxRecall,
                Decoder::MaxRule | Decoder::Viterbi if self.crf.is_some() => Decoder::MaxRecall,
                other => other,
            };
            if let Some(mut trees) = self.decode(decoder, 1, workspace, cancel)? {
                if self.crf.is_some() {
                    // The CRF has given the tree no probability.
                    trees[0].log_probability = f64::NEG_INFINITY;
                } else {
                    let combine = options.combine;
                    let trees = &mut trees;
                    self.set_tree_probabilities(sentence, smoothed, combine, trees, workspace);
                }
                let mut analysis = self.finish(Status::Timeout, trees, options, workspace);
                if self.crf.is_some() {
                    analysis.log_probability = f64::NEG_INFINITY;
                }
                return Ok(analysis);
            }
        }
        let emissions = self.grammar().emissions();
        emissions.lookup_all(sentence.tokens, sentence.tag_factors, false, &mut workspace.words);
        if workspace.words.iter().any(Vec::is_empty) {
            emissions.lookup_all(sentence.tokens, sentence.tag_factors, true, &mut workspace.words);
        }
        let (status, width) = (Status::Timeout, QUICK_FRAGMENT_WIDTH);
        self.join_fragments(status, width, options.memory, workspace, cancel)
    }
}
