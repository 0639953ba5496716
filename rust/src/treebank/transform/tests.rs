use proptest::prelude::*;

use super::*;
use crate::cancel::{Cancel, Cancelled};
use crate::treebank::bracket::{BracketReader, ReadOptions};
use crate::treebank::forest::Forest;
use crate::treebank::node_table::{NONE, NodeTable, TableError};

const ALL: Collapse = Collapse { root: true, inside: true, preterminals: true };
const NO_CHAINS: Collapse = Collapse { root: false, inside: false, preterminals: false };
const PLAIN: TransformOptions = TransformOptions {
    direction: Direction::Right,
    horizontal: Some(0),
    vertical: 0,
    annotate: Annotate { binarization_nodes: false, preterminals: false },
    collapse: NO_CHAINS,
};

fn transform(forest: &Forest, options: &TransformOptions) -> NodeTable {
    super::transform(forest, options, &Cancel::new()).unwrap()
}

fn invert(table: &NodeTable) -> Result<Forest, TableError> {
    super::invert(table, &Cancel::new())
}

fn forest(text: &str) -> Forest {
    let options = ReadOptions { keep_empty: true, ..ReadOptions::default() };
    let mut reader = BracketReader::new(options);
    reader.feed(text.as_bytes()).unwrap();
    reader.finish().unwrap();
    reader.take_forest()
}

/// The symbols of a table's nodes, in the notation of the Python package.
fn symbols(text: &str, options: &TransformOptions) -> Vec<String> {
    let table = transform(&forest(text), options);
    let names = |labels: &[u32], separator: &str| -> String {
        let names: Vec<&str> =
            labels.iter().map(|label| table.label_names[*label as usize].as_str()).collect();
        names.join(separator)
    };
    let show = |id: &u32| {
        let symbol = &table.symbols[*id as usize];
        let mut text = names(&symbol.labels, "+");
        if let Some(siblings) = &symbol.siblings {
            text = format!("@{text}[{}]", names(siblings, ","));
        }
        if !symbol.ancestors.is_empty() {
            text = format!("{text}^{}", names(&symbol.ancestors, "^"));
        }
        text
    };
    table.symbol.iter().map(show).collect()
}

const FLAT: &str = "(X (A a) (B b) (C c) (D d))";

#[test]
fn binarisation_nodes_cover_the_rest_in_either_direction() {
    let right = TransformOptions { horizontal: Some(1), ..PLAIN };
    assert_eq!(symbols(FLAT, &right), ["A", "B", "C", "D", "@X[C]", "@X[B]", "X"]);
    let left = TransformOptions { direction: Direction::Left, ..right };
    assert_eq!(symbols(FLAT, &left), ["A", "B", "@X[B]", "C", "@X[C]", "D", "X"]);
    let table = transform(&forest(FLAT), &left);
    assert_eq!(table.left, [-1, -1, 0, -1, 2, -1, 4]);
    assert_eq!(table.right, [-1, -1, 1, -1, 3, -1, 5]);
    assert_eq!(table.parent, [2, 2, 4, 4, 6, 6, -1]);
    assert_eq!(table.start, [0, 1, 0, 2, 0, 3, 0]);
    assert_eq!(table.end, [1, 2, 2, 3, 3, 4, 4]);
    assert_eq!(table.word, [0, 1, -1, 2, -1, 3, -1]);
}

#[test]
fn binarisation_nodes_keep_as_many_siblings_as_asked() {
    let text = "(X (A a) (B b) (C c) (D d) (E e))";
    let binarised = |direction, horizontal| -> Vec<String> {
        let all = symbols(text, &TransformOptions { direction, horizontal, ..PLAIN });
        all.into_iter().filter(|symbol| symbol.starts_with('@')).collect()
    };
    assert_eq!(binarised(Direction::Right, Some(0)), ["@X[]", "@X[]", "@X[]"]);
    assert_eq!(binarised(Direction::Right, Some(2)), ["@X[D,E]", "@X[C,D]", "@X[B,C]"]);
    assert_eq!(binarised(Direction::Right, None), ["@X[D,E]", "@X[C,D,E]", "@X[B,C,D,E]"]);
    assert_eq!(binarised(Direction::Left, Some(2)), ["@X[B,A]", "@X[C,B]", "@X[D,C]"]);
    assert_eq!(binarised(Direction::Left, None), ["@X[B,A]", "@X[C,B,A]", "@X[D,C,B,A]"]);
}

