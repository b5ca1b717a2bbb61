//! The job file that replays a log: jobs that lay out what the replay reads, and the replay.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use ferrio_jobfile::escaped_name;
use ferrio_trace::import::select::IoKind;
use ferrio_trace::import::{FileSummary, Format};
use ferrio_trace::source_name;

use super::Done;

/// Files that are laid out with data in all; beyond this they get a size only.
const DATA: u64 = 4 << 30;
/// Sizes are multiples of this: a job cannot lay out less than one block.
const BLOCK: u64 = 4096;
/// Most jobs that lay out files; fio's limit for all jobs is 4096.
const MAX_FILES: usize = 4000;
/// Queue depth if the trace does not show one.
const DEPTH: u32 = 32;
/// Largest queue depth.
const DEEPEST: u32 = 1024;

/// The job file.
pub fn text(done: &Done) -> String {
    let summary = &done.summary;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "# Replays {} I/Os of {}.",
        summary.ios(),
        source_name(&done.trace).replace(char::is_control, "?")
    );
    let _ = writeln!(text, "# The replay writes to the files that the log names.");
    let needed: Vec<&FileSummary> = summary.files.iter().filter(|file| is_laid_out(file)).collect();
    let total: u64 = needed.iter().fold(0, |sum, file| sum.saturating_add(file.usage.must_exist_up_to));
    let with_data = total <= DATA;
    let lays_out = !needed.is_empty() && needed.len() <= MAX_FILES;
    if needed.len() > MAX_FILES {
        let _ = writeln!(
            text,
            "# {} files must exist before the replay; they are too many to lay out here.",
            needed.len()
        );
    }
    if lays_out {
        let _ = writeln!(text, "\n# Lays out the files that the replay reads.");
        if !with_data {
            let _ = writeln!(
                text,
                "# These files are large, so they are sparse; rw=read without fallocate fills them."
            );
        }
        for (at, file) in needed.iter().enumerate() {
            let _ = writeln!(text, "[file-{}]", at + 1);
            let _ = writeln!(text, "filename={}", escaped_name(&file.in_log.to_string_lossy()));
            let _ = writeln!(text, "size={}", file.usage.must_exist_up_to.next_multiple_of(BLOCK));
            let _ = writeln!(text, "{}", if with_data { "rw=read" } else { "rw=write\nfallocate=truncate" });
            let _ = writeln!(text, "create_only=1\n");
        }
    }
    let _ = writeln!(text, "[replay]");
    if lays_out {
        let _ = writeln!(text, "stonewall");
    }
    let log = done.log.as_ref().map_or_else(String::new, |log| log.display().to_string());
    let _ = writeln!(text, "read_iolog={}", escaped_name(&log));
    for option in options(done) {
        let _ = writeln!(text, "{option}");
    }
    text
}

/// True for files that are read and may not exist. Those that were asked for keep their contents if they are large enough.
fn is_laid_out(file: &FileSummary) -> bool {
    let needed = file.usage.must_exist_up_to;
    let is_there = || {
        !file.is_chosen
            && fs::metadata(&file.in_log).is_ok_and(|about| about.is_file() && about.len() >= needed)
    };
    needed > 0 && !is_device(&file.in_log) && !is_there()
}

/// The options of the replay, but for the log.
pub fn options(done: &Done) -> Vec<String> {
    let summary = &done.summary;
    let transfers = summary.of(IoKind::Read).0 + summary.of(IoKind::Write).0;
    let is_of_devices = done.format != Format::Strace;
    let depth = match summary.deepest {
        0 if is_of_devices => DEPTH,
        deepest => deepest.clamp(1, DEEPEST),
    };
    let mut options = Vec::new();
    if depth == 1 {
        options.push("ioengine=psync".to_owned());
    } else {
        options.extend(["ioengine=io_uring".to_owned(), format!("iodepth={depth}")]);
    }
    // Block requests have passed the page cache.
    if is_of_devices || (transfers > 0 && summary.remarks.direct >= transfers) {
        options.push("direct=1".to_owned());
    }
    let trims_files =
        summary.of(IoKind::Trim).0 > 0 && summary.files.iter().any(|file| !is_device(&file.in_log));
    if trims_files {
        options.push("replay_skip=trim".to_owned());
    }
    options
}

/// True for names below /dev, which need no layout.
pub fn is_device(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b"/dev/") && !name.as_bytes().starts_with(b"/dev/shm/")
}
