//! The entry from Python into core code that may run long.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use super::errors::{Exception, Failure};
use crate::cancel::Cancel;

/// The time between two checks for signals such as Ctrl-C.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// The time between two attempts to take a lock.
const LOCK_INTERVAL: Duration = Duration::from_millis(1);

/// Run `work` on a new thread and without the interpreter lock, while this thread checks for
/// signals. On a signal, set the cancel flag, wait until `work` has stopped, and raise the
/// exception.
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
            let thread = std::thread::Builder::new().name("lpcfg".to_owned());
            thread.spawn_scoped(scope, move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| work(cancel)));
                // Cannot fail: the receiver lives until it has received this.
                let _ = sender.send(outcome);
            })?;
            loop {
                match receiver.recv_timeout(SIGNAL_INTERVAL) {
                    Ok(outcome) => return Ok(Some(outcome)),
                    Err(RecvTimeoutError::Disconnected) => return Ok(None),
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
    let outcome = outcome.map_err(|error: std::io::Error| {
        PyOSError::new_err(format!("the system has no thread for the work: {error}"))
    })?;
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

/// Take a lock that several Python threads may compete for. Fails if `cancel` is set meanwhile.
///
/// Call this only inside [`enter`]. A thread that waits for this lock while it holds the
/// interpreter lock could block forever the thread that has the lock and needs the interpreter.
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
