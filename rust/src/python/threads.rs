//! Pools of threads that work in forked processes as well.

use std::process;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::errors::Failure;

/// A pool, and the process that its threads belong to.
struct ProcessPool {
    process: u32,
    pool: ThreadPool,
}

/// A number of threads for parallel work. The threads are started by the first work in a process. A
/// fork copies the memory of a pool but not its threads, so a child process starts its own.
///
/// The pool is exchanged without a lock: another thread could hold a lock at the moment of the
/// fork, and no thread of the child would ever release it.
pub(super) struct Threads {
    number: usize,
    /// Null until the first work.
    current: AtomicPtr<ProcessPool>,
}

impl Threads {
    /// This number of threads, which are not started yet.
    pub(super) fn new(number: usize) -> Self {
        Self { number, current: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Do work on the threads. Starting them takes time: call this inside `enter`.
    pub(super) fn install<T: Send, E: Into<Failure> + Send>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send,
    ) -> Result<T, Failure> {
        self.pool()?.install(work).map_err(Into::into)
    }

    /// The pool of this process.
    fn pool(&self) -> Result<&ThreadPool, Failure> {
        let process = process::id();
        let mut current = self.current.load(Ordering::Acquire);
        let mut made = None;
        loop {
            // SAFETY: null, or from `Box::into_raw` below. Pools are freed by `drop` alone, which
            // has no other reference to `self`.
            match unsafe { current.as_ref() } {
                Some(found) if found.process == process => return Ok(&found.pool),
                // The pool of the parent is not freed: that would wake up its threads, which this
                // process does not have.
                _ => {}
            }
            let own = match made.take() {
                Some(own) => own,
                None => Box::new(ProcessPool { process, pool: self.build()? }),
            };
            let own = Box::into_raw(own);
            match self.current.compare_exchange(current, own, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => current = own,
                Err(other) => {
                    // Another thread was faster.
                    current = other;
                    // SAFETY: from `Box::into_raw` above, and not shared.
                    made = Some(unsafe { Box::from_raw(own) });
                }
            }
        }
    }

    fn build(&self) -> Result<ThreadPool, Failure> {
        ThreadPoolBuilder::new()
            .num_threads(self.number)
            .thread_name(|number| format!("lpcfg-{number}"))
            .build()
            .map_err(Failure::internal)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let current = *self.current.get_mut();
        // SAFETY: null, or from `Box::into_raw` in `pool`.
        if unsafe { current.as_ref() }.is_some_and(|found| found.process == process::id()) {
            // SAFETY: as above, and there is no other reference to it.
            drop(unsafe { Box::from_raw(current) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_start_at_once_share_one_pool() {
        let threads = Threads::new(2);
        let pool =
            || threads.pool().map(ptr::from_ref).unwrap_or_else(|_| panic!("not built")) as usize;
        let found: Vec<usize> = std::thread::scope(|scope| {
            let started: Vec<_> = (0..8).map(|_| scope.spawn(pool)).collect();
            started.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert!(found.iter().all(|&pool| pool == found[0]));
    }

    #[test]
    fn the_pool_of_another_process_is_replaced() {
        let threads = Threads::new(1);
        let first = ptr::from_ref(threads.pool().unwrap_or_else(|_| panic!("not built")));
        let current = threads.current.load(Ordering::Relaxed);
        // As in a forked child, whose process differs from the one of the pool.
        // SAFETY: there is no other reference to it.
        unsafe { (*current).process = u32::MAX };
        assert_ne!(ptr::from_ref(threads.pool().unwrap_or_else(|_| panic!("not built"))), first);
        // SAFETY: it was replaced, and is freed nowhere else.
        drop(unsafe { Box::from_raw(current) });
    }
}
