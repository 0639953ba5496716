//! Features of words, spans and split points, after Hall, Durrett & Klein (2014): hashes of the
//! words and tags at their borders.
//!
//! The values that a template hashes must not change; see [`super::template_numbers`].

use super::dependency_templates::{span_dependencies, split_dependencies, word_dependencies};
use super::template_numbers::Template::{self, self as T};
use super::tokens::TokenAttributes;
use crate::numeric::stable_hash::combine;

/// The values that stand for words before the first and after the last word.
const BEFORE: u64 = 1;
const AFTER: u64 = 2;

/// Spans of up to this number of words have a feature of their whole shape.
const MAX_SHAPE_WIDTH: usize = 10;

/// Spans of up to this number of words have a feature of all their tags.
const MAX_TAGS_WIDTH: usize = 5;

/// The sequence of punctuation marks in a span is cut after this number of marks.
const MAX_MARKS: usize = 6;

/// Collects the feature hashes of one word, span or split point.
pub(super) struct Collector<'a> {
    pub(super) sentence: &'a [TokenAttributes],
    found: &'a mut Vec<u64>,
}

impl Collector<'_> {
    /// Add the feature of a template and the values that it reads.
    #[inline]
    pub(super) fn add<const VALUES: usize>(&mut self, template: Template, values: [u64; VALUES]) {
        self.found.push(values.into_iter().fold(combine(0, template as u64), combine));
    }

    /// An attribute of the word at a position, which may lie outside the sentence.
    #[inline]
    fn at(&self, position: isize, attribute: impl Fn(&TokenAttributes) -> u64) -> u64 {
        match usize::try_from(position) {
            Err(_) => BEFORE,
            Ok(position) => self.sentence.get(position).map_or(AFTER, attribute),
        }
    }

    #[inline]
    fn word(&self, position: isize) -> u64 {
        self.at(position, |token| token.word)
    }

    #[inline]
    fn tag(&self, position: isize) -> u64 {
        self.at(position, |token| token.tag)
    }

    /// A cluster of the word at a position, by its level.
    #[inline]
    fn cluster(&self, position: isize, level: usize) -> u64 {
        self.at(position, |token| token.clusters[level])
    }

    /// Whether the model has word clusters.
    #[inline]
    fn has_clusters(&self) -> bool {
        self.sentence.first().is_some_and(|token| token.clusters[0] != 0)
    }

    /// Whether the sentence has dependencies.
    #[inline]
    fn has_dependencies(&self) -> bool {
        self.sentence.first().is_some_and(|token| token.relation != 0)
    }
}

