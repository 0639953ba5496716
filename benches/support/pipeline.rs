//! From bracketed text to a forest, and the transform of the benches.

use lpcfg_core::treebank::bracket::{BracketReader, ReadOptions};
use lpcfg_core::treebank::forest::Forest;
use lpcfg_core::treebank::transform::{Annotate, Collapse, Direction, TransformOptions};

/// The two-stage scheme, (v < 1, h = 1), with all unary chains collapsed.
pub const TRANSFORM: TransformOptions = TransformOptions {
    direction: Direction::Right,
    horizontal: Some(1),
    vertical: 1,
    annotate: Annotate {
        binarization_nodes: false,
        preterminals: false,
    },
    collapse: Collapse {
        root: true,
        inside: true,
        preterminals: true,
    },
};

/// Read trees that are known to be well-formed.
pub fn read(text: &str) -> Forest {
    let mut reader = BracketReader::new(ReadOptions::default());
    reader
        .feed(text.as_bytes())
        .expect("the trees are well-formed");
    reader.finish().expect("the last tree is complete");
    reader.take_forest()
}
