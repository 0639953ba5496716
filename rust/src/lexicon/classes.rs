//! Classes that stand in for rare and unknown words.
//!
//! A class is named by its features, the most general first: `UNK-LC-NUM-DASH` is lower case, with
//! a digit and a dash. It falls back to more general ones, one feature at a time, down to `UNK`.

use super::{LearntClasses, english};
use crate::cancel::{Cancel, Cancelled};
use crate::treebank::interner::Interner;

/// The class of all words.
pub const UNKNOWN: &str = "UNK";
/// What stands before each feature but the suffix.
pub(super) const FEATURE: char = '-';
/// What stands before the suffix.
pub(super) const SUFFIX: char = '~';

/// A classifier of rare and unknown words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordClasses {
    /// The signatures of the Berkeley parser.
    English,
    /// Shapes and suffixes, learnt from a treebank.
    Learnt(LearntClasses),
    /// The tags of words (Cohen et al. 2013).
    Tag,
}

/// A word, and what its class may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'a> {
    /// Any text, even an empty one.
    pub text: &'a str,
    /// Whether the word is sentence-initial, where a capital says little.
    pub initial: bool,
    /// Whether its lower-case form is a known word.
    pub known_lowercase: bool,
    /// Its part-of-speech tag, if it is known.
    pub tag: Option<&'a str>,
}

impl WordClasses {
    /// The class of a word.
    pub fn class_of(&self, word: &Word<'_>) -> String {
        match self {
            Self::English => english::class_of(word),
            Self::Learnt(classes) => classes.class_of(word),
            Self::Tag => match word.tag {
                None => UNKNOWN.to_owned(),
                Some(tag) => format!("{UNKNOWN}{FEATURE}{tag}"),
            },
        }
    }

    /// The distinct classes of words in the order of their first appearance, and the number of the
    /// class of each word.
    pub fn classes_of<'a>(
        &self,
        words: impl Iterator<Item = Word<'a>>,
        cancel: &Cancel,
    ) -> Result<(Vec<String>, Vec<u32>), Cancelled> {
        let mut names = Interner::<String>::default();
        let mut numbers = Vec::with_capacity(words.size_hint().0);
        for word in words {
            cancel.check()?;
            numbers.push(names.intern(self.class_of(&word).as_str()));
        }
        Ok((names.values().to_vec(), numbers))
    }

    /// More and more general classes for a class, ending with `UNK`.
    pub fn fallbacks(&self, name: &str) -> Vec<String> {
        let mut general = name.to_owned();
        let mut found = Vec::new();
        while self.generalise(&mut general) {
            found.push(general.clone());
        }
        found
    }

    /// Replace a class by the next more general one; false for `UNK`.
    pub fn generalise(&self, name: &mut String) -> bool {
        if let Self::Tag = self {
            let changed = name != UNKNOWN;
            UNKNOWN.clone_into(name);
            return changed;
        }
        generalise(name)
    }
}

/// Replace a class that is named by features by the next more general one; false for `UNK`. Suffixes
/// grow shorter, then the shape loses its features one by one.
pub(super) fn generalise(name: &mut String) -> bool {
    if name == UNKNOWN {
        return false;
    }
    let (shape, suffix) = match name.split_once(SUFFIX) {
        Some((shape, suffix)) => (shape.len(), suffix.chars().count()),
        None => (name.len(), 0),
    };
    match suffix {
        0 => match name[..shape].rfind(FEATURE) {
            None | Some(0) => UNKNOWN.clone_into(name),
            Some(end) => name.truncate(end),
        },
        1 => name.truncate(shape),
        _ => drop(name.remove(shape + SUFFIX.len_utf8())),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_lose_one_feature_at_a_time() {
        let classes = WordClasses::English;
        let expected = ["UNK-LC-NUM", "UNK-LC", "UNK"];
        assert_eq!(classes.fallbacks("UNK-LC-NUM-DASH"), expected);
        let expected = ["UNK-lower-dash~é", "UNK-lower-dash", "UNK-lower", "UNK"];
        assert_eq!(classes.fallbacks("UNK-lower-dash~ßé"), expected);
        assert!(classes.fallbacks("UNK").is_empty());
        // Any name falls back to the class of all words.
        for name in ["", "-", "~", "-~", "~é", "x", "-x", "UNK~", "é-~é~"] {
            assert_eq!(classes.fallbacks(name).last().map(String::as_str), Some("UNK"), "{name}");
        }
    }

    #[test]
    fn tags_are_classes_without_levels() {
        let tagged = |tag| Word { text: "cat", initial: true, known_lowercase: false, tag };
        assert_eq!(WordClasses::Tag.class_of(&tagged(Some("-LRB-"))), "UNK--LRB-");
        assert_eq!(WordClasses::Tag.class_of(&tagged(None)), "UNK");
        assert_eq!(WordClasses::Tag.fallbacks("UNK--LRB-"), ["UNK"]);
        assert!(WordClasses::Tag.fallbacks("UNK").is_empty());
    }

    #[test]
    fn classes_are_numbered_by_their_first_appearance() {
        let words = ["NN", "VB", "NN"].map(|tag| Word {
            text: "",
            initial: false,
            known_lowercase: false,
            tag: Some(tag),
        });
        let found = WordClasses::Tag.classes_of(words.into_iter(), &Cancel::new()).unwrap();
        assert_eq!(found, (vec!["UNK-NN".to_owned(), "UNK-VB".to_owned()], vec![0, 1, 0]));
    }
}
