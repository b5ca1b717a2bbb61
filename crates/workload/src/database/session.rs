//! The steps of a transaction: page reads, appends to the log, the commit, changes that are written back later.

use ferrio_job::{Database, Direction, WriteBack};

use super::mean_count::MeanCount;
use super::page_choice::PageChoice;
use super::{DatabaseCounts, SharedDatabase, SharedWriteBack, pages_used};
use crate::step::{Io, Step};

/// The transactions of one session.
#[derive(Debug)]
pub(super) struct SessionPath {
    /// Number in the load.
    thread: u32,
    choice: PageChoice,
    /// How many pages each transaction uses, and how many of them it changes.
    uses: MeanCount,
    changes: MeanCount,
    /// How many pages this transaction uses.
    pages: u32,
    /// The pages that the transaction changes: the last ones that it uses.
    changed: Vec<u64>,
    /// Pages used so far.
    used: u32,
    stage: TransactionStage,
    /// Whether something was appended to the log.
    appended: bool,
    /// Whether the transaction has computed before its next page, or before its first append.
    computed: bool,
}

/// CPU time that a transaction has used when it still uses `left` of its pages, ns: the same for each of them, and for what follows the
/// last one.
fn cpu_before(database: &Database, pages: u32, left: u32) -> u64 {
    let parts = u128::from(pages) + 1;
    let done = parts - u128::from(left).min(parts);
    u64::try_from(database.cpu.as_nanos() * done / parts).unwrap_or(u64::MAX)
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransactionStage {
    /// The next page, of this many left.
    Reads(u32),
    /// The next append, of this many left.
    Appends(u32),
    /// The whole of a changed page, from this one on, if the log needs it.
    FullPages(usize),
    Commit,
    Changes,
    End,
}

impl SessionPath {
    pub(super) fn new(shared: &SharedDatabase, thread: u32) -> Self {
        let (changed, most_changed) = match &shared.database.write_back {
            WriteBack::Pages(pages) => (pages.changed, pages.most_changed()),
            WriteBack::Tables(_) => (0.0, 0),
        };
        let count = |mean| MeanCount::new(mean, thread, shared.database.sessions);
        let mut path = SessionPath {
            thread,
            choice: PageChoice::new(&shared.database, shared.seed, thread),
            uses: count(pages_used(shared.database.reads)),
            changes: count(changed),
            pages: 0,
            changed: Vec::with_capacity(most_changed as usize),
            used: 0,
            stage: TransactionStage::End,
            appended: false,
            computed: false,
        };
        path.begin();
        path
    }

    /// Begins a transaction.
    fn begin(&mut self) {
        self.pages = self.uses.next();
        self.changed.clear();
        self.changed.resize(self.changes.next() as usize, 0);
        self.used = 0;
        self.stage = TransactionStage::Reads(self.pages);
    }

    pub(super) fn next(&mut self, shared: &SharedDatabase, counts: &mut DatabaseCounts) -> Step {
        let database = &shared.database;
        loop {
            match self.stage {
                TransactionStage::Reads(left) if !self.computed && !database.cpu.is_zero() => {
                    self.computed = true;
                    return Step::Compute { ns: cpu_before(database, self.pages, left) };
                }
                TransactionStage::Reads(0) => {
                    self.computed = false;
                    // Pages that a transaction changes without reading them also count as used.
                    while (self.used as usize) < self.changed.len() {
                        self.use_page();
                    }
                    self.stage = TransactionStage::Appends(database.log.appends);
                }
                TransactionStage::Reads(left) => {
                    self.stage = TransactionStage::Reads(left - 1);
                    self.computed = false;
                    let page = self.use_page();
                    if shared.pool.as_ref().is_some_and(|pool| pool.use_page(page)) {
                        counts.pool_hits += 1;
                        continue;
                    }
                    let ((file, offset), len) = (shared.place(page), database.page.into());
                    return Step::Io(Io { direction: Direction::Read, file, offset, len });
                }
                TransactionStage::Appends(0) => self.stage = TransactionStage::FullPages(0),
                TransactionStage::Appends(left) => {
                    self.stage = TransactionStage::Appends(left - 1);
                    return self.append(shared, database.log.block);
                }
                TransactionStage::FullPages(index) => match (self.changed.get(index), &shared.full_pages) {
                    (Some(&page), Some(full_pages)) => {
                        self.stage = TransactionStage::FullPages(index + 1);
                        if full_pages.is_first_change(page) {
                            counts.full_pages += 1;
                            return self.append(shared, database.page);
                        }
                    }
                    _ => self.stage = TransactionStage::Commit,
                },
                TransactionStage::Commit => {
                    let has_appended = std::mem::take(&mut self.appended);
                    let ends = !has_appended && self.changed.is_empty();
                    self.stage = if ends { TransactionStage::End } else { TransactionStage::Changes };
                    if has_appended {
                        return Step::Commit;
                    }
                }
                TransactionStage::Changes => {
                    self.stage = TransactionStage::End;
                    if let SharedWriteBack::Pages(dirty) = &shared.write_back
                        && !self.changed.is_empty()
                    {
                        dirty.add(self.thread, &self.changed, shared.log.end(), shared.pool.as_ref());
                    }
                    // Appends alone may require a checkpoint or a table.
                    return Step::AwaitWriteBack;
                }
                TransactionStage::End => {
                    self.begin();
                    return Step::EventEnd;
                }
            }
        }
    }

    /// The next page that the transaction uses.
    fn use_page(&mut self) -> u64 {
        let page = self.choice.next();
        if let Some(place) = (self.used as usize).checked_rem(self.changed.len()) {
            self.changed[place] = page;
        }
        self.used += 1;
        page
    }

    /// An append of `len` bytes to the log.
    fn append(&mut self, shared: &SharedDatabase, len: u32) -> Step {
        match &shared.write_back {
            SharedWriteBack::Tables(tables) => tables.append(len),
            SharedWriteBack::Pages(dirty) if !self.appended && !self.changed.is_empty() => {
                dirty.begin_appends(self.thread, shared.log.end());
            }
            SharedWriteBack::Pages(_) => {}
        }
        self.appended = true;
        let (file, offset) = (shared.database.log_file(), shared.log.append(len).offset);
        Step::Io(Io { direction: Direction::Write, file, offset, len: len.into() })
    }
}
