//! The k best derivations, found lazily (Huang & Chiang 2005, algorithm 3).
//!
//! The best derivation of every item is known from [`Best`]. Ranked lists are only made for the
//! items that the next derivation of the whole sentence turns out to need.

use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::{Best, Derivation, Objective, PackedForest};
use crate::chart::edges::EdgeFinder;

/// A place with a ranked list of derivations: an item with or without unary chains on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Sentence,
    Item { item: usize, start: usize, end: usize },
    WithoutChain { item: usize, start: usize, end: usize },
}

/// One way of making a place out of others.
#[derive(Debug, Clone)]
struct Edge {
    kind: EdgeKind,
    /// What it adds to the scores of its parts.
    score: f64,
    /// The logarithm of the probability of its rules.
    log_probability: f64,
    parts: Vec<Place>,
}

#[derive(Debug, Clone, Copy)]
enum EdgeKind {
    Root,
    Rule,
    Chain { number: usize },
}

/// An edge with the rank of the derivation chosen for each of its parts.
#[derive(Debug, Clone)]
struct Candidate {
    score: f64,
    edge: usize,
    ranks: [usize; 2],
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // Ties are broken by the order of edges, so that the result is always the same.
        self.score
            .total_cmp(&other.score)
            .then_with(|| (other.edge, other.ranks).cmp(&(self.edge, self.ranks)))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Debug, Default)]
struct Ranking {
    edges: Vec<Edge>,
    found: Vec<Candidate>,
    waiting: BinaryHeap<Candidate>,
    /// How many of `found` have had their successors put into `waiting`.
    expanded: usize,
}

/// Ranked derivations of a sentence.
pub struct KBest<'a, O> {
    forest: PackedForest<'a>,
    objective: &'a O,
    best: &'a Best,
    rankings: FxHashMap<Place, Ranking>,
}

impl<'a, O: Objective> KBest<'a, O> {
    /// Start from the best scores, which `best` must have been filled with for this objective.
    pub fn new(forest: PackedForest<'a>, objective: &'a O, best: &'a Best) -> Self {
        Self { forest, objective, best, rankings: FxHashMap::default() }
    }

    /// The derivation of a given rank, zero for the best, with its score; none if there are fewer.
    pub fn tree(&mut self, rank: usize) -> Option<(f64, Derivation)> {
        let score = self.ranked(Place::Sentence, rank)?;
        let mut derivation = Derivation { nodes: Vec::new(), log_probability: 0.0 };
        self.write(Place::Sentence, rank, &mut derivation);
        Some((score, derivation))
    }

    /// The score of the derivation of a given rank.
    fn ranked(&mut self, place: Place, rank: usize) -> Option<f64> {
        if !self.rankings.contains_key(&place) {
            let ranking = self.start(place);
            self.rankings.insert(place, ranking);
        }
        loop {
            let ranking = self.rankings.get_mut(&place).expect("was just made");
            if let Some(candidate) = ranking.found.get(rank) {
                return Some(candidate.score);
            }
            if ranking.expanded < ranking.found.len() {
                let last = ranking.found[ranking.expanded].clone();
                ranking.expanded += 1;
                self.push_successors(place, &last);
                continue;
            }
            let candidate = ranking.waiting.pop()?;
            ranking.found.push(candidate);
        }
    }

    /// Queue the candidates that differ from `candidate` by one rank. A part's rank is only raised
    /// if those after it are zero, so that each combination is queued once.
    fn push_successors(&mut self, place: Place, candidate: &Candidate) {
        let edge = self.rankings[&place].edges[candidate.edge].clone();
        for (number, &part) in edge.parts.iter().enumerate() {
            if candidate.ranks[number + 1..].iter().any(|&rank| rank > 0) {
                continue;
            }
            let mut ranks = candidate.ranks;
            ranks[number] += 1;
            let Some(raised) = self.ranked(part, ranks[number]) else { continue };
            let previous =
                self.ranked(part, candidate.ranks[number]).expect("a better one was found");
            let score = candidate.score - previous + raised;
            let ranking = self.rankings.get_mut(&place).expect("its candidate exists");
            ranking.waiting.push(Candidate { score, edge: candidate.edge, ranks });
        }
    }

    fn start(&self, place: Place) -> Ranking {
        let mut ranking = Ranking { edges: self.edges(place), ..Ranking::default() };
        for (number, edge) in ranking.edges.iter().enumerate() {
            let parts: f64 = edge.parts.iter().map(|&part| self.best_score(part)).sum();
            if edge.score + parts > f64::NEG_INFINITY {
                ranking.waiting.push(Candidate {
                    score: edge.score + parts,
                    edge: number,
                    ranks: [0, 0],
                });
            }
        }
        ranking
    }

    fn best_score(&self, place: Place) -> f64 {
        match place {
            Place::Sentence => unreachable!("the sentence is no part of anything"),
            Place::Item { item, .. } => self.best.score(item),
            Place::WithoutChain { item, .. } => self.best.rule_score(item),
        }
    }

