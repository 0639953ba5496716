//! The one gateway from Python into long-running core code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use pyo3::prelude::*;

use super::errors::{Exception, Failure};
use crate::cancel::Cancel;

/// How long Ctrl-C may go unnoticed.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// How often a thread that waits for a lock asks again.
const LOCK_INTERVAL: Duration = Duration::from_millis(1);

/// Run `work` without the interpreter lock, on a thread of its own, while this one watches for
/// signals; a signal raises the cancel flag, waits for `work` to notice, and is re-raised.
pub(super) fn enter<T, E, F>(py: Python<'_>, work: F) -> PyResult<T>
where
    T: Send,
    E: Into<Failure> + Send,
    F: FnOnce(&Cancel) -> Result<T, E> + Send,
{
    let cancel = Cancel::new();
    let mut interrupt: Option<PyErr> = None;
    let outcome = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let cancel = &cancel;
            scope.spawn(move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| work(cancel)));
                // The receiver lives until this arrives.
                let _ = sender.send(outcome);
            });
            loop {
                match receiver.recv_timeout(SIGNAL_INTERVAL) {
                    Ok(outcome) => return Some(outcome),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) if interrupt.is_none() => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            cancel.cancel();
                            interrupt = Some(error);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    });
    if let Some(error) = interrupt {
        return Err(error);
    }
    match outcome {
        Some(Ok(result)) => result.map_err(|error| error.into().into_py_err(py)),
        Some(Err(panic)) => {
            let message = panic
                .downcast_ref::<&str>()
                .map(ToString::to_string)
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "unknown panic".to_owned());
            Err(Exception::Internal.new_err(py, format!("the core panicked: {message}")))
        }
        None => Err(Exception::Internal.new_err(py, "the core stopped without an answer")),
    }
}

/// Lock what several Python threads may use, until `cancel` is raised.
///
/// Call it inside [`enter`] only. A thread that waited for the lock while it held the interpreter
/// lock would keep the thread that has it from ever returning to Python.
pub(super) fn lock<'a, T>(
    mutex: &'a Mutex<T>,
    cancel: &Cancel,
) -> Result<MutexGuard<'a, T>, Failure> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::WouldBlock) => cancel.check()?,
            Err(TryLockError::Poisoned(_)) => {
                return Err(Failure::internal("an earlier call on this object panicked"));
            }
        }
        std::thread::sleep(LOCK_INTERVAL);
    }
}
