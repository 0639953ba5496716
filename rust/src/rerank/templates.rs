//! The patterns that are counted as features (Charniak & Johnson 2005, section 4), and patterns at
//! the borders of phrases (Hall, Durrett & Klein 2014).

use super::view::{Node, OUTSIDE, TreeView};
use crate::numeric::stable_hash::Key;

/// The depth down to which coordinated phrases are compared.
const MAX_DEPTH: usize = 4;

/// The version of all templates, which the file of a reranker stores. Raise it whenever a template is
/// added, removed, or reads other values: the weights of a saved reranker belong to its features.
pub const TEMPLATE_VERSION: u32 = 1;

/// Kinds of features. Models store hashes of these numbers, so they never change.
mod kinds {
    use super::Key;

    pub const RULE: Key = Key::kind(1);
    pub const RULE_PARENT: Key = Key::kind(2);
    pub const RULE_GRANDPARENT: Key = Key::kind(3);
    pub const RULE_HEAD: Key = Key::kind(4);
    pub const CHILD_BIGRAM: Key = Key::kind(5);
    pub const CHILD_TRIGRAM: Key = Key::kind(6);
    pub const HEADS: Key = Key::kind(7);
    pub const HEAD_TREE: Key = Key::kind(8);
    pub const WORD: Key = Key::kind(9);
    pub const PROJECTION: Key = Key::kind(10);
    pub const TREE_BIGRAM: Key = Key::kind(11);
    pub const TREE_BIGRAM_WORDS: Key = Key::kind(12);
    pub const TREE_TRIGRAM: Key = Key::kind(13);
    pub const RIGHT_BRANCH: Key = Key::kind(14);
    pub const HEAVY: Key = Key::kind(15);
    pub const NEIGHBOURS: Key = Key::kind(16);
    pub const EDGES: Key = Key::kind(17);
    pub const PARALLEL: Key = Key::kind(18);
    pub const PARALLEL_LENGTH: Key = Key::kind(19);
}

/// Append all features of a tree, as often as they occur.
pub fn all(view: &TreeView, features: &mut Vec<u32>) {
    rules(view, features);
    child_ngrams(view, features);
    heads(view, features);
    words(view, features);
    tree_ngrams(view, features);
    right_branch(view, features);
    borders(view, features);
    coordination(view, features);
}

/// Rules: alone, below their parent, below parent and grandparent, and with the head word.
fn rules(view: &TreeView, features: &mut Vec<u32>) {
    for (index, node) in view.phrases() {
        let rule = rule(view, node, kinds::RULE);
        let below = rule.and(view.ancestor(index, 1));
        features.push(rule.feature());
        features.push(kinds::RULE_PARENT.and(below).feature());
        features.push(kinds::RULE_GRANDPARENT.and(below).and(view.ancestor(index, 2)).feature());
        features.push(kinds::RULE_HEAD.and(rule).and(view.leaves[node.head_word].word).feature());
    }
}

fn rule(view: &TreeView, node: &Node, kind: Key) -> Key {
    let children = view.children(node).iter();
    children.fold(kind.and(node.label), |key, &child| key.and(view.nodes[child].label))
}

/// Two or three neighbouring children, and on which side of the head they are.
fn child_ngrams(view: &TreeView, features: &mut Vec<u32>) {
    for (_, node) in view.phrases() {
        let children = view.children(node);
        let label = |index: usize| {
            // Positions count from one, with a border on either side.
            index.checked_sub(1).and_then(|index| children.get(index)).map_or(OUTSIDE, |&child| {
                view.nodes[child].label.with(u64::from(child == node.head))
            })
        };
        for index in 0..=children.len() {
            let after_head = index > 0 && children[index - 1] >= node.head;
            let side = node.label.with(u64::from(after_head));
            let pair = side.and(label(index)).and(label(index + 1));
            features.push(kinds::CHILD_BIGRAM.and(pair).feature());
            if index < children.len() {
                features.push(kinds::CHILD_TRIGRAM.and(pair).and(label(index + 2)).feature());
            }
        }
    }
}

