//! Bracketed trees that look like those of a treebank, drawn at random but always the same ones.
//!
//! The children of a phrase follow each other as a Markov chain: the next one is Zipf-distributed
//! over the preferences of either the phrase or the child before. Words are Zipf-distributed over
//! their tag, and some have several tags. Trees have an unlabelled root, function tags and traces,
//! so that there is something to clean.

use std::fmt::Write;

const PHRASES: usize = 24;
const TAGS: usize = 45;
const WORDS_OF_TAG: usize = 300;
/// The probability that a phrase has one child, which is then a tag.
const UNARY: f64 = 0.12;
/// The probability that another child follows, from the second one on.
const ANOTHER: f64 = 0.4;
/// The probability that a child is a phrase. A phrase must have less than one phrase among its
/// children on average, or trees would not end.
const PHRASE_CHILD: f64 = 0.5;
/// From this depth on all children are tags.
const DEEPEST: usize = 14;
/// The exponent of the Zipf distribution over children.
const STEEPNESS: f64 = 5.0;
/// The probability that the next child depends on the phrase, and not on the child before.
const OWN: f64 = 0.85;
/// The probability that a phrase starts with a tag of its own, like a prepositional phrase.
const OPENING: f64 = 0.6;
const FUNCTION_TAG: f64 = 0.2;
const TRACE: f64 = 0.03;
/// The probability that a word is one of the next tag, which makes it ambiguous.
const SHARED_WORD: f64 = 0.15;

/// Random numbers by splitmix64: short, good enough, and the same on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A different sequence for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from zero up to but not including one.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f64) as usize
    }

    fn permutation(&mut self, length: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..length).collect();
        for index in (1..length).rev() {
            order.swap(index, self.below(index + 1));
        }
        order
    }
}

/// Ranks with probabilities in proportion to 1 / (rank + 1)^power.
#[derive(Debug)]
struct Zipf(Vec<f64>);

impl Zipf {
    fn new(ranks: usize, power: f64) -> Self {
        let mut sum = 0.0;
        let sums = (1..=ranks).map(|rank| {
            sum += (rank as f64).powf(-power);
            sum
        });
        Self(sums.collect())
    }

    fn draw(&self, random: &mut Random) -> usize {
        let mark = random.unit() * self.0[self.0.len() - 1];
        self.0.partition_point(|&sum| sum <= mark)
    }
}

/// Phrases and tags in the order in which some context prefers them.
#[derive(Debug)]
struct Preferences {
    phrases: Vec<usize>,
    tags: Vec<usize>,
}

/// A random process that produces trees.
#[derive(Debug)]
pub struct Language {
    /// For each phrase, then for each phrase and each tag as the child before.
    preferences: Vec<Preferences>,
    phrase_ranks: Zipf,
    tag_ranks: Zipf,
    word_ranks: Zipf,
}

impl Language {
    /// A different language for each seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let preferences = (0..2 * PHRASES + TAGS)
            .map(|_| Preferences {
                phrases: random.permutation(PHRASES),
                tags: random.permutation(TAGS),
            })
            .collect();
        Self {
            preferences,
            phrase_ranks: Zipf::new(PHRASES, STEEPNESS),
            tag_ranks: Zipf::new(TAGS, STEEPNESS),
            word_ranks: Zipf::new(WORDS_OF_TAG, 1.0),
        }
    }

    /// The given number of trees in brackets, one per line.
    pub fn treebank(&self, trees: usize, random: &mut Random) -> String {
        let mut text = String::new();
        for _ in 0..trees {
            text.push_str("( ");
            self.phrase(0, 0, random, &mut text);
            text.push_str(")\n");
        }
        text
    }

    fn phrase(&self, phrase: usize, depth: usize, random: &mut Random, text: &mut String) {
        let function = if random.unit() < FUNCTION_TAG {
            "-FUN"
        } else {
            ""
        };
        let _ = write!(text, "(P{phrase}{function}");
        if random.unit() < UNARY {
            let tag = self.preferences[phrase].tags[self.tag_ranks.draw(random)];
            self.word(tag, random, text);
        } else {
            self.children(phrase, depth, random, text);
        }
        if random.unit() < TRACE {
            text.push_str(" (NP (-NONE- *))");
        }
        text.push(')');
    }

    fn children(&self, phrase: usize, depth: usize, random: &mut Random, text: &mut String) {
        let mut context = phrase;
        let mut number = 0;
        if random.unit() < OPENING {
            self.word(phrase, random, text);
            context = 2 * PHRASES + phrase;
            number = 1;
        }
        while number < 2 || random.unit() < ANOTHER {
            let source = if random.unit() < OWN { phrase } else { context };
            let preferences = &self.preferences[source];
            if depth < DEEPEST && random.unit() < PHRASE_CHILD {
                let child = preferences.phrases[self.phrase_ranks.draw(random)];
                text.push(' ');
                self.phrase(child, depth + 1, random, text);
                context = PHRASES + child;
            } else {
                let tag = preferences.tags[self.tag_ranks.draw(random)];
                self.word(tag, random, text);
                context = 2 * PHRASES + tag;
            }
            number += 1;
        }
    }

    fn word(&self, tag: usize, random: &mut Random, text: &mut String) {
        let family = tag + usize::from(random.unit() < SHARED_WORD);
        let word = self.word_ranks.draw(random);
        let _ = write!(text, " (T{tag} w{family}x{word})");
    }
}
