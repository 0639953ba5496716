//! Escape sequences of characters that a token of bracketed text cannot have.
//!
//! `-U+00A0-` stands for the character with that number, and `-U+-` for an empty token. Only white
//! space, control characters and the hyphen are escaped, so that no other text changes its meaning;
//! an escaped hyphen keeps text that looks like a sequence apart from one. Round brackets are not
//! among them: `-LRB-` and `-RRB-`, which treebanks use, are words like others.

use std::borrow::Cow;

const OPEN: &str = "-U+";
const CLOSE: char = '-';
const EMPTY: &str = "-U+-";
/// The number of hexadecimal digits: all characters that are escaped have four.
const DIGITS: usize = 4;

/// Replace the escape sequences of a token by the characters that they stand for.
pub(super) fn unescape(token: &str) -> Cow<'_, str> {
    if !token.contains(OPEN) {
        return Cow::Borrowed(token);
    }
    if token == EMPTY {
        return Cow::Borrowed("");
    }
    let mut text = String::with_capacity(token.len());
    let mut rest = token;
    while let Some(at) = rest.find(OPEN) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(character) = leading_sequence(rest) {
            text.push(character);
            rest = &rest[OPEN.len() + DIGITS + CLOSE.len_utf8()..];
        } else {
            // The hyphen alone: another sequence may start within what follows it.
            text.push(CLOSE);
            rest = &rest[CLOSE.len_utf8()..];
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The character of the escape sequence at the start of a text, if there is one.
fn leading_sequence(text: &str) -> Option<char> {
    let digits = text.get(OPEN.len()..OPEN.len() + DIGITS)?;
    let upper_case = |digit: u8| matches!(digit, b'0'..=b'9' | b'A'..=b'F');
    if !digits.bytes().all(upper_case) || !text[OPEN.len() + DIGITS..].starts_with(CLOSE) {
        return None;
    }
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    let escaped = character.is_whitespace() || character.is_control() || character == CLOSE;
    escaped.then_some(character)
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn sequences_become_characters() {
        assert_eq!(unescape("10-U+00A0-000"), "10\u{a0}000");
        assert_eq!(unescape("-U+0000--U+0085-"), "\0\u{85}");
        assert_eq!(unescape("-U+-"), "");
    }

    #[test]
    fn an_escaped_hyphen_protects_text_that_looks_like_a_sequence() {
        assert_eq!(unescape("-U+002D-U+00A0-"), "-U+00A0-");
        assert_eq!(unescape("-U+002D-U+-"), "-U+-");
    }

    #[test]
    fn other_text_is_kept() {
        let kept = [
            "-LRB-",
            "-U+",
            "-U+0041-",
            "-U+00a0-",
            "-U+A0-",
            "-U+000A0-",
            "-U+D800-",
            "a-U+-",
            "-U+00é-",
            "U+00A0-",
            "-U+00A0",
            "-U+0028-",
        ];
        for token in kept {
            assert_eq!(unescape(token), token);
        }
        assert_eq!(unescape("-U+-U+0009-"), "-U+\t");
    }
}
