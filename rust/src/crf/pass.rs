//! Inside-outside over the items of a pruned chart, with rules weighed by features of their words.
//!
//! The weight of a tree is its probability under the grammar times exp(w . f), where f counts the
//! features of its words, spans, splits and rules: a conditional random field over anchored rules
//! (Hall et al. 2014), for which the grammar prunes and is the prior. Or else, for
//! comparison, each span has one of the kinds of symbols that the chart has there, or none,
//! whatever other spans have.

use super::parts::Parts;
use super::tagging::tagged;
use super::templates::{span_features, split_features, word_features};
use super::tokens::TokenAttributes;
use super::weights::{CrfModel, Loss};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Chart;
use crate::chart::edges::{Edge, EdgeFinder};
use crate::decode::Words;
use crate::grammar::{Grammar, SymbolId};
use crate::numeric::scaling::Scaled;

/// Differences between expected and observed that are not worth a change of weights.
const NEGLIGIBLE: f64 = 1e-3;

/// The gradient of a log-probability: places of weights, and derivatives to be added up.
pub type Gradient = Vec<(u32, f32)>;

/// A binary rule over its words.
#[derive(Debug, Clone, Copy)]
struct WeighedEdge {
    item: u32,
    left: u32,
    right: u32,
    /// The parent over its split span.
    part: u32,
    /// Where the weight of the rule is.
    rule: u32,
    /// The probability of the rule times the weights of the rule and of the split.
    weight: Scaled,
}

impl WeighedEdge {
    /// Whether a tree, given by its items, has the edge: all spans of a tree that join into another
    /// one are its parts.
    #[inline]
    fn is_in(&self, tree: &[bool]) -> bool {
        [self.item, self.left, self.right].into_iter().all(|item| tree[item as usize])
    }

    /// The sum over the trees in which the edge is at the top, without its parent's own weight.
    #[inline]
    fn value(&self, inside: &[Scaled]) -> Scaled {
        let children = inside[self.left as usize].times(inside[self.right as usize]);
        children.times(self.weight)
    }
}

/// Memory for passes, reused from sentence to sentence.
#[derive(Debug, Default)]
pub struct CrfPass {
    parts: Parts,
    part_of_item: Vec<u32>,
    finder: EdgeFinder,
    /// In the order of cells, shorter spans first.
    edges: Vec<WeighedEdge>,
    edge_ranges: Vec<(usize, usize)>,
    /// Where the edges of each cell start.
    first_edge: Vec<usize>,
    /// What items weigh by themselves: features, emission and root.
    own: Vec<Scaled>,
    /// Sums over the trees of items, with what they weigh by themselves and without.
    inside: Vec<Scaled>,
    below: Vec<Scaled>,
    log_partition: f64,
    posteriors: Vec<f64>,
    edge_posteriors: Vec<f64>,
}

impl CrfPass {
    /// About how many bytes an edge takes, with its part of what its split has.
    pub(crate) const EDGE_BYTES: usize = 2 * size_of::<WeighedEdge>() + 64;

    /// Sum over the trees of a pruned chart, given the words of the sentence as features see them
    /// and as the grammar does. The tags that features see are the likeliest ones of the chart.
    pub fn run(
        &mut self,
        grammar: &Grammar,
        model: &CrfModel,
        sentence: &[TokenAttributes],
        words: &Words,
        chart: &Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        self.parts.reset(model);
        let sentence = &tagged(model, sentence, chart);
        self.weigh_items(grammar, model, sentence, words, chart, cancel)?;
        self.edges.clear();
        self.edge_ranges.clear();
        self.edge_posteriors.clear();
        self.posteriors.clear();
        self.posteriors.resize(chart.len(), 0.0);
        match model.loss {
            Loss::Crf => {
                self.weigh_edges(grammar, model, sentence, chart, cancel)?;
                self.sum_trees(chart);
            }
            Loss::Independent => self.sum_cells(chart),
        }
        Ok(())
    }

    fn sum_trees(&mut self, chart: &Chart) {
        self.sum_inside(chart);
        let whole = chart.items(chart.cells().index(0, chart.cells().words()));
        let total =
            self.inside[whole.clone()].iter().fold(Scaled::ZERO, |sum, &tree| sum.plus(tree));
        self.log_partition = total.logarithm();
        self.edge_posteriors.resize(self.edges.len(), 0.0);
        if !total.is_zero() {
            for item in whole {
                self.posteriors[item] = self.inside[item].ratio(total);
            }
            self.descend();
        }
    }

