//! The zones of one file and what is in flight in them: where the next I/O of a job may go. All jobs of a run that name the file share
//! the table.
//!
//! A write goes to the write pointer of its zone, which moves when the write is placed, so that a job may have several writes in flight in
//! a zone; another job has to wait until they have ended. A zone is reset when nothing is in flight in it.

use ferrio_job::{JobSpec, ZoneResets};

/// A zone, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zone {
    pub(crate) start: u64,
    /// The part of it that can be written, from its start.
    pub(crate) capacity: u64,
    /// What is written of it: the distance of the write pointer from its start.
    pub(crate) written: u64,
    /// It is written at its pointer only. The others are conventional: I/O goes anywhere.
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
    /// Its place in the table.
    member: usize,
    /// First byte and length of its region.
    begin: u64,
    bytes: u64,
    /// Its zones.
    zones: std::ops::Range<usize>,
    /// Smallest block of each direction.
    min: [u64; 3],
    random: bool,
    reads_anywhere: bool,
    /// What was written is read back: full zones stay as they are.
    keeps_full: bool,
    writes_remainder: bool,
    most_open: usize,
    resets: Option<ZoneResets>,
    skip: u64,
    turn: ResetTurn,
}

/// Which write is the next one to reset its zone (`zone_reset_frequency`).
#[derive(Clone, Copy, Debug, Default)]
struct ResetTurn {
    /// Writes since the last.
    writes: u64,
    /// The write that is being placed is counted.
    counted: bool,
    /// It resets its zone.
    resets: bool,
}

impl ZoneRules {
    /// Another pass begins: the writes that reset are counted anew.
    pub(crate) fn begin_pass(&mut self) {
        self.turn = ResetTurn::default();
    }
}

/// What is to be done with an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// This, and [`ZoneTable::ended`] when it is done.
    Ready(Place),
    /// Reset this zone and call [`ZoneTable::was_reset`], then ask again. Until then it is taken.
    Reset(usize),
    /// Ask again when I/O in flight has ended.
    Wait,
    /// Nothing: the job has no zone for it.
    Nothing,
}

/// Where an I/O goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The zone that it holds; `None` for a place outside of all rules.
    pub(crate) zone: Option<usize>,
    pub(crate) offset: u64,
    pub(crate) len: u64,
    /// Where a sequential job goes on.
    pub(crate) next: u64,
}

