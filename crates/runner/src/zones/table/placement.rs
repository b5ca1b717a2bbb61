//! Placement of the next I/O of a job: the zone, and the position in it.

use ferrio_job::ZoneResets;

use super::{ResetTurn, Zone, ZonePlacement, ZoneRange, ZoneRules, ZoneTable};

impl ZoneTable {
    /// Places a read.
    pub(crate) fn place_read(&mut self, rules: &ZoneRules, offset: u64, len: u64) -> ZonePlacement {
        let Some(drawn) = self.index(offset) else { return ZonePlacement::Nothing };
        if rules.reads_anywhere {
            let zone = &self.zones[drawn];
            let end = offset + len;
            let next = if end >= zone.start + zone.capacity { self.after(rules, drawn) } else { end };
            let next = if rules.skip > 0 { next } else { end };
            return ZonePlacement::Ready(ZoneRange { zone: None, offset, len, next });
        }
        let min = rules.min[0];
        let within = offset - self.zones[drawn].start;
        let (index, within) = if rules.random {
            let Some(index) = self.nearest(rules, drawn, |zone| zone.filled() >= min) else {
                return ZonePlacement::Nothing;
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
                None => return ZonePlacement::Nothing,
            }
        };
        let zone = &mut self.zones[index];
        let len = fit(len, zone.filled() - within, min);
        zone.reads += 1;
        let offset = zone.start + within;
        let done = offset + len >= zone.start + zone.capacity;
        let next = if done { self.after(rules, index) } else { offset + len };
        ZonePlacement::Ready(ZoneRange { zone: Some(index), offset, len, next })
    }

    /// Places a write.
    pub(crate) fn place_write(&mut self, rules: &mut ZoneRules, offset: u64, len: u64) -> ZonePlacement {
        let Some(drawn) = self.index(offset) else { return ZonePlacement::Nothing };
        let zone = &self.zones[drawn];
        if !zone.sequential && zone.writable && rules.zones.contains(&drawn) {
            // A block before the next zone.
            let offset = offset.min((zone.start + zone.capacity).saturating_sub(rules.min[1]));
            let len = fit(len, zone.start + zone.capacity - offset, rules.min[1]);
            return ZonePlacement::Ready(ZoneRange { zone: None, offset, len, next: offset + len });
        }
        let index = match self.zone_to_write(rules, drawn, offset) {
            Ok(index) => index,
            Err(instead) => return instead,
        };
        let zone = &self.zones[index];
        if zone.writes > 0 && zone.writer != rules.job {
            return ZonePlacement::Wait;
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
        ZonePlacement::Ready(ZoneRange { zone: Some(index), offset: place, len, next })
    }

    /// Places a trim, which resets a zone.
    pub(crate) fn place_trim(&mut self, rules: &ZoneRules, offset: u64, len: u64) -> ZonePlacement {
        let Some(drawn) = self.index(offset) else { return ZonePlacement::Nothing };
        let conventional = |zone: &Zone| !zone.sequential && zone.writable;
        let may_reset = |zone: &Zone| zone.sequential && zone.writable;
        let index = if rules.random {
            self.nearest(rules, drawn, |zone| conventional(zone) || may_reset(zone) && zone.written > 0)
        } else {
            (drawn..rules.zones.end).find(|&at| conventional(&self.zones[at]) || may_reset(&self.zones[at]))
        };
        let Some(index) = index else { return ZonePlacement::Nothing };
        let next = self.after(rules, index);
        let zone = &mut self.zones[index];
        if !zone.sequential {
            return ZonePlacement::Ready(ZoneRange { zone: None, offset: zone.start, len, next });
        }
        if zone.is_busy() {
            return ZonePlacement::Wait;
        }
        (zone.writer, zone.writes) = (rules.job, 1);
        ZonePlacement::Ready(ZoneRange { zone: Some(index), offset: zone.start, len: self.size, next })
    }

    /// The zone that a write to `offset`, in zone `drawn`, goes to; or what to do if there is none.
    fn zone_to_write(&self, rules: &ZoneRules, drawn: usize, offset: u64) -> Result<usize, ZonePlacement> {
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
            others.find(|&index| good(index)).ok_or(ZonePlacement::Nothing)
        };
        if may_open && self.max_open == usize::MAX {
            return next();
        }
        // One of the open zones, at the place that the offset has among all offsets of the job.
        let own_only = self.open.iter().filter(|&&(_, job)| job == rules.job).count() >= rules.max_open;
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
        Err(if closes { ZonePlacement::Wait } else { ZonePlacement::Nothing })
    }

    fn may_open(&self, rules: &ZoneRules) -> bool {
        let own = || self.open.iter().filter(|&&(_, job)| job == rules.job).count();
        self.open.len() < self.max_open && (rules.max_open == usize::MAX || own() < rules.max_open)
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

    fn index(&self, offset: u64) -> Option<usize> {
        let index = usize::try_from(offset / self.size).ok()?;
        (index < self.zones.len()).then_some(index)
    }

    /// Where a sequential job goes on after a zone. If it leaves zones out, it begins again after the last.
    pub(super) fn after(&self, rules: &ZoneRules, index: usize) -> u64 {
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

/// The part of `len` bytes that there is room for, in whole blocks unless all of it fits.
fn fit(len: u64, room: u64, block: u64) -> u64 {
    if len <= room { len } else { room - room % block }
}
