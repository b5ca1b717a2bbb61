//! The general path: any mix of directions, files, lengths and syncs, in fio's order of decisions.
//!
//! For one step: file, due sync, direction, offset, length, range check, marking of the random map. When a choice fails the
//! file is finished and everything is decided anew, with fresh draws. Jobs simple enough take a shorter path elsewhere that
//! makes the same choices.

use ferrio_plan::{Direction, Generator, JobSpec, PerDirection, RwPostfix, Sequencer};

use crate::length::Lengths;
use crate::map::RandomMap;
use crate::mix::Mix;
use crate::random::{Scale, Stream};
use crate::seeds::{self, SEEDS};
use crate::sequential::{Sequential, Wraps};
use crate::step::{Io, Region, Step};
use crate::sync::{Dirty, Syncs};
use crate::zones::{Entry, ZoneWalk};

/// No I/O of this direction yet.
const NONE: u64 = u64::MAX;

/// All state of a job on the general path.
#[derive(Clone, Debug)]
pub(crate) struct General {
    directions: Directions,
    offsets: Offsets,
    sequential: Sequential,
    lengths: PerDirection<Lengths>,
    align: PerDirection<u64>,
    zones: Option<ZoneWalk>,
    syncs: Option<Syncs>,
    time_based: bool,
    files: Vec<File>,
    rotation: Rotation,
    issued: [u64; 3],
    after_write: bool,
    restart: Option<[u64; SEEDS]>,
    trims_pair: bool,
}

/// Who decides the direction.
#[derive(Clone, Debug)]
enum Directions {
    One(Direction),
    Mix(Mix),
    /// Trim, then write the same range; `true` when the write copies offset and length of the trim.
    TrimWrite {
        paired: bool,
    },
}

/// Who decides the offset.
#[derive(Clone, Debug)]
enum Offsets {
    Sequential,
    Uniform { stream: Stream, unit: u64, every: Every },
}

/// `rw=rand...:N`: a random offset every N I/Os.
#[derive(Clone, Copy, Debug)]
struct Every {
    period: u32,
    left: u32,
    sequencer: Sequencer,
}

impl Every {
    #[inline]
    fn fires(&mut self) -> bool {
        self.left -= 1;
        if self.left == 0 {
            self.left = self.period;
            return true;
        }
        false
    }
}

/// Position and map of one file.
#[derive(Clone, Debug)]
struct File {
    region: Region,
    last_start: [u64; 3],
    last_end: [u64; 3],
    last_len: u32,
    /// Candidate offsets of each direction, `None` when it has not even one.
    blocks: [Option<Scale>; 3],
    map: Option<RandomMap>,
    dirty: Dirty,
}

impl File {
    /// Moves to the zone that the next I/O, of direction `d`, belongs to.
    fn enter(&mut self, zone: Entry, d: usize) {
        self.region.offset = zone.start;
        if self.last_end[d] >= zone.end {
            self.last_end[d] = zone.start;
        }
        if zone.fresh {
            self.rewind();
        }
    }

    fn rewind(&mut self) {
        self.last_start = [NONE; 3];
        self.last_end = [self.region.offset; 3];
        if let Some(map) = &mut self.map {
            map.clear();
        }
    }
}

/// The files that are not finished, visited in turn.
#[derive(Clone, Debug)]
struct Rotation {
    live: Vec<u32>,
    /// Index in `live` of the file that is picked next.
    next: usize,
    /// File number picked last.
    last: u32,
}

impl Rotation {
    fn new(files: usize) -> Self {
        Rotation { live: (0..files as u32).collect(), next: 0, last: 0 }
    }

    /// All files are live again; the turn passes to the one after the last.
    fn refill(&mut self, files: usize) {
        if self.next > 0 || self.live.len() < files {
            self.next = self.last as usize + 1;
        }
        self.live.clear();
        self.live.extend(0..files as u32);
    }

    #[inline]
    fn pick(&mut self) -> Option<usize> {
        if self.next >= self.live.len() {
            self.next = 0;
        }
        let file = *self.live.get(self.next)?;
        self.next += 1;
        self.last = file;
        Some(file as usize)
    }

    /// The file picked last is finished.
    fn finish(&mut self) {
        self.next -= 1;
        self.live.remove(self.next);
    }
}

