//! The selection of I/Os for the log.

pub use wildmatch::WildMatch as Pattern;

use super::event::{Targets, TraceEvent, TraceEventKind};
use crate::IoAction;

/// The part of a trace that is imported; by default everything.
#[derive(Debug, Default)]
pub struct ImportSelection {
    /// Files and devices by patterns; none means all.
    pub files: Vec<Pattern>,
    /// Patterns of files and devices that are left out.
    pub without: Vec<Pattern>,
    /// Processes; none means all.
    pub pids: Vec<u32>,
    /// Kinds of I/O; none means all.
    pub kinds: Vec<SelectedIo>,
    /// Time after the first I/O at which the import begins.
    pub from_ns: u64,
    /// Time after the first I/O at which the import ends.
    pub until_ns: Option<u64>,
    /// Most I/Os that are imported.
    pub limit: Option<u64>,
}

/// The kinds of I/O that can be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectedIo {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// fsync and fdatasync.
    Sync,
}

impl SelectedIo {
    /// All kinds with their words.
    pub const ALL: [(&'static str, SelectedIo); 4] = [
        ("read", SelectedIo::Read),
        ("write", SelectedIo::Write),
        ("trim", SelectedIo::Trim),
        ("sync", SelectedIo::Sync),
    ];

    /// The kind of an action.
    #[must_use]
    pub fn of(action: IoAction) -> Self {
        match action {
            IoAction::Read => SelectedIo::Read,
            IoAction::Write => SelectedIo::Write,
            IoAction::Trim => SelectedIo::Trim,
            IoAction::Sync | IoAction::Datasync => SelectedIo::Sync,
        }
    }
}

impl ImportSelection {
    /// Whether an event is selected, whatever its time.
    #[must_use]
    pub fn takes(&self, event: &TraceEvent, targets: &Targets) -> bool {
        if let TraceEventKind::Io { action, .. } = event.what
            && !(self.kinds.is_empty() || self.kinds.contains(&SelectedIo::of(action)))
        {
            return false;
        }
        let of_process = event.pid.is_some_and(|pid| self.pids.contains(&pid));
        // Another process may hold the last descriptor of a file.
        if !(self.pids.is_empty() || of_process || event.what == TraceEventKind::Close) {
            return false;
        }
        if self.files.is_empty() && self.without.is_empty() {
            return true;
        }
        let name = String::from_utf8_lossy(targets.name(event.target));
        let is_like = |pattern: &Pattern| pattern.matches(&name);
        (self.files.is_empty() || self.files.iter().any(is_like)) && !self.without.iter().any(is_like)
    }

    /// Whether nothing is left out.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        let ImportSelection { files, without, pids, kinds, from_ns, until_ns, limit } = self;
        files.is_empty()
            && without.is_empty()
            && pids.is_empty()
            && kinds.is_empty()
            && (*from_ns, *until_ns, *limit) == (0, None, None)
    }

    /// Whether neither this I/O nor any later one is in the log.
    #[must_use]
    pub fn ends_before(&self, since_ns: u64, ios: u64) -> bool {
        self.until_ns.is_some_and(|until| since_ns >= until) || self.limit.is_some_and(|limit| ios >= limit)
    }

    /// Whether an I/O is in the log that comes this long after the first one, and after this many in the log.
    #[must_use]
    pub fn covers(&self, since_ns: u64, ios: u64) -> bool {
        since_ns >= self.from_ns && !self.ends_before(since_ns, ios)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(pid: Option<u32>, target: u32, action: IoAction) -> TraceEvent {
        TraceEvent {
            time_ns: 0,
            took_ns: None,
            pid,
            target,
            what: TraceEventKind::Io { action, offset: 0, len: 1 },
        }
    }

    #[test]
    fn files_processes_and_kinds_are_chosen_together() {
        let mut targets = Targets::default();
        let [db, library] = ["/var/db/a.db", "/usr/lib/libc.so"].map(|name| targets.number(name.as_bytes()));
        let all = ImportSelection::default();
        assert!(all.takes(&io(None, db, IoAction::Read), &targets));
        let some = ImportSelection {
            files: vec![Pattern::new("/var/*"), Pattern::new("/usr/*")],
            without: vec![Pattern::new("*.so")],
            pids: vec![7],
            kinds: vec![SelectedIo::Write, SelectedIo::Sync],
            ..ImportSelection::default()
        };
        assert!(some.takes(&io(Some(7), db, IoAction::Datasync), &targets));
        assert!(!some.takes(&io(Some(7), db, IoAction::Read), &targets));
        assert!(!some.takes(&io(Some(8), db, IoAction::Write), &targets));
        assert!(!some.takes(&io(None, db, IoAction::Write), &targets));
        assert!(!some.takes(&io(Some(7), library, IoAction::Write), &targets));
    }

    #[test]
    fn times_and_numbers_have_ends() {
        let part =
            ImportSelection { from_ns: 10, until_ns: Some(20), limit: Some(3), ..ImportSelection::default() };
        assert!(part.covers(10, 0) && part.covers(19, 2));
        assert!(!part.covers(9, 0) && !part.covers(20, 0) && !part.covers(10, 3));
    }
}
