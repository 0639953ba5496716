//! Core errors as the exceptions of `lpcfg.errors`.

use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::cancel::Cancelled;

/// The exception classes of `lpcfg.errors` that the core raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exception {
    Grammar,
    Input,
    Internal,
    ModelFile,
    Treebank,
}

impl Exception {
    fn name(self) -> &'static str {
        match self {
            Self::Grammar => "GrammarError",
            Self::Input => "InputError",
            Self::Internal => "InternalError",
            Self::ModelFile => "ModelFileError",
            Self::Treebank => "TreebankError",
        }
    }

    /// An exception of this class with the given message.
    pub(super) fn new_err(self, py: Python<'_>, message: impl ToString) -> PyErr {
        let class = py
            .import("lpcfg.errors")
            .and_then(|module| module.getattr(self.name()))
            .and_then(|class| class.cast_into::<PyType>().map_err(PyErr::from));
        match class {
            Ok(class) => PyErr::from_type(class, message.to_string()),
            Err(error) => error,
        }
    }
}

/// What a core error becomes in Python.
pub(super) trait IntoPyErr {
    fn into_py_err(self, py: Python<'_>) -> PyErr;
}

impl IntoPyErr for Cancelled {
    fn into_py_err(self, py: Python<'_>) -> PyErr {
        Exception::Internal.new_err(py, self)
    }
}
