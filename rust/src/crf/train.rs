//! Learning weights: the conditional likelihood of trees, climbed by AdaGrad (Duchi et al. 2011).

use std::sync::Arc;

use rayon::prelude::*;

use super::pass::{CrfPass, Slopes};
use super::tokens::TokenAttributes;
use super::weights::{CrfModel, Weights};
use crate::cancel::{Cancel, Cancelled};
use crate::decode::Node;
use crate::grammar::{Grammar, GrammarError, Token};
use crate::parser::{Options, Parser, TreeChart, Workspace};

/// Why there is nothing to learn from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrainingError {
    /// The grammar does not go with features.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    /// The caller wanted to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// A sentence and its tree.
#[derive(Debug, Clone)]
pub struct Example {
    /// The words as the grammar knows them.
    pub tokens: Vec<Token>,
    /// The words as features see them.
    pub sentence: Vec<TokenAttributes>,
    /// The tree.
    pub nodes: Vec<Node>,
}

/// How fast to learn.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    /// How far the first step of a weight goes.
    pub rate: f32,
    /// What the sum of the squares of each weight's slopes starts from: the more, the smaller are
    /// the first steps.
    pub damping: f32,
    /// How strongly weights are drawn to zero.
    pub penalty: f32,
    /// How many sentences make a step.
    pub batch: usize,
}

/// An example after pruning.
#[derive(Debug)]
struct Charted {
    grammar: Arc<Grammar>,
    sentence: Vec<TokenAttributes>,
    around: TreeChart,
}

/// Weights on their way, and what they are learnt from.
#[derive(Debug)]
pub struct Trainer {
    examples: Vec<Charted>,
    model: CrfModel,
    /// The sum of the squares of each weight's slopes.
    squares: Vec<f32>,
    /// The slopes of a batch, zero between batches.
    slopes: Vec<f32>,
}

impl Trainer {
    /// Start from a model.
    pub fn new(model: CrfModel) -> Self {
        let places = model.weights.values().len();
        Self { examples: Vec::new(), model, squares: vec![0.0; places], slopes: vec![0.0; places] }
    }

    /// Chart sentences with a grammar, on the threads of the current rayon pool. Those whose tree
    /// the grammar cannot build, or not within the coarse threshold, are left out.
    pub fn add(
        &mut self,
        grammar: &Arc<Grammar>,
        examples: Vec<Example>,
        options: Options,
        cancel: &Cancel,
    ) -> Result<(), TrainingError> {
        let model = Arc::new(CrfModel { weights: Weights::zeros(0), ..self.model.clone() });
        let parser = Parser::new(Arc::clone(grammar))?.with_crf(model)?;
        let charted: Result<Vec<Option<Charted>>, Cancelled> = examples
            .into_par_iter()
            .map_init(Workspace::default, |workspace, Example { tokens, sentence, nodes }| {
                let found = parser.chart_around(&tokens, &nodes, options, workspace, cancel)?;
                let grammar = Arc::clone(grammar);
                Ok(found.map(|around| Charted { grammar, sentence, around }))
            })
            .collect();
        self.examples.extend(charted?.into_iter().flatten());
        Ok(())
    }

    /// How many sentences there are to learn from.
    pub fn len(&self) -> usize {
        self.examples.len()
    }

    /// Whether there is nothing to learn from.
    pub fn is_empty(&self) -> bool {
        self.examples.is_empty()
    }

    /// The model as it is now.
    pub fn model(&self) -> &CrfModel {
        &self.model
    }

    /// Learn from sentences in the given order, and return the sum of the log-probabilities of
    /// their trees, each before it was learnt from.
    pub fn run(
        &mut self,
        order: &[usize],
        steps: Steps,
        cancel: &Cancel,
    ) -> Result<f64, Cancelled> {
        let mut total = 0.0;
        for batch in order.chunks(steps.batch) {
            let Self { examples, model, .. } = self;
            let compared: Result<Vec<(f64, Slopes)>, Cancelled> = batch
                .par_iter()
                .map_init(CrfPass::default, |pass, &example| {
                    let Charted { grammar, sentence, around } = &examples[example];
                    let TreeChart { chart, words, tree } = around;
                    pass.run(grammar, model, sentence, words, chart, cancel)?;
                    Ok((pass.log_probability(tree), pass.slopes(model, tree)))
                })
                .collect();
            // One after the other, so that sums do not depend on the number of threads.
            let mut touched = Vec::new();
            for (log_probability, slopes) in compared? {
                total += log_probability;
                for (place, slope) in slopes {
                    let sum = &mut self.slopes[place as usize];
                    if *sum == 0.0 {
                        touched.push(place);
                    }
                    *sum += slope;
                }
            }
            let values = self.model.weights.values_mut();
            for place in touched.into_iter().map(|place| place as usize) {
                let slope = std::mem::take(&mut self.slopes[place]) - steps.penalty * values[place];
                self.squares[place] += slope * slope;
                values[place] += steps.rate * slope / (steps.damping + self.squares[place]).sqrt();
            }
        }
        Ok(total)
    }
}