    /// One sum for each cell: no tree holds spans together.
    fn sum_cells(&mut self, chart: &Chart) {
        self.log_partition = 0.0;
        let words = chart.cells().words();
        for (start, end) in chart.cells().bottom_up() {
            let items = chart.items(chart.cells().index(start, end));
            // A word has a tag and a sentence a root; other spans may be no part of the tree.
            let is_needed = end - start == 1 || end - start == words;
            let none = if is_needed { Scaled::ZERO } else { Scaled::ONE };
            // The items of one kind divide its weight among them.
            let kind_size = |item: usize| {
                let part = self.part_of_item[item];
                items.clone().filter(|&other| self.part_of_item[other] == part).count() as f64
            };
            let weights: Vec<Scaled> = items
                .clone()
                .map(|item| self.own[item].times(Scaled::from_log(-kind_size(item).ln())))
                .collect();
            let total = weights.iter().fold(none, |sum, &weight| sum.plus(weight));
            if total.is_zero() {
                continue;
            }
            self.log_partition += total.logarithm();
            for (item, weight) in items.zip(weights) {
                self.posteriors[item] = weight.ratio(total);
            }
        }
    }

    fn weigh_items(
        &mut self,
        grammar: &Grammar,
        model: &CrfModel,
        sentence: &[TokenAttributes],
        words: &Words,
        chart: &Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        self.part_of_item.clear();
        self.own.clear();
        for (start, end) in chart.cells().bottom_up() {
            let items = chart.items(chart.cells().index(start, end));
            if items.is_empty() {
                continue;
            }
            cancel.check()?;
            let is_word = end - start == 1;
            if is_word {
                word_features(sentence, start, self.parts.found());
            } else {
                span_features(sentence, start, end, self.parts.found());
            }
            let features = self.parts.keep_features(model);
            // Items lie in the order of their cells.
            debug_assert_eq!(items.start, self.own.len());
            for item in items {
                let symbol = chart.symbol(item);
                let part = self.parts.get(model, symbol, features);
                let mut probability = 1.0;
                if is_word {
                    probability *= emission(&words[start], symbol);
                }
                if end - start == sentence.len() {
                    probability *= grammar.rules().roots()[symbol.index()];
                }
                let score = self.parts.score(part) + prior_score(model.prior_weight, probability);
                self.own.push(Scaled::from_log(score));
                self.part_of_item.push(part);
            }
        }
        Ok(())
    }

    fn weigh_edges(
        &mut self,
        grammar: &Grammar,
        model: &CrfModel,
        sentence: &[TokenAttributes],
        chart: &Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        self.first_edge.clear();
        self.first_edge.resize(chart.cells().count(), 0);
        let mut finder = std::mem::take(&mut self.finder);
        for (start, end) in chart.cells().bottom_up() {
            cancel.check()?;
            let first = self.edges.len();
            self.first_edge[chart.cells().index(start, end)] = first;
            let mut split = 0;
            let mut features = (0, 0);
            finder.for_each(grammar, chart, start, end, |edge| {
                if edge.places[1] != split {
                    split = edge.places[1];
                    split_features(sentence, edge.places, self.parts.found());
                    features = self.parts.keep_features(model);
                }
                let part = self.parts.get(model, chart.symbol(edge.item), features);
                let rule =
                    model.rule_place([edge.item, edge.left, edge.right].map(|i| chart.symbol(i)));
                let rule_score = f64::from(model.weights.values()[rule]);
                let score = self.parts.score(part)
                    + rule_score
                    + prior_score(model.prior_weight, edge.probability);
                self.edges.push(WeighedEdge {
                    item: edge.item as u32,
                    left: edge.left as u32,
                    right: edge.right as u32,
                    part,
                    rule: rule as u32,
                    weight: Scaled::from_log(score),
                });
            });
            self.edge_ranges.push((first, self.edges.len()));
        }
        self.finder = finder;
        Ok(())
    }

