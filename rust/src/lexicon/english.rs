//! The signatures of the Berkeley parser, which Peng (2021, chapter 6) uses as well.

use super::characters::is_digit;
use super::classes::{FEATURE, UNKNOWN, Word};

/// The first of these that a word ends in is a feature.
const SUFFIXES: [&str; 9] = ["ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al"];

/// Words of fewer characters have no suffix; a plural may be shorter.
const SHORTEST_WITH_SUFFIX: usize = 5;
const SHORTEST_PLURAL: usize = 3;

/// The signature of a word.
pub(super) fn class_of(word: &Word<'_>) -> String {
    let text = word.text;
    let mut name = UNKNOWN.to_owned();
    let mut add = |feature: &str| {
        name.push(FEATURE);
        name.push_str(feature);
    };
    let capitals = text.chars().filter(|character| character.is_uppercase()).count();
    if capitals == 1 && word.initial && text.starts_with(char::is_uppercase) {
        add("INITC");
        if word.known_lowercase {
            add("KNOWNLC");
        }
    } else if capitals > 0 {
        add("CAPS");
    } else if text.contains(char::is_lowercase) {
        add("LC");
    }
    let digits = text.contains(is_digit);
    let dash = text.contains('-');
    if digits {
        add("NUM");
    }
    if dash {
        add("DASH");
    }
    let lowered = text.to_lowercase();
    let length = text.chars().count();
    if lowered.ends_with('s') && length >= SHORTEST_PLURAL {
        if !["ss", "is", "us"].iter().any(|ending| lowered.ends_with(ending)) {
            add("s");
        }
    } else if length >= SHORTEST_WITH_SUFFIX
        && !digits
        && !dash
        && let Some(suffix) = SUFFIXES.iter().find(|suffix| lowered.ends_with(*suffix))
    {
        add(suffix);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(text: &str, initial: bool, known_lowercase: bool) -> String {
        class_of(&Word { text, initial, known_lowercase, tag: None })
    }

    #[test]
    fn capitals_are_told_apart_at_the_beginning_of_a_sentence() {
        assert_eq!(signature("Walked", true, true), "UNK-INITC-KNOWNLC-ed");
        assert_eq!(signature("Blorg", true, false), "UNK-INITC");
        assert_eq!(signature("Blorg", false, true), "UNK-CAPS");
        assert_eq!(signature("NASA", true, false), "UNK-CAPS");
        assert_eq!(signature("iPhone", true, false), "UNK-CAPS");
    }

    #[test]
    fn suffixes_need_long_words_without_digits_and_dashes() {
        for (word, expected) in [
            ("19th-century", "UNK-LC-NUM-DASH"),
            ("oldest", "UNK-LC-est"),
            ("red", "UNK-LC"),
            ("nationality", "UNK-LC-ity"),
            ("blorgs", "UNK-LC-s"),
            ("glass", "UNK-LC"),
            ("as", "UNK-LC"),
            ("x²", "UNK-LC-NUM"),
            ("=", "UNK"),
            ("", "UNK"),
        ] {
            assert_eq!(signature(word, false, false), expected, "{word}");
        }
    }
}
