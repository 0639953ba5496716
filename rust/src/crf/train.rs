//! Training: AdaGrad (Duchi et al. 2011) on the conditional log-likelihood of the gold trees.

use std::sync::Arc;

use rayon::prelude::*;

use super::pass::{CrfPass, Gradient};
use super::prior::{LatentPrior, Prior};
use super::tagging::tagged;
use super::tokens::TokenAttributes;
use super::weights::CrfModel;
use crate::cancel::{Cancel, Cancelled};
use crate::chart::gold::GoldChart;
use crate::grammar::Grammar;

/// A training sentence. All examples are in memory at once, so they have only what a pass needs.
#[derive(Debug, Clone)]
pub struct Example {
    /// The grammar that pruned the chart, without latent states.
    grammar: Arc<Grammar>,
    /// The attributes of the words that features read, with their most probable tags.
    sentence: Vec<TokenAttributes>,
    /// The items of the pruned chart, with the gold tree.
    chart: GoldChart,
    /// The prior of a latent grammar, if it is one.
    prior: Option<LatentPrior>,
    /// The weight of its log-probability in the objective.
    weight: f32,
}

impl Example {
    /// A training sentence of weight 1, given the attributes of its words without tags, and its pruned chart.
    pub fn new(
        model: &CrfModel,
        grammar: Arc<Grammar>,
        sentence: &[TokenAttributes],
        chart: GoldChart,
    ) -> Self {
        let GoldChart { chart, mut words, is_gold } = chart;
        let sentence = tagged(model, sentence, &chart);
        let chart = chart.items_alone();
        for (position, emissions) in words.iter_mut().enumerate() {
            let items = chart.items(chart.cells().index(position, position + 1));
            let symbols = chart.symbols(items);
            emissions.retain(|entry| symbols.binary_search(&entry.0).is_ok());
            emissions.shrink_to_fit();
        }
        let chart = GoldChart { chart, words, is_gold };
        Self { grammar, sentence, chart, prior: None, weight: 1.0 }
    }

    /// The same sentence with a latent grammar as prior, in place of the PCFG.
    pub fn with_prior(mut self, prior: LatentPrior) -> Self {
        self.chart.words = Vec::new();
        Self { prior: Some(prior), ..self }
    }

    /// The same sentence with another weight.
    pub fn weighted(self, weight: f32) -> Self {
        Self { weight, ..self }
    }
}

/// The hyper-parameters of AdaGrad.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    /// The step size, before it is divided by the root of a weight's accumulator.
    pub learning_rate: f32,
    /// The initial value of the accumulators, to which squared gradients are added. Larger values
    /// make the first steps smaller.
    pub initial_accumulator: f32,
    /// The strength of L2 regularisation.
    pub penalty: f32,
    /// The number of sentences of a mini-batch.
    pub batch: usize,
}

/// Weights during training, and the examples they are learnt from.
#[derive(Debug)]
pub struct Trainer {
    examples: Vec<Example>,
    model: CrfModel,
    /// For each weight, the sum of its squared gradients.
    accumulators: Vec<f32>,
    /// The gradient of a mini-batch, zero between mini-batches.
    gradient: Vec<f32>,
}

impl Trainer {
    /// Start from a model.
    pub fn new(model: CrfModel) -> Self {
        let weights = model.weights.values().len();
        Self {
            examples: Vec::new(),
            model,
            accumulators: vec![0.0; weights],
            gradient: vec![0.0; weights],
        }
    }

    /// Add examples, whose grammars must fit the model
    /// ([`check_grammar`](CrfModel::check_grammar)).
    pub fn add(&mut self, examples: Vec<Example>) {
        self.examples.extend(examples);
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.examples.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.examples.is_empty()
    }

    /// The model as it is now.
    pub fn model(&self) -> &CrfModel {
        &self.model
    }

    /// Learn from examples in the given order, and return the weighted sum of the log-probabilities
    /// of their gold trees, each as it was before the step of its mini-batch.
    pub fn run(
        &mut self,
        order: &[usize],
        steps: Steps,
        cancel: &Cancel,
    ) -> Result<f64, Cancelled> {
        let mut total = 0.0;
        for batch in order.chunks(steps.batch) {
            let Self { examples, model, .. } = self;
            let computed: Result<Vec<(f64, Gradient)>, Cancelled> = batch
                .par_iter()
                .map_init(CrfPass::default, |pass, &example| {
                    let Example { grammar, sentence, chart, prior, .. } = &examples[example];
                    let GoldChart { chart, words, is_gold } = chart;
                    let prior = prior.as_ref().map_or(Prior::Pcfg(words), Prior::Latent);
                    pass.run_tagged(grammar, model, sentence, chart, prior, cancel)?;
                    Ok((pass.log_probability(is_gold), pass.gradient(model, is_gold)))
                })
                .collect();
            // Sequentially, so that sums do not depend on the number of threads.
            let mut touched = Vec::new();
            for ((log_probability, gradient), &example) in computed?.into_iter().zip(batch) {
                let weight = self.examples[example].weight;
                total += f64::from(weight) * log_probability;
                for (index, derivative) in gradient {
                    let sum = &mut self.gradient[index as usize];
                    if *sum == 0.0 {
                        touched.push(index);
                    }
                    *sum += weight * derivative;
                }
            }
            let values = self.model.weights.values_mut();
            for index in touched.into_iter().map(|index| index as usize) {
                let gradient = std::mem::take(&mut self.gradient[index]);
                let regularised = gradient - steps.penalty * values[index];
                let accumulator = &mut self.accumulators[index];
                *accumulator += regularised * regularised;
                let root = (steps.initial_accumulator + *accumulator).sqrt();
                values[index] += steps.learning_rate * regularised / root;
            }
        }
        Ok(total)
    }
}
