use proptest::prelude::*;

use super::*;

const SKIP: ReadOptions =
    ReadOptions { keep_empty: false, skip_malformed: true, ignore_lemmas: false };
const KEEP_EMPTY: ReadOptions =
    ReadOptions { keep_empty: true, skip_malformed: false, ignore_lemmas: false };

fn read(text: &[u8], options: ReadOptions) -> Result<BracketReader, BracketError> {
    let mut reader = BracketReader::new(options);
    reader.feed(text)?;
    reader.finish()?;
    Ok(reader)
}

fn trees(reader: &mut BracketReader) -> Vec<String> {
    let forest = reader.take_forest();
    (0..forest.len()).map(|tree| forest.bracketed(tree)).collect()
}

fn read_trees(text: &str) -> Vec<String> {
    trees(&mut read(text.as_bytes(), KEEP_EMPTY).unwrap())
}

/// Position and reason of the error in a text.
fn error(text: &[u8]) -> (usize, usize, Malformed) {
    let error = read(text, ReadOptions::default()).expect_err("malformed");
    (error.position.line, error.position.column, error.reason)
}

/// The trees read in skip mode, and the positions of what was skipped.
fn skip(text: &str) -> (Vec<String>, Vec<(usize, usize)>) {
    let mut reader = read(text.as_bytes(), SKIP).unwrap();
    let errors = reader.take_errors();
    assert_eq!(errors.len(), reader.skipped());
    let positions = errors.iter().map(|error| (error.position.line, error.position.column));
    (trees(&mut reader), positions.collect())
}

#[test]
fn layout_means_nothing() {
    let text = "(A\n  (B b)\r\n\t(C c)) (D d)(E e)\n\n(F\x0bf)";
    assert_eq!(read_trees(text), ["(A (B b) (C c))", "(D d)", "(E e)", "(F f)"]);
    assert_eq!(read_trees(""), Vec::<String>::new());
    assert_eq!(read_trees("\u{feff}(A a)"), ["(A a)"]);
}

#[test]
fn roots_may_lack_a_label() {
    assert_eq!(read_trees("( (S (A a)))((B b) (C c))"), ["( (S (A a)))", "( (B b) (C c))"]);
}

#[test]
fn empty_trees_are_kept_when_asked() {
    assert_eq!(read_trees("(()) ( ) (A a) ( ( ) )"), ["(())", "(())", "(A a)", "(())"]);
    assert_eq!(error(b"(A a)\n (())"), (2, 2, Malformed::EmptyTree));
    assert_eq!(error(b"()"), (1, 1, Malformed::EmptyTree));
}

#[test]
fn each_malformation_has_a_place_and_a_reason() {
    assert_eq!(error(b"(A a))"), (1, 6, Malformed::StrayClose));
    assert_eq!(error("(A é)\n é b".as_bytes()), (2, 2, Malformed::TextOutside("é".into())));
    assert_eq!(error(b"(A a)\n (S (A a)\n (B b)"), (2, 2, Malformed::NeverClosed));
    assert_eq!(error("(Sé (é é) (NP))".as_bytes()), (1, 11, Malformed::NoChildren("NP".into())));
    assert_eq!(error("(é é x)".as_bytes()), (1, 6, Malformed::SeveralWords("x".into())));
    assert_eq!(error(b"(S (A a) b)"), (1, 10, Malformed::WordAmongSubtrees));
    assert_eq!(error(b"(S b (A a))"), (1, 6, Malformed::WordAmongSubtrees));
    assert_eq!(error(b"(S ((A a)))"), (1, 4, Malformed::EmptyLabel));
    assert_eq!(error(b"(S (A a) ())"), (1, 10, Malformed::EmptyLabel));
    assert_eq!(error(b"(() (A a))"), (1, 2, Malformed::EmptyLabel));
    assert_eq!(error(b"(()())"), (1, 2, Malformed::EmptyLabel));
    assert_eq!(error(b"(() a)"), (1, 2, Malformed::EmptyLabel));
    assert_eq!(error(b"(A \xc3\xa9\xe9)"), (1, 5, Malformed::InvalidUtf8));
}

#[test]
fn an_error_on_a_later_line_says_where_its_tree_opens() {
    let error = read(b"(S (A (B b)\n((C c)))", ReadOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with("2:1: a node without a label"));
    assert!(error.to_string().contains("opens at 1:1"));
}

#[test]
fn trees_before_an_error_are_there() {
    let mut reader = BracketReader::new(ReadOptions::default());
    assert!(reader.feed(b"(A a) (B b) (C").is_ok());
    assert!(reader.finish().is_err());
    assert_eq!(trees(&mut reader), ["(A a)", "(B b)"]);
}

