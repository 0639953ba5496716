//! Writing a model file: all of it, or nothing.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use safetensors::tensor::{Metadata, TensorInfo};
use tempfile::NamedTempFile;

use super::contents::check_document;
use super::element::check_shape;
use super::read::check_regular;
use super::{
    ArrayView, Error, FORMAT_NAME, FORMAT_VERSION, IN_MEMORY, LENGTH_BYTES, MAX_HEADER_BYTES,
    METADATA_KEY, Problem,
};
use crate::cancel::Cancel;

/// Bytes written between two checks of the cancel flag.
const CHUNK_BYTES: usize = 1 << 20;

/// Write arrays and a JSON document to a file; equal contents give equal bytes.
///
/// The file appears, or is replaced, in one step once its bytes are on the disk. After an error
/// it is as it was before. A new file has the permissions the process gives to new files, a
/// replaced one keeps its own; a symbolic link stays, and what it points to is replaced.
pub fn write(
    path: &Path,
    arrays: &BTreeMap<&str, ArrayView<'_>>,
    json: &str,
    cancel: &Cancel,
) -> Result<(), Error> {
    write_or_problem(path, arrays, json, cancel).map_err(|problem| problem.at(path))
}

fn write_or_problem(
    path: &Path,
    arrays: &BTreeMap<&str, ArrayView<'_>>,
    json: &str,
    cancel: &Cancel,
) -> Result<(), Problem> {
    check_document(json)?;
    let order = storage_order(arrays)?;
    let header = header(&order, json)?;
    replace(path, |file| write_all(file, &header, &order, cancel))
}

/// The bytes of the file that [`write()`] would write; [`ModelFile::from_bytes`] reads them.
///
/// [`ModelFile::from_bytes`]: super::ModelFile::from_bytes
pub fn to_bytes(
    arrays: &BTreeMap<&str, ArrayView<'_>>,
    json: &str,
    cancel: &Cancel,
) -> Result<Vec<u8>, Error> {
    let bytes = || {
        check_document(json)?;
        let order = storage_order(arrays)?;
        let mut bytes = header(&order, json)?;
        bytes.reserve_exact(order.iter().map(|(_, array)| array.bytes.len()).sum());
        write_arrays(&mut bytes, &order, cancel)?;
        Ok(bytes)
    };
    bytes().map_err(|problem: Problem| problem.at(Path::new(IN_MEMORY)))
}

/// The arrays in the order in which they are stored. There is no padding between them, so those
/// with the largest elements come first: then all of them are aligned.
fn storage_order<'arrays>(
    arrays: &'arrays BTreeMap<&str, ArrayView<'_>>,
) -> Result<Vec<(&'arrays str, &'arrays ArrayView<'arrays>)>, Problem> {
    for (&name, array) in arrays {
        if name == METADATA_KEY {
            return Err(Problem::ReservedName(name.to_owned()));
        }
        let size = array.element_type.size();
        check_shape(name, &array.shape, size)?;
        let elements = array.bytes.len() / size;
        if array.shape.iter().product::<usize>() != elements {
            let (name, shape) = (name.to_owned(), array.shape.clone());
            return Err(Problem::ShapeMismatch { name, elements, shape });
        }
    }
    let mut order: Vec<_> = arrays.iter().map(|(&name, array)| (name, array)).collect();
    order.sort_by_key(|(_, array)| std::cmp::Reverse(array.element_type.size()));
    Ok(order)
}

/// The length of the header and the header, padded so that the arrays are aligned.
fn header(order: &[(&str, &ArrayView<'_>)], json: &str) -> Result<Vec<u8>, Problem> {
    let mut end = 0;
    let entries = order
        .iter()
        .map(|&(name, array)| {
            let start = end;
            end += array.bytes.len();
            let info = TensorInfo {
                dtype: array.element_type.dtype(),
                shape: array.shape.clone(),
                data_offsets: (start, end),
            };
            (name.to_owned(), info)
        })
        .collect();
    let marks = HashMap::from([
        ("format".to_owned(), FORMAT_NAME.to_owned()),
        ("version".to_owned(), FORMAT_VERSION.to_string()),
        ("json".to_owned(), json.to_owned()),
    ]);
    let metadata = Metadata::new(Some(marks), entries).map_err(Problem::Layout)?;
    // Sorted, since a hash map has a random order.
    let mut sorted = serde_json::to_value(&metadata).map_err(Problem::HeaderNotJson)?;
    sorted.sort_all_objects();
    let mut header = vec![0; LENGTH_BYTES];
    serde_json::to_writer(&mut header, &sorted).map_err(Problem::HeaderNotJson)?;
    header.resize(header.len().next_multiple_of(LENGTH_BYTES), b' ');
    let length = header.len() - LENGTH_BYTES;
    if length > MAX_HEADER_BYTES {
        return Err(Problem::DocumentTooLarge(length));
    }
    header[..LENGTH_BYTES].copy_from_slice(&(length as u64).to_le_bytes());
    Ok(header)
}

fn write_all(
    file: &mut impl Write,
    header: &[u8],
    order: &[(&str, &ArrayView<'_>)],
    cancel: &Cancel,
) -> Result<(), Problem> {
    let mut file = BufWriter::new(file);
    file.write_all(header)?;
    write_arrays(&mut file, order, cancel)?;
    Ok(file.flush()?)
}

fn write_arrays(
    file: &mut impl Write,
    order: &[(&str, &ArrayView<'_>)],
    cancel: &Cancel,
) -> Result<(), Problem> {
    for (_, array) in order {
        for chunk in array.bytes.chunks(CHUNK_BYTES) {
            cancel.check()?;
            file.write_all(chunk)?;
        }
    }
    Ok(())
}

/// Let `fill` write a temporary file next to `path`, then rename it to `path`. The temporary file
/// deletes itself if anything goes wrong before that.
fn replace(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = match fs::metadata(&target) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Problem::from_io(error)),
    };
    if let Some(old) = &old {
        // Renaming would replace a device, if the user has the permission.
        check_regular(old)?;
    }
    let directory = match target.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut temporary = create_temporary(&directory).map_err(Problem::from_io)?;
    fill(temporary.as_file_mut())?;
    if let Some(old) = old {
        temporary.as_file().set_permissions(old.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| Problem::from_io(error.error))?;
    // Makes the new name survive a power failure; not all systems support it.
    let _ = File::open(&directory).and_then(|directory| directory.sync_all());
    Ok(())
}

fn create_temporary(directory: &Path) -> io::Result<NamedTempFile> {
    // By default, temporary files are readable by their owner only. Created like this, the file has
    // the usual permissions of new files.
    tempfile::Builder::new()
        .prefix(".lpcfg-")
        .suffix(".tmp")
        .make_in(directory, |path| File::create_new(path))
}
