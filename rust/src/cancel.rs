//! The way by which a long computation is asked to stop: a flag, and optionally a deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Shared between the thread that waits for a result and those that compute it.
#[derive(Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

/// The computation stopped because [`Cancel::cancel`] was called, or because its time is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl Cancel {
    /// A flag that is not raised, without a deadline.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same flag with another deadline, or with none.
    pub fn with_deadline(&self, deadline: Option<Instant>) -> Self {
        Self { flag: Arc::clone(&self.flag), deadline }
    }

    /// Ask the computation to stop.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Return an error if the computation should stop. Long loops call this often, with `?`.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() || self.is_late() { Err(Cancelled) } else { Ok(()) }
    }

    /// Whether [`cancel`](Self::cancel) was called: the result is not wanted any more.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_stops_only_what_has_it() {
        let cancel = Cancel::new();
        let late = cancel.with_deadline(Some(Instant::now()));
        assert_eq!((late.check(), late.is_cancelled()), (Err(Cancelled), false));
        assert_eq!(late.with_deadline(None).check(), Ok(()));
        assert_eq!(cancel.check(), Ok(()));
    }

    #[test]
    fn the_flag_stops_all_who_share_it() {
        let cancel = Cancel::new();
        let other = cancel.with_deadline(None);
        other.cancel();
        assert_eq!((cancel.check(), cancel.is_cancelled()), (Err(Cancelled), true));
    }
}
