//! The options of a job in the form that the model reads.

use super::draws::{Draw, seed};
use super::options::{JobOptions, numbers, size};

pub const READ: usize = 0;
pub const WRITE: usize = 1;
pub const TRIM: usize = 2;

/// The program whose rules a model follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// fio 3.34 and before.
    Old,
    /// fio 3.42, and ferrio.
    New,
}

/// Sizes with their shares in percent.
type Split = Vec<(u64, u64)>;

/// Shares of the accesses in percent, and of the blocks in percent or bytes.
type Zones = Vec<(u64, u64)>;

/// A job that is about to begin.
pub struct Settings {
    pub rules: Rules,
    pub seeds: Seeds,
    /// Each pass begins with the seeds of the first.
    pub repeats: bool,
    pub kind: String,
    pub random: bool,
    /// Every how many I/Os of a random kind are random; the others step on, or repeat the last.
    pub every: u64,
    pub identical: bool,
    /// Bytes added to each step of a sequential kind.
    pub hole: i64,
    pub min: [u64; 3],
    pub max: [u64; 3],
    pub split: [Split; 3],
    pub align: [u64; 3],
    pub unaligned: bool,
    /// Lengths go by whether the place was chosen, not by direction.
    pub by_choice: bool,
    /// No block twice.
    pub mapped: bool,
    /// The shift register chooses blocks.
    pub shifts: bool,
    /// zipf, pareto or normal choices, as the option has it.
    pub skews_blocks: Option<String>,
    pub skews_files: Option<String>,
    /// Zones of a distribution; `true` when they are in bytes.
    pub zones: Option<(bool, [Zones; 3])>,
    /// Percent of I/Os that are random.
    pub random_share: [u64; 3],
    /// `zonesize`, `zonerange` and `zoneskip`.
    pub strided: Option<[u64; 3]>,
    /// Start of the I/O in each file.
    pub region: u64,
    pub sizes: Vec<u64>,
    /// Bytes of all files.
    pub total: u64,
    pub most_open: usize,
    pub service: String,
    /// I/Os that a file is kept for.
    pub keep: u64,
    pub io_size: u64,
    pub loops: u64,
    pub number: u64,
    /// Percent of reads and of writes in a mix.
    pub shares: [u64; 2],
    pub syncs: Vec<(&'static str, u64)>,
    pub end_fsync: bool,
}

impl Settings {
    pub fn new(job: &JobOptions, thread: u64, rules: Rules) -> Self {
        let number = |name: &str, default: u64| job.get(name).map_or(default, size);
        let (rw, postfix) = split_off(job.get("rw").unwrap_or("read"));
        let random = rw.starts_with("rand");
        let kind = rw.strip_prefix("rand").unwrap_or(rw).to_owned();
        let (min, max, split) = lengths(job);
        let align = match job.get("ba").filter(|_| random) {
            Some(text) => numbers(text, size).map(Option::unwrap),
            None => min,
        };
        let seeds = Seeds::new(job, thread, rules, kind == "trimwrite");
        let sizes = sizes(job, &seeds, *min.iter().min().unwrap());
        let distribution = job.get("random_distribution").unwrap_or("random");
        let shifts = job.get("random_generator") == Some("lfsr");
        let service = job.get("file_service_type").unwrap_or("roundrobin");
        let (service_kind, keep) = split_off(service);
        let skews =
            |text: &str| ["zipf", "pareto", "normal"].contains(&split_off(text).0).then(|| text.to_owned());
        let skews_files = skews(service);
        Settings {
            rules,
            repeats: job.get("randrepeat") != Some("0") && job.get("randseed").is_none(),
            every: if random && !postfix.is_empty() { size(postfix) } else { 1 },
            identical: job.get("rw_sequencer") == Some("identical"),
            hole: match postfix.strip_prefix('-') {
                Some(back) => -(size(back) as i64),
                None if postfix.is_empty() || random => 0,
                None => size(postfix) as i64,
            },
            unaligned: job.switch("bs_unaligned"),
            by_choice: job.switch("bs_is_seq_rand"),
            mapped: random
                && !job.switch("norandommap")
                && distribution == "random"
                && !shifts
                && align == min,
            shifts,
            skews_blocks: skews(distribution),
            zones: distribution.starts_with("zoned").then(|| zones(distribution)),
            random_share: numbers(job.get("percentage_random").unwrap_or("100"), size).map(Option::unwrap),
            strided: (job.get("zonemode") == Some("strided")).then(|| {
                let bytes = number("zonesize", 0);
                [bytes, number("zonerange", bytes), number("zoneskip", 0)]
            }),
            region: number("offset", 0),
            total: if job.get("filesize").is_some() { sizes.iter().sum() } else { number("size", 0) },
            most_open: number("openfiles", sizes.len() as u64) as usize,
            service: service_kind.to_owned(),
            keep: if keep.is_empty() || skews_files.is_some() { 1 } else { size(keep) },
            io_size: number("io_size", 0),
            loops: number("loops", 1),
            number: number("number_ios", 0) * if kind == "trimwrite" { 2 } else { 1 },
            shares: shares_of_mix(job),
            syncs: ["fsync", "fdatasync"]
                .into_iter()
                .filter_map(|name| Some((name, size(job.get(name)?))))
                .collect(),
            end_fsync: job.switch("end_fsync"),
            skews_files,
            seeds,
            kind,
            random,
            min,
            max,
            split,
            align,
            sizes,
        }
    }

