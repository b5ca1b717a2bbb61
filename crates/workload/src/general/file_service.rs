//! Which file the next I/O goes to, which files are finished, and which are open.
//!
//! A file is kept for a number of I/Os, then the next one is picked: in turn, at random, or by a distribution. A job that keeps
//! only some of its files open opens one when it is picked; when no more may be open, picks of closed files are skipped. A random job
//! that would stay with an open file for ever leaves it after its share ([`FileShares`]).

use ferrio_job::{FileService, JobSpec};

use super::file_numbers::FileNumbers;
use super::file_shares::{FileShares, shares_files};
use crate::random::{Scale, Stream};
use crate::skewed::Skewed;
use crate::step::Region;

/// Files that may end in a row without an I/O before a pass over files that are never finished ends: none of them has room for one.
const MAX_TRIES: u32 = 5000;

/// The files of a job.
#[derive(Clone, Debug)]
pub(super) struct FileRotation {
    order: PickOrder,
    /// Further I/Os that the file picked last is kept for.
    left: u64,
    /// I/Os a file is kept for.
    keep: u64,
    /// The file picked last.
    last: u32,
    files: u32,
    /// Files that are not finished.
    live: FileNumbers,
    /// Present when files are opened on demand.
    open: Option<Open>,
    /// Files that ended in a row without an I/O, and the count of I/Os then.
    fruitless: (u32, u64),
    /// Present when files are left after their share.
    shares: Option<FileShares>,
}

/// How the next file is picked.
#[derive(Clone, Debug)]
enum PickOrder {
    Turns,
    Random {
        stream: Stream,
        scale: Scale,
    },
    /// Each file is 1024 neighbouring numbers, of which few are chosen often.
    Skewed(Skewed),
}

/// Files opened on demand.
#[derive(Clone, Debug)]
struct Open {
    most: u32,
    files: FileNumbers,
}

/// A file that was picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pick {
    pub(super) file: usize,
    /// It has to be opened first. The next pick is the same file, open.
    pub(super) opens: bool,
}

impl FileRotation {
    /// All files of a job, by their regions; `seed` is that of the choice of files.
    pub(super) fn new(spec: &JobSpec, regions: &[Region], seed: u64) -> Self {
        let files = regions.len() as u32;
        let (order, keep) = match spec.file_service {
            FileService::Random { ios } => {
                let stream = Stream::new(spec.generator, seed);
                let scale = stream.scale(u64::from(files));
                (PickOrder::Random { stream, scale }, u64::from(ios))
            }
            FileService::RoundRobin { ios } => (PickOrder::Turns, u64::from(ios)),
            FileService::Skewed(skew) if files > 0 => {
                (PickOrder::Skewed(Skewed::new(&skew, u64::from(files) * 1024, seed, false)), 1)
            }
            _ => (PickOrder::Turns, u64::MAX),
        };
        let open = spec
            .opens_on_demand()
            .then(|| Open { most: spec.opening.openfiles, files: FileNumbers::none(files) });
        FileRotation {
            order,
            left: 0,
            // A single file is always the next one.
            keep: if files == 1 { u64::MAX } else { keep },
            fruitless: (0, 0),
            shares: shares_files(spec, regions.len()).then(|| FileShares::new(spec, regions)),
            last: files.saturating_sub(1),
            files,
            live: FileNumbers::all(files),
            open,
        }
    }

    /// A pass begins: all files are live again and closed; turns go on after the last file.
    pub(super) fn begin_pass(&mut self) {
        self.left = 0;
        self.fruitless = (0, 0);
        self.live = FileNumbers::all(self.files);
        if let Some(shares) = &mut self.shares {
            shares.begin_pass();
        }
        if let Some(open) = &mut self.open {
            open.files = FileNumbers::none(self.files);
        }
    }

    /// The stream of choices starts again from `seed`; a distribution runs on, as with fio.
    pub(super) fn reseed(&mut self, seed: u64) {
        if let PickOrder::Random { stream, .. } = &mut self.order {
            stream.reseed(seed);
        }
    }

