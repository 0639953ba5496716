//! Features of spans: the words and tags at their borders.
//!
//! The values that a template hashes must not change; otherwise raise [`super::VERSION`], which model
//! files store.

use crate::numeric::stable_hash::combine;

/// What the filter reads of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenFeatures {
    /// The number of the word, or of its class, in the lexicon.
    pub word: u32,
    /// Its most probable tag.
    pub tag: u32,
    /// The number of the set of its probable tags.
    pub tags: u32,
}

/// Stands for the positions before the first and after the last word.
const OUTSIDE: TokenFeatures = TokenFeatures { word: u32::MAX, tag: u32::MAX, tags: u32::MAX };

/// The number of width classes with weights of their own, beside the weight for all widths.
pub(super) const WIDTH_CLASSES: usize = 4;

/// The number of templates of a border.
pub(super) const BORDER_TEMPLATES: usize = 12;

/// The number of templates of a pair of borders.
pub(super) const PAIR_TEMPLATES: usize = 14;

/// Templates of pairs from this number on also read the width of the span.
const WITH_WIDTH: usize = 10;

/// Templates that read whether the word beside the span occurs in it.
const REPEATED_AFTER: usize = 12;
const REPEATED_BEFORE: usize = 13;

/// The class of a width that border features are conjoined with.
#[inline(always)]
pub(super) fn width_class(width: usize) -> usize {
    match width {
        ..=2 => 0,
        3..=4 => 1,
        5..=9 => 2,
        _ => 3,
    }
}

/// The keys from which the features of all spans of a sentence are made, in memory that is reused.
#[derive(Debug, Default)]
pub(super) struct Keys {
    words: usize,
    /// The features of each position as the start of a span, then as the end of one.
    borders: [Vec<[u32; BORDER_TEMPLATES]>; 2],
    /// The parts of pair features that read the start, one row for each position.
    lefts: Vec<[u32; PAIR_TEMPLATES]>,
    /// The parts of pair features that read the end.
    rights: Vec<[u32; PAIR_TEMPLATES]>,
    /// For each position, the last one before it with the same word, plus one; or zero.
    before: Vec<u32>,
    /// For each position, the next one with the same word; or the number of words.
    after: Vec<u32>,
    widths: Vec<u32>,
}

fn hash<const VALUES: usize>(template: u64, values: [u32; VALUES]) -> u32 {
    let start = combine(0, template);
    (values.into_iter().fold(start, |state, value| combine(state, u64::from(value))) >> 32) as u32
}

impl Keys {
    /// Prepare the features of a sentence.
    pub(super) fn prepare(&mut self, sentence: &[TokenFeatures]) {
        let words = sentence.len();
        self.words = words;
        for keys in &mut self.borders {
            keys.clear();
        }
        self.lefts.clear();
        self.rights.clear();
        let at = |position: usize, step: isize| {
            position.checked_add_signed(step).and_then(|p| sentence.get(p)).unwrap_or(&OUTSIDE)
        };
        for position in 0..=words {
            let [b2, b, a, a2] = [-2, -1, 0, 1].map(|step| at(position, step));
            for (side, keys) in self.borders.iter_mut().enumerate() {
                let hash =
                    |template: u64, values: [u32; 4]| hash(2 * template + side as u64, values);
                keys.push([
                    hash(0, [b.word, a.word, 0, 0]),
                    hash(1, [b.word, a.tag, 0, 0]),
                    hash(2, [b.tag, a.word, 0, 0]),
                    hash(3, [b.word, 0, 0, 0]),
                    hash(4, [a.word, 0, 0, 0]),
                    hash(5, [b.tag, a.tag, 0, 0]),
                    hash(6, [b2.tag, b.tag, a.tag, 0]),
                    hash(7, [b.tag, a.tag, a2.tag, 0]),
                    hash(8, [b2.tag, b.tag, a.tag, a2.tag]),
                    hash(9, [b.tags, a.tags, 0, 0]),
                    hash(10, [b2.tags, b.tags, a.tags, 0]),
                    hash(11, [b.tags, a.tags, a2.tags, 0]),
                ]);
            }
            // As the start of a span, `a` is its first word; as the end, `b` is its last word.
            let left = |template: u64, values: [u32; 2]| hash(100 + 2 * template, values);
            self.lefts.push([
                left(0, [a.tag, 0]),
                left(1, [b.tag, 0]),
                left(2, [a.tag, 0]),
                left(3, [b.tag, 0]),
                left(4, [b.tag, a.tag]),
                left(5, [b.word, 0]),
                left(6, [a.word, 0]),
                left(7, [b.tag, a.tag]),
                left(8, [a.tag, 0]),
                left(9, [a.word, 0]),
                left(10, [a.tag, 0]),
                left(11, [a.tag, 0]),
                left(12, [0, 0]),
                left(13, [b.tag, a.tag]),
            ]);
            let right = |template: u64, values: [u32; 2]| hash(101 + 2 * template, values);
            self.rights.push([
                right(0, [b.tag, 0]),
                right(1, [a.tag, 0]),
                right(2, [a.tag, 0]),
                right(3, [b.tag, 0]),
                right(4, [b.tag, a.tag]),
                right(5, [a.word, 0]),
                right(6, [a.word, 0]),
                right(7, [a.tag, 0]),
                right(8, [b.tag, a.tag]),
                right(9, [b.word, 0]),
                right(10, [b.tag, 0]),
                right(11, [a.tag, 0]),
                right(12, [b.tag, a.tag]),
                right(13, [0, 0]),
            ]);
        }
        self.before.clear();
        self.after.clear();
        self.after.resize(words, words as u32);
        for (position, token) in sentence.iter().enumerate() {
            let last = sentence[..position].iter().rposition(|other| other.word == token.word);
            if let Some(last) = last {
                self.after[last] = position as u32;
            }
            self.before.push(last.map_or(0, |last| last as u32 + 1));
        }
        self.widths.clear();
        self.widths.extend((0..=words).map(|width| hash(99, [width_bin(width)])));
    }

    /// The features of a position as the start (side 0) or the end (side 1) of spans.
    #[inline(always)]
    pub(super) fn border(&self, side: usize, position: usize) -> &[u32; BORDER_TEMPLATES] {
        &self.borders[side][position]
    }

    /// The features of a span that read both of its borders.
    #[inline(always)]
    pub(super) fn pair(&self, start: usize, end: usize) -> [u32; PAIR_TEMPLATES] {
        let (left, right) = (&self.lefts[start], &self.rights[end]);
        let mut keys = [0; PAIR_TEMPLATES];
        for (key, (left, right)) in keys.iter_mut().zip(left.iter().zip(right)) {
            *key = left.wrapping_add(*right);
        }
        for key in &mut keys[WITH_WIDTH..REPEATED_AFTER] {
            *key = key.wrapping_add(self.widths[end - start]);
        }
        if end < self.words && self.before[end] as usize > start {
            keys[REPEATED_AFTER] = !keys[REPEATED_AFTER];
        }
        if start > 0 && (self.after[start - 1] as usize) < end {
            keys[REPEATED_BEFORE] = !keys[REPEATED_BEFORE];
        }
        keys
    }

    /// The key of the width alone.
    #[inline(always)]
    pub(super) fn width(&self, width: usize) -> u32 {
        self.widths[width]
    }
}

/// Widths in bins.
fn width_bin(width: usize) -> u32 {
    match width {
        0..=8 => width as u32,
        9..=10 => 9,
        11..=13 => 11,
        14..=18 => 14,
        19..=25 => 19,
        26..=40 => 26,
        _ => 41,
    }
}
