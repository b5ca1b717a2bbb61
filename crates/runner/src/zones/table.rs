//! The zones of one file and what is in flight in them: where the next I/O of a job may go. All jobs of a run that name the file share
//! the table.
//!
//! A write goes to the write pointer of its zone, which moves when the write is placed, so that a job may have several writes in flight in
//! a zone; another job has to wait until they have ended. A zone is reset when nothing is in flight in it.

mod placement;

use ferrio_job::{JobSpec, ZoneResets};

/// A zone, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zone {
    pub(crate) start: u64,
    /// The part of it that can be written, from its start.
    pub(crate) capacity: u64,
    /// Bytes written: the distance of the write pointer from the start.
    pub(crate) written: u64,
    /// True if the zone is written at its pointer only. Others are conventional and take I/O anywhere.
    pub(crate) sequential: bool,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// Among the open zones of the table.
    open: bool,
    /// The job that has writes in flight, or is about to reset the zone.
    writer: u32,
    writes: u32,
    reads: u32,
}

impl Zone {
    /// An empty zone.
    pub(crate) fn empty(start: u64, capacity: u64) -> Self {
        Zone {
            start,
            capacity,
            written: 0,
            sequential: true,
            readable: true,
            writable: true,
            open: false,
            writer: 0,
            writes: 0,
            reads: 0,
        }
    }

    fn left(&self) -> u64 {
        self.capacity - self.written
    }

    /// Bytes from its start that can be read.
    fn filled(&self) -> u64 {
        match (self.readable, self.sequential) {
            (false, _) => 0,
            (true, true) => self.written,
            (true, false) => self.capacity,
        }
    }

    fn is_busy(&self) -> bool {
        self.writes > 0 || self.reads > 0
    }
}

/// How a job uses the zones of one of its files.
#[derive(Clone, Debug)]
pub(crate) struct ZoneRules {
    /// The number of the job in the run.
    job: u32,
    /// Index of the file in the table.
    member: usize,
    /// First byte and length of its region.
    begin: u64,
    bytes: u64,
    /// The zones of the file.
    zones: std::ops::Range<usize>,
    /// Smallest block of each direction.
    min: [u64; 3],
    random: bool,
    reads_anywhere: bool,
    /// True if written data is read back: full zones then stay as they are.
    keeps_full: bool,
    writes_remainder: bool,
    max_open: usize,
    resets: Option<ZoneResets>,
    skip: u64,
    turn: ResetTurn,
}

/// Which write is the next one to reset its zone (`zone_reset_frequency`).
#[derive(Clone, Copy, Debug, Default)]
struct ResetTurn {
    /// Writes since the last that reset.
    writes: u64,
    /// True if the write that is being placed is counted.
    counted: bool,
    /// True if the write that is being placed resets its zone.
    resets: bool,
}

impl ZoneRules {
    /// Another pass begins: the writes that reset are counted anew.
    pub(crate) fn begin_pass(&mut self) {
        self.turn = ResetTurn::default();
    }
}

/// The decision about an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZonePlacement {
    /// Issue the I/O here, and call [`ZoneTable::ended`] when it is done.
    Ready(ZoneRange),
    /// Reset this zone and call [`ZoneTable::was_reset`], then ask again. Until then it is taken.
    Reset(usize),
    /// Ask again when I/O in flight, of this job or of others, has ended.
    Wait,
    /// Skip the I/O: the job has no zone for it.
    Nothing,
}

/// The target of an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ZoneRange {
    /// The zone that it holds; `None` for a place outside of all rules.
    pub(crate) zone: Option<usize>,
    pub(crate) offset: u64,
    pub(crate) len: u64,
    /// The position at which a sequential job continues.
    pub(crate) next: u64,
}

/// An I/O in flight in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZoneIo {
    Read,
    /// A write of this many bytes, with its first byte after it.
    Write {
        len: u64,
        end: u64,
    },
    /// A reset.
    Trim,
}

/// The zones of a file.
#[derive(Debug)]
pub(crate) struct ZoneTable {
    size: u64,
    zones: Vec<Zone>,
    /// Zones that are open for writing and the jobs that opened them, in this order.
    open: Vec<(usize, u32)>,
    max_open: usize,
    /// The zones of each job and the bytes that are written in them.
    members: Vec<(std::ops::Range<usize>, u64)>,
}

/// No limit, or this one.
fn limit(zones: u32) -> usize {
    if zones == 0 { usize::MAX } else { zones as usize }
}

impl ZoneTable {
    /// Zones of this length, one after the other; `max_open` of 0 is no limit.
    pub(crate) fn new(size: u64, zones: Vec<Zone>, max_open: u32) -> Self {
        ZoneTable { size, zones, open: Vec::new(), max_open: limit(max_open), members: Vec::new() }
    }

    /// Empty zones in a file of this length, the last of which may be shorter.
    pub(crate) fn emulated(size: u64, capacity: u64, file: u64, max_open: u32) -> Self {
        let zones = (0..file.div_ceil(size)).map(|index| {
            let start = index * size;
            Zone::empty(start, capacity.min(file - start))
        });
        ZoneTable::new(size, zones.collect(), max_open)
    }

