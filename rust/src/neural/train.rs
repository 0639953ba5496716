//! Training on batches of trees.

use rayon::prelude::*;

use super::adam::{Adam, StepSize};
use super::encoder::Network;
use super::example::{Example, Objective, Setting};
use super::loss::LabelPlaces;
use super::random::Random;
use super::vocabulary::{START, STOP, Spelling, UNKNOWN};
use crate::cancel::{Cancel, Cancelled};

/// The fewest and the most sentences that are read side by side, unless a batch has fewer. Each group
/// has one gradient, and these are added in a fixed order, so that the result does not depend on the
/// number of threads. The sentences of a group have similar lengths, so a batch has two groups or more
/// if it can.
const GROUP: [usize; 2] = [8, 16];

/// Sentences are sorted by length within this number of batches, so that those of a group have
/// similar lengths.
const SORTED_BATCHES: usize = 16;

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
    adam: Adam,
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
        let adam = Adam::new(&values, network.shape.word_size, network.shape.words);
        Self { network, places, objective, table, counts, examples, seed, values, adam }
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
        self.adam.average()
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
            let size = StepSize {
                rate: first + (last - first) * fraction,
                scale: 1.0 / epoch.batch as f32,
                largest_norm: epoch.largest_norm,
                average_decay: epoch.average_decay,
            };
            let words = self.words(groups);
            self.adam.catch_up(&mut self.values, words.iter().copied());
            let count = groups.len().max(gradients.len());
            gradients.resize_with(count, || vec![0.0; self.values.len()]);
            let losses: Vec<Result<f64, Cancelled>> = groups
                .par_iter()
                .zip(&mut gradients)
                .map(|(group, gradients)| self.group_loss(group, epoch, gradients, cancel))
                .collect();
            for loss in losses {
                total += loss?;
            }
            self.adam.step(&mut self.values, &mut gradients[..groups.len()], &words, size);
        }
        self.adam.catch_up_all(&mut self.values);
        Ok(total)
    }

    /// Groups of sentences of similar lengths, in batches in random order.
    fn batches(&self, epoch: Epoch) -> Vec<Vec<Vec<usize>>> {
        let mut random = Random::new(&[self.seed, 1, epoch.number]);
        let mut order: Vec<usize> = (0..self.examples.len()).collect();
        shuffle(&mut order, &mut random);
        let group = (epoch.batch / 2).clamp(GROUP[0], GROUP[1]).min(epoch.batch);
        let mut batches = Vec::new();
        for part in order.chunks_mut(epoch.batch * SORTED_BATCHES) {
            part.sort_by_key(|&example| self.examples[example].tags.len());
            let mut groups: Vec<Vec<usize>> = part.chunks(group).map(<[usize]>::to_vec).collect();
            shuffle(&mut groups, &mut random);
            batches.extend(groups.chunks(epoch.batch.div_ceil(group)).map(<[_]>::to_vec));
        }
        batches
    }

    /// The words whose embeddings some groups read.
    fn words(&self, groups: &[Vec<usize>]) -> Vec<u32> {
        let spellings =
            groups.iter().flatten().flat_map(|&example| &self.examples[example].tokens.spellings);
        let words = spellings.map(|&spelling| self.table[spelling as usize].word);
        let mut words: Vec<u32> = words.chain([UNKNOWN, START, STOP]).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    fn group_loss(
        &self,
        group: &[usize],
        epoch: Epoch,
        gradients: &mut [f32],
        cancel: &Cancel,
    ) -> Result<f64, Cancelled> {
        self.adam.clear(gradients);
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
}

/// Put elements into random order.
fn shuffle<T>(elements: &mut [T], random: &mut Random) {
    for place in (1..elements.len()).rev() {
        elements.swap(place, random.below(place + 1));
    }
}
