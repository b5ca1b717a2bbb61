//! Messages about paths that cannot be opened, of the run that fails and of the check that foresees it. `why` is the kernel's reason.

use std::path::Path;

/// A log of a job or of the run.
#[must_use]
pub fn log_not_opened(path: &str, why: &str) -> String {
    format!("fopen log: {why}: {path}; the run goes on without it")
}

/// The file of `write_iolog`.
#[must_use]
pub fn recording_not_opened(path: &Path, why: &str) -> String {
    format!("cannot open the I/O log {}: {why}", path.display())
}

/// The file of `mem`, and what to do.
#[must_use]
pub fn memory_file_not_opened(path: &Path, why: &str) -> String {
    format!("the file of `mem` cannot be opened: {}: {why}; name another one", path.display())
}

/// The file of `mem=mmaphuge` is on another file system.
pub const MEMORY_FILE_NOT_HUGE: &str = "mem=mmaphuge:FILE needs a file on a mounted hugetlbfs (mount -t hugetlbfs none /huge); without FILE it \
                                        needs none";

/// A verify state to be saved or loaded.
#[must_use]
pub fn state_not_opened(path: &Path, why: &str, is_saved: bool) -> [String; 2] {
    let for_write = u8::from(is_saved);
    [format!("open state file: {why}"), format!("state file: {} (for_write={for_write})", path.display())]
}

/// Advice when there is no state to load.
pub const STATE_MISSING: &str = "the job must have the name and the number of the job that wrote, and that job must have saved its state \
    (verify_state_save=1) in the same directory (--aux-path); remove verify_state_load to check everything";

/// A command of a job whose output cannot be saved.
#[must_use]
pub fn command_not_run(option: &str, output: &Path, why: &str) -> String {
    format!("{option} cannot be run with its output in {}: {why}", output.display())
}

/// The program of `ioengine=exec`.
#[must_use]
pub fn program_not_run(program: &str, why: &str) -> String {
    format!("the program {program} cannot be run: {why}")
}

/// The shared object of `ioengine=external`, in the words of the loader.
#[must_use]
pub fn object_not_loaded(why: &str) -> String {
    format!("{why}: build it for this machine with `cc -shared -fPIC`")
}

/// The donor of `ioengine=e4defrag`.
#[must_use]
pub fn donor_not_opened(path: &Path, why: &str) -> String {
    format!("the donor cannot be opened: {}: {why}", path.display())
}

/// The file of `--trigger-file`.
#[must_use]
pub fn trigger_unseen(path: &Path, why: &str) -> String {
    format!(
        "cannot look for the trigger file {}: {why}; it cannot end the run while this lasts",
        path.display()
    )
}
