//! Training of the span filter: AdaGrad (Duchi et al. 2011) on the likelihood of gold bracketings.

use super::features::{BORDER_TEMPLATES, TokenFeatures, WIDTH_CLASSES, width_class};
use super::weights::Weights;
use super::{FilterWorkspace, LOSS_STEP, LOSSES, LOWEST_LOSS};
use crate::cancel::{Cancel, Cancelled};

/// Derivatives below this are not worth a step.
const NEGLIGIBLE: f32 = 1e-2;

/// Sentences from which a filter is learnt, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Examples<'a> {
    /// The tokens.
    pub tokens: &'a [TokenFeatures],
    /// The tokens of sentence `s` are at `token_offsets[s]..token_offsets[s + 1]`.
    pub token_offsets: &'a [usize],
    /// The start and the end of each span of the binary gold tree; single words may be missing, and
    /// spans may be repeated.
    pub starts: &'a [u32],
    /// The end of each span.
    pub ends: &'a [u32],
    /// The spans of each sentence.
    pub span_offsets: &'a [usize],
}

/// How a filter is learnt.
#[derive(Debug, Clone, Copy)]
pub struct TrainingOptions {
    /// The number of passes over the sentences.
    pub epochs: usize,
    /// The step size of AdaGrad.
    pub learning_rate: f32,
    /// The initial value of AdaGrad's sums of squared gradients.
    pub initial_accumulator: f32,
    /// The number of border features is 2 to this power.
    pub border_bits: u32,
    /// The number of features of pairs of borders is 2 to this power.
    pub pair_bits: u32,
}

/// Learn from the sentences of `fitted`, in this order, and set thresholds so that they close given
/// fractions of the gold spans of the sentences of `held_out`, which are learnt from afterwards.
pub fn train(
    examples: Examples<'_>,
    fitted: &[u32],
    held_out: &[u32],
    options: TrainingOptions,
    cancel: &Cancel,
) -> Result<(Weights, Vec<f32>), Cancelled> {
    let mut trainer = Trainer::new(options);
    for _ in 0..options.epochs {
        for &sentence in fitted {
            trainer.probabilities(examples, sentence as usize, cancel)?;
            trainer.step(examples, sentence as usize);
        }
    }
    let mut gold = Vec::new();
    for &sentence in held_out {
        trainer.probabilities(examples, sentence as usize, cancel)?;
        let words = examples.words(sentence as usize);
        for (start, end) in examples.distinct_spans(sentence as usize) {
            // The whole sentence is never closed.
            if end - start < words {
                gold.push(trainer.workspace.bracketings.posterior(start, end));
            }
        }
    }
    for &sentence in held_out {
        trainer.probabilities(examples, sentence as usize, cancel)?;
        trainer.step(examples, sentence as usize);
    }
    Ok((trainer.weights, thresholds(gold)))
}

/// The probabilities below which fractions of the gold spans lie.
fn thresholds(mut gold: Vec<f32>) -> Vec<f32> {
    gold.sort_unstable_by(f32::total_cmp);
    (0..LOSSES)
        .map(|place| {
            let loss = 10f64.powf(LOWEST_LOSS + place as f64 * LOSS_STEP);
            let lost = (loss * gold.len() as f64) as usize;
            match gold.get(lost) {
                // Too few spans to measure such a small loss: half of the lowest, to be safe.
                Some(lowest) if lost == 0 => (lowest / 2.0).clamp(0.0, 1.0),
                Some(threshold) => threshold.clamp(0.0, 1.0),
                None => 0.0,
            }
        })
        .collect()
}

impl Examples<'_> {
    fn words(&self, sentence: usize) -> usize {
        self.token_offsets[sentence + 1] - self.token_offsets[sentence]
    }

    /// The spans of several words, each once, in ascending order.
    fn distinct_spans(&self, sentence: usize) -> Vec<(usize, usize)> {
        let range = self.span_offsets[sentence]..self.span_offsets[sentence + 1];
        let spans = self.starts[range.clone()].iter().zip(&self.ends[range]);
        let mut spans: Vec<_> = spans
            .map(|(&start, &end)| (start as usize, end as usize))
            .filter(|(start, end)| end - start > 1)
            .collect();
        spans.sort_unstable();
        spans.dedup();
        spans
    }
}

struct Trainer {
    options: TrainingOptions,
    weights: Weights,
    /// The sum of squared gradients of each weight.
    border_squares: Vec<[f32; WIDTH_CLASSES]>,
    pair_squares: Vec<f32>,
    workspace: FilterWorkspace,
    gradients: [Vec<[f32; WIDTH_CLASSES]>; 2],
}

impl Trainer {
    fn new(options: TrainingOptions) -> Self {
        let weights = Weights::zeros(options.border_bits, options.pair_bits);
        let squares = options.initial_accumulator;
        Self {
            options,
            border_squares: vec![[squares; WIDTH_CLASSES]; weights.borders.len()],
            pair_squares: vec![squares; weights.pairs.len()],
            weights,
            workspace: FilterWorkspace::default(),
            gradients: Default::default(),
        }
    }

    /// Compute the probabilities of the spans of a sentence.
    fn probabilities(
        &mut self,
        examples: Examples<'_>,
        sentence: usize,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let range = examples.token_offsets[sentence]..examples.token_offsets[sentence + 1];
        self.workspace.sentence.clear();
        self.workspace.sentence.extend_from_slice(&examples.tokens[range]);
        self.workspace.run(&self.weights, cancel)
    }

    /// Follow the gradient of the log-likelihood of the gold tree of the sentence whose probabilities
    /// were computed last.
    fn step(&mut self, examples: Examples<'_>, sentence: usize) {
        let words = examples.words(sentence);
        for gradients in &mut self.gradients {
            gradients.clear();
            gradients.resize(words + 1, [0.0; WIDTH_CLASSES]);
        }
        let mut gold = examples.distinct_spans(sentence).into_iter().peekable();
        for start in 0..words {
            for end in start + 2..=words {
                let is_gold = gold.next_if_eq(&(start, end)).is_some();
                let posterior = self.workspace.bracketings.posterior(start, end);
                let gradient = f32::from(u8::from(is_gold)) - posterior;
                if gradient.abs() < NEGLIGIBLE {
                    continue;
                }
                let class = width_class(end - start);
                self.gradients[0][start][class] += gradient;
                self.gradients[1][end][class] += gradient;
                self.step_pair(self.workspace.keys.width(end - start), gradient);
                for key in self.workspace.keys.pair(start, end) {
                    self.step_pair(key, gradient);
                }
            }
        }
        for side in 0..2 {
            for position in 0..=words {
                self.step_border(side, position);
            }
        }
    }

    #[inline]
    fn step_pair(&mut self, key: u32, gradient: f32) {
        let index = self.weights.pair_index(key);
        let squares = &mut self.pair_squares[index];
        *squares += gradient * gradient;
        self.weights.pairs[index] += self.options.learning_rate * gradient / squares.sqrt();
    }

    fn step_border(&mut self, side: usize, position: usize) {
        let gradient = self.gradients[side][position];
        if gradient.iter().all(|value| value.abs() < NEGLIGIBLE) {
            return;
        }
        let keys: [u32; BORDER_TEMPLATES] = *self.workspace.keys.border(side, position);
        for key in keys {
            let index = self.weights.border_index(key);
            let squares = &mut self.border_squares[index];
            let weights = &mut self.weights.borders[index];
            for ((weight, squares), gradient) in weights.iter_mut().zip(squares).zip(gradient) {
                *squares += gradient * gradient;
                *weight += self.options.learning_rate * gradient / squares.sqrt();
            }
        }
    }
}
