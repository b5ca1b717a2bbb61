//! A slow model of what one job issues, by the rules of fio 3.42 or by those of 3.34 and before.
//!
//! It knows jobs of synchronous engines at depth 1 that end by their size, and nothing of time.

use std::collections::HashSet;

use super::draws::{Shift, Skewed, name_hash};
use super::options::{Entry, JobOptions};
use super::settings::{READ, Rules, Settings, Streams, TRIM, WRITE};

/// The position of a file's I/O.
#[derive(Clone, Default)]
struct File {
    start: u64,
    size: u64,
    /// End of the last I/O of each direction.
    end: [u64; 3],
    /// Start of the last I/O of each direction.
    prev: [Option<u64>; 3],
    used: HashSet<u64>,
    open: bool,
    finished: bool,
    skewed: Option<Skewed>,
    shift: Option<Shift>,
}

impl File {
    fn new(set: &Settings, job: &JobOptions, index: usize) -> Self {
        let name = name_hash(&format!("{}.0.{index}", job.name()));
        let thread = set.seeds.thread as u32;
        let seed = match set.rules {
            Rules::New => name.wrapping_mul(thread).wrapping_mul(set.seeds.of(6) as u32),
            Rules::Old if set.repeats => name.wrapping_mul(thread),
            Rules::Old => set.seeds.of(6) as u32,
        };
        let size = set.sizes[index];
        let blocks = size.div_ceil(set.min[READ].min(set.min[WRITE]));
        File {
            start: set.region,
            size,
            skewed: set.skews_blocks.as_ref().map(|shape| Skewed::new(shape, blocks, u64::from(seed), true)),
            shift: set.shifts.then(|| Shift::new(size / set.smallest(), set.seeds.of(6))),
            ..File::default()
        }
    }

    fn rewind(&mut self) {
        self.end = [self.start; 3];
        self.prev = [None; 3];
        self.used.clear();
        if let Some(shift) = &mut self.shift {
            shift.rewind();
        }
    }
}

/// One job and all of its state.
pub struct Model {
    set: Settings,
    streams: Streams,
    files: Vec<File>,
    picker: Option<Skewed>,
    /// I/Os that end the job, 0 for no such limit.
    number: u64,
    // What happened so far, by direction:
    count: [u64; 3],
    bytes: [u64; 3],
    // The mix.
    direction: usize,
    threshold: u64,
    /// Direction of the last I/O, and whether a sync came after it.
    last: Option<usize>,
    synced: bool,
    /// Random I/Os, for `rw=rand:N`.
    fired: u64,
    // The file picked last, and how often it is still kept.
    turn: usize,
    current: Option<usize>,
    left: u64,
    zone_bytes: u64,
    /// A random choice replaced a step past the end of the file, and there was no room for it either.
    jumped: bool,
    out: Vec<Entry>,
}

impl Model {
    /// The job with these options, the `thread`-th of the run.
    pub fn new(job: &JobOptions, thread: u64, rules: Rules) -> Self {
        let set = Settings::new(job, thread, rules);
        let files: Vec<_> = (0..set.sizes.len()).map(|index| File::new(&set, job, index)).collect();
        let picker = set.skews_files.as_ref().map(|shape| {
            let seed = u64::from(set.seeds.of(5) as u32);
            Skewed::new(shape, files.len() as u64 * 1024, seed, false)
        });
        Model {
            streams: set.seeds.streams(),
            picker,
            number: set.number,
            count: [0; 3],
            bytes: [0; 3],
            direction: READ,
            threshold: 0,
            last: None,
            synced: false,
            fired: 0,
            turn: files.len() - 1,
            current: None,
            left: 0,
            zone_bytes: 0,
            jumped: false,
            out: Vec::new(),
            files,
            set,
        }
    }

