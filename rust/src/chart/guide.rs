//! Masks from the labelled spans that other models consider possible.
//!
//! The models of an ensemble may have different symbols and binarisations, but they write the same
//! labels. What one of them has found out about labelled spans replaces the coarse pass of the
//! others: a class of phrases or tags is open where one of its labels is, and a class of binarisation
//! nodes where it can be part of an open phrase and the span filter does not forbid it.

use super::Cells;
use super::mask::Mask;
use super::span_set::SpanSet;
use crate::grammar::{Grammar, Projection, SymbolId};

/// A labelled span of a sentence that may be in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuideSpan {
    /// A label of the grammar's output.
    pub label: u32,
    /// The first word.
    pub start: u32,
    /// One past the last word.
    pub end: u32,
}

/// The classes of a grammar's labels and of its binarisation nodes.
#[derive(Debug, Clone)]
pub struct GuideClasses {
    classes: usize,
    /// For each label the classes of the symbols at whose top it is.
    of_labels: Vec<Vec<SymbolId>>,
    parts: Vec<PartClass>,
}

/// A class of binarisation nodes, and the classes of their possible parents as bit sets.
#[derive(Debug, Clone)]
struct PartClass {
    class: SymbolId,
    as_left: Vec<u64>,
    as_right: Vec<u64>,
}

impl GuideClasses {
    /// The classes of a grammar that has a coarse projection.
    pub fn new(grammar: &Grammar, projection: &Projection) -> Self {
        let output = grammar.output();
        let mut of_labels = vec![Vec::new(); output.number_of_labels()];
        let mut is_part = vec![false; projection.rules().number_of_symbols()];
        for symbol in (0..grammar.rules().number_of_symbols()).map(|id| SymbolId(id as u32)) {
            let class = projection.class(symbol);
            match output.labels(symbol).first() {
                Some(&label) => of_labels[label as usize].push(class),
                None => is_part[class.index()] = true,
            }
        }
        for classes in &mut of_labels {
            classes.sort_unstable();
            classes.dedup();
        }
        let classes = is_part.len();
        let parts = (0..classes as u32)
            .map(SymbolId)
            .filter(|class| is_part[class.index()])
            .map(|class| {
                let words = classes.div_ceil(64);
                let (mut as_left, mut as_right) = (vec![0; words], vec![0; words]);
                for rule in projection.rules().binary() {
                    let (word, bit) = (rule.parent.index() / 64, 1u64 << (rule.parent.0 % 64));
                    if rule.left == class {
                        as_left[word] |= bit;
                    }
                    if rule.right == class {
                        as_right[word] |= bit;
                    }
                }
                PartClass { class, as_left, as_right }
            })
            .collect();
        Self { classes, of_labels, parts }
    }
}

impl Mask {
    /// Let the classes survive that labelled spans allow, and in the spans that are `open`, if these
    /// are given, those of binarisation nodes that can be part of them.
    pub fn guide(
        &mut self,
        classes: &GuideClasses,
        words: usize,
        spans: &[GuideSpan],
        open: Option<&SpanSet>,
    ) {
        let cells = Cells::new(words);
        self.reset(cells, classes.classes);
        for span in spans {
            let (start, end) = (span.start as usize, span.end as usize);
            for class in &classes.of_labels[span.label as usize] {
                self.allow(cells.index(start, end), class.0);
                self.insert(start, end);
            }
        }
        let mut sets = [Vec::new(), Vec::new()];
        for (start, end) in cells.bottom_up().rev() {
            if end - start > 1 && open.is_none_or(|open| open.contains(start, end)) {
                self.possible_parents(cells, (start, end), &mut sets);
                let [right, left] = &sets;
                let meets = |one: &[u64], two: &[u64]| one.iter().zip(two).any(|(a, b)| a & b != 0);
                for part in &classes.parts {
                    if meets(&part.as_left, right) || meets(&part.as_right, left) {
                        self.allow(cells.index(start, end), part.class.0);
                        self.insert(start, end);
                    }
                }
            }
        }
        self.collect_parents(cells);
    }
}
