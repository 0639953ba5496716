//! Core errors as the exceptions of `lpcfg.errors`.

use std::fmt::Display;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

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
    pub(super) fn new_err(self, py: Python<'_>, message: impl Display) -> PyErr {
        self.about(py, message, |_| Ok(()))
    }

    /// The same, with the attributes that `describe` sets: what the message is about.
    pub(super) fn about<'py>(
        self,
        py: Python<'py>,
        message: impl Display,
        describe: impl FnOnce(&Bound<'py, PyDict>) -> PyResult<()>,
    ) -> PyErr {
        let build = || {
            let class = py.import("lpcfg.errors")?.getattr(self.name())?.cast_into::<PyType>()?;
            let attributes = PyDict::new(py);
            describe(&attributes)?;
            class.call((message.to_string(),), Some(&attributes))
        };
        match build() {
            Ok(exception) => PyErr::from_value(exception),
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