    /// Everything the job issues.
    pub fn run(mut self) -> Vec<Entry> {
        let mut passes = self.set.loops;
        let mut first = true;
        loop {
            let moved = self.moved();
            if passes > 0 {
                passes -= 1;
            } else if !self.goes_on(moved) {
                break;
            }
            if !first && self.set.repeats {
                self.streams = self.set.seeds.streams();
            }
            if !first && self.set.kind == "trimwrite" {
                self.number *= 2;
            }
            first = false;
            self.pass();
            if self.moved() == moved {
                break;
            }
        }
        self.out
    }

    fn moved(&self) -> u64 {
        self.bytes.iter().sum()
    }

    fn wanted(&self) -> u64 {
        if self.set.io_size > 0 { self.set.io_size } else { self.set.total }
    }

    fn enough_ios(&self) -> bool {
        self.number > 0 && self.count.iter().sum::<u64>() >= self.number * self.set.loops
    }

    fn goes_on(&self, moved: u64) -> bool {
        let largest = *self.set.max.iter().max().unwrap();
        let all_finished = self.files.iter().all(|file| file.finished);
        !self.enough_ios()
            && moved < self.wanted()
            && self.wanted() - moved >= largest
            && (!all_finished || self.set.io_size > 0)
    }

    fn enough(&self) -> bool {
        let done = match self.set.kind.as_str() {
            "rw" => self.bytes[READ] + self.bytes[WRITE],
            "read" => self.bytes[READ],
            "trim" => self.bytes[TRIM],
            _ => self.bytes[WRITE],
        };
        self.enough_ios() || done >= self.wanted() * self.set.loops
    }

    fn writes(&self) -> bool {
        matches!(self.set.kind.as_str(), "write" | "rw" | "trimwrite")
    }

    fn pass(&mut self) {
        for file in &mut self.files {
            (file.finished, file.open, file.start) = (false, false, self.set.region);
        }
        (self.zone_bytes, self.left, self.current, self.threshold) = (0, 0, None, 0);
        // Old versions forget what was last.
        self.synced &= self.set.rules == Rules::New;
        while !self.enough() {
            let Some(entry) = self.one() else { break };
            self.out.push(entry);
        }
        if self.set.end_fsync && self.writes() && !self.synced {
            self.out.extend((0..self.files.len()).map(|file| Entry::sync("sync", file)));
            self.synced = true;
        }
    }

    /// The next file, `None` when all are finished.
    fn pick(&mut self) -> Option<usize> {
        if let Some(current) = self.current.filter(|&current| !self.files[current].finished) {
            if self.set.service == "sequential" {
                return Some(current);
            }
            if self.left > 0 {
                self.left -= 1;
                return Some(current);
            }
        }
        loop {
            if self.files.iter().all(|file| file.finished) {
                return None;
            }
            let count = self.files.len();
            let index = match (&mut self.picker, self.set.service.as_str()) {
                (Some(picker), _) => (picker.next() >> 10) as usize,
                (None, "random") => self.streams.file.below(count as u64) as usize,
                _ => {
                    self.turn = (self.turn + 1) % count;
                    self.turn
                }
            };
            let open = self.files.iter().filter(|file| file.open).count();
            let file = &mut self.files[index];
            if file.finished || (!file.open && open >= self.set.most_open) {
                continue;
            }
            if !file.open {
                file.open = true;
                file.rewind();
            }
            (self.current, self.left) = (Some(index), self.set.keep - 1);
            return Some(index);
        }
    }

    fn one(&mut self) -> Option<Entry> {
        loop {
            let index = self.pick()?;
            let after_write = self.set.rules == Rules::Old || self.last == Some(WRITE);
            if !self.synced && after_write && self.writes() {
                let due = self
                    .set
                    .syncs
                    .iter()
                    .find(|(_, every)| self.count[WRITE] > 0 && self.count[WRITE].is_multiple_of(*every));
                if let Some((name, _)) = due {
                    self.synced = true;
                    return Some(Entry::sync(if *name == "fsync" { "sync" } else { "datasync" }, index));
                }
            }
            let d = self.decide(index);
            self.enter_zone(index, d);
            let Some((offset, len)) = self.place(index, d) else {
                let file = &mut self.files[index];
                (file.open, file.finished) = (false, self.picker.is_none());
                continue;
            };
            let file = &mut self.files[index];
            (file.end[d], file.prev[d]) = (offset + len, Some(offset));
            self.count[d] += 1;
            self.bytes[d] += len;
            (self.last, self.synced) = (Some(d), false);
            self.zone_bytes += len;
            return Some(Entry::io(["read", "write", "trim"][d], index, offset, len));
        }
    }

