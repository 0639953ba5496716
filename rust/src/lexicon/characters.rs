//! The kinds of characters that the shape of a word is made of, for any script.

use unicode_properties::{GeneralCategory as Category, UnicodeGeneralCategory};

/// The kind of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An upper-case or title-case letter.
    Upper,
    /// A lower-case letter.
    Lower,
    /// A letter without case of a writing system of Japanese.
    Japanese(Script),
    /// Any other letter without case, or a mark such as an accent or a vowel sign.
    Letter,
    /// A digit or a number.
    Number,
    /// A dash.
    Dash,
    /// Anything else.
    Other,
}

/// The writing systems of Japanese. They say much about words: particles are in hiragana, foreign
/// words in katakana.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// Chinese characters, in all languages that use them.
    Han,
    /// The syllabary of grammatical endings and particles.
    Hiragana,
    /// The syllabary of foreign words.
    Katakana,
}

impl Kind {
    /// The kind of a character.
    pub fn of(character: char) -> Self {
        match character {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Number,
            '-' => Self::Dash,
            '\0'..='\x7F' => Self::Other,
            _ => Self::by_category(character),
        }
    }

    fn by_category(character: char) -> Self {
        match character.general_category() {
            Category::TitlecaseLetter => Self::Upper,
            category if is_letter(category) || is_mark(category) => {
                if character.is_uppercase() {
                    Self::Upper
                } else if character.is_lowercase() {
                    Self::Lower
                } else {
                    let script = script(character).or_else(|| rare_kana(character));
                    script.map_or(Self::Letter, Self::Japanese)
                }
            }
            category if is_number(category) => Self::Number,
            Category::DashPunctuation => Self::Dash,
            _ => Self::Other,
        }
    }

    /// Whether it is a letter of any kind.
    pub fn is_letter(self) -> bool {
        !matches!(self, Self::Number | Self::Dash | Self::Other)
    }

    /// The kind where scripts are not told apart.
    pub fn without_script(self) -> Self {
        if matches!(self, Self::Japanese(_)) { Self::Letter } else { self }
    }

    /// The character for this kind in the shape of a word.
    pub fn symbol(self) -> char {
        match self {
            Self::Upper => 'U',
            Self::Lower => 'l',
            Self::Japanese(Script::Han) => 'c',
            Self::Japanese(Script::Hiragana) => 'h',
            Self::Japanese(Script::Katakana) => 'k',
            Self::Letter => 'a',
            Self::Number => '9',
            Self::Dash => '-',
            Self::Other => '.',
        }
    }
}

/// The writing system of a letter, if it is one of Japanese. Rare letters of later versions of
/// Unicode are left out: saved conditional random fields depend on these ranges.
pub fn script(letter: char) -> Option<Script> {
    match letter {
        '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}' => Some(Script::Hiragana),
        '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{FF66}'..='\u{FF9F}' => Some(Script::Katakana),
        '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' => Some(Script::Han),
        _ => None,
    }
}

/// Archaic and small letters of hiragana and katakana.
fn rare_kana(letter: char) -> Option<Script> {
    match letter {
        '\u{1B001}' | '\u{1B11F}' | '\u{1B132}' | '\u{1B150}'..='\u{1B152}' => {
            Some(Script::Hiragana)
        }
        '\u{1AFF0}'..='\u{1AFFE}'
        | '\u{1B000}'
        | '\u{1B120}'..='\u{1B122}'
        | '\u{1B155}'
        | '\u{1B164}'..='\u{1B167}' => Some(Script::Katakana),
        _ => None,
    }
}

/// Whether a character is a digit, also one in a superscript or a circle; other numbers are not.
pub fn is_digit(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_digit();
    }
    // Unicode adds no more digits that are not decimal.
    let circled_or_raised = matches!(
        character,
        '\u{B2}'..='\u{B3}'
            | '\u{B9}'
            | '\u{1369}'..='\u{1371}'
            | '\u{19DA}'
            | '\u{2070}'
            | '\u{2074}'..='\u{2079}'
            | '\u{2080}'..='\u{2089}'
            | '\u{2460}'..='\u{2468}'
            | '\u{2474}'..='\u{247C}'
            | '\u{2488}'..='\u{2490}'
            | '\u{24EA}'
            | '\u{24F5}'..='\u{24FD}'
            | '\u{24FF}'
            | '\u{2776}'..='\u{277E}'
            | '\u{2780}'..='\u{2788}'
            | '\u{278A}'..='\u{2792}'
            | '\u{10A40}'..='\u{10A43}'
            | '\u{10E60}'..='\u{10E68}'
            | '\u{11052}'..='\u{1105A}'
            | '\u{1F100}'..='\u{1F10A}'
    );
    circled_or_raised || character.general_category() == Category::DecimalNumber
}

/// Whether the next word still counts as sentence-initial, as after quotes and bullets: the word
/// has neither a letter nor a number.
pub fn opens_sentence(word: &str) -> bool {
    !word.chars().any(|character| {
        if character.is_ascii() {
            return character.is_ascii_alphanumeric();
        }
        let category = character.general_category();
        is_letter(category) || is_number(category)
    })
}

fn is_letter(category: Category) -> bool {
    matches!(
        category,
        Category::UppercaseLetter
            | Category::LowercaseLetter
            | Category::TitlecaseLetter
            | Category::ModifierLetter
            | Category::OtherLetter
    )
}

fn is_mark(category: Category) -> bool {
    matches!(category, Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark)
}

fn is_number(category: Category) -> bool {
    matches!(category, Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(word: &str) -> String {
        word.chars().map(|character| Kind::of(character).symbol()).collect()
    }

    #[test]
    fn kinds_are_those_of_any_script() {
        assert_eq!(kinds("Mp3-Größe!"), "Ul9-Ullll.");
        assert_eq!(kinds("ПЁС ٣٤ peut\u{2010}être"), "UUU.99.llll-llll");
        assert_eq!(kinds("食べるオードリー"), "chhkkkkk");
        // The middle dot of katakana is none of its letters, and the title-case ǅ is a capital.
        assert_eq!(kinds("ア・アǅªⅫ½"), "k.kUl99");
        assert_eq!(kinds("नमस्ते שלום 𛀁𛀀"), "aaaaaa.aaaa.hk");
        assert_eq!(kinds("ⓐ_€\u{E000}\u{FFFD}\u{301}"), ".....a");
    }

    #[test]
    fn ascii_has_the_kinds_of_its_categories() {
        for character in '\0'..='\x7F' {
            assert_eq!(Kind::of(character), Kind::by_category(character), "{character:?}");
            let digit = character.general_category() == Category::DecimalNumber;
            assert_eq!(is_digit(character), digit, "{character:?}");
            let category = character.general_category();
            let opens = !is_letter(category) && !is_number(category);
            assert_eq!(opens_sentence(&character.to_string()), opens, "{character:?}");
        }
    }

    #[test]
    fn digits_may_be_raised_or_circled() {
        assert!("7٣²⁹①㉈".chars().take(5).all(is_digit));
        assert!("½Ⅻ㉈一x-".chars().all(|character| !is_digit(character)));
    }

    #[test]
    fn only_punctuation_and_marks_open_a_sentence() {
        assert!(["", "``", "-", "…", "\u{301}", "€"].into_iter().all(opens_sentence));
        assert!(!["Then", "7", "(a)", "½", "犬", "\u{b2}"].into_iter().any(opens_sentence));
    }
}
