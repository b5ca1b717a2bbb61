//! The general path: any mix of directions, files, lengths and syncs, in fio's order of decisions.
//!
//! The order for one step: file, due sync, direction, offset, length, range check, marking of the random map. When a choice fails, the file
//! is finished and everything is decided again with fresh draws. Simple jobs take a path of `fast_paths`, which makes the same choices.

mod file_numbers;
mod file_service;
mod file_shares;
mod file_state;
mod random_choice;
mod zoned_io;

use std::collections::HashMap;
use std::sync::Arc;

use ferrio_job::{Direction, JobSpec, PerDirection, Sequencer};

use file_service::{FileRotation, Pick};
use file_state::{ChoiceSizes, FileState, NONE, ZoneWalk, mark};
use random_choice::RandomChoice;

use crate::direction_and_length::DirectionAndLength;
use crate::offset_space::{has_map, map_unit, offset_count, offset_stream, room};
use crate::random_map::RandomMap;
use crate::seeds::{self, SEEDS};
use crate::sequential::Sequential;
use crate::step::{Io, Region, Step, WorkloadError};
use crate::sync::{DirtyRange, Syncs};
use crate::visit_order::walk;

/// All state of a job on the general path.
#[derive(Clone, Debug)]
pub(crate) struct GeneralChoices {
    choice: DirectionAndLength,
    /// `None` for a sequential job.
    random: Option<Box<RandomChoice>>,
    sequential: Sequential,
    /// Whether lengths depend on whether an offset is random, instead of on the direction.
    lengths_by_kind: bool,
    align: PerDirection<u64>,
    zones: Option<ZoneWalk>,
    syncs: Option<Syncs>,
    /// The written range of each file since its last sync; empty if no sync takes a range.
    dirty: Vec<DirtyRange>,
    /// Whether a file that has no more blocks starts over at once.
    recycles: bool,
    files: Vec<FileState>,
    rotation: FileRotation,
    after_write: bool,
    /// Whether each block is trimmed and then written (`trimwrite`).
    trims_pair: bool,
    /// Whether the write copies offset and length of the trim.
    writes_copy: bool,
    /// Whether the next random I/O leaves no mark in the map, as in fio after a sequential one that found no place.
    unmarked: bool,
}

impl GeneralChoices {
    /// The state of a job whose block sizes and regions were checked.
    ///
    /// # Errors
    /// There is no memory for the blocks that `sprandom` writes again.
    pub(crate) fn new(
        spec: &JobSpec,
        regions: &[Region],
        seeds: [u64; SEEDS],
    ) -> Result<Self, WorkloadError> {
        let seeds = seeds::shared(spec, seeds);
        let offsets = offset_stream(spec, seeds[seeds::OFFSET]);
        let unit = map_unit(spec);
        let mut shared = HashMap::new();
        let files = regions.iter().enumerate().map(|(index, &region)| {
            let counts = Direction::ALL.map(|d| offset_count(spec, &region, d));
            let blocks = shared
                .entry(counts)
                .or_insert_with(|| Arc::new(counts.map(|n| (n > 0).then(|| offsets.scale(n)))));
            let blocks = Arc::clone(blocks);
            let bits = room(spec, &region) / unit;
            let map = (has_map(spec) && bits > 0).then(|| Box::new(RandomMap::new(bits)));
            let last_end = [region.offset; 3];
            let visit_order = walk(spec, index, &region, &seeds)?.map(Box::new);
            Ok(FileState { region, last_start: [NONE; 3], last_end, last_len: 0, blocks, map, visit_order })
        });
        let files: Vec<FileState> = files.collect::<Result<_, _>>()?;
        let takes_ranges = spec.durability.sync_file_range.every > 0;
        let dirty = vec![DirtyRange::default(); if takes_ranges { files.len() } else { 0 }];
        let rotation = FileRotation::new(spec, regions, seeds[seeds::FILE]);
        Ok(GeneralChoices {
            choice: DirectionAndLength::new(spec, &seeds),
            random: spec.rw.is_random().then(|| Box::new(RandomChoice::new(spec, regions, &seeds, offsets))),
            sequential: Sequential::new(spec, regions),
            lengths_by_kind: spec.bs_is_seq_rand,
            align: PerDirection(Direction::ALL.map(|d| spec.block[d].align)),
            zones: spec.zones.map(|zones| ZoneWalk::new(zones, regions)),
            dirty,
            syncs: Syncs::new(&spec.durability).filter(|_| spec.rw.does(Direction::Write)),
            recycles: (spec.limits.time_based || spec.file_service.never_finishes()) && !rotation.shares(),
            files,
            rotation,
            after_write: false,
            trims_pair: spec.rw.is_trimwrite(),
            writes_copy: spec.rw.is_trimwrite() && spec.rw.is_random(),
            unmarked: false,
        })
    }

