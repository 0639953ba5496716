//! An ensemble of grammars over one chart: the latent pass of each member in turn, and the
//! combination of their posteriors or trees.

use super::gold_constrained::tree_items;
use super::{Combine, Decoder, Options, Parser, Sentence, Status, Workspace};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::latent::LatentOutcome;
use crate::chart::mixture::log_mean;
use crate::crf::Prior;
use crate::decode::{Derivation, Words, latent_log_probability};
use crate::grammar::SymbolId;

impl Parser {
    /// Run the pass of the CRF, or the latent passes of the members if they have latent states, and
    /// set the posteriors of the chart to the combined ones. Members that give the sentence no
    /// probability, or a negative value where other members give a probability, are left out.
    pub(super) fn latent_pass(
        &self,
        sentence: Sentence<'_>,
        (status, smoothed): (Status, bool),
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Status, Cancelled> {
        workspace.mixture.clear();
        if let Some(model) = &self.crf {
            let with_latent = self.latent_prior(sentence.tokens, status, workspace, cancel)?;
            let Workspace { words, chart, crf: pass, prior, .. } = workspace;
            let prior = match with_latent {
                Some(_) => Prior::Latent(prior),
                None => Prior::Pcfg(words),
            };
            pass.run(self.grammar(), model, sentence.attributes, chart, prior, cancel)?;
            // A CRF models trees given the sentence, so the sentence has probability one.
            chart.set_posteriors(0.0, |item| pass.posterior(item));
            return Ok(with_latent.unwrap_or(status));
        }
        if self.grammar().latent().is_none() {
            return Ok(status);
        }
        let mut best = LatentOutcome::NoProbability;
        for (number, grammar) in self.grammars.iter().enumerate() {
            let Some((latent, damping)) = grammar.latent_damped(workspace.damping) else {
                continue;
            };
            let Workspace { words, member_words, chart, latent: pass, mixture, rules, .. } =
                workspace;
            let words = self.member_words((number, smoothed), sentence, words, member_words);
            let outcome =
                pass.run(grammar, latent, damping, sentence.tokens, words, chart, cancel)?;
            if outcome == LatentOutcome::NoProbability || outcome < best {
                continue;
            }
            let first = outcome > best;
            if first {
                best = outcome;
                mixture.clear();
                let threshold = options.member_threshold;
                // The posteriors of rules are products over the items of all passes.
                let can_prune =
                    outcome != LatentOutcome::Negative && options.decoder != Decoder::MaxRule;
                if self.grammars.len() > 1 && threshold > 0.0 && can_prune {
                    chart.prune(threshold);
                }
            }
            mixture.add(number, chart);
            if options.decoder == Decoder::MaxRule {
                if first || options.combine == Combine::Trees {
                    rules.reset(grammar, chart);
                }
                rules.multiply(grammar, latent, pass, chart, cancel)?;
            }
            if options.combine == Combine::Trees {
                self.add_tree(options.decoder, workspace, cancel)?;
            }
        }
        let Workspace { chart, mixture, .. } = workspace;
        match (best, options.combine) {
            (LatentOutcome::NoProbability, _) => return Ok(Status::Backbone),
            (_, Combine::Posteriors) => mixture.set_means(chart),
            (_, Combine::Trees) => mixture.set_tree_fractions(chart),
        }
        Ok(match best {
            LatentOutcome::Negative => Status::Negative,
            _ if mixture.members().len() < self.grammars.len() => Status::FewerMembers,
            _ => status,
        })
    }

    /// The emission probabilities of a sentence under a member, by its number. Those of the first one
    /// were looked up before the chart was filled.
    fn member_words<'a>(
        &self,
        (member, smoothed): (usize, bool),
        sentence: Sentence<'_>,
        first: &'a Words,
        others: &'a mut Vec<Vec<(SymbolId, f64)>>,
    ) -> &'a Words {
        if member == 0 {
            return first;
        }
        let Sentence { tokens, tag_factors, .. } = sentence;
        self.grammars[member].emissions().lookup_all(tokens, tag_factors, smoothed, others);
        others
    }

    /// Add the best tree of the member that was added to the mixture last.
    fn add_tree(
        &self,
        decoder: Decoder,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let trees = self.decode(decoder, 1, workspace, cancel)?;
        let Workspace { chart, mixture, .. } = workspace;
        for node in trees.iter().flatten().flat_map(|tree| &tree.nodes) {
            let items = chart.items(chart.cells().index(node.start as usize, node.end as usize));
            let offset = chart.symbols(items.clone()).partition_point(|&other| other < node.symbol);
            mixture.add_to_tree(items.start + offset);
        }
        Ok(())
    }

    /// Set the log-probabilities of trees, and the posteriors of the chart they were found in, to
    /// those of the mixture or the CRF.
    pub(super) fn set_tree_probabilities(
        &self,
        sentence: Sentence<'_>,
        smoothed: bool,
        combine: Combine,
        trees: &mut [Derivation],
        workspace: &mut Workspace,
    ) {
        let Workspace { words, member_words, chart, crf, mixture, damping, .. } = workspace;
        if self.crf.is_some() {
            for tree in trees {
                tree.log_probability = crf.log_probability(&tree_items(chart, &tree.nodes));
            }
            return;
        }
        if mixture.members().is_empty() {
            return;
        }
        if combine == Combine::Trees {
            mixture.set_means(chart);
        }
        let mut weights = vec![Vec::new(); trees.len()];
        for &member in mixture.members() {
            let grammar = &self.grammars[member];
            let Some((latent, factor)) = grammar.latent_damped(*damping) else { continue };
            let words = self.member_words((member, smoothed), sentence, words, member_words);
            for (tree, weights) in trees.iter().zip(&mut weights) {
                let weight =
                    latent_log_probability(grammar, latent, factor, sentence.tokens, words, tree);
                weights.push(weight);
            }
        }
        for (tree, weights) in trees.iter_mut().zip(&weights) {
            tree.log_probability = log_mean(weights);
        }
    }
}
