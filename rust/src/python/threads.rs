//! Pools of threads, one for each object that works on many things at once.

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::errors::Exception;

/// A pool of so many threads.
pub(super) fn thread_pool(py: Python<'_>, threads: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|number| format!("lpcfg-{number}"))
        .build()
        .map_err(|error| Exception::Internal.new_err(py, error))
}
