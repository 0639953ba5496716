//! Round trips, and the small files that all tests use.

mod contents;
mod reading;
mod writing;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::{ArrayView, ElementType, Error, ModelFile, Problem, to_bytes, write};
use crate::cancel::Cancel;

const JSON: &str = r#"{"symbols":["S","NP"]}"#;
const MARKS: &str = r#""__metadata__":{"format":"lpcfg-model","version":"1","json":"{}"}"#;

fn small_arrays() -> BTreeMap<&'static str, ArrayView<'static>> {
    BTreeMap::from([
        ("bytes", ArrayView::new(b"abc", &[3])),
        ("counts", ArrayView::new(&[-1_i64, 7], &[2])),
        ("none", ArrayView::new::<i32>(&[], &[0, 4])),
        ("scalar", ArrayView::new(&[2.5_f64], &[])),
        ("weights", ArrayView::new(&[0.5_f32, -1.0, 2.0, 0.25, 0.0, 8.0], &[2, 3])),
    ])
}

fn write_small(path: &Path) -> Result<(), Error> {
    write(path, &small_arrays(), JSON, &Cancel::new())
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

#[test]
fn round_trip_through_a_file() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("model");
    write_small(&path).unwrap();
    let file = ModelFile::open(&path).unwrap();
    assert_eq!(file.path(), path);
    assert_small(&file);
}

#[test]
fn round_trip_through_memory() {
    let bytes = to_bytes(&small_arrays(), JSON, &Cancel::new()).unwrap();
    assert_eq!(bytes, small_bytes(), "the bytes are those of the file");
    let file = ModelFile::from_bytes(bytes).unwrap();
    assert_eq!(file.path(), Path::new("<bytes>"));
    assert_small(&file);
}

#[test]
fn bytes_in_memory_are_checked() {
    let mut bytes = small_bytes();
    bytes.pop();
    let error = ModelFile::from_bytes(bytes).unwrap_err();
    assert!(matches!(error.problem, Problem::Truncated { .. }));
    assert!(error.to_string().starts_with("<bytes>: "), "{error}");
    let error = to_bytes(&small_arrays(), "{", &Cancel::new()).unwrap_err();
    assert!(matches!(error.problem, Problem::InvalidDocument(_)));
    let stop = Cancel::new();
    stop.cancel();
    let error = to_bytes(&small_arrays(), JSON, &stop).unwrap_err();
    assert!(matches!(error.problem, Problem::Cancelled(_)));
}

fn assert_small(file: &ModelFile) {
    assert_eq!(file.json(), JSON);
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
}
