//! A slow model of what one job issues, by the rules of fio 3.42 or by those of 3.34 and before.
//!
//! It knows jobs of synchronous engines at depth 1 that end by their size, and nothing of time.

use std::collections::HashSet;

use super::draws::{Draw, Shift, Skewed, name_hash, seed};
use super::options::{Entry, JobOptions, numbers, size};

const READ: usize = 0;
const WRITE: usize = 1;
const TRIM: usize = 2;

/// Whose rules a model follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// fio 3.34 and before.
    Old,
    /// fio 3.42, and ferrio.
    New,
}

/// Where a file's I/O stands.
#[derive(Clone, Default)]
struct File {
    start: u64,
    size: u64,
    /// End of the last I/O of each direction.
    end: [u64; 3],
    /// Its start.
    prev: [Option<u64>; 3],
    used: HashSet<u64>,
    open: bool,
    finished: bool,
    skewed: Option<Skewed>,
    shift: Option<Shift>,
}

impl File {
    fn rewind(&mut self) {
        self.end = [self.start; 3];
        self.prev = [None; 3];
        self.used.clear();
        if let Some(shift) = &mut self.shift {
            shift.rewind();
        }
    }
}

/// The random streams that start again with each pass of a repeatable job.
struct Streams {
    length: [Draw; 3],
    mix: Draw,
    file: Draw,
    offset: Draw,
    choice: [Draw; 3],
    zone: Draw,
}

/// Shares of the accesses in percent and of the blocks, in percent or bytes.
type Zones = Vec<(u64, u64)>;

