//! Posteriors of anchored rules under one latent model, or their products over several models.
//!
//! An anchored rule a -> b c has the posterior |outside_a . T . (inside_b x inside_c)| / |Z|. The
//! tensor T is contracted with the outside vector once for all split points of a cell, which takes
//! time cubic in the number of states. Each split point then takes quadratic time. An anchored unary
//! rule a -> b with the matrix U has the posterior |outside_a . U . inside_b| / |Z|.

use rustc_hash::FxHashMap;

use super::Chart;
use super::edges::{Edge, EdgeFinder};
use super::latent::LatentPass;
use crate::cancel::{Cancel, Cancelled};
use crate::grammar::{Grammar, Latent};
use crate::numeric::contraction::expand;
use crate::numeric::scaling::power_of_two;
use crate::numeric::simd_dispatch::simd_dispatch;
use crate::numeric::vectors::dot;

/// The logarithm of a posterior. Nothing in a chart is impossible, so a posterior that underflowed
/// to zero counts as the smallest positive number.
#[inline]
pub fn log_posterior(posterior: f64) -> f64 {
    posterior.max(f64::MIN_POSITIVE).ln()
}

/// Logarithms of the posteriors of all anchored rules of a chart, in memory that is reused.
#[derive(Debug, Default)]
pub struct RulePosteriors {
    /// The log-posteriors of items that are not rewritten by a unary rule, which are those of
    /// emissions.
    items: Vec<f64>,
    /// The log-posteriors of the items of the whole sentence at the root.
    roots: Vec<f64>,
    first_root: usize,
    /// The log-posteriors of anchored unary rules, by the items of the parent and the child.
    unary: FxHashMap<(u32, u32), f64>,
    /// The log-posteriors of anchored binary rules, in the order of edges.
    edges: Vec<f64>,
    /// Where the edges of each cell start.
    first_edge: Vec<usize>,
    finder: EdgeFinder,
    matrices: RuleMatrices,
    damped: Vec<f32>,
}

/// For each rule that occurs in the current cell, its tensor times the outside vector of its
/// parent.
#[derive(Debug, Default)]
struct RuleMatrices {
    /// Where the matrix of each rule starts, plus one; zero if it has none.
    offset_of_rule: Vec<usize>,
    rules: Vec<usize>,
    values: Vec<f32>,
}

impl RuleMatrices {
    /// The matrix of a rule, computed on first use.
    #[inline(always)]
    fn get(&mut self, latent: &Latent, rule: usize, outside: &[f32], length: usize) -> &[f32] {
        let offset = &mut self.offset_of_rule[rule];
        if *offset == 0 {
            let start = self.values.len();
            *offset = start + 1;
            self.rules.push(rule);
            self.values.resize(start + length, 0.0);
            expand(latent.tensor(rule), outside, &mut self.values[start..]);
        }
        &self.values[*offset - 1..][..length]
    }

    fn clear(&mut self) {
        for &rule in &self.rules {
            self.offset_of_rule[rule] = 0;
        }
        self.rules.clear();
        self.values.clear();
    }
}

impl RulePosteriors {
    /// Start a chart: all posteriors are one.
    pub fn reset(&mut self, grammar: &Grammar, chart: &Chart) {
        self.items.clear();
        self.items.resize(chart.len(), 0.0);
        let roots = match chart.cells().words() {
            0 => 0..0,
            words => chart.items(chart.cells().index(0, words)),
        };
        self.first_root = roots.start;
        self.roots.clear();
        self.roots.resize(roots.len(), 0.0);
        self.unary.clear();
        self.edges.clear();
        self.first_edge.clear();
        self.first_edge.resize(chart.cells().count(), 0);
        self.matrices.offset_of_rule.resize(grammar.rules().binary().len(), 0);
    }

    /// Multiply by the posteriors of the latent model whose pass over the chart was the last one.
    pub fn multiply(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        pass: &LatentPass,
        chart: &Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let rules = self;
        simd_dispatch!(
            RulePosteriors::multiply_portable,
            (
                rules: &mut RulePosteriors,
                grammar: &Grammar,
                latent: &Latent,
                pass: &LatentPass,
                chart: &Chart,
                cancel: &Cancel,
            ) -> Result<(), Cancelled>
        )
    }