    fn decide(&mut self, index: usize) -> usize {
        match self.set.kind.as_str() {
            "read" => READ,
            "write" => WRITE,
            "trim" => TRIM,
            "trimwrite" => {
                let prev = self.files[index].prev;
                if prev[WRITE] == prev[TRIM] { TRIM } else { WRITE }
            }
            _ => {
                let current = self.direction;
                if self.count[current] >= self.threshold {
                    let new = if self.streams.mix.percent() <= self.set.shares[READ] { READ } else { WRITE };
                    if new != current {
                        self.threshold = self.count[current] * self.set.shares[new] / 100;
                        self.direction = new;
                    }
                }
                self.direction
            }
        }
    }

    fn enter_zone(&mut self, index: usize, d: usize) {
        let Some([bytes, range, skip]) = self.set.strided else { return };
        let file = &mut self.files[index];
        if self.zone_bytes >= bytes {
            self.zone_bytes = 0;
            file.start += range + skip;
            if file.start >= self.set.region + file.size {
                file.start = self.set.region;
            }
            file.end[d] = file.start;
        }
        if file.end[d] >= file.start + range {
            file.end[d] = file.start;
        }
        if self.zone_bytes.is_multiple_of(range) {
            file.rewind();
        }
    }

    fn place(&mut self, index: usize, d: usize) -> Option<(u64, u64)> {
        if self.set.kind == "trimwrite" && self.set.random && d == WRITE {
            let file = &self.files[index];
            let offset = file.prev[TRIM].unwrap();
            return Some((offset, file.end[TRIM] - offset));
        }
        let stale = std::mem::take(&mut self.jumped);
        let mut chosen = false;
        let offset = if !self.set.random {
            self.progress(index, d)
        } else {
            let fires = self.set.every == 1 || self.fired.is_multiple_of(self.set.every);
            self.fired += 1;
            let follows = if fires {
                let share = self.set.random_share[d];
                chosen = share == 100 || self.streams.choice[d].percent() <= share;
                if chosen { None } else { self.progress(index, d) }
            } else if self.set.identical {
                let file = &self.files[index];
                Some(file.prev[d].unwrap_or(file.start))
            } else {
                self.progress(index, d)
            };
            follows.or_else(|| self.randomly(index, d))
        };
        let (start, file_size) = (self.files[index].start, self.files[index].size);
        let end = self.set.region + file_size;
        let fitting = offset
            .filter(|&offset| offset - start < file_size && offset < end)
            .and_then(|offset| Some((offset, self.length(index, d, offset, chosen)?)))
            .filter(|(offset, len)| offset + len <= end);
        let Some((offset, mut len)) = fitting else {
            self.jumped = self.set.random && (!chosen || stale);
            return None;
        };
        if chosen && self.set.mapped && !stale {
            len = self.mark(index, d, offset, len);
        }
        let file = &mut self.files[index];
        if self.set.kind == "trimwrite" && self.set.random && file.prev[TRIM] == Some(offset) {
            file.prev[WRITE] = Some(offset.wrapping_sub(1));
        }
        Some((offset, len))
    }

    /// Marks blocks in the map and shortens an I/O before the first that was marked already.
    fn mark(&mut self, index: usize, d: usize, offset: u64, len: u64) -> u64 {
        let (bits, unit) = (self.map_bits(index), self.set.min[d]);
        let file = &mut self.files[index];
        let first = (offset - file.start) / unit;
        let wanted = len.div_ceil(unit);
        for at in 0..wanted {
            if file.used.contains(&(first + at)) {
                return at * unit;
            }
            if first + at < bits {
                file.used.insert(first + at);
            }
        }
        len
    }