#[test]
fn the_nodes_asked_for_are_annotated_with_ancestors() {
    let text = "(S (X (Y (A a) (B b) (C c))) (D d))";
    let options = TransformOptions { vertical: 2, ..PLAIN };
    assert_eq!(symbols(text, &options), ["A", "B", "C", "@Y[]", "Y^X^S", "X^S", "D", "S"]);
    let annotate = Annotate { binarization_nodes: true, preterminals: true };
    let all = TransformOptions { annotate, ..options };
    let expected = ["A^Y^X", "B^Y^X", "C^Y^X", "@Y[]^X^S", "Y^X^S", "X^S", "D^S", "S"];
    assert_eq!(symbols(text, &all), expected);
    let collapsed = TransformOptions { collapse: ALL, ..all };
    let expected = ["A^Y^S", "B^Y^S", "C^Y^S", "@Y[]^S", "X+Y^S", "D^S", "S"];
    assert_eq!(symbols(text, &collapsed), expected);
}

#[test]
fn chains_are_collapsed_where_asked() {
    let text = "(R (S (V (W (A a) (B b))) (N (M (C c)))))";
    let with = |collapse| symbols(text, &TransformOptions { collapse, ..PLAIN });
    assert_eq!(with(NO_CHAINS), ["A", "B", "W", "V", "C", "M", "N", "S", "R"]);
    let root = Collapse { root: true, ..NO_CHAINS };
    assert_eq!(with(root), ["A", "B", "W", "V", "C", "M", "N", "R+S"]);
    let inside = Collapse { inside: true, ..NO_CHAINS };
    assert_eq!(with(inside), ["A", "B", "V+W", "C", "M", "N", "S", "R"]);
    let preterminals = Collapse { preterminals: true, ..NO_CHAINS };
    assert_eq!(with(preterminals), ["A", "B", "W", "V", "N+M+C", "S", "R"]);
    assert_eq!(with(ALL), ["A", "B", "V+W", "N+M+C", "R+S"]);
}

#[test]
fn one_word_sentences_are_chains_too() {
    let with = |collapse| symbols("(R (N (A a)))", &TransformOptions { collapse, ..PLAIN });
    assert_eq!(with(ALL), ["R+N+A"]);
    assert_eq!(with(Collapse { root: true, ..NO_CHAINS }), ["R+N+A"]);
    assert_eq!(with(Collapse { preterminals: true, ..NO_CHAINS }), ["N+A", "R"]);
    assert_eq!(with(NO_CHAINS), ["A", "N", "R"]);
    assert_eq!(symbols("(A a)", &PLAIN), ["A"]);
}

#[test]
fn only_words_that_occur_are_kept() {
    let mut forest = forest("(A a)(B b)");
    forest.intern_word("unused");
    assert_eq!(transform(&forest, &PLAIN).words, ["a", "b"]);
}

#[test]
fn tables_that_hold_no_trees_are_refused() {
    let good = transform(&forest(FLAT), &PLAIN);
    let broken = |change: &dyn Fn(&mut NodeTable)| {
        let mut table = good.clone();
        change(&mut table);
        invert(&table).expect_err("broken")
    };
    assert!(matches!(broken(&|table| table.word.truncate(1)), TableError::Lengths(_)));
    assert!(matches!(broken(&|table| table.tree_offsets[1] = 99), TableError::Offset(_)));
    assert!(matches!(broken(&|table| table.symbol[0] = 99), TableError::Symbol { .. }));
    assert!(matches!(broken(&|table| table.symbols[0].labels.clear()), TableError::Labels(0)));
    assert!(matches!(broken(&|table| table.symbols[0].labels[0] = 99), TableError::Labels(0)));
    assert!(matches!(broken(&|table| table.word[0] = 99), TableError::Word { .. }));
    assert!(matches!(broken(&|table| table.word[0] = NONE), TableError::Word { .. }));
    assert!(matches!(broken(&|table| table.word[6] = 0), TableError::Word { .. }));
    assert!(matches!(broken(&|table| table.symbol[6] = 0), TableError::Word { .. }));
    assert!(matches!(broken(&|table| table.left[6] = 1), TableError::Children { .. }));
    assert!(matches!(broken(&|table| table.left[6] = NONE), TableError::Children { .. }));
    assert!(matches!(broken(&|table| table.right[6] = 99), TableError::Children { .. }));
    assert!(matches!(broken(&|table| table.right[6] = -7), TableError::Children { .. }));
    assert!(matches!(broken(&|table| table.symbol[6] = table.symbol[5]), TableError::Root(6)));
    assert!(matches!(broken(&|table| table.tree_offsets = vec![0, 2, 7]), TableError::Root(1)));
}