    #[inline(always)]
    fn multiply_portable(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        pass: &LatentPass,
        chart: &Chart,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let has_unary = !grammar.unary().is_empty();
        for (item, log) in self.items.iter_mut().enumerate() {
            *log += log_posterior(if has_unary {
                pass.posterior_without_chain(item)
            } else {
                chart.posterior(item)
            });
        }
        for (number, log) in self.roots.iter_mut().enumerate() {
            let item = self.first_root + number;
            *log += log_posterior(if has_unary {
                pass.root_posterior(latent, chart, item)
            } else {
                chart.posterior(item)
            });
        }
        if has_unary {
            self.multiply_unary(grammar, latent, pass, chart);
        }
        let words = chart.cells().words();
        let mut done = 0;
        for width in 2..=words {
            cancel.check()?;
            for start in 0..=words - width {
                self.first_edge[chart.cells().index(start, start + width)] = done;
                done += self.multiply_cell(grammar, latent, pass, chart, start, start + width);
            }
        }
        Ok(())
    }

    /// Multiply the posteriors of all anchored unary rules.
    fn multiply_unary(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        pass: &LatentPass,
        chart: &Chart,
    ) {
        let rules = grammar.rules().unary();
        for cell in 0..chart.cells().count() {
            let items = chart.items(cell);
            let symbols = chart.symbols(items.clone());
            for child in items.clone() {
                let symbol = chart.symbol(child);
                let first = rules.partition_point(|rule| rule.child < symbol);
                let of_child = rules[first..].iter().take_while(|rule| rule.child == symbol);
                for (number, rule) in of_child.enumerate() {
                    let Ok(offset) = symbols.binary_search(&rule.parent) else { continue };
                    let parent = items.start + offset;
                    let inside = pass.inside(child);
                    let rows = latent.unary_matrix(first + number).chunks_exact(inside.len());
                    let outside = pass.outside(parent).iter();
                    let sum: f32 = outside.zip(rows).map(|(&o, row)| o * dot(row, inside)).sum();
                    let log = self.unary.entry((parent as u32, child as u32)).or_insert(0.0);
                    *log += log_posterior(f64::from(sum).abs());
                }
            }
        }
    }

    /// Multiply the posteriors of a cell's edges, and return the number of edges.
    #[inline(always)]
    fn multiply_cell(
        &mut self,
        grammar: &Grammar,
        latent: &Latent,
        pass: &LatentPass,
        chart: &Chart,
        start: usize,
        end: usize,
    ) -> usize {
        let Self { edges, first_edge, finder, matrices, damped, .. } = self;
        let cells = chart.cells();
        let mut count = 0;
        finder.for_each(grammar, chart, start, end, |edge| {
            let [start, split, end] = edge.boundaries;
            let shift = pass.exponent(cells.index(start, split))
                + pass.exponent(cells.index(split, end))
                - pass.exponent(edge.cell);
            let (left, right) = (pass.inside(edge.left), pass.inside(edge.right));
            let outside = pass.rule_outside(edge.item, damped);
            let matrix = matrices.get(latent, edge.rule, outside, left.len() * right.len());
            let rows = matrix.chunks_exact(right.len());
            let sum: f32 = left.iter().zip(rows).map(|(&left, row)| left * dot(row, right)).sum();
            let log = log_posterior(f64::from(sum).abs() * power_of_two(shift));
            let index = first_edge[edge.cell] + edge.number;
            // The first model adds the edges, in their order.
            match edges.get_mut(index) {
                Some(product) => *product += log,
                None => edges.push(log),
            }
            count += 1;
        });
        matrices.clear();
        count
    }

    /// The logarithm of the posterior of an item that emits its word.
    #[inline]
    pub fn log_emission(&self, item: usize) -> f64 {
        self.items[item]
    }

    /// The logarithm of the posterior of an item of the whole sentence at the root.
    #[inline]
    pub fn log_root(&self, item: usize) -> f64 {
        self.roots[item - self.first_root]
    }

    /// The logarithm of the posterior of an anchored unary rule.
    #[inline]
    pub fn log_unary(&self, parent: usize, child: usize) -> f64 {
        self.unary[&(parent as u32, child as u32)]
    }

    /// The logarithms of the posteriors of all edges, in the order of cells, shorter spans first.
    pub(crate) fn log_edges(&self) -> &[f64] {
        &self.edges
    }

    /// The logarithm of the posterior of an edge.
    #[inline]
    pub fn log_edge(&self, edge: &Edge) -> f64 {
        self.edges[self.first_edge[edge.cell] + edge.number]
    }
}
