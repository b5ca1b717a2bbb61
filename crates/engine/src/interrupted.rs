//! How long a system call that a signal interrupted is tried again.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;

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

/// Makes a call again until no signal interrupts it. The standard library would do so for ever.
///
/// # Errors
/// Those of the call, and EINTR if it has no other answer.
pub fn unless_interrupted<T>(mut call: impl FnMut() -> nix::Result<T>) -> io::Result<T> {
    let mut interrupted = Interrupted::default();
    loop {
        match call() {
            Err(Errno::EINTR) if interrupted.try_again() => {}
            answer => return Ok(answer?),
        }
    }
}

/// Opens a file with these flags, and with O_CLOEXEC; one that is created gets the mode, less the umask.
///
/// # Errors
/// As open(2).
pub fn open_file(path: &Path, flags: OFlag, mode: u32) -> io::Result<File> {
    let mode = Mode::from_bits_truncate(mode);
    unless_interrupted(|| open(path, flags | OFlag::O_CLOEXEC, mode)).map(File::from)
}

/// Writes all of a buffer.
///
/// # Errors
/// Those of write(2), and EINTR if it has no other answer, where `write_all` would go on for ever.
pub fn write_whole(out: &mut impl Write, mut data: &[u8]) -> io::Result<()> {
    let mut interrupted = Interrupted::default();
    while !data.is_empty() {
        match out.write(data) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                data = &data[written..];
                interrupted = Interrupted::default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted && interrupted.try_again() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
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
