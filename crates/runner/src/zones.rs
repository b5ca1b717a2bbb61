//! `zonemode=zbd`: the zones of the files of a run, and what its jobs have in flight in them.
//!
//! [`ZonedFile`] is one file with its table, which all jobs that name it share; [`JobZones`] is how one job uses its files. The lock of a
//! table is held while an I/O is placed or has ended, never while a device works.

mod source;
mod table;
mod zoned_file;

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use ferrio_job::{Direction, JobSpec, debug_class};
use ferrio_workload::Io;
use log::debug;

use table::{ZoneIo, ZoneRules};
pub(crate) use table::{ZonePlacement, ZoneRange};
use zoned_file::ZonedFile;
pub(crate) use zoned_file::ZonedFiles;

/// Longest time that a job waits for others before it checks whether it was stopped.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// How a job uses the zones of its files.
#[derive(Debug)]
pub(crate) struct JobZones {
    /// The number of the job, for `--debug`.
    job: u32,
    files: Vec<(Arc<ZonedFile>, ZoneRules)>,
    /// The zone that the I/O of each unit is in.
    held: Vec<Option<HeldZone>>,
    /// Writes that failed and left gaps, in zones that this job keeps for itself until they are filled.
    broken: Vec<FailedWrite>,
    /// `recover_zbd_write_error`: gaps are filled.
    recovers: bool,
    /// The job reads and writes.
    mixed: bool,
    /// Something was issued.
    pub(crate) begun: bool,
}

/// An I/O in flight.
#[derive(Clone, Copy, Debug)]
struct HeldZone {
    file: usize,
    zone: usize,
    io: ZoneIo,
}

/// A write, or the rest of one, that is missing in its zone.
#[derive(Clone, Copy, Debug)]
struct FailedWrite {
    zone: HeldZone,
    unit: u32,
    offset: u64,
    end: u64,
}

/// A part of a zone in which a write is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) file: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The unit that has the data, and where they begin in its buffer; `None` if several writes are missing.
    pub(crate) data: Option<(u32, u64)>,
}

impl JobZones {
    fn new(spec: &JobSpec, files: Vec<Arc<ZonedFile>>) -> Self {
        let joined = files.into_iter().enumerate().map(|(index, file)| {
            let rules = file.table().join(spec, index);
            (file, rules)
        });
        JobZones {
            job: spec.number,
            files: joined.collect(),
            held: vec![None; spec.units() as usize],
            broken: Vec::new(),
            recovers: spec.zbd.as_ref().is_some_and(|zbd| zbd.recovers),
            mixed: spec.rw.is_mixed(),
            begun: false,
        }
    }

    /// True when a read/write mix has to go on with a write: nothing can be read yet.
    pub(crate) fn must_write(&self) -> bool {
        self.mixed && self.files.iter().all(|(file, rules)| file.table().has_nothing_to_read(rules))
    }

    /// Another pass begins.
    pub(crate) fn begin_pass(&mut self) {
        self.files.iter_mut().for_each(|(_, rules)| rules.begin_pass());
    }

    /// Decides where an I/O goes.
    pub(crate) fn place(&mut self, io: &Io) -> ZonePlacement {
        let Some((file, rules)) = self.files.get_mut(io.file as usize) else { return ZonePlacement::Nothing };
        let (mut table, len) = (file.table(), io.len);
        match io.direction {
            Direction::Read => table.place_read(rules, io.offset, len),
            Direction::Write => table.place_write(rules, io.offset, len),
            Direction::Trim => table.place_trim(rules, io.offset, len),
        }
    }

    /// Resets the zone that [`JobZones::place`] named. Returns the range of the zone.
    ///
    /// # Errors
    /// The device refuses.
    pub(crate) fn reset(&mut self, file: u32, zone: usize) -> io::Result<Range<u64>> {
        let (file, rules) = &mut self.files[file as usize];
        let (start, len) = file.extent(zone);
        debug!(target: debug_class::ZBD, job = self.job; "{}: reset zone {zone}", file.path.display());
        let outcome = file.source.reset(start, len);
        file.table().was_reset(rules, zone, outcome.is_ok());
        file.changed.notify_all();
        outcome.map(|()| start..start + len)
    }

    /// The I/O of `unit` is about to be issued at this place.
    pub(crate) fn issued(&mut self, unit: u32, io: &Io, place: &ZoneRange) {
        self.begun = true;
        let end = place.offset + place.len;
        let zone_io = match io.direction {
            Direction::Read => ZoneIo::Read,
            Direction::Write => ZoneIo::Write { len: place.len, end },
            Direction::Trim => ZoneIo::Trim,
        };
        self.held[unit as usize] =
            place.zone.map(|zone| HeldZone { file: io.file as usize, zone, io: zone_io });
    }

    /// The I/O of `unit` has ended, well or not.
    ///
    /// # Errors
    /// The zone is to be finished, and the device refuses.
    pub(crate) fn ended(&mut self, unit: u32, done: bool) -> io::Result<()> {
        let Some(HeldZone { file, zone, io }) = self.held[unit as usize].take() else { return Ok(()) };
        let (file, rules) = &mut self.files[file];
        let finishes = file.table().ended(rules, zone, io, done);
        file.changed.notify_all();
        if finishes {
            let (start, len) = file.extent(zone);
            debug!(target: debug_class::ZBD, job = self.job; "{}: finish zone {zone}", file.path.display());
            file.source.finish(start, len)?;
        }
        Ok(())
    }

