//! Training trees as columns: their checks, and single trees of them.

use std::ops::Range;

use crate::crf::TokenAttributes;
use crate::decode::Node;
use crate::grammar::{Grammar, SymbolId, Token};
use crate::parser::GoldTree;
use crate::python::arrays::{Runs, check_ids, check_shape, offsets_in};
use crate::python::errors::ArgumentError;
use crate::python::parser::{NO_TAG, part};

/// The columns of tokens and of nodes.
pub(super) struct TreesIn<'a> {
    pub(super) words: &'a [u32],
    pub(super) emissions: &'a [u32],
    pub(super) word_offsets: &'a [i64],
    pub(super) symbols: &'a [u32],
    pub(super) starts: &'a [i32],
    pub(super) ends: &'a [i32],
    pub(super) tree_offsets: &'a [i64],
    /// The weight of each tree; 1 if there are none.
    pub(super) weights: Option<&'a [f64]>,
    /// The factors of the tags of each token, if there are any.
    pub(super) tag_factors: Vec<&'a [f32]>,
    /// The given tags of tokens, if there are any.
    pub(super) tags: Option<&'a [u32]>,
    pub(super) dependencies: Option<Dependencies<'a>>,
}

/// The heads of tokens, and their relations to them by number.
pub(super) struct Dependencies<'a> {
    pub(super) heads: &'a [i32],
    pub(super) relations: &'a [u32],
    pub(super) names: &'a [String],
}

impl Dependencies<'_> {
    /// A token with its dependency.
    fn add(&self, token: usize, attributes: TokenAttributes) -> TokenAttributes {
        match self.names[self.relations[token] as usize].as_str() {
            "" => attributes,
            relation => attributes.with_dependency(self.heads[token], relation),
        }
    }
}

/// The place of a tree in the columns of tokens and of nodes.
pub(super) struct TreeBounds {
    words: Range<usize>,
    nodes: Range<usize>,
    weight: f32,
}

impl<'a> TreesIn<'a> {
    /// Check the columns, and find the places of the trees in them.
    pub(super) fn check(
        &self,
        grammar: &Grammar,
        words: usize,
    ) -> Result<Vec<TreeBounds>, ArgumentError> {
        let (tokens, nodes) = (self.words.len(), self.symbols.len());
        for (name, found, expected) in [
            ("emissions", self.emissions.len(), tokens),
            ("starts", self.starts.len(), nodes),
            ("ends", self.ends.len(), nodes),
            ("tree_offsets", self.tree_offsets.len(), self.word_offsets.len()),
        ] {
            check_shape(name, &[found], &[expected])?;
        }
        check_ids("word_column", self.words, words)?;
        check_ids("emissions", self.emissions, grammar.emissions().number_of_words())?;
        check_ids("symbols", self.symbols, grammar.rules().number_of_symbols())?;
        if let Some(tags) = self.tags {
            check_shape("tags", &[tags.len()], &[tokens])?;
            let given = tags.iter().filter(|&&tag| tag != NO_TAG);
            check_ids("tags", given, grammar.emissions().number_of_tags())?;
        }
        if let Some(Dependencies { heads, relations, names }) = &self.dependencies {
            check_shape("heads", &[heads.len()], &[tokens])?;
            check_shape("relations", &[relations.len()], &[tokens])?;
            check_ids("relations", relations.iter(), names.len())?;
        }
        if let Some(weights) = self.weights {
            check_shape(
                "tree_weights",
                &[weights.len()],
                &[self.tree_offsets.len().saturating_sub(1)],
            )?;
            if !weights.iter().all(|weight| (0.0..f64::INFINITY).contains(weight)) {
                let message = "tree_weights must be finite and not negative".to_owned();
                return Err(ArgumentError::new("tree_weights", message));
            }
        }
        let words = offsets_in("word_offsets", self.word_offsets, tokens, Runs::NonEmpty)?;
        let trees = offsets_in("tree_offsets", self.tree_offsets, nodes, Runs::NonEmpty)?;
        let bounds = words.windows(2).zip(trees.windows(2)).enumerate();
        bounds
            .map(|(number, (words, nodes))| {
                let (words, nodes) = (words[0]..words[1], nodes[0]..nodes[1]);
                for node in nodes.clone() {
                    self.check_span(node, words.len())?;
                }
                let weight = self.weights.map_or(1.0, |weights| weights[number] as f32);
                Ok(TreeBounds { words, nodes, weight })
            })
            .collect()
    }

    /// A word, and its tag if that is given.
    fn token(&self, token: usize) -> Token {
        let word = self.emissions[token];
        match self.tags.map_or(NO_TAG, |tags| tags[token]) {
            NO_TAG => Token::Word(word),
            tag => Token::Tagged { word, tag },
        }
    }

    /// Check that a node is in its sentence, which has this number of words.
    fn check_span(&self, node: usize, length: usize) -> Result<(), ArgumentError> {
        let (start, end) = (self.starts[node], self.ends[node]);
        match (usize::try_from(start), usize::try_from(end)) {
            (Ok(first), Ok(last)) if first < last && last <= length => Ok(()),
            _ => {
                let message =
                    format!("node {node} covers {start} to {end} in a sentence of {length} words");
                Err(ArgumentError::new("ends", message))
            }
        }
    }

    /// A tree of the checked columns.
    pub(super) fn gold_tree(
        &self,
        bounds: &TreeBounds,
        attributes: &[TokenAttributes],
    ) -> GoldTree<'a> {
        let words = bounds.words.clone();
        let attributes = |token: usize| {
            let own = attributes[self.words[token] as usize];
            self.dependencies.as_ref().map_or(own, |found| found.add(token, own))
        };
        GoldTree {
            tokens: words.clone().map(|token| self.token(token)).collect(),
            tag_factors: part(&self.tag_factors, &words).to_vec(),
            sentence: words.map(attributes).collect(),
            nodes: bounds
                .nodes
                .clone()
                .map(|node| Node {
                    symbol: SymbolId(self.symbols[node]),
                    start: self.starts[node] as u32,
                    end: self.ends[node] as u32,
                })
                .collect(),
            weight: bounds.weight,
        }
    }
}