    fn sum_inside(&mut self, chart: &Chart) {
        self.below.clear();
        self.below.resize(chart.len(), Scaled::ZERO);
        self.inside.clear();
        self.inside.resize(chart.len(), Scaled::ZERO);
        for ((start, end), &(first, last)) in chart.cells().bottom_up().zip(&self.edge_ranges) {
            let items = chart.items(chart.cells().index(start, end));
            if end - start == 1 {
                self.below[items.clone()].fill(Scaled::ONE);
            }
            for edge in &self.edges[first..last] {
                let sum = &mut self.below[edge.item as usize];
                *sum = sum.plus(edge.value(&self.inside));
            }
            for item in items {
                self.inside[item] = self.own[item].times(self.below[item]);
            }
        }
    }

    /// Hand the posteriors of items down to their parts, wider spans first.
    fn descend(&mut self) {
        for (number, edge) in self.edges.iter().enumerate().rev() {
            let above = self.posteriors[edge.item as usize];
            if above == 0.0 {
                continue;
            }
            let posterior = above * edge.value(&self.inside).ratio(self.below[edge.item as usize]);
            self.edge_posteriors[number] = posterior;
            for part in [edge.left, edge.right] {
                self.posteriors[part as usize] += posterior;
            }
        }
    }

    /// The logarithm of the sum over all trees, minus infinity if there is none.
    pub fn log_partition(&self) -> f64 {
        self.log_partition
    }

    /// The logarithm of what an item weighs by itself.
    pub fn log_weight(&self, item: usize) -> f64 {
        self.own[item].logarithm()
    }

    /// The logarithm of what an edge weighs; nothing where spans are independent.
    pub fn log_edge_weight(&self, edge: &Edge) -> f64 {
        self.edges.get(self.edge_place(edge)).map_or(0.0, |edge| edge.weight.logarithm())
    }

    /// The posterior of an edge, where spans are independent that of its parent.
    pub fn edge_posterior(&self, edge: &Edge) -> f64 {
        let own = self.edge_posteriors.get(self.edge_place(edge));
        own.copied().unwrap_or(self.posteriors[edge.item])
    }

    fn edge_place(&self, edge: &Edge) -> usize {
        self.first_edge.get(edge.cell).map_or(usize::MAX, |first| first + edge.number)
    }

    /// The posterior of an item.
    pub fn posterior(&self, item: usize) -> f64 {
        self.posteriors[item]
    }

    /// The logarithm of the probability of a tree, given by its items.
    pub fn log_probability(&self, tree: &[bool]) -> f64 {
        let items = self.own.iter().zip(tree).filter(|item| *item.1).map(|item| item.0.logarithm());
        let edges = self.edges.iter().filter(|edge| edge.is_in(tree)).map(|e| e.weight.logarithm());
        items.sum::<f64>() + edges.sum::<f64>() - self.log_partition
    }

    /// The gradient of the log-probability of a tree, given by its items, with respect to the weights.
    pub fn gradient(&self, model: &CrfModel, tree: &[bool]) -> Gradient {
        let mut differences = vec![0.0; self.parts.len()];
        let mut gradient = Vec::new();
        for (item, &part) in self.part_of_item.iter().enumerate() {
            differences[part as usize] -= self.posteriors[item];
            if tree[item] {
                differences[part as usize] += 1.0;
            }
        }
        for (edge, &posterior) in self.edges.iter().zip(&self.edge_posteriors) {
            let difference = f64::from(u8::from(edge.is_in(tree))) - posterior;
            differences[edge.part as usize] += difference;
            if difference.abs() >= NEGLIGIBLE {
                gradient.push((edge.rule, difference as f32));
            }
        }
        for (part, &difference) in differences.iter().enumerate() {
            if difference.abs() < NEGLIGIBLE {
                continue;
            }
            self.parts.for_each_weight(model, part, |place| {
                gradient.push((place as u32, difference as f32));
            });
        }
        gradient
    }
}

/// The probability with which a preterminal emits a word.
fn emission(word: &[(SymbolId, f64)], symbol: SymbolId) -> f64 {
    word.iter().find(|entry| entry.0 == symbol).map_or(0.0, |entry| entry.1)
}

/// The part of a score that comes from the grammar; what it rules out stays impossible.
fn prior_score(weight: f64, probability: f64) -> f64 {
    if probability > 0.0 { weight * probability.ln() } else { f64::NEG_INFINITY }
}
