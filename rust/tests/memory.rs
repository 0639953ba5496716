//! The charts of a sentence stay within the memory they may take, and its trees stay trees.

use crate::support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use lpcfg_core::cancel::Cancel;
use lpcfg_core::decode::Node;
use lpcfg_core::grammar::{Grammar, LatentArrays, SymbolId, Token};
use lpcfg_core::parser::{Analysis, Combine, Decoder, LeftOut, Options, Parser, Status, Workspace};
use support::Case;

thread_local! {
    static IN_USE: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

/// The allocator of the system, which counts what each thread has.
struct Counting;

fn count(freed: usize, taken: usize) {
    let in_use = IN_USE.get().saturating_sub(freed) + taken;
    IN_USE.set(in_use);
    MOST.set(MOST.get().max(in_use));
}

// SAFETY: everything is left to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: as asked for by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), 0);
        // SAFETY: as asked for by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), size);
        // SAFETY: as asked for by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SYMBOLS: u32 = 12;
const STATES: u32 = 4;

/// A grammar in which everything can be made of everything, but not with the same probability.
fn grammar() -> Grammar {
    let weight = |a: u32, b: u32, c: u32| f64::from((a * 7 + b * 13 + c * 29) % 31 + 1).powi(-3);
    let mut binary = Vec::new();
    for parent in 0..SYMBOLS {
        for left in 0..SYMBOLS {
            for right in 0..SYMBOLS {
                binary.push((parent, left, right, 0.05 * weight(parent, left, right)));
            }
        }
    }
    let emission =
        |word: u32| (0..SYMBOLS).map(move |a| (a, 0.1 * weight(a, word, word))).collect();
    let case = Case {
        symbols: SYMBOLS,
        roots: vec![1.0; SYMBOLS as usize],
        binary,
        unary: vec![],
        emissions: (0..3).map(emission).collect(),
        labels: (0..SYMBOLS).map(|symbol| vec![symbol]).collect(),
        coarse: (0..SYMBOLS).map(|symbol| symbol / 3).collect(),
        weights: vec![1.0; SYMBOLS as usize],
        sentence: vec![],
    };
    let states = STATES as usize;
    let rules = case.binary.iter();
    let arrays = LatentArrays {
        states: vec![STATES; SYMBOLS as usize],
        roots: vec![1.0; SYMBOLS as usize * states],
        binary: rules
            .flat_map(|rule| vec![rule.3 as f32; states.pow(3)])
            .collect::<Vec<_>>()
            .into(),
        binary_counts: vec![STATES.pow(3); case.binary.len()],
        binary_positions: vec![].into(),
        unary: vec![],
        emission_ratios: vec![1.0; SYMBOLS as usize * states],
        ratio_symbols: (0..SYMBOLS).collect(),
        entry_ratios: (0..3).flat_map(|_| 0..SYMBOLS).collect(),
        tag_emissions: vec![1.0; SYMBOLS as usize * states],
    };
    case.grammar(true).with_latent(arrays, &Cancel::new()).unwrap()
}

fn sentence(words: usize) -> Vec<Token> {
    (0..words as u32).map(|place| Token::Word(place * place % 3)).collect()
}

fn options(decoder: Decoder, memory: usize) -> Options {
    Options {
        decoder,
        combine: Combine::Posteriors,
        coarse_threshold: 1e-6,
        span_recall: 1.0,
        member_threshold: 0.0,
        threshold: 1e-6,
        memory,
        candidates: 1,
        max_length: usize::MAX,
        timeout: None,
        marginals: false,
        times: false,
    }
}

/// Parse, and return the most bytes that were in use at once.
fn parse(
    parser: &Parser,
    words: usize,
    options: Options,
    workspace: &mut Workspace,
) -> (Analysis, usize) {
    let sentence = sentence(words);
    let before = IN_USE.get();
    MOST.set(before);
    let analysis =
        parser.analyze(sentence.as_slice().into(), options, workspace, &Cancel::new()).unwrap();
    (analysis, MOST.get() - before)
}

/// Every word is a leaf once, and no span crosses another.
fn assert_tree(analysis: &Analysis, words: usize) {
    let spans = &analysis.trees[0].spans;
    assert_eq!((spans[0].start, spans[0].end), (0, words as u32));
    let mut open = vec![(0, words as u32)];
    for span in spans {
        while span.start >= open.last().unwrap().1 {
            open.pop();
        }
        assert!(span.end <= open.last().unwrap().1, "{spans:?}");
        open.push((span.start, span.end));
    }
    let leaves: Vec<u32> =
        spans.iter().filter(|span| span.end - span.start == 1).map(|span| span.start).collect();
    for word in 0..words as u32 {
        assert!(leaves.contains(&word));
    }
}

#[test]
fn charts_stay_within_their_memory() {
    let parser = Parser::new(Arc::new(grammar()), &Cancel::new()).unwrap();
    for decoder in [Decoder::MaxF1, Decoder::MaxRule] {
        // What depends on the grammar alone is not counted.
        let (_, constant) =
            parse(&parser, 2, options(decoder, usize::MAX), &mut Workspace::default());
        let mut seen = Vec::new();
        for words in [8, 20] {
            for power in (12..26).step_by(2) {
                let memory = 1usize << power;
                let mut workspace = Workspace::default();
                let (analysis, most) =
                    parse(&parser, words, options(decoder, memory), &mut workspace);
                assert_tree(&analysis, words);
                assert!(
                    most <= memory + 2 * constant,
                    "{words} words took {most} of {memory} bytes, and {constant} without any"
                );
                seen.push(analysis.status);
                // Again with what the first time has left in the workspace.
                let (again, _) = parse(&parser, words, options(decoder, memory), &mut workspace);
                assert_eq!(again, analysis);
            }
        }
        for status in [Status::Parsed, Status::Tightened, Status::Split] {
            assert!(seen.contains(&status), "{status:?} is not among {seen:?}");
        }
    }
}

#[test]
fn enough_memory_changes_nothing() {
    let parser = Parser::new(Arc::new(grammar()), &Cancel::new()).unwrap();
    let parsed =
        |memory| parse(&parser, 20, options(Decoder::MaxF1, memory), &mut Workspace::default()).0;
    assert_eq!(parsed(1 << 30), parsed(usize::MAX));
    assert_eq!(parsed(1 << 30).status, Status::Parsed);
}

#[test]
fn a_sentence_that_is_far_too_long_is_parsed_in_pieces() {
    let parser = Parser::new(Arc::new(grammar()), &Cancel::new()).unwrap();
    let (analysis, _) =
        parse(&parser, 300, options(Decoder::MaxF1, 1 << 16), &mut Workspace::default());
    assert_eq!(analysis.status, Status::Split);
    assert_tree(&analysis, 300);
    // The root is written once.
    let root = &analysis.trees[0].spans[0];
    let wide = analysis.trees[0].spans.iter().filter(|span| span.end - span.start > 50);
    assert_eq!(wide.collect::<Vec<_>>(), [root]);
}

#[test]
fn a_sentence_with_too_many_words_is_parsed_in_parts() {
    let parser = Parser::new(Arc::new(grammar()), &Cancel::new()).unwrap();
    let parsed = |words, max_length| {
        let options = Options { max_length, ..options(Decoder::MaxF1, usize::MAX) };
        parse(&parser, words, options, &mut Workspace::default()).0
    };
    assert_eq!(parsed(20, 20), parsed(20, usize::MAX));
    for max_length in [0, 1, 7, 19] {
        let analysis = parsed(20, max_length);
        assert_eq!(analysis.status, Status::Split);
        assert_tree(&analysis, 20);
        let spans = &analysis.trees[0].spans[1..];
        assert!(spans.iter().all(|span| span.end - span.start <= max_length.max(1) as u32));
    }
}

#[test]
fn lists_of_candidates_stay_within_their_memory() {
    let parser = Parser::new(Arc::new(grammar()), &Cancel::new()).unwrap();
    let (words, decoder) = (12, Decoder::MaxF1);
    let parsed = |memory, candidates| {
        let options = Options { candidates, ..options(decoder, memory) };
        parse(&parser, words, options, &mut Workspace::default())
    };
    let constant = parse(&parser, 2, options(decoder, usize::MAX), &mut Workspace::default()).1;
    let mut numbers = Vec::new();
    for power in [20, 24, 26, 28] {
        let memory = 1usize << power;
        let (analysis, most) = parsed(memory, 1_000_000);
        assert!(most <= memory + 2 * constant, "{most} of {memory} bytes");
        numbers.push(analysis.trees.len());
        // There are fewer trees, but they are the best ones.
        let (again, _) = parsed(memory, analysis.trees.len());
        assert_eq!(again.trees, analysis.trees);
    }
    assert!(numbers[0] >= 1 && numbers.is_sorted() && numbers[0] < numbers[3], "{numbers:?}");
}

#[test]
fn gold_constrained_charts_stay_within_their_memory() {
    let parser = Parser::new(Arc::new(grammar()), &Cancel::new()).unwrap();
    let words = 20;
    let tokens = sentence(words);
    let unlimited = options(Decoder::MaxF1, usize::MAX);
    let constant = parse(&parser, 2, unlimited, &mut Workspace::default()).1;
    let (analysis, _) = parse(&parser, words, unlimited, &mut Workspace::default());
    // Each symbol writes a label with its own number.
    let nodes: Vec<Node> = analysis.trees[0]
        .spans
        .iter()
        .map(|span| Node { symbol: SymbolId(span.label), start: span.start, end: span.end })
        .collect();
    let mut outcomes = Vec::new();
    for power in (12..26).step_by(2) {
        let memory = 1usize << power;
        let before = IN_USE.get();
        MOST.set(before);
        let options = options(Decoder::MaxF1, memory);
        let outcome = parser
            .gold_constrained(&tokens, &nodes, options, &mut Workspace::default(), &Cancel::new())
            .unwrap();
        let most = MOST.get() - before;
        // The chart is copied at the end.
        assert!(most <= 2 * memory + 2 * constant, "{most} of {memory} bytes");
        outcomes.push(outcome.err());
    }
    assert_eq!((outcomes[0], outcomes[6]), (Some(LeftOut::TooLarge), None));
}

#[test]
fn a_late_sentence_gets_a_tree() {
    let parser = Parser::new(Arc::new(grammar()), &Cancel::new()).unwrap();
    for decoder in [Decoder::MaxF1, Decoder::MaxRule] {
        for (words, max_length) in [(1, 20), (20, 20), (20, 6)] {
            let timeout = Some(Duration::ZERO);
            let options = Options { timeout, max_length, ..options(decoder, 1 << 30) };
            let (analysis, _) = parse(&parser, words, options, &mut Workspace::default());
            assert_eq!(analysis.status, Status::Timeout);
            assert_tree(&analysis, words);
        }
    }
}
