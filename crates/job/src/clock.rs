//! The clock of a run.

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
