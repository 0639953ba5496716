//! The one gateway from Python into long-running core code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;

use super::errors::{Exception, IntoPyErr};
use crate::cancel::Cancel;

/// How long Ctrl-C may go unnoticed.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Run `work` without the interpreter lock, on a thread of its own, while this one watches for
/// signals; a signal raises the cancel flag, waits for `work` to notice, and is re-raised.
pub(super) fn enter<T, E, F>(py: Python<'_>, work: F) -> PyResult<T>
where
    T: Send,
    E: IntoPyErr + Send,
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
        Some(Ok(result)) => result.map_err(|error| error.into_py_err(py)),
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