/// Write the features of the word at a position to `found`.
pub fn word_features(sentence: &[TokenAttributes], position: usize, found: &mut Vec<u64>) {
    found.clear();
    let mut add = Collector { sentence, found };
    let own = &sentence[position];
    let position = position as isize;
    let words = [-2, -1, 0, 1, 2].map(|step| add.word(position + step));
    let tags = [-2, -1, 0, 1, 2].map(|step| add.tag(position + step));
    add.add(T::WordBias, []);
    add.add(T::Word, [own.word]);
    add.add(T::WordClass, [own.class]);
    add.add(T::WordShape, [own.shape]);
    add.add(T::WordPrefix, [own.prefix]);
    add.add(T::WordSuffix1, [own.suffixes[0]]);
    add.add(T::WordSuffix2, [own.suffixes[1]]);
    add.add(T::WordSuffix3, [own.suffixes[2]]);
    add.add(T::WordBefore2, [words[0]]);
    add.add(T::WordBefore1, [words[1]]);
    add.add(T::WordAfter1, [words[3]]);
    add.add(T::WordAfter2, [words[4]]);
    add.add(T::WordTagBefore, [tags[1]]);
    add.add(T::WordTagAfter, [tags[3]]);
    add.add(T::WordPairBefore, [words[1], words[2]]);
    add.add(T::WordPairAfter, [words[2], words[3]]);
    add.add(T::WordTagPairBefore, [tags[1], tags[2]]);
    add.add(T::WordTagPairAfter, [tags[2], tags[3]]);
    add.add(T::WordTagTriple, [tags[1], tags[2], tags[3]]);
    add.add(T::WordTagsBefore, [tags[0], tags[1], tags[2]]);
    add.add(T::WordTagsAfter, [tags[2], tags[3], tags[4]]);
    add.add(T::WordWithTagAfter, [words[2], tags[3]]);
    add.add(T::WordWithTagBefore, [tags[1], words[2]]);
    own.spelling.add_features(&mut add);
    if add.has_clusters() {
        let fine = [-1, 0, 1].map(|step| add.cluster(position + step, 2));
        let middle = [-1, 0, 1].map(|step| add.cluster(position + step, 1));
        let coarse = add.cluster(position, 0);
        add.add(T::WordCluster0, [coarse]);
        add.add(T::WordCluster1, [middle[1]]);
        add.add(T::WordCluster2, [fine[1]]);
        add.add(T::WordClusterBefore, [fine[0]]);
        add.add(T::WordClusterAfter, [fine[2]]);
        add.add(T::WordClusterPairBefore, [middle[0], middle[1]]);
        add.add(T::WordClusterPairAfter, [middle[1], middle[2]]);
        add.add(T::WordClusterBefore1, [middle[0]]);
        add.add(T::WordClusterAfter1, [middle[2]]);
        add.add(T::WordClusterTriple, [middle[0], middle[1], middle[2]]);
        add.add(T::WordClusterSuffix, [middle[1], own.suffixes[1]]);
        add.add(T::WordClusterShape, [fine[1], own.shape]);
    }
    if add.has_dependencies() {
        word_dependencies(&mut add, position as usize);
    }
}

