//! A slow model of a job, which shares no code with the fast ways: files are flags that are looked at one after the other, the random
//! map is a set, numbers are drawn one at a time and scaled with floating-point arithmetic.
//!
//! It knows jobs that read blocks of one size from any number of files, in sequence or at random, with each `file_service_type`,
//! `openfiles` with and without shares of the files, `norandommap`, `time_based`, alignments and both generators.

use std::collections::HashSet;

use ferrio_job::{Direction, FileService, Generator, JobSpec};

use crate::random::{Tausworthe32, Tausworthe64};
use crate::seeds::{self, thread_seeds};
use crate::skewed::SkewedChoice;
use crate::{Io, Region, Step};

/// The job and its position.
pub(super) struct Reference {
    spec: JobSpec,
    files: Vec<RefFile>,
    /// `openfiles` limits how many files are open: opening and closing them are steps.
    on_demand: bool,
    /// A file is left after as many bytes as it has.
    shares: bool,
    file_draws: Draws,
    popular_files: Option<SkewedChoice>,
    offset_draws: Draws,
    /// The current file, and how many I/Os it is still kept for.
    current: Option<(usize, u32)>,
    /// The file whose turn was last.
    turn: usize,
}

/// A stream of random numbers.
enum Draws {
    Narrow(Tausworthe32),
    Wide(Tausworthe64),
}

/// One file.
struct RefFile {
    region: Region,
    open: bool,
    finished: bool,
    /// It has had its share in this round.
    rests: bool,
    /// Bytes read since its share began.
    bytes: u64,
    /// Blocks read in sequence since the file was opened.
    position: u64,
    /// Blocks that a random map has marked.
    used: HashSet<u64>,
}

impl Reference {
    /// Before the first pass. All directions have the block size of reads.
    pub(super) fn new(spec: &JobSpec, regions: &[Region]) -> Self {
        let seeds = thread_seeds(spec, [0; 24]);
        let on_demand = (spec.opening.openfiles as usize) < regions.len();
        let file = |&region: &Region| RefFile {
            region,
            open: !on_demand,
            finished: false,
            rests: false,
            bytes: 0,
            position: 0,
            used: HashSet::new(),
        };
        let popular_files = match &spec.file_service {
            FileService::Skewed(skew) => {
                Some(SkewedChoice::new(skew, regions.len() as u64 * 1024, seeds[seeds::FILE], false))
            }
            _ => None,
        };
        let stays = on_demand || spec.file_service == FileService::Sequential;
        let no_end = spec.limits.time_based || !spec.random_map || popular_files.is_some();
        let shares = spec.compat.shares_files && regions.len() > 1 && spec.rw.is_random() && stays && no_end;
        Reference {
            shares,
            files: regions.iter().map(file).collect(),
            on_demand,
            file_draws: Draws::new(spec.generator, seeds[seeds::FILE]),
            popular_files,
            offset_draws: Draws::new(spec.generator, seeds[seeds::OFFSET]),
            current: None,
            turn: regions.len() - 1,
            spec: spec.clone(),
        }
    }

    /// The next step of the first pass.
    pub(super) fn next(&mut self) -> Step {
        loop {
            let file = match self.current {
                Some((file, left)) if left > 0 => {
                    self.current = Some((file, left - 1));
                    file
                }
                _ => {
                    if self.files.iter().all(|file| file.finished) {
                        return Step::PassEnd;
                    }
                    let file = self.any_file();
                    let open = self.files.iter().filter(|file| file.open).count();
                    let chosen = &mut self.files[file];
                    if chosen.finished
                        || chosen.rests
                        || !chosen.open && open >= self.spec.opening.openfiles as usize
                    {
                        continue;
                    }
                    if !chosen.open {
                        chosen.open = true;
                        self.current = Some((file, self.kept_for()));
                        return Step::Open { file: file as u32 };
                    }
                    self.current = Some((file, self.kept_for() - 1));
                    file
                }
            };
            let size = self.files[file].region.size;
            let has_had_all = self.shares && self.files[file].bytes >= size;
            if !has_had_all && let Some(offset) = self.offset(file) {
                let len = self.spec.block[Direction::Read].min;
                self.files[file].bytes += len;
                return Step::Io(Io { direction: Direction::Read, file: file as u32, offset, len });
            }
            self.current = None;
            let done = &mut self.files[file];
            if self.shares && done.bytes > 0 && (self.spec.limits.time_based || has_had_all) {
                done.rests = self.popular_files.is_none();
            } else {
                done.finished = self.popular_files.is_none();
            }
            done.position = 0;
            done.bytes = 0;
            done.used.clear();
            done.open &= !self.on_demand;
            if self.files.iter().all(|file| file.finished || file.rests) {
                self.files.iter_mut().for_each(|file| file.rests = false);
            }
            if self.on_demand {
                return Step::Close { file: file as u32 };
            }
        }
    }

    /// The file that `file_service_type` names next, finished or not.
    fn any_file(&mut self) -> usize {
        let count = self.files.len();
        match (&self.spec.file_service, &mut self.popular_files) {
            (_, Some(popular)) => (popular.next() / 1024) as usize,
            (FileService::Random { .. }, _) => self.file_draws.below(count as u64) as usize,
            _ => {
                self.turn = (self.turn + 1) % count;
                self.turn
            }
        }
    }

    /// I/Os before another file is chosen.
    fn kept_for(&self) -> u32 {
        match self.spec.file_service {
            FileService::RoundRobin { ios } | FileService::Random { ios } => ios,
            FileService::Sequential => u32::MAX,
            FileService::Skewed(_) => 1,
        }
    }

    /// The next offset in a file, `None` when it has no more.
    fn offset(&mut self, file: usize) -> Option<u64> {
        let block = &self.spec.block[Direction::Read];
        let (min, align) = (block.min, block.align);
        let region = self.files[file].region;
        if !self.spec.rw.is_random() {
            let file = &mut self.files[file];
            let at = file.position * min;
            file.position += 1;
            return (at + min <= region.size).then_some(region.offset + at);
        }
        if region.size < min {
            return None;
        }
        let blocks = region.size / align - (min - align) / align;
        let mut chosen = self.offset_draws.below(blocks);
        if self.spec.random_map {
            if self.files[file].used.len() as u64 == blocks {
                if self.shares || !self.spec.limits.time_based && self.popular_files.is_none() {
                    return None;
                }
                self.files[file].used.clear();
                chosen = self.offset_draws.below(blocks);
            }
            while !self.files[file].used.insert(chosen) {
                chosen = (chosen + 1) % blocks;
            }
        }
        Some(region.offset + chosen * align)
    }
}

impl Draws {
    fn new(generator: Generator, seed: u64) -> Self {
        match generator {
            Generator::Tausworthe32 => Draws::Narrow(Tausworthe32::new(seed)),
            Generator::Tausworthe64 => Draws::Wide(Tausworthe64::new(seed)),
        }
    }

    fn below(&mut self, count: u64) -> u64 {
        let unit = match self {
            Draws::Narrow(draws) => f64::from(draws.draw()) / 2f64.powi(32),
            Draws::Wide(draws) => draws.draw() as f64 / 2f64.powi(64),
        };
        (count as f64 * unit).floor() as u64
    }
}
