//! The emissions of words.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use super::characters::opens_sentence;
use super::classes::{UNKNOWN, Word, WordClasses};
use crate::cancel::{Cancel, Cancelled};

/// Words and classes that make no lexicon.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Problem {
    /// A word or a class is there twice.
    #[error("a lexicon has {0:?} more than once")]
    Repeated(String),
    /// There is no class of all words.
    #[error("the classes of a lexicon must contain {UNKNOWN:?}")]
    NoUnknown,
}

/// The numbers of known words, and of the classes that stand for unknown ones. First come the words,
/// then the classes.
#[derive(Debug)]
pub struct Encoder {
    words: FxHashMap<Box<str>, u32>,
    classes: FxHashMap<Box<str>, u32>,
    classifier: Arc<WordClasses>,
    unknown: u32,
    /// Whether an unknown word at the beginning of a sentence is replaced by its lower-case form if
    /// that is known.
    lowercase_initial: bool,
}

impl Encoder {
    /// An encoder of words by their numbers.
    pub fn new<T: AsRef<str>>(
        words: &[T],
        classes: &[T],
        classifier: Arc<WordClasses>,
        lowercase_initial: bool,
    ) -> Result<Self, Problem> {
        let classes = numbered(classes, words.len())?;
        let words = numbered(words, 0)?;
        let unknown = *classes.get(UNKNOWN).ok_or(Problem::NoUnknown)?;
        Ok(Self { words, classes, classifier, unknown, lowercase_initial })
    }

