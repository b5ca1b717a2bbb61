//! Generated jobs: all kinds of I/O, and with each of them a choice of the options that decide what is done where. The same on every run.

use super::options::JobOptions;
use crate::random_numbers::RandomNumbers;

const KINDS: [&str; 10] = [
    "read",
    "write",
    "trim",
    "randread",
    "randwrite",
    "randtrim",
    "rw",
    "randrw",
    "trimwrite",
    "randtrimwrite",
];

/// A job under construction.
struct Draft {
    numbers: RandomNumbers,
    words: Vec<String>,
    random: bool,
    trimwrite: bool,
    mixed: bool,
    writes: bool,
}

impl Draft {
    /// The `number`-th job of a list.
    fn new(list: u64, number: usize) -> Self {
        let kind = KINDS[number % KINDS.len()];
        let words = vec![format!("rw={kind}")];
        Draft {
            numbers: RandomNumbers(list << 32 | number as u64),
            words,
            random: kind.starts_with("rand"),
            trimwrite: kind.ends_with("trimwrite"),
            mixed: kind.ends_with("rw"),
            writes: kind.ends_with("write") || kind.ends_with("rw"),
        }
    }

    fn add(&mut self, name: &str, choices: &[&str]) {
        let value = self.numbers.of(choices);
        self.words.push(format!("{name}={value}"));
    }

    fn maybe(&mut self, percent: u64, name: &str, choices: &[&str]) -> bool {
        let happens = self.numbers.happens(percent);
        if happens {
            self.add(name, choices);
        }
        happens
    }

    /// `rw=kind:N`
    fn postfix(&mut self, percent: u64) {
        if self.trimwrite || !self.numbers.happens(percent) {
            return;
        }
        let choices: &[&str] = if self.random { &["2", "3", "5"] } else { &["4k", "8k", "12k", "3k", "-8k"] };
        let postfix = self.numbers.of(choices);
        self.words[0] = format!("{}:{postfix}", self.words[0]);
        if self.random {
            self.maybe(50, "rw_sequencer", &["identical", "sequential"]);
        }
    }

    fn lengths(&mut self) {
        match self.numbers.next() % 4 {
            0 | 1 => self.add("bs", &["4k", "3k", "8k", "512"]),
            2 => self.add("bsrange", &["4k-16k", "2k-7k", "4k-64k", "1k-8k"]),
            _ => self.add(
                "bssplit",
                &[
                    "4k/50:8k/50",
                    "4k/10:8k/20:64k",
                    "4k:8k:12k",
                    "2k/33:4k/33:6k",
                    "4k/20:8k/20",
                    "512/5:4k/95",
                ],
            ),
        }
        let variable = !self.words.iter().any(|word| word.starts_with("bs="));
        if variable {
            self.maybe(30, "bs_unaligned", &["1"]);
        }
    }

    fn places(&mut self) {
        self.add("size", &["64k", "128k", "200k", "500k", "63k", "101k"]);
        // Version 3.33 adds the offset twice to the writes of randtrimwrite.
        if !(self.random && self.trimwrite) {
            self.maybe(30, "offset", &["64k", "4k", "100k"]);
        }
        if self.random && !self.maybe(35, "norandommap", &["1"]) {
            self.maybe(20, "ba", &["512", "1k", "8k"]);
        }
    }

    fn amounts(&mut self) {
        if !self.trimwrite {
            // More than `size` is written in another order since 3.42.
            let choices: &[&str] =
                if self.writes { &["16k", "33k"] } else { &["16k", "48k", "300k", "1000k"] };
            self.maybe(25, "io_size", choices);
            self.maybe(20, "number_ios", &["3", "10", "50"]);
        }
        self.maybe(30, "loops", &["2", "3"]);
    }

    fn mix(&mut self) {
        if self.mixed {
            let option = self.numbers.of(&["rwmixread", "rwmixwrite"]).to_owned();
            self.maybe(70, &option, &["0", "10", "25", "70", "99", "100"]);
        }
    }

    fn syncs(&mut self, percent: u64) {
        if self.writes && !self.trimwrite && self.numbers.happens(percent) {
            self.add("fsync", &["1", "2", "4"]);
            self.maybe(50, "fdatasync", &["2", "3"]);
            self.maybe(30, "end_fsync", &["1"]);
        }
    }

