//! The reasons why a run ends early, in the words of sysbench.

use ferrio_job::{Direction, strerror};
use ferrio_results::{EventFailure, JobError};
use ferrio_verify::InvalidBlock;
use nix::errno::Errno;

use crate::log::{Level, Log};

/// The calls that fail if there is no memory for a block, as the engine names them.
const BLOCK: &str = "mmap";
const BLOCK_IN_HUGE_PAGES: &str = "mmap(MAP_HUGETLB)";

/// Reports the error of a thread.
pub fn show(error: &JobError, log: &Log) {
    let fatal = |message: String| log.line(Level::Fatal, &message);
    let Some(failure) = error.event.as_deref() else {
        if error.errno == Errno::EOVERFLOW as i32 {
            return fatal(
                "The event queue is full. This means the worker threads are unable to keep up with the specified event generation rate"
                    .to_owned(),
            );
        }
        // sysbench's words, which have the parentheses of a call.
        let failed = if error.func == "io_queue_init" {
            "io_queue_init() failed!"
        } else {
            &format!("{}:", error.func)
        };
        return fatal(format!("{failed} errno = {} ({})", error.errno, strerror(error.errno)));
    };
    let reason = |errno: i32| format!("errno = {errno} ({})", strerror(errno));
    match failure {
        EventFailure::Open { path, errno } => {
            fatal(format!("Cannot open file '{}' {}", path.display(), reason(*errno)));
            if *errno == Errno::ENOENT as i32 {
                log.line(Level::Warning, "Did you forget to run the prepare step?");
            }
        }
        EventFailure::Create { path, errno } => {
            fatal(format!("Cannot create file '{}' {}", path.display(), reason(*errno)));
        }
        EventFailure::TooShort { path, size, expected } => {
            fatal(format!(
                "Size of file '{}' is {}, but at least {} is expected.",
                path.display(),
                super::fileio::bytes(*size),
                super::fileio::bytes(*expected)
            ));
            let hint = "Did you run 'prepare' with different --file-total-size or --file-num values?";
            log.line(Level::Warning, hint);
        }
        EventFailure::Transfer { direction, file, offset, errno } => {
            let verb = if *direction == Direction::Read { "read" } else { "write" };
            let reason = match errno {
                0 => "fewer bytes than asked for".to_owned(),
                errno => reason(*errno),
            };
            fatal(format!("Failed to {verb} file! file: test_file.{file} pos: {offset} {reason}"));
        }
        EventFailure::Sync { file, errno } => {
            fatal(format!("Failed to fsync file! file: test_file.{file} {}", reason(*errno)));
        }
        EventFailure::Block { file, offset, problem } => {
            match problem {
                InvalidBlock::Checksum { calculated, stored } => {
                    fatal(format!("Checksum mismatch in block with offset: {offset}"));
                    fatal(format!("    Calculated value: {calculated:#x}    Stored value: {stored:#x}"));
                }
                InvalidBlock::Offset { actual, stored } => {
                    fatal("Offset mismatch in block:".to_owned());
                    fatal(format!("   Actual offset: {actual}    Stored offset: {stored}"));
                }
            }
            fatal(format!("Validation failed on file {file}, block offset {offset}, exiting..."));
        }
    }
}

/// Reports the error of a thread of the test `memory`, whose block has so many bytes.
pub fn show_memory(error: &JobError, block: u64, log: &Log) {
    match error.func.as_str() {
        BLOCK => {}
        BLOCK_IN_HUGE_PAGES => {
            let reason = format!("errno = {} ({})", error.errno, strerror(error.errno));
            log.line(
                Level::Fatal,
                &format!("Failed to allocate {block} bytes from HugeTLB memory. {reason}"),
            );
        }
        _ => return show(error, log),
    }
    log.line(Level::Fatal, "Failed to allocate buffer!");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::testing;

    fn shown(event: Option<EventFailure>, errno: i32) -> String {
        let (log, out, _) = testing::log();
        let mut error = JobError::new(errno, "some call");
        error.event = event.map(Box::new);
        show(&error, &log);
        out.text()
    }

    #[test]
    fn a_block_without_memory_is_told_in_the_words_of_sysbench() {
        let shown = |func: &str| {
            let (log, out, _) = testing::log();
            show_memory(&JobError::new(12, func), 4096, &log);
            out.text()
        };
        assert_eq!(shown("mmap"), "FATAL: Failed to allocate buffer!\n");
        assert_eq!(
            shown("mmap(MAP_HUGETLB)"),
            "FATAL: Failed to allocate 4096 bytes from HugeTLB memory. errno = 12 (Cannot allocate memory)\n\
             FATAL: Failed to allocate buffer!\n"
        );
        assert_eq!(shown("other"), "FATAL: other: errno = 12 (Cannot allocate memory)\n");
    }

    #[test]
    fn failures_are_told_in_the_words_of_sysbench() {
        let path = || "test_file.0".into();
        let open = shown(Some(EventFailure::Open { path: path(), errno: 2 }), 2);
        assert_eq!(
            open,
            "FATAL: Cannot open file 'test_file.0' errno = 2 (No such file or directory)\n\
             WARNING: Did you forget to run the prepare step?\n"
        );
        let short = EventFailure::TooShort { path: path(), size: 512 << 10, expected: 2 << 20 };
        let short = shown(Some(short), 22);
        assert!(short.starts_with(
            "FATAL: Size of file 'test_file.0' is 512KiB, but at least 2MiB is expected.\nWARNING: "
        ));
        let read = EventFailure::Transfer { direction: Direction::Read, file: 3, offset: 16384, errno: 22 };
        assert_eq!(
            shown(Some(read), 22),
            "FATAL: Failed to read file! file: test_file.3 pos: 16384 errno = 22 (Invalid argument)\n"
        );
        let problem = InvalidBlock::Checksum { calculated: 0x6633_7a37, stored: 0 };
        assert_eq!(
            shown(Some(EventFailure::Block { file: 1, offset: 32768, problem }), 84),
            "FATAL: Checksum mismatch in block with offset: 32768\n\
             FATAL:     Calculated value: 0x66337a37    Stored value: 0x0\n\
             FATAL: Validation failed on file 1, block offset 32768, exiting...\n"
        );
        assert!(
            shown(None, Errno::EOVERFLOW as i32).starts_with("FATAL: The event queue is full. This means")
        );
        let (log, out, _) = testing::log();
        show(&JobError::new(11, "io_queue_init"), &log);
        assert_eq!(
            out.text(),
            "FATAL: io_queue_init() failed! errno = 11 (Resource temporarily unavailable)\n"
        );
        assert_eq!(shown(None, 12), "FATAL: some call: errno = 12 (Cannot allocate memory)\n");
    }
}
