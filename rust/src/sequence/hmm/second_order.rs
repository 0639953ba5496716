//! Second-order hidden Markov models of words and tags, in which a tag depends on the two before it
//! (Brants 2000).
//!
//! States are the pairs of tags of two adjacent words. A word has few possible tags, so sums are
//! only over the possible tags of three adjacent words.

use std::ops::Range;

use super::kernels::scale;
use super::model::HmmError;
use super::sequences::Sequences;
use crate::cancel::Cancel;

/// Transitions between tags, and the tags that words can have.
#[derive(Debug, Clone)]
pub struct SecondOrder {
    tags: usize,
    /// P(third | first, second), in row-major order. The number after the last tag stands for the
    /// beginning and the end of a sentence.
    transitions: Vec<f64>,
    /// Where the tags of each word begin in the next two columns.
    offsets: Vec<usize>,
    word_tags: Vec<u32>,
    /// P(word | tag).
    emissions: Vec<f64>,
}

impl SecondOrder {
    /// Check the arrays. Word w has `word_tags[offsets[w]..offsets[w + 1]]`, at least one.
    pub fn new(
        tags: usize,
        transitions: Vec<f64>,
        offsets: Vec<usize>,
        word_tags: Vec<u32>,
        emissions: Vec<f64>,
    ) -> Result<Self, HmmError> {
        let expected = [
            ("transitions", transitions.len(), (tags + 1).pow(3)),
            ("emissions", emissions.len(), word_tags.len()),
        ];
        for (array, found, expected) in expected {
            if found != expected {
                return Err(HmmError::Length { array, expected, found });
            }
        }
        for (array, values) in [("transitions", &transitions), ("emissions", &emissions)] {
            if let Some(&value) = values.iter().find(|value| !(**value > 0.0 && value.is_finite()))
            {
                return Err(HmmError::Probability { array, value });
            }
        }
        if offsets.first() != Some(&0)
            || offsets.last() != Some(&word_tags.len())
            || offsets.windows(2).any(|pair| pair[0] >= pair[1])
        {
            return Err(HmmError::Offsets(word_tags.len()));
        }
        if let Some(&symbol) = word_tags.iter().find(|tag| **tag as usize >= tags) {
            return Err(HmmError::Symbol { symbol, symbols: tags });
        }
        Ok(Self { tags, transitions, offsets, word_tags, emissions })
    }

    /// The number of tags.
    pub fn tags(&self) -> usize {
        self.tags
    }

    /// The most probable tag of each word of all sentences, and its probability.
    pub fn best_tags(
        &self,
        sentences: &Sequences,
        cancel: &Cancel,
    ) -> Result<Vec<(u32, f64)>, HmmError> {
        self.map(sentences, cancel, |tags, posteriors, found| {
            let pairs = tags.iter().copied().zip(posteriors.iter().copied());
            // Of tags that are equally probable, the first one.
            let best = pairs.rev().max_by(|left, right| left.1.total_cmp(&right.1));
            found.extend(best);
        })
    }

    /// The probabilities of tags, a row for each word of all sentences.
    pub fn posteriors(&self, sentences: &Sequences, cancel: &Cancel) -> Result<Vec<f64>, HmmError> {
        self.map(sentences, cancel, |tags, posteriors, found| {
            let row = found.len();
            found.resize(row + self.tags, 0.0);
            for (&tag, &posterior) in tags.iter().zip(posteriors) {
                found[row + tag as usize] = posterior;
            }
        })
    }

    /// Call `write` with the tags of each word and their probabilities, and collect what it writes.
    fn map<T: Send + Clone>(
        &self,
        sentences: &Sequences,
        cancel: &Cancel,
        write: impl Fn(&[u32], &[f64], &mut Vec<T>) + Sync + Send,
    ) -> Result<Vec<T>, HmmError> {
        sentences.check(self.offsets.len() - 1)?;
        let found = sentences.map(Lattice::default, |lattice, sentence| {
            let words = sentences.get(sentence);
            cancel.check()?;
            lattice.run(self, words);
            let mut found = Vec::new();
            let mut posteriors = &lattice.posteriors[..];
            for &word in words {
                let tags = &self.word_tags[self.entries(word)];
                let (own, rest) = posteriors.split_at(tags.len());
                write(tags, own, &mut found);
                posteriors = rest;
            }
            Ok(found)
        })?;
        Ok(found.concat())
    }

    fn entries(&self, word: u32) -> Range<usize> {
        self.offsets[word as usize]..self.offsets[word as usize + 1]
    }