/// Pairs of a head and a dependent, by tags and by words, and the rules on the path from a phrase
/// to its head.
fn heads(view: &TreeView, features: &mut Vec<u32>) {
    let mut chains = vec![OUTSIDE; view.len()];
    for (index, node) in view.nodes.iter().enumerate() {
        let head = view.leaves[node.head_word];
        chains[index] = if node.head == index {
            node.label
        } else {
            chains[node.head].and(rule(view, node, kinds::HEAD_TREE))
        };
        if view.parent(index).is_none_or(|parent| view.nodes[parent].head != index) {
            features.push(kinds::HEAD_TREE.and(chains[index]).feature());
            let above = kinds::PROJECTION.and(node.label).and(view.ancestor(index, 1));
            features.push(above.and(head.tag).feature());
            features.push(above.and(head.word).with(1).feature());
        }
        for &child in view.children(node).iter().filter(|&&child| child != node.head) {
            let other = &view.nodes[child];
            let dependent = view.leaves[other.head_word];
            let pair = kinds::HEADS.and(node.label).with(u64::from(child > node.head));
            let labels = pair.and(view.nodes[node.head].label).and(other.label);
            features.push(labels.and(head.tag).and(dependent.tag).feature());
            features.push(labels.and(head.word).and(dependent.tag).with(1).feature());
            features.push(labels.and(head.tag).and(dependent.word).with(2).feature());
            features.push(pair.and(head.word).and(dependent.word).with(3).feature());
        }
    }
}

/// Words with their tags and the labels of their ancestors.
fn words(view: &TreeView, features: &mut Vec<u32>) {
    for leaf in &view.leaves {
        let mut key = kinds::WORD.and(leaf.word).and(leaf.tag);
        features.push(key.feature());
        for steps in 1..=3 {
            key = key.and(view.ancestor(leaf.node, steps));
            features.push(key.feature());
        }
    }
}

/// The smallest tree fragments that connect two or three neighbouring words.
fn tree_ngrams(view: &TreeView, features: &mut Vec<u32>) {
    let mut before = None;
    for pair in view.leaves.windows(2) {
        let path = path(view, pair[0].node, pair[1].node);
        features.push(kinds::TREE_BIGRAM.and(path).feature());
        features.push(kinds::TREE_BIGRAM_WORDS.and(path).and(pair[0].word).with(1).feature());
        features.push(kinds::TREE_BIGRAM_WORDS.and(path).and(pair[1].word).with(2).feature());
        if let Some(before) = before.replace(path) {
            features.push(kinds::TREE_TRIGRAM.and(before).and(path).feature());
        }
    }
}

/// The labels on the path from a node, up and down, to another one further right.
fn path(view: &TreeView, left: usize, right: usize) -> Key {
    let mut key = OUTSIDE;
    let mut top = left;
    // In post-order, a node comes after all that is below it.
    while view.nodes[top].end <= view.nodes[right].start {
        key = key.and(view.nodes[top].label);
        top = view.nodes[top].parent;
    }
    key = key.and(view.nodes[top].label).with(1);
    let mut index = right;
    while index != top {
        key = key.and(view.nodes[index].label);
        index = view.nodes[index].parent;
    }
    key
}

/// The number of phrases on the path from the root to the last word that is not punctuation, and
/// the number of all others.
fn right_branch(view: &TreeView, features: &mut Vec<u32>) {
    let words = view.leaves.iter().rposition(|leaf| !view.nodes[leaf.node].punctuation);
    let last = words.unwrap_or(view.leaves.len() - 1);
    for (_, node) in view.phrases() {
        let on_branch = node.start <= last && last < node.end;
        features.push(kinds::RIGHT_BRANCH.with(u64::from(on_branch)).feature());
    }
}

