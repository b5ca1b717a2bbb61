//! An engine that holds back what overlaps an I/O in flight: `serialize_overlap=1`.
//!
//! It wraps any engine with a queue and answers that it is full as long as the range of a request is in use, so that the loop reaps
//! and tries again. What is in flight is in a table of its own, or in one that it shares with other jobs. Nothing allocates.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ferrio_engine::{Buffers, Completion, Engine, EngineError, FileSet, Op, OpenFile, Ran, Request, Submit};
use ferrio_job::{Diagnostic, JobSpec};
use ferrio_stats::Usage;

use crate::overlap::{Identity, Range, Ranges, SharedRanges};

/// Engine `E`, which never has two I/Os in flight that touch the same byte; or all it is given, if the job does not ask for that.
pub(crate) struct Serialized<E> {
    engine: E,
    // Goes after the engine, whose destructor waits for what is in flight.
    used: Option<Used>,
}

/// What a job has in flight.
struct Used {
    table: Table,
    /// The number in the table of each of the job's files.
    files: Vec<u32>,
    /// Files without a descriptor are told apart by their names.
    diskless: bool,
    /// The range of each unit.
    units: Vec<Option<Range>>,
    /// Units that have one.
    busy: u32,
}

enum Table {
    Own(Ranges),
    /// With others, and which job this is.
    Shared(Arc<SharedRanges>, usize),
}

impl Used {
    fn new(spec: &JobSpec, table: Table) -> Self {
        let mut used = Used {
            table,
            files: vec![0; spec.files.len()],
            diskless: spec.engine.is_diskless(),
            units: vec![None; spec.units() as usize],
            busy: 0,
        };
        if used.diskless {
            for (index, file) in spec.files.iter().enumerate() {
                used.identify(index, Identity::Path(file.path.clone()));
            }
        }
        used
    }

    fn identify(&mut self, index: usize, identity: Identity) {
        self.files[index] = match &mut self.table {
            Table::Own(ranges) => ranges.file(identity),
            Table::Shared(table, _) => table.file(identity),
        };
    }

    /// Looks which file a descriptor leads to. A closed one is looked at when it is opened.
    fn look_at(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        if let Some(fd) = file.fd.as_ref().filter(|_| !self.diskless) {
            let identity = Identity::of(fd).map_err(|e| EngineError::new("fstat", e))?;
            self.identify(index, identity);
        }
        Ok(())
    }

    /// The range of a request; syncs have none.
    fn range(&self, request: &Request) -> Option<Range> {
        let Request { op, file, offset, len, .. } = *request;
        let touches = matches!(op, Op::Read | Op::Write | Op::Trim) && len > 0;
        let file = self.files[file as usize];
        touches.then(|| Range { file, start: offset, end: offset.saturating_add(len.into()) })
    }

    /// True when the range is the job's now. When nothing of the job is in flight that needs to be reaped, this waits for others.
    fn enter(&mut self, range: Range) -> bool {
        match &mut self.table {
            Table::Own(ranges) => ranges.enter(range),
            Table::Shared(table, job) if self.busy > 0 => table.enter(*job, range),
            Table::Shared(table, job) => {
                table.enter_when_free(*job, range);
                true
            }
        }
    }

    fn take(&mut self, unit: u32, range: Range) {
        self.units[unit as usize] = Some(range);
        self.busy += 1;
    }

    /// These ranges are free again.
    fn release(&mut self, ranges: impl Iterator<Item = Range>) {
        match &mut self.table {
            Table::Own(table) => ranges.for_each(|range| table.leave(range)),
            Table::Shared(table, _) => table.leave(ranges),
        }
    }

    fn completed(&mut self, done: &[Completion]) {
        if done.is_empty() {
            return;
        }
        let mut units = std::mem::take(&mut self.units);
        let mut freed = 0;
        self.release(done.iter().filter_map(|completion| {
            let range = units[completion.unit as usize].take();
            freed += u32::from(range.is_some());
            range
        }));
        self.busy -= freed;
        self.units = units;
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        if let Table::Shared(table, job) = &self.table {
            table.leave(self.units.iter().flatten().copied());
            table.withdraw(*job);
        }
    }
}

impl<E: Engine> Serialized<E> {
    /// Job number `job` on `engine`, in the table that it shares with others, if it does.
    pub(crate) fn sharing(engine: E, spec: &JobSpec, shared: Option<Arc<SharedRanges>>, job: usize) -> Self {
        let table = || {
            shared.map_or_else(|| Table::Own(Ranges::new(spec.units())), |table| Table::Shared(table, job))
        };
        let used = spec.serialize_overlap.then(|| Used::new(spec, table()));
        Serialized { engine, used }
    }
}

// A method that is not forwarded would fall back to what the trait does for engines without it.
#[deny(clippy::missing_trait_methods)]
impl<E: Engine> Engine for Serialized<E> {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        Ok(Serialized::sharing(E::open(spec, buffers)?, spec, None, 0))
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        if let Some(used) = &mut self.used {
            files.files.iter().enumerate().try_for_each(|(index, file)| used.look_at(index, file))?;
        }
        self.engine.attach(files)
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        if let Some(used) = &mut self.used {
            used.look_at(index, file)?;
        }
        self.engine.attach_one(index, file)
    }

    fn submit(&mut self, request: &Request) -> Submit {
        let Some(used) = &mut self.used else { return self.engine.submit(request) };
        let Some(range) = used.range(request) else { return self.engine.submit(request) };
        if !used.enter(range) {
            return Submit::Full;
        }
        let outcome = self.engine.submit(request);
        match outcome {
            Submit::Queued => used.take(request.unit, range),
            Submit::Done(_) | Submit::Full => used.release([range].into_iter()),
        }
        outcome
    }

    fn flush(&mut self) -> io::Result<u32> {
        self.engine.flush()
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let before = done.len();
        let reaped = self.engine.reap(min, max, done);
        if let Some(used) = &mut self.used {
            used.completed(&done[before..]);
        }
        reaped
    }

    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        let before = done.len();
        let reaped = self.engine.reap_within(timeout, max, done);
        if let Some(used) = &mut self.used {
            used.completed(&done[before..]);
        }
        reaped
    }

    fn ran(&self, unit: u32) -> Option<Ran> {
        self.engine.ran(unit)
    }

    fn usage(&mut self) -> Usage {
        self.engine.usage()
    }

    fn notes(&mut self) -> Vec<Diagnostic> {
        self.engine.notes()
    }
}
