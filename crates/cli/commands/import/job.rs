//! The job file that replays a log: jobs that lay out the files that the replay reads, and the replay.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use ferrio_jobfile::escaped_name;
use ferrio_trace::import::select::SelectedIo;
use ferrio_trace::import::{FileSummary, TraceFormat};
use ferrio_trace::source_name;

use super::FinishedImport;

/// Maximum total size of files that are laid out with data; further files only get a size.
const MAX_DATA_BYTES: u64 = 4 << 30;
/// Sizes are rounded up to this, as a job cannot lay out less than one block.
const BLOCK_BYTES: u64 = 4096;
/// Maximum number of layout jobs; fio allows 4096 jobs in total.
const MAX_LAYOUT_JOBS: usize = 4000;
/// Queue depth if the trace does not show one.
const DEFAULT_QUEUE_DEPTH: u32 = 32;
/// Maximum queue depth of the replay.
const MAX_QUEUE_DEPTH: u32 = 1024;

/// The contents of the job file.
pub fn job_file_text(import: &FinishedImport) -> String {
    let summary = &import.summary;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "# Replays {} I/Os of {}.",
        summary.ios(),
        source_name(&import.trace).replace(char::is_control, "?")
    );
    let _ = writeln!(text, "# The replay writes to the files that the log names.");
    let needed: Vec<&FileSummary> = summary.files.iter().filter(|file| needs_layout(file)).collect();
    let total: u64 = needed.iter().fold(0, |sum, file| sum.saturating_add(file.usage.must_exist_up_to));
    let with_data = total <= MAX_DATA_BYTES;
    let lays_out = !needed.is_empty() && needed.len() <= MAX_LAYOUT_JOBS;
    if needed.len() > MAX_LAYOUT_JOBS {
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
            let _ = writeln!(text, "size={}", file.usage.must_exist_up_to.next_multiple_of(BLOCK_BYTES));
            let _ = writeln!(text, "{}", if with_data { "rw=read" } else { "rw=write\nfallocate=truncate" });
            let _ = writeln!(text, "create_only=1\n");
        }
    }
    let _ = writeln!(text, "[replay]");
    if lays_out {
        let _ = writeln!(text, "stonewall");
    }
    let log = import.log.as_ref().map_or_else(String::new, |log| log.display().to_string());
    let _ = writeln!(text, "read_iolog={}", escaped_name(&log));
    for option in options(import) {
        let _ = writeln!(text, "{option}");
    }
    text
}

/// True for files that are read and must be created first. Files whose names the user chose keep their contents if they are large enough.
fn needs_layout(file: &FileSummary) -> bool {
    let needed = file.usage.must_exist_up_to;
    let is_there = || {
        !file.is_chosen
            && fs::metadata(&file.in_log).is_ok_and(|about| about.is_file() && about.len() >= needed)
    };
    needed > 0 && !is_device(&file.in_log) && !is_there()
}

/// The options of the replay job, except those that name the log.
pub fn options(import: &FinishedImport) -> Vec<String> {
    let summary = &import.summary;
    let transfers = summary.of(SelectedIo::Read).0 + summary.of(SelectedIo::Write).0;
    let is_of_devices = import.format != TraceFormat::Strace;
    let depth = match summary.deepest {
        0 if is_of_devices => DEFAULT_QUEUE_DEPTH,
        deepest => deepest.clamp(1, MAX_QUEUE_DEPTH),
    };
    let mut options = Vec::new();
    if depth == 1 {
        options.push("ioengine=psync".to_owned());
    } else {
        options.extend(["ioengine=io_uring".to_owned(), format!("iodepth={depth}")]);
    }
    // Block requests were issued below the page cache.
    if is_of_devices || (transfers > 0 && summary.remarks.direct >= transfers) {
        options.push("direct=1".to_owned());
    }
    let trims_files =
        summary.of(SelectedIo::Trim).0 > 0 && summary.files.iter().any(|file| !is_device(&file.in_log));
    if trims_files {
        options.push("replay_skip=trim".to_owned());
    }
    options
}

/// True for names below /dev, which need no layout.
pub fn is_device(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b"/dev/") && !name.as_bytes().starts_with(b"/dev/shm/")
}
