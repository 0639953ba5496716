//! The spelling of words: the shapes of their characters, and parts of words as features of tags.
//!
//! The values that a template hashes must not change; see [`super::template_numbers`].

use super::template_numbers::Template as T;
use super::templates::Collector;
use crate::lexicon::characters::{Script, script};
use crate::numeric::stable_hash::hash_text;

/// The kinds of hashed parts of words. Saved models depend on the numbers.
const PREFIX: u64 = 20;
const SUFFIX: u64 = 21;
const INFIX: u64 = 22;

/// The number of characters of an infix.
const INFIX_LENGTH: usize = 3;

/// Infixes after this number of them are left out.
const MOST_INFIXES: usize = 6;

/// Hashes of parts of a lower-cased word, beside those that every version has. Zero where a word has
/// no such part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spelling {
    /// The first character, the first two, four and five.
    prefixes: [u64; 4],
    /// The last four characters, and the last five.
    suffixes: [u64; 2],
    /// Neighbouring characters within the word.
    infixes: [u64; MOST_INFIXES],
}

impl Spelling {
    /// The parts of a word, given its characters in lower case.
    pub(super) fn new(lowered: &[char]) -> Self {
        let part = |kind, characters: &[char]| hash_text(kind, characters.iter().copied());
        let prefix = |length| lowered.get(..length).map_or(0, |found| part(PREFIX, found));
        let suffix = |length| {
            let start = lowered.len().checked_sub(length);
            start.map_or(0, |start| part(SUFFIX, &lowered[start..]))
        };
        let mut infixes = [0; MOST_INFIXES];
        // What begins or ends the word is an affix.
        let inner = lowered.get(1..lowered.len().saturating_sub(1)).unwrap_or_default();
        for (infix, found) in infixes.iter_mut().zip(inner.windows(INFIX_LENGTH)) {
            *infix = part(INFIX, found);
        }
        Self { prefixes: [1, 2, 4, 5].map(prefix), suffixes: [4, 5].map(suffix), infixes }
    }

    /// Add the features of the word.
    pub(super) fn add_features(&self, add: &mut Collector<'_>) {
        let prefixes = [T::WordPrefix1, T::WordPrefix2, T::WordPrefix4, T::WordPrefix5];
        let templates = prefixes.into_iter().chain([T::WordSuffix4, T::WordSuffix5]);
        let infixes = self.infixes.iter().map(|&infix| (T::WordInfix, infix));
        let affixes = templates.zip(self.prefixes.iter().chain(&self.suffixes).copied());
        for (template, part) in affixes.chain(infixes).filter(|entry| entry.1 != 0) {
            add.add(template, [part]);
        }
    }
}

/// The kind of a character in a word shape: upper case, lower case, digit, a letter of a script
/// without case if `scripts` are told apart, or the character itself.
pub(super) fn character_class(character: char, scripts: bool) -> char {
    match character {
        _ if character.is_uppercase() => 'X',
        _ if character.is_lowercase() => 'x',
        _ if character.is_numeric() => 'd',
        _ if scripts && character.is_alphabetic() => letter_of_script(character),
        _ => character,
    }
}

/// A letter that stands for all letters of a script without case.
fn letter_of_script(letter: char) -> char {
    match script(letter) {
        Some(Script::Hiragana) => 'あ',
        Some(Script::Katakana) => 'ア',
        Some(Script::Han) => '漢',
        // Marks that stand for Han characters.
        None if matches!(letter, '\u{3005}'..='\u{3006}') => '漢',
        None => 'a',
    }
}

/// The shape of a word: the kinds of its characters without repetitions.
pub(super) fn shape(characters: &[char], scripts: bool) -> Vec<char> {
    const LONGEST: usize = 5;
    let mut shape: Vec<char> = characters.iter().map(|&c| character_class(c, scripts)).collect();
    shape.dedup();
    shape.truncate(LONGEST);
    shape
}

#[cfg(test)]
mod tests {
    use super::super::templates::word_features;
    use super::super::tokens::Vocabulary;
    use super::*;
    use crate::numeric::stable_hash::combine;

    fn characters(word: &str) -> Vec<char> {
        word.chars().collect()
    }

    #[test]
    fn scripts_without_case_have_shapes() {
        let shape_of = |word| shape(&characters(word), true).iter().collect::<String>();
        assert_eq!(shape_of("McDonald's-2"), "XxXx'");
        assert_eq!(shape_of("オードリー・ヘプバーン"), "ア・ア");
        assert_eq!(shape_of("食べる"), "漢あ");
        assert_eq!(shape_of("שלום"), "a");
        assert_eq!(shape_of("سلام"), "a");
        assert_eq!(shape_of("ＡＢ１"), "Xd");
        // Vowel signs of Hindi and Thai are letters; other combining marks stay as they are.
        assert_eq!(shape_of("नमस्ते"), "a\u{94d}a");
        assert_eq!(shape_of("สวัสดี"), "a");
    }

    #[test]
    fn shapes_of_older_models_stay() {
        let shape_of = |word| shape(&characters(word), false).iter().collect::<String>();
        assert_eq!(shape_of("McDonald's-2"), "XxXx'");
        assert_eq!(shape_of("食べる"), "食べる");
    }

    #[test]
    fn words_have_the_parts_that_they_are_long_enough_for() {
        let parts = |word: &str| {
            let found = Spelling::new(&characters(word));
            let count = |hashes: &[u64]| hashes.iter().filter(|&&hash| hash != 0).count();
            [count(&found.prefixes), count(&found.suffixes), count(&found.infixes)]
        };
        assert_eq!(parts(""), [0, 0, 0]);
        assert_eq!(parts("a"), [1, 0, 0]);
        assert_eq!(parts("abcd"), [3, 1, 0]);
        assert_eq!(parts("abcde"), [4, 2, 1]);
        assert_eq!(parts("electroencephalography"), [4, 2, MOST_INFIXES]);
    }

    #[test]
    fn features_of_spellings_never_change() {
        let features = |version| {
            let vocabulary = Vocabulary::learn([("cats", 3)].into_iter()).with_version(version);
            let sentence = [vocabulary.attributes("walked"), vocabulary.attributes("歩いた")];
            [0, 1].map(|position| {
                let mut found = Vec::new();
                word_features(&sentence, position, &mut found);
                found
            })
        };
        let (old, new) = (features(3), features(4));
        // Latin words only gain features.
        assert!(new[0].starts_with(&old[0][..8]) && new[0].len() == old[0].len() + 8);
        let hashes = new.map(|found| found.into_iter().fold(0, combine));
        assert_eq!(hashes, [0x00A4_EB5B_2942_5B89, 0x1FFA_8E3C_D697_7C9B]);
    }
}
