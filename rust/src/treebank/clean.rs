//! Cleaning trees: function tags, traces, repeated labels and roots.

use super::TREES_BETWEEN_CHECKS;
use crate::cancel::{Cancel, Cancelled};
use crate::treebank::forest::{Forest, NO_WORD};

/// The tag of traces and other empty elements.
const EMPTY_TAG: &str = "-NONE-";

/// The labels of treebanks for a root node without a meaning of its own.
const ROOT_LABELS: [&str; 4] = ["", "ROOT", "TOP", "S1"];

/// Which labels lose their function tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionTags {
    /// None.
    Keep,
    /// Those of phrases. Tags of words are kept as they are: many tag sets have hyphens in them.
    Phrases,
    /// All.
    All,
}

/// The steps of cleaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanOptions {
    /// Cut function tags and indices: `NP-SBJ-1` and `NP=2` become `NP`.
    pub function_tags: FunctionTags,
    /// The characters of which the first one in a label starts its function tags.
    pub separators: String,
    /// Remove traces (`-NONE-`), and phrases that are empty without them.
    pub remove_empty: bool,
    /// Merge a node with its only child if they have the same label.
    pub merge_repeated: bool,
    /// Give every tree exactly one root with this label. The usual root labels are renamed; any
    /// other root gets a new parent. If none, only unlabelled roots with one child are dropped.
    pub root_label: Option<String>,
}

impl Default for CleanOptions {
    fn default() -> Self {
        Self {
            function_tags: FunctionTags::Phrases,
            separators: "-=".to_owned(),
            remove_empty: true,
            merge_repeated: true,
            root_label: Some("ROOT".to_owned()),
        }
    }
}

/// Clean every tree. A tree that loses all its nodes becomes an empty tree, so that trees keep
/// their numbers.
pub fn clean(
    forest: &Forest,
    options: &CleanOptions,
    cancel: &Cancel,
) -> Result<Forest, Cancelled> {
    let mut cleaner = Cleaner::new(forest, options);
    for tree in 0..forest.len() {
        if tree.is_multiple_of(TREES_BETWEEN_CHECKS) {
            cancel.check()?;
        }
        cleaner.tree(tree);
    }
    Ok(cleaner.cleaned)
}

/// A label without its function tags: the part before the first of the separators.
///
/// In a label that starts with a hyphen, such as `-LRB-`, the second hyphen belongs to the label.
///
/// ```
/// use lpcfg_core::treebank::clean::strip_function_tags;
///
/// assert_eq!(strip_function_tags("NP-SBJ-1", "-="), "NP");
/// assert_eq!(strip_function_tags("NP=2", "-="), "NP");
/// assert_eq!(strip_function_tags("NP;*SBJ*", "-;"), "NP");
/// assert_eq!(strip_function_tags("-LRB-", "-="), "-LRB-");
/// assert_eq!(strip_function_tags("-LRB--1", "-="), "-LRB-");
/// ```
pub fn strip_function_tags<'a>(label: &'a str, separators: &str) -> &'a str {
    let name_start = match label.strip_prefix('-') {
        Some(rest) => match rest.find('-') {
            Some(second) => second + 2,
            None => return label,
        },
        None => label.chars().next().map_or(0, char::len_utf8),
    };
    match label[name_start..].find(|character| separators.contains(character)) {
        Some(end) => &label[..name_start + end],
        None => label,
    }
}

struct Cleaner<'a> {
    forest: &'a Forest,
    options: &'a CleanOptions,
    cleaned: Forest,
    phrase_labels: Vec<u32>,
    tags: Vec<u32>,
    empty_tag: Option<u32>,
    /// The label that roots get, and the labels that are renamed to it.
    root: Option<(u32, Vec<u32>)>,
    unlabelled: u32,
    /// The number of cleaned nodes before each node of the tree.
    before: Vec<usize>,
}