    #[inline]
    pub(crate) fn next(&mut self, mut pace: impl FnMut(Direction) -> Direction) -> Step {
        loop {
            let Some(Pick { file: index, opens }) = self.rotation.pick() else {
                return Step::PassEnd;
            };
            if opens {
                return Step::Open { file: index as u32 };
            }
            if self.after_write
                && let Some(syncs) = &self.syncs
                && let Some(kind) = syncs.due(&self.dirty.get(index).copied().unwrap_or_default())
            {
                self.after_write = false;
                if let Some(dirty) = self.dirty.get_mut(index) {
                    *dirty = DirtyRange::default();
                }
                return Step::Sync { file: index as u32, kind };
            }
            let direction = if self.trims_pair {
                let [_, write, trim] = self.files[index].last_start;
                let direction = if write == trim { Direction::Trim } else { Direction::Write };
                pace(direction);
                direction
            } else {
                self.choice.direction(&mut pace)
            };
            let placed =
                if self.rotation.has_had_its_share(index) { None } else { self.place(index, direction) };
            if let Some((offset, len)) = placed {
                self.record(index, direction, offset, len);
                return Step::Io(Io { direction, file: index as u32, offset, len });
            }
            if self.leave_file(index) {
                return Step::Close { file: index as u32 };
            }
        }
    }

    /// Ends the I/O in a file for now. Returns whether it is to be closed.
    fn leave_file(&mut self, index: usize) -> bool {
        let comes_again = self.rotation.comes_again(index);
        if comes_again || !self.rotation.finishes() {
            self.files[index].rewind();
        }
        if comes_again { self.rotation.rest() } else { self.rotation.finish(self.choice.issued.iter().sum()) }
    }

    /// Begins a pass: positions and maps are reset, streams too where the job repeats; counts continue.
    pub(crate) fn begin_pass(&mut self) {
        for (index, file) in self.files.iter_mut().enumerate() {
            if let Some(zones) = &mut self.zones {
                file.region.offset = zones.rewind(index);
            }
            file.rewind();
            if let (Some(walk), Some(_)) = (&mut file.visit_order, &self.choice.restart) {
                walk.restart();
            }
        }
        self.rotation.begin_pass();
        self.choice.begin_pass();
        if let Some(seeds) = &self.choice.restart {
            self.rotation.reseed(seeds[seeds::FILE]);
            if let Some(random) = &mut self.random {
                random.reseed(seeds);
            }
        }
    }

    /// Notes that everything written so far was synced: a periodic sync is no longer due.
    pub(crate) fn synced(&mut self) {
        self.after_write = false;
        self.dirty.fill(DirtyRange::default());
    }

    /// Ends the ramp: the counts of issued I/Os restart.
    pub(crate) fn end_ramp(&mut self) {
        self.choice.end_ramp();
        if let Some(syncs) = &mut self.syncs {
            syncs.restart();
            self.after_write = false;
        }
    }

