//! A PCFG with relative frequencies from random trees, as the PCFG estimator learns it.

#![allow(dead_code, reason = "each bench uses a part")]

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::grammar::{BinaryRule, Emissions, Grammar, Output, Rules, SymbolId, Token};
use lpcfg_core::treebank::clean::{CleanOptions, clean};
use lpcfg_core::treebank::node_table::{NodeTable, Symbol};
use lpcfg_core::treebank::transform::transform;

use crate::pipeline::{TRANSFORM, read};
use crate::random_trees::{Language, Random};

const TREES: usize = 8_000;
const LANGUAGE: u64 = 7;
const TRAINING: u64 = 1;
const HELD_OUT: u64 = 2;

fn node_table(text: &str) -> NodeTable {
    let cancel = Cancel::new();
    let cleaned = clean(&read(text), &CleanOptions::default(), &cancel).expect("nobody cancels");
    transform(&cleaned, &TRANSFORM, &cancel).expect("nobody cancels")
}

/// A grammar, and held-out sentences of its language.
pub struct Counted {
    /// The grammar.
    pub grammar: Arc<Grammar>,
    /// Its binary rules in the order in which they were given.
    pub binary: Vec<([u32; 3], f64)>,
    /// The count of each symbol.
    pub weights: Vec<f64>,
    /// The symbol of each entry of the lexicon.
    pub entry_symbols: Vec<u32>,
    language: Language,
    words: HashMap<String, u32>,
}

impl Counted {
    /// Count the grammar; the same one every time.
    pub fn new() -> Self {
        let language = Language::new(LANGUAGE);
        let table = node_table(&language.treebank(TREES, &mut Random::new(TRAINING)));
        let words = table.words.iter().cloned().zip(0..).collect();
        let counts = Counts::new(&table);
        Self {
            grammar: Arc::new(counts.grammar(&table)),
            binary: counts.binary(),
            entry_symbols: counts.emitted.keys().map(|&(_, symbol)| symbol).collect(),
            weights: counts.weights,
            language,
            words,
        }
    }

    /// The given number of sentences of a length; all their words are known.
    pub fn sentences(&self, length: usize, number: usize) -> Vec<Vec<Token>> {
        let mut random = Random::new(HELD_OUT);
        let mut found = Vec::new();
        while found.len() < number {
            let table = node_table(&self.language.treebank(1_000, &mut random));
            let sentences = table.tree_offsets.windows(2).map(|ends| {
                let words = table.word[ends[0]..ends[1]]
                    .iter()
                    .filter(|&&word| word >= 0);
                words
                    .map(|&word| self.words.get(&table.words[word as usize]).copied())
                    .map(|known| known.map(Token::Word))
                    .collect::<Option<Vec<Token>>>()
            });
            found.extend(
                sentences
                    .flatten()
                    .filter(|sentence| sentence.len() == length),
            );
        }
        found.truncate(number);
        found
    }
}

/// The counts of a treebank.
struct Counts {
    weights: Vec<f64>,
    roots: Vec<f64>,
    uses: BTreeMap<[u32; 3], f64>,
    emitted: BTreeMap<(u32, u32), f64>,
}

impl Counts {
    fn new(table: &NodeTable) -> Self {
        let symbols = table.symbols.len();
        let mut counts = Self {
            weights: vec![0.0; symbols],
            roots: vec![0.0; symbols],
            uses: BTreeMap::new(),
            emitted: BTreeMap::new(),
        };
        for (node, &symbol) in table.symbol.iter().enumerate() {
            counts.weights[symbol as usize] += 1.0;
            if table.parent[node] < 0 {
                counts.roots[symbol as usize] += 1.0;
            }
            if table.word[node] >= 0 {
                let entry = (table.word[node] as u32, symbol);
                *counts.emitted.entry(entry).or_default() += 1.0;
            } else {
                let child = |child: i32| table.symbol[child as usize];
                let rule = [symbol, child(table.left[node]), child(table.right[node])];
                *counts.uses.entry(rule).or_default() += 1.0;
            }
        }
        counts
    }

    fn binary(&self) -> Vec<([u32; 3], f64)> {
        let probability =
            |(&rule, count): (&[u32; 3], &f64)| (rule, count / self.weights[rule[0] as usize]);
        self.uses.iter().map(probability).collect()
    }

    fn grammar(&self, table: &NodeTable) -> Grammar {
        let trees = (table.tree_offsets.len() - 1) as f64;
        let roots = self.roots.iter().map(|root| root / trees).collect();
        let rule = |(symbols, probability): ([u32; 3], f64)| {
            let [parent, left, right] = symbols.map(SymbolId);
            BinaryRule {
                parent,
                left,
                right,
                probability,
            }
        };
        let binary = self.binary().into_iter().map(rule).collect();
        let rules = Rules::new(roots, binary, Vec::new()).expect("counts are good probabilities");
        Grammar::new(
            rules,
            emissions(table, &self.emitted, &self.weights),
            output(&table.symbols),
            Some((&coarse_classes(&table.symbols), &self.weights)),
            &Cancel::new(),
        )
        .expect("the parts of the grammar fit each other")
    }
}

fn emissions(table: &NodeTable, emitted: &BTreeMap<(u32, u32), f64>, weights: &[f64]) -> Emissions {
    let mut offsets = vec![0; table.words.len() + 1];
    let (mut symbols, mut probabilities) = (Vec::new(), Vec::new());
    for (&(word, symbol), count) in emitted {
        symbols.push(symbol);
        probabilities.push(count / weights[symbol as usize]);
        offsets[word as usize + 1] = symbols.len();
    }
    let tags: Vec<i32> = table
        .symbols
        .iter()
        .map(|symbol| match symbol.preterminal {
            true => symbol.labels[symbol.labels.len() - 1] as i32,
            false => -1,
        })
        .collect();
    Emissions::new(offsets, symbols, probabilities, &tags).expect("every word was emitted")
}

fn output(symbols: &[Symbol]) -> Output {
    let (mut offsets, mut labels) = (vec![0], Vec::new());
    for symbol in symbols {
        if symbol.siblings.is_none() {
            labels.extend(&symbol.labels);
        }
        offsets.push(labels.len() as u32);
    }
    Output::new(offsets, labels).expect("offsets ascend")
}

/// Symbols that differ only in their annotation are merged, as the Python package does.
fn coarse_classes(symbols: &[Symbol]) -> Vec<u32> {
    let mut classes = HashMap::new();
    let mut class = |symbol: &Symbol| {
        let tag = symbol.preterminal && symbol.labels.len() == 1;
        let next = classes.len() as u32;
        *classes
            .entry((symbol.siblings.is_some(), tag, symbol.labels[0]))
            .or_insert(next)
    };
    symbols.iter().map(&mut class).collect()
}
