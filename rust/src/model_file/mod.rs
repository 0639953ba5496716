//! The model file: named arrays and one JSON document in one file.
//!
//! The container is [safetensors](https://huggingface.co/docs/safetensors): eight bytes of header
//! length, a JSON header, then the arrays back to back in little-endian order. A model file has
//! three entries in the `__metadata__` of its header: `format` is `lpcfg-model`, `version` is the
//! [`FORMAT_VERSION`] it was written with, and `json` is the document. This module does not know
//! what the arrays mean.
//!
//! # Safety of untrusted files
//!
//! A file may be truncated, damaged or hostile. [`ModelFile::open`] validates the header, every
//! offset, shape and type before it returns, and each way in which a file can be invalid is a
//! [`Problem`]. The values *inside* arrays, such as indices, must be checked by their readers.
//!
//! The file is read into memory as a whole before it is validated, so that what was validated is
//! what is used: nothing that happens to the file later has any effect. [`write`](write()) never
//! modifies a file in place. It writes a new file next to the old one and renames it, so that no
//! reader finds half a file.
//!
//! # Source layout
//!
//! `element`: the element types of arrays. `problem`: errors. `contents`: validation of the bytes
//! of a file. `read`: reading from a file or from bytes. `write`: writing to a file or to bytes.

mod contents;
mod element;
mod problem;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use element::{ArrayView, Element, ElementType};
pub use problem::{Error, Problem};
pub use read::ModelFile;
pub use write::{to_bytes, write};

/// The newest version of the format that this code reads, and the one it writes.
pub const FORMAT_VERSION: u32 = 2;

/// The value of `format` in the metadata of model files.
const FORMAT_NAME: &str = "lpcfg-model";

/// The key of the metadata in a safetensors header. No array can have this name.
const METADATA_KEY: &str = "__metadata__";

/// The path in messages about model files that are not on disk.
const IN_MEMORY: &str = "<bytes>";

/// The number of bytes of the little-endian header length at the start of a file.
const LENGTH_BYTES: usize = size_of::<u64>();

/// The longest header that safetensors reads.
const MAX_HEADER_BYTES: usize = 100_000_000;

#[cfg(target_endian = "big")]
compile_error!("model files are little-endian and are used in memory as they are");
