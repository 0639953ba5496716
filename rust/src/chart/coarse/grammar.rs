//! The projected grammar, laid out for the dense coarse pass.

use crate::cancel::Cancel;
use crate::chart::Cells;
use crate::grammar::{GrammarError, Projection, SymbolId, UnaryClosure};
use crate::numeric::vectors::LANES;

/// With more classes than this a coarse pass saves nothing, and its matrices become large.
const MAX_CLASSES: usize = 1024;

/// A binary rule in a list that is indexed by its children.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleOfChildren {
    pub(super) parent: u16,
    pub(super) probability: f32,
}

/// The binary rules of a parent with one left child.
#[derive(Debug, Clone, Default)]
pub(super) struct ParentRules {
    pub(super) left: u16,
    /// The right children and the probabilities.
    pub(super) rights: Vec<(u16, f32)>,
}

/// A projected grammar laid out for dense passes. Classes are renumbered as lanes of vectors. Those
/// that can span several words come first, so that cells of several words need fewer lanes.
#[derive(Debug, Clone)]
pub struct CoarseGrammar {
    pub(super) lane_of_class: Vec<u16>,
    pub(super) class_of_lane: Vec<u32>,
    pub(super) wide_lanes: usize,
    pub(super) unit_lanes: usize,
    /// For each parent, its rules whose children both may span several words: places of pairs of
    /// children in a matrix with `wide_lanes` a row, and probabilities.
    phrase_rules: Vec<Vec<(u32, f32)>>,
    /// The rules whose left child is a tag and whose right child may span several words.
    tag_rules: Vec<RuleOfChildren>,
    /// For each tag, counted from `wide_lanes`, and each right child, where their rules start.
    tag_offsets: Vec<u32>,
    /// For each left child and each right child that is a tag, their rules. Tags are numbered by
    /// their lane, counted from `wide_lanes`.
    pub(super) by_left_and_tag: Vec<Vec<Vec<RuleOfChildren>>>,
    pub(super) is_left: Vec<bool>,
    /// For each parent, its rules by their left children.
    pub(super) by_parent: Vec<Vec<ParentRules>>,
    pub(super) roots: Vec<f32>,
    /// For each lane at the bottom of unary chains, the lanes at their tops and the summed
    /// probabilities; empty without unary rules.
    chains: Vec<Vec<(u16, f32)>>,
}

impl CoarseGrammar {
    /// Lay out the projected rules.
    pub fn new(projection: &Projection, cancel: &Cancel) -> Result<Self, GrammarError> {
        let rules = projection.rules();
        let classes = rules.number_of_symbols();
        if classes > MAX_CLASSES {
            return Err(GrammarError::TooMany {
                things: "coarse classes",
                found: classes,
                limit: MAX_CLASSES,
            });
        }
        let mut is_phrase = vec![false; classes];
        for rule in rules.binary() {
            is_phrase[rule.parent.index()] = true;
        }
        for rule in rules.unary() {
            is_phrase[rule.parent.index()] = true;
        }
        let mut class_of_lane: Vec<u32> = (0..classes as u32).collect();
        class_of_lane.sort_by_key(|&class| !is_phrase[class as usize]);
        let phrases = is_phrase.iter().filter(|&&phrase| phrase).count();
        let mut lane_of_class = vec![0u16; classes];
        for (lane, &class) in class_of_lane.iter().enumerate() {
            lane_of_class[class as usize] = lane as u16;
        }
        let unit_lanes = classes.next_multiple_of(LANES);
        let wide_lanes = phrases.next_multiple_of(LANES).min(unit_lanes);
        let lane = |class: SymbolId| lane_of_class[class.index()];
        let mut phrase_rules = vec![Vec::new(); wide_lanes];
        let mut tag_left = Vec::new();
        let mut by_left_and_tag = vec![vec![Vec::new(); unit_lanes - wide_lanes]; classes];
        let mut is_left = vec![false; classes];
        let mut by_parent = vec![Vec::<ParentRules>::new(); classes];
        for rule in rules.binary() {
            let (parent, left, right) = (lane(rule.parent), lane(rule.left), lane(rule.right));
            let probability = rule.probability as f32;
            let tags = [left, right].map(|child| (child as usize).checked_sub(wide_lanes));
            match tags {
                [None, None] => {
                    let place = left as usize * wide_lanes + right as usize;
                    phrase_rules[parent as usize].push((place as u32, probability));
                }
                [Some(tag), None] => {
                    tag_left.push((tag * wide_lanes + right as usize, parent, probability));
                }
                [_, Some(tag)] => {
                    let rule = RuleOfChildren { parent, probability };
                    by_left_and_tag[left as usize][tag].push(rule);
                }
            }
            is_left[left as usize] = true;
            let groups = &mut by_parent[parent as usize];
            match groups.binary_search_by_key(&left, |group| group.left) {
                Ok(found) => groups[found].rights.push((right, probability)),
                Err(place) => {
                    groups.insert(place, ParentRules { left, rights: vec![(right, probability)] });
                }
            }
        }
        for rules in &mut phrase_rules {
            rules.sort_unstable_by_key(|rule| rule.0);
        }
        tag_left.sort_unstable_by_key(|&(pair, parent, _)| (pair, parent));
        let mut tag_offsets = vec![0u32; (unit_lanes - wide_lanes) * wide_lanes + 1];
        for &(pair, ..) in &tag_left {
            tag_offsets[pair + 1] += 1;
        }
        for index in 1..tag_offsets.len() {
            tag_offsets[index] += tag_offsets[index - 1];
        }
        let tag_rules = tag_left
            .into_iter()
            .map(|(_, parent, probability)| RuleOfChildren { parent, probability })
            .collect();
        let mut roots = vec![0.0; unit_lanes];
        for (class, &root) in rules.roots().iter().enumerate() {
            roots[lane_of_class[class] as usize] = root as f32;
        }
        let closure = UnaryClosure::new(classes, rules.unary(), cancel)?;
        let chains = if closure.is_empty() {
            Vec::new()
        } else {
            class_of_lane
                .iter()
                .map(|&class| {
                    closure
                        .chains(SymbolId(class))
                        .iter()
                        .map(|chain| (lane(chain.top), chain.total as f32))
                        .collect()
                })
                .collect()
        };
        Ok(Self {
            lane_of_class,
            class_of_lane,
            wide_lanes,
            unit_lanes,
            phrase_rules,
            tag_rules,
            tag_offsets,
            by_left_and_tag,
            is_left,
            by_parent,
            roots,
            chains,
        })
    }

