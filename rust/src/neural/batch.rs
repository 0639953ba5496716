//! Several sentences as the input of a network.

use rustc_hash::FxHashMap;

use super::packing::Packing;
use super::random::Random;
use super::vocabulary::{START, STOP, Spelling, UNKNOWN, Vocabulary};

/// A sentence: its spellings, by their numbers in a table, and the tags that are given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The number of each token's spelling.
    pub spellings: Vec<u32>,
    /// The tag of each token, if it is given.
    pub tags: Vec<Option<u32>>,
}

/// Sentences side by side, each with an element for its start and one for its end.
#[derive(Debug)]
pub struct Batch {
    /// Where the elements of sentences are.
    pub packing: Packing,
    /// For each sequence the index of its sentence: longer sentences come first.
    pub order: Vec<usize>,
    /// The number of the word of each row.
    pub words: Vec<u32>,
    /// The given vector of each row, if it has one.
    pub vectors: Vec<Option<u32>>,
    /// The given tag of each row, if it has one.
    pub tags: Vec<Option<u32>>,
    /// Where the characters of different words are.
    pub character_packing: Packing,
    /// The number of the character of each row of characters.
    pub characters: Vec<u32>,
    /// The sequence of characters of each row.
    pub character_sequences: Vec<u32>,
}

impl Batch {
    /// Put sentences side by side. `table` has the spellings to which sentences refer.
    pub fn new(vocabulary: &Vocabulary, table: &[Spelling], sentences: &[&Tokens]) -> Self {
        let mut order: Vec<usize> = (0..sentences.len()).collect();
        order.sort_by_key(|&sentence| std::cmp::Reverse(sentences[sentence].spellings.len()));
        let length = |&sentence: &usize| sentences[sentence].spellings.len() + 2;
        let packing = Packing::new(order.iter().map(length).collect());
        let ends = [vocabulary.end(START), vocabulary.end(STOP)];
        let mut rows: Vec<(&Spelling, u32)> = vec![(&ends[0], u32::MAX); packing.rows()];
        let mut tags = vec![None; packing.rows()];
        for (sequence, &sentence) in order.iter().enumerate() {
            let tokens = sentences[sentence];
            for (position, &number) in tokens.spellings.iter().enumerate() {
                let row = packing.row(sequence, position + 1);
                rows[row] = (&table[number as usize], number);
                tags[row] = tokens.tags.get(position).copied().flatten();
            }
            let last = packing.row(sequence, tokens.spellings.len() + 1);
            rows[last] = (&ends[1], u32::MAX - 1);
        }
        // The characters of each spelling are read once.
        let mut found: FxHashMap<u32, usize> = FxHashMap::default();
        let mut spellings: Vec<&Spelling> = Vec::new();
        let own: Vec<usize> = rows
            .iter()
            .map(|&(spelling, number)| {
                *found.entry(number).or_insert_with(|| {
                    spellings.push(spelling);
                    spellings.len() - 1
                })
            })
            .collect();
        let mut by_length: Vec<usize> = (0..spellings.len()).collect();
        by_length.sort_by_key(|&index| std::cmp::Reverse(spellings[index].characters.len()));
        let mut sequence_of = vec![0; spellings.len()];
        for (sequence, &index) in by_length.iter().enumerate() {
            sequence_of[index] = sequence as u32;
        }
        let lengths = by_length.iter().map(|&index| spellings[index].characters.len()).collect();
        let character_packing = Packing::new(lengths);
        let mut characters = vec![UNKNOWN; character_packing.rows()];
        for (sequence, &index) in by_length.iter().enumerate() {
            for (position, &character) in spellings[index].characters.iter().enumerate() {
                characters[character_packing.row(sequence, position)] = character;
            }
        }
        Self {
            words: rows.iter().map(|(spelling, _)| spelling.word).collect(),
            vectors: rows.iter().map(|(spelling, _)| spelling.vector).collect(),
            tags,
            character_sequences: own.iter().map(|&index| sequence_of[index]).collect(),
            packing,
            order,
            character_packing,
            characters,
        }
    }

    /// Replace words of a sequence by the unknown word, rare words more often: a word that was seen
    /// `count` times with probability `strength / (strength + count)`.
    pub fn drop_words(
        &mut self,
        sequence: usize,
        counts: &[f32],
        strength: f32,
        random: &mut Random,
    ) {
        for position in 1..self.packing.length(sequence) - 1 {
            let word = &mut self.words[self.packing.row(sequence, position)];
            if random.uniform() * (strength + counts[*word as usize]) < strength {
                *word = UNKNOWN;
            }
        }
    }
}
