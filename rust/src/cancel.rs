//! A flag by which a long computation is asked to stop.

use std::sync::atomic::{AtomicBool, Ordering};

/// Shared between the thread that waits for a result and those that compute it.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

/// The computation stopped because [`Cancel::cancel`] was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ask the computation to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Return an error if the computation should stop. Long loops call this often, with `?`.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.0.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) }
    }
}