impl General {
    /// State of a job whose block sizes and regions were checked.
    pub(crate) fn new(spec: &JobSpec, regions: &[Region], seeds: [u64; SEEDS], wraps: Wraps) -> Self {
        let mut seeds = seeds;
        if spec.verify.is_some() {
            // A job that reads repeats the lengths of the job that wrote.
            seeds[seeds::LENGTH[1]] = seeds[seeds::LENGTH[0]];
        }
        if spec.rw.is_trimwrite() {
            seeds[seeds::LENGTH[2]] = seeds[seeds::LENGTH[1]];
        }
        let offsets = offset_stream(spec, regions, seeds[seeds::OFFSET]);
        let unit = map_unit(spec);
        let files = regions.iter().map(|&region| {
            let blocks = Direction::ALL.map(|d| {
                let n = candidates(spec, &region, d);
                (n > 0).then(|| offsets.scale(n))
            });
            let bits = room(spec, &region) / unit;
            let map = (has_map(spec) && bits > 0).then(|| RandomMap::new(bits));
            let last_end = [region.offset; 3];
            File {
                region,
                last_start: [NONE; 3],
                last_end,
                last_len: 0,
                blocks,
                map,
                dirty: Dirty::default(),
            }
        });
        let files: Vec<File> = files.collect();
        let rotation = Rotation::new(files.len());
        let (hole, period) = match spec.rw_postfix {
            RwPostfix::None => (0, 1),
            RwPostfix::Hole(bytes) => (bytes, 1),
            RwPostfix::Every(n) => (0, n.max(1)),
        };
        let every = Every { period, left: 1, sequencer: spec.sequencer };
        let length = |d: Direction| {
            let seed = seeds[seeds::LENGTH[d as usize]];
            Lengths::new(&spec.block[d], &spec.split[d], spec.bs_unaligned, Stream::new(spec.generator, seed))
        };
        General {
            directions: Directions::new(spec, seeds[seeds::MIX]),
            offsets: if spec.rw.is_random() {
                Offsets::Uniform { stream: offsets, unit, every }
            } else {
                Offsets::Sequential
            },
            sequential: Sequential { hole: if spec.rw.is_random() { 0 } else { hole }, wraps },
            lengths: PerDirection(Direction::ALL.map(length)),
            align: PerDirection(Direction::ALL.map(|d| spec.block[d].align)),
            zones: spec.zones.map(|zones| ZoneWalk::new(zones, regions)),
            syncs: Syncs::new(&spec.durability).filter(|_| spec.rw.does(Direction::Write)),
            time_based: spec.limits.time_based,
            files,
            rotation,
            issued: [0; 3],
            after_write: false,
            restart: seeds::restarts_each_pass(spec).then_some(seeds),
            trims_pair: spec.rw.is_trimwrite(),
        }
    }

    /// The next step. Not inlined, so that a caller on a short path does not pay for its registers.
    #[inline(never)]
    pub(crate) fn next(&mut self, mut pace: impl FnMut(Direction) -> Direction) -> Step {
        loop {
            let Some(index) = self.rotation.pick() else {
                return Step::PassEnd;
            };
            if self.after_write
                && let Some(syncs) = &self.syncs
                && let Some(kind) = syncs.due(&self.files[index].dirty)
            {
                self.after_write = false;
                self.files[index].dirty = Dirty::default();
                return Step::Sync { file: index as u32, kind };
            }
            let direction = match &mut self.directions {
                Directions::One(direction) => {
                    pace(*direction);
                    *direction
                }
                Directions::Mix(mix) => mix.next(&self.issued, &mut pace),
                Directions::TrimWrite { .. } => {
                    let [_, write, trim] = self.files[index].last_start;
                    let direction = if write == trim { Direction::Trim } else { Direction::Write };
                    pace(direction);
                    direction
                }
            };
            if let Some((offset, len)) = self.place(index, direction) {
                self.record(index, direction, offset, len);
                return Step::Io(Io { direction, file: index as u32, offset, len });
            }
            self.rotation.finish();
        }
    }

    /// A pass begins: positions and maps are new, streams as well where the job repeats; counts run on.
    pub(crate) fn begin_pass(&mut self) {
        for (index, file) in self.files.iter_mut().enumerate() {
            if let Some(zones) = &mut self.zones {
                file.region.offset = zones.rewind(index);
            }
            file.rewind();
        }
        self.rotation.refill(self.files.len());
        if let Directions::Mix(mix) = &mut self.directions {
            mix.restart();
        }
        let Some(seeds) = &self.restart else {
            return;
        };
        if let Directions::Mix(mix) = &mut self.directions {
            mix.reseed(seeds[seeds::MIX]);
        }
        if let Offsets::Uniform { stream, .. } = &mut self.offsets {
            stream.reseed(seeds[seeds::OFFSET]);
        }
        for (lengths, purpose) in self.lengths.0.iter_mut().zip(seeds::LENGTH) {
            lengths.reseed(seeds[purpose]);
        }
    }

