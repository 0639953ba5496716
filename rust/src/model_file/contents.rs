//! From the bytes of a file to a table of arrays that is safe to use.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::Range;

use safetensors::tensor::Metadata;
use safetensors::{SafeTensorError, SafeTensors};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::element::check_shape;
use super::{
    ElementType, FORMAT_NAME, FORMAT_VERSION, LENGTH_BYTES, MAX_HEADER_BYTES, METADATA_KEY, Problem,
};

/// The number of bytes that are read to tell text from a model.
const SNIFFED_BYTES: usize = 512;

/// The type, the shape and the bytes of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) element_type: ElementType,
    pub(super) shape: Vec<usize>,
    /// The range of its bytes in the file: in bounds, and as long as type and shape require.
    pub(super) range: Range<usize>,
}

/// The contents of a file, validated.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) json: String,
    pub(super) arrays: BTreeMap<String, Entry>,
}

impl Contents {
    /// Validate a whole file.
    ///
    /// Format and version are checked before the arrays: a newer version may describe its arrays in
    /// ways unknown here, which should not be reported as damage.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        recognise(bytes)?;
        let header = header(bytes)?;
        let json = document(header)?;
        let (_, metadata) =
            SafeTensors::read_metadata(bytes).map_err(|error| layout(error, header, bytes))?;
        let data_start = LENGTH_BYTES + header.len();
        let arrays = metadata
            .tensors()
            .into_iter()
            .map(|(name, info)| {
                let Some(element_type) = ElementType::from_dtype(info.dtype) else {
                    return Err(Problem::UnsupportedType { name, found: info.dtype.to_string() });
                };
                check_shape(&name, &info.shape, element_type.size())?;
                let (start, end) = info.data_offsets;
                let range = data_start + start..data_start + end;
                Ok((name, Entry { element_type, shape: info.shape.clone(), range }))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { json, arrays })
    }
}

/// Reject what is clearly no model file, before its first bytes are taken for a length.
fn recognise(bytes: &[u8]) -> Result<(), Problem> {
    // As a header length this would be odd, but headers are padded to multiples of eight.
    const GZIP: &[u8] = &[0x1f, 0x8b, 0x08];
    if bytes.is_empty() {
        return Err(Problem::Empty);
    }
    if bytes.starts_with(GZIP) {
        return Err(Problem::Compressed);
    }
    let start = &bytes[..bytes.len().min(SNIFFED_BYTES)];
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // A character cut off by the end of the window is still text.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return Ok(()),
    };
    // The length of any acceptable header has zeros in its upper half; text has none.
    if text.chars().any(|character| character.is_control() && !character.is_whitespace()) {
        return Ok(());
    }
    Err(Problem::Text)
}

/// The bytes of the header.
fn header(bytes: &[u8]) -> Result<&[u8], Problem> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else {
        return Err(Problem::TooShort { found: bytes.len() });
    };
    let claimed = u64::from_le_bytes(*length);
    let length = usize::try_from(claimed)
        .ok()
        .filter(|&length| length <= MAX_HEADER_BYTES)
        .ok_or(Problem::HeaderTooLarge { claimed })?;
    rest.get(..length)
        .ok_or(Problem::Truncated { expected: LENGTH_BYTES + length, found: bytes.len() })
}

/// The JSON document, if the header has the right format and a version that can be read.
fn document(header: &[u8]) -> Result<String, Problem> {
    let header = std::str::from_utf8(header).map_err(Problem::HeaderNotUtf8)?;
    let preamble: Preamble = serde_json::from_str(header).map_err(Problem::HeaderNotJson)?;
    if let Some(name) = preamble.duplicate {
        return Err(Problem::DuplicateName(name));
    }
    let mut metadata = preamble.metadata;
    if metadata.get("format").is_none_or(|format| format != FORMAT_NAME) {
        return Err(Problem::Foreign);
    }
    let version = metadata.remove("version").unwrap_or_default();
    match version.parse::<u32>() {
        Ok(number @ 1..) if number > FORMAT_VERSION => return Err(Problem::NewerVersion(number)),
        Ok(1..) => {}
        _ => return Err(Problem::BadVersion(version)),
    }
    let json = metadata.remove("json").ok_or(Problem::MissingDocument)?;
    check_document(&json)?;
    Ok(json)
}

/// Check that the document is valid JSON, and not nested too deeply.
pub(super) fn check_document(json: &str) -> Result<(), Problem> {
    serde_json::from_str::<serde_json::Value>(json).map(drop).map_err(Problem::InvalidDocument)
}

/// An error of safetensors as a [`Problem`].
fn layout(error: SafeTensorError, header: &[u8], bytes: &[u8]) -> Problem {
    match error {
        SafeTensorError::InvalidHeaderDeserialization(error) => Problem::BadEntry(error),
        SafeTensorError::InvalidOffset(name) => Problem::BadOffsets(name),
        SafeTensorError::TensorInvalidInfo => Problem::SizeMismatch,
        SafeTensorError::ValidationOverflow => Problem::SizeOverflow,
        SafeTensorError::MetadataIncompleteBuffer => {
            // Whether bytes are missing or left over follows from the header, which is valid.
            let found = bytes.len();
            match serde_json::from_slice::<Metadata>(header) {
                Ok(metadata) => {
                    let expected = LENGTH_BYTES + header.len() + metadata.data_len();
                    if found < expected {
                        Problem::Truncated { expected, found }
                    } else {
                        Problem::TrailingBytes { expected, found }
                    }
                }
                Err(error) => Problem::BadEntry(error),
            }
        }
        error => Problem::Layout(error),
    }
}

/// The part of a header that all versions share, and the first duplicate name, which safetensors
/// forbids but does not detect.
#[derive(Default)]
struct Preamble {
    metadata: HashMap<String, String>,
    duplicate: Option<String>,
}

impl<'de> Deserialize<'de> for Preamble {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PreambleVisitor;

        impl<'de> Visitor<'de> for PreambleVisitor {
            type Value = Preamble;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of arrays and metadata")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Preamble, A::Error> {
                let mut preamble = Preamble::default();
                let mut seen = HashSet::new();
                while let Some(name) = map.next_key::<Cow<'de, str>>()? {
                    if name == METADATA_KEY {
                        preamble.metadata = map.next_value()?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                    if let Some(name) = seen.replace(name) {
                        preamble.duplicate.get_or_insert(name.into_owned());
                    }
                }
                Ok(preamble)
            }
        }

        deserializer.deserialize_map(PreambleVisitor)
    }
}
