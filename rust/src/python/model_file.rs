//! Bindings of model files, whose arrays borrow from the bytes in memory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use numpy::ndarray::{ArrayView as NdArrayView, IxDyn};
use numpy::{
    PyArrayDescr, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use super::enter::enter;
use super::errors::{Exception, IntoPyErr};
use crate::model_file::{self, ArrayView, Element, ElementType, Error, Problem};

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ModelFile>()?;
    module.add_function(wrap_pyfunction!(model_file_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(write_model_file, module)?)
}

/// Evaluate an expression in which `$rust` is the Rust type of an [`ElementType`].
macro_rules! with_type {
    ($element_type:expr, $rust:ident => $body:expr) => {
        match $element_type {
            ElementType::U8 => with_type!(@ u8, $rust => $body),
            ElementType::I32 => with_type!(@ i32, $rust => $body),
            ElementType::U32 => with_type!(@ u32, $rust => $body),
            ElementType::I64 => with_type!(@ i64, $rust => $body),
            ElementType::U64 => with_type!(@ u64, $rust => $body),
            ElementType::F32 => with_type!(@ f32, $rust => $body),
            ElementType::F64 => with_type!(@ f64, $rust => $body),
        }
    };
    (@ $concrete:ty, $rust:ident => $body:expr) => {{
        type $rust = $concrete;
        $body
    }};
}

/// A model file, read into memory and validated.
#[pyclass(frozen, module = "lpcfg._core")]
struct ModelFile {
    file: model_file::ModelFile,
}

#[pymethods]
impl ModelFile {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        enter(py, |_| model_file::ModelFile::open(&path)).map(|file| Self { file })
    }

    /// A model file from its bytes, as `model_file_bytes` returns them, after validation.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: Vec<u8>) -> PyResult<Self> {
        enter(py, |_| model_file::ModelFile::from_bytes(data)).map(|file| Self { file })
    }

    /// The path the file was opened with, or `<bytes>`.
    #[getter]
    fn path(&self) -> &OsStr {
        self.file.path().as_os_str()
    }

    /// The JSON document.
    #[getter]
    fn json(&self) -> &str {
        self.file.json()
    }

    /// The names of the arrays, in alphabetical order.
    fn names(&self) -> Vec<&str> {
        self.file.names().collect()
    }

    /// The shape of an array.
    fn shape<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.file.shape(name).map_err(|error| error.into_py_err(py))?)
    }

    /// The type of an array's elements.
    fn dtype<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArrayDescr>> {
        let element_type = self.file.element_type(name).map_err(|error| error.into_py_err(py))?;
        Ok(descriptor(py, element_type))
    }

    /// A read-only array that borrows from the bytes of the file, checked against a type and a
    /// shape (in which None stands for any length) if they are given.
    #[pyo3(signature = (name, dtype=None, shape=None))]
    fn array<'py>(
        this: &Bound<'py, Self>,
        name: &str,
        dtype: Option<&Bound<'py, PyAny>>,
        shape: Option<Vec<Option<usize>>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let file = &this.get().file;
        let raise = |error: Error| error.into_py_err(py);
        let element_type = file.element_type(name).map_err(raise)?;
        if let Some(dtype) = dtype {
            let expected = PyArrayDescr::new(py, dtype)?;
            if !expected.is_equiv_to(&descriptor(py, element_type)) {
                let (name, expected) = (name.to_owned(), expected.str()?.to_string());
                let problem = Problem::WrongType { name, expected, found: element_type };
                return Err(raise(problem.at(file.path())));
            }
        }
        if let Some(shape) = shape {
            file.check_shape(name, &shape).map_err(raise)?;
        }
        with_type!(element_type, T => borrow_array::<T>(this, name))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("ModelFile({})", self.path().into_pyobject(py)?.repr()?))
    }
}

fn borrow_array<'py, T: Element + numpy::Element>(
    owner: &Bound<'py, ModelFile>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    let file = &owner.get().file;
    let raise = |error: Error| error.into_py_err(py);
    let shape = IxDyn(file.shape(name).map_err(raise)?);
    let elements = file.array::<T>(name).map_err(raise)?;
    let view = NdArrayView::from_shape(shape, &elements)
        .map_err(|error| Exception::Internal.new_err(py, error))?;
    let array = match elements {
        // SAFETY: the elements belong to the bytes of `owner`, which is frozen, so that they
        // stay where they are for as long as the array keeps it alive.
        Cow::Borrowed(_) => unsafe {
            PyArrayDyn::borrow_from_array(&view, owner.clone().into_any())
        },
        Cow::Owned(_) => PyArrayDyn::from_array(py, &view),
    };
    // Other arrays, and the core, read the same bytes.
    array.readwrite().make_nonwriteable();
    Ok(array.into_any())
}

