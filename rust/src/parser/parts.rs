//! Sentences that are too long to be parsed as a whole: parsed in parts, joined under a root.

use super::analysis::cover_all_words;
use super::times::Times;
use super::{Analysis, Options, Parser, Sentence, Span, Status, Workspace, WrittenTree};
use crate::cancel::{Cancel, Cancelled};
use crate::grammar::SymbolId;

impl Parser {
    /// Parse both parts of a sentence that is too long to be parsed as a whole, and join their
    /// trees under the label of the most frequent root.
    pub(super) fn parse_parts(
        &self,
        sentence: Sentence<'_>,
        options: Options,
        workspace: &mut Workspace,
        cancel: &Cancel,
    ) -> Result<Analysis, Cancelled> {
        let position = split_point(sentence.tokens.len(), sentence.breaks);
        let (left, right) = sentence.split_at(position);
        let mut status = Status::Split;
        let (mut spans, mut marginals) = (Vec::new(), Vec::new());
        for (part, first) in [(left, 0), (right, position as u32)] {
            let analysis = self.analyze_part(part, options, workspace, cancel)?;
            if analysis.status == Status::Timeout {
                status = Status::Timeout;
            }
            let shift =
                |span: Span| Span { start: span.start + first, end: span.end + first, ..span };
            let own = analysis.trees.into_iter().next().map_or(Vec::new(), |tree| tree.spans);
            // The root is written once, above both parts. A one-word tree is kept in any case.
            let is_root = own.first().map(|span| &span.label) == self.most_frequent_root();
            let skipped = usize::from(is_root && own.len() > 1);
            spans.extend(own.into_iter().skip(skipped).map(shift));
            marginals.extend(analysis.marginals.into_iter().map(shift));
        }
        Ok(self.under_root(status, spans, sentence.tokens.len(), marginals))
    }

    /// Trees side by side under the label of the most frequent root. If they lack a word, there is
    /// an arbitrary tag for each word instead.
    pub(super) fn under_root(
        &self,
        status: Status,
        mut spans: Vec<Span>,
        words: usize,
        marginals: Vec<Span>,
    ) -> Analysis {
        if !cover_all_words(spans.iter().map(|span| (span.start, span.end)), words) {
            let tag = self.any_tag();
            spans = (0..words as u32)
                .flat_map(|start| tag.map(|&label| (label, start)))
                .map(|(label, start)| Span { label, start, end: start + 1, probability: 0.0 })
                .collect();
        }
        if let Some(&label) = self.most_frequent_root() {
            spans.insert(0, Span { label, start: 0, end: words as u32, probability: 0.0 });
        }
        Analysis {
            status,
            log_probability: f64::NEG_INFINITY,
            trees: vec![WrittenTree { spans, log_probability: f64::NEG_INFINITY }],
            marginals,
            times: Times::default(),
        }
    }

    /// The label of the most frequent root; it is a tag only if no root is a phrase.
    fn most_frequent_root(&self) -> Option<&u32> {
        let roots = self.grammar().rules().roots();
        let output = self.grammar().output();
        let is_phrase = |symbol: &SymbolId| {
            let is_preterminal =
                self.grammar().emissions().preterminals().binary_search(symbol).is_ok();
            roots[symbol.index()] > 0.0 && (!is_preterminal || output.labels(*symbol).len() > 1)
        };
        let most_frequent = (0..roots.len() as u32)
            .map(SymbolId)
            .filter(|&symbol| !output.labels(symbol).is_empty())
            .max_by(|a, b| {
                let frequency = roots[a.index()].total_cmp(&roots[b.index()]);
                is_phrase(a).cmp(&is_phrase(b)).then(frequency).then(b.cmp(a))
            })?;
        output.labels(most_frequent).first()
    }

    /// The label of some preterminal or, without preterminals, of a root.
    fn any_tag(&self) -> Option<&u32> {
        let output = self.grammar().output();
        let preterminals = self.grammar().emissions().preterminals().iter();
        let mut tags = preterminals.filter_map(|&symbol| output.labels(symbol).last());
        tags.next().or_else(|| self.most_frequent_root())
    }
}

/// The position at which to split a sentence of two or more words: in its middle half, after the
/// strongest punctuation; of equally strong ones, the nearest to the middle. `breaks` has the
/// strength of the punctuation that each word is, and may be empty.
pub fn split_point(words: usize, breaks: &[u8]) -> usize {
    let middle = words / 2;
    let strength = |position: usize| breaks.get(position - 1).copied().unwrap_or(0);
    (words / 4..=words - words / 4)
        .filter(|position| (1..words).contains(position))
        .min_by_key(|&position| (u8::MAX - strength(position), position.abs_diff(middle)))
        .unwrap_or(middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(words: usize, breaks: &[(usize, u8)]) -> usize {
        let mut strengths = vec![0; words];
        for &(word, strength) in breaks {
            strengths[word] = strength;
        }
        split_point(words, &strengths)
    }

    #[test]
    fn without_punctuation_both_parts_have_the_same_length() {
        assert_eq!((2..6).map(|words| split(words, &[])).collect::<Vec<_>>(), [1, 1, 2, 2]);
        assert_eq!(split_point(8, &[]), 4);
    }

    #[test]
    fn the_strongest_punctuation_of_the_middle_half_ends_the_first_part() {
        assert_eq!(split(100, &[(49, 1), (30, 2), (10, 3)]), 31);
        assert_eq!(split(100, &[(30, 2), (60, 2), (72, 2)]), 61);
        assert_eq!(split(100, &[(24, 1)]), 25);
        assert_eq!(split(100, &[(99, 3), (0, 3)]), 50);
    }
}
