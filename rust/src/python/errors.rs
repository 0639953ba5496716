//! Core errors as the exceptions of `lpcfg.errors`.

use std::fmt::Display;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::cancel::Cancelled;

/// The exception classes of `lpcfg.errors` that the core raises, besides the `InputError` of an
/// [`ArgumentError`], which always names its argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exception {
    Grammar,
    Internal,
    ModelFile,
    Treebank,
}

impl Exception {
    fn name(self) -> &'static str {
        match self {
            Self::Grammar => "GrammarError",
            Self::Internal => "InternalError",
            Self::ModelFile => "ModelFileError",
            Self::Treebank => "TreebankError",
        }
    }

    /// An exception of this class with the given message.
    pub(super) fn new_err(self, py: Python<'_>, message: impl Display) -> PyErr {
        self.about(py, message, |_| Ok(()))
    }

    /// An exception with attributes, set by `describe`, that say what the message is about.
    pub(super) fn about<'py>(
        self,
        py: Python<'py>,
        message: impl Display,
        describe: impl FnOnce(&Bound<'py, PyDict>) -> PyResult<()>,
    ) -> PyErr {
        exception(py, self.name(), message, describe)
    }
}

fn exception<'py>(
    py: Python<'py>,
    name: &str,
    message: impl Display,
    describe: impl FnOnce(&Bound<'py, PyDict>) -> PyResult<()>,
) -> PyErr {
    let build = || {
        let class = py.import("lpcfg.errors")?.getattr(name)?.cast_into::<PyType>()?;
        let attributes = PyDict::new(py);
        describe(&attributes)?;
        class.call((message.to_string(),), Some(&attributes))
    };
    match build() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Conversion of a core error to a Python exception.
pub(super) trait IntoPyErr {
    fn into_py_err(self, py: Python<'_>) -> PyErr;
}

/// The exception of Python code that the core has called.
impl IntoPyErr for PyErr {
    fn into_py_err(self, _: Python<'_>) -> PyErr {
        self
    }
}

impl IntoPyErr for Cancelled {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Internal.new_err(py, self)
    }
}

/// An argument that cannot be used, raised as an `InputError`.
#[derive(Debug)]
pub(super) struct ArgumentError {
    argument: String,
    message: String,
}

impl ArgumentError {
    pub(super) fn new(argument: impl ToString, message: impl ToString) -> Self {
        Self { argument: argument.to_string(), message: message.to_string() }
    }
}

impl IntoPyErr for ArgumentError {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        exception(py, "InputError", self.message, |attributes| {
            attributes.set_item("argument", self.argument)
        })
    }
}

impl From<ArgumentError> for PyErr {
    fn from(error: ArgumentError) -> Self {
        Python::attach(|py| error.into_py_err(py))
    }
}

/// Any error, to be converted to a Python exception once the interpreter lock is held.
pub(super) struct Failure(Box<dyn FnOnce(Python<'_>) -> PyErr + Send>);

impl Failure {
    pub(super) fn into_py_err(self, py: Python<'_>) -> PyErr {
        (self.0)(py)
    }

    /// A state that only a bug of the core can lead to.
    pub(super) fn internal(message: impl Display + Send + 'static) -> Self {
        Self(Box::new(move |py| Exception::Internal.new_err(py, message)))
    }
}

impl<E: IntoPyErr + Send + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(Box::new(move |py| error.into_py_err(py)))
    }
}
