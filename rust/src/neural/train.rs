//! Training by Adam (Kingma & Ba 2015) on batches of trees.

use rayon::prelude::*;

use super::encoder::Network;
use super::example::{Example, Objective, Setting};
use super::loss::LabelPlaces;
use super::random::Random;
use super::vocabulary::Spelling;
use crate::cancel::{Cancel, Cancelled};

/// The decay of the mean of gradients.
const MEAN_DECAY: f32 = 0.9;

/// The decay of the mean of squared gradients.
const SQUARE_DECAY: f32 = 0.98;

/// Keeps Adam from dividing by zero.
const EPSILON: f32 = 1e-8;

/// The number of sentences that are read side by side. Each group has one gradient, and these are
/// added in a fixed order, so that the result does not depend on the number of threads.
const GROUP: usize = 8;

/// Sentences are sorted by length within this number of batches, so that those of a group have
/// similar lengths.
const SORTED_BATCHES: usize = 16;

/// The number of parameters of which a thread computes steps at a time.
const BLOCK: usize = 1 << 14;

/// The steps of one pass over the trees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// Its number, for random numbers.
    pub number: u64,
    /// The number of trees of a step.
    pub batch: usize,
    /// The learning rate of the first step, and that of the step after the last one.
    pub learning_rates: [f32; 2],
    /// Gradients with a larger norm are scaled to this norm.
    pub largest_norm: f32,
    /// The decay of the mean of the parameters; 0 for no mean.
    pub average_decay: f32,
}

/// A network that is being trained.
#[derive(Debug)]
pub struct Trainer {
    network: Network,
    places: LabelPlaces,
    objective: Objective,
    table: Vec<Spelling>,
    counts: Vec<f32>,
    examples: Vec<Example>,
    seed: u64,
    values: Vec<f32>,
    means: Vec<f32>,
    squares: Vec<f32>,
    average: Vec<f32>,
    steps: i32,
}

impl Trainer {
    /// A network with random parameters.
    pub fn new(
        network: Network,
        places: LabelPlaces,
        objective: Objective,
        table: Vec<Spelling>,
        examples: Vec<Example>,
        seed: u64,
    ) -> Self {
        let mut counts = vec![0.0; network.shape.words];
        for example in &examples {
            for &spelling in &example.tokens.spellings {
                counts[table[spelling as usize].word as usize] += example.weight;
            }
        }
        let values = network.layout.start(seed);
        let zeros = vec![0.0; values.len()];
        Self {
            network,
            places,
            objective,
            table,
            counts,
            examples,
            seed,
            average: values.clone(),
            values,
            means: zeros.clone(),
            squares: zeros,
            steps: 0,
        }
    }

    /// The number of training trees.
    pub fn len(&self) -> usize {
        self.examples.len()
    }

    /// Whether there are no training trees.
    pub fn is_empty(&self) -> bool {
        self.examples.is_empty()
    }

    /// The mean of the parameters over the last steps.
    pub fn average(&self) -> &[f32] {
        &self.average
    }

    /// Learn from all trees once, on the threads of the current rayon pool; returns the sum of their
    /// losses.
    pub fn run(&mut self, epoch: Epoch, cancel: &Cancel) -> Result<f64, Cancelled> {
        let batches = self.batches(epoch);
        let mut gradients: Vec<Vec<f32>> = Vec::new();
        let mut total = 0.0;
        for (number, groups) in batches.iter().enumerate() {
            let fraction = number as f32 / batches.len() as f32;
            let [first, last] = epoch.learning_rates;
            let rate = first + (last - first) * fraction;
            gradients.resize_with(groups.len().max(gradients.len()), Vec::new);
            let losses: Vec<Result<f64, Cancelled>> = groups
                .par_iter()
                .zip(&mut gradients)
                .map(|(group, gradients)| self.group_loss(group, epoch, gradients, cancel))
                .collect();
            for loss in losses {
                total += loss?;
            }
            let (sum, others) = gradients[..groups.len()].split_at_mut(1);
            self.step(&mut sum[0], others, rate, epoch);
        }
        Ok(total)
    }

