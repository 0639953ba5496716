//! Each way in which reading or writing a model file can go wrong.

use std::io;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use safetensors::SafeTensorError;

use super::{ElementType, FORMAT_VERSION, MAX_HEADER_BYTES};
use crate::cancel::Cancelled;

/// A [`Problem`] and the file that has it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct Error {
    /// The file, as the caller named it.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: Problem,
}

/// What can be wrong with a model file, or with what should be written to one.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// There is nothing at the path.
    #[error("no such file")]
    NotFound,
    /// The path is a directory.
    #[error("is a directory, not a model file")]
    IsDirectory,
    /// The path is a pipe, a socket or a device, which cannot be read or replaced.
    #[error("is a pipe or a device; a model must be a regular file")]
    NotRegular,
    /// An error of the operating system.
    #[error("{0}")]
    Io(#[from] io::Error),

    /// The file has no bytes at all.
    #[error("is empty, not a model file; was writing it interrupted?")]
    Empty,
    /// The file is text, such as a treebank.
    #[error("is a text file, not a model file; to learn a model from a treebank, train on it")]
    Text,
    /// The file is compressed with gzip, as treebanks often are.
    #[error(
        "is compressed with gzip, not a model file; decompress it if it is a model, train on it \
         if it is a treebank"
    )]
    Compressed,
    /// The file is too short to hold even the length of its header.
    #[error("has only {found} bytes, too few for a model file; copy or train it again")]
    TooShort {
        /// Bytes in the file.
        found: usize,
    },
    /// The file claims a header longer than any reader accepts.
    #[error(
        "is not a model file, or is damaged: it claims a header of {claimed} bytes, but \
         {MAX_HEADER_BYTES} is the limit"
    )]
    HeaderTooLarge {
        /// The length the file claims for its header.
        claimed: u64,
    },
    /// The file ends before its header or its last array does.
    #[error("is truncated: {found} bytes of at least {expected}; copy or train it again")]
    Truncated {
        /// Bytes needed.
        expected: usize,
        /// Bytes in the file.
        found: usize,
    },
    /// The file goes on after its last array.
    #[error("is damaged: {found} bytes, but its arrays end at {expected}; copy or train it again")]
    TrailingBytes {
        /// Where the last array ends.
        expected: usize,
        /// Bytes in the file.
        found: usize,
    },
    /// The header is not UTF-8.
    #[error("is not a model file, or is damaged: the header is not UTF-8 ({0})")]
    HeaderNotUtf8(Utf8Error),
    /// The header is not JSON, or not an object, or its metadata are not strings.
    #[error("is not a model file, or is damaged: the header is not valid JSON ({0})")]
    HeaderNotJson(serde_json::Error),
    /// The header has two entries of one name.
    #[error("is damaged: the header has two entries named {0:?}")]
    DuplicateName(String),
    /// A safetensors file that is not a model file.
    #[error("is a safetensors file, but not an lpcfg model")]
    Foreign,
    /// The format version is missing or not a positive number.
    #[error("is damaged: {0:?} is not a format version")]
    BadVersion(String),
    /// The file has a version that this code does not know yet.
    #[error(
        "was written by a newer lpcfg (format version {0}, this one reads up to \
         {FORMAT_VERSION}); upgrade lpcfg to read it"
    )]
    NewerVersion(u32),
    /// The file has no JSON document.
    #[error("is damaged: the JSON document is missing")]
    MissingDocument,
    /// The JSON document is not JSON.
    #[error("the JSON document is not valid JSON ({0})")]
    InvalidDocument(serde_json::Error),
    /// The header entry of an array has a missing, unknown or invalid field, such as a negative
    /// offset.
    #[error("is damaged: the header does not describe its arrays ({0})")]
    BadEntry(serde_json::Error),
    /// An array does not begin where the one before it ends.
    #[error("is damaged: array {0:?} overlaps another one, leaves a gap or ends before it begins")]
    BadOffsets(String),
    /// The number of bytes of an array does not match its type and shape.
    #[error("is damaged: the size of an array does not match its type and shape")]
    SizeMismatch,
    /// The size of an array overflows.
    #[error("is damaged: an array is larger than any memory")]
    SizeOverflow,
    /// Any other error of safetensors.
    #[error("is damaged: {0}")]
    Layout(SafeTensorError),
    /// An array has a type that models do not use.
    #[error("array {name:?} has elements of type {found}, which models do not use")]
    UnsupportedType {
        /// The array.
        name: String,
        /// The type, as safetensors calls it.
        found: String,
    },
    /// An array has more dimensions, or larger ones, than memory can hold.
    #[error("array {name:?} has an impossible shape {shape:?}")]
    ImpossibleShape {
        /// The array.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
    },

    /// There is no array of that name.
    #[error("has no array {name:?}; it has: {available}")]
    MissingArray {
        /// The name asked for.
        name: String,
        /// The names there are.
        available: String,
    },
    /// An array has another type than the reader expects.
    #[error("array {name:?} has elements of type {found}, expected {expected}")]
    WrongType {
        /// The array.
        name: String,
        /// The type expected.
        expected: String,
        /// The type it has.
        found: ElementType,
    },
    /// An array has another shape than the reader expects.
    #[error("array {name:?} has shape {found:?}, expected {}", display_pattern(expected))]
    WrongShape {
        /// The array.
        name: String,
        /// The lengths expected; `None` for any.
        expected: Vec<Option<usize>>,
        /// The shape it has.
        found: Vec<usize>,
    },

    /// To be written: an array has the name that the header uses for its metadata.
    #[error("no array may be named {0:?}; choose another name")]
    ReservedName(String),
    /// To be written: an array's shape does not fit the number of its elements.
    #[error("array {name:?} has {elements} elements, which do not fill the shape {shape:?}")]
    ShapeMismatch {
        /// The array.
        name: String,
        /// Its elements.
        elements: usize,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// To be written: names and JSON document are too long for a header.
    #[error(
        "the JSON document and the names of arrays take {0} bytes, but {MAX_HEADER_BYTES} is the \
         limit; store long lists as arrays"
    )]
    DocumentTooLarge(usize),
    /// Writing was cancelled; the file is as it was before.
    #[error("writing was cancelled")]
    Cancelled(#[from] Cancelled),
}

impl Problem {
    /// The problem of the file at `path`.
    pub fn at(self, path: &Path) -> Error {
        Error { path: path.to_owned(), problem: self }
    }

    /// A system error, as the variant of its kind if there is one.
    pub(super) fn from_io(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::IsADirectory => Self::IsDirectory,
            _ => Self::Io(error),
        }
    }
}

/// A shape in which `None` stands for any length.
fn display_pattern(pattern: &[Option<usize>]) -> String {
    let lengths: Vec<String> = pattern
        .iter()
        .map(|length| length.map_or_else(|| "any".to_owned(), |length| length.to_string()))
        .collect();
    format!("[{}]", lengths.join(", "))
}