    /// An upper bound on the bytes of the chart of a sentence with this number of words.
    pub fn chart_bytes(&self, words: usize) -> usize {
        // Inside and outside values, and the left items. Those are pushed one by one: a growing
        // vector may have twice the capacity that it needs.
        let bytes = |lanes: usize| {
            let left = self.is_left.iter().take(lanes).filter(|&&left| left).count();
            2 * lanes * size_of::<f32>() + 2 * left * size_of::<(u16, f32)>()
        };
        let mask = 3 * self.class_of_lane.len().div_ceil(64) * size_of::<u64>();
        let sets = self.wide_lanes.div_ceil(64) * size_of::<u64>();
        let others = sets + size_of::<i32>() + size_of::<(u32, u32)>();
        let cells = Cells::new(words).count();
        cells * (bytes(self.wide_lanes) + mask + others) + words * bytes(self.unit_lanes)
    }

    /// The rules of a parent whose children both may span several words.
    #[inline(always)]
    pub(super) fn phrase_rules(&self, parent: usize) -> &[(u32, f32)] {
        &self.phrase_rules[parent]
    }

    /// The rules of two children: a tag, by its lane, and one that may span several words.
    #[inline(always)]
    pub(super) fn tag_rules(&self, tag: usize, right: usize) -> &[RuleOfChildren] {
        let pair = (tag - self.wide_lanes) * self.wide_lanes + right;
        &self.tag_rules[self.tag_offsets[pair] as usize..self.tag_offsets[pair + 1] as usize]
    }

    /// Close the inside values of a cell over unary chains.
    pub(super) fn close_inside(&self, values: &mut [f32], scratch: &mut [f32]) {
        if self.chains.is_empty() {
            return;
        }
        let scratch = &mut scratch[..values.len()];
        scratch.fill(0.0);
        for (bottom, &value) in values.iter().enumerate().filter(|entry| *entry.1 > 0.0) {
            for &(top, total) in &self.chains[bottom] {
                scratch[top as usize] += total * value;
            }
        }
        values.copy_from_slice(scratch);
    }

    /// Close the outside values of a cell over unary chains: each symbol gets the outside values of
    /// the symbols above it.
    pub(super) fn close_outside(&self, values: &mut [f32], scratch: &mut [f32]) {
        if self.chains.is_empty() {
            return;
        }
        let scratch = &mut scratch[..values.len()];
        scratch.fill(0.0);
        for (bottom, sum) in scratch.iter_mut().enumerate().take(self.chains.len()) {
            for &(top, total) in &self.chains[bottom] {
                *sum += total * values.get(top as usize).copied().unwrap_or(0.0);
            }
        }
        values.copy_from_slice(scratch);
    }
}
