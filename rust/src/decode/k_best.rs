//! The k best derivations, found lazily (Huang & Chiang 2005, algorithm 3).
//!
//! Derivations form a hypergraph, as in the paper: vertices are items, and hyperedges are the ways
//! to rewrite them. The best derivation of every item is known from [`Best`]. Ranked lists are only
//! computed for the vertices that the next derivation of the whole sentence needs.

use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::{Best, Derivation, Objective, PackedForest};
use crate::chart::edges::EdgeFinder;

/// A vertex of the hypergraph: the whole sentence, an item, or an item that is not rewritten by a
/// unary chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Vertex {
    Sentence,
    Item { item: usize, start: usize, end: usize },
    WithoutChain { item: usize, start: usize, end: usize },
}

/// A hyperedge: one way to derive a vertex from others, its tails.
#[derive(Debug, Clone)]
struct Hyperedge {
    kind: HyperedgeKind,
    /// What it adds to the scores of its tails.
    score: f64,
    /// The logarithm of the probability of its rules.
    log_probability: f64,
    tails: Vec<Vertex>,
}

#[derive(Debug, Clone, Copy)]
enum HyperedgeKind {
    Root,
    Rule,
    Chain { number: usize },
}

/// A derivation: a hyperedge, and the rank of the derivation of each of its tails.
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
        // Ties are broken by the order of hyperedges, so that the result is deterministic.
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

/// The ranked derivations of a vertex, as far as they are known.
#[derive(Debug, Default)]
struct Ranking {
    edges: Vec<Hyperedge>,
    found: Vec<Candidate>,
    queue: BinaryHeap<Candidate>,
    /// The number of elements of `found` whose successors have been added to `queue`.
    expanded: usize,
}

/// Ranked derivations of a sentence.
pub struct KBest<'a, O> {
    forest: PackedForest<'a>,
    objective: &'a O,
    best: &'a Best,
    rankings: FxHashMap<Vertex, Ranking>,
    /// The numbers of hyperedges and of candidates in all rankings.
    hyperedges: usize,
    candidates: usize,
    /// The number of bytes that rankings may take, and whether there are no derivations any more
    /// because they would take more.
    memory: usize,
    is_full: bool,
}

impl<'a, O: Objective> KBest<'a, O> {
    /// Start from the best scores; `best` must have been filled for the same objective.
    pub fn new(forest: PackedForest<'a>, objective: &'a O, best: &'a Best) -> Self {
        Self {
            forest,
            objective,
            best,
            rankings: FxHashMap::default(),
            hyperedges: 0,
            candidates: 0,
            memory: usize::MAX,
            is_full: false,
        }
    }

    /// The derivation of a given rank, zero for the best, with its score; none if there are fewer, or
    /// if more than about `memory` bytes would be needed to find it.
    pub fn tree(&mut self, rank: usize, memory: usize) -> Option<(f64, Derivation)> {
        self.memory = memory;
        let score = self.ranked(Vertex::Sentence, rank)?;
        if self.is_full {
            // What was not found may have been better.
            return None;
        }
        let mut derivation = Derivation { nodes: Vec::new(), log_probability: 0.0 };
        self.append(Vertex::Sentence, rank, &mut derivation);
        Some((score, derivation))
    }

    /// The approximate number of bytes in use. A growing vector may have twice the capacity that it
    /// needs, and candidates move from one vector to another.
    fn bytes(&self) -> usize {
        const HYPEREDGE: usize = 2 * size_of::<Hyperedge>() + 2 * size_of::<Vertex>();
        const RANKING: usize = 2 * (size_of::<Vertex>() + size_of::<Ranking>());
        self.hyperedges * HYPEREDGE
            + self.candidates * 4 * size_of::<Candidate>()
            + self.rankings.len() * RANKING
    }

    /// The score of the derivation of a given rank.
    fn ranked(&mut self, vertex: Vertex, rank: usize) -> Option<f64> {
        let known = self.rankings.get(&vertex).and_then(|ranking| ranking.found.get(rank));
        if let Some(candidate) = known {
            return Some(candidate.score);
        }
        // The best derivation needs only one ranking, and is found in any case.
        if rank > 0 && self.bytes() > self.memory {
            self.is_full = true;
            return None;
        }
        if !self.rankings.contains_key(&vertex) {
            let ranking = self.start(vertex);
            self.hyperedges += ranking.edges.len();
            self.candidates += ranking.queue.len();
            self.rankings.insert(vertex, ranking);
        }
        loop {
            let ranking = self.rankings.get_mut(&vertex).expect("was just made");
            if let Some(candidate) = ranking.found.get(rank) {
                return Some(candidate.score);
            }
            if ranking.expanded < ranking.found.len() {
                let last = ranking.found[ranking.expanded].clone();
                ranking.expanded += 1;
                self.push_successors(vertex, &last);
                continue;
            }
            let candidate = ranking.queue.pop()?;
            ranking.found.push(candidate);
        }
    }

    /// Queue the candidates that differ from `candidate` by one rank. The rank of a tail is only
    /// raised if those after it are zero, so that each combination is queued once.
    fn push_successors(&mut self, vertex: Vertex, candidate: &Candidate) {
        let edge = self.rankings[&vertex].edges[candidate.edge].clone();
        for (number, &tail) in edge.tails.iter().enumerate() {
            if candidate.ranks[number + 1..].iter().any(|&rank| rank > 0) {
                continue;
            }
            let mut ranks = candidate.ranks;
            ranks[number] += 1;
            let Some(raised) = self.ranked(tail, ranks[number]) else { continue };
            let previous =
                self.ranked(tail, candidate.ranks[number]).expect("a better one was found");
            let score = candidate.score - previous + raised;
            let ranking = self.rankings.get_mut(&vertex).expect("its candidate exists");
            ranking.queue.push(Candidate { score, edge: candidate.edge, ranks });
            self.candidates += 1;
        }
    }