/// Write the features of the span from `start` up to `end` to `found`.
pub fn span_features(sentence: &[TokenAttributes], start: usize, end: usize, found: &mut Vec<u64>) {
    found.clear();
    let mut add = Collector { sentence, found };
    let inside = &sentence[start..end];
    let length = length_class(end - start);
    let (first, after) = (start as isize, end as isize);
    // The word before the span, its first, its last, and the word after it.
    let positions = [first - 1, first, after - 1, after];
    let words = positions.map(|position| add.word(position));
    let tags = positions.map(|position| add.tag(position));
    add.add(T::SpanLength, [length]);
    let [before, first_word, last_word, next] = words;
    let [before_tag, first_tag, last_tag, next_tag] = tags;
    add.add(T::SpanBeforeWord, [before]);
    add.add(T::SpanBeforeWordLength, [length, before]);
    add.add(T::SpanFirstWord, [first_word]);
    add.add(T::SpanFirstWordLength, [length, first_word]);
    add.add(T::SpanLastWord, [last_word]);
    add.add(T::SpanLastWordLength, [length, last_word]);
    add.add(T::SpanAfterWord, [next]);
    add.add(T::SpanAfterWordLength, [length, next]);
    add.add(T::SpanBeforeTag, [before_tag]);
    add.add(T::SpanBeforeTagLength, [length, before_tag]);
    add.add(T::SpanFirstTag, [first_tag]);
    add.add(T::SpanFirstTagLength, [length, first_tag]);
    add.add(T::SpanLastTag, [last_tag]);
    add.add(T::SpanLastTagLength, [length, last_tag]);
    add.add(T::SpanAfterTag, [next_tag]);
    add.add(T::SpanAfterTagLength, [length, next_tag]);
    add.add(T::SpanFirstLastWords, [first_word, last_word]);
    add.add(T::SpanBeforeFirstWords, [before, first_word]);
    add.add(T::SpanLastAfterWords, [last_word, next]);
    add.add(T::SpanBeforeAfterWords, [before, next]);
    add.add(T::SpanFirstLastTags, [first_tag, last_tag]);
    add.add(T::SpanBeforeFirstTags, [before_tag, first_tag]);
    add.add(T::SpanLastAfterTags, [last_tag, next_tag]);
    add.add(T::SpanBeforeAfterTags, [before_tag, next_tag]);
    let second = add.tag(first + 1);
    add.add(T::SpanFirstTwoTags, [first_tag, second]);
    let last_but_one = add.tag(after - 2);
    add.add(T::SpanLastTwoTags, [last_but_one, last_tag]);
    add.add(T::SpanBeforeFirstAfterTags, [before_tag, first_tag, next_tag]);
    add.add(T::SpanBeforeLastAfterTags, [before_tag, last_tag, next_tag]);
    add.add(T::SpanFirstLastAfterTags, [first_tag, last_tag, next_tag]);
    add.add(T::SpanBeforeFirstLastTags, [before_tag, first_tag, last_tag]);
    add.add(T::SpanBorderTags, [before_tag, first_tag, last_tag, next_tag]);
    let before_that = add.tag(first - 2);
    add.add(T::SpanTwoBeforeFirstTags, [before_that, before_tag, first_tag]);
    let after_that = add.tag(after + 1);
    add.add(T::SpanLastTwoAfterTags, [last_tag, next_tag, after_that]);
    add.add(T::SpanFirstWordAfterTag, [first_word, next_tag]);
    add.add(T::SpanBeforeWordFirstTag, [before, first_tag]);
    add.add(T::SpanLastTagAfterWord, [last_tag, next]);
    add.add(T::SpanBeforeWordAfterTag, [before, next_tag]);
    add.add(T::SpanBeforeTagAfterWord, [before_tag, next]);
    add.add(T::SpanBalanced, [u64::from(is_balanced(inside))]);
    let marks = || inside.iter().map(|token| token.mark).filter(|&mark| mark != 0);
    // A set as the hash of its members in ascending order, each once.
    let mut set: Vec<u64> = marks().collect();
    set.sort_unstable();
    set.dedup();
    add.add(T::SpanMarkSet, [set.into_iter().fold(0, combine)]);
    add.add(T::SpanMarkSequence, [marks().take(MAX_MARKS).fold(0, combine)]);
    if inside.len() <= MAX_SHAPE_WIDTH {
        let shape = inside.iter().map(|token| token.initial).fold(0, combine);
        let context = [first - 1, after].map(|position| add.at(position, |token| token.initial));
        add.add(T::SpanShape, [shape]);
        add.add(T::SpanShapeInContext, [shape, context[0], context[1]]);
    }
    if inside.len() <= MAX_TAGS_WIDTH {
        let tags = inside.iter().map(|token| token.tag).fold(0, combine);
        add.add(T::SpanTagSequence, [tags]);
        add.add(T::SpanTagSequenceInContext, [tags, before_tag, next_tag]);
    }
    if add.has_clusters() {
        let [before2, first2, last2, next2] = positions.map(|position| add.cluster(position, 2));
        let [before1, first1, last1, next1] = positions.map(|position| add.cluster(position, 1));
        add.add(T::SpanBeforeCluster, [before2]);
        add.add(T::SpanFirstCluster, [first2]);
        add.add(T::SpanLastCluster, [last2]);
        add.add(T::SpanAfterCluster, [next2]);
        add.add(T::SpanBeforeClusterLength, [length, before1]);
        add.add(T::SpanFirstClusterLength, [length, first1]);
        add.add(T::SpanLastClusterLength, [length, last1]);
        add.add(T::SpanAfterClusterLength, [length, next1]);
        add.add(T::SpanFirstLastClusters, [first1, last1]);
        add.add(T::SpanBeforeFirstClusters, [before1, first1]);
        add.add(T::SpanLastAfterClusters, [last1, next1]);
        add.add(T::SpanBeforeAfterClusters, [before1, next1]);
        add.add(T::SpanFirstLastClustersFine, [first2, last2]);
        add.add(T::SpanBeforeFirstClustersFine, [before2, first2]);
        add.add(T::SpanLastAfterClustersFine, [last2, next2]);
        add.add(T::SpanBeforeAfterClustersFine, [before2, next2]);
        let [before0, first0, last0, next0] = positions.map(|position| add.cluster(position, 0));
        add.add(T::SpanBorderClusters, [before0, first0, last0, next0]);
        add.add(T::SpanBeforeFirstAfterClusters, [before0, first0, next0]);
        add.add(T::SpanBeforeLastAfterClusters, [before0, last0, next0]);
        add.add(T::SpanFirstLastAfterClusters, [first0, last0, next0]);
        add.add(T::SpanBeforeFirstLastClusters, [before0, first0, last0]);
    }
    if add.has_dependencies() {
        span_dependencies(&mut add, start, end, length);
    }
}

