//! The border to Python: the extension module `lpcfg._core`. No other module uses PyO3 or NumPy.
//!
//! Each file has the bindings of the core module of the same name. All of them go through
//! [`enter`], which releases the interpreter lock, turns errors and panics into exceptions, and
//! lets Ctrl-C stop the work. `arrays`, `errors` and `threads` are shared.

mod arrays;
mod coverage;
mod crf;
mod em;
mod enter;
mod errors;
mod grammar;
mod guide;
mod lexicon;
mod model_file;
mod neural;
mod numeric;
mod parser;
mod rerank;
mod sequence;
mod span_columns;
mod span_decoder;
mod span_filter;
mod threads;
mod treebank;

use pyo3::prelude::*;

/// The compiled core of lpcfg. Use the package `lpcfg`; this module may change without notice.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    coverage::register(module)?;
    crf::register(module)?;
    em::register(module)?;
    grammar::register(module)?;
    lexicon::register(module)?;
    model_file::register(module)?;
    neural::register(module)?;
    numeric::register(module)?;
    parser::register(module)?;
    rerank::register(module)?;
    sequence::register(module)?;
    span_decoder::register(module)?;
    span_filter::register(module)?;
    treebank::register(module)?;
    Ok(())
}