    /// Seeds under which all versions of fio choose alike.
    fn same_seeds(&mut self) {
        self.words.push("randrepeat=0".to_owned());
        self.add("randseed", &["137", "0", "1", "42", "1099511627783", "4611686018427400249"]);
    }

    fn job(self, number: usize) -> JobOptions {
        JobOptions::new(&format!("j{number}"), &self.words.join(" "))
    }
}

/// Jobs that choose by nothing but the uniform distribution and the turn of files.
pub fn plain(count: usize) -> Vec<JobOptions> {
    let job = |number: usize| {
        let mut draft = Draft::new(1, number);
        draft.postfix(20);
        draft.lengths();
        draft.places();
        if draft.random {
            draft.maybe(25, "random_generator", &["tausworthe64", "tausworthe"]);
        }
        draft.mix();
        draft.amounts();
        draft.maybe(25, "nrfiles", &["2", "3", "5"]);
        draft.syncs(50);
        // The streams of sequential jobs have had the same seeds in all versions.
        if draft.random || draft.numbers.happens(50) {
            draft.same_seeds();
        }
        draft.job(number)
    };
    (0..count).map(job).collect()
}

/// Jobs that walk through zones, have sizes of their own for directions, or files of different sizes.
pub fn strange(count: usize) -> Vec<JobOptions> {
    let job = |number: usize| {
        let mut draft = Draft::new(2, number);
        match draft.numbers.next() % 3 {
            0 if !draft.trimwrite => {
                draft.add("size", &["64k", "128k", "200k"]);
                draft.words.push("zonemode=strided".to_owned());
                draft.add("zonesize", &["8k", "16k", "32k", "4k"]);
                draft.maybe(80, "zonerange", &["8k", "16k", "32k"]);
                draft.maybe(50, "zoneskip", &["8k", "16k", "40k"]);
                if !draft.maybe(50, "bs", &["4k", "2k"]) {
                    draft.add("bsrange", &["1k-4k", "2k-8k"]);
                }
                draft.maybe(30, "offset", &["16k"]);
                draft.maybe(30, "loops", &["2"]);
                draft.maybe(30, "io_size", &["40k", "300k"]);
                draft.maybe(20, "nrfiles", &["3"]);
                if draft.random {
                    draft.maybe(40, "norandommap", &["1"]);
                }
            }
            1 => {
                draft.add("size", &["64k", "200k"]);
                match draft.numbers.next() % 3 {
                    0 => draft.add("bs", &["4k,8k", "8k,4k", "4k,16k,8k", ",8k"]),
                    1 => draft.add("bsrange", &["4k-8k,2k-16k"]),
                    _ => draft.add("bssplit", &["4k/50:8k,8k:16k", "4k/50:8k,8k:16k,4k"]),
                }
                draft.words.push("norandommap=1".to_owned());
                draft.maybe(30, "loops", &["2"]);
            }
            _ => {
                draft.add("nrfiles", &["2", "3", "5"]);
                draft.add("filesize", &["16k-64k", "8k-200k"]);
                draft.lengths();
                draft.mix();
            }
        }
        draft.syncs(30);
        draft.same_seeds();
        draft.job(number)
    };
    (0..count).map(job).collect()
}

/// Jobs that choose blocks by zones or the shift register, and walk for a share of their I/Os.
pub fn choosing(count: usize) -> Vec<JobOptions> {
    let job = |number: usize| {
        let mut draft = Draft::new(3, number);
        draft.postfix(10);
        let by_choice = !draft.trimwrite && draft.numbers.happens(20);
        if by_choice {
            draft.add("bs", &["4k,8k", "8k,4k", "4k,16k,8k"]);
            draft.add("size", &["64k", "200k"]);
            draft.words.extend(["bs_is_seq_rand=1".to_owned(), "norandommap=1".to_owned()]);
        } else {
            draft.lengths();
            draft.places();
        }
        draft.mix();
        if draft.random {
            let own_unit = draft.words.iter().any(|word| word.starts_with("ba="));
            match draft.numbers.next() % 4 {
                0 if !own_unit && !draft.trimwrite && !by_choice => {
                    draft.words.push("random_generator=lfsr".to_owned());
                }
                1 => draft.add("random_distribution", ZONED),
                2 => draft.add("random_distribution", &["zoned_abs:50/16k:50/32k", "zoned_abs:90/8k:10/40k"]),
                _ => {}
            }
            if !draft.trimwrite {
                draft.maybe(50, "percentage_random", &["30", "70", "50,20", "0", "10,90"]);
            }
        }
        draft.maybe(20, "nrfiles", &["2", "3"]);
        draft.syncs(30);
        draft.same_seeds();
        draft.job(number)
    };
    (0..count).map(job).collect()
}

