//! Recovery after a tree that is never closed.

use super::{BracketError, BracketReader, Position};

impl BracketReader {
    /// Read the text after a tree that is never closed again, from the next line that starts with a
    /// bracket.
    ///
    /// All brackets that are never closed are found in one pass beforehand. So the time is linear
    /// even for a text of nothing but opening brackets.
    pub(super) fn recover(&mut self) -> Result<(), BracketError> {
        let text = std::mem::take(&mut self.text);
        self.position = self.tree_position;
        let mut resume = 0;
        for offset in unclosed_brackets(&text) {
            if offset < resume {
                continue;
            }
            self.feed(&text[resume..offset])?;
            self.end_token()?;
            self.record(self.never_closed(self.position));
            let next = text[offset..].windows(2).position(|pair| pair == b"\n(");
            let Some(next) = next else { return Ok(()) };
            resume = offset + next + 1;
            let lines = text[offset..resume].iter().filter(|byte| **byte == b'\n').count();
            self.position = Position { line: self.position.line + lines, column: 1 };
        }
        self.feed(&text[resume..])?;
        self.end_token()
    }
}

/// The offsets of the brackets that are still open at the end of a text.
fn unclosed_brackets(text: &[u8]) -> Vec<usize> {
    let mut open = Vec::new();
    for (offset, byte) in text.iter().enumerate() {
        match byte {
            b'(' => open.push(offset),
            b')' => {
                open.pop();
            }
            _ => {}
        }
    }
    open
}