    /// Where the I/O after the last one begins.
    fn progress(&mut self, index: usize, d: usize) -> Option<u64> {
        let file = &mut self.files[index];
        let end = self.set.region + file.size;
        let writes = matches!(self.set.kind.as_str(), "write" | "rw" | "trimwrite");
        let goes_round = self.set.rules == Rules::New && writes && self.set.io_size > self.set.total;
        if goes_round && file.end[d] >= end {
            file.end[d] = file.start;
        }
        if file.end[d] >= end {
            return None;
        }
        if self.set.hole < 0 && file.end[d] == file.start && file.start > 0 {
            file.end[d] = file.size.min(end);
        }
        let mut at = file.end[d].wrapping_sub(file.start);
        if at != 0 && self.set.hole != 0 {
            at = at.wrapping_add_signed(self.set.hole);
            if at >= end {
                let back = file.size.min(end).wrapping_add_signed(self.set.hole);
                at = if self.set.hole > 0 { file.start } else { back };
            }
        }
        Some(file.start.wrapping_add(at))
    }

    /// Bytes that random choices are made from.
    fn room(&self, index: usize) -> u64 {
        self.set.strided.map_or(self.files[index].size, |[_, range, _]| range)
    }

    fn map_bits(&self, index: usize) -> u64 {
        self.room(index) / self.set.smallest()
    }

    fn randomly(&mut self, index: usize, d: usize) -> Option<u64> {
        let (start, align) = (self.files[index].start, self.set.align[d]);
        let blocks = self.room(index).saturating_sub(self.set.min[d].saturating_sub(align)) / align;
        let bits = self.map_bits(index);
        let recycles = self.picker.is_some();
        let file = &mut self.files[index];
        if let Some(skewed) = &mut file.skewed {
            return Some(start + skewed.next() * align);
        }
        if blocks == 0 {
            return None;
        }
        if let Some((absolute, zones)) = &self.set.zones {
            let mut roll = self.streams.zone.percent();
            let mut before = 0;
            for &(share, part) in &zones[d] {
                if roll > share {
                    roll -= share;
                    before += part;
                    continue;
                }
                let (low, high) = match absolute {
                    true => (before / align, (before + part) / align),
                    false => (before * blocks / 100, before * blocks / 100 + blocks * part / 100),
                };
                return (high <= blocks)
                    .then(|| start + (low + self.streams.offset.below(high - low)) * align);
            }
            return None;
        }
        if let Some(shift) = &mut file.shift {
            let mut block = shift.next();
            if block.is_none() && recycles {
                file.rewind();
                block = file.shift.as_mut().and_then(Shift::next);
            }
            return Some(start + block? * align);
        }
        let mut block = self.streams.offset.below(blocks);
        if self.set.mapped {
            if file.used.len() as u64 >= bits {
                if !recycles {
                    return None;
                }
                file.rewind();
                block = self.streams.offset.below(blocks);
            }
            while file.used.contains(&block) {
                block = (block + 1) % bits;
            }
        }
        Some(start + block * align)
    }

    fn length(&mut self, index: usize, d: usize, offset: u64, chosen: bool) -> Option<u64> {
        let d = match self.set.by_choice {
            true if chosen => WRITE,
            true => READ,
            false => d,
        };
        let (low, high, end) = (self.set.min[d], self.set.max[d], self.set.region + self.files[index].size);
        if low == high {
            return Some(low);
        }
        if offset + low > end {
            return None;
        }
        let draw = &mut self.streams.length[d];
        loop {
            let mut len = 0;
            if self.set.split[d].is_empty() {
                len = low + (high as f64 * draw.part()) as u64;
            } else {
                let (word, mut sum) = (draw.next(), 0);
                for &(bytes, share) in self.set.split[d].iter().filter(|(_, share)| *share > 0) {
                    sum += share;
                    len = bytes;
                    if word / sum <= draw.full() / 100 && offset + bytes <= end {
                        break;
                    }
                }
            }
            if !self.set.unaligned {
                len -= len % low;
            }
            let len = len.min(high);
            if offset + len <= end {
                return Some(len);
            }
        }
    }
}