impl<'a> Cleaner<'a> {
    fn new(forest: &'a Forest, options: &'a CleanOptions) -> Self {
        let mut cleaned = Forest::with_names_of(forest);
        let names = forest.label_names();
        let unchanged: Vec<u32> = (0..names.len() as u32).collect();
        let stripped: Vec<u32> = names
            .iter()
            .map(|name| cleaned.intern_label(strip_function_tags(name, &options.separators)))
            .collect();
        let (phrase_labels, tags) = match options.function_tags {
            FunctionTags::Keep => (unchanged.clone(), unchanged),
            FunctionTags::Phrases => (stripped, unchanged),
            FunctionTags::All => (stripped.clone(), stripped),
        };
        let empty_tag = names.iter().position(|name| name == EMPTY_TAG).map(|id| id as u32);
        let root = options.root_label.as_ref().map(|label| {
            let usual = ROOT_LABELS.iter().map(|name| cleaned.intern_label(name)).collect();
            (cleaned.intern_label(label), usual)
        });
        let unlabelled = cleaned.intern_label("");
        let before = Vec::new();
        Self { forest, options, cleaned, phrase_labels, tags, empty_tag, root, unlabelled, before }
    }

    fn tree(&mut self, tree: usize) {
        let nodes = self.forest.nodes(tree);
        let base = nodes.start;
        self.before.clear();
        for node in nodes {
            self.before.push(self.cleaned.node_count());
            let label = self.forest.labels()[node];
            let word = self.forest.words()[node];
            if word != NO_WORD {
                if !(self.options.remove_empty && Some(label) == self.empty_tag) {
                    self.cleaned.push_preterminal(self.tags[label as usize], word as u32);
                }
                continue;
            }
            let label = self.phrase_labels[label as usize];
            let below = self.cleaned.node_count() - self.before[self.forest.first(node) - base];
            if below > 0 && !(self.options.merge_repeated && self.repeats(label, below)) {
                self.cleaned.push_phrase(label, below);
            }
        }
        if self.cleaned.node_count() > self.cleaned.open_start() {
            self.normalise_root();
        }
        self.cleaned.end_tree();
    }

    /// Whether the last `below` nodes are one phrase with the given label. The tag of a word is no
    /// repetition of a phrase label.
    fn repeats(&self, label: u32, below: usize) -> bool {
        let last = self.cleaned.node_count() - 1;
        self.last_is_phrase(&[label]) && self.cleaned.sizes()[last] as usize == below
    }

    fn normalise_root(&mut self) {
        let Some((root_label, usual)) = &self.root else {
            while self.last_is_phrase(&[self.unlabelled]) && self.only_child_of_last().is_some() {
                self.drop_last();
            }
            return;
        };
        let is_root = |cleaner: &Self| {
            cleaner.last_is_phrase(usual) || cleaner.last_is_phrase(&[*root_label])
        };
        if !is_root(self) {
            let below = self.cleaned.node_count() - self.cleaned.open_start();
            self.cleaned.push_phrase(*root_label, below);
            return;
        }
        // `( (ROOT ...))` has two roots; the inner one is enough.
        while let Some(child) = self.only_child_of_last() {
            let label = self.cleaned.labels()[child];
            let is_phrase = self.cleaned.words()[child] == NO_WORD;
            if !(is_phrase && (usual.contains(&label) || label == *root_label)) {
                break;
            }
            self.cleaned.truncate(child + 1);
        }
        self.cleaned.relabel_last(*root_label);
    }

    fn last_is_phrase(&self, labels: &[u32]) -> bool {
        let last = self.cleaned.node_count() - 1;
        self.cleaned.words()[last] == NO_WORD && labels.contains(&self.cleaned.labels()[last])
    }

    fn only_child_of_last(&self) -> Option<usize> {
        self.cleaned.only_child(self.cleaned.node_count() - 1)
    }

