//! The border to Python, and the only code that knows it: the extension module `lpcfg._core`.
//!
//! Each file binds one area of the core. All of them go through [`enter`], which releases the
//! interpreter lock, turns errors and panics into exceptions and lets Ctrl-C stop the work.

mod aggregate;
mod em;
mod enter;
mod errors;
mod hmm;
mod model_file;
mod parser;
mod rerank;
mod simplex;
mod spans;
mod surface;
mod threads;
mod trees;

use pyo3::prelude::*;

/// The compiled core of lpcfg. Use the package `lpcfg`; this module may change without notice.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    aggregate::register(module)?;
    em::register(module)?;
    hmm::register(module)?;
    model_file::register(module)?;
    parser::register(module)?;
    rerank::register(module)?;
    spans::register(module)?;
    simplex::register(module)?;
    surface::register(module)?;
    trees::register(module)?;
    Ok(())
}
