//! Shares of the files of a random job that would otherwise never leave some of its files.
//!
//! A random job without a map never ends in a file, and a job with `time_based` starts over in it. With fewer `openfiles` than files, or
//! with `file_service_type=sequential`, the other files would never be accessed. So the job leaves a file after as many bytes as the file
//! has, or when all of its blocks were visited; it returns once all others have had their share.

use ferrio_job::{Distribution, FileService, JobSpec, RandomOrder};

use super::file_numbers::FileNumbers;
use crate::offset_space::has_map;
use crate::step::Region;

/// The rest of the share of each file.
#[derive(Clone, Debug)]
pub(super) struct FileShares {
    /// Bytes that each file still gets before it is left.
    left: Vec<u64>,
    /// Bytes of each file's share.
    whole: Vec<u64>,
    /// Files that have had their share in this round.
    pub(super) resting: FileNumbers,
    /// Whether a file that has no more blocks before the end of its share returns too.
    time_based: bool,
}

/// Whether a job has several files and would not reach some of them.
pub(super) fn shares_files(spec: &JobSpec, files: usize) -> bool {
    let stays = (spec.opening.openfiles as usize) < files || spec.file_service == FileService::Sequential;
    spec.compat.shares_files
        && files > 1
        && stays
        && spec.rw.is_random()
        && spec.sprandom.is_none()
        && !ends(spec)
}

/// Whether the job comes to an end in each file.
fn ends(spec: &JobSpec) -> bool {
    let ordered = spec.distribution == Distribution::Uniform && spec.random_order != RandomOrder::Drawn;
    !spec.limits.time_based && !spec.file_service.never_finishes() && (has_map(spec) || ordered)
}

impl FileShares {
    /// The share of each file is its region.
    pub(super) fn new(spec: &JobSpec, regions: &[Region]) -> Self {
        let whole: Vec<_> = regions.iter().map(|region| region.size).collect();
        let resting = FileNumbers::none(regions.len() as u32);
        FileShares { left: whole.clone(), whole, resting, time_based: spec.limits.time_based }
    }

    /// Restores the whole shares of all files.
    pub(super) fn begin_pass(&mut self) {
        self.left.copy_from_slice(&self.whole);
        self.resting = FileNumbers::none(self.whole.len() as u32);
    }

    #[inline]
    pub(super) fn issued(&mut self, file: usize, len: u64) {
        self.left[file] = self.left[file].saturating_sub(len);
    }

    pub(super) fn take_back(&mut self, file: usize, len: u64) {
        self.left[file] = self.left[file].saturating_add(len).min(self.whole[file]);
    }

    #[inline]
    pub(super) fn is_used_up(&self, file: usize) -> bool {
        self.left[file] == 0
    }

    /// Whether a file that is left will return: it had its share, or with `time_based` some of it.
    pub(super) fn comes_again(&self, file: usize) -> bool {
        self.left[file] < self.whole[file] && (self.time_based || self.left[file] == 0)
    }

    /// Restores the whole share of a file.
    pub(super) fn renew(&mut self, file: usize) {
        self.left[file] = self.whole[file];
    }
}
