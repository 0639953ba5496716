//! Round trips, and files that are wrong in every way we can think of.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::contents::Contents;
use super::read::cast_or_copy;
use super::{ArrayView, Element, ElementType, Error, FORMAT_VERSION, ModelFile, Problem, write};
use crate::cancel::Cancel;

const JSON: &str = r#"{"symbols":["S","NP"]}"#;
const MARKS: &str = r#""__metadata__":{"format":"lpcfg-model","version":"1","json":"{}"}"#;

fn write_small(path: &Path) -> Result<(), Error> {
    let weights = [0.5_f32, -1.0, 2.0, 0.25, 0.0, 8.0];
    let arrays = BTreeMap::from([
        ("bytes", ArrayView::new(b"abc", &[3])),
        ("counts", ArrayView::new(&[-1_i64, 7], &[2])),
        ("none", ArrayView::new::<i32>(&[], &[0, 4])),
        ("scalar", ArrayView::new(&[2.5_f64], &[])),
        ("weights", ArrayView::new(&weights, &[2, 3])),
    ]);
    write(path, &arrays, JSON, &Cancel::new())
}

fn small_bytes() -> Vec<u8> {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("model");
    write_small(&path).unwrap();
    fs::read(path).unwrap()
}

/// A file with a header of our choice.
fn file_of(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u64).to_le_bytes();
    [&length, header.as_bytes(), data].concat()
}

/// A file of ours, but for the entries of its arrays.
fn file_with_arrays(entries: &str, data: &[u8]) -> Vec<u8> {
    file_of(&format!("{{{MARKS},{entries}}}"), data)
}

fn entry(name: &str, dtype: &str, shape: &str, start: i64, end: i64) -> String {
    format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}"#)
}

fn problem_of(bytes: impl AsRef<[u8]>) -> Problem {
    Contents::parse(bytes.as_ref()).expect_err("the file should be rejected")
}

macro_rules! assert_problem {
    ($bytes:expr, $pattern:pat) => {
        let problem = problem_of($bytes);
        assert!(matches!(problem, $pattern), "{problem:?}");
    };
}

/// Reads every byte of every array the way a typed reader would.
fn check_well_formed(bytes: &[u8], contents: &Contents) {
    fn count<T: Element>(bytes: &[u8]) -> usize {
        cast_or_copy::<T>(bytes).len()
    }
    for entry in contents.arrays.values() {
        let bytes = &bytes[entry.range.clone()];
        let elements = match entry.element_type {
            ElementType::U8 => count::<u8>(bytes),
            ElementType::I32 => count::<i32>(bytes),
            ElementType::U32 => count::<u32>(bytes),
            ElementType::I64 => count::<i64>(bytes),
            ElementType::U64 => count::<u64>(bytes),
            ElementType::F32 => count::<f32>(bytes),
            ElementType::F64 => count::<f64>(bytes),
        };
        assert_eq!(elements, entry.shape.iter().product::<usize>());
    }
}

#[test]
fn round_trip() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("model");
    write_small(&path).unwrap();
    let file = ModelFile::open(&path).unwrap();
    assert_eq!(file.json(), JSON);
    assert_eq!(file.path(), path);
    assert_eq!(file.names().collect::<Vec<_>>(), ["bytes", "counts", "none", "scalar", "weights"]);
    assert_eq!(*file.array::<u8>("bytes").unwrap(), *b"abc");
    assert_eq!(*file.array::<i64>("counts").unwrap(), [-1, 7]);
    assert!(file.array::<i32>("none").unwrap().is_empty());
    assert_eq!(*file.array::<f64>("scalar").unwrap(), [2.5]);
    assert_eq!(*file.array::<f32>("weights").unwrap(), [0.5, -1.0, 2.0, 0.25, 0.0, 8.0]);
    assert_eq!(file.shape("weights").unwrap(), [2, 3]);
    assert_eq!(file.shape("none").unwrap(), [0, 4]);
    assert!(file.shape("scalar").unwrap().is_empty());
    assert_eq!(file.element_type("weights").unwrap(), ElementType::F32);
}

#[test]
fn equal_contents_give_equal_bytes() {
    // Hash maps are seeded anew for each map, so one comparison could pass by chance.
    let first = small_bytes();
    for _ in 0..20 {
        assert_eq!(small_bytes(), first);
    }
}

#[test]
fn arrays_are_aligned() {
    let bytes = small_bytes();
    for entry in Contents::parse(&bytes).unwrap().arrays.values() {
        assert_eq!(entry.range.start % entry.element_type.size(), 0);
    }
}

