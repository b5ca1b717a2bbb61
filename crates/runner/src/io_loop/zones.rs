//! `zonemode=zbd`: I/Os go where their zones allow. A write waits until its zone was reset, and a trim is the reset of a zone.

use std::io;

use ferrio_engine::{Engine, Op, Request};
use ferrio_job::{Diagnostic, Direction, Prefix};
use ferrio_machine::InterruptionLimit;
use ferrio_workload::{Io, Step};
use rustix::io::Errno;

use super::IoLoop;
use crate::failure::Failure;
use crate::zones::{Gap, ZonePlacement, ZoneRange};

/// The decision about an I/O that the workload has chosen.
enum ZoneDecision {
    /// Issue the I/O in this range.
    Placed(Io, ZoneRange),
    /// Skip the I/O: its file has no zone for it.
    NoZone,
    /// Stop: the job ends, or its time is up.
    Interrupted,
}

impl<E: Engine> IoLoop<'_, E> {
    /// Performs the next step of a job with zones. False when the pass is over.
    pub(super) fn perform_in_zones(&mut self) -> bool {
        let Some(zones) = &self.hooks.zones else { return false };
        if zones.has_gaps() {
            self.fill_gaps();
            return true;
        }
        let step = if self.hooks.rates.is_none() || zones.must_write() {
            self.workload
                .next_paced(|direction| if zones.must_write() { Direction::Write } else { direction })
        } else {
            match self.next_when_due() {
                Some(step) => step,
                None => return true,
            }
        };
        let Step::Io(chosen) = step else { return self.perform(step) };
        match self.find_place(&chosen) {
            ZoneDecision::Placed(io, place) => {
                self.workload.moved(&chosen, &io, place.next);
                self.issue_in_zone(io, &place)
            }
            ZoneDecision::NoZone => self.workload.give_up(&chosen).is_none_or(|step| self.perform(step)),
            ZoneDecision::Interrupted => true,
        }
    }

    /// Finds the zone of an I/O and makes it ready.
    fn find_place(&mut self, chosen: &Io) -> ZoneDecision {
        loop {
            if self.failure.is_some() || self.must_end() || self.meter.timing.is_over(self.meter.now) {
                return ZoneDecision::Interrupted;
            }
            let is_checking = self.awaits_checks();
            let Some(zones) = &mut self.hooks.zones else { return ZoneDecision::NoZone };
            match zones.place(chosen) {
                // Pending verification of data from the zone finishes before the reset.
                ZonePlacement::Reset(_) if is_checking => {
                    self.drain();
                    self.await_checks();
                }
                ZonePlacement::Ready(place) => {
                    // The range is never longer than the I/O.
                    let io = Io { offset: place.offset, len: place.len, ..*chosen };
                    return ZoneDecision::Placed(io, place);
                }
                ZonePlacement::Reset(zone) => match zones.reset(chosen.file, zone) {
                    Ok(range) => {
                        self.meter.stats.zone_resets += 1;
                        if let Some(verification) = &mut self.hooks.verification {
                            verification.forget_range(chosen.file, range);
                        }
                    }
                    Err(e) => {
                        let name = zones.path(chosen.file).display().to_string();
                        self.fail(not_reset(&e, &format!("{name}: ")));
                    }
                },
                ZonePlacement::Wait if self.slots.is_idle() => {
                    zones.wait(chosen.file);
                    self.meter.now = self.meter.clock.now();
                }
                // Others may wait for what this job has in flight.
                ZonePlacement::Wait => self.drain(),
                ZonePlacement::Nothing => return ZoneDecision::NoZone,
            }
        }
    }

    /// Issues an I/O in the range that was found for it.
    fn issue_in_zone(&mut self, io: Io, place: &ZoneRange) -> bool {
        let unit = self.slots.next_unit();
        let resets = place.zone.filter(|_| io.direction == Direction::Trim);
        if let Some(zones) = &mut self.hooks.zones {
            zones.issued(unit, &io, place);
            if resets.is_some_and(|zone| zones.is_used(io.file, zone)) {
                self.meter.stats.zone_resets += 1;
            }
        }
        if resets.is_none() {
            return self.perform(Step::Io(io));
        }
        self.trim_zone(unit, io);
        if self.hooks.after_issue.is_some() {
            self.after_issue();
        }
        true
    }

    /// Performs a trim as a reset of its zone, in the thread of the job whatever the engine.
    fn trim_zone(&mut self, unit: u32, io: Io) {
        self.budget.issued(io.direction, io.len);
        self.last_was_sync = false;
        let request = self.request(Op::Trim, unit, io.file, io.offset, io.len);
        if self.hooks.before_issue
            && let Err(failure) = self.hooks.before_issue(io, &request, &mut self.buffers, &self.meter)
        {
            return self.fail(failure);
        }
        let direction = Direction::Trim as usize;
        self.meter.directions[direction].ios += 1;
        self.meter.stamp();
        let start = self.meter.now;
        match self.hooks.zones.as_ref().map_or(Ok(()), |zones| zones.trim(io.file, io.offset, io.len)) {
            Ok(()) => {
                if let Some(verification) = &mut self.hooks.verification {
                    verification.forget_range(io.file, io.offset..io.offset + io.len);
                }
                self.record_inline(direction, &request, start);
                self.io_completed(direction, unit, io.file, io.offset, io.len);
            }
            Err(e) => self.fail_io(&request, e.raw_os_error().unwrap_or(libc::EIO)),
        }
    }

    /// Handles a failed I/O. If the job fills the gaps of failed writes, the zone stays taken until then; otherwise it is released.
    pub(super) fn fail_in_zone(&mut self, request: &Request) {
        let unit = request.unit;
        if !self.hooks.zones.as_mut().is_some_and(|zones| zones.broke(unit, request.offset)) {
            self.leave_zone(unit, false);
        }
    }

    /// Ends a pass: fills the remaining gaps, and adds a note if no I/O found a zone. Nothing may be in flight.
    pub(super) fn end_in_zones(&mut self) {
        self.fill_gaps();
        let idle = self.hooks.zones.as_ref().is_some_and(|zones| !zones.begun);
        if idle && self.files_finished && self.failure.is_none() {
            let message = "no zone was found for the job's first I/O: zones have nothing to read or trim, or no more can be opened";
            self.context.note(Diagnostic::note(message).code("no-zone-to-use").prefix(Prefix::Job));
        }
    }

    /// `recover_zbd_write_error`: fills the gaps that failed writes have left.
    pub(super) fn fill_gaps(&mut self) {
        // I/Os in flight may fail too; their gaps are appended to the list.
        self.drain();
        while self.failure.is_none() {
            let Some(gap) = self.hooks.zones.as_mut().and_then(|zones| zones.next_gap().transpose()) else {
                return;
            };
            let filled = gap.and_then(|gap| {
                self.fill_gap(&gap)?;
                self.hooks.zones.as_mut().map_or(Ok(()), |zones| zones.filled(&gap))
            });
            if let Err(e) = filled {
                let message = format!("a zone cannot be repaired after a failed write: {e}");
                self.fail(Failure::from_io(&e, "zbd_recover_write_error").note("zone-not-repaired", message));
            }
        }
    }

    /// Writes the missing part of a zone: the data of the only write that failed, otherwise zeros.
    fn fill_gap(&mut self, gap: &Gap) -> io::Result<()> {
        let Some(fd) = &self.files.set.files[gap.file as usize].fd else { return Ok(()) };
        let (unit, begin) = gap.data.filter(|_| self.synchronous).unwrap_or((self.slots.next_unit(), 0));
        let zeroes = gap.data.is_none() || !self.synchronous;
        let block = if zeroes { self.spec.block[Direction::Write].min } else { gap.end - gap.start };
        let buffer = self
            .buffers
            .fill_unless_lent(unit, (begin + block) as usize)
            .ok_or(io::ErrorKind::ResourceBusy)?;
        let kept = zeroes.then(|| buffer.to_vec());
        if zeroes {
            buffer.fill(0);
        }
        let mut at = gap.start;
        let mut outcome = Ok(());
        let mut interrupted = InterruptionLimit::default();
        while at < gap.end && outcome.is_ok() {
            let rest = &buffer[begin as usize..];
            let within = if zeroes { 0 } else { (at - gap.start) as usize };
            let len = (rest.len() - within).min((gap.end - at) as usize);
            match rustix::io::pwrite(fd, &rest[within..within + len], at) {
                Ok(0) => outcome = Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => at += written as u64,
                Err(Errno::INTR) if interrupted.should_retry() => {}
                Err(e) => outcome = Err(e.into()),
            }
        }
        // Jobs that do not refill their buffers need the old contents again.
        if let Some(kept) = kept {
            buffer.copy_from_slice(&kept);
        }
        outcome
    }

    /// Releases the zone of an I/O that has ended.
    pub(super) fn leave_zone(&mut self, unit: u32, done: bool) {
        let Some(zones) = &mut self.hooks.zones else { return };
        if let Err(e) = zones.ended(unit, done) {
            let message = format!("a zone with no room for a block cannot be finished: {e}");
            self.fail(Failure::from_io(&e, "zbd_finish_zone").note("zone-not-finished", message));
        }
    }

    /// Resets all zones before a pass of a job that verifies, so that written data stays in place until it is read back.
    pub(super) fn empty_zones(&mut self) -> Result<(), Failure> {
        if self.spec.verify.is_none() || !self.spec.rw.does(Direction::Write) {
            return Ok(());
        }
        let control = self.context.control;
        let Some(zones) = &mut self.hooks.zones else { return Ok(()) };
        let resets = zones.empty_all(&|| control.stop_requested()).map_err(|e| not_reset(&e, ""))?;
        self.meter.stats.zone_resets += resets;
        Ok(())
    }
}

/// The failure of a reset; `prefix` names the file, if it is known.
fn not_reset(error: &io::Error, prefix: &str) -> Failure {
    let message = format!("{prefix}a zone cannot be reset: {error}");
    Failure::from_io(error, "zbd_reset_zone").note("zone-not-reset", message)
}