fn any_tree() -> impl Strategy<Value = String> {
    let label = "[A-C@^+|-]{1,2}";
    let leaf = (label, "[a-c]").prop_map(|(label, word)| format!("({label} {word})"));
    leaf.prop_recursive(6, 40, 5, move |inner| {
        (label, prop::collection::vec(inner, 1..5))
            .prop_map(|(label, children)| format!("({label} {})", children.join(" ")))
    })
}

fn any_options() -> impl Strategy<Value = TransformOptions> {
    let direction = prop_oneof![Just(Direction::Left), Just(Direction::Right)];
    let horizontal = prop::option::of(0..4usize);
    let flags = any::<[bool; 5]>();
    (direction, horizontal, 0..4usize, flags).prop_map(
        |(
            direction,
            horizontal,
            vertical,
            [binarization_nodes, tags, root, inside, preterminals],
        )| {
            let annotate = Annotate { binarization_nodes, preterminals: tags };
            let collapse = Collapse { root, inside, preterminals };
            TransformOptions { direction, horizontal, vertical, annotate, collapse }
        },
    )
}

proptest! {
    #[test]
    fn the_way_back_is_exact(
        trees in prop::collection::vec(prop_oneof![4 => any_tree(), 1 => Just("(())".to_owned())], 0..5),
        options in any_options(),
    ) {
        let back = invert(&transform(&forest(&trees.join("\n")), &options)).unwrap();
        let back: Vec<String> = (0..back.len()).map(|tree| back.bracketed(tree)).collect();
        prop_assert_eq!(back, trees);
    }

    #[test]
    fn tables_made_up_never_panic(
        nodes in prop::collection::vec((0..4u32, -2..6i32, -2..6i32, -2..3i32), 0..6),
        offsets in prop::collection::vec(0..7usize, 0..4),
    ) {
        // One symbol of each kind: a phrase, a preterminal, a binarisation node.
        let mut table = transform(&forest("(X (A a) (B b) (C c))"), &PLAIN);
        table.symbol = nodes.iter().map(|node| node.0).collect();
        table.left = nodes.iter().map(|node| node.1).collect();
        table.right = nodes.iter().map(|node| node.2).collect();
        table.word = nodes.iter().map(|node| node.3).collect();
        table.tree_offsets = offsets;
        if let Ok(forest) = invert(&table) {
            prop_assert_eq!(forest.len() + 1, table.tree_offsets.len());
        }
    }

    #[test]
    fn the_table_is_consistent(trees in prop::collection::vec(any_tree(), 1..4), options in any_options()) {
        let table = transform(&forest(&trees.join("\n")), &options);
        for tree in table.tree_offsets.windows(2) {
            prop_assert_eq!(table.parent[tree[1] - 1], NONE);
            for node in tree[0]..tree[1] {
                let (left, right) = (table.left[node], table.right[node]);
                if left == NONE {
                    prop_assert_eq!(table.end[node], table.start[node] + 1);
                    continue;
                }
                let last = if right == NONE { left } else { right } as usize;
                let left = left as usize;
                prop_assert_eq!(table.parent[left], node as i32);
                prop_assert_eq!(table.parent[last], node as i32);
                prop_assert_eq!(table.start[node], table.start[left]);
                prop_assert_eq!(table.end[node], table.end[last]);
                if right != NONE {
                    prop_assert_eq!(table.end[left], table.start[last]);
                }
            }
            if options.collapse == ALL {
                for node in tree[0]..tree[1] {
                    prop_assert_eq!(table.left[node] == NONE, table.right[node] == NONE);
                }
            }
        }
    }
}

#[test]
fn a_raised_flag_stops_the_work() {
    let cancel = Cancel::new();
    cancel.cancel();
    let forest = forest(FLAT);
    let cleaned = crate::treebank::clean::clean(&forest, &Default::default(), &cancel);
    assert!(cleaned.is_err_and(|error| error == Cancelled));
    let table = super::transform(&forest, &PLAIN, &cancel);
    assert!(table.is_err_and(|error| error == Cancelled));
    let inverted = super::invert(&transform(&forest, &PLAIN), &cancel);
    assert!(inverted.is_err_and(|error| error == TableError::Cancelled(Cancelled)));
}
