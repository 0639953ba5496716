//! Writing files, and leaving old ones alone when that fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{small_bytes, write_small};
use crate::cancel::Cancel;
use crate::model_file::contents::Contents;
use crate::model_file::{ArrayView, MAX_HEADER_BYTES, ModelFile, Problem, write};

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
    let name = "\"".repeat(MAX_HEADER_BYTES / 2);
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