    /// P(third | first, second) for all third tags.
    #[inline(always)]
    fn row(&self, first: u32, second: u32) -> &[f64] {
        let width = self.tags + 1;
        &self.transitions[(first as usize * width + second as usize) * width..][..width]
    }
}

/// Memory for a sentence, reused from one to the next. Matrices have a row for each tag of a word
/// and a column for each tag of the next word.
#[derive(Debug, Default)]
struct Lattice {
    /// For each word, P(tags of the word before and of this one | words up to this one).
    forward: Vec<f64>,
    /// Where the matrix of each word begins.
    starts: Vec<usize>,
    /// P(later words | tags of the word before and of this one), up to a factor.
    backward: Vec<f64>,
    /// The same for the word before.
    earlier: Vec<f64>,
    /// The posteriors of the tags of all words.
    posteriors: Vec<f64>,
}

impl Lattice {
    fn run(&mut self, model: &SecondOrder, words: &[u32]) {
        let boundary = [model.tags as u32];
        let own = words.iter().map(|&word| &model.word_tags[model.entries(word)]);
        let candidates: Vec<&[u32]> = [&boundary[..]; 2].into_iter().chain(own).collect();
        self.run_forward(model, words, &candidates);
        self.run_backward(model, words, &candidates);
    }

    fn run_forward(&mut self, model: &SecondOrder, words: &[u32], candidates: &[&[u32]]) {
        self.forward.clear();
        self.forward.push(1.0);
        self.starts.clear();
        self.starts.push(0);
        for (&word, tags) in words.iter().zip(candidates.windows(3)) {
            let [first, second, third] = *tags else { continue };
            let start = self.forward.len();
            self.forward.resize(start + second.len() * third.len(), 0.0);
            let (before, now) = self.forward.split_at_mut(start);
            let mut before = before[self.starts[self.starts.len() - 1]..].iter();
            for &first in first {
                let sums = now.chunks_exact_mut(third.len());
                for ((&second, sums), &weight) in second.iter().zip(sums).zip(&mut before) {
                    let row = model.row(first, second);
                    for (sum, &third) in sums.iter_mut().zip(third) {
                        *sum += weight * row[third as usize];
                    }
                }
            }
            multiply_rows(now, &model.emissions[model.entries(word)]);
            let total: f64 = now.iter().sum();
            scale(now, 1.0 / total);
            self.starts.push(start);
        }
    }

    fn run_backward(&mut self, model: &SecondOrder, words: &[u32], candidates: &[&[u32]]) {
        let Self { forward, starts, backward, earlier, posteriors } = self;
        backward.clear();
        if let [.., before, last] = candidates {
            let pairs =
                before.iter().flat_map(|&first| last.iter().map(move |&last| (first, last)));
            backward.extend(pairs.map(|(first, last)| model.row(first, last)[model.tags]));
        }
        posteriors.clear();
        posteriors.resize(candidates[2..].iter().map(|tags| tags.len()).sum(), 0.0);
        let mut end = posteriors.len();
        for ((&word, tags), &start) in
            words.iter().zip(candidates.windows(3)).zip(&starts[1..]).rev()
        {
            let [first, second, third] = *tags else { continue };
            let own = &mut posteriors[end - third.len()..end];
            end -= third.len();
            let rows = forward[start..].chunks_exact(third.len());
            for (left, right) in rows.zip(backward.chunks_exact(third.len())) {
                for ((sum, left), right) in own.iter_mut().zip(left).zip(right) {
                    *sum += left * right;
                }
            }
            let total: f64 = own.iter().sum();
            scale(own, 1.0 / total);
            multiply_rows(backward, &model.emissions[model.entries(word)]);
            earlier.clear();
            for &first in first {
                for (&second, onward) in second.iter().zip(backward.chunks_exact(third.len())) {
                    let row = model.row(first, second);
                    let onward = third.iter().zip(onward);
                    earlier.push(onward.map(|(&third, onward)| row[third as usize] * onward).sum());
                }
            }
            let largest = earlier.iter().copied().fold(0.0, f64::max);
            scale(earlier, 1.0 / largest);
            std::mem::swap(backward, earlier);
        }
    }
}

/// Multiply all rows of a matrix with a vector, element by element.
fn multiply_rows(matrix: &mut [f64], factors: &[f64]) {
    for row in matrix.chunks_exact_mut(factors.len()) {
        for (value, factor) in row.iter_mut().zip(factors) {
            *value *= factor;
        }
    }
}
