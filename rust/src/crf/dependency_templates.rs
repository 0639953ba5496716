//! Features of dependencies: the heads and relations that may be given with the words of a sentence.
//!
//! A phrase nearly always has a single head, a word whose own head lies outside the phrase. Other
//! spans mostly have several. Features read the heads of a span, their relations and tags, and the
//! dependents that the span leaves out.
//!
//! The values that a template hashes must not change; see [`super::template_numbers`].

use super::template_numbers::Template as T;
use super::templates::Collector;
use super::tokens::TokenAttributes;
use crate::numeric::stable_hash::combine;

/// Larger numbers of heads and dependents count as this.
const MANY: u64 = 3;

/// The head of the word at a position; none for the root, and where a part of a longer sentence does
/// not have the head.
fn parent(sentence: &[TokenAttributes], position: usize) -> Option<usize> {
    match sentence[position].head {
        0 => None,
        step => position.checked_add_signed(step as isize).filter(|&head| head < sentence.len()),
    }
}

/// The words of a span whose heads lie outside it.
#[derive(Debug, Clone, Copy)]
struct SpanHeads {
    number: u64,
    first: usize,
    last: usize,
}

impl SpanHeads {
    fn new(sentence: &[TokenAttributes], start: usize, end: usize) -> Self {
        let is_head =
            |&word: &usize| parent(sentence, word).is_none_or(|head| !(start..end).contains(&head));
        let mut heads = Self { number: 0, first: start, last: start };
        for word in (start..end).filter(is_head) {
            if heads.number == 0 {
                heads.first = word;
            }
            heads.last = word;
            heads.number = (heads.number + 1).min(MANY);
        }
        heads
    }
}

/// Add the features of the dependencies of a word.
pub(super) fn word_dependencies(add: &mut Collector<'_>, position: usize) {
    let sentence = add.sentence;
    let own = &sentence[position];
    let has_dependent = |mut words: std::ops::Range<usize>| {
        u64::from(words.any(|word| parent(sentence, word) == Some(position)))
    };
    let sides = [has_dependent(0..position), has_dependent(position + 1..sentence.len())];
    let (parent_tag, side) = tag_of_parent(sentence, position);
    add.add(T::WordRelation, [own.relation]);
    add.add(T::WordRelationTag, [own.relation, own.tag]);
    add.add(T::WordRelationDependents, [own.relation, sides[0], sides[1]]);
    add.add(T::WordRelationTagDependents, [own.relation, own.tag, sides[0], sides[1]]);
    add.add(T::WordParentTag, [own.tag, parent_tag, side]);
    add.add(T::WordRelationParentTag, [own.relation, own.tag, parent_tag, side]);
}

/// The tag of the head of a word, and the side on which it lies.
fn tag_of_parent(sentence: &[TokenAttributes], position: usize) -> (u64, u64) {
    match parent(sentence, position) {
        Some(head) => (sentence[head].tag, 1 + u64::from(head > position)),
        None => (0, 0),
    }
}

/// Add the features of the dependencies of the words of a span.
pub(super) fn span_dependencies(add: &mut Collector<'_>, start: usize, end: usize, length: u64) {
    let sentence = add.sentence;
    let SpanHeads { number, first: head, last } = SpanHeads::new(sentence, start, end);
    // The dependents outside the span: those of its head on both sides, the nearest last on the left
    // and first on the right, and those of its other words.
    let (mut left, mut right, mut others) = (0, 0, 0);
    let (mut left_relation, mut right_relation) = (0, 0);
    for word in (0..start).chain(end..sentence.len()) {
        match parent(sentence, word) {
            Some(governor) if governor == head && word < start => {
                left += 1;
                left_relation = sentence[word].relation;
            }
            Some(governor) if governor == head => {
                if right == 0 {
                    right_relation = sentence[word].relation;
                }
                right += 1;
            }
            Some(governor) if (start..end).contains(&governor) => others += 1,
            _ => {}
        }
    }
    let [left, right, others] = [left, right, others].map(|count: u64| count.min(2));
    let borders = [sentence[start].relation, sentence[end - 1].relation];
    add.add(T::SpanHeads, [number]);
    add.add(T::SpanHeadsLength, [number, length]);
    add.add(T::SpanHeadsCut, [number, others]);
    add.add(T::SpanHeadsOutside, [number, others, left, right]);
    add.add(T::SpanHeadsBorders, [number, borders[0], borders[1]]);
    if number > 1 {
        let same = u64::from(parent(sentence, head) == parent(sentence, last));
        let relations = [head, last].map(|word| sentence[word].relation);
        add.add(T::SpanHeadsSiblings, [same, others]);
        add.add(T::SpanHeadsRelations, [same, number, relations[0], relations[1]]);
        return;
    }
    let own = &sentence[head];
    let place = [u64::from(head == start), u64::from(head + 1 == end)];
    let (parent_tag, side) = tag_of_parent(sentence, head);
    // The relations of the dependents inside: a set as the hash of its members in ascending order.
    let inside = || {
        (start..end)
            .filter(|&word| parent(sentence, word) == Some(head))
            .map(|w| sentence[w].relation)
    };
    let mut relations: Vec<u64> = inside().collect();
    relations.sort_unstable();
    relations.dedup();
    let set = relations.into_iter().fold(0, combine);
    let outer = [inside().next().unwrap_or(0), inside().next_back().unwrap_or(0)];
    add.add(T::SpanHeadTag, [own.tag]);
    add.add(T::SpanHeadWord, [own.word]);
    add.add(T::SpanHeadRelation, [own.relation, own.tag]);
    add.add(T::SpanHeadRelationOutside, [own.relation, others, left, right]);
    add.add(T::SpanHeadTagOutside, [own.tag, others, left, right]);
    add.add(T::SpanHeadPlace, [own.tag, place[0], place[1]]);
    add.add(T::SpanHeadParent, [own.tag, own.relation, parent_tag, side]);
    add.add(T::SpanHeadDependents, [set, others]);
    add.add(T::SpanHeadTagDependents, [set, own.tag, others]);
    add.add(T::SpanHeadDependentsOutside, [set, own.tag, left_relation, right_relation]);
    add.add(T::SpanHeadRelationDependents, [set, own.tag, own.relation]);
    add.add(T::SpanHeadOuterDependents, [own.tag, outer[0], outer[1]]);
    add.add(T::SpanHeadNextDependents, [own.tag, left_relation, right_relation]);
    add.add(
        T::SpanHeadDependentsAround,
        [own.tag, outer[0], outer[1], left_relation, right_relation],
    );
}

