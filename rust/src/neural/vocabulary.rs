//! Words and characters as numbers.

use rustc_hash::FxHashMap;

/// The word that stands for all words without embeddings, and the character for all others.
pub const UNKNOWN: u32 = 0;

/// The first element of a sentence, before its words.
pub const START: u32 = 1;

/// The last element of a sentence, after its words.
pub const STOP: u32 = 2;

/// The number of elements that are no words or characters.
pub const SPECIAL: usize = 3;

/// Of a longer word, this number of characters at each end is read.
const HALF_LENGTH: usize = 12;

/// What a network knows of a spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelling {
    /// The number of the word.
    pub word: u32,
    /// Its characters.
    pub characters: Vec<u32>,
    /// The row of its given vector, if it has one.
    pub vector: Option<u32>,
}

/// The words, the characters and the given word vectors of a network.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    words: FxHashMap<String, u32>,
    characters: FxHashMap<char, u32>,
    vector_words: FxHashMap<String, u32>,
    vectors: Vec<i8>,
    vector_size: usize,
}

impl Vocabulary {
    /// A vocabulary of words and characters; their numbers are their places after the special ones.
    /// `vectors` has a row for each of `vector_words`.
    pub fn new(
        words: Vec<String>,
        characters: Vec<char>,
        vector_words: Vec<String>,
        vectors: Vec<i8>,
    ) -> Self {
        let vector_size = vectors.len().checked_div(vector_words.len()).unwrap_or(0);
        let place = |place: usize| place as u32;
        let number = |place: usize| (place + SPECIAL) as u32;
        Self {
            words: words.into_iter().enumerate().map(|(n, word)| (word, number(n))).collect(),
            characters: characters.into_iter().enumerate().map(|(n, c)| (c, number(n))).collect(),
            vector_words: vector_words
                .into_iter()
                .enumerate()
                .map(|(n, word)| (word, place(n)))
                .collect(),
            vectors,
            vector_size,
        }
    }

    /// The number of words, including the special ones.
    pub fn words(&self) -> usize {
        self.words.len() + SPECIAL
    }

    /// The number of characters, including the special ones.
    pub fn characters(&self) -> usize {
        self.characters.len() + SPECIAL
    }

    /// The size of the given vectors, 0 if there are none.
    pub fn vector_size(&self) -> usize {
        self.vector_size
    }

    /// A given vector, in 127ths.
    pub fn vector(&self, row: u32) -> &[i8] {
        &self.vectors[row as usize * self.vector_size..][..self.vector_size]
    }

    /// The numbers of a spelling. A word that is not known as it is written is looked up in lower
    /// case.
    pub fn spelling(&self, word: &str) -> Spelling {
        let find = |table: &FxHashMap<String, u32>| {
            table.get(word).or_else(|| table.get(&word.to_lowercase())).copied()
        };
        let characters: Vec<u32> = word
            .chars()
            .map(|character| self.characters.get(&character).copied().unwrap_or(UNKNOWN))
            .collect();
        Spelling {
            word: find(&self.words).unwrap_or(UNKNOWN),
            characters: shortened(characters),
            vector: find(&self.vector_words),
        }
    }

    /// An end of a sentence.
    pub fn end(&self, which: u32) -> Spelling {
        Spelling { word: which, characters: vec![which], vector: None }
    }
}

/// The first and the last characters of a long word.
fn shortened(mut characters: Vec<u32>) -> Vec<u32> {
    if characters.is_empty() {
        return vec![UNKNOWN];
    }
    if characters.len() > 2 * HALF_LENGTH {
        characters.drain(HALF_LENGTH..characters.len() - HALF_LENGTH);
    }
    characters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_are_looked_up_in_lower_case() {
        let strings = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        let vocabulary = Vocabulary::new(
            strings(&["the", "Dog"]),
            vec!['d', 'g', 'o'],
            strings(&["dog"]),
            vec![1, 2],
        );
        assert_eq!(vocabulary.spelling("The").word, 3);
        let dog = Spelling { word: 4, characters: vec![UNKNOWN, 5, 4], vector: Some(0) };
        assert_eq!(vocabulary.spelling("Dog"), dog);
        assert_eq!(vocabulary.spelling("dog").word, UNKNOWN);
        assert_eq!(vocabulary.vector(0), [1, 2]);
        assert_eq!(vocabulary.spelling(&"do".repeat(50)).characters.len(), 24);
        assert_eq!(vocabulary.spelling("").characters, [UNKNOWN]);
    }
}
