//! Which preterminals emit which words and tags.

use std::hash::{Hash, Hasher};

use super::rules::{GrammarError, SymbolId, check_probability, check_symbol, hash_numbers};

/// What is known of one position of a sentence: the id of its word, of its tag, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Token {
    /// A word; the grammar chooses its tag.
    Word(u32),
    /// A part-of-speech tag alone.
    Tag(u32),
    /// A word and the tag it has.
    Tagged {
        /// The word.
        word: u32,
        /// Its tag.
        tag: u32,
    },
}

/// The emission probability of a word by the preterminals of a given tag that it was never seen
/// with.
const UNSEEN_WITH_TAG: f64 = 1e-9;

/// With smoothing, every preterminal emits every word. Those that do not emit it otherwise have
/// this fraction of the highest emission probability of the word.
const SMOOTHING: f64 = 1e-6;

/// For each word or word class, the preterminals that emit it; for each tag, its preterminals.
#[derive(Debug, Clone)]
pub struct Emissions {
    offsets: Vec<usize>,
    symbols: Vec<SymbolId>,
    probabilities: Vec<f64>,
    tags: Vec<Vec<SymbolId>>,
    /// The tag of each preterminal; not used for other symbols.
    tag_of_symbol: Vec<u32>,
    preterminals: Vec<SymbolId>,
}

impl Emissions {
    /// Word `w` is emitted by `symbols[offsets[w]..offsets[w + 1]]`, with the probabilities at the
    /// same indices. `tag_of_symbol` has the tag of each preterminal, and -1 for other symbols.
    pub fn new(
        offsets: Vec<usize>,
        symbols: Vec<u32>,
        probabilities: Vec<f64>,
        tag_of_symbol: &[i32],
    ) -> Result<Self, GrammarError> {
        if offsets.first() != Some(&0)
            || offsets.windows(2).any(|pair| pair[0] > pair[1])
            || offsets.last() != Some(&symbols.len())
        {
            return Err(GrammarError::Offsets { array: "emission" });
        }
        if probabilities.len() != symbols.len() {
            return Err(GrammarError::Length {
                array: "emission probabilities",
                expected: symbols.len(),
                found: probabilities.len(),
            });
        }
        for (row, (&symbol, &probability)) in symbols.iter().zip(&probabilities).enumerate() {
            check_symbol("emission", row, symbol, tag_of_symbol.len())?;
            check_probability("emission", row, probability)?;
        }
        let number_of_tags =
            tag_of_symbol.iter().max().map_or(0, |&tag| (i64::from(tag) + 1) as usize);
        // As in the coarse projection: numbers have no large gaps.
        if number_of_tags > tag_of_symbol.len() {
            return Err(GrammarError::Length {
                array: "tags",
                expected: tag_of_symbol.len(),
                found: number_of_tags,
            });
        }
        let mut tags = vec![Vec::new(); number_of_tags];
        let mut preterminals = Vec::new();
        for (symbol, &tag) in tag_of_symbol.iter().enumerate() {
            if tag >= 0 {
                tags[tag as usize].push(SymbolId(symbol as u32));
                preterminals.push(SymbolId(symbol as u32));
            }
        }
        let symbols = symbols.into_iter().map(SymbolId).collect();
        let tag_of_symbol = tag_of_symbol.iter().map(|&tag| tag.max(0) as u32).collect();
        Ok(Self { offsets, symbols, probabilities, tags, tag_of_symbol, preterminals })
    }

    pub(super) fn check(&self, symbols: usize) -> Result<(), GrammarError> {
        for (row, &symbol) in self.symbols.iter().chain(&self.preterminals).enumerate() {
            check_symbol("emission", row, symbol.0, symbols)?;
        }
        Ok(())
    }

    /// Mix everything into a hash.
    pub(super) fn hash_into(&self, state: &mut impl Hasher) {
        (&self.offsets, &self.symbols, &self.tags).hash(state);
        hash_numbers(&self.probabilities, state);
    }

    /// The number of words and word classes.
    pub fn number_of_words(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of tags.
    pub fn number_of_tags(&self) -> usize {
        self.tags.len()
    }

    /// The symbols that words may have, in ascending order.
    pub fn preterminals(&self) -> &[SymbolId] {
        &self.preterminals
    }

    /// The symbols of all entries, words in order.
    pub(super) fn symbols(&self) -> &[SymbolId] {
        &self.symbols
    }

    /// The number of the entry of a word and a symbol, if there is one.
    pub(super) fn entry(&self, word: u32, symbol: SymbolId) -> Option<usize> {
        let range = self.offsets[word as usize]..self.offsets[word as usize + 1];
        let offset = self.symbols[range.clone()].iter().position(|&other| other == symbol)?;
        Some(range.start + offset)
    }

    fn word(&self, word: u32) -> impl Iterator<Item = (SymbolId, f64)> + '_ {
        let range = self.offsets[word as usize]..self.offsets[word as usize + 1];
        self.symbols[range.clone()].iter().copied().zip(self.probabilities[range].iter().copied())
    }

