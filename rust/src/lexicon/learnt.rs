//! Classes of word shapes and suffixes, learnt from the words of a treebank.

use rustc_hash::FxHashSet;

use super::characters::{Kind, Script};
use super::classes::{FEATURE, SUFFIX, UNKNOWN, Word, generalise};
use crate::cancel::{Cancel, Cancelled};
use crate::treebank::interner::Interner;

/// Learnt classes. A word has the most specific one that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearntClasses {
    /// The classes, without the one of all words.
    pub names: FxHashSet<String>,
    /// What tells words apart.
    pub features: Features,
}

/// What a class may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// The largest number of characters of a suffix.
    pub longest_suffix: usize,
    /// Whether the writing systems of Japanese are told apart.
    pub scripts: bool,
}

impl LearntClasses {
    /// The most specific class of a word.
    pub(super) fn class_of(&self, word: &Word<'_>) -> String {
        let mut name = self.features.finest_class(word);
        while !self.names.contains(&name) && generalise(&mut name) {}
        name
    }
}

impl Features {
    /// The shape and the longest suffix of a word, by the kinds of its characters.
    pub fn finest_class(self, word: &Word<'_>) -> String {
        let mut name = UNKNOWN.to_owned();
        name.push_str(&self.shape(word));
        let letters = word.text.char_indices().rev().take(self.longest_suffix);
        // The stem has at least one character.
        let suffix = letters.take_while(|&(start, last)| start > 0 && Kind::of(last).is_letter());
        if let Some((start, _)) = suffix.last() {
            name.push(SUFFIX);
            name.push_str(&word.text[start..].to_lowercase());
        }
        name
    }

    fn kind(self, character: char) -> Kind {
        let kind = Kind::of(character);
        if self.scripts { kind } else { kind.without_script() }
    }

    /// The features of a word but its suffix.
    fn shape(self, word: &Word<'_>) -> String {
        let kinds: Vec<Kind> = word.text.chars().map(|character| self.kind(character)).collect();
        let has = |kind: Kind| kinds.contains(&kind);
        let mut shape = String::new();
        let mut add = |feature: &str| {
            shape.push(FEATURE);
            shape.push_str(feature);
        };
        match kinds.iter().rposition(|&kind| kind == Kind::Upper) {
            Some(0) if word.initial && word.known_lowercase => add("initial-known"),
            Some(0) if word.initial => add("initial"),
            Some(0) => add("title"),
            Some(_) => add(if has(Kind::Lower) { "mixed" } else { "upper" }),
            None if has(Kind::Lower) => add("lower"),
            None if kinds.iter().any(|kind| kind.is_letter()) => {
                add("letters");
                for (script, feature) in [
                    (Script::Han, "han"),
                    (Script::Hiragana, "hiragana"),
                    (Script::Katakana, "katakana"),
                ] {
                    if has(Kind::Japanese(script)) {
                        add(feature);
                    }
                }
            }
            None => {}
        }
        for (kind, feature) in
            [(Kind::Number, "digit"), (Kind::Dash, "dash"), (Kind::Other, "symbol")]
        {
            if has(kind) {
                add(feature);
            }
        }
        shape
    }
}

/// The finest classes of words, and all classes that are more general.
#[derive(Debug, PartialEq, Eq)]
pub struct ClassTree {
    /// The classes. Any class comes after the more general ones, and the first is that of all words.
    pub names: Vec<String>,
    /// For each class the number of the next more general one; the first class has itself.
    pub parents: Vec<u32>,
    /// For each word the number of its finest class.
    pub members: Vec<u32>,
}

impl ClassTree {
    /// The classes that words could have.
    pub fn new<'a>(
        words: impl Iterator<Item = Word<'a>>,
        features: Features,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let mut names = Interner::<String>::default();
        let mut parents = vec![names.intern(UNKNOWN)];
        let mut members = Vec::with_capacity(words.size_hint().0);
        for word in words {
            cancel.check()?;
            let mut name = features.finest_class(&word);
            let mut new = Vec::new();
            let mut known = loop {
                if let Some(known) = names.get(&name) {
                    break known;
                }
                new.push(name.clone());
                generalise(&mut name);
            };
            for name in new.into_iter().rev() {
                parents.push(known);
                known = names.intern(&name);
            }
            members.push(known);
        }
        Ok(Self { names: names.values().to_vec(), parents, members })
    }
}

