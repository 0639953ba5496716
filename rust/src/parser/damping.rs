//! The passes after pruning, and the damped models where the latent model is not consistent.

use super::times::Stopwatch;
use super::{
    Analysis, Combine, Decoder, Options, Parser, Sentence, Status, Workspace, cover_all_words,
};
use crate::cancel::{Cancel, Cancelled};
use crate::decode::Derivation;
use crate::grammar::Latent;

impl Parser {
    /// The analysis of a sentence from its pruned chart, at a level that `status` and `smoothed`
    /// describe; none if every tree has lost a node to pruning.
    ///
    /// Parameters of the spectral method may give a sentence a negative value, or a tree a negative
    /// value or one above that of its sentence. Then models that are closer and closer to the
    /// backbone are tried, until one is consistent.
    pub(super) fn analyze_pruned(
        &self,
        sentence: Sentence<'_>,
        (status, smoothed): (Status, bool),
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Option<Analysis>, Cancelled> {
        workspace.damping = None;
        let level = (status, smoothed);
        let first = self.run_models(sentence, level, options, workspace, cancel)?;
        if !first.as_ref().is_some_and(Analysis::lacks_probability) || !self.can_be_damped() {
            return Ok(first);
        }
        let status = if status == Status::Parsed { Status::Loosened } else { status };
        for damping in 0..Latent::DAMPED {
            workspace.damping = Some(damping);
            let level = (status, smoothed);
            let damped = self.run_models(sentence, level, options, workspace, cancel)?;
            if damped.as_ref().is_some_and(|found| !found.lacks_probability()) {
                return Ok(damped);
            }
        }
        Ok(first)
    }

    /// Whether all grammars have damped models. Those of a CRF are tried with its prior.
    fn can_be_damped(&self) -> bool {
        self.crf.is_none()
            && self.grammars.iter().all(|grammar| grammar.latent_damped(Some(0)).is_some())
    }

    /// The latent or CRF passes and the decoder, on the pruned chart.
    fn run_models(
        &self,
        sentence: Sentence<'_>,
        (status, smoothed): (Status, bool),
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Option<Analysis>, Cancelled> {
        let clock = Stopwatch::start(options.times);
        let status = self.latent_pass(sentence, (status, smoothed), options, workspace, cancel)?;
        workspace.times.latent += clock.seconds();
        let clock = Stopwatch::start(options.times);
        let decoder = match (options.combine, options.decoder) {
            // The trees of the members give fractions of nodes, not posteriors of rules.
            (Combine::Trees, Decoder::MaxRule) if !workspace.mixture.members().is_empty() => {
                Decoder::MaxRecall
            }
            _ => options.decoder,
        };
        let candidates = options.candidates;
        let Some(mut trees) = self.decode(decoder, candidates, workspace, cancel)? else {
            return Ok(None);
        };
        // There was no time for all candidates.
        let is_cut = (1..candidates).contains(&trees.len()) && cancel.is_late();
        let status = if is_cut { Status::Timeout } else { status };
        let is_whole = |tree: &Derivation| {
            let spans = tree.nodes.iter().map(|node| (node.start, node.end));
            cover_all_words(spans, sentence.tokens.len())
        };
        trees.retain(is_whole);
        if trees.is_empty() {
            return Ok(None);
        }
        self.set_tree_probabilities(sentence, smoothed, options.combine, &mut trees, workspace);
        let analysis = self.finish(status, trees, options, workspace);
        workspace.times.decoding += clock.seconds();
        Ok(Some(analysis))
    }
}
