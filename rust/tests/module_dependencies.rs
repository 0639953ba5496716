//! Top-level modules depend on each other as the table in `lib.rs` says, and in no circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// For each module the modules that it uses.
type Dependencies = BTreeMap<String, BTreeSet<String>>;

/// The module that may use all others; none may use it.
const BORDER: &str = "python";

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The top-level modules that `lib.rs` declares, apart from the border.
fn declared(lib: &str) -> BTreeSet<String> {
    let name = |line: &str| line.strip_prefix("pub mod ")?.strip_suffix(';').map(str::to_owned);
    lib.lines().filter_map(name).collect()
}

/// The table of the documentation: a row has a module and those that it may use.
fn documented(lib: &str) -> Dependencies {
    let names = |cell: &str| -> BTreeSet<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut table = Dependencies::new();
    for row in lib.lines().filter_map(|line| line.strip_prefix("//! | `")) {
        let (module, used) = row.split_once("` |").expect("a row has two cells");
        table.insert(module.to_owned(), names(used));
    }
    table
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The identifier at the start of a text.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The top-level modules that a file names after `crate::`, in code and not in comments.
fn named(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut found = BTreeSet::new();
    for line in code {
        for after in line.split("crate::").skip(1) {
            let name = identifier(after);
            assert!(!name.is_empty(), "name one module for each `crate::`: {line}");
            found.insert(name.to_owned());
        }
    }
    found
}

/// What the source of each module uses.
fn used() -> Dependencies {
    let mut files = Vec::new();
    rust_files(&source(), &mut files);
    let mut dependencies = Dependencies::new();
    for path in files {
        let inside = path.strip_prefix(source()).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let mut found = named(&fs::read_to_string(&path).unwrap());
        found.remove(module);
        dependencies.entry(module.to_owned()).or_default().extend(found);
    }
    dependencies
}

/// A module that uses itself by way of others, if there is one.
fn cycle(dependencies: &Dependencies) -> Option<String> {
    let mut rest = dependencies.clone();
    loop {
        let bottom: Vec<String> =
            rest.iter().filter(|entry| entry.1.is_empty()).map(|entry| entry.0.clone()).collect();
        if bottom.is_empty() {
            return rest.into_keys().next();
        }
        for module in bottom {
            rest.remove(&module);
            for uses in rest.values_mut() {
                uses.remove(&module);
            }
        }
    }
}

#[test]
fn the_table_has_every_module() {
    let lib = fs::read_to_string(source().join("lib.rs")).unwrap();
    let modules = declared(&lib);
    assert!(modules.contains("parser"), "{modules:?}");
    assert_eq!(documented(&lib).into_keys().collect::<BTreeSet<_>>(), modules);
}

#[test]
fn modules_use_nothing_that_the_table_does_not_allow() {
    let lib = fs::read_to_string(source().join("lib.rs")).unwrap();
    let allowed = documented(&lib);
    let mut used = used();
    assert!(used.remove(BORDER).is_some_and(|border| border.contains("parser")));
    for (module, uses) in used {
        let forbidden: Vec<&String> = uses.difference(&allowed[&module]).collect();
        assert!(forbidden.is_empty(), "{module} may not use {forbidden:?}");
    }
}

#[test]
fn no_module_depends_on_itself() {
    let lib = fs::read_to_string(source().join("lib.rs")).unwrap();
    assert_eq!(cycle(&used()), None);
    assert_eq!(cycle(&documented(&lib)), None);
}

#[test]
fn cycles_are_found() {
    let dependencies = |pairs: &[(&str, &[&str])]| -> Dependencies {
        let own = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        pairs.iter().map(|(module, uses)| (module.to_string(), own(uses))).collect()
    };
    assert_eq!(cycle(&dependencies(&[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])])), None);
    let circle = dependencies(&[("a", &[]), ("b", &["a", "d"]), ("c", &["b"]), ("d", &["c"])]);
    assert!(cycle(&circle).is_some());
    assert_eq!(named("use crate::chart::Cells;\n// crate::crf\nlet a = crate::em::b();").len(), 2);
}

#[test]
fn all_integration_tests_are_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let main = fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let declared = main.lines().any(|line| line == format!("mod {name};"));
        assert!(declared || name == "main", "main.rs does not declare {name}");
    }
}
