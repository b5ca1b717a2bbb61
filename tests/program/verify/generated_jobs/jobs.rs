//! Generated jobs: each writes with a method of `verify` and a choice of everything that decides which blocks there are and what is in them.
//! The same on every run.
//!
//! Left out, because a version of fio is at fault or differs on purpose:
//!
//! * methods with `verify_pattern` of more than one block's worth, and those without a pattern that they need: fio aborts;
//! * `verify_offset` that does not leave room for header and digest before and behind it: fio damages the data;
//! * an explicit `verify_header_seed=1` where blocks may be written twice: fio always fails.

use std::fmt;

use crate::random_numbers::RandomNumbers;
use crate::verify::reading_back::DIGESTS;

/// Synchronous engines, which issue writes in the order of the job, and others.
const SYNC: &[&str] = &["psync", "sync", "pvsync", "pvsync2", "mmap"];
const ASYNC: &[&str] = &["libaio", "io_uring", "posixaio"];

const PATTERNS: &[&str] =
    &["0xaa", "0x11223344", "\"ab\"%o", "0xff%o\"ab\"-12", "-1024", "%o%o", "0xdeadbeef%o0x00", "66"];

/// All methods that write headers.
fn methods() -> Vec<&'static str> {
    DIGESTS.into_iter().chain(["meta"]).collect()
}

/// One job that writes.
#[derive(Clone, Debug)]
pub struct Job {
    pub name: String,
    pub options: Vec<(String, String)>,
    /// Options that fio 3.33 does not have.
    pub newer: Vec<(String, String)>,
    /// Every block of the files is written once in a pass, so that a job that only reads finds a header everywhere.
    pub covers_all: bool,
    /// All versions of fio choose the same blocks in the same order.
    pub same_order: bool,
    /// How another run checks what the job wrote.
    pub check: Check,
}

/// A job that checks what another wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The same job with `verify_only`.
    Only,
    /// A job that reads instead of writing.
    Read(&'static str),
    /// The job's own read-back is all.
    None,
}

impl Job {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn has_headers(&self) -> bool {
        !matches!(self.get("verify"), Some("pattern" | "null"))
    }

    /// The reason why fio 3.33 cannot do this job; newer releases were not asked.
    pub fn defect_of_fio_3_33(&self) -> Option<&'static str> {
        let given = |name: &str| self.get(name).is_some();
        let kind = self.get("rw").unwrap_or_default();
        let mixed = kind.contains("rw");
        let walks_on = kind.contains(':');
        let one_size = given("bs");
        let mmap = self.get("ioengine") == Some("mmap");
        let random = kind.starts_with("rand");
        let repeats = given("norandommap")
            || walks_on
            || given("zonemode")
            || given("random_distribution")
            || self.writes_beyond_its_size();
        let another = "wants the seed or the number of another block";
        let sizes = "verify_only reads blocks of other sizes than were written";
        [
            (mixed && (repeats || given("nrfiles") || given("loops")), another),
            (random && (walks_on || given("zonemode")), another),
            (walks_on && self.writes_beyond_its_size(), another),
            (given("percentage_random") || (given("zonemode") && given("loops")), another),
            (walks_on && !one_size, sizes),
            (given("verify_pattern") && given("verify_offset"), "exchanges header and data again and again"),
            (mmap && given("offset"), "writes to other places than the offsets say"),
            (given("loops") && given("number_ios"), "counts blocks that are read back against number_ios"),
        ]
        .into_iter()
        .find_map(|(holds, what)| holds.then_some(what))
    }

    fn writes_beyond_its_size(&self) -> bool {
        matches!(self.get("io_size"), Some("150k" | "200k"))
    }

    /// fio 3.33 leaves the same bytes as ferrio, apart from times.
    ///
    /// Not with an asynchronous engine, which takes part in the order of writes and their contents; nor where a pass leaves room for
    /// another, because 3.33 counts blocks that are read back towards `size`; nor in the third pass of a job that does not repeat its
    /// random numbers, which in 3.33 has the contents of the second.
    pub fn has_the_same_image(&self) -> bool {
        let fills_its_size =
            self.get("nrfiles").is_none() && !self.get("rw").unwrap_or_default().contains(':');
        let third_pass = self.get("loops") == Some("3") && self.get("randrepeat").is_some();
        SYNC.contains(&self.get("ioengine").unwrap_or_default())
            && self.same_order
            && fills_its_size
            && !third_pass
    }

    /// Bytes that header positions are multiples of, and what `verify_offset` adds to them.
    pub fn offset_of_headers(&self) -> usize {
        self.get("verify_offset").map_or(0, |offset| offset.parse().unwrap())
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = self.options.iter().chain(&self.newer);
        let words: Vec<_> = options.map(|(name, value)| format!("{name}={value}")).collect();
        write!(f, "[{}] {}", self.name, words.join(" "))
    }
}

