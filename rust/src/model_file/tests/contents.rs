//! Bytes that are wrong in every way we can think of.

use proptest::prelude::*;

use super::{MARKS, entry, file_of, file_with_arrays, small_bytes};
use crate::model_file::contents::Contents;
use crate::model_file::read::cast_or_copy;
use crate::model_file::{Element, ElementType, FORMAT_VERSION, Problem};

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
    fn random_bytes_are_rejected(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Contents::parse(&bytes).is_err());
    }

    #[test]
    fn several_changes_are_an_error_or_harmless(
        damage in prop::collection::vec(
            (any::<usize>(), 0..9_usize, prop::collection::vec(any::<u8>(), 0..9)),
            1..5,
        ),
        copied in prop::option::of((any::<usize>(), 0..40_usize)),
    ) {
        let original = small_bytes();
        let mut bytes = original.clone();
        for (place, removed, inserted) in damage {
            let start = place % (bytes.len() + 1);
            let end = (start + removed).min(bytes.len());
            bytes.splice(start..end, inserted);
        }
        if let Some((place, length)) = copied {
            let start = place % original.len();
            let end = (start + length).min(original.len());
            bytes.extend_from_slice(&original[start..end]);
        }
        if let Ok(contents) = Contents::parse(&bytes) {
            check_well_formed(&bytes, &contents);
        }
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