/// Write arrays and a JSON document to a file: all of it, or nothing. Equal contents give equal
/// bytes.
#[pyfunction]
fn write_model_file(
    py: Python<'_>,
    path: PathBuf,
    arrays: &Bound<'_, PyDict>,
    json: &str,
) -> PyResult<()> {
    let borrowed = borrow_all(arrays, &path)?;
    let views = views(&borrowed);
    enter(py, |cancel| model_file::write(&path, &views, json, cancel))
}

/// The bytes that `write_model_file` would write to a file.
#[pyfunction]
fn model_file_bytes<'py>(
    py: Python<'py>,
    arrays: &Bound<'py, PyDict>,
    json: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let borrowed = borrow_all(arrays, Path::new("<bytes>"))?;
    let views = views(&borrowed);
    let bytes = enter(py, |cancel| model_file::to_bytes(&views, json, cancel))?;
    Ok(PyBytes::new(py, &bytes))
}

type Borrowed<'py> = Vec<(String, Box<dyn Viewable + 'py>)>;

/// Borrow all arrays while they are written; errors name `path`.
fn borrow_all<'py>(arrays: &Bound<'py, PyDict>, path: &Path) -> PyResult<Borrowed<'py>> {
    let py = arrays.py();
    let mut borrowed: Borrowed<'py> = Vec::with_capacity(arrays.len());
    for (name, array) in arrays {
        let name: String = name.extract()?;
        let Ok(array) = array.cast_into::<PyUntypedArray>() else {
            let message = format!("array {name:?} must be a numpy.ndarray");
            return Err(PyTypeError::new_err(message));
        };
        let Some(element_type) = element_type(&array) else {
            let found = array.dtype().str()?.to_string();
            return Err(Problem::UnsupportedType { name, found }.at(path).into_py_err(py));
        };
        borrowed.push((name, with_type!(element_type, T => borrow_elements::<T>(&array)?)));
    }
    Ok(borrowed)
}

fn views<'a>(borrowed: &'a Borrowed<'_>) -> BTreeMap<&'a str, ArrayView<'a>> {
    borrowed.iter().map(|(name, array)| (name.as_str(), array.view())).collect()
}

/// An array borrowed from Python, whatever the type of its elements.
trait Viewable {
    fn view(&self) -> ArrayView<'_>;
}

/// The elements in row-major order, and the array they belong to, held against writing.
struct Elements<'py, T: Element + numpy::Element>(PyReadonlyArrayDyn<'py, T>);

impl<T: Element + numpy::Element> Viewable for Elements<'_, T> {
    fn view(&self) -> ArrayView<'_> {
        // `borrow_elements` has made the array contiguous.
        ArrayView::new(self.0.as_slice().unwrap_or_default(), self.0.shape())
    }
}

fn borrow_elements<'py, T: Element + numpy::Element>(
    array: &Bound<'py, PyUntypedArray>,
) -> PyResult<Box<dyn Viewable + 'py>> {
    let py = array.py();
    let options = PyDict::new(py);
    options.set_item("order", "C")?;
    // Returns the array itself if it is in row-major order, as nearly all are.
    let array = py.import("numpy")?.getattr("asarray")?.call((array,), Some(&options))?;
    let array = array.cast_into::<PyArrayDyn<T>>().map_err(PyErr::from)?.try_readonly()?;
    Ok(Box::new(Elements(array)))
}

fn descriptor(py: Python<'_>, element_type: ElementType) -> Bound<'_, PyArrayDescr> {
    with_type!(element_type, T => numpy::dtype::<T>(py))
}

fn element_type(array: &Bound<'_, PyUntypedArray>) -> Option<ElementType> {
    let found = array.dtype();
    ElementType::ALL
        .into_iter()
        .find(|&element_type| found.is_equiv_to(&descriptor(array.py(), element_type)))
}

impl IntoPyErr for Error {
    /// Errors of the operating system become an `OSError` of the matching subclass, with `errno`
    /// and file name; all others become a `ModelFileError`.
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        let code = match &self.problem {
            Problem::NotFound => error_number(py, "ENOENT"),
            Problem::IsDirectory => error_number(py, "EISDIR"),
            Problem::Io(error) => match error.raw_os_error().filter(|_| cfg!(unix)) {
                Some(code) => Ok(code),
                None => return PyOSError::new_err(self.to_string()),
            },
            problem => {
                return Exception::ModelFile.about(py, problem, |attributes| {
                    attributes.set_item("path", self.path.as_os_str())
                });
            }
        };
        let reason = |code: i32| py.import("os")?.getattr("strerror")?.call1((code,));
        match code.and_then(|code| Ok((code, reason(code)?.unbind()))) {
            Ok((code, reason)) => PyOSError::new_err((code, reason, self.path.into_os_string())),
            Err(error) => error,
        }
    }
}

fn error_number(py: Python<'_>, name: &str) -> PyResult<i32> {
    py.import("errno")?.getattr(name)?.extract()
}