#[test]
fn skipping_goes_on_after_the_malformed_tree() {
    let (trees, errors) = skip("(A a) (S (B b) c (D d)) (E e)\n(NP) (F f)) ) x\n y (G g)");
    assert_eq!(trees, ["(A a)", "(E e)", "(F f)", "(G g)"]);
    assert_eq!(errors, [(1, 16), (2, 1), (2, 11), (3, 2)]);
}

#[test]
fn skipping_resumes_after_trees_that_are_never_closed() {
    let (trees, errors) = skip("(A a)\n(S (B b)\n(C c)\n (D d) (E\n(F f) x\n(G g)");
    assert_eq!(trees, ["(A a)", "(C c)", "(D d)", "(F f)", "(G g)"]);
    assert_eq!(errors, [(2, 1), (4, 8), (5, 7)]);
    assert_eq!(skip("(((\n(("), (vec![], vec![(1, 1), (2, 1)]));
}

#[test]
fn an_open_bracket_on_each_of_many_lines_takes_linear_time() {
    let mut reader = read("(\n".repeat(200_000).as_bytes(), SKIP).unwrap();
    assert_eq!((reader.skipped(), reader.take_errors().len()), (200_000, MAX_KEPT_ERRORS));
}

#[test]
fn depth_is_no_limit() {
    let depth = 100_000;
    let text = format!("{}(A a){}", "(X ".repeat(depth), ")".repeat(depth));
    let forest = read(text.as_bytes(), KEEP_EMPTY).unwrap().take_forest();
    assert_eq!(forest.node_count(), depth + 1);
    assert_eq!(forest.bracketed(0), text);
}

#[test]
fn positions_start_over_with_each_source() {
    let mut reader = read(b"(A a)\n\n", ReadOptions::default()).unwrap();
    let error = reader.feed(b")").unwrap_err();
    assert_eq!(error.position, Position::START);
}

/// Trees in brackets, as deep and wide as they come.
fn any_tree() -> impl Strategy<Value = String> {
    let token = "[^() \t\r\n\x0b\x0c\u{feff}]{1,4}";
    let leaf = (token, token).prop_map(|(label, word)| format!("({label} {word})"));
    leaf.prop_recursive(5, 30, 4, move |inner| {
        (token, prop::collection::vec(inner, 1..4))
            .prop_map(|(label, children)| format!("({label} {})", children.join(" ")))
    })
}

/// What may be put into a treebank by mistake: brackets, escape sequences and parts of them.
fn token() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "(",
        ")",
        "))",
        "(())",
        "()",
        " ",
        "\n",
        "\r",
        "\0",
        "\u{feff}",
        "\u{e9}",
        "(-NONE- *)",
        "-U+",
        "-U+00A0-",
        "-U+-",
        "-U+002D-",
        "-U+D800-",
        "-U+004",
    ])
}

/// Feed a text in chunks cut at the given places, taking the trees whenever some are complete.
fn read_in_chunks(text: &[u8], cuts: &[usize], options: ReadOptions) -> (Vec<String>, usize) {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    let mut reader = BracketReader::new(options);
    let mut found = Vec::new();
    for pair in cuts.windows(2) {
        reader.feed(&text[pair[0]..pair[1]]).unwrap();
        found.extend(trees(&mut reader));
    }
    reader.finish().unwrap();
    found.extend(trees(&mut reader));
    (found, reader.skipped())
}

proptest! {
    #[test]
    fn what_was_written_is_read_in_any_chunks(
        written in prop::collection::vec(any_tree(), 0..5),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let text = written.join("\n");
        let (found, _) = read_in_chunks(text.as_bytes(), &cuts, KEEP_EMPTY);
        prop_assert_eq!(found, written);
    }

    #[test]
    fn garbage_never_panics_and_chunks_never_matter(
        text in "[() ab\n\u{e9}]{0,60}",
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let _ = read(text.as_bytes(), KEEP_EMPTY);
        let whole = read_in_chunks(text.as_bytes(), &[], SKIP);
        prop_assert_eq!(whole, read_in_chunks(text.as_bytes(), &cuts, SKIP));
    }

    #[test]
    fn damaged_trees_are_skipped_wherever_chunks_end(
        written in prop::collection::vec(any_tree(), 1..4),
        damage in prop::collection::vec((any::<usize>(), 0..3_usize, token()), 1..5),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let mut text = written.join("\n").into_bytes();
        for (place, removed, inserted) in damage {
            let start = place % (text.len() + 1);
            let end = (start + removed).min(text.len());
            text.splice(start..end, inserted.bytes());
        }
        let whole = read_in_chunks(&text, &[], SKIP);
        prop_assert_eq!(&whole, &read_in_chunks(&text, &cuts, SKIP));
        match read(&text, ReadOptions::default()) {
            Ok(mut reader) => prop_assert_eq!((trees(&mut reader), 0), whole),
            Err(_) => prop_assert!(whole.1 > 0),
        }
    }

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes, KEEP_EMPTY);
        prop_assert!(read(&bytes, SKIP).is_ok());
    }
}
