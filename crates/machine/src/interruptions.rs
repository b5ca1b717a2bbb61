//! Retries system calls that fail with EINTR, up to a limit. The standard library retries without a limit, so a kernel or a filter of
//! system calls that always answers EINTR would hang the program.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;

/// Consecutive interruptions that are always retried; beyond this, their rate decides.
const MAX_IN_A_ROW: u32 = 1000;

/// Smallest average time between interruptions with which retries continue: profilers and timers signal less often than this.
const MIN_SPACING: Duration = Duration::from_micros(500);

/// Counts the consecutive interruptions of one call.
#[derive(Debug, Default)]
pub struct InterruptionLimit {
    since: Option<Instant>,
    count: u32,
}

impl InterruptionLimit {
    /// Whether the call should be repeated. False from the 1000th interruption on, if they are at most 500 µs apart on average.
    #[cold]
    pub fn should_retry(&mut self) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        self.count = self.count.saturating_add(1);
        self.count < MAX_IN_A_ROW || since.elapsed() > MIN_SPACING * self.count
    }
}

/// Makes a call, and repeats it while it fails with EINTR, up to the limit of [`InterruptionLimit`].
///
/// # Errors
/// Those of the call; EINTR beyond the limit.
pub fn retry_interrupted<T>(mut call: impl FnMut() -> nix::Result<T>) -> io::Result<T> {
    let mut interrupted = InterruptionLimit::default();
    loop {
        match call() {
            Err(Errno::EINTR) if interrupted.should_retry() => {}
            answer => return Ok(answer?),
        }
    }
}

/// Opens a file with these flags and O_CLOEXEC; `mode` less the umask applies to a created file.
///
/// # Errors
/// Those of open(2).
pub fn open_file(path: impl AsRef<Path>, flags: OFlag, mode: u32) -> io::Result<File> {
    let (path, mode) = (path.as_ref(), Mode::from_bits_truncate(mode));
    retry_interrupted(|| open(path, flags | OFlag::O_CLOEXEC, mode)).map(File::from)
}

/// Opens a file for reading.
///
/// # Errors
/// Those of open(2).
pub fn open_to_read(path: impl AsRef<Path>) -> io::Result<File> {
    open_file(path, OFlag::O_RDONLY, 0)
}

/// Opens a file for writing from its start. It is truncated, or created with permissions by the umask.
///
/// # Errors
/// Those of open(2).
pub fn create_file(path: impl AsRef<Path>) -> io::Result<File> {
    open_file(path, OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_TRUNC, 0o666)
}

/// All bytes of a file.
///
/// # Errors
/// The file cannot be opened or read.
pub fn bytes_of_file(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    RetryInterrupted(open_to_read(path)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file.
///
/// # Errors
/// The file cannot be opened or read, or is not UTF-8.
pub fn text_of_file(path: impl AsRef<Path>) -> io::Result<String> {
    // The sizes of files in /proc and /sys are unknown or wrong: the standard library would start with 32 bytes and take ten calls for
    // some.
    let mut text = String::with_capacity(4096);
    RetryInterrupted(open_to_read(path)?).read_to_string(&mut text)?;
    Ok(text)
}

/// Changes the length of a file.
///
/// # Errors
/// Those of ftruncate(2); EINVAL for a length that no file can have.
pub fn set_length(file: &File, length: u64) -> io::Result<()> {
    let length = i64::try_from(length).map_err(|_| Errno::EINVAL)?;
    retry_interrupted(|| nix::unistd::ftruncate(file, length))
}

/// Closes a file. A network file system may report only then that it is full.
///
/// # Errors
/// Those of close(2). The descriptor is closed in any case.
pub fn close_file(file: File) -> io::Result<()> {
    Ok(nix::unistd::close(file)?)
}

/// Writes all of a buffer.
///
/// # Errors
/// Those of write(2); EINTR beyond the limit.
pub fn write_whole(out: &mut impl Write, mut data: &[u8]) -> io::Result<()> {
    let mut interrupted = InterruptionLimit::default();
    while !data.is_empty() {
        match out.write(data) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                data = &data[written..];
                interrupted = InterruptionLimit::default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted && interrupted.should_retry() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A source or sink for functions that retry EINTR without a limit, like those of the standard library. Beyond the limit of
/// [`InterruptionLimit`], its error is of the kind [`Other`](io::ErrorKind::Other), so that such functions stop.
#[derive(Debug)]
pub struct RetryInterrupted<F>(pub F);

impl<F> RetryInterrupted<F> {
    fn call(&mut self, mut call: impl FnMut(&mut F) -> io::Result<usize>) -> io::Result<usize> {
        let mut interrupted = InterruptionLimit::default();
        loop {
            match call(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    if !interrupted.should_retry() {
                        return Err(io::Error::other(Errno::EINTR.desc()));
                    }
                }
                answer => return answer,
            }
        }
    }
}

impl<F: Read> Read for RetryInterrupted<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.call(|source| source.read(buffer))
    }
}

impl<F: Write> Write for RetryInterrupted<F> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.call(|sink| sink.write(data))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call(|sink| sink.flush().map(|()| 0)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers only EINTR.
    struct Storm;

    impl Read for Storm {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(Errno::EINTR.into())
        }
    }

    impl Write for Storm {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(Errno::EINTR.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(Errno::EINTR.into())
        }
    }

    #[test]
    fn a_storm_ends_and_signals_now_and_then_do_not() {
        let mut storm = InterruptionLimit::default();
        assert_eq!((0..20_000).take_while(|_| storm.should_retry()).count(), MAX_IN_A_ROW as usize - 1);
        let long_ago = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        let mut rare = InterruptionLimit { since: Some(long_ago), count: MAX_IN_A_ROW };
        assert!(rare.should_retry(), "1000 interruptions in an hour");
    }

    #[test]
    fn functions_that_retry_without_a_limit_end_in_a_storm() {
        let read = RetryInterrupted(Storm).read_to_end(&mut Vec::new()).unwrap_err();
        let written = RetryInterrupted(Storm).write_all(b"x").unwrap_err();
        let flushed = RetryInterrupted(Storm).flush().unwrap_err();
        for error in [read, written, flushed] {
            assert_eq!(
                (error.kind(), error.to_string()),
                (io::ErrorKind::Other, "Interrupted system call".into())
            );
        }
        assert_eq!(write_whole(&mut Storm, b"x").unwrap_err().raw_os_error(), Some(Errno::EINTR as i32));
    }
}