    /// The smallest length of any direction.
    pub fn smallest(&self) -> u64 {
        *self.min.iter().min().unwrap()
    }
}

/// `word:rest`
fn split_off(text: &str) -> (&str, &str) {
    text.split_once(':').unwrap_or((text, ""))
}

/// Smallest and largest lengths, and how they are split.
fn lengths(job: &JobOptions) -> ([u64; 3], [u64; 3], [Split; 3]) {
    let bs = numbers(job.get("bs").unwrap_or("4k"), size).map(|bytes| bytes.unwrap_or(4096));
    let (mut min, mut max, mut split) = (bs, bs, [const { Vec::new() }; 3]);
    if let Some(range) = job.get("bsrange") {
        let ends =
            numbers(range, |text| text.split_once('-').map(|(low, high)| (size(low), size(high))).unwrap());
        (min, max) = (ends.map(|ends| ends.unwrap().0), ends.map(|ends| ends.unwrap().1));
    }
    if let Some(text) = job.get("bssplit") {
        let lists: Vec<_> = text.split(',').collect();
        for d in 0..3 {
            split[d] = shares(lists[d.min(lists.len() - 1)]);
            min[d] = split[d].iter().map(|entry| entry.0).min().unwrap();
            max[d] = split[d].iter().map(|entry| entry.0).max().unwrap();
        }
    }
    (min, max, split)
}

/// Bytes of each file.
fn sizes(job: &JobOptions, seeds: &Seeds, smallest: u64) -> Vec<u64> {
    let count = job.get("nrfiles").map_or(1, size);
    let mut sizes = vec![job.get("size").map_or(0, size) / count; count as usize];
    if let Some((low, high)) = job.get("filesize").and_then(|text| text.split_once('-')) {
        let mut draw = Draw::new(seeds.of(7), seeds.bits);
        let span = (size(high) - size(low)) as f64;
        sizes.fill_with(|| (size(low) + (span * draw.part()) as u64) / smallest * smallest);
    }
    sizes
}

/// `rwmixread` and `rwmixwrite`: the one given last holds.
fn shares_of_mix(job: &JobOptions) -> [u64; 2] {
    let mut shares = [50, 50];
    for (name, value) in job.all() {
        match name {
            "rwmixread" => shares = [size(value), 100 - size(value)],
            "rwmixwrite" => shares = [100 - size(value), size(value)],
            _ => {}
        }
    }
    shares
}

/// `size/percent:size`: what has no share divides the rest; the smallest shares come first.
fn shares(text: &str) -> Split {
    let entries = text.split(':').map(|entry| entry.split_once('/').unwrap_or((entry, "0")));
    let mut entries: Vec<_> = entries.map(|(bytes, share)| (size(bytes), size(share))).collect();
    let rest = 100_u64.saturating_sub(entries.iter().map(|entry| entry.1).sum());
    let without = entries.iter().filter(|entry| entry.1 == 0).count() as u64;
    entries.iter_mut().filter(|entry| entry.1 == 0).for_each(|entry| entry.1 = rest / without);
    entries.sort_by_key(|entry| entry.1);
    entries
}

/// `zoned:percent/size:percent/`: percent of the blocks, or bytes; what has no size divides the rest.
fn zones(text: &str) -> (bool, [Zones; 3]) {
    let (word, lists) = split_off(text);
    let absolute = word == "zoned_abs";
    let lists: Vec<_> = lists.split(',').collect();
    let zones = [0, 1, 2].map(|d: usize| {
        let entries = lists[d.min(lists.len() - 1)]
            .split(':')
            .map(|entry| entry.split_once('/').unwrap_or((entry, "")));
        let mut entries: Zones = entries
            .map(|(share, part)| (size(share), if part.is_empty() { 0 } else { size(part) }))
            .collect();
        if !absolute {
            let rest = 100 - entries.iter().map(|entry| entry.1).sum::<u64>();
            let without = entries.iter().filter(|entry| entry.1 == 0).count() as u64;
            entries.iter_mut().filter(|entry| entry.1 == 0).for_each(|entry| entry.1 = rest / without);
        }
        entries
    });
    (absolute, zones)
}

/// The random streams that start again with each pass of a repeatable job.
pub struct Streams {
    pub length: [Draw; 3],
    pub mix: Draw,
    pub file: Draw,
    pub offset: Draw,
    pub choice: [Draw; 3],
    pub zone: Draw,
}

/// Where the seeds of a job come from.
#[derive(Clone, Copy)]
pub struct Seeds {
    pub thread: u64,
    randseed: u64,
    bits: u32,
    trimwrite: bool,
    /// Offsets have a seed of their own, whatever `randseed` says.
    old_offsets: bool,
}

impl Seeds {
    fn new(job: &JobOptions, thread: u64, rules: Rules, trimwrite: bool) -> Self {
        Seeds {
            thread,
            randseed: job.get("randseed").map_or(137, |text| text.parse().unwrap()),
            bits: if job.get("random_generator") == Some("tausworthe64") { 64 } else { 32 },
            trimwrite,
            old_offsets: rules == Rules::Old && job.get("randrepeat") != Some("0"),
        }
    }

    pub fn of(&self, purpose: u32) -> u64 {
        match purpose {
            6 if self.old_offsets => 0xb189_9bed_u64.wrapping_mul(self.thread),
            _ => seed(purpose, self.thread, self.randseed),
        }
    }

    pub fn streams(&self) -> Streams {
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
