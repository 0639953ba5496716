//! The attributes of words that features read.

use super::template_numbers::{SPELLING_VERSION, TEMPLATE_VERSION};
use rustc_hash::{FxHashMap, FxHashSet};

use super::spelling::{Spelling, character_class, shape};
use crate::numeric::stable_hash::{combine, hash_text};

/// A word seen this often has features of its own; a rarer one has those of its class.
const FREQUENT_WORD: u32 = 3;

/// A suffix seen this often can be part of a word class.
const FREQUENT_SUFFIX: u32 = 100;

/// The largest number of characters in the suffix of a word class.
const MAX_SUFFIX_LENGTH: usize = 4;

/// The number of word clusters of a word: nested ones, from coarse to fine.
pub const CLUSTER_LEVELS: usize = 3;

/// Brackets, plain and as treebanks escape them.
const OPENING: [&str; 6] = ["(", "[", "{", "-LRB-", "-LSB-", "-LCB-"];
const CLOSING: [&str; 6] = [")", "]", "}", "-RRB-", "-RSB-", "-RCB-"];

/// The kinds of hashed values. Saved models depend on the numbers.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Word = 0,
    Suffix = 1,
    Prefix = 2,
    Shape = 3,
    Mark = 4,
    Class = 5,
    Tag = 6,
    Cluster = 7,
    Relation = 8,
}

fn hash(kind: Kind, characters: &[char]) -> u64 {
    hash_text(kind as u64, characters.iter().copied())
}

/// A word as hashes, from fine to coarse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenAttributes {
    /// The lower-cased word if it is frequent, otherwise its class.
    pub word: u64,
    /// Its word shape and its longest frequent suffix.
    pub class: u64,
    /// The most probable tag in the sentence; the class until that is known.
    pub tag: u64,
    /// Its word shape: upper-case letters, lower-case letters, letters of scripts without case,
    /// digits and others, without repetitions.
    pub shape: u64,
    /// The first three characters.
    pub prefix: u64,
    /// The last character, the last two, the last three.
    pub suffixes: [u64; 3],
    /// Other parts of the word; none in models of versions before [`SPELLING_VERSION`].
    pub spelling: Spelling,
    /// The shape of its first character; for punctuation, the word itself.
    pub initial: u64,
    /// The word itself if it is punctuation, otherwise zero.
    pub mark: u64,
    /// One for an opening bracket, minus one for a closing one.
    pub depth: i32,
    /// Its word clusters, from coarse to fine; the class of a word without clusters. All zero if
    /// the vocabulary has no clusters.
    pub clusters: [u64; CLUSTER_LEVELS],
    /// How far to the right its head is in the dependency tree, negative for the left; zero for the
    /// root of the sentence.
    pub head: i32,
    /// Its relation to its head; zero if no dependencies are given.
    pub relation: u64,
}

impl TokenAttributes {
    /// The same word with its head and its relation to it.
    pub fn with_dependency(self, head: i32, relation: &str) -> Self {
        Self { head, relation: hash_text(Kind::Relation as u64, relation.chars()), ..self }
    }

    /// The same word with a tag, given by its number.
    pub fn with_tag(self, tag: u32) -> Self {
        Self { tag: combine(Kind::Tag as u64, u64::from(tag)), ..self }
    }
}

/// The frequent words and suffixes of a treebank, as hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    /// The version of the templates by which words are read.
    version: u32,
    frequent: FxHashSet<u64>,
    /// The clusters of words, by the hashes of the words.
    clusters: FxHashMap<u64, [u16; CLUSTER_LEVELS]>,
}