    /// Adds a job, whose file has this number among its own.
    pub(crate) fn join(&mut self, spec: &JobSpec, file: usize) -> ZoneRules {
        let region = &spec.files[file];
        let zbd = spec.zbd.as_deref().cloned().unwrap_or_default();
        let (first, end) = (region.offset / self.size, region.end().div_ceil(self.size));
        let zones = first as usize..(end as usize).min(self.zones.len());
        let written = self.zones.get(zones.clone()).into_iter().flatten().map(|zone| zone.written).sum();
        self.members.push((zones.clone(), written));
        ZoneRules {
            job: spec.number,
            member: self.members.len() - 1,
            begin: region.offset,
            bytes: region.size,
            zones,
            min: spec.block.0.each_ref().map(|block| block.min.max(1)),
            random: spec.rw.is_random(),
            reads_anywhere: zbd.read_beyond_wp,
            keeps_full: spec.verify.is_some(),
            writes_remainder: zbd.writes_remainder,
            max_open: limit(zbd.job_max_open),
            resets: zbd.resets,
            skip: zbd.skip,
            turn: ResetTurn::default(),
        }
    }

    /// A zone.
    pub(crate) fn zone(&self, zone: usize) -> &Zone {
        &self.zones[zone]
    }

    /// The number of zones.
    pub(crate) fn len(&self) -> usize {
        self.zones.len()
    }

    /// Length of a zone.
    pub(crate) fn zone_size(&self) -> u64 {
        self.size
    }

    /// True when there is nothing that the job could read.
    pub(crate) fn has_nothing_to_read(&self, rules: &ZoneRules) -> bool {
        let conventional =
            || self.zones[rules.zones.clone()].iter().any(|zone| !zone.sequential && zone.readable);
        !rules.reads_anywhere && self.members[rules.member].1 == 0 && !conventional()
    }

    /// A zone that was taken for it was reset, or could not be.
    pub(crate) fn was_reset(&mut self, rules: &mut ZoneRules, index: usize, done: bool) {
        self.zones[index].writes = 0;
        if done {
            self.empty(index);
            rules.turn.resets = false;
        }
    }

    /// An I/O in a zone has ended. True if the zone is to be finished: what is left of it is smaller than a block.
    pub(crate) fn ended(&mut self, rules: &ZoneRules, index: usize, io: ZoneIo, done: bool) -> bool {
        match io {
            ZoneIo::Read => self.zones[index].reads -= 1,
            ZoneIo::Trim => {
                self.zones[index].writes -= 1;
                if done {
                    self.empty(index);
                    self.close(index);
                }
            }
            ZoneIo::Write { len, end } => {
                self.zones[index].writes -= 1;
                let zone = &self.zones[index];
                // Nothing was placed behind it: the next write may have its place.
                if !done && zone.start + zone.written == end {
                    self.add_written(index, -len.cast_signed());
                }
                if self.zones[index].writes == 0 && self.is_full(rules, index) {
                    self.close(index);
                    return self.zones[index].left() > 0;
                }
            }
        }
        false
    }

    /// The zones of a job that something is written in and that can be reset.
    pub(crate) fn used_zones(&self, rules: &ZoneRules) -> Vec<usize> {
        let used = |&index: &usize| {
            let zone = &self.zones[index];
            zone.sequential && zone.writable && zone.written > 0
        };
        rules.zones.clone().filter(used).collect()
    }

    /// Takes a zone for a reset, if nothing is in flight in it.
    pub(crate) fn take_to_reset(&mut self, rules: &ZoneRules, index: usize) -> ZonePlacement {
        let zone = &mut self.zones[index];
        if zone.is_busy() {
            return ZonePlacement::Wait;
        }
        (zone.writer, zone.writes) = (rules.job, 1);
        ZonePlacement::Reset(index)
    }

    /// Sets the write pointer of a zone to that of the device.
    pub(crate) fn set_written(&mut self, index: usize, written: u64) {
        let written = written.min(self.zones[index].capacity);
        self.add_written(index, written.cast_signed() - self.zones[index].written.cast_signed());
    }

    /// True when the job can write no more to a zone.
    fn is_full(&self, rules: &ZoneRules, index: usize) -> bool {
        let left = self.zones[index].left();
        left < if rules.writes_remainder { 1 } else { rules.min[1] }
    }

    fn close(&mut self, index: usize) {
        if std::mem::take(&mut self.zones[index].open) {
            self.open.retain(|&(open, _)| open != index);
        }
    }

    fn empty(&mut self, index: usize) {
        self.add_written(index, -self.zones[index].written.cast_signed());
    }

    fn add_written(&mut self, index: usize, bytes: i64) {
        let zone = &mut self.zones[index];
        zone.written = zone.written.saturating_add_signed(bytes);
        for (zones, written) in &mut self.members {
            if zones.contains(&index) {
                *written = written.saturating_add_signed(bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests;
