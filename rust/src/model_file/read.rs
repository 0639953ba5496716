//! Model files, read into memory.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use super::contents::{Contents, Entry};
use super::{Element, ElementType, Error, IN_MEMORY, Problem};

/// The bytes of a model file, validated.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    bytes: Vec<u8>,
    contents: Contents,
}

impl ModelFile {
    /// Read a file and validate it; see the [module](super) for what that means.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_or_problem(path).map_err(|problem| problem.at(path))
    }

    fn open_or_problem(path: &Path) -> Result<Self, Problem> {
        // Checked before opening, since opening a pipe waits for a writer.
        check_regular(&fs::metadata(path).map_err(Problem::from_io)?)?;
        let bytes = fs::read(path).map_err(Problem::from_io)?;
        let contents = Contents::parse(&bytes)?;
        Ok(Self { path: path.to_owned(), bytes, contents })
    }

    /// Validate the bytes of a model file, as [`to_bytes`](super::to_bytes) returns them.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Error> {
        let path = PathBuf::from(IN_MEMORY);
        match Contents::parse(&bytes) {
            Ok(contents) => Ok(Self { path, bytes, contents }),
            Err(problem) => Err(problem.at(&path)),
        }
    }

    /// The path given to [`open`](Self::open), or `<bytes>`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The JSON document.
    pub fn json(&self) -> &str {
        &self.contents.json
    }

    /// The names of the arrays, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.contents.arrays.keys().map(String::as_str)
    }

    /// The type of an array's elements.
    pub fn element_type(&self, name: &str) -> Result<ElementType, Error> {
        Ok(self.entry(name)?.element_type)
    }

    /// The shape of an array.
    pub fn shape(&self, name: &str) -> Result<&[usize], Error> {
        Ok(&self.entry(name)?.shape)
    }

    /// Check that an array has the expected lengths; `None` stands for any.
    pub fn check_shape(&self, name: &str, expected: &[Option<usize>]) -> Result<(), Error> {
        let found = self.shape(name)?;
        let fits = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(&found, expected)| expected.is_none_or(|expected| expected == found));
        if fits {
            Ok(())
        } else {
            let (name, expected, found) = (name.to_owned(), expected.to_vec(), found.to_vec());
            Err(Problem::WrongShape { name, expected, found }.at(&self.path))
        }
    }

    /// The elements of an array in row-major order: borrowed from the bytes of the file, or copied in the
    /// rare case that they are not aligned.
    pub fn array<T: Element>(&self, name: &str) -> Result<Cow<'_, [T]>, Error> {
        let entry = self.entry(name)?;
        if entry.element_type != T::TYPE {
            let (name, expected) = (name.to_owned(), T::TYPE.to_string());
            let problem = Problem::WrongType { name, expected, found: entry.element_type };
            return Err(problem.at(&self.path));
        }
        Ok(cast_or_copy(&self.bytes[entry.range.clone()]))
    }

    fn entry(&self, name: &str) -> Result<&Entry, Error> {
        self.contents.arrays.get(name).ok_or_else(|| {
            let available = self.names().collect::<Vec<_>>().join(", ");
            Problem::MissingArray { name: name.to_owned(), available }.at(&self.path)
        })
    }
}

/// Reject directories, pipes and devices.
pub(super) fn check_regular(metadata: &fs::Metadata) -> Result<(), Problem> {
    if metadata.is_dir() {
        Err(Problem::IsDirectory)
    } else if metadata.is_file() {
        Ok(())
    } else {
        Err(Problem::NotRegular)
    }
}

/// Bytes as elements, in place if their alignment allows.
pub(super) fn cast_or_copy<T: Element>(bytes: &[u8]) -> Cow<'_, [T]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(elements) => Cow::Borrowed(elements),
        Err(_) => bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect(),
    }
}