/// Add the features of the dependencies between the two parts of a span.
pub(super) fn split_dependencies(add: &mut Collector<'_>, [start, split, end]: [usize; 3]) {
    let sentence = add.sentence;
    let left = SpanHeads::new(sentence, start, split);
    let right = SpanHeads::new(sentence, split, end);
    let [left_parent, right_parent] = [left.last, right.first].map(|word| parent(sentence, word));
    let [one, other] = [&sentence[left.last], &sentence[right.first]];
    let (kind, relation) = match () {
        () if right_parent == Some(left.last) => (1, other.relation),
        () if left_parent == Some(right.first) => (2, one.relation),
        () if right_parent.is_some_and(|head| (start..split).contains(&head)) => {
            (3, other.relation)
        }
        () if left_parent.is_some_and(|head| (split..end).contains(&head)) => (4, one.relation),
        () if left_parent == right_parent => (5, other.relation),
        () => (6, other.relation),
    };
    add.add(T::SplitHeads, [left.number, right.number]);
    add.add(T::SplitHeadsKind, [left.number, right.number, kind]);
    add.add(T::SplitHeadsRelation, [left.number, right.number, kind, relation]);
    add.add(T::SplitRelations, [kind, one.relation, other.relation]);
    add.add(T::SplitTags, [kind, one.tag, other.tag]);
    add.add(T::SplitTagsRelation, [kind, relation, one.tag, other.tag]);
}

#[cfg(test)]
mod tests {
    use super::super::templates::{span_features, split_features, word_features};
    use super::super::tokens::Vocabulary;
    use super::*;

    /// The dog saw a cat with tails: 0 <- 1 <- 2 -> 4, 3 <- 4 -> 6, 5 <- 6.
    fn sentence() -> Vec<TokenAttributes> {
        let vocabulary = Vocabulary::learn([("the", 9), ("saw", 3)].into_iter()).with_version(3);
        let words = [
            ("the", 1, "det"),
            ("dog", 1, "nsubj"),
            ("saw", 0, "root"),
            ("a", 1, "det"),
            ("cat", -2, "obj"),
            ("with", 1, "case"),
            ("tails", -2, "nmod"),
        ];
        words
            .into_iter()
            .enumerate()
            .map(|(tag, (word, head, relation))| {
                vocabulary.attributes(word).with_tag(tag as u32 % 4).with_dependency(head, relation)
            })
            .collect()
    }

    #[test]
    fn a_phrase_has_one_head_and_other_spans_have_more() {
        let sentence = sentence();
        let heads = |start, end| {
            let heads = SpanHeads::new(&sentence, start, end);
            (heads.number, heads.first, heads.last)
        };
        assert_eq!(heads(0, 2), (1, 1, 1));
        assert_eq!(heads(3, 7), (1, 4, 4));
        assert_eq!(heads(0, 7), (1, 2, 2));
        assert_eq!(heads(1, 4), (2, 2, 3));
        assert_eq!(heads(4, 6), (2, 4, 5));
    }

    #[test]
    fn heads_that_a_part_of_the_sentence_does_not_have_are_outside() {
        let part = &sentence()[4..];
        assert_eq!(parent(part, 0), None);
        assert_eq!(parent(part, 2), Some(0));
        let mut far = sentence();
        far[6].head = i32::MAX;
        assert_eq!(parent(&far, 6), None);
    }

    fn collected(mut features: impl FnMut(&mut Vec<u64>)) -> Vec<u64> {
        let mut found = Vec::new();
        features(&mut found);
        found
    }

    #[test]
    fn dependencies_only_add_features() {
        let with = sentence();
        let mut plain = with.clone();
        plain.iter_mut().for_each(|token| token.relation = 0);
        for (start, end) in [(0, 2), (1, 4), (3, 7), (0, 7)] {
            let [long, short] = [&with, &plain]
                .map(|sentence| collected(|found| span_features(sentence, start, end, found)));
            assert!(long.len() > short.len() && long.starts_with(&short));
        }
    }

    #[test]
    fn features_of_dependencies_never_change() {
        // The weights of saved models depend on these hashes.
        let sentence = sentence();
        let hash = |features: Vec<u64>| features.into_iter().fold(0, combine);
        let found = [
            hash(collected(|found| word_features(&sentence, 4, found))),
            hash(collected(|found| span_features(&sentence, 3, 7, found))),
            hash(collected(|found| span_features(&sentence, 1, 4, found))),
            hash(collected(|found| split_features(&sentence, [2, 3, 7], found))),
        ];
        let expected = [
            0xF06A_EF16_01E2_0606,
            0x174D_012E_5497_7C02,
            0xCFE0_DCCA_3E72_47DA,
            0xA2B7_959A_9C2E_8476,
        ];
        assert_eq!(found, expected);
    }
}