    /// Offset and length of the next I/O in this direction; `None` when the file is finished.
    #[inline]
    fn place(&mut self, index: usize, direction: Direction) -> Option<(u64, u64)> {
        let d = direction as usize;
        if self.writes_copy && direction == Direction::Write {
            let file = &self.files[index];
            return Some((file.last_start[Direction::Trim as usize], file.last_len));
        }
        let file = &mut self.files[index];
        if let Some(zones) = &mut self.zones {
            file.enter(zones.enter(index, &file.region), d);
        }
        let region = file.region;
        let end = self.zones.as_ref().map_or(region.offset, |zones| zones.first(index)) + region.size;
        // Whether the offset was meant to be random, and its place in the map if it is to be marked there.
        let mut random = false;
        let mut marked = None;
        let relative = match &mut self.random {
            None => self.sequential.next(&region, file.last_end[d], end)?,
            Some(choices) => {
                let unmarked = std::mem::take(&mut self.unmarked);
                let fires = choices.every.fires();
                random = fires && choices.share.as_mut().is_none_or(|share| share.fires(direction));
                // Until an I/O is found.
                self.unmarked = !random || unmarked;
                let follows = if random {
                    None
                } else if !fires && choices.every.sequencer == Sequencer::Identical {
                    Some(file.last_start[d]).map(|s| if s == NONE { 0 } else { s - region.offset })
                } else {
                    self.sequential.next(&region, file.last_end[d], end)
                };
                match (follows, &mut choices.distribution) {
                    (Some(relative), _) => relative,
                    (None, Some(distribution)) => {
                        let issued = self.choice.issued[d];
                        let block = distribution.next(index, direction, issued, &mut choices.stream)?;
                        block.checked_mul(self.align[direction])?
                    }
                    (None, None) => {
                        let sizes = ChoiceSizes {
                            min: self.choice.lengths[direction].min,
                            align: self.align[direction],
                            unit: choices.unit,
                        };
                        let (relative, first) = file.random(&mut choices.stream, d, sizes, self.recycles)?;
                        // A walk that jumps at the end of the file reads the map but leaves no mark.
                        marked = (random && !unmarked).then_some((first, sizes));
                        relative
                    }
                }
            }
        };
        if relative >= region.size {
            return None;
        }
        let offset = region.offset + relative;
        // A zone may end after its file.
        let room = (region.size - relative).min(region.real_size.saturating_sub(offset));
        let lengths = match (self.lengths_by_kind, random) {
            (false, _) => direction,
            (true, false) => Direction::Read,
            (true, true) => Direction::Write,
        };
        let len = self.choice.lengths[lengths].next(room)?;
        if offset + len > region.real_size {
            return None;
        }
        self.unmarked = false;
        let len = match (marked, &mut file.map) {
            (Some((first, sizes)), Some(map)) => mark(map, first, relative, len, sizes),
            _ => len,
        };
        Some((offset, len))
    }

    #[inline]
    fn record(&mut self, index: usize, direction: Direction, offset: u64, len: u64) {
        let file = &mut self.files[index];
        let d = direction as usize;
        let trim = Direction::Trim as usize;
        if self.trims_pair && direction == Direction::Trim && file.last_start[trim] == offset {
            // The same block again: a write must follow although the last one was here, too.
            file.last_start[Direction::Write as usize] =
                file.last_start[Direction::Write as usize].wrapping_sub(1);
        }
        file.last_start[d] = offset;
        file.last_end[d] = offset + len;
        file.last_len = len;
        self.choice.issued(direction);
        if let Some(zones) = &mut self.zones {
            zones.issued(len);
        }
        self.after_write = direction == Direction::Write;
        // Of a pair of a trim and a write, the write counts.
        if self.after_write || !self.trims_pair {
            self.rotation.issued(index, len);
        }
        if self.after_write {
            if let Some(dirty) = self.dirty.get_mut(index) {
                dirty.wrote(offset, len);
            }
            if let Some(syncs) = &mut self.syncs {
                syncs.wrote();
            }
        }
    }
}
