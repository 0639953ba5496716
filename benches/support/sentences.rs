//! Sentences to parse, and the options with which they are parsed.

#![allow(dead_code, reason = "each bench uses a part")]

use lpcfg_core::cancel::Cancel;
use lpcfg_core::grammar::Token;
use lpcfg_core::parser::{Combine, Decoder, Options, Parser, Status, Workspace};

use crate::counted_grammar::Counted;
use crate::stages::{COARSE_THRESHOLD, THRESHOLD};

const SENTENCES: usize = 4;

/// The thresholds of the passes, and one tree.
pub fn options(decoder: Decoder) -> Options {
    Options {
        decoder,
        combine: Combine::Posteriors,
        coarse_threshold: COARSE_THRESHOLD,
        span_recall: 1.0,
        member_threshold: 0.0,
        threshold: THRESHOLD,
        memory: usize::MAX,
        candidates: 1,
        max_length: usize::MAX,
        timeout: None,
        marginals: false,
        times: false,
    }
}

/// Sentences of a length that parse without a fallback, which would run the passes more than once.
pub fn sentences(counted: &Counted, parser: &Parser, length: usize) -> Vec<Vec<Token>> {
    let mut workspace = Workspace::default();
    let mut kept = counted.sentences(length, 2 * SENTENCES);
    kept.retain(|sentence| {
        let analysis = parser.analyze(
            sentence.as_slice().into(),
            options(Decoder::MaxF1),
            &mut workspace,
            &Cancel::new(),
        );
        analysis.expect("nobody cancels").status == Status::Parsed
    });
    kept.truncate(SENTENCES);
    assert!(
        !kept.is_empty(),
        "no sentence of length {length} parses without a fallback"
    );
    kept
}