/// The lengths of phrases, and the words and tags just inside and just outside their borders.
fn borders(view: &TreeView, features: &mut Vec<u32>) {
    for (index, node) in view.phrases() {
        let length = bin(node.end - node.start);
        let (first, last) = (Some(node.start), Some(node.end - 1));
        let (before, after) = (node.start.checked_sub(1), Some(node.end));
        let next = view.leaves.get(node.end);
        let stop = next.is_some_and(|leaf| view.nodes[leaf.node].punctuation);
        let at_end = node.end == view.leaves.len();
        let heavy = kinds::HEAVY.and(node.label).with(length).with(u64::from(at_end));
        features.push(heavy.with(u64::from(stop)).feature());

        let outside = kinds::NEIGHBOURS.and(node.label);
        let sized = outside.with(length);
        features.push(sized.and(view.tag(before)).and(view.tag(after)).feature());
        features.push(sized.and(view.tag(before)).with(1).feature());
        features.push(sized.and(view.tag(after)).with(2).feature());
        let second = view.tag(Some(node.end + 1));
        features.push(outside.and(view.tag(after)).and(second).with(3).feature());

        let edges = kinds::EDGES.and(node.label);
        let tags = edges.and(view.tag(first)).and(view.tag(last));
        features.push(tags.feature());
        features.push(tags.and(view.tag(before)).and(view.tag(after)).feature());
        features.push(tags.and(view.ancestor(index, 1)).with(1).feature());
        for (kind, word) in [(2, first), (3, last), (4, before), (5, after)] {
            features.push(edges.and(view.word(word)).with(kind).feature());
            features.push(edges.and(view.word(word)).with(length).with(kind).feature());
        }
        features.push(edges.and(view.word(first)).and(view.word(after)).with(6).feature());
        features.push(edges.and(view.word(before)).and(view.word(first)).with(7).feature());
    }
}

/// Lengths in bins.
fn bin(length: usize) -> u64 {
    match length {
        0..=4 => length as u64,
        5..=6 => 5,
        7..=10 => 6,
        11..=20 => 7,
        _ => 8,
    }
}

/// Parallelism of coordinated phrases: whether they have the same shape, and the difference of
/// their lengths.
fn coordination(view: &TreeView, features: &mut Vec<u32>) {
    for (_, node) in view.phrases() {
        let children = view.children(node);
        if !children.iter().any(|&child| view.nodes[child].conjunction) {
            continue;
        }
        let is_conjunct = |child: &&usize| {
            let child = &view.nodes[**child];
            !child.conjunction && !child.punctuation
        };
        let conjuncts: Vec<usize> = children.iter().filter(is_conjunct).copied().collect();
        for (number, pair) in conjuncts.windows(2).enumerate() {
            let last = u64::from(number + 2 == conjuncts.len());
            let [left, right] = [&view.nodes[pair[0]], &view.nodes[pair[1]]];
            for depth in 1..=MAX_DEPTH {
                let same = shape(view, pair[0], depth) == shape(view, pair[1], depth);
                let key = kinds::PARALLEL.and(node.label).with(depth as u64);
                features.push(key.with(u64::from(same)).feature());
                if !same {
                    break;
                }
            }
            let lengths = (left.end - left.start) as i64 - (right.end - right.start) as i64;
            let key = kinds::PARALLEL_LENGTH.and(node.label).with(last);
            features.push(key.with(lengths.clamp(-5, 5) as u64).feature());
        }
    }
}

/// The hash of the labels of a subtree down to a depth.
fn shape(view: &TreeView, index: usize, depth: usize) -> Key {
    let node = &view.nodes[index];
    if depth <= 1 {
        return node.label;
    }
    let children = view.children(node).iter();
    children.fold(node.label, |key, &child| key.and(shape(view, child, depth - 1))).with(0)
}

#[cfg(test)]
mod tests {
    use super::super::view::{LabelTables, Vocabulary};
    use super::*;
    use crate::treebank::bracket::{BracketReader, ReadOptions};
    use crate::treebank::forest::Forest;

    fn forest(text: &str) -> Forest {
        let mut reader = BracketReader::new(ReadOptions::default());
        reader.feed(text.as_bytes()).unwrap();
        reader.finish().unwrap();
        reader.take_forest()
    }

    /// Heads are the last children, but VP before all others.
    fn tables(forest: &Forest) -> LabelTables {
        let names = forest.label_names();
        let steps = names.iter().map(|name| u32::from(name != "VP"));
        LabelTables {
            head_step: names.iter().flat_map(|_| steps.clone()).collect(),
            from_right: vec![true; 2 * names.len()],
            punctuation: names.iter().map(|name| name == ".").collect(),
            conjunction: names.iter().map(|name| name == "CC").collect(),
        }
    }