    fn drop_last(&mut self) {
        self.cleaned.truncate(self.cleaned.node_count() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::treebank::bracket::{BracketReader, ReadOptions};

    fn cleaned(text: &str, options: &CleanOptions) -> String {
        let mut reader =
            BracketReader::new(ReadOptions { keep_empty: true, ..ReadOptions::default() });
        reader.feed(text.as_bytes()).unwrap();
        reader.finish().unwrap();
        let forest = clean(&reader.take_forest(), options, &Cancel::new()).unwrap();
        assert_eq!(forest.len(), 1);
        forest.bracketed(0)
    }

    fn nothing() -> CleanOptions {
        CleanOptions {
            function_tags: FunctionTags::Keep,
            remove_empty: false,
            merge_repeated: false,
            root_label: None,
            ..CleanOptions::default()
        }
    }

    #[test]
    fn nothing_changes_when_every_step_is_off() {
        let text = "(S=1 (NP-SBJ (NP-SBJ (-NONE- *T*-1))) (VP (VB-PAST went)))";
        assert_eq!(cleaned(text, &nothing()), text);
    }

    #[test]
    fn function_tags_are_cut_from_phrases_or_from_all() {
        let text = "(S=1 (NP-SBJ-1 (NN-NOM dog)) (-LRB- -LRB-) (VP (-X y)))";
        let phrases = CleanOptions { function_tags: FunctionTags::Phrases, ..nothing() };
        assert_eq!(cleaned(text, &phrases), "(S (NP (NN-NOM dog)) (-LRB- -LRB-) (VP (-X y)))");
        let all = CleanOptions { function_tags: FunctionTags::All, ..nothing() };
        assert_eq!(cleaned(text, &all), "(S (NP (NN dog)) (-LRB- -LRB-) (VP (-X y)))");
    }

    #[test]
    fn other_separators_start_function_tags_too() {
        let options = CleanOptions { separators: ";|".to_owned(), ..CleanOptions::default() };
        let text = "(IP-MAT (PP;*SBJ* (NP|x (N;a rain))))";
        assert_eq!(cleaned(text, &options), "(ROOT (IP-MAT (PP (NP (N;a rain)))))");
    }

    #[test]
    fn labels_of_one_character_or_odd_ones_survive() {
        for (label, expected) in [
            ("-", "-"),
            ("=", "="),
            ("--", "--"),
            ("É-1", "É"),
            ("=-1", "="),
            ("", ""),
            ("-a=b", "-a=b"),
        ] {
            assert_eq!(strip_function_tags(label, "-="), expected);
        }
    }

    #[test]
    fn traces_take_emptied_phrases_with_them() {
        let options = CleanOptions { remove_empty: true, ..nothing() };
        let text = "(S (NP (NP (-NONE- *)) (SBAR (-NONE- 0))) (VP (VB go)))";
        assert_eq!(cleaned(text, &options), "(S (VP (VB go)))");
        assert_eq!(cleaned("(S (NP (-NONE- *)))", &options), "(())");
    }

    #[test]
    fn repeated_labels_merge_also_when_cleaning_makes_them_so() {
        let text = "(S (NP-SBJ (NP (-NONE- *)) (NP-1 (NP=2 (NN rain)))))";
        let options = CleanOptions { root_label: None, ..CleanOptions::default() };
        assert_eq!(cleaned(text, &options), "(S (NP (NN rain)))");
        // The lowest one is a tag.
        assert_eq!(cleaned("(S (NP (NP (NP rain))))", &options), "(S (NP (NP rain)))");
    }

    #[test]
    fn every_tree_gets_one_root() {
        let options = CleanOptions::default();
        let expected = "(ROOT (S (X a)))";
        for text in [
            "( (S (X a)))",
            "(TOP (S (X a)))",
            "(S1 (S (X a)))",
            "(ROOT (S (X a)))",
            "(S (X a))",
            "( (ROOT (S (X a))))",
            "(TOP (TOP (S-1 (X a))))",
        ] {
            assert_eq!(cleaned(text, &options), expected, "from {text}");
        }
        assert_eq!(cleaned("( (A a) (B b))", &options), "(ROOT (A a) (B b))");
        assert_eq!(cleaned("(NN a)", &options), "(ROOT (NN a))");
        assert_eq!(cleaned("(ROOT a)", &options), "(ROOT (ROOT a))");
        let own = CleanOptions { root_label: Some("VROOT".to_owned()), ..options };
        assert_eq!(cleaned("(VROOT (S (X a)))", &own), "(VROOT (S (X a)))");
        assert_eq!(cleaned("(TOP (S (X a)))", &own), "(VROOT (S (X a)))");
    }

    #[test]
    fn without_a_root_label_only_unlabelled_roots_go() {
        let options = CleanOptions { root_label: None, ..CleanOptions::default() };
        assert_eq!(cleaned("( (S (X a)))", &options), "(S (X a))");
        assert_eq!(cleaned("(TOP (S (X a)))", &options), "(TOP (S (X a)))");
        assert_eq!(cleaned("( (A a) (B b))", &options), "( (A a) (B b))");
    }
}
