//! Inside-outside of the CRF over the items of a pruned chart.
//!
//! The weight of a tree is its prior, raised to the power of the prior weight, times exp(w . f). Here f counts the features of its words, spans, split points and rules
//! (Hall, Durrett & Klein 2014). With [`Loss::Independent`], for comparison, the label of each span
//! is predicted independently of all others: one of the kinds of symbols of its cell, or none.

use super::parts::Parts;
use super::prior::Prior;
use super::tagging::tagged;
use super::templates::{span_features, split_features, word_features};
use super::tokens::TokenAttributes;
use super::weights::{CrfModel, Loss};
use crate::cancel::{Cancel, Cancelled};
use crate::chart::Chart;
use crate::chart::edges::{Edge, EdgeFinder};
use crate::grammar::Grammar;
use crate::numeric::scaling::Scaled;

/// Smaller differences between observed and expected counts do not change weights.
const NEGLIGIBLE: f64 = 1e-3;

/// The gradient of a log-probability: indices of weights, and derivatives to be summed.
pub type Gradient = Vec<(u32, f32)>;

/// An anchored binary rule with its weight.
#[derive(Debug, Clone, Copy)]
struct WeightedEdge {
    item: u32,
    left: u32,
    right: u32,
    /// The part of the parent's kind at the span and its split point.
    part: u32,
    /// The index of the weight of the rule.
    rule: u32,
    /// The prior of the rule times the exponentiated scores of the rule and of the part.
    weight: Scaled,
}

impl WeightedEdge {
    /// Whether a tree, given by its items, has the edge. It is enough that it has all three items:
    /// two adjacent spans of a tree that form another of its spans are the children of that span.
    #[inline]
    fn is_in(&self, tree: &[bool]) -> bool {
        [self.item, self.left, self.right].into_iter().all(|item| tree[item as usize])
    }

    /// The inside sum of the edge, without the weight of its parent.
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
    /// All edges in the order of cells, shorter spans first.
    edges: Vec<WeightedEdge>,
    edge_ranges: Vec<(usize, usize)>,
    /// Where the edges of each cell start.
    first_edge: Vec<usize>,
    /// The weights of items: features, emission and root.
    item_weights: Vec<Scaled>,
    /// The inside sums of items.
    inside: Vec<Scaled>,
    /// The inside sums of items without their own weights: sums over their edges.
    edge_sums: Vec<Scaled>,
    log_partition: f64,
    posteriors: Vec<f64>,
    edge_posteriors: Vec<f64>,
}

impl CrfPass {
    /// The approximate number of bytes of an edge, with the features of its split point.
    pub(crate) const EDGE_BYTES: usize = 2 * size_of::<WeightedEdge>() + 64;

    /// Sum over the trees of a pruned chart, given the attributes of the words for the features and
    /// the prior. Features use the most probable tags of the chart.
    pub fn run(
        &mut self,
        grammar: &Grammar,
        model: &CrfModel,
        sentence: &[TokenAttributes],
        chart: &Chart,
        prior: Prior<'_>,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let sentence = tagged(model, sentence, chart);
        self.run_tagged(grammar, model, &sentence, chart, prior, cancel)
    }