    /// The ramp is over: the counts of issued I/Os start again.
    pub(crate) fn end_ramp(&mut self) {
        self.issued = [0; 3];
        if let Some(syncs) = &mut self.syncs {
            syncs.restart();
            self.after_write = false;
        }
        if let Directions::Mix(mix) = &mut self.directions {
            mix.restart();
        }
    }

    /// Offset and length of the next I/O in this direction, `None` when the file is finished.
    #[inline]
    fn place(&mut self, index: usize, direction: Direction) -> Option<(u64, u32)> {
        let d = direction as usize;
        if matches!(self.directions, Directions::TrimWrite { paired: true }) && direction == Direction::Write
        {
            let file = &self.files[index];
            return Some((file.last_start[Direction::Trim as usize], file.last_len));
        }
        let file = &mut self.files[index];
        if let Some(zones) = &mut self.zones {
            file.enter(zones.enter(index, &file.region), d);
        }
        let region = file.region;
        let (relative, mapped) = match &mut self.offsets {
            Offsets::Sequential => (self.sequential.next(&region, file.last_end[d])?, None),
            Offsets::Uniform { stream, unit, every } => {
                let fires = every.fires();
                let follows = if fires {
                    None
                } else if every.sequencer == Sequencer::Identical {
                    Some(file.last_start[d]).map(|s| if s == NONE { 0 } else { s - region.offset })
                } else {
                    self.sequential.next(&region, file.last_end[d])
                };
                match follows {
                    Some(relative) => (relative, None),
                    None => {
                        let sizes = Sizes {
                            min: self.lengths[direction].min,
                            align: self.align[direction],
                            unit: *unit,
                        };
                        let (relative, first) = file.random(stream, d, sizes, self.time_based)?;
                        // A walk that jumps at the end of the file looks at the map but leaves no mark.
                        (relative, fires.then_some((first, sizes)))
                    }
                }
            }
        };
        if relative >= region.size {
            return None;
        }
        let offset = region.offset + relative;
        // A zone may end beyond its file.
        let room = (region.size - relative).min(region.real_size.saturating_sub(offset));
        let len = self.lengths[direction].next(room)?;
        if offset + u64::from(len) > region.real_size {
            return None;
        }
        let len = match (mapped, &mut file.map) {
            (Some((first, sizes)), Some(map)) => mark(map, first, relative, len, sizes),
            _ => len,
        };
        Some((offset, len))
    }

    #[inline]
    fn record(&mut self, index: usize, direction: Direction, offset: u64, len: u32) {
        let file = &mut self.files[index];
        let d = direction as usize;
        let trim = Direction::Trim as usize;
        if self.trims_pair && direction == Direction::Trim && file.last_start[trim] == offset {
            // The same block again: a write must follow although the last one was here, too.
            file.last_start[Direction::Write as usize] =
                file.last_start[Direction::Write as usize].wrapping_sub(1);
        }
        file.last_start[d] = offset;
        file.last_end[d] = offset + u64::from(len);
        file.last_len = len;
        self.issued[d] += 1;
        if let Some(zones) = &mut self.zones {
            zones.issued(len);
        }
        self.after_write = direction == Direction::Write;
        if self.after_write {
            file.dirty.wrote(offset, len);
            if let Some(syncs) = &mut self.syncs {
                syncs.wrote();
            }
        }
    }
}

impl Directions {
    fn new(spec: &JobSpec, mix_seed: u64) -> Self {
        let rw = spec.rw;
        if rw.is_mixed() {
            let stream = Stream::new(Generator::Tausworthe32, mix_seed);
            Directions::Mix(Mix::new(spec.rwmixread, stream))
        } else if rw.is_trimwrite() {
            Directions::TrimWrite { paired: rw.is_random() }
        } else {
            Directions::One(only_direction(spec))
        }
    }
}

/// Sizes that bound a random choice, in bytes.
#[derive(Clone, Copy)]
struct Sizes {
    min: u32,
    align: u64,
    /// Bytes that one bit of the map stands for.
    unit: u64,
}

impl File {
    /// A uniformly random position relative to the region, and its bit in the map. With a map it is free for at least the
    /// smallest length.
    #[inline]
    fn random(&mut self, stream: &mut Stream, d: usize, sizes: Sizes, recycle: bool) -> Option<(u64, u64)> {
        let blocks = self.blocks[d]?;
        let block = stream.below(blocks);
        let Some(map) = &self.map else {
            return Some((block * sizes.align, 0));
        };
        if let Some(free) = free_block(map, block, sizes) {
            return Some(free);
        }
        if !recycle {
            return None;
        }
        self.rewind();
        let block = stream.below(blocks);
        free_block(self.map.as_ref()?, block, sizes)
    }
}