/// One job and all of its state.
pub struct Model {
    rules: Rules,
    seeds: Seeds,
    repeats: bool,
    random: bool,
    kind: String,
    every: u64,
    hole: i64,
    identical: bool,
    min: [u64; 3],
    max: [u64; 3],
    split: [Vec<(u64, u64)>; 3],
    align: [u64; 3],
    unaligned: bool,
    by_choice: bool,
    mapped: bool,
    random_share: [u64; 3],
    zones: Option<(bool, [Zones; 3])>,
    files: Vec<File>,
    region: u64,
    most_open: usize,
    service: String,
    keep: u64,
    picker: Option<Skewed>,
    total: u64,
    io_size: u64,
    loops: u64,
    number: u64,
    shares: [u64; 2],
    syncs: Vec<(&'static str, u64)>,
    end_fsync: bool,
    strided: Option<[u64; 3]>,
    streams: Streams,
    // What happened so far.
    count: [u64; 3],
    bytes: [u64; 3],
    direction: usize,
    threshold: u64,
    last: Option<usize>,
    synced: bool,
    fired: u64,
    turn: usize,
    current: Option<usize>,
    left: u64,
    zone_bytes: u64,
    jumped: bool,
    out: Vec<Entry>,
}

impl Model {
    /// The job with these options, the `thread`-th of the run.
    pub fn new(job: &JobOptions, thread: u64, rules: Rules) -> Self {
        let given = |name: &str| job.get(name);
        let number = |name: &str, default: u64| given(name).map_or(default, size);
        let (rw, postfix) =
            given("rw").unwrap_or("read").split_once(':').unwrap_or((given("rw").unwrap_or("read"), ""));
        let random = rw.starts_with("rand");
        let kind = rw.strip_prefix("rand").unwrap_or(rw).to_owned();
        let hole = match postfix.strip_prefix('-') {
            Some(back) => -(size(back) as i64),
            None if postfix.is_empty() || random => 0,
            None => size(postfix) as i64,
        };
        let bs = numbers(given("bs").unwrap_or("4k"), size).map(|bytes| bytes.unwrap_or(4096));
        let (mut min, mut max, mut split) = (bs, bs, [const { Vec::new() }; 3]);
        if let Some(range) = given("bsrange") {
            let ends = numbers(range, |text| {
                text.split_once('-').map(|(low, high)| (size(low), size(high))).unwrap()
            });
            (min, max) = (ends.map(|ends| ends.unwrap().0), ends.map(|ends| ends.unwrap().1));
        }
        if let Some(text) = given("bssplit") {
            let lists: Vec<_> = text.split(',').collect();
            for d in 0..3 {
                split[d] = shares(lists[d.min(lists.len() - 1)]);
                min[d] = split[d].iter().map(|entry| entry.0).min().unwrap();
                max[d] = split[d].iter().map(|entry| entry.0).max().unwrap();
            }
        }
        let align = match given("ba").filter(|_| random) {
            Some(text) => numbers(text, size).map(Option::unwrap),
            None => min,
        };
        let bits = if given("random_generator") == Some("tausworthe64") { 64 } else { 32 };
        let lfsr = given("random_generator") == Some("lfsr");
        let (law, parameters) = given("random_distribution")
            .map_or(("random", ""), |text| text.split_once(':').unwrap_or((text, "")));
        let trimwrite = kind == "trimwrite";
        let randseed = given("randseed").map(|text| text.parse().unwrap());
        let old_offsets = rules == Rules::Old && given("randrepeat") != Some("0");
        let repeats = given("randrepeat") != Some("0") && randseed.is_none();
        let seeds = Seeds { thread, randseed: randseed.unwrap_or(137), bits, trimwrite, old_offsets };
        let seed_of = |purpose| seeds.of(purpose);
        let smallest = *min.iter().min().unwrap();
        let count = number("nrfiles", 1);
        let start = number("offset", 0);
        let mut sizes = vec![number("size", 0) / count; count as usize];
        if let Some((low, high)) = given("filesize").and_then(|text| text.split_once('-')) {
            let mut draw = Draw::new(seed_of(7), bits);
            let span = (size(high) - size(low)) as f64;
            sizes.fill_with(|| (size(low) + (span * draw.part()) as u64) / smallest * smallest);
        }
        let files = sizes.iter().enumerate().map(|(index, &bytes)| {
            let name = name_hash(&format!("{}.0.{index}", job.name()));
            let own_seed = match rules {
                Rules::New => name.wrapping_mul(thread as u32).wrapping_mul(seed_of(6) as u32),
                Rules::Old if repeats => name.wrapping_mul(thread as u32),
                Rules::Old => seed_of(6) as u32,
            };
            let blocks = bytes.div_ceil(min[READ].min(min[WRITE]));
            let skews = matches!(law, "zipf" | "pareto" | "normal");
            File {
                start,
                size: bytes,
                skewed: skews.then(|| {
                    Skewed::new(given("random_distribution").unwrap(), blocks, u64::from(own_seed), true)
                }),
                shift: lfsr.then(|| Shift::new(bytes / smallest, seed_of(6))),
                ..File::default()
            }
        });
        let total: u64 = if given("filesize").is_some() { sizes.iter().sum() } else { number("size", 0) };
        let mut shares_of_mix = [50, 50];
        for (name, value) in job.all() {
            match name {
                "rwmixread" => shares_of_mix = [size(value), 100 - size(value)],
                "rwmixwrite" => shares_of_mix = [100 - size(value), size(value)],
                _ => {}
            }
        }
        let (service, keep) = given("file_service_type")
            .map_or(("roundrobin", ""), |text| text.split_once(':').unwrap_or((text, "")));
        let skewed_service = matches!(service, "zipf" | "pareto" | "normal");
        let syncs =
            ["fsync", "fdatasync"].into_iter().filter_map(|name| Some((name, size(given(name)?)))).collect();
        Model {
            rules,
            seeds,
            repeats,
            random,
            every: if random && !postfix.is_empty() { size(postfix) } else { 1 },
            hole,
            identical: given("rw_sequencer") == Some("identical"),
            min,
            max,
            split,
            align,
            unaligned: job.switch("bs_unaligned"),
            by_choice: job.switch("bs_is_seq_rand"),
            mapped: random && !job.switch("norandommap") && law == "random" && !lfsr && align == min,
            random_share: numbers(given("percentage_random").unwrap_or("100"), size).map(Option::unwrap),
            zones: law
                .starts_with("zoned")
                .then(|| (law == "zoned_abs", zones(parameters, law == "zoned_abs"))),
            files: files.collect(),
            region: start,
            most_open: number("openfiles", count) as usize,
            service: service.to_owned(),
            keep: if keep.is_empty() || skewed_service { 1 } else { size(keep) },
            picker: skewed_service.then(|| {
                let own_seed = u64::from(seed_of(5) as u32);
                Skewed::new(given("file_service_type").unwrap(), count * 1024, own_seed, false)
            }),
            total,
            io_size: number("io_size", 0),
            loops: number("loops", 1),
            number: number("number_ios", 0) * if trimwrite { 2 } else { 1 },
            shares: shares_of_mix,
            syncs,
            end_fsync: job.switch("end_fsync"),
            strided: (given("zonemode") == Some("strided")).then(|| {
                let bytes = number("zonesize", 0);
                [bytes, number("zonerange", bytes), number("zoneskip", 0)]
            }),
            streams: seeds.streams(),
            kind,
            count: [0; 3],
            bytes: [0; 3],
            direction: READ,
            threshold: 0,
            last: None,
            synced: false,
            fired: 0,
            turn: count as usize - 1,
            current: None,
            left: 0,
            zone_bytes: 0,
            jumped: false,
            out: Vec::new(),
        }
    }

