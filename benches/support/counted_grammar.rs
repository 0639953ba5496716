//! A grammar counted from random trees as the PCFG estimator counts one from a treebank.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lpcfg_core::clean::{CleanOptions, clean};
use lpcfg_core::grammar::{BinaryRule, Emissions, Grammar, Output, Rules, SymbolId, Token};
use lpcfg_core::node_table::{NodeTable, Symbol};
use lpcfg_core::transform::transform;

use crate::pipeline::{TRANSFORM, read};
use crate::random_trees::{Language, Random};

const TREES: usize = 8_000;
const LANGUAGE: u64 = 7;
const TRAINING: u64 = 1;
const HELD_OUT: u64 = 2;

fn node_table(text: &str) -> NodeTable {
    transform(&clean(&read(text), &CleanOptions::default()), &TRANSFORM)
}

/// A grammar, and sentences of its language that it was not counted from.
pub struct Counted {
    /// The grammar.
    pub grammar: Arc<Grammar>,
    language: Language,
    words: HashMap<String, u32>,
}

impl Counted {
    /// Count the grammar; the same one every time.
    pub fn new() -> Self {
        let language = Language::new(LANGUAGE);
        let table = node_table(&language.treebank(TREES, &mut Random::new(TRAINING)));
        let words = table.words.iter().cloned().zip(0..).collect();
        Self {
            grammar: Arc::new(grammar(&table)),
            language,
            words,
        }
    }

    /// So many sentences of a length; all their words are known.
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

fn grammar(table: &NodeTable) -> Grammar {
    let symbols = table.symbols.len();
    let mut weights = vec![0.0; symbols];
    let mut roots = vec![0.0; symbols];
    let mut uses: BTreeMap<[u32; 3], f64> = BTreeMap::new();
    let mut emitted: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for (node, &symbol) in table.symbol.iter().enumerate() {
        weights[symbol as usize] += 1.0;
        if table.parent[node] < 0 {
            roots[symbol as usize] += 1.0;
        }
        if table.word[node] >= 0 {
            *emitted
                .entry((table.word[node] as u32, symbol))
                .or_default() += 1.0;
        } else {
            let child = |child: i32| table.symbol[child as usize];
            *uses
                .entry([symbol, child(table.left[node]), child(table.right[node])])
                .or_default() += 1.0;
        }
    }
    let trees = (table.tree_offsets.len() - 1) as f64;
    roots.iter_mut().for_each(|root| *root /= trees);
    let binary = uses
        .iter()
        .map(|(rule, count)| {
            let [parent, left, right] = rule.map(SymbolId);
            BinaryRule {
                parent,
                left,
                right,
                probability: count / weights[parent.index()],
            }
        })
        .collect();
    let rules = Rules::new(roots, binary, Vec::new()).expect("counts are good probabilities");
    Grammar::new(
        rules,
        emissions(table, &emitted, &weights),
        output(&table.symbols),
        Some((&coarse_classes(&table.symbols), &weights)),
    )
    .expect("the parts of the grammar fit each other")
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

/// Symbols that differ only in their annotation are merged, as `coarse.py` does it.
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