/// A job under construction.
struct Draft {
    numbers: RandomNumbers,
    job: Job,
    random: bool,
    mixed: bool,
    /// All blocks have one size.
    one_size: bool,
}

/// The first `count` jobs.
pub fn jobs(count: usize) -> Vec<Job> {
    (0..count).map(|number| Draft::new(number).complete()).collect()
}

impl Draft {
    fn new(number: usize) -> Self {
        let kind = ["write", "randwrite", "rw", "randrw", "randwrite", "write"][number % 6];
        let job = Job {
            name: format!("j{number}"),
            options: vec![("rw".to_owned(), kind.to_owned())],
            newer: Vec::new(),
            covers_all: true,
            same_order: true,
            check: Check::None,
        };
        Draft {
            numbers: RandomNumbers(8 << 32 | number as u64),
            job,
            random: kind.starts_with("rand"),
            mixed: kind.ends_with("rw"),
            one_size: true,
        }
    }

    fn complete(mut self) -> Job {
        self.lengths();
        self.places();
        self.contents();
        self.engine();
        self.order();
        self.amounts();
        self.pace();
        self.check();
        self.job
    }

    fn set(&mut self, name: &str, value: &str) {
        self.job.options.push((name.to_owned(), value.to_owned()));
    }

    fn add(&mut self, name: &str, choices: &[&str]) {
        let value = self.numbers.of(choices).to_owned();
        self.set(name, &value);
    }

    fn maybe(&mut self, percent: u64, name: &str, choices: &[&str]) -> bool {
        let happens = self.numbers.happens(percent);
        if happens {
            self.add(name, choices);
        }
        happens
    }

    fn lengths(&mut self) {
        match self.numbers.next() % 4 {
            0 | 1 => self.add("bs", &["4k", "4k", "8k", "1k", "2k", "3k", "16k", "512"]),
            2 => self.add("bsrange", &["4k-16k", "2k-7k", "4k-64k", "1k-8k", "8k-24k"]),
            _ => self.add(
                "bssplit",
                &[
                    "4k/50:8k/50",
                    "4k/10:8k/20:64k",
                    "4k:8k:12k",
                    "2k/33:4k/33:6k",
                    "4k/20:8k/20",
                    "1k/5:4k/95",
                ],
            ),
        }
        self.one_size = self.job.get("bs").is_some();
        let own_interval: &[&str] = match self.job.get("bs") {
            Some("512") => &["256", "512"],
            Some(_) => &["512", "1024", "256", "1000", "4096", "300"],
            None => &["512", "1024", "300"],
        };
        self.maybe(30, "verify_interval", own_interval);
    }

    fn places(&mut self) {
        self.add("size", &["64k", "80k", "96k", "128k", "101k", "72k"]);
        self.maybe(15, "offset", &["64k", "4k", "20k"]);
        // The largest block has to fit into each file.
        if !self.job.options.iter().any(|(_, value)| value.contains("64k")) {
            self.maybe(20, "nrfiles", &["2", "3"]);
        }
    }

    /// Method, pattern and body.
    fn contents(&mut self) {
        match self.numbers.next() % 20 {
            0 => {
                self.set("verify", "pattern");
                self.add("verify_pattern", PATTERNS);
            }
            1 => {
                // Implies `pattern_hdr`, which fio 3.33 does not have as a word.
                self.add("verify_pattern", PATTERNS);
            }
            2 => self.set("verify", "null"),
            3 => {
                self.add("verify", &methods());
                self.add("verify_pattern", PATTERNS);
            }
            _ => self.add("verify", &methods()),
        }
        let patterned = self.job.get("verify_pattern").is_some();
        if patterned && self.numbers.happens(30) {
            let value = self.numbers.of(&["512", "1024", "100"]).to_owned();
            self.job.newer.push(("verify_pattern_interval".to_owned(), value));
        }
        // Room for the longest header before and behind: no interval is shorter than 512 bytes then.
        let long = !matches!(self.job.get("verify_interval"), Some("256" | "512" | "300" | "1000"));
        let blocks = self.job.get("bs").or(self.job.get("bsrange")).unwrap_or("1k").to_owned();
        if long && !blocks.starts_with("512") {
            self.maybe(15, "verify_offset", &["176", "200", "256", "512"]);
        }
        if !patterned && self.numbers.happens(20) {
            self.add("buffer_compress_percentage", &["1", "25", "50", "77", "99", "100"]);
            self.maybe(30, "buffer_pattern", &["0x5a", "\"text\""]);
        }
    }