    fn edges(&self, place: Place) -> Vec<Edge> {
        match place {
            Place::Sentence => self.root_edges(),
            Place::Item { item, start, end } => self.chain_edges(item, start, end),
            Place::WithoutChain { item, start, end } => self.rule_edges(item, start, end),
        }
    }

    fn root_edges(&self) -> Vec<Edge> {
        let chart = self.forest.chart;
        let words = chart.cells().words();
        let mut edges = Vec::new();
        for item in chart.items(chart.cells().index(0, words)) {
            let root = self.forest.grammar.rules().roots()[chart.symbol(item).index()];
            if root > 0.0 {
                edges.push(Edge {
                    kind: EdgeKind::Root,
                    score: self.objective.root(item, root),
                    log_probability: root.ln(),
                    parts: vec![Place::Item { item, start: 0, end: words }],
                });
            }
        }
        edges
    }

    fn chain_edges(&self, item: usize, start: usize, end: usize) -> Vec<Edge> {
        let mut edges = vec![Edge {
            kind: EdgeKind::Rule,
            score: 0.0,
            log_probability: 0.0,
            parts: vec![Place::WithoutChain { item, start, end }],
        }];
        let unary = self.forest.grammar.unary();
        if unary.is_empty() {
            return edges;
        }
        let chart = self.forest.chart;
        let cell = chart.cells().index(start, end);
        for bottom in chart.items(cell) {
            for (number, chain) in unary.chains(chart.symbol(bottom)).iter().enumerate() {
                let path = unary.path(chain);
                if chain.top != chart.symbol(item) || path.len() == 1 {
                    continue;
                }
                let Some(path_items) = self.forest.chain_items(cell, path) else { continue };
                edges.push(Edge {
                    kind: EdgeKind::Chain { number },
                    score: self.objective.chain(&path_items, chain.best),
                    log_probability: chain.best,
                    parts: vec![Place::WithoutChain { item: bottom, start, end }],
                });
            }
        }
        edges
    }

    fn rule_edges(&self, item: usize, start: usize, end: usize) -> Vec<Edge> {
        let chart = self.forest.chart;
        let mut edges = Vec::new();
        if end - start == 1 {
            let cell = chart.cells().index(start, end);
            let probability = self.forest.emission(start, chart.symbol(item));
            if probability > 0.0 {
                edges.push(Edge {
                    kind: EdgeKind::Rule,
                    score: self.objective.emission(cell, item, probability),
                    log_probability: probability.ln(),
                    parts: Vec::new(),
                });
            }
        }
        let finder = &mut EdgeFinder::default();
        finder.for_each(self.forest.grammar, chart, start, end, |edge| {
            if edge.item == item {
                let split = edge.places[1];
                edges.push(Edge {
                    kind: EdgeKind::Rule,
                    score: self.objective.binary(&edge),
                    log_probability: edge.probability.ln(),
                    parts: vec![
                        Place::Item { item: edge.left, start, end: split },
                        Place::Item { item: edge.right, start: split, end },
                    ],
                });
            }
        });
        edges
    }

    /// Append the derivation of a given rank, which has been found before.
    fn write(&self, place: Place, rank: usize, derivation: &mut Derivation) {
        let mut stack = vec![(place, rank)];
        while let Some((place, rank)) = stack.pop() {
            // A place that was only ever needed at its best may not have been ranked yet.
            let fresh;
            let ranking = match self.rankings.get(&place) {
                Some(ranking) if ranking.found.len() > rank => ranking,
                _ => {
                    let mut ranking = self.start(place);
                    let first = ranking.waiting.pop().expect("has a best derivation");
                    ranking.found.push(first);
                    fresh = ranking;
                    &fresh
                }
            };
            let candidate = &ranking.found[rank];
            let edge = &ranking.edges[candidate.edge];
            derivation.log_probability += edge.log_probability;
            match (place, edge.kind) {
                (Place::WithoutChain { item, start, end }, EdgeKind::Chain { number }) => {
                    unreachable!("no chain {number} makes {item} over {start}-{end}")
                }
                (Place::Item { start, end, .. }, EdgeKind::Chain { number }) => {
                    let Place::WithoutChain { item, .. } = edge.parts[0] else {
                        unreachable!("a chain ends in an item without a chain")
                    };
                    let unary = self.forest.grammar.unary();
                    let chain = &unary.chains(self.forest.chart.symbol(item))[number];
                    let path = unary.path(chain);
                    for &symbol in &path[..path.len() - 1] {
                        derivation.push(symbol, start, end);
                    }
                }
                (Place::WithoutChain { item, start, end }, _) => {
                    derivation.push(self.forest.chart.symbol(item), start, end);
                }
                _ => {}
            }
            for (number, &part) in edge.parts.iter().enumerate().rev() {
                stack.push((part, candidate.ranks[number]));
            }
        }
    }
}
