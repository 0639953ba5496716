//! Opening files and asking for their arrays.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{entry, file_with_arrays, write_small};
use crate::model_file::{ElementType, ModelFile, Problem};

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