    fn engine(&mut self) {
        if self.numbers.happens(45) {
            self.add("ioengine", SYNC);
        } else {
            self.add("ioengine", ASYNC);
            self.add("iodepth", &["1", "2", "4", "8", "16", "32"]);
            self.maybe(20, "iodepth_batch", &["2", "4"]);
            self.maybe(20, "iodepth_batch_complete_min", &["1"]);
        }
        self.maybe(60, "thread", &["1"]);
    }

    /// Which block comes next.
    fn order(&mut self) {
        if self.mixed {
            self.job.covers_all = false;
            let option = self.numbers.of(&["rwmixread", "rwmixwrite"]).to_owned();
            self.maybe(70, &option, &["10", "25", "50", "75", "90"]);
        }
        if !self.random {
            if self.numbers.happens(6) {
                let postfix = self.numbers.of(&["4k", "8k", "12k"]);
                self.job.options[0].1 += &format!(":{postfix}");
                self.job.covers_all = false;
            }
            return;
        }
        // Versions differ on the seeds of random offsets unless the job takes its own.
        if self.numbers.happens(75) {
            self.set("randrepeat", "0");
            self.add("randseed", &["137", "1", "42", "1099511627783", "4611686018427400249"]);
        } else {
            self.job.same_order = false;
        }
        if self.maybe(15, "norandommap", &["1"]) {
            self.job.covers_all = false;
        }
        self.maybe(25, "random_generator", &["tausworthe64", "tausworthe"]);
        if self.numbers.happens(6) {
            let postfix = self.numbers.of(&["2", "3", "8"]);
            self.job.options[0].1 += &format!(":{postfix}");
            self.job.covers_all = false;
        }
        if self.maybe(10, "percentage_random", &["30", "70", "0"]) {
            self.job.covers_all = false;
        }
        if self.numbers.happens(8) {
            self.add("random_distribution", &["zipf:1.2", "pareto:0.3", "normal:20", "zoned:60/10:40/90"]);
            (self.job.covers_all, self.job.same_order) = (false, false);
        }
    }

    fn amounts(&mut self) {
        if self.maybe(15, "loops", &["2", "3"]) {
            // The second pass of a mix writes other blocks than the first.
            self.job.covers_all &= !self.mixed;
        }
        match self.numbers.next() % 12 {
            0 => {
                self.add("io_size", &["16k", "32k"]);
                self.job.covers_all = false;
            }
            1 => {
                self.add("io_size", &["150k", "200k"]);
                // Versions differ on what comes after the end of the region.
                (self.job.covers_all, self.job.same_order) = (false, false);
            }
            2 => {
                self.add("number_ios", &["3", "10", "25"]);
                self.job.covers_all = false;
            }
            _ => {}
        }
        // The engine mmap writes back whole pages only, and refuses others.
        if self.job.get("ioengine") != Some("mmap") {
            let syncs = self.maybe(8, "fsync", &["4", "16"]);
            // A sync takes the turn of a file, and when it is due depends on what an asynchronous engine has in flight.
            self.job.same_order &= !syncs || self.job.get("nrfiles").is_none();
        }
        self.maybe(5, "end_fsync", &["1"]);
    }

    fn pace(&mut self) {
        match self.numbers.next() % 16 {
            // In a mix, the direction that is behind its rate comes next, which depends on the time.
            0 if !self.mixed => self.add("rate_iops", &["2000", "5000"]),
            1 if self.job.get("io_size").is_none() => {
                self.set("zonemode", "strided");
                self.add("zonesize", &["64k"]);
                self.add("zoneskip", &["0", "64k"]);
                (self.job.covers_all, self.job.same_order) = (false, false);
            }
            _ => {}
        }
    }

    fn check(&mut self) {
        let reader = if self.random { "randread" } else { "read" };
        let can_read = self.job.covers_all && self.one_size;
        // A later pass of a mix writes other blocks, which cut those of the first; a pattern then goes on in other places.
        if self.mixed && !self.one_size && self.job.get("loops").is_some() {
            return;
        }
        self.job.check = match self.numbers.next() % 2 {
            0 if can_read => Check::Read(if self.numbers.happens(70) { reader } else { "read" }),
            _ if self.job.same_order => Check::Only,
            _ if can_read => Check::Read(reader),
            _ => Check::None,
        };
    }
}
