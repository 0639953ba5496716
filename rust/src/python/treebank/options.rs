//! The options of cleaning and transforming, read from the attributes of their Python classes.

use pyo3::prelude::*;

use crate::python::errors::ArgumentError;
use crate::treebank::clean::{CleanOptions, FunctionTags};
use crate::treebank::transform::{Annotate, Collapse, Direction, TransformOptions};

/// A `lpcfg.Cleaning`.
#[derive(FromPyObject)]
pub(super) struct CleaningIn {
    function_tags: String,
    separators: Option<String>,
    remove_empty: bool,
    merge_repeated: bool,
    root_label: Option<String>,
}

impl CleaningIn {
    pub(super) fn options(self) -> Result<CleanOptions, ArgumentError> {
        let function_tags = match self.function_tags.as_str() {
            "keep" => FunctionTags::Keep,
            "phrases" => FunctionTags::Phrases,
            "all" => FunctionTags::All,
            other => {
                let message = format!("function_tags is keep, phrases or all, not {other:?}");
                return Err(ArgumentError::new("function_tags", message));
            }
        };
        Ok(CleanOptions {
            function_tags,
            separators: self.separators.unwrap_or(CleanOptions::default().separators),
            remove_empty: self.remove_empty,
            merge_repeated: self.merge_repeated,
            root_label: self.root_label,
        })
    }
}

/// A `lpcfg.Transform`.
#[derive(FromPyObject)]
pub(super) struct TransformIn {
    binarize: String,
    horizontal: Option<usize>,
    vertical: usize,
    annotate: String,
    annotate_preterminals: bool,
    collapse_root: bool,
    collapse_inside: bool,
    collapse_preterminals: bool,
}

impl TransformIn {
    pub(super) fn options(&self) -> Result<TransformOptions, ArgumentError> {
        let direction = match self.binarize.as_str() {
            "left" => Direction::Left,
            "right" => Direction::Right,
            other => {
                let message = format!("binarize is left or right, not {other:?}");
                return Err(ArgumentError::new("binarize", message));
            }
        };
        let binarization_nodes = match self.annotate.as_str() {
            "original" => false,
            "all" => true,
            other => {
                let message = format!("annotate is original or all, not {other:?}");
                return Err(ArgumentError::new("annotate", message));
            }
        };
        Ok(TransformOptions {
            direction,
            horizontal: self.horizontal,
            vertical: self.vertical,
            annotate: Annotate { binarization_nodes, preterminals: self.annotate_preterminals },
            collapse: Collapse {
                root: self.collapse_root,
                inside: self.collapse_inside,
                preterminals: self.collapse_preterminals,
            },
        })
    }
}