    fn view(text: &str) -> TreeView {
        let forest = forest(text);
        TreeView::new(&forest, 0, &Vocabulary::new(&forest), &tables(&forest))
    }

    fn found(template: fn(&TreeView, &mut Vec<u32>), text: &str) -> Vec<u32> {
        let mut features = Vec::new();
        template(&view(text), &mut features);
        features.sort_unstable();
        features
    }

    fn text(text: &str) -> Key {
        Key::text(text)
    }

    const RAIN: &str = "(S (NP (PRP it)) (VP (VBD rained)) (. !))";

    #[test]
    fn a_view_knows_spans_parents_and_heads() {
        let view = view(RAIN);
        let root = view.nodes[view.len() - 1];
        assert_eq!((root.start, root.end, root.head_word), (0, 3, 1));
        assert_eq!(view.nodes[root.head].label, text("VP"));
        assert_eq!(view.ancestor(0, 1), text("NP"));
        assert_eq!(view.ancestor(0, 2), text("S"));
        assert_eq!(view.ancestor(0, 3), OUTSIDE);
        let spans: Vec<_> = view.nodes.iter().map(|node| (node.start, node.end)).collect();
        assert_eq!(spans, [(0, 1), (0, 1), (1, 2), (1, 2), (2, 3), (0, 3)]);
        assert_eq!(view.tag(Some(3)), OUTSIDE);
        assert_eq!(view.word(Some(1)), text("rained"));
    }

    #[test]
    fn rules_are_there_with_what_is_above() {
        let features = found(rules, RAIN);
        assert_eq!(features.len(), 3 * 4);
        let subject = kinds::RULE.and(text("NP")).and(text("PRP"));
        for key in [
            subject,
            kinds::RULE_PARENT.and(subject.and(text("S"))),
            kinds::RULE_GRANDPARENT.and(subject.and(text("S"))).and(OUTSIDE),
            kinds::RULE_HEAD.and(subject).and(text("it")),
        ] {
            assert!(features.contains(&key.feature()));
        }
    }

    #[test]
    fn heads_are_paired_with_other_children() {
        let features = found(heads, RAIN);
        let pair = kinds::HEADS.and(text("S")).with(0);
        let words = pair.and(text("rained")).and(text("it")).with(3);
        assert!(features.contains(&words.feature()));
        let wrong = pair.and(text("it")).and(text("rained")).with(3);
        assert!(!features.contains(&wrong.feature()));
    }

    #[test]
    fn the_right_branch_ends_before_punctuation() {
        let features = found(right_branch, RAIN);
        let count = |on| {
            let key = kinds::RIGHT_BRANCH.with(on).feature();
            features.iter().filter(|feature| **feature == key).count()
        };
        assert_eq!((count(1), count(0)), (2, 1));
    }

    #[test]
    fn a_path_goes_up_and_down() {
        let view = view(RAIN);
        let up = OUTSIDE.and(text("PRP")).and(text("NP"));
        let expected = up.and(text("S")).with(1).and(text("VBD")).and(text("VP"));
        assert_eq!(path(&view, 0, 2), expected);
        assert_eq!(found(tree_ngrams, RAIN).len(), 2 * 3 + 1);
    }

    #[test]
    fn coordination_is_as_parallel_as_it_is_deep() {
        let same = found(coordination, "(NP (NP (NN a) (NN b)) (CC and) (NP (NN c) (NN d)))");
        let other = found(coordination, "(NP (NP (NN a)) (CC and) (NP (NN c) (NN d)))");
        let key = |depth: u64, same: u64| {
            kinds::PARALLEL.and(text("NP")).with(depth).with(same).feature()
        };
        assert!((1..=4).all(|depth| same.contains(&key(depth, 1))));
        assert!(other.contains(&key(1, 1)) && other.contains(&key(2, 0)));
        assert_eq!((same.len(), other.len()), (5, 3));
        assert!(found(coordination, RAIN).is_empty());
    }

    #[test]
    fn children_have_borders_on_either_side() {
        // Of n children there are n + 1 pairs and n triples.
        assert_eq!(found(child_ngrams, RAIN).len(), 7 + 3 + 3);
    }
}
