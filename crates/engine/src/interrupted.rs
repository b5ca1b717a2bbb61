//! How long a system call that a signal interrupted is tried again.

use std::time::{Duration, Instant};

/// Interruptions in a row after which their rate counts.
const MANY: u32 = 10_000;

/// Signals of profilers and timers come less often than this.
const RARE: Duration = Duration::from_micros(500);

/// Counts how often one call was interrupted in a row. A kernel or a filter that answers EINTR to every call must not keep a job for ever.
#[derive(Debug, Default)]
pub struct Interrupted {
    since: Option<Instant>,
    count: u32,
}

impl Interrupted {
    /// True if the call is to be tried again; false after 10 000 interruptions of which one follows the other within 500 µs on average.
    #[cold]
    pub fn try_again(&mut self) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        self.count = self.count.saturating_add(1);
        self.count < MANY || since.elapsed() > RARE * self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_ends_and_signals_now_and_then_do_not() {
        let mut storm = Interrupted::default();
        assert_eq!((0..20_000).take_while(|_| storm.try_again()).count(), MANY as usize - 1);
        let long_ago = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        let mut rare = Interrupted { since: Some(long_ago), count: MANY };
        assert!(rare.try_again(), "10 000 interruptions in an hour");
    }
}
