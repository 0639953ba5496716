//! A latent grammar as the prior of a CRF.

use super::{Parser, Status, Workspace};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::latent::LatentOutcome;
use crate::grammar::{Latent, Token};

impl Parser {
    /// Set the posteriors of the chart to those of the latent grammar, and fill the prior of a CRF
    /// with them. Where parameters of the spectral method give the sentence no positive probability,
    /// models that are closer and closer to the backbone take their place, and at last the backbone.
    ///
    /// Returns the status of a sentence that would have the given one otherwise; none if the grammar
    /// has no latent states.
    pub(super) fn latent_prior(
        &self,
        tokens: &[Token],
        status: Status,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Option<Status>, Cancelled> {
        let grammar = self.grammar();
        if grammar.latent().is_none() {
            return Ok(None);
        }
        let Workspace { words, chart, latent: pass, rules, prior, .. } = workspace;
        for number in std::iter::once(None).chain((0..Latent::DAMPED).map(Some)) {
            let Some((latent, damping)) = grammar.latent_damped(number) else { continue };
            let outcome = pass.run(grammar, latent, damping, tokens, words, chart, cancel)?;
            if outcome == LatentOutcome::Positive {
                rules.reset(grammar, chart);
                rules.multiply(grammar, latent, pass, chart, cancel)?;
                prior.fill(chart, rules);
                let is_damped = number.is_some() && status == Status::Parsed;
                return Ok(Some(if is_damped { Status::Loosened } else { status }));
            }
        }
        chart.reset_posteriors();
        prior.fill_from_pcfg(grammar, chart);
        Ok(Some(Status::Backbone))
    }
}
