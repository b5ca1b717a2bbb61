//! The clock of a run.

use crate::choice::choices;

choices! {
    /// `clocksource`, as a word.
    pub enum ClockWord {
        Gettimeofday: "gettimeofday", "gettimeofday(2)";
        ClockGettime: "clock_gettime", "clock_gettime(2)";
        Cpu: "cpu", "The CPU's own counter";
    }
}

impl ClockWord {
    /// The clock that it asks for.
    #[must_use]
    pub const fn source(self) -> ClockSource {
        match self {
            ClockWord::Gettimeofday | ClockWord::ClockGettime => ClockSource::Kernel,
            ClockWord::Cpu => ClockSource::Cpu,
        }
    }
}

/// `clocksource`: what tells the time in the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockSource {
    /// The processor's time stamp counter where it can be trusted, else the kernel.
    #[default]
    Best,
    /// `cpu`: the same, but not without a word when it cannot.
    Cpu,
    /// `clock_gettime`, `gettimeofday`: the kernel's monotonic clock.
    Kernel,
}