const ZONED: &[&str] = &["zoned:50/5:30/15:20/80", "zoned:60/10:40/90", "zoned:70/:20/:10/"];

/// Jobs that fio 3.33 refuses or never ends.
pub fn newer(count: usize) -> Vec<JobOptions> {
    let job = |number: usize| {
        let mut draft = Draft::new(7, [3, 4, 5, 7][number % 4]);
        draft.numbers = RandomNumbers(7 << 32 | number as u64);
        draft.add("size", &["200k", "400k"]);
        draft.maybe(30, "offset", &["16k"]);
        draft.maybe(40, "bssplit", &["4k/0:8k/60", "4k/100:8k/0", "4k/0:8k"]);
        draft.add("random_distribution", LISTS);
        draft.mix();
        draft.same_seeds();
        draft.job(number)
    };
    (0..count).map(job).collect()
}

const LISTS: &[&str] =
    &["zoned:50/5:30/15:20/80,50/50:50/50", "zoned_abs:50/8k:50/8k,20/40k:80/100k", "zoned:10/90:90/10"];

/// Jobs with many files, picked in all ways.
pub fn serving(count: usize) -> Vec<JobOptions> {
    let job = |number: usize| {
        let mut draft = Draft::new(6, number);
        draft.lengths();
        draft.places();
        draft.mix();
        draft.add("nrfiles", &["2", "3", "5"]);
        draft.maybe(90, "file_service_type", SERVICES);
        draft.maybe(30, "openfiles", &["1", "2"]);
        draft.maybe(30, "loops", &["2"]);
        draft.syncs(30);
        draft.same_seeds();
        draft.job(number)
    };
    (0..count).map(job).collect()
}

const SERVICES: &[&str] =
    &["random", "random:3", "roundrobin:2", "sequential", "zipf:1.2", "pareto:0.4", "normal:20"];

/// Random jobs that repeat each pass, and jobs that write more than their size: versions differ on their order.
pub fn repeating(count: usize) -> Vec<JobOptions> {
    let job = |number: usize| {
        let mut draft = Draft::new(4, number);
        draft.postfix(20);
        draft.lengths();
        draft.places();
        draft.mix();
        if !draft.trimwrite {
            draft.maybe(40, "io_size", &["48k", "300k", "600k"]);
        }
        draft.maybe(60, "loops", &["2", "3"]);
        draft.maybe(25, "nrfiles", &["2", "3"]);
        draft.syncs(30);
        draft.job(number)
    };
    (0..count).map(job).collect()
}

/// Jobs with skewed choices of blocks: versions differ on their seeds.
pub fn skewed(count: usize) -> Vec<JobOptions> {
    let job = |number: usize| {
        // The random kinds only.
        let mut draft = Draft::new(5, [3, 4, 5, 7, 9][number % 5]);
        draft.numbers = RandomNumbers(5 << 32 | number as u64);
        draft.lengths();
        draft.places();
        draft.mix();
        draft.add("random_distribution", LAWS);
        draft.maybe(30, "nrfiles", &["2", "3", "5"]);
        draft.maybe(30, "loops", &["2"]);
        draft.maybe(30, "randseed", &["0", "1", "42"]);
        draft.job(number)
    };
    (0..count).map(job).collect()
}

const LAWS: &[&str] = &[
    "zipf:1.2",
    "zipf:0.8",
    "zipf",
    "zipf:1.3:0.25",
    "pareto:0.2",
    "pareto:0.5",
    "pareto",
    "pareto:0.3:0.7",
    "normal:10",
    "normal:50",
    "normal",
    "normal:15:0.75",
];
