//! Where the time of a sentence goes.

use std::iter::Sum;
use std::time::Duration;

use cpu_time::ThreadTime;

/// CPU seconds of the phases of parsing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Times {
    /// The coarse pass.
    pub coarse: f64,
    /// The PCFG pass, and pruning after it.
    pub pcfg: f64,
    /// The latent passes of all members, or the pass of a CRF.
    pub latent: f64,
    /// Finding trees, their probabilities and labels.
    pub decoding: f64,
    /// Everything, with the phases above and fallbacks.
    pub total: f64,
    /// What the coarse and the PCFG pass took when the charts that were reused were made. It is not
    /// part of the total.
    pub reused: f64,
}

impl Sum for Times {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::default(), |sum, other| Self {
            coarse: sum.coarse + other.coarse,
            pcfg: sum.pcfg + other.pcfg,
            latent: sum.latent + other.latent,
            decoding: sum.decoding + other.decoding,
            total: sum.total + other.total,
            reused: sum.reused + other.reused,
        })
    }
}

/// The CPU time of this thread from a moment on, if it is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopwatch(Option<ThreadTime>);

impl Stopwatch {
    /// Start to measure, if `wanted`; reading the clock takes a fraction of a microsecond.
    pub fn start(wanted: bool) -> Self {
        Self(wanted.then(ThreadTime::now))
    }

    /// The seconds since the start; zero if they are not wanted.
    pub fn seconds(self) -> f64 {
        self.0.map_or(Duration::ZERO, |started| started.elapsed()).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wanted_times_are_measured() {
        let (on, off) = (Stopwatch::start(true), Stopwatch::start(false));
        let mut sum = 0u64;
        while on.seconds() < 1e-4 {
            sum = std::hint::black_box(sum + 1);
        }
        assert_eq!(off.seconds(), 0.0);
    }
}