    /// Everything the job issues.
    pub fn run(mut self) -> Vec<Entry> {
        let mut passes = self.loops;
        let mut first = true;
        loop {
            let moved = self.moved();
            if passes > 0 {
                passes -= 1;
            } else if !self.goes_on(moved) {
                break;
            }
            if !first && self.repeats {
                self.streams = self.seeds.streams();
            }
            if !first && self.kind == "trimwrite" {
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
        if self.io_size > 0 { self.io_size } else { self.total }
    }

    fn enough_ios(&self) -> bool {
        self.number > 0 && self.count.iter().sum::<u64>() >= self.number * self.loops
    }

    fn goes_on(&self, moved: u64) -> bool {
        let largest = *self.max.iter().max().unwrap();
        let all_finished = self.files.iter().all(|file| file.finished);
        !self.enough_ios()
            && moved < self.wanted()
            && self.wanted() - moved >= largest
            && (!all_finished || self.io_size > 0)
    }

    fn enough(&self) -> bool {
        let done = match self.kind.as_str() {
            "rw" => self.bytes[READ] + self.bytes[WRITE],
            "read" => self.bytes[READ],
            "trim" => self.bytes[TRIM],
            _ => self.bytes[WRITE],
        };
        self.enough_ios() || done >= self.wanted() * self.loops
    }

    fn writes(&self) -> bool {
        matches!(self.kind.as_str(), "write" | "rw" | "trimwrite")
    }

    fn pass(&mut self) {
        for file in &mut self.files {
            (file.finished, file.open, file.start) = (false, false, self.region);
        }
        (self.zone_bytes, self.left, self.current, self.threshold) = (0, 0, None, 0);
        // Old versions forget what was last.
        self.synced &= self.rules == Rules::New;
        while !self.enough() {
            let Some(entry) = self.one() else { break };
            self.out.push(entry);
        }
        if self.end_fsync && self.writes() && !self.synced {
            self.out.extend((0..self.files.len()).map(|file| Entry::sync("sync", file)));
            self.synced = true;
        }
    }

    /// The next file, `None` when all are finished.
    fn pick(&mut self) -> Option<usize> {
        if let Some(current) = self.current.filter(|&current| !self.files[current].finished) {
            if self.service == "sequential" {
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
            let index = match (&mut self.picker, self.service.as_str()) {
                (Some(picker), _) => (picker.next() >> 10) as usize,
                (None, "random") => self.streams.file.below(count as u64) as usize,
                _ => {
                    self.turn = (self.turn + 1) % count;
                    self.turn
                }
            };
            let open = self.files.iter().filter(|file| file.open).count();
            let file = &mut self.files[index];
            if file.finished || (!file.open && open >= self.most_open) {
                continue;
            }
            if !file.open {
                file.open = true;
                file.rewind();
            }
            (self.current, self.left) = (Some(index), self.keep - 1);
            return Some(index);
        }
    }

    fn one(&mut self) -> Option<Entry> {
        loop {
            let index = self.pick()?;
            let after_write = self.rules == Rules::Old || self.last == Some(WRITE);
            if !self.synced && after_write && self.writes() {
                let due = self
                    .syncs
                    .iter()
                    .find(|(_, every)| self.count[WRITE] > 0 && self.count[WRITE] % every == 0);
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
        match self.kind.as_str() {
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
                    let new = if self.streams.mix.percent() <= self.shares[READ] { READ } else { WRITE };
                    if new != current {
                        self.threshold = self.count[current] * self.shares[new] / 100;
                        self.direction = new;
                    }
                }
                self.direction
            }
        }
    }

    fn enter_zone(&mut self, index: usize, d: usize) {
        let Some([bytes, range, skip]) = self.strided else { return };
        let file = &mut self.files[index];
        if self.zone_bytes >= bytes {
            self.zone_bytes = 0;
            file.start += range + skip;
            if file.start >= self.region + file.size {
                file.start = self.region;
            }
            file.end[d] = file.start;
        }
        if file.end[d] >= file.start + range {
            file.end[d] = file.start;
        }
        if self.zone_bytes % range == 0 {
            file.rewind();
        }
    }

    fn place(&mut self, index: usize, d: usize) -> Option<(u64, u64)> {
        if self.kind == "trimwrite" && self.random && d == WRITE {
            let file = &self.files[index];
            let offset = file.prev[TRIM].unwrap();
            return Some((offset, file.end[TRIM] - offset));
        }
        let stale = std::mem::take(&mut self.jumped);
        let mut chosen = false;
        let offset = if !self.random {
            self.progress(index, d)
        } else {
            let fires = self.every == 1 || self.fired.is_multiple_of(self.every);
            self.fired += 1;
            let follows = if fires {
                let share = self.random_share[d];
                chosen = share == 100 || self.streams.choice[d].percent() <= share;
                if chosen { None } else { self.progress(index, d) }
            } else if self.identical {
                let file = &self.files[index];
                Some(file.prev[d].unwrap_or(file.start))
            } else {
                self.progress(index, d)
            };
            follows.or_else(|| self.randomly(index, d))
        };
        let (start, file_size) = (self.files[index].start, self.files[index].size);
        let end = self.region + file_size;
        let fitting = offset
            .filter(|&offset| offset - start < file_size && offset < end)
            .and_then(|offset| Some((offset, self.length(index, d, offset, chosen)?)))
            .filter(|(offset, len)| offset + len <= end);
        let Some((offset, mut len)) = fitting else {
            self.jumped = self.random && (!chosen || stale);
            return None;
        };
        if chosen && self.mapped && !stale {
            len = self.mark(index, d, offset, len);
        }
        let file = &mut self.files[index];
        if self.kind == "trimwrite" && self.random && file.prev[TRIM] == Some(offset) {
            file.prev[WRITE] = Some(offset.wrapping_sub(1));
        }
        Some((offset, len))
    }

    /// Marks blocks in the map and shortens an I/O before the first that was marked already.
    fn mark(&mut self, index: usize, d: usize, offset: u64, len: u64) -> u64 {
        let (bits, unit) = (self.map_bits(index), self.min[d]);
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
        let end = self.region + file.size;
        let writes = matches!(self.kind.as_str(), "write" | "rw" | "trimwrite");
        let goes_round = self.rules == Rules::New && writes && self.io_size > self.total;
        if goes_round && file.end[d] >= end {
            file.end[d] = file.start;
        }
        if file.end[d] >= end {
            return None;
        }
        if self.hole < 0 && file.end[d] == file.start && file.start > 0 {
            file.end[d] = file.size.min(end);
        }
        let mut at = file.end[d].wrapping_sub(file.start);
        if at != 0 && self.hole != 0 {
            at = at.wrapping_add_signed(self.hole);
            if at >= end {
                let back = file.size.min(end).wrapping_add_signed(self.hole);
                at = if self.hole > 0 { file.start } else { back };
            }
        }
        Some(file.start.wrapping_add(at))
    }

    /// Bytes that random choices are made from.
    fn room(&self, index: usize) -> u64 {
        self.strided.map_or(self.files[index].size, |[_, range, _]| range)
    }

    fn map_bits(&self, index: usize) -> u64 {
        self.room(index) / self.min.iter().min().unwrap()
    }

    fn randomly(&mut self, index: usize, d: usize) -> Option<u64> {
        let (start, align) = (self.files[index].start, self.align[d]);
        let blocks = self.room(index).saturating_sub(self.min[d].saturating_sub(align)) / align;
        let bits = self.map_bits(index);
        let recycles = self.picker.is_some();
        let file = &mut self.files[index];
        if let Some(skewed) = &mut file.skewed {
            return Some(start + skewed.next() * align);
        }
        if blocks == 0 {
            return None;
        }
        if let Some((absolute, zones)) = &self.zones {
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
        if self.mapped {
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
        let d = match self.by_choice {
            true if chosen => WRITE,
            true => READ,
            false => d,
        };
        let (low, high, end) = (self.min[d], self.max[d], self.region + self.files[index].size);
        if low == high {
            return Some(low);
        }
        if offset + low > end {
            return None;
        }
        let draw = &mut self.streams.length[d];
        loop {
            let mut len = 0;
            if self.split[d].is_empty() {
                len = low + (high as f64 * draw.part()) as u64;
            } else {
                let (word, mut sum) = (draw.next(), 0);
                for &(bytes, share) in self.split[d].iter().filter(|(_, share)| *share > 0) {
                    sum += share;
                    len = bytes;
                    if word / sum <= draw.full() / 100 && offset + bytes <= end {
                        break;
                    }
                }
            }
            if !self.unaligned {
                len -= len % low;
            }
            let len = len.min(high);
            if offset + len <= end {
                return Some(len);
            }
        }
    }
}

/// Where the seeds of a job come from.
#[derive(Clone, Copy)]
struct Seeds {
    thread: u64,
    randseed: u64,
    bits: u32,
    trimwrite: bool,
    /// Offsets have a seed of their own, whatever `randseed` says.
    old_offsets: bool,
}

impl Seeds {
    fn of(&self, purpose: u32) -> u64 {
        match purpose {
            6 if self.old_offsets => 0xb189_9bed_u64.wrapping_mul(self.thread),
            _ => seed(purpose, self.thread, self.randseed),
        }
    }

    fn streams(&self) -> Streams {
        let draw = |purpose, bits| Draw::new(self.of(purpose), bits);
        let bits = self.bits;
        Streams {
            length: [draw(0, bits), draw(1, bits), draw(if self.trimwrite { 1 } else { 2 }, bits)],
            mix: draw(4, 32),
            file: draw(5, bits),
            offset: draw(6, bits),
            choice: [draw(10, 32), draw(10, 32), draw(10, 32)],
            zone: draw(16, 32),
        }
    }
}

/// `size/percent:size`: what has no share divides the rest; the smallest shares come first.
fn shares(text: &str) -> Vec<(u64, u64)> {
    let entries = text.split(':').map(|entry| entry.split_once('/').unwrap_or((entry, "0")));
    let mut entries: Vec<_> = entries.map(|(bytes, share)| (size(bytes), size(share))).collect();
    let rest = 100_u64.saturating_sub(entries.iter().map(|entry| entry.1).sum());
    let without = entries.iter().filter(|entry| entry.1 == 0).count() as u64;
    entries.iter_mut().filter(|entry| entry.1 == 0).for_each(|entry| entry.1 = rest / without);
    entries.sort_by_key(|entry| entry.1);
    entries
}

/// `percent/size:percent/`: percent of the blocks, or bytes; what has no size divides the rest.
fn zones(text: &str, absolute: bool) -> [Zones; 3] {
    let lists: Vec<_> = text.split(',').collect();
    [0, 1, 2].map(|d: usize| {
        let entries = lists[d.min(lists.len() - 1)]
            .split(':')
            .map(|entry| entry.split_once('/').unwrap_or((entry, "")));
        let mut entries: Vec<_> = entries
            .map(|(share, part)| (size(share), if part.is_empty() { 0 } else { size(part) }))
            .collect();
        if !absolute {
            let rest = 100 - entries.iter().map(|entry| entry.1).sum::<u64>();
            let without = entries.iter().filter(|entry| entry.1 == 0).count() as u64;
            entries.iter_mut().filter(|entry| entry.1 == 0).for_each(|entry| entry.1 = rest / without);
        }
        entries
    })
}
