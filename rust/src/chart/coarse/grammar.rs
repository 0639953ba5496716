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
#[derive(Debug, Clone, Copy)]
pub(super) struct ParentRules {
    pub(super) left: u16,
    /// Where the right children end.
    end: u32,
}

/// All binary rules by parent and left child.
#[derive(Debug, Clone)]
struct RulesOfParents {
    /// For each parent, where its groups and where its right children start.
    starts: Vec<(u32, u32)>,
    groups: Vec<ParentRules>,
    /// The right children of all groups and the probabilities.
    rights: Vec<(u16, f32)>,
}

impl RulesOfParents {
    /// Index rules, given by parent, left child, right child and probability.
    fn new(parents: usize, mut rules: Vec<(u16, u16, u16, f32)>) -> Self {
        rules.sort_by_key(|&(parent, left, ..)| (parent, left));
        let mut starts = vec![(0, 0)];
        let mut groups = Vec::new();
        let mut rest = rules.as_slice();
        for parent in 0..parents {
            while let Some(&(_, left, ..)) =
                rest.first().filter(|rule| usize::from(rule.0) == parent)
            {
                let same =
                    |rule: &&(u16, u16, u16, f32)| (rule.0 as usize, rule.1) == (parent, left);
                rest = &rest[rest.iter().take_while(same).count()..];
                groups.push(ParentRules { left, end: (rules.len() - rest.len()) as u32 });
            }
            starts.push((groups.len() as u32, (rules.len() - rest.len()) as u32));
        }
        let rights = rules.iter().map(|&(_, _, right, probability)| (right, probability)).collect();
        Self { starts, groups, rights }
    }
}

impl ParentRules {
    /// The right children with the probabilities of the rules, given where they start.
    #[inline(always)]
    pub(super) fn rights<'a>(&self, grammar: &'a CoarseGrammar, start: usize) -> &'a [(u16, f32)] {
        &grammar.parents.rights[start..self.end as usize]
    }

    /// Where the right children end, and those of the next group start.
    #[inline(always)]
    pub(super) fn end(&self) -> usize {
        self.end as usize
    }
}

/// Rules by pairs of children, of which one is a tag.
#[derive(Debug, Clone)]
struct RulesOfPairs {
    /// Where the rules of each pair start.
    offsets: Vec<u32>,
    rules: Vec<RuleOfChildren>,
}

impl RulesOfPairs {
    /// Index rules, given by the numbers of their pairs.
    fn new(pairs: usize, mut rules: Vec<(usize, RuleOfChildren)>) -> Self {
        rules.sort_by_key(|rule| rule.0);
        let mut offsets = vec![0u32; pairs + 1];
        for &(pair, _) in &rules {
            offsets[pair + 1] += 1;
        }
        for pair in 0..pairs {
            offsets[pair + 1] += offsets[pair];
        }
        Self { offsets, rules: rules.into_iter().map(|rule| rule.1).collect() }
    }

    #[inline(always)]
    fn of(&self, pair: usize) -> &[RuleOfChildren] {
        &self.rules[self.offsets[pair] as usize..self.offsets[pair + 1] as usize]
    }
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
    /// The rules whose left child is a tag and whose right child may span several words, by the tag,
    /// counted from `wide_lanes`, and the right child.
    first_words: RulesOfPairs,
    /// The rules whose right child is a tag, by the left child and the tag.
    last_words: RulesOfPairs,
    pub(super) is_left: Vec<bool>,
    parents: RulesOfParents,
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
        let tags = unit_lanes - wide_lanes;
        let (mut first_words, mut last_words) = (Vec::new(), Vec::new());
        let mut is_left = vec![false; classes];
        let mut all = Vec::new();
        for rule in rules.binary() {
            let (parent, left, right) = (lane(rule.parent), lane(rule.left), lane(rule.right));
            let probability = rule.probability as f32;
            let rule = RuleOfChildren { parent, probability };
            match [left, right].map(|child| (child as usize).checked_sub(wide_lanes)) {
                [None, None] => {
                    let place = left as usize * wide_lanes + right as usize;
                    phrase_rules[parent as usize].push((place as u32, probability));
                }
                [Some(tag), None] => {
                    first_words.push((tag * wide_lanes + right as usize, rule));
                }
                [_, Some(tag)] => last_words.push((left as usize * tags + tag, rule)),
            }
            is_left[left as usize] = true;
            all.push((parent, left, right, probability));
        }
        for rules in &mut phrase_rules {
            rules.sort_unstable_by_key(|rule| rule.0);
        }
        first_words.sort_by_key(|&(_, rule)| rule.parent);
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
            first_words: RulesOfPairs::new(tags * wide_lanes, first_words),
            last_words: RulesOfPairs::new(classes * tags, last_words),
            is_left,
            parents: RulesOfParents::new(classes, all),
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
        self.first_words.of((tag - self.wide_lanes) * self.wide_lanes + right)
    }

    /// The rules of two children of which the right one is a tag, counted from `wide_lanes`.
    #[inline(always)]
    pub(super) fn last_word_rules(&self, left: usize, tag: usize) -> &[RuleOfChildren] {
        self.last_words.of(left * (self.unit_lanes - self.wide_lanes) + tag)
    }

    /// The groups of rules of a parent, one for each left child, and where the right children of the
    /// first one start.
    #[inline(always)]
    pub(super) fn parent_rules(&self, parent: usize) -> (&[ParentRules], usize) {
        let starts = &self.parents.starts;
        let (from, right) = starts[parent];
        (&self.parents.groups[from as usize..starts[parent + 1].0 as usize], right as usize)
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