/// Add the row of each class to those of all more general classes. The rows have `width` numbers each,
/// and parents come before their children.
pub fn add_to_parents(parents: &[u32], rows: &mut [f64], width: usize) {
    for child in (1..parents.len()).rev() {
        let (before, rest) = rows.split_at_mut(child * width);
        let parent = &mut before[parents[child] as usize * width..][..width];
        for (sum, value) in parent.iter_mut().zip(rest) {
            *sum += *value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURES: Features = Features { longest_suffix: 4, scripts: true };

    fn word(text: &str) -> Word<'_> {
        Word { text, initial: false, known_lowercase: false, tag: None }
    }

    fn finest(text: &str) -> String {
        FEATURES.finest_class(&word(text))
    }

    #[test]
    fn the_finest_class_has_the_shape_and_the_longest_suffix() {
        for (text, expected) in [
            ("walked", "UNK-lower~lked"),
            ("Ab", "UNK-title~b"),
            ("A", "UNK-title"),
            ("USA", "UNK-upper~sa"),
            ("McDonald's", "UNK-mixed-symbol~s"),
            ("1990s", "UNK-lower-digit~s"),
            ("peut-être", "UNK-lower-dash~être"),
            ("ΚΑΛΟΣ", "UNK-upper~αλος"),
            ("犬", "UNK-letters-han"),
            ("食べる", "UNK-letters-han-hiragana~べる"),
            ("...", "UNK-symbol"),
            ("", "UNK"),
        ] {
            assert_eq!(finest(text), expected, "{text}");
        }
        let short = Features { longest_suffix: 1, scripts: false };
        assert_eq!(short.finest_class(&word("世界")), "UNK-letters~界");
        let none = Features { longest_suffix: 0, scripts: true };
        assert_eq!(none.finest_class(&word("walked")), "UNK-lower");
    }

    #[test]
    fn a_capital_says_less_at_the_beginning_of_a_sentence() {
        let shape = |initial, known_lowercase| {
            let word = Word { initial, known_lowercase, ..word("Rain") };
            Features { longest_suffix: 0, scripts: true }.finest_class(&word)
        };
        assert_eq!(shape(false, true), "UNK-title");
        assert_eq!(shape(true, false), "UNK-initial");
        assert_eq!(shape(true, true), "UNK-initial-known");
    }

    #[test]
    fn a_word_has_the_most_specific_class_that_fits() {
        let names = ["UNK-lower", "UNK-lower~ung"].map(str::to_owned).into_iter().collect();
        let classes = LearntClasses { names, features: FEATURES };
        let found = ["Übung", "übung", "über", "7"].map(|text| classes.class_of(&word(text)));
        assert_eq!(found, ["UNK", "UNK-lower~ung", "UNK-lower", "UNK"]);
    }

    #[test]
    fn more_general_classes_come_first_in_a_tree() {
        let words = ["ab", "cb", "7", "ab"].map(word);
        let tree = ClassTree::new(words.into_iter(), FEATURES, &Cancel::new()).unwrap();
        assert_eq!(tree.names, ["UNK", "UNK-lower", "UNK-lower~b", "UNK-digit"]);
        assert_eq!(tree.parents, [0, 0, 1, 0]);
        assert_eq!(tree.members, [2, 2, 3, 2]);
    }

    #[test]
    fn classes_have_the_sums_of_those_below() {
        let mut rows = vec![1.0, 0.0, 2.0, 10.0, 4.0, 20.0, 8.0, 30.0];
        add_to_parents(&[0, 0, 1, 0], &mut rows, 2);
        assert_eq!(rows, [15.0, 60.0, 6.0, 30.0, 4.0, 20.0, 8.0, 30.0]);
        add_to_parents(&[0], &mut [], 0);
    }
}