/// An I/O in flight in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
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
    most_open: usize,
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
        ZoneTable { size, zones, open: Vec::new(), most_open: limit(max_open), members: Vec::new() }
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
            most_open: limit(zbd.job_max_open),
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

    /// Places a read.
    pub(crate) fn place_read(&mut self, rules: &ZoneRules, offset: u64, len: u64) -> Placed {
        let Some(drawn) = self.index(offset) else { return Placed::Nothing };
        if rules.reads_anywhere {
            let zone = &self.zones[drawn];
            let end = offset + len;
            let next = if end >= zone.start + zone.capacity { self.after(rules, drawn) } else { end };
            let next = if rules.skip > 0 { next } else { end };
            return Placed::Ready(Place { zone: None, offset, len, next });
        }
        let min = rules.min[0];
        let within = offset - self.zones[drawn].start;
        let (index, within) = if rules.random {
            let Some(index) = self.nearest(rules, drawn, |zone| zone.filled() >= min) else {
                return Placed::Nothing;
            };
            let zone = &self.zones[index];
            let within = match zone.filled() - min {
                _ if !zone.sequential => within.min(zone.capacity - min),
                0 => 0,
                range => within % range,
            };
            (index, within - within % min)
        } else if within + min <= self.zones[drawn].filled() {
            (drawn, within)
        } else {
            match self.next_filled(rules, drawn, min) {
                Some(index) => (index, 0),
                None => return Placed::Nothing,
            }
        };
        let zone = &mut self.zones[index];
        let len = fit(len, zone.filled() - within, min);
        zone.reads += 1;
        let offset = zone.start + within;
        let done = offset + len >= zone.start + zone.capacity;
        let next = if done { self.after(rules, index) } else { offset + len };
        Placed::Ready(Place { zone: Some(index), offset, len, next })
    }

    /// Places a write.
    pub(crate) fn place_write(&mut self, rules: &mut ZoneRules, offset: u64, len: u64) -> Placed {
        let Some(drawn) = self.index(offset) else { return Placed::Nothing };
        let zone = &self.zones[drawn];
        if !zone.sequential && zone.writable && rules.zones.contains(&drawn) {
            // A block before the next zone.
            let offset = offset.min((zone.start + zone.capacity).saturating_sub(rules.min[1]));
            let len = fit(len, zone.start + zone.capacity - offset, rules.min[1]);
            return Placed::Ready(Place { zone: None, offset, len, next: offset + len });
        }
        let index = match self.zone_to_write(rules, drawn, offset) {
            Ok(index) => index,
            Err(instead) => return instead,
        };
        let zone = &self.zones[index];
        if zone.writes > 0 && zone.writer != rules.job {
            return Placed::Wait;
        }
        let resets = self.resets_now(rules) && zone.written > 0 || self.is_full(rules, index);
        if resets {
            return self.take_to_reset(rules, index);
        }
        if !std::mem::replace(&mut self.zones[index].open, true) {
            self.open.push((index, rules.job));
        }
        rules.turn = ResetTurn { writes: rules.turn.writes, ..ResetTurn::default() };
        let zone = &mut self.zones[index];
        let min = if zone.left() < rules.min[1] { 1 } else { rules.min[1] };
        let len = fit(len, zone.left(), min);
        let place = zone.start + zone.written;
        zone.writer = rules.job;
        zone.writes += 1;
        self.add_written(index, len.cast_signed());
        let next = if self.is_full(rules, index) { self.after(rules, index) } else { place + len };
        Placed::Ready(Place { zone: Some(index), offset: place, len, next })
    }

    /// Places a trim, which resets a zone.
    pub(crate) fn place_trim(&mut self, rules: &ZoneRules, offset: u64, len: u64) -> Placed {
        let Some(drawn) = self.index(offset) else { return Placed::Nothing };
        let conventional = |zone: &Zone| !zone.sequential && zone.writable;
        let may_reset = |zone: &Zone| zone.sequential && zone.writable;
        let index = if rules.random {
            self.nearest(rules, drawn, |zone| conventional(zone) || may_reset(zone) && zone.written > 0)
        } else {
            (drawn..rules.zones.end).find(|&at| conventional(&self.zones[at]) || may_reset(&self.zones[at]))
        };
        let Some(index) = index else { return Placed::Nothing };
        let next = self.after(rules, index);
        let zone = &mut self.zones[index];
        if !zone.sequential {
            return Placed::Ready(Place { zone: None, offset: zone.start, len, next });
        }
        if zone.is_busy() {
            return Placed::Wait;
        }
        (zone.writer, zone.writes) = (rules.job, 1);
        Placed::Ready(Place { zone: Some(index), offset: zone.start, len: self.size, next })
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
    pub(crate) fn ended(&mut self, rules: &ZoneRules, index: usize, held: Held, done: bool) -> bool {
        match held {
            Held::Read => self.zones[index].reads -= 1,
            Held::Trim => {
                self.zones[index].writes -= 1;
                if done {
                    self.empty(index);
                    self.close(index);
                }
            }
            Held::Write { len, end } => {
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
    pub(crate) fn take_to_reset(&mut self, rules: &ZoneRules, index: usize) -> Placed {
        let zone = &mut self.zones[index];
        if zone.is_busy() {
            return Placed::Wait;
        }
        (zone.writer, zone.writes) = (rules.job, 1);
        Placed::Reset(index)
    }

    /// What the device says of the pointer of a zone.
    pub(crate) fn set_written(&mut self, index: usize, written: u64) {
        let written = written.min(self.zones[index].capacity);
        self.add_written(index, written.cast_signed() - self.zones[index].written.cast_signed());
    }

    /// The zone that a write to `offset`, in zone `drawn`, goes to; or what to do if there is none.
    fn zone_to_write(&self, rules: &ZoneRules, drawn: usize, offset: u64) -> Result<usize, Placed> {
        let writable = |index: usize| {
            let zone = &self.zones[index];
            rules.zones.contains(&index) && zone.sequential && zone.writable
        };
        let good = |index: usize| writable(index) && !(rules.keeps_full && self.is_full(rules, index));
        let may_open = self.may_open(rules);
        if good(drawn) && (self.zones[drawn].open || may_open) {
            return Ok(drawn);
        }
        let next = || {
            let after = (drawn + 1).clamp(rules.zones.start, rules.zones.end);
            let mut others = (after..rules.zones.end).chain(rules.zones.start..after);
            others.find(|&index| good(index)).ok_or(Placed::Nothing)
        };
        if may_open && self.most_open == usize::MAX {
            return next();
        }
        // One of the open zones, at the place that the offset has among all offsets of the job.
        let own_only = self.open.iter().filter(|&&(_, job)| job == rules.job).count() >= rules.most_open;
        let usable = |&&(index, job): &&(usize, u32)| writable(index) && (job == rules.job || !own_only);
        let open: Vec<usize> = self.open.iter().filter(usable).map(|&(index, _)| index).collect();
        let at = u128::from(offset.saturating_sub(rules.begin)) * open.len() as u128;
        let from = ((at / u128::from(rules.bytes.max(1))) as usize).min(open.len());
        let mut in_turn = open[from..].iter().chain(&open[..from]).copied();
        if let Some(index) = in_turn.find(|&index| !self.is_full(rules, index)) {
            return Ok(index);
        }
        if may_open {
            return next();
        }
        // A full zone is open until its last write has ended.
        let closes = self
            .open
            .iter()
            .any(|&(index, _)| self.zones[index].writes > 0 && self.zones[index].left() < rules.min[1]);
        Err(if closes { Placed::Wait } else { Placed::Nothing })
    }

    fn may_open(&self, rules: &ZoneRules) -> bool {
        let own = || self.open.iter().filter(|&&(_, job)| job == rules.job).count();
        self.open.len() < self.most_open && (rules.most_open == usize::MAX || own() < rules.most_open)
    }

    /// Whether the write that is being placed is one of those that reset their zone. Each is counted once.
    fn resets_now(&self, rules: &mut ZoneRules) -> bool {
        let Some(ZoneResets { threshold, every }) = rules.resets else { return false };
        if !rules.turn.counted {
            rules.turn.counted = true;
            if self.members[rules.member].1 as f64 >= threshold * rules.bytes as f64 {
                rules.turn.writes += 1;
                rules.turn.resets = rules.turn.writes >= every;
                if rules.turn.resets {
                    rules.turn.writes = 0;
                }
            }
        }
        rules.turn.resets
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

    fn index(&self, offset: u64) -> Option<usize> {
        let index = usize::try_from(offset / self.size).ok()?;
        (index < self.zones.len()).then_some(index)
    }

    /// Where a sequential job goes on after a zone. If it leaves zones out, it begins again after the last.
    fn after(&self, rules: &ZoneRules, index: usize) -> u64 {
        let next = (self.zones[index].start + self.size).saturating_add(rules.skip);
        if rules.skip > 0 && next >= rules.begin + rules.bytes { rules.begin } else { next }
    }

    /// The next zone of a job after `index` that has something to read.
    fn next_filled(&self, rules: &ZoneRules, index: usize, min: u64) -> Option<usize> {
        let mut at = index;
        // Each zone once.
        for _ in rules.zones.clone() {
            at = self.index(self.after(rules, at)).filter(|at| rules.zones.contains(at))?;
            if self.zones[at].filled() >= min {
                return Some(at);
            }
        }
        None
    }

    /// The zone of the job that is nearest to `index`, the later one of two.
    fn nearest(&self, rules: &ZoneRules, index: usize, good: impl Fn(&Zone) -> bool) -> Option<usize> {
        let good = |at: &usize| rules.zones.contains(at) && good(&self.zones[*at]);
        (0..self.zones.len()).find_map(|distance| {
            let up = Some(index + distance).filter(good);
            up.or_else(|| index.checked_sub(distance).filter(good))
        })
    }
}

/// As much of `len` bytes as there is room for, in whole blocks unless all of it fits.
fn fit(len: u64, room: u64, block: u64) -> u64 {
    if len <= room { len } else { room - room % block }
}

#[cfg(test)]
mod tests;
