//! Pools of threads.

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::errors::Failure;

/// A pool with this number of threads. Starting threads takes time: call this inside `enter`.
pub(super) fn thread_pool(threads: usize) -> Result<ThreadPool, Failure> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|number| format!("lpcfg-{number}"))
        .build()
        .map_err(Failure::internal)
}