    fn start(&self, vertex: Vertex) -> Ranking {
        let mut ranking = Ranking { edges: self.edges(vertex), ..Ranking::default() };
        for (number, edge) in ranking.edges.iter().enumerate() {
            let tails: f64 = edge.tails.iter().map(|&tail| self.best_score(tail)).sum();
            if edge.score + tails > f64::NEG_INFINITY {
                ranking.queue.push(Candidate {
                    score: edge.score + tails,
                    edge: number,
                    ranks: [0, 0],
                });
            }
        }
        ranking
    }

    fn best_score(&self, vertex: Vertex) -> f64 {
        match vertex {
            Vertex::Sentence => unreachable!("the whole sentence is no tail of any hyperedge"),
            Vertex::Item { item, .. } => self.best.score(item),
            Vertex::WithoutChain { item, .. } => self.best.rule_score(item),
        }
    }

    fn edges(&self, vertex: Vertex) -> Vec<Hyperedge> {
        match vertex {
            Vertex::Sentence => self.root_edges(),
            Vertex::Item { item, start, end } => self.chain_edges(item, start, end),
            Vertex::WithoutChain { item, start, end } => self.rule_edges(item, start, end),
        }
    }

    fn root_edges(&self) -> Vec<Hyperedge> {
        let chart = self.forest.chart;
        let words = chart.cells().words();
        let mut edges = Vec::new();
        for item in chart.items(chart.cells().index(0, words)) {
            let root = self.forest.grammar.rules().roots()[chart.symbol(item).index()];
            if root > 0.0 {
                edges.push(Hyperedge {
                    kind: HyperedgeKind::Root,
                    score: self.objective.root(item, root),
                    log_probability: root.ln(),
                    tails: vec![Vertex::Item { item, start: 0, end: words }],
                });
            }
        }
        edges
    }

    fn chain_edges(&self, item: usize, start: usize, end: usize) -> Vec<Hyperedge> {
        let mut edges = vec![Hyperedge {
            kind: HyperedgeKind::Rule,
            score: 0.0,
            log_probability: 0.0,
            tails: vec![Vertex::WithoutChain { item, start, end }],
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
                edges.push(Hyperedge {
                    kind: HyperedgeKind::Chain { number },
                    score: self.objective.chain(&path_items, chain.best),
                    log_probability: chain.best,
                    tails: vec![Vertex::WithoutChain { item: bottom, start, end }],
                });
            }
        }
        edges
    }

    fn rule_edges(&self, item: usize, start: usize, end: usize) -> Vec<Hyperedge> {
        let chart = self.forest.chart;
        let mut edges = Vec::new();
        if end - start == 1 {
            let cell = chart.cells().index(start, end);
            let probability = self.forest.emission(start, chart.symbol(item));
            if probability > 0.0 {
                edges.push(Hyperedge {
                    kind: HyperedgeKind::Rule,
                    score: self.objective.emission(cell, item, probability),
                    log_probability: probability.ln(),
                    tails: Vec::new(),
                });
            }
        }
        let finder = &mut EdgeFinder::default();
        finder.for_each(self.forest.grammar, chart, start, end, |edge| {
            if edge.item == item {
                let split = edge.boundaries[1];
                edges.push(Hyperedge {
                    kind: HyperedgeKind::Rule,
                    score: self.objective.binary(&edge),
                    log_probability: edge.probability.ln(),
                    tails: vec![
                        Vertex::Item { item: edge.left, start, end: split },
                        Vertex::Item { item: edge.right, start: split, end },
                    ],
                });
            }
        });
        edges
    }

    /// Append the nodes of the derivation of a given rank, which has been found before.
    fn append(&self, vertex: Vertex, rank: usize, derivation: &mut Derivation) {
        let mut stack = vec![(vertex, rank)];
        while let Some((vertex, rank)) = stack.pop() {
            // A vertex of which only the best derivation was needed may have no ranking yet.
            let started;
            let ranking = match self.rankings.get(&vertex) {
                Some(ranking) if ranking.found.len() > rank => ranking,
                _ => {
                    let mut ranking = self.start(vertex);
                    let first = ranking.queue.pop().expect("has a best derivation");
                    ranking.found.push(first);
                    started = ranking;
                    &started
                }
            };
            let candidate = &ranking.found[rank];
            let edge = &ranking.edges[candidate.edge];
            derivation.log_probability += edge.log_probability;
            match (vertex, edge.kind) {
                (Vertex::WithoutChain { item, start, end }, HyperedgeKind::Chain { number }) => {
                    unreachable!("item {item} over {start}-{end} is rewritten by chain {number}")
                }
                (Vertex::Item { start, end, .. }, HyperedgeKind::Chain { number }) => {
                    let Vertex::WithoutChain { item, .. } = edge.tails[0] else {
                        unreachable!("a chain ends in an item without a chain")
                    };
                    let unary = self.forest.grammar.unary();
                    let chain = &unary.chains(self.forest.chart.symbol(item))[number];
                    let path = unary.path(chain);
                    for &symbol in &path[..path.len() - 1] {
                        derivation.push(symbol, start, end);
                    }
                }
                (Vertex::WithoutChain { item, start, end }, _) => {
                    derivation.push(self.forest.chart.symbol(item), start, end);
                }
                _ => {}
            }
            for (number, &tail) in edge.tails.iter().enumerate().rev() {
                stack.push((tail, candidate.ranks[number]));
            }
        }
    }
}