    /// Groups of sentences of similar lengths, in batches in random order.
    fn batches(&self, epoch: Epoch) -> Vec<Vec<Vec<usize>>> {
        let mut random = Random::new(&[self.seed, 1, epoch.number]);
        let mut order: Vec<usize> = (0..self.examples.len()).collect();
        shuffle(&mut order, &mut random);
        let group = GROUP.min(epoch.batch);
        let mut batches = Vec::new();
        for part in order.chunks_mut(epoch.batch * SORTED_BATCHES) {
            part.sort_by_key(|&example| self.examples[example].tags.len());
            let mut groups: Vec<Vec<usize>> = part.chunks(group).map(<[usize]>::to_vec).collect();
            shuffle(&mut groups, &mut random);
            batches.extend(groups.chunks(epoch.batch.div_ceil(group)).map(<[_]>::to_vec));
        }
        batches
    }

    fn group_loss(
        &self,
        group: &[usize],
        epoch: Epoch,
        gradients: &mut Vec<f32>,
        cancel: &Cancel,
    ) -> Result<f64, Cancelled> {
        gradients.clear();
        gradients.resize(self.values.len(), 0.0);
        let setting = Setting {
            network: &self.network,
            table: &self.table,
            counts: &self.counts,
            places: &self.places,
            objective: self.objective,
        };
        let examples: Vec<&Example> =
            group.iter().map(|&example| &self.examples[example]).collect();
        let streams: Vec<Random> = group
            .iter()
            .map(|&example| Random::new(&[self.seed, 2, epoch.number, example as u64]))
            .collect();
        setting.loss(&self.values, &examples, &streams, gradients, cancel)
    }

    /// A step of Adam with the sum of some gradients.
    fn step(&mut self, sum: &mut [f32], others: &[Vec<f32>], rate: f32, epoch: Epoch) {
        let norms: Vec<f64> = sum
            .par_chunks_mut(BLOCK)
            .enumerate()
            .map(|(block, sum)| {
                for other in others {
                    let other = &other[block * BLOCK..];
                    sum.iter_mut().zip(other).for_each(|(sum, value)| *sum += value);
                }
                sum.iter().map(|&value| f64::from(value) * f64::from(value)).sum()
            })
            .collect();
        let scale = 1.0 / epoch.batch as f32;
        let norm = norms.iter().sum::<f64>().sqrt() as f32 * scale;
        let scale = scale * (epoch.largest_norm / norm.max(epoch.largest_norm));
        self.steps += 1;
        let mean_bias = 1.0 - MEAN_DECAY.powi(self.steps);
        let square_bias = 1.0 - SQUARE_DECAY.powi(self.steps);
        // The mean of all steps so far, until there are enough of them.
        let decay = epoch.average_decay.min(self.steps as f32 / (self.steps as f32 + 10.0));
        let blocks = self
            .values
            .par_chunks_mut(BLOCK)
            .zip(self.means.par_chunks_mut(BLOCK))
            .zip(self.squares.par_chunks_mut(BLOCK))
            .zip(self.average.par_chunks_mut(BLOCK))
            .zip(sum.par_chunks(BLOCK));
        blocks.for_each(|((((values, means), squares), average), gradients)| {
            for place in 0..values.len() {
                let gradient = gradients[place] * scale;
                means[place] += (1.0 - MEAN_DECAY) * (gradient - means[place]);
                squares[place] += (1.0 - SQUARE_DECAY) * (gradient * gradient - squares[place]);
                let mean = means[place] / mean_bias;
                let deviation = (squares[place] / square_bias).sqrt() + EPSILON;
                values[place] -= rate * mean / deviation;
                average[place] += (1.0 - decay) * (values[place] - average[place]);
            }
        });
    }
}

/// Put elements into random order.
fn shuffle<T>(elements: &mut [T], random: &mut Random) {
    for place in (1..elements.len()).rev() {
        elements.swap(place, random.below(place + 1));
    }
}