    /// The file of the next I/O, `None` when all are finished.
    #[inline]
    pub(super) fn pick(&mut self) -> Option<Pick> {
        if self.left > 0 {
            self.left -= 1;
            return Some(Pick { file: self.last as usize, opens: false });
        }
        self.pick_another()
    }

    fn pick_another(&mut self) -> Option<Pick> {
        let eligible = match &self.open {
            Some(open) if open.files.count >= open.most => &open.files,
            _ => &self.live,
        };
        self.last = match &mut self.order {
            PickOrder::Turns => eligible.next(self.last + 1)?,
            PickOrder::Random { stream, scale } => {
                // Draws are skipped one by one, as in fio: their number decides which draws follow.
                eligible.next(0)?;
                draw_until(eligible, || stream.below(*scale) as u32)
            }
            PickOrder::Skewed(skewed) => {
                eligible.next(0)?;
                draw_until(eligible, || (skewed.next() >> 10) as u32)
            }
        };
        let opens = self.open.as_mut().is_some_and(|open| {
            let closed = !open.files.contains(self.last);
            if closed {
                open.files.insert(self.last);
            }
            closed
        });
        self.left = if opens { self.keep } else { self.keep - 1 };
        Some(Pick { file: self.last as usize, opens })
    }

    /// The file picked last has no more I/O; `issued` I/Os were issued so far. True when it is to be closed.
    pub(super) fn finish(&mut self, issued: u64) -> bool {
        self.left = 0;
        if let Some(shares) = &mut self.shares {
            shares.renew(self.last as usize);
        }
        if self.finishes() {
            self.live.remove(self.last);
            self.begin_round();
        } else if self.is_fruitless(issued) {
            self.live = FileNumbers::none(self.files);
        }
        if let Some(open) = &mut self.open {
            open.files.remove(self.last);
        }
        self.open.is_some()
    }

    /// The file picked last has had its share: it waits until all others have had theirs. True when it is to be closed.
    pub(super) fn rest(&mut self) -> bool {
        self.left = 0;
        let finishes = self.finishes();
        if let Some(shares) = &mut self.shares {
            shares.renew(self.last as usize);
            if finishes {
                self.live.remove(self.last);
                shares.resting.insert(self.last);
            }
        }
        self.begin_round();
        if let Some(open) = &mut self.open {
            open.files.remove(self.last);
        }
        self.open.is_some()
    }

    /// When no file is live but some have had their share, these are live again.
    fn begin_round(&mut self) {
        if let Some(shares) = &mut self.shares
            && self.live.count == 0
        {
            std::mem::swap(&mut self.live, &mut shares.resting);
        }
    }

    /// True when files are left after their share.
    pub(super) fn shares(&self) -> bool {
        self.shares.is_some()
    }

    /// True when a file is to be left, whatever else it has.
    #[inline]
    pub(super) fn has_had_its_share(&self, file: usize) -> bool {
        self.shares.as_ref().is_some_and(|shares| shares.is_used_up(file))
    }

    /// True when a file that has no I/O now has some later.
    pub(super) fn comes_again(&self, file: usize) -> bool {
        self.shares.as_ref().is_some_and(|shares| shares.comes_again(file))
    }

    /// An I/O of this many bytes was issued.
    #[inline]
    pub(super) fn issued(&mut self, file: usize, len: u64) {
        if let Some(shares) = &mut self.shares {
            shares.issued(file, len);
        }
    }

    /// An I/O of this many bytes that was issued cannot be done.
    pub(super) fn take_back(&mut self, file: usize, len: u64) {
        if let Some(shares) = &mut self.shares {
            shares.take_back(file, len);
        }
    }

    /// False when a file at its end starts again.
    pub(super) fn finishes(&self) -> bool {
        !matches!(self.order, PickOrder::Skewed(_))
    }

    fn is_fruitless(&mut self, issued: u64) -> bool {
        let (tries, then) = self.fruitless;
        self.fruitless = (if issued == then { tries + 1 } else { 0 }, issued);
        self.fruitless.0 >= MAX_TRIES
    }
}

/// The first eligible file drawn.
fn draw_until(eligible: &FileNumbers, mut draw: impl FnMut() -> u32) -> u32 {
    loop {
        let file = draw();
        if eligible.contains(file) {
            return file;
        }
    }
}
