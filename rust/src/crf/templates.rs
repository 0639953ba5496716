//! Features of words, spans and splits, after Hall et al. (2014): hashes of what is at their borders.

use super::tokens::TokenAttributes;
use crate::numeric::stable_hash::combine;

/// What stands for words before the first and after the last one.
const BEFORE: u64 = 1;
const AFTER: u64 = 2;

/// Spans up to this width have a feature of their whole shape.
const WIDEST_SHAPE: usize = 10;

/// Spans up to this width have a feature of all their tags, which comes last for that reason.
const WIDEST_TAGS: usize = 5;

/// How many marks inside a span its sequence of marks has.
const MOST_MARKS: usize = 6;

/// Feature hashes of one place in a sentence. Templates are numbered in the order in which they are
/// added, from a number that is different for words, spans and splits.
struct Collector<'a> {
    sentence: &'a [TokenAttributes],
    template: u64,
    found: &'a mut Vec<u64>,
}

impl Collector<'_> {
    /// Add a feature.
    #[inline]
    fn add<const PARTS: usize>(&mut self, parts: [u64; PARTS]) {
        self.template += 1;
        self.found.push(parts.into_iter().fold(combine(0, self.template), combine));
    }

    /// Something about the word at a place, which may lie outside the sentence.
    #[inline]
    fn at(&self, place: isize, part: impl Fn(&TokenAttributes) -> u64) -> u64 {
        match usize::try_from(place) {
            Err(_) => BEFORE,
            Ok(place) => self.sentence.get(place).map_or(AFTER, part),
        }
    }

    #[inline]
    fn word(&self, place: isize) -> u64 {
        self.at(place, |token| token.word)
    }

    #[inline]
    fn tag(&self, place: isize) -> u64 {
        self.at(place, |token| token.tag)
    }
}

/// The features of the word at a place, in `found`.
pub fn word_features(sentence: &[TokenAttributes], place: usize, found: &mut Vec<u64>) {
    found.clear();
    let mut add = Collector { sentence, template: 1000, found };
    let own = &sentence[place];
    let place = place as isize;
    let words = [-2, -1, 0, 1, 2].map(|step| add.word(place + step));
    let tags = [-2, -1, 0, 1, 2].map(|step| add.tag(place + step));
    add.add([]);
    add.add([own.word]);
    add.add([own.class]);
    add.add([own.outline]);
    add.add([own.prefix]);
    for suffix in own.suffixes {
        add.add([suffix]);
    }
    for step in [0, 1, 3, 4] {
        add.add([words[step]]);
    }
    add.add([tags[1]]);
    add.add([tags[3]]);
    add.add([words[1], words[2]]);
    add.add([words[2], words[3]]);
    add.add([tags[1], tags[2]]);
    add.add([tags[2], tags[3]]);
    add.add([tags[1], tags[2], tags[3]]);
    add.add([tags[0], tags[1], tags[2]]);
    add.add([tags[2], tags[3], tags[4]]);
    add.add([words[2], tags[3]]);
    add.add([tags[1], words[2]]);
}

/// The features of the words from `start` up to `end`, in `found`.
pub fn span_features(sentence: &[TokenAttributes], start: usize, end: usize, found: &mut Vec<u64>) {
    found.clear();
    let mut add = Collector { sentence, template: 0, found };
    let inside = &sentence[start..end];
    let length = length_class(end - start);
    let (first, after) = (start as isize, end as isize);
    // The word before the span, its first, its last, and the word after it.
    let places = [first - 1, first, after - 1, after];
    let words = places.map(|place| add.word(place));
    let tags = places.map(|place| add.tag(place));
    add.add([length]);
    for word in words {
        add.add([word]);
        add.add([length, word]);
    }
    for tag in tags {
        add.add([tag]);
        add.add([length, tag]);
    }
    let [before, first_word, last_word, next] = words;
    add.add([first_word, last_word]);
    add.add([before, first_word]);
    add.add([last_word, next]);
    add.add([before, next]);
    let [before_tag, first_tag, last_tag, next_tag] = tags;
    add.add([first_tag, last_tag]);
    add.add([before_tag, first_tag]);
    add.add([last_tag, next_tag]);
    add.add([before_tag, next_tag]);
    let second = add.tag(first + 1);
    add.add([first_tag, second]);
    let last_but_one = add.tag(after - 2);
    add.add([last_but_one, last_tag]);
    add.add([before_tag, first_tag, next_tag]);
    add.add([before_tag, last_tag, next_tag]);
    add.add([first_tag, last_tag, next_tag]);
    add.add([before_tag, first_tag, last_tag]);
    add.add([before_tag, first_tag, last_tag, next_tag]);
    let before_that = add.tag(first - 2);
    add.add([before_that, before_tag, first_tag]);
    let after_that = add.tag(after + 1);
    add.add([last_tag, next_tag, after_that]);
    add.add([first_word, next_tag]);
    add.add([before, first_tag]);
    add.add([last_tag, next]);
    add.add([before, next_tag]);
    add.add([before_tag, next]);
    add.add([u64::from(is_balanced(inside))]);
    let marks = || inside.iter().map(|token| token.mark).filter(|&mark| mark != 0);
    // A set as the sum of its members' hashes, each once: what is summed does not depend on order.
    let mut set: Vec<u64> = marks().collect();
    set.sort_unstable();
    set.dedup();
    add.add([set.into_iter().fold(0, combine)]);
    add.add([marks().take(MOST_MARKS).fold(0, combine)]);
    if inside.len() <= WIDEST_SHAPE {
        let shape = inside.iter().map(|token| token.initial).fold(0, combine);
        let around = [first - 1, after].map(|place| add.at(place, |token| token.initial));
        add.add([shape]);
        add.add([shape, around[0], around[1]]);
    }
    if inside.len() <= WIDEST_TAGS {
        let tags = inside.iter().map(|token| token.tag).fold(0, combine);
        add.add([tags]);
        add.add([tags, before_tag, next_tag]);
    }
}

/// The features of a span that is made of two, in `found`.
pub fn split_features(
    sentence: &[TokenAttributes],
    [start, split, end]: [usize; 3],
    found: &mut Vec<u64>,
) {
    found.clear();
    let mut add = Collector { sentence, template: 2000, found };
    let lengths = [length_class(split - start), length_class(end - split)];
    let places = [start, split - 1, split, end - 1].map(|place| place as isize);
    // The first and the last words of the left part, then of the right part.
    let [first, left, right, last] = places.map(|place| add.word(place));
    let [first_tag, left_tag, right_tag, last_tag] = places.map(|place| add.tag(place));
    add.add([left]);
    add.add([right]);
    add.add([left_tag]);
    add.add([right_tag]);
    add.add(lengths);
    add.add([lengths[0], left]);
    add.add([lengths[1], right]);
    add.add([left, right]);
    add.add([first, right]);
    add.add([right, last]);
    add.add([left_tag, right_tag]);
    add.add([first_tag, right_tag]);
    add.add([right_tag, last_tag]);
    add.add([left, right_tag]);
    add.add([left_tag, right]);
    add.add([right, last_tag]);
    add.add([first_tag, left_tag, right_tag]);
    add.add([first_tag, right_tag, last_tag]);
}

/// Lengths, larger ones in groups.
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

/// Whether brackets are closed as often as they are opened, and never before.
fn is_balanced(words: &[TokenAttributes]) -> bool {
    let mut depth = 0;
    words.iter().all(|word| {
        depth += word.depth;
        depth >= 0
    }) && depth == 0
}