    /// As [`run`](Self::run), for words that have their tags already. Of the chart, only the items
    /// are used.
    pub(super) fn run_tagged(
        &mut self,
        grammar: &Grammar,
        model: &CrfModel,
        sentence: &[TokenAttributes],
        chart: &Chart,
        prior: Prior<'_>,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        self.parts.reset(model);
        self.score_items(grammar, model, sentence, chart, prior, cancel)?;
        self.edges.clear();
        self.edge_ranges.clear();
        self.edge_posteriors.clear();
        self.posteriors.clear();
        self.posteriors.resize(chart.len(), 0.0);
        match model.loss {
            Loss::Crf => {
                self.score_edges(grammar, model, sentence, chart, prior, cancel)?;
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
            self.propagate_posteriors();
        }
    }

    /// Sum over the labels of each cell by itself ([`Loss::Independent`]).
    fn sum_cells(&mut self, chart: &Chart) {
        self.log_partition = 0.0;
        let words = chart.cells().words();
        for (start, end) in chart.cells().bottom_up() {
            let items = chart.items(chart.cells().index(start, end));
            // Every word has a tag and every sentence a root; other spans may have no label.
            let is_needed = end - start == 1 || end - start == words;
            let none = if is_needed { Scaled::ZERO } else { Scaled::ONE };
            // The items of one kind share its weight equally.
            let kind_size = |item: usize| {
                let part = self.part_of_item[item];
                items.clone().filter(|&other| self.part_of_item[other] == part).count() as f64
            };
            let weights: Vec<Scaled> = items
                .clone()
                .map(|item| self.item_weights[item].times(Scaled::from_log(-kind_size(item).ln())))
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

    fn score_items(
        &mut self,
        grammar: &Grammar,
        model: &CrfModel,
        sentence: &[TokenAttributes],
        chart: &Chart,
        prior: Prior<'_>,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        self.part_of_item.clear();
        self.item_weights.clear();
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
            debug_assert_eq!(items.start, self.item_weights.len());
            for item in items {
                let symbol = chart.symbol(item);
                let part = self.parts.get(model, symbol, features);
                let log_prior = prior.log_item(grammar, chart, item, (start, end));
                let score = self.parts.score(part) + prior_score(model.prior_weight, log_prior);
                self.item_weights.push(Scaled::from_log(score));
                self.part_of_item.push(part);
            }
        }
        Ok(())
    }

    fn score_edges(
        &mut self,
        grammar: &Grammar,
        model: &CrfModel,
        sentence: &[TokenAttributes],
        chart: &Chart,
        prior: Prior<'_>,
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
                if edge.boundaries[1] != split {
                    split = edge.boundaries[1];
                    split_features(sentence, edge.boundaries, self.parts.found());
                    features = self.parts.keep_features(model);
                }
                let part = self.parts.get(model, chart.symbol(edge.item), features);
                let rule =
                    model.rule_index([edge.item, edge.left, edge.right].map(|i| chart.symbol(i)));
                let rule_score = f64::from(model.weights.values()[rule]);
                let score = self.parts.score(part)
                    + rule_score
                    + prior_score(model.prior_weight, prior.log_edge(&edge, self.edges.len()));
                self.edges.push(WeightedEdge {
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
        self.edge_sums.clear();
        self.edge_sums.resize(chart.len(), Scaled::ZERO);
        self.inside.clear();
        self.inside.resize(chart.len(), Scaled::ZERO);
        for ((start, end), &(first, last)) in chart.cells().bottom_up().zip(&self.edge_ranges) {
            let items = chart.items(chart.cells().index(start, end));
            if end - start == 1 {
                self.edge_sums[items.clone()].fill(Scaled::ONE);
            }
            for edge in &self.edges[first..last] {
                let sum = &mut self.edge_sums[edge.item as usize];
                *sum = sum.plus(edge.value(&self.inside));
            }
            for item in items {
                self.inside[item] = self.item_weights[item].times(self.edge_sums[item]);
            }
        }
    }

    /// Add the posterior of each edge to those of its children, wider spans first.
    fn propagate_posteriors(&mut self) {
        for (number, edge) in self.edges.iter().enumerate().rev() {
            let parent = self.posteriors[edge.item as usize];
            if parent == 0.0 {
                continue;
            }
            let posterior =
                parent * edge.value(&self.inside).ratio(self.edge_sums[edge.item as usize]);
            self.edge_posteriors[number] = posterior;
            for child in [edge.left, edge.right] {
                self.posteriors[child as usize] += posterior;
            }
        }
    }

    /// The logarithm of the sum of the weights of all trees, minus infinity if there are none.
    pub fn log_partition(&self) -> f64 {
        self.log_partition
    }

    /// The logarithm of the weight of an item.
    pub fn log_weight(&self, item: usize) -> f64 {
        self.item_weights[item].logarithm()
    }

    /// The logarithm of the weight of an edge; zero where spans are independent.
    pub fn log_edge_weight(&self, edge: &Edge) -> f64 {
        self.edges.get(self.edge_index(edge)).map_or(0.0, |edge| edge.weight.logarithm())
    }

    /// The posterior of an edge; where spans are independent, the posterior of its parent.
    pub fn edge_posterior(&self, edge: &Edge) -> f64 {
        let posterior = self.edge_posteriors.get(self.edge_index(edge));
        posterior.copied().unwrap_or(self.posteriors[edge.item])
    }

    fn edge_index(&self, edge: &Edge) -> usize {
        self.first_edge.get(edge.cell).map_or(usize::MAX, |first| first + edge.number)
    }

    /// The posterior of an item.
    pub fn posterior(&self, item: usize) -> f64 {
        self.posteriors[item]
    }

    /// The logarithm of the probability of a tree, given by its items.
    pub fn log_probability(&self, tree: &[bool]) -> f64 {
        let items = self
            .item_weights
            .iter()
            .zip(tree)
            .filter(|item| *item.1)
            .map(|item| item.0.logarithm());
        let edges = self.edges.iter().filter(|edge| edge.is_in(tree)).map(|e| e.weight.logarithm());
        items.sum::<f64>() + edges.sum::<f64>() - self.log_partition
    }

    /// The gradient of the log-probability of a tree, given by its items, with respect to the
    /// weights.
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
            self.parts.for_each_weight(model, part, |index| {
                gradient.push((index as u32, difference as f32));
            });
        }
        gradient
    }
}

/// The contribution of the prior to a score; what the prior rules out stays impossible.
fn prior_score(weight: f64, log_prior: f64) -> f64 {
    if log_prior == f64::NEG_INFINITY { log_prior } else { weight * log_prior }
}