#[test]
fn misaligned_arrays_are_copied() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("model");
    let entries = [entry("a", "U8", "[1]", 0, 1), entry("b", "F32", "[2]", 1, 9)].join(",");
    let data = [&[7_u8] as &[u8], &1.5_f32.to_le_bytes(), &(-2.0_f32).to_le_bytes()].concat();
    let mut bytes = file_with_arrays(&entries, &data);
    if (bytes.len() - data.len() + 1).is_multiple_of(4) {
        // One space more in the header puts the floats off their boundary.
        bytes = file_with_arrays(&format!(" {entries}"), &data);
    }
    fs::write(&path, bytes).unwrap();
    let file = ModelFile::open(&path).unwrap();
    let floats = file.array::<f32>("b").unwrap();
    assert!(matches!(floats, std::borrow::Cow::Owned(_)));
    assert_eq!(*floats, [1.5, -2.0]);
}

#[test]
fn what_is_not_a_model() {
    assert_problem!([0_u8; 0], Problem::Empty);
    assert_problem!(b"(S (NP (PRP we)) (VP (VBP sing)))\n", Problem::Text);
    assert_problem!(b"hi\n", Problem::Text);
    assert_problem!("(S (X één))".repeat(100).as_bytes(), Problem::Text);
    assert_problem!([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3], Problem::Compressed);
    assert_problem!([16, 0, 0], Problem::TooShort { found: 3 });
    assert_problem!([0xff; 64], Problem::HeaderTooLarge { claimed: u64::MAX });
    assert_problem!(file_of("{}", b""), Problem::Foreign);
    assert_problem!(file_of(r#"{"__metadata__":{"format":"pt"}}"#, b""), Problem::Foreign);
}

#[test]
fn damaged_headers() {
    assert_problem!(file_of("", b""), Problem::HeaderNotJson(_));
    assert_problem!(file_of("{\"a\":", b""), Problem::HeaderNotJson(_));
    assert_problem!(file_of("[1]", b""), Problem::HeaderNotJson(_));
    assert_problem!(file_of(r#"{"__metadata__":[]}"#, b""), Problem::HeaderNotJson(_));
    assert_problem!([2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe], Problem::HeaderNotUtf8(_));
    let twice = format!("{{{MARKS},{MARKS}}}");
    assert_problem!(file_of(&twice, b""), Problem::DuplicateName(_));
    let twice = [entry("a", "U8", "[1]", 0, 1), entry("a", "U8", "[1]", 0, 1)].join(",");
    assert_problem!(file_with_arrays(&twice, b"x"), Problem::DuplicateName(_));
    let nested = format!(r#"{{"a":{}}}"#, "[".repeat(100_000));
    assert_problem!(file_of(&nested, b""), Problem::HeaderNotJson(_));
    let nested = format!(r#""a":{}{}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_problem!(file_with_arrays(&nested, b""), Problem::BadEntry(_));
}

#[test]
fn versions_and_documents() {
    let with = |version: &str, json: &str| {
        let metadata = format!(r#""format":"lpcfg-model"{version}{json}"#);
        file_of(&format!(r#"{{"__metadata__":{{{metadata}}}}}"#), b"")
    };
    let json = r#","json":"{}""#;
    assert!(Contents::parse(&with(r#","version":"1""#, json)).is_ok());
    let newer = format!(r#","version":"{}""#, FORMAT_VERSION + 1);
    assert_problem!(with(&newer, json), Problem::NewerVersion(_));
    // A newer version is told as such even if the rest is beyond us.
    assert_problem!(with(&newer, ""), Problem::NewerVersion(_));
    for version in ["", r#","version":"0""#, r#","version":"-1""#, r#","version":"one""#] {
        assert_problem!(with(version, json), Problem::BadVersion(_));
    }
    assert_problem!(with(r#","version":"1""#, ""), Problem::MissingDocument);
    assert_problem!(with(r#","version":"1""#, r#","json":"{""#), Problem::InvalidDocument(_));
    let nested = format!(r#","json":"{}{}""#, "[".repeat(100_000), "]".repeat(100_000));
    assert_problem!(with(r#","version":"1""#, &nested), Problem::InvalidDocument(_));
}

#[test]
fn damaged_arrays() {
    let one = |dtype: &str, shape: &str, start: i64, end: i64, data: &[u8]| {
        file_with_arrays(&entry("a", dtype, shape, start, end), data)
    };
    let two = |first: String, second: String, data: &[u8]| {
        file_with_arrays(&[first, second].join(","), data)
    };
    assert!(Contents::parse(&one("U8", "[2]", 0, 2, b"ab")).is_ok());
    assert_problem!(one("U9", "[2]", 0, 2, b"ab"), Problem::BadEntry(_));
    assert_problem!(one("U8", "[-2]", 0, 2, b"ab"), Problem::BadEntry(_));
    assert_problem!(one("U8", "[2]", -2, 0, b"ab"), Problem::BadEntry(_));
    assert_problem!(one("U8", "[1]", 1, 2, b"ab"), Problem::BadOffsets(_));
    assert_problem!(one("U8", "[2]", 0, 3, b"abc"), Problem::SizeMismatch);
    assert_problem!(one("F16", "[1]", 0, 2, b"ab"), Problem::UnsupportedType { .. });
    assert_problem!(one("U8", "[4]", 0, 4, b"ab"), Problem::Truncated { .. });
    assert_problem!(one("U8", "[1]", 0, 1, b"ab"), Problem::TrailingBytes { .. });
    assert_problem!(one("F4", "[3]", 0, 1, b"a"), Problem::Layout(_));
    let huge = i64::MAX;
    assert_problem!(one("F64", &format!("[{huge},3]"), 0, 8, &[0; 8]), Problem::SizeOverflow);
    let hidden = format!("[0,{huge},{huge}]");
    assert_problem!(one("F64", &hidden, 0, 0, b""), Problem::ImpossibleShape { .. });
    let deep = format!("[{}1]", "1,".repeat(32));
    assert_problem!(one("U8", &deep, 0, 1, b"a"), Problem::ImpossibleShape { .. });
    let first = entry("a", "U8", "[2]", 0, 2);
    let overlapping = two(first.clone(), entry("b", "U8", "[2]", 1, 3), b"abc");
    assert_problem!(overlapping, Problem::BadOffsets(_));
    let shared = two(first.clone(), entry("b", "U8", "[2]", 0, 2), b"ab");
    assert_problem!(shared, Problem::BadOffsets(_));
    let gap = two(first, entry("b", "U8", "[1]", 3, 4), b"abcd");
    assert_problem!(gap, Problem::BadOffsets(_));
}

#[test]
fn what_a_reader_can_ask_wrongly() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("model");
    write_small(&path).unwrap();
    let file = ModelFile::open(&path).unwrap();
    let missing = file.array::<f32>("weigths").unwrap_err();
    assert!(missing.to_string().contains("it has: bytes, counts, none, scalar, weights"));
    assert!(missing.to_string().starts_with(&path.display().to_string()));
    let wrong = file.array::<f64>("weights").unwrap_err().problem;
    assert!(matches!(wrong, Problem::WrongType { found: ElementType::F32, .. }));
    file.check_shape("weights", &[None, Some(3)]).unwrap();
    for pattern in [vec![Some(2)], vec![Some(3), Some(2)], vec![None; 3]] {
        let wrong = file.check_shape("weights", &pattern).unwrap_err().problem;
        assert!(matches!(wrong, Problem::WrongShape { .. }));
    }
    let wrong = file.check_shape("weights", &[None, Some(2)]).unwrap_err();
    assert!(wrong.to_string().ends_with("has shape [2, 3], expected [any, 2]"), "{wrong}");
}

#[test]
fn paths_that_are_no_files() {
    let directory = TempDir::new().unwrap();
    let problem = |path: &Path| ModelFile::open(path).unwrap_err().problem;
    assert!(matches!(problem(&directory.path().join("absent")), Problem::NotFound));
    assert!(matches!(problem(directory.path()), Problem::IsDirectory));
    let write_problem = |path: &Path| write_small(path).unwrap_err().problem;
    assert!(matches!(write_problem(directory.path()), Problem::IsDirectory));
    assert!(matches!(write_problem(&directory.path().join("absent/model")), Problem::NotFound));
    let empty = directory.path().join("empty");
    fs::write(&empty, b"").unwrap();
    assert!(matches!(problem(&empty), Problem::Empty));
}

#[cfg(unix)]
#[test]
fn special_files_are_neither_read_nor_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    assert!(matches!(ModelFile::open(&path).unwrap_err().problem, Problem::NotRegular));
    assert!(matches!(write_small(&path).unwrap_err().problem, Problem::NotRegular));
    assert!(fs::metadata(&path).unwrap().file_type().is_socket());
}

#[test]
fn what_cannot_be_written_leaves_the_old_file() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("model");
    write_small(&path).unwrap();
    let before = fs::read(&path).unwrap();
    let attempt = |name: &str, shape: &[usize], json: &str, cancel: &Cancel| {
        let arrays = BTreeMap::from([(name, ArrayView::new(&[1_u32, 2], shape))]);
        write(&path, &arrays, json, cancel).unwrap_err().problem
    };
    let go = Cancel::new();
    assert!(matches!(attempt("a", &[2], "{", &go), Problem::InvalidDocument(_)));
    assert!(matches!(attempt("a", &[3], "{}", &go), Problem::ShapeMismatch { elements: 2, .. }));
    let huge = [usize::MAX, 2];
    assert!(matches!(attempt("a", &huge, "{}", &go), Problem::ImpossibleShape { .. }));
    assert!(matches!(attempt("__metadata__", &[2], "{}", &go), Problem::ReservedName(_)));
    // Names count twice as much as their bytes here: each quote is escaped.
    let name = "\"".repeat(super::MAX_HEADER_BYTES / 2);
    assert!(matches!(attempt(&name, &[2], "{}", &go), Problem::DocumentTooLarge(_)));
    let stop = Cancel::new();
    stop.cancel();
    assert!(matches!(attempt("a", &[2], "{}", &stop), Problem::Cancelled(_)));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "temporary file left behind");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = TempDir::new().unwrap();
    let (path, link) = (directory.path().join("model"), directory.path().join("link"));
    let plain = directory.path().join("plain");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::write(&plain, b"").unwrap();
    write_small(&path).unwrap();
    assert_eq!(mode(&path), mode(&plain));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&path, &link).unwrap();
    write(&link, &BTreeMap::new(), "[]", &Cancel::new()).unwrap();
    assert_eq!(mode(&path), 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(ModelFile::open(&path).unwrap().json(), "[]");
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = small_bytes();
    for length in 0..bytes.len() {
        problem_of(&bytes[..length]);
    }
}

#[test]
fn every_changed_byte_is_an_error_or_harmless() {
    let mut bytes = small_bytes();
    for position in 0..bytes.len() {
        let original = bytes[position];
        for value in 0..=u8::MAX {
            bytes[position] = value;
            if let Ok(contents) = Contents::parse(&bytes) {
                check_well_formed(&bytes, &contents);
            }
        }
        bytes[position] = original;
    }
}

proptest! {
    #[test]
    fn random_arrays_survive(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        ids in prop::collection::vec(any::<i32>(), 0..40),
        offsets in prop::collection::vec(any::<u64>(), 0..40),
        weights in prop::collection::vec(prop::num::f64::NORMAL, 0..40),
        names in prop::collection::btree_set(".{0,8}", 4),
        document in ".{0,20}",
    ) {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("model");
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let json = serde_json::to_string(&document).unwrap();
        let arrays = BTreeMap::from([
            (names[0], ArrayView::new(&bytes, &[bytes.len()])),
            (names[1], ArrayView::new(&ids, &[1, ids.len()])),
            (names[2], ArrayView::new(&offsets, &[offsets.len(), 1])),
            (names[3], ArrayView::new(&weights, &[weights.len()])),
        ]);
        write(&path, &arrays, &json, &Cancel::new()).unwrap();
        let file = ModelFile::open(&path).unwrap();
        prop_assert_eq!(file.json(), json);
        prop_assert_eq!(file.names().collect::<Vec<_>>(), names.clone());
        prop_assert_eq!(&*file.array::<u8>(names[0]).unwrap(), &bytes);
        prop_assert_eq!(&*file.array::<i32>(names[1]).unwrap(), &ids);
        prop_assert_eq!(&*file.array::<u64>(names[2]).unwrap(), &offsets);
        prop_assert_eq!(&*file.array::<f64>(names[3]).unwrap(), &weights);
    }

    #[test]
    fn random_bytes_are_rejected(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Contents::parse(&bytes).is_err());
    }

    #[test]
    fn random_headers_never_panic(header in ".{0,60}", data in prop::collection::vec(any::<u8>(), 0..20)) {
        prop_assert!(Contents::parse(&file_of(&header, &data)).is_err());
    }

    #[test]
    fn random_entries_never_panic(
        dtype in prop::sample::select(vec!["U8", "F32", "I64", "F4", "F16", "Q"]),
        shape in prop::collection::vec(prop_oneof![0..4_u64, any::<u64>()], 0..4),
        start in prop_oneof![Just(0), -2..4_i64, any::<i64>()],
        end in prop_oneof![0..20_i64, any::<i64>()],
        data in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let bytes = file_with_arrays(&entry("a", dtype, &format!("{shape:?}"), start, end), &data);
        if let Ok(contents) = Contents::parse(&bytes) {
            check_well_formed(&bytes, &contents);
        }
    }
}