/// Write the features of a span with its split point to `found`.
pub fn split_features(
    sentence: &[TokenAttributes],
    [start, split, end]: [usize; 3],
    found: &mut Vec<u64>,
) {
    found.clear();
    let mut add = Collector { sentence, found };
    let lengths = [length_class(split - start), length_class(end - split)];
    let positions = [start, split - 1, split, end - 1].map(|position| position as isize);
    // The first and the last words of the left part, then of the right part.
    let [first, left, right, last] = positions.map(|position| add.word(position));
    let [first_tag, left_tag, right_tag, last_tag] = positions.map(|position| add.tag(position));
    add.add(T::SplitLeftWord, [left]);
    add.add(T::SplitRightWord, [right]);
    add.add(T::SplitLeftTag, [left_tag]);
    add.add(T::SplitRightTag, [right_tag]);
    add.add(T::SplitLengths, lengths);
    add.add(T::SplitLeftLengthWord, [lengths[0], left]);
    add.add(T::SplitRightLengthWord, [lengths[1], right]);
    add.add(T::SplitLeftRightWords, [left, right]);
    add.add(T::SplitFirstRightWords, [first, right]);
    add.add(T::SplitRightLastWords, [right, last]);
    add.add(T::SplitLeftRightTags, [left_tag, right_tag]);
    add.add(T::SplitFirstRightTags, [first_tag, right_tag]);
    add.add(T::SplitRightLastTags, [right_tag, last_tag]);
    add.add(T::SplitLeftWordRightTag, [left, right_tag]);
    add.add(T::SplitLeftTagRightWord, [left_tag, right]);
    add.add(T::SplitRightWordLastTag, [right, last_tag]);
    add.add(T::SplitFirstLeftRightTags, [first_tag, left_tag, right_tag]);
    add.add(T::SplitFirstRightLastTags, [first_tag, right_tag, last_tag]);
    if add.has_clusters() {
        let [first2, left2, right2, last2] = positions.map(|position| add.cluster(position, 2));
        let [first1, left1, right1, last1] = positions.map(|position| add.cluster(position, 1));
        add.add(T::SplitLeftCluster, [left2]);
        add.add(T::SplitRightCluster, [right2]);
        add.add(T::SplitLeftRightClusters, [left1, right1]);
        add.add(T::SplitFirstRightClusters, [first1, right1]);
        add.add(T::SplitRightLastClusters, [right1, last1]);
        add.add(T::SplitLeftRightClustersFine, [left2, right2]);
        add.add(T::SplitFirstRightClustersFine, [first2, right2]);
        add.add(T::SplitRightLastClustersFine, [right2, last2]);
    }
    if add.has_dependencies() {
        split_dependencies(&mut add, [start, split, end]);
    }
}

/// Lengths in bins.
fn length_class(length: usize) -> u64 {
    match length {
        0..=5 => length as u64,
        6..=7 => 6,
        8..=10 => 8,
        11..=15 => 11,
        16..=25 => 16,
        _ => 26,
    }
}

