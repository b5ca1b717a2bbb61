//! Which I/Os of a trace are in the log.

pub use wildmatch::WildMatch as Pattern;

use super::event::{Event, Targets, What};
use crate::IoAction;

/// What is taken from a trace; by default everything.
#[derive(Debug, Default)]
pub struct Selection {
    /// Files and devices by patterns; none means all.
    pub files: Vec<Pattern>,
    /// Files and devices that are left out.
    pub without: Vec<Pattern>,
    /// Processes; none means all.
    pub pids: Vec<u32>,
    /// Kinds of I/O; none means all.
    pub kinds: Vec<IoKind>,
    /// Time after the first I/O before which nothing is taken.
    pub from_ns: u64,
    /// Time after the first I/O from which on nothing is taken.
    pub until_ns: Option<u64>,
    /// Number of I/Os after which nothing is taken.
    pub limit: Option<u64>,
}

/// The kinds of I/O that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// fsync and fdatasync.
    Sync,
}

impl IoKind {
    /// All, with their words.
    pub const ALL: [(&'static str, IoKind); 4] =
        [("read", IoKind::Read), ("write", IoKind::Write), ("trim", IoKind::Trim), ("sync", IoKind::Sync)];

    /// The kind of an action.
    #[must_use]
    pub fn of(action: IoAction) -> Self {
        match action {
            IoAction::Read => IoKind::Read,
            IoAction::Write => IoKind::Write,
            IoAction::Trim => IoKind::Trim,
            IoAction::Sync | IoAction::Datasync => IoKind::Sync,
        }
    }
}

impl Selection {
    /// True if the event is one to take, whatever its time.
    #[must_use]
    pub fn takes(&self, event: &Event, targets: &Targets) -> bool {
        if let What::Io { action, .. } = event.what
            && !(self.kinds.is_empty() || self.kinds.contains(&IoKind::of(action)))
        {
            return false;
        }
        let of_process = event.pid.is_some_and(|pid| self.pids.contains(&pid));
        // Another process may hold the last descriptor of a file.
        if !(self.pids.is_empty() || of_process || event.what == What::Close) {
            return false;
        }
        if self.files.is_empty() && self.without.is_empty() {
            return true;
        }
        let name = String::from_utf8_lossy(targets.name(event.target));
        let is_like = |pattern: &Pattern| pattern.matches(&name);
        (self.files.is_empty() || self.files.iter().any(is_like)) && !self.without.iter().any(is_like)
    }

    /// True if nothing is left out.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        let Selection { files, without, pids, kinds, from_ns, until_ns, limit } = self;
        files.is_empty()
            && without.is_empty()
            && pids.is_empty()
            && kinds.is_empty()
            && (*from_ns, *until_ns, *limit) == (0, None, None)
    }

    /// True if neither this I/O nor a later one is in the log.
    #[must_use]
    pub fn ends_before(&self, since_ns: u64, ios: u64) -> bool {
        self.until_ns.is_some_and(|until| since_ns >= until) || self.limit.is_some_and(|limit| ios >= limit)
    }

    /// True if an I/O that is this long after the first one, and after this many in the log, is in the log.
    #[must_use]
    pub fn covers(&self, since_ns: u64, ios: u64) -> bool {
        since_ns >= self.from_ns && !self.ends_before(since_ns, ios)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(pid: Option<u32>, target: u32, action: IoAction) -> Event {
        Event { time_ns: 0, took_ns: None, pid, target, what: What::Io { action, offset: 0, len: 1 } }
    }

    #[test]
    fn files_processes_and_kinds_are_chosen_together() {
        let mut targets = Targets::default();
        let [db, library] = ["/var/db/a.db", "/usr/lib/libc.so"].map(|name| targets.number(name.as_bytes()));
        let all = Selection::default();
        assert!(all.takes(&io(None, db, IoAction::Read), &targets));
        let some = Selection {
            files: vec![Pattern::new("/var/*"), Pattern::new("/usr/*")],
            without: vec![Pattern::new("*.so")],
            pids: vec![7],
            kinds: vec![IoKind::Write, IoKind::Sync],
            ..Selection::default()
        };
        assert!(some.takes(&io(Some(7), db, IoAction::Datasync), &targets));
        assert!(!some.takes(&io(Some(7), db, IoAction::Read), &targets));
        assert!(!some.takes(&io(Some(8), db, IoAction::Write), &targets));
        assert!(!some.takes(&io(None, db, IoAction::Write), &targets));
        assert!(!some.takes(&io(Some(7), library, IoAction::Write), &targets));
    }

    #[test]
    fn times_and_numbers_have_ends() {
        let part = Selection { from_ns: 10, until_ns: Some(20), limit: Some(3), ..Selection::default() };
        assert!(part.covers(10, 0) && part.covers(19, 2));
        assert!(!part.covers(9, 0) && !part.covers(20, 0) && !part.covers(10, 3));
    }
}
