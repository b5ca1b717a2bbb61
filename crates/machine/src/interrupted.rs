//! How long a system call that a signal interrupted is tried again. The standard library would do so for ever, and a kernel or a filter
//! that only answers EINTR must not keep the program for ever.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;

/// Interruptions in a row after which their rate counts.
const MANY: u32 = 1000;

/// Signals of profilers and timers come less often than this.
const RARE: Duration = Duration::from_micros(500);

/// Counts how often one call was interrupted in a row.
#[derive(Debug, Default)]
pub struct Interrupted {
    since: Option<Instant>,
    count: u32,
}

impl Interrupted {
    /// True if the call is to be tried again; false after 1000 interruptions of which one follows the other within 500 µs on average.
    #[cold]
    pub fn try_again(&mut self) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        self.count = self.count.saturating_add(1);
        self.count < MANY || since.elapsed() > RARE * self.count
    }
}

/// Makes a call again until no signal interrupts it.
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
pub fn open_file(path: impl AsRef<Path>, flags: OFlag, mode: u32) -> io::Result<File> {
    let (path, mode) = (path.as_ref(), Mode::from_bits_truncate(mode));
    unless_interrupted(|| open(path, flags | OFlag::O_CLOEXEC, mode)).map(File::from)
}

/// Opens a file to be read.
///
/// # Errors
/// As open(2).
pub fn open_to_read(path: impl AsRef<Path>) -> io::Result<File> {
    open_file(path, OFlag::O_RDONLY, 0)
}

/// Opens a file to be written from its start. It is emptied, or made with permissions as the umask allows.
///
/// # Errors
/// As open(2).
pub fn create_file(path: impl AsRef<Path>) -> io::Result<File> {
    open_file(path, OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_TRUNC, 0o666)
}

/// All bytes of a file.
///
/// # Errors
/// It cannot be opened or read.
pub fn bytes_of_file(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    UnlessInterrupted(open_to_read(path)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file.
///
/// # Errors
/// It cannot be opened or read, or is not UTF-8.
pub fn text_of_file(path: impl AsRef<Path>) -> io::Result<String> {
    // The sizes of files in /proc and /sys are unknown or wrong: the standard library would start with 32 bytes and take ten calls for some.
    let mut text = String::with_capacity(4096);
    UnlessInterrupted(open_to_read(path)?).read_to_string(&mut text)?;
    Ok(text)
}

/// Changes the length of a file.
///
/// # Errors
/// As ftruncate(2); EINVAL for a length that no file can have.
pub fn set_length(file: &File, length: u64) -> io::Result<()> {
    let length = i64::try_from(length).map_err(|_| Errno::EINVAL)?;
    unless_interrupted(|| nix::unistd::ftruncate(file, length))
}

/// Writes all of a buffer.
///
/// # Errors
/// Those of write(2), and EINTR if it has no other answer.
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

/// A source or a sink for functions that try an interrupted call again for ever, as those of the standard library do: where EINTR is the
/// only answer, its error is of another [kind](io::ErrorKind) than `Interrupted`.
#[derive(Debug)]
pub struct UnlessInterrupted<F>(pub F);

impl<F> UnlessInterrupted<F> {
    fn call(&mut self, mut call: impl FnMut(&mut F) -> io::Result<usize>) -> io::Result<usize> {
        let mut interrupted = Interrupted::default();
        loop {
            match call(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    if !interrupted.try_again() {
                        return Err(io::Error::other(Errno::EINTR.desc()));
                    }
                }
                answer => return answer,
            }
        }
    }
}

impl<F: Read> Read for UnlessInterrupted<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.call(|source| source.read(buffer))
    }
}

impl<F: Write> Write for UnlessInterrupted<F> {
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
        let mut storm = Interrupted::default();
        assert_eq!((0..20_000).take_while(|_| storm.try_again()).count(), MANY as usize - 1);
        let long_ago = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        let mut rare = Interrupted { since: Some(long_ago), count: MANY };
        assert!(rare.try_again(), "1000 interruptions in an hour");
    }

    #[test]
    fn functions_that_try_again_for_ever_end_in_a_storm() {
        let read = UnlessInterrupted(Storm).read_to_end(&mut Vec::new()).unwrap_err();
        let written = UnlessInterrupted(Storm).write_all(b"x").unwrap_err();
        let flushed = UnlessInterrupted(Storm).flush().unwrap_err();
        for error in [read, written, flushed] {
            assert_eq!(
                (error.kind(), error.to_string()),
                (io::ErrorKind::Other, "Interrupted system call".into())
            );
        }
        assert_eq!(write_whole(&mut Storm, b"x").unwrap_err().raw_os_error(), Some(Errno::EINTR as i32));
    }
}