impl Vocabulary {
    /// Find the frequent words and suffixes of a treebank, given its words and their counts.
    pub fn learn<'a>(words: impl Iterator<Item = (&'a str, u32)>) -> Self {
        let mut counts: FxHashMap<u64, (u32, u32)> = FxHashMap::default();
        for (word, count) in words {
            let lowered: Vec<char> = word.to_lowercase().chars().collect();
            let mut add = |key, enough| counts.entry(key).or_insert((0, enough)).0 += count;
            add(hash(Kind::Word, &lowered), FREQUENT_WORD);
            for length in 1..=longest_suffix(&lowered) {
                add(hash(Kind::Suffix, &lowered[lowered.len() - length..]), FREQUENT_SUFFIX);
            }
        }
        let frequent = counts.into_iter().filter(|(_, (count, enough))| count >= enough);
        Self::from_hashes(frequent.map(|(key, _)| key))
    }

    /// The vocabulary with these hashes.
    pub fn from_hashes(hashes: impl IntoIterator<Item = u64>) -> Self {
        let frequent = hashes.into_iter().collect();
        Self { version: TEMPLATE_VERSION, frequent, clusters: FxHashMap::default() }
    }

    /// The same vocabulary for a model of an older version, which reads words as it was trained to.
    pub fn with_version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    /// The same vocabulary with word clusters, given the hashes of words
    /// ([`cluster_key`](Self::cluster_key)) and the clusters of each word.
    pub fn with_clusters(self, words: &[u64], clusters: &[[u16; CLUSTER_LEVELS]]) -> Self {
        let clusters = words.iter().copied().zip(clusters.iter().copied()).collect();
        Self { clusters, ..self }
    }

    /// The hash by which the clusters of a word are found.
    pub fn cluster_key(word: &str) -> u64 {
        hash_text(Kind::Cluster as u64, word.chars())
    }

    /// The clusters of a word as hashes. A word that has none, not even in lower case, has its
    /// class instead.
    fn clusters(&self, word: &str, lowered: &[char], class: u64) -> [u64; CLUSTER_LEVELS] {
        if self.clusters.is_empty() {
            return [0; CLUSTER_LEVELS];
        }
        let own = self.clusters.get(&Self::cluster_key(word));
        match own.or_else(|| self.clusters.get(&hash(Kind::Cluster, lowered))) {
            Some(clusters) => clusters.map(|cluster| combine(Kind::Cluster as u64, cluster.into())),
            None => [class; CLUSTER_LEVELS],
        }
    }

    /// The hashes, in ascending order.
    pub fn hashes(&self) -> Vec<u64> {
        let mut hashes: Vec<u64> = self.frequent.iter().copied().collect();
        hashes.sort_unstable();
        hashes
    }

    /// The attributes of a word.
    pub fn attributes(&self, word: &str) -> TokenAttributes {
        let characters: Vec<char> = word.chars().collect();
        let lowered: Vec<char> = word.to_lowercase().chars().collect();
        let has_spelling = self.version >= SPELLING_VERSION;
        let shape = hash(Kind::Shape, &shape(&characters, has_spelling));
        let suffix = |length: usize| &lowered[lowered.len() - length.min(lowered.len())..];
        let class_suffix = (1..=longest_suffix(&lowered))
            .rev()
            .map(|length| hash(Kind::Suffix, suffix(length)))
            .find(|key| self.frequent.contains(key));
        let class = combine(combine(Kind::Class as u64, shape), class_suffix.unwrap_or(0));
        let own = hash(Kind::Word, &lowered);
        let mark = if is_mark(word) { hash(Kind::Mark, &characters) } else { 0 };
        let first = characters.first().map(|&first| character_class(first, has_spelling));
        TokenAttributes {
            word: if self.frequent.contains(&own) { own } else { class },
            class,
            tag: class,
            shape,
            prefix: hash(Kind::Prefix, &lowered[..lowered.len().min(3)]),
            suffixes: [1, 2, 3].map(|length| hash(Kind::Suffix, suffix(length))),
            spelling: if has_spelling { Spelling::new(&lowered) } else { Spelling::default() },
            initial: if mark == 0 { hash_text(Kind::Shape as u64, first) } else { mark },
            mark,
            clusters: self.clusters(word, &lowered, class),
            head: 0,
            relation: 0,
            depth: i32::from(OPENING.contains(&word)) - i32::from(CLOSING.contains(&word)),
        }
    }
}

fn longest_suffix(characters: &[char]) -> usize {
    // At least one character is left for the stem.
    MAX_SUFFIX_LENGTH.min(characters.len().saturating_sub(1))
}

/// Whether a word is punctuation: it has no letters or digits, or is a bracket.
fn is_mark(word: &str) -> bool {
    !word.chars().any(char::is_alphanumeric) || OPENING.contains(&word) || CLOSING.contains(&word)
}
