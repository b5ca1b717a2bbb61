//! Ends a run from outside: when a file appears or a time is over, all jobs end and a command runs.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Duration;

use ferrio_job::{Diagnostic, Origin, reason, trigger_unseen};
use ferrio_kernel::programs::ProgramGroup;

use crate::commands::{self, ShellStatus};

/// When to end the run, and what to do then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trigger {
    /// The run ends when this file is seen; it is deleted.
    pub file: Option<PathBuf>,
    /// The run ends this long after its first job could start.
    pub timeout: Option<Duration>,
    /// The run ends when somebody else says so.
    pub switch: TriggerSwitch,
    /// Shell command that runs once all jobs have ended. All its output goes to standard error.
    pub command: Option<String>,
    /// True if the command's standard output is not redirected to standard error.
    pub writes_to_stdout: bool,
    /// True if a verify state is saved for every job, as in fio, and not only for those that ask for it.
    pub saves_all_states: bool,
}

/// Somebody else's word that a run shall end.
#[derive(Debug, Clone, Default)]
pub struct TriggerSwitch(Arc<AtomicBool>);

impl TriggerSwitch {
    /// Ends the run.
    pub fn fire(&self) {
        self.0.store(true, Release);
    }

    /// Whether it has been fired.
    #[must_use]
    pub fn is_fired(&self) -> bool {
        self.0.load(Acquire)
    }
}

impl PartialEq for TriggerSwitch {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.is_fired() == other.is_fired()
    }
}

impl Eq for TriggerSwitch {}

impl Trigger {
    /// A note for the user if checking for the file fails, so that it might never be seen.
    pub(crate) fn unseen(&self) -> Option<Diagnostic> {
        let path = self.file.as_ref()?;
        let error =
            fs::symlink_metadata(path).err().filter(|error| error.kind() != io::ErrorKind::NotFound)?;
        let message = trigger_unseen(path, &reason(&error));
        Some(Diagnostic::warning(message, Origin::Builtin).code("trigger-unseen"))
    }

    /// Checks whether the run must end, `elapsed` after it began. Returns what the user should know, if it must.
    pub(crate) fn poll(&self, elapsed: Duration) -> Option<Diagnostic> {
        self.reason(elapsed).map(|message| Diagnostic::note(message).code("trigger"))
    }

    /// The reason for the end of the run.
    fn reason(&self, elapsed: Duration) -> Option<String> {
        if let Some(timeout) = self.timeout.filter(|&timeout| elapsed >= timeout) {
            return Some(format!("trigger timeout of {}s expired: all jobs end", timeout.as_secs_f64()));
        }
        if self.switch.is_fired() {
            return Some("the trigger of the client: all jobs end".to_owned());
        }
        let path = self.file.as_ref()?;
        // A link that leads nowhere counts as well.
        fs::symlink_metadata(path).ok()?;
        let name = path.display();
        Some(match fs::remove_file(path) {
            Ok(()) => format!("trigger file {name} found: all jobs end"),
            Err(e) => {
                format!("trigger file {name} found: all jobs end; it cannot be deleted: {}", reason(&e))
            }
        })
    }

    /// Time from `elapsed` to the end of the timeout.
    pub(crate) fn due_in(&self, elapsed: Duration) -> Duration {
        self.timeout.map_or(Duration::MAX, |timeout| timeout.saturating_sub(elapsed))
    }

    /// Runs the command, until `stop` says that it has to end. Returns what the user should know, if it fails.
    pub(crate) fn run_command(&self, group: ProgramGroup, stop: impl FnMut() -> bool) -> Option<Diagnostic> {
        let command = self.command.as_ref()?;
        #[expect(clippy::disallowed_methods, reason = "the command has them, not the program")]
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let output = if self.writes_to_stdout { stdout.as_fd() } else { stderr.as_fd() };
        let outcome = commands::run_unless(command, output, stderr.as_fd(), group, stop);
        let message = match outcome {
            Ok(ShellStatus::SUCCESS) => return None,
            Ok(outcome) => format!("trigger command `{command}` {outcome}"),
            Err(e) => format!("trigger command `{command}` cannot be run: {}", reason(&e)),
        };
        Some(Diagnostic::note(message).code("trigger-failed"))
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_file_is_seen_once_and_deleted() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("now");
        let trigger = Trigger { file: Some(path.clone()), ..Trigger::default() };
        assert_eq!(trigger.poll(Duration::MAX), None);
        fs::write(&path, "").unwrap();
        let line = format!("trigger file {} found: all jobs end", path.display());
        assert_eq!(trigger.poll(Duration::ZERO).unwrap().message, line);
        assert!(!path.exists());
        assert_eq!(trigger.poll(Duration::ZERO), None);
    }

    #[test]
    fn a_file_that_cannot_be_looked_for_is_told() {
        let directory = TempDir::new().unwrap();
        let unseen = |path: PathBuf| Trigger { file: Some(path), ..Trigger::default() }.unseen();
        assert_eq!(unseen(directory.path().join("now")), None);
        assert_eq!(unseen(directory.path().to_path_buf()), None);
        fs::write(directory.path().join("file"), "").unwrap();
        let message = unseen(directory.path().join("file/now")).unwrap().message;
        assert!(message.contains("file/now: Not a directory; it cannot end the run"), "{message}");
    }

    #[test]
    fn a_file_that_cannot_be_deleted_ends_the_run_all_the_same() {
        let directory = TempDir::new().unwrap();
        let trigger = Trigger { file: Some(directory.path().to_path_buf()), ..Trigger::default() };
        let line = trigger.poll(Duration::ZERO).unwrap().message;
        assert!(line.contains("all jobs end; it cannot be deleted: "), "{line}");
    }

    #[test]
    fn the_time_is_over_when_it_has_passed() {
        let trigger = Trigger { timeout: Some(Duration::from_millis(1500)), ..Trigger::default() };
        let ms = Duration::from_millis;
        assert_eq!(trigger.poll(ms(1499)), None);
        assert_eq!(trigger.poll(ms(1500)).unwrap().message, "trigger timeout of 1.5s expired: all jobs end");
        assert_eq!((trigger.due_in(ms(1000)), trigger.due_in(ms(2000))), (ms(500), ms(0)));
        assert_eq!(Trigger::default().due_in(ms(0)), Duration::MAX);
    }

    #[test]
    fn a_failing_command_is_told() {
        let told = |command: &str| {
            Trigger { command: Some(command.to_owned()), ..Trigger::default() }
                .run_command(ProgramGroup::Own, || false)
        };
        assert_eq!(told("true"), None);
        assert_eq!(told("exit 3").unwrap().message, "trigger command `exit 3` ended with status 3");
        assert_eq!(Trigger::default().run_command(ProgramGroup::Own, || false), None);
        let stopped = Trigger { command: Some("sleep 3600".to_owned()), ..Trigger::default() };
        let told = stopped.run_command(ProgramGroup::Own, || true).unwrap();
        assert_eq!(told.message, "trigger command `sleep 3600` was stopped");
    }
}
