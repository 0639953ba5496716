//! The model file: named arrays and one JSON document in one memory-mapped file.
//!
//! The container is [safetensors](https://huggingface.co/docs/safetensors): eight bytes of header
//! length, a JSON header, then the arrays back to back in little-endian order. Three entries of
//! the header's `__metadata__` make such a file ours: `format` is `lpcfg-model`, `version` is the
//! [`FORMAT_VERSION`] it was written with, and `json` is the document. What the arrays mean is
//! the business of whoever stores them.
//!
//! # Trust
//!
//! A file may be truncated, damaged or hostile. [`ModelFile::open`] validates the header, every
//! offset, shape and type before it returns, and each way a file can be wrong is a [`Problem`].
//! Values *inside* arrays (an index out of range, say) are for the reader of the arrays to check.
//!
//! As with every memory map, nothing can be promised if another process *modifies* the file in
//! place while it is mapped: values may change under the reader, and reading past a new, shorter
//! end kills the process (`SIGBUS`). [`write`](write()) never does that. It writes a new file
//! beside the old one and renames it, so that a reader which has the old one mapped keeps it.
//!
//! # Source layout
//!
//! `element`: the types an array may have. `problem`: errors. `contents`: bytes to a validated
//! table of arrays, with no file in sight. `read`: the memory map, or bytes in memory. `write`: the
//! way back to either.

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

/// The value of `format` in the metadata of our files.
const FORMAT_NAME: &str = "lpcfg-model";

/// The key of the metadata in a safetensors header, hence not a name for an array.
const METADATA_KEY: &str = "__metadata__";

/// What stands for the path of a model file that is not on the disk.
const IN_MEMORY: &str = "<bytes>";

/// Bytes of the little-endian header length that opens a file.
const LENGTH_BYTES: usize = size_of::<u64>();

/// The longest header that safetensors reads.
const MAX_HEADER_BYTES: usize = 100_000_000;

#[cfg(target_endian = "big")]
compile_error!("model files are little-endian and are mapped into memory as they are");