    /// Whether a word is known.
    pub fn knows(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// The emission of a word: itself if it is known, else its class.
    pub fn emission(&self, word: &str, initial: bool, tag: Option<&str>) -> u32 {
        if let Some(&known) = self.words.get(word) {
            return known;
        }
        let lowered = self.words.get(word.to_lowercase().as_str()).copied();
        if let (Some(lowered), true) = (lowered, initial && self.lowercase_initial) {
            return lowered;
        }
        self.number_of_class(&Word { text: word, initial, known_lowercase: lowered.is_some(), tag })
    }

    /// The emission of a word's class, whether or not the word is known.
    pub fn class_emission(&self, word: &str, initial: bool, tag: Option<&str>) -> u32 {
        let known_lowercase = self.knows(&word.to_lowercase());
        self.number_of_class(&Word { text: word, initial, known_lowercase, tag })
    }

    /// The emissions of the words of sentences, which are given one after the other with the offsets
    /// of the sentences. There is either no tag or one for each word.
    pub fn encode<T: AsRef<str>>(
        &self,
        words: &[T],
        offsets: &[usize],
        tags: &[Option<&str>],
        cancel: &Cancel,
    ) -> Result<Vec<u32>, Cancelled> {
        let mut emissions = Vec::with_capacity(words.len());
        for sentence in offsets.windows(2) {
            cancel.check()?;
            let mut initial = true;
            let positions = sentence[0]..sentence[1];
            for (position, word) in positions.clone().zip(&words[positions]) {
                let word = word.as_ref();
                let tag = tags.get(position).copied().flatten();
                emissions.push(self.emission(word, initial, tag));
                initial = initial && opens_sentence(word);
            }
        }
        Ok(emissions)
    }

    /// The number of the most specific class of a word that the lexicon has.
    fn number_of_class(&self, word: &Word<'_>) -> u32 {
        let mut name = self.classifier.class_of(word);
        loop {
            if let Some(&number) = self.classes.get(name.as_str()) {
                return number;
            }
            if !self.classifier.generalise(&mut name) {
                return self.unknown;
            }
        }
    }
}

fn numbered<T: AsRef<str>>(names: &[T], first: usize) -> Result<FxHashMap<Box<str>, u32>, Problem> {
    let mut numbers = FxHashMap::with_capacity_and_hasher(names.len(), Default::default());
    for (number, name) in (first as u32..).zip(names) {
        if numbers.insert(name.as_ref().into(), number).is_some() {
            return Err(Problem::Repeated(name.as_ref().to_owned()));
        }
    }
    Ok(numbers)
}

/// Which words have another word among the known ones as their lower-case form.
pub fn known_in_lowercase<T: AsRef<str>>(
    words: &[T],
    known: &[bool],
    cancel: &Cancel,
) -> Result<Vec<bool>, Cancelled> {
    let pairs = words.iter().zip(known).filter(|pair| *pair.1);
    let vocabulary: FxHashSet<&str> = pairs.map(|(word, _)| word.as_ref()).collect();
    let is_known = |word: &str| {
        let lowered = word.to_lowercase();
        lowered != word && vocabulary.contains(lowered.as_str())
    };
    words.iter().map(|word| cancel.check().map(|()| is_known(word.as_ref()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoder(lowercase_initial: bool) -> Encoder {
        let classifier = Arc::new(WordClasses::English);
        let classes = ["UNK", "UNK-LC", "UNK-INITC-KNOWNLC", "UNK-CAPS"];
        Encoder::new(&["dogs", "Rover", "``"], &classes, classifier, lowercase_initial).unwrap()
    }

    fn encode(encoder: &Encoder, words: &[&str], offsets: &[usize]) -> Vec<u32> {
        encoder.encode(words, offsets, &[], &Cancel::new()).unwrap()
    }

    #[test]
    fn initial_words_may_be_known_in_lower_case() {
        let words = ["``", "Dogs", "Dogs", "Dogs", "7", "Dogs"];
        assert_eq!(encode(&encoder(true), &words, &[0, 3, 6]), [2, 0, 6, 0, 3, 6]);
        assert_eq!(encode(&encoder(false), &words, &[0, 3, 6]), [2, 5, 6, 5, 3, 6]);
    }

    #[test]
    fn a_class_that_the_lexicon_lacks_falls_back() {
        assert_eq!(
            encode(&encoder(true), &["", "blorging", "Rover", "7-8"], &[0, 4]),
            [3, 4, 1, 3]
        );
        assert_eq!(encoder(true).class_emission("dogs", false, None), 4);
        assert_eq!(encoder(true).class_emission("Dogs", true, None), 5);
        assert!(encode(&encoder(true), &[], &[0]).is_empty());
    }

    #[test]
    fn tags_are_those_of_the_words() {
        let classes = ["UNK-NN", "UNK"];
        let encoder = Encoder::new(&["a"], &classes, Arc::new(WordClasses::Tag), false).unwrap();
        let tags = [Some("NN"), Some("NN"), Some("XX"), None];
        let found = encoder.encode(&["a", "b", "b", "b"], &[0, 2, 4], &tags, &Cancel::new());
        assert_eq!(found, Ok(vec![0, 1, 2, 2]));
    }

    #[test]
    fn names_are_unique_and_there_is_a_class_of_all_words() {
        let problem = |words: &[&str], classes: &[&str]| {
            Encoder::new(words, classes, Arc::new(WordClasses::Tag), false).unwrap_err()
        };
        assert_eq!(problem(&["a", "a"], &["UNK"]), Problem::Repeated("a".to_owned()));
        assert_eq!(problem(&["a"], &["UNK", "UNK"]), Problem::Repeated("UNK".to_owned()));
        assert_eq!(problem(&["UNK"], &["UNK-NN"]), Problem::NoUnknown);
        // A word may have the name of a class.
        assert!(Encoder::new(&["UNK"], &["UNK"], Arc::new(WordClasses::Tag), false).is_ok());
    }

    #[test]
    fn only_other_and_known_words_are_lower_case_forms() {
        let words = ["Dogs", "dogs", "DOGS", "Cats", "cats", "ΣΑΣ", "σας"];
        let known = [true, true, false, true, false, false, true];
        let found = known_in_lowercase(&words, &known, &Cancel::new());
        assert_eq!(found, Ok(vec![true, false, true, false, false, true, false]));
    }
}