/// Whether the brackets among the words are balanced.
fn is_balanced(words: &[TokenAttributes]) -> bool {
    let mut depth = 0;
    words.iter().all(|word| {
        depth += word.depth;
        depth >= 0
    }) && depth == 0
}

#[cfg(test)]
mod tests {
    use super::super::tokens::Vocabulary;
    use super::*;

    fn sentence() -> Vec<TokenAttributes> {
        let vocabulary = Vocabulary::learn([("the", 9), ("cats", 3)].into_iter()).with_version(3);
        let words = ["The", "cats", ",", "(", "all", "3", ")", "slept"];
        let attributes = |(position, word): (usize, &&str)| {
            vocabulary.attributes(word).with_tag(position as u32 % 4)
        };
        words.iter().enumerate().map(attributes).collect()
    }

    /// The same sentence with clusters; "all" and the punctuation have none.
    fn clustered() -> Vec<TokenAttributes> {
        let words = ["the", "cats", "slept", "3"];
        let keys = words.map(Vocabulary::cluster_key);
        let clusters = [[0, 0, 1], [1, 2, 7], [1, 3, 9], [2, 4, 11]];
        let vocabulary = Vocabulary::learn([("the", 9), ("cats", 3)].into_iter()).with_version(3);
        let vocabulary = vocabulary.with_clusters(&keys, &clusters);
        let words = ["The", "cats", ",", "(", "all", "3", ")", "slept"];
        words.iter().map(|word| vocabulary.attributes(word).with_tag(1)).collect()
    }

    #[test]
    fn a_word_has_the_clusters_of_its_lower_case_form_or_its_class() {
        let sentence = clustered();
        let [the, cats, comma] = [0, 1, 2].map(|position| &sentence[position]);
        assert_ne!(the.clusters, cats.clusters);
        assert_eq!(comma.clusters, [comma.class; 3]);
        // On the two coarser levels, "cats" and "slept" share the first.
        assert_eq!(cats.clusters[0], sentence[7].clusters[0]);
        assert_ne!(cats.clusters[1], sentence[7].clusters[1]);
    }

    #[test]
    fn features_of_clusters_never_change() {
        let sentence = clustered();
        let found = [
            fingerprint(|found| word_features(&sentence, 1, found)),
            fingerprint(|found| span_features(&sentence, 1, 7, found)),
            fingerprint(|found| split_features(&sentence, [0, 2, 7], found)),
        ];
        assert_eq!(found, [0xACC1_840D_84F1_C406, 0x7CE0_7F7E_9D13_3BBC, 0xF89C_53EC_0004_4CD5]);
    }

    #[test]
    fn clusters_only_add_features() {
        let mut plain = clustered();
        plain.iter_mut().for_each(|token| token.clusters = [0; 3]);
        let collect = |sentence: &[TokenAttributes]| {
            let mut found = Vec::new();
            span_features(sentence, 1, 7, &mut found);
            found
        };
        let (without, with) = (collect(&plain), collect(&clustered()));
        assert!(with.len() > without.len() && with.starts_with(&without));
    }

    /// One hash of all features that a function finds.
    fn fingerprint(mut features: impl FnMut(&mut Vec<u64>)) -> u64 {
        let mut found = Vec::new();
        features(&mut found);
        found.into_iter().fold(0, combine)
    }

    #[test]
    fn features_of_a_sentence_never_change() {
        // The weights of saved models depend on these hashes.
        let sentence = sentence();
        assert_eq!(fingerprint(|found| word_features(&sentence, 1, found)), 0x9A94_7C97_B2D6_21C5);
        assert_eq!(
            fingerprint(|found| span_features(&sentence, 0, 3, found)),
            0xDD77_0087_C4F4_97E2
        );
        assert_eq!(
            fingerprint(|found| span_features(&sentence, 1, 7, found)),
            0xD422_CC48_1111_59E4
        );
        assert_eq!(
            fingerprint(|found| split_features(&sentence, [0, 2, 7], found)),
            0xC044_A14C_24F5_60FB
        );
    }
}