    /// A write of `unit` has failed from `offset` on. True if the gap that it leaves is to be filled: until then its zone is taken.
    pub(crate) fn broke(&mut self, unit: u32, offset: u64) -> bool {
        let Some(zone) = self.held[unit as usize].filter(|_| self.recovers) else { return false };
        let ZoneIo::Write { end, .. } = zone.io else { return false };
        self.held[unit as usize] = None;
        self.broken.push(FailedWrite { zone, unit, offset, end });
        true
    }

    /// True when there are gaps to be filled.
    pub(crate) fn has_gaps(&self) -> bool {
        !self.broken.is_empty()
    }

    /// The next zone with a gap, from its write pointer to the end of the last write that failed. Nothing may be in flight.
    ///
    /// # Errors
    /// The device does not say where the pointer is.
    pub(crate) fn next_gap(&mut self) -> io::Result<Option<Gap>> {
        let Some(first) = self.broken.first() else { return Ok(None) };
        let HeldZone { file: index, zone, .. } = first.zone;
        let same = |failed: &&FailedWrite| (failed.zone.file, failed.zone.zone) == (index, zone);
        let failed = self.broken.iter().filter(same);
        let (from, end) = failed
            .clone()
            .fold((u64::MAX, 0), |(from, end), failed| (failed.offset.min(from), failed.end.max(end)));
        let only = failed.count() == 1;
        let file = &self.files[index].0;
        // The program itself has no other pointer than the first write that failed.
        let report = file.source.zone_at(file.extent(zone).0)?;
        let start = report.map_or(from, |report| report.write_pointer.min(end));
        debug!(
            target: debug_class::ZBD, job = self.job;
            "{}: repair zone {zone} from {start} to {end}", file.path.display()
        );
        let data = (only && start >= first.offset).then(|| {
            let ZoneIo::Write { len, end } = first.zone.io else { return (first.unit, 0) };
            (first.unit, start - (end - len))
        });
        Ok(Some(Gap { file: index as u32, start, end, data }))
    }

    /// The gap was filled: its zone is free.
    ///
    /// # Errors
    /// The zone is to be finished, and the device refuses.
    pub(crate) fn filled(&mut self, gap: &Gap) -> io::Result<()> {
        let Some(&FailedWrite { zone: HeldZone { file: index, zone, .. }, .. }) = self.broken.first() else {
            return Ok(());
        };
        let (file, rules) = &self.files[index];
        let mut finishes = false;
        {
            let mut table = file.table();
            let written = gap.end.saturating_sub(table.zone(zone).start).max(table.zone(zone).written);
            table.set_written(zone, written);
            self.broken.retain(|failed| {
                let here = (failed.zone.file, failed.zone.zone) == (index, zone);
                if here {
                    finishes |= table.ended(rules, zone, failed.zone.io, true);
                }
                !here
            });
        }
        file.changed.notify_all();
        if finishes {
            let (start, len) = file.extent(zone);
            file.source.finish(start, len)?;
        }
        Ok(())
    }

    /// Resets the zone of a trim.
    ///
    /// # Errors
    /// The device refuses.
    pub(crate) fn trim(&self, file: u32, offset: u64, len: u64) -> io::Result<()> {
        self.files[file as usize].0.source.reset(offset, len)
    }

    /// True when the zone of a trim has something in it. The trim has taken it.
    pub(crate) fn is_used(&self, file: u32, zone: usize) -> bool {
        self.files[file as usize].0.table().zone(zone).written > 0
    }

    /// Waits for other jobs: until something has changed in a file, or a moment has passed.
    pub(crate) fn wait(&self, file: u32) {
        let file = &self.files[file as usize].0;
        let _ = file.changed.wait_timeout(file.table(), STOP_CHECK_INTERVAL);
    }

    /// Makes all zones of the job empty, those that something is written in. Returns how many these are.
    ///
    /// # Errors
    /// A device refuses.
    pub(crate) fn empty_all(&mut self, stopped: &dyn Fn() -> bool) -> io::Result<u64> {
        let mut resets = 0;
        for index in 0..self.files.len() {
            let (file, rules) = &self.files[index];
            let used = file.table().used_zones(rules);
            for zone in used {
                loop {
                    let (file, rules) = &self.files[index];
                    if stopped() {
                        return Ok(resets);
                    }
                    let taken = file.table().take_to_reset(rules, zone);
                    if taken != ZonePlacement::Wait {
                        break;
                    }
                    self.wait(index as u32);
                }
                self.reset(index as u32, zone)?;
                resets += 1;
            }
        }
        Ok(resets)
    }

    /// The path of a file.
    pub(crate) fn path(&self, file: u32) -> &std::path::Path {
        &self.files[file as usize].0.path
    }
}

impl Drop for JobZones {
    /// Other jobs do not wait for what a job has left in flight.
    fn drop(&mut self) {
        let broken = self.broken.drain(..).map(|failed| failed.zone);
        for HeldZone { file, zone, io } in self.held.iter_mut().filter_map(Option::take).chain(broken) {
            let (file, rules) = &self.files[file];
            file.table().ended(rules, zone, io, false);
            file.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests;