    /// The entries of a word with a positive probability, times the factors of their tags, if any.
    fn scaled_word<'a>(
        &'a self,
        word: u32,
        tag_factors: &'a [f32],
    ) -> impl Iterator<Item = (SymbolId, f64)> + 'a {
        let factor = |symbol: SymbolId| {
            let tag = self.tag_of_symbol[symbol.index()] as usize;
            tag_factors.get(tag).map_or(1.0, |&factor| f64::from(factor))
        };
        let scaled = self.word(word).map(move |(symbol, value)| (symbol, value * factor(symbol)));
        scaled.filter(|entry| entry.1 > 0.0)
    }

    /// Write the preterminals of a token and their emission probabilities into `found`.
    ///
    /// If only a tag is given, each of its preterminals has probability one, the sum over all its
    /// words. If a word was never seen with its given tag, the tag is used all the same.
    ///
    /// The probabilities of a word class are those of an average word. `tag_factors` are the factors
    /// by which they change for the word at hand, one for each tag; empty if there are none.
    pub fn lookup(&self, token: Token, tag_factors: &[f32], found: &mut Vec<(SymbolId, f64)>) {
        found.clear();
        match token {
            Token::Word(word) => found.extend(self.scaled_word(word, tag_factors)),
            Token::Tag(tag) => {
                found.extend(self.tags[tag as usize].iter().map(|&symbol| (symbol, 1.0)));
            }
            Token::Tagged { word, tag } => {
                let tagged = &self.tags[tag as usize];
                found.extend(
                    self.scaled_word(word, tag_factors)
                        .filter(|(symbol, _)| tagged.binary_search(symbol).is_ok()),
                );
                if found.is_empty() {
                    found.extend(tagged.iter().map(|&symbol| (symbol, UNSEEN_WITH_TAG)));
                }
            }
        }
    }

    /// Look up all tokens of a sentence. If `smoothed`, every preterminal can emit every word.
    ///
    /// `tag_factors` is empty, or has the factors of each token.
    pub fn lookup_all(
        &self,
        sentence: &[Token],
        tag_factors: &[&[f32]],
        smoothed: bool,
        words: &mut Vec<Vec<(SymbolId, f64)>>,
    ) {
        words.resize_with(sentence.len(), Vec::new);
        for (position, (&token, found)) in sentence.iter().zip(words).enumerate() {
            let factors = tag_factors.get(position).copied().unwrap_or_default();
            self.lookup(token, factors, found);
            if smoothed {
                self.smooth(token, found);
            }
        }
    }

    /// Let every preterminal (of the given tag, if any) emit a word.
    fn smooth(&self, token: Token, found: &mut Vec<(SymbolId, f64)>) {
        let floor = SMOOTHING * found.iter().map(|entry| entry.1).fold(0.0, f64::max);
        let floor = if floor > 0.0 { floor } else { SMOOTHING };
        let all = match token {
            Token::Word(_) => &self.preterminals,
            Token::Tag(tag) | Token::Tagged { tag, .. } => &self.tags[tag as usize],
        };
        let known: Vec<SymbolId> = found.iter().map(|entry| entry.0).collect();
        found.extend(all.iter().filter(|symbol| !known.contains(symbol)).map(|&s| (s, floor)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Output;

    #[test]
    fn numbers_of_tags_and_labels_have_no_large_gaps() {
        let emissions = |tags: &[i32]| Emissions::new(vec![0], vec![], vec![], tags).map(|_| ());
        let length = |array, expected, found| GrammarError::Length { array, expected, found };
        assert_eq!(emissions(&[-1, 1, 0]), Ok(()));
        assert_eq!(emissions(&[]), Ok(()));
        assert_eq!(emissions(&[0, 2]), Err(length("tags", 2, 3)));
        assert_eq!(emissions(&[0, i32::MAX]), Err(length("tags", 2, 1 << 31)));
        let output =
            |labels: &[u32]| Output::new(vec![0, labels.len() as u32], labels.to_vec()).map(|_| ());
        assert_eq!(output(&[1, 0, 1]), Ok(()));
        let error = length("output label names", 4, 1 << 32);
        assert_eq!(output(&[0, u32::MAX]), Err(error));
    }
}