/// Relative offset and bit of the first block from `block` on, wrapping once, that is free for a smallest I/O.
#[inline]
fn free_block(map: &RandomMap, block: u64, sizes: Sizes) -> Option<(u64, u64)> {
    let min = u64::from(sizes.min);
    if min == sizes.unit {
        return map.next_clear(block).map(|free| (free * min, free));
    }
    let above = free_above(map, block * min, sizes, map.bits() * sizes.unit);
    let free = above.or_else(|| free_above(map, 0, sizes, block * min))?;
    Some((free, free / sizes.unit))
}

/// For blocks larger than the unit of the map: the first multiple of the smallest length in `from..until` whose bytes are all
/// free.
fn free_above(map: &RandomMap, mut from: u64, sizes: Sizes, until: u64) -> Option<u64> {
    let min = u64::from(sizes.min);
    while from < until && from + min <= map.bits() * sizes.unit {
        let first = from / sizes.unit;
        let count = (from + min).div_ceil(sizes.unit) - first;
        let run = map.free_run(first, count);
        if run == count {
            return Some(from);
        }
        // Skip everything taken; a clear bit found by wrapping lies below and ends the search.
        let clear = map.next_clear(first + run)?;
        if clear < first {
            return None;
        }
        from = (clear * sizes.unit).next_multiple_of(min).max(from + min);
    }
    None
}

/// Marks the blocks of an I/O, from bit `first` on, and shortens it before the first that was taken already.
#[inline]
fn mark(map: &mut RandomMap, first: u64, relative: u64, len: u32, sizes: Sizes) -> u32 {
    let Sizes { min, unit, .. } = sizes;
    if u64::from(min) == unit {
        if len == min {
            map.set(first);
            return len;
        }
        let wanted = len.div_ceil(min);
        let got = map.claim(first, u64::from(wanted)) as u32;
        return if got < wanted { got * min } else { len };
    }
    let end = relative + u64::from(len);
    let wanted = end.div_ceil(unit) - first;
    let free = map.free_run(first, wanted);
    let len = if free < wanted {
        let room = (first + free) * unit - relative;
        (room - room % u64::from(min)) as u32
    } else {
        len
    };
    map.claim(first, (relative + u64::from(len)).div_ceil(unit) - first);
    len
}

/// The direction of a job that has one.
pub(crate) fn only_direction(spec: &JobSpec) -> Direction {
    Direction::ALL.into_iter().find(|&d| spec.rw.does(d)).unwrap_or(Direction::Read)
}

/// Number of offsets a random choice of this direction has in a region.
pub(crate) fn candidates(spec: &JobSpec, region: &Region, direction: Direction) -> u64 {
    let block = &spec.block[direction];
    if !spec.rw.does(direction) {
        return 0;
    }
    room(spec, region).saturating_sub(block.min.saturating_sub(block.align)) / block.align
}

/// Bytes among which a random choice is made: the region as far as the file goes, or one zone.
pub(crate) fn room(spec: &JobSpec, region: &Region) -> u64 {
    spec.zones.map_or(region.size, |zones| zones.range).min(region.real_size)
}

/// Bytes that one bit of the random map stands for: the smallest I/O of the directions the job issues, so that blocks of
/// different sizes never share a meaning.
pub(crate) fn map_unit(spec: &JobSpec) -> u64 {
    let sizes = Direction::ALL.into_iter().filter(|&d| spec.rw.does(d)).map(|d| spec.block[d].min);
    sizes.min().unwrap_or(1)
}

/// True when each block is issued once: a random kind with a map. An alignment of its own makes blocks overlap, so it rules a
/// map out.
pub(crate) fn has_map(spec: &JobSpec) -> bool {
    let aligned = |d: Direction| !spec.rw.does(d) || spec.block[d].align == spec.block[d].min;
    spec.rw.is_random() && spec.random_map && Direction::ALL.into_iter().all(aligned)
}

/// The stream of random offsets: 64 bits wide when some file has more blocks than 32 bits can name.
pub(crate) fn offset_stream(spec: &JobSpec, regions: &[Region], seed: u64) -> Stream {
    let unit = map_unit(spec);
    let wide = regions.iter().any(|r| r.size.min(r.real_size) / unit > u64::from(u32::MAX));
    Stream::new(if wide { Generator::Tausworthe64 } else { spec.generator }, seed)
}
