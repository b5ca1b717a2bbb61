//! Chooses the file of the next I/O, and tracks which files are finished and which are open.
//!
//! A file is kept for a number of I/Os, then the next one is picked: in turn, at random, or by a distribution. A job that keeps only some
//! of its files open opens one when it is picked; when no more may be open, picks of closed files are skipped. A random job that would
//! otherwise never leave an open file leaves it after its share ([`FileShares`]).

use ferrio_job::{FileService, JobSpec};

use super::file_numbers::FileNumbers;
use super::file_shares::{FileShares, shares_files};
use crate::random::{Scale, Stream};
use crate::skewed::SkewedChoice;
use crate::step::Region;

/// Files that may end in a row without an I/O before a pass over files that are never finished ends: none of them has room for one.
const MAX_TRIES: u32 = 5000;

/// The files of a job.
#[derive(Clone, Debug)]
pub(super) struct FileRotation {
    order: PickOrder,
    /// Further I/Os for the current file.
    left: u64,
    /// I/Os per visit of a file.
    keep: u64,
    /// The current file.
    last: u32,
    files: u32,
    /// Files that are not finished.
    live: FileNumbers,
    /// Present if files are opened on demand.
    open: Option<OpenFiles>,
    /// Files that ended in a row without an I/O, and the count of I/Os then.
    fruitless: (u32, u64),
    /// Present if files are left after their share.
    shares: Option<FileShares>,
}

/// The order in which files are picked.
#[derive(Clone, Debug)]
enum PickOrder {
    Turns,
    Random {
        stream: Stream,
        scale: Scale,
    },
    /// Each file is 1024 neighbouring numbers, a few of which are chosen often.
    Skewed(SkewedChoice),
}

/// Files that are opened on demand.
#[derive(Clone, Debug)]
struct OpenFiles {
    most: u32,
    files: FileNumbers,
}

/// A picked file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pick {
    pub(super) file: usize,
    /// Whether it has to be opened first. The next pick is the same file, open.
    pub(super) opens: bool,
}

impl FileRotation {
    /// All files of a job with their regions; `seed` is that of the choice of files.
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
                (PickOrder::Skewed(SkewedChoice::new(&skew, u64::from(files) * 1024, seed, false)), 1)
            }
            _ => (PickOrder::Turns, u64::MAX),
        };
        let open = spec
            .opens_on_demand()
            .then(|| OpenFiles { most: spec.opening.openfiles, files: FileNumbers::none(files) });
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

    /// Begins a pass: all files are live again and closed; turns continue after the last file.
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

    /// Restarts the stream of choices from `seed`; a distribution continues, as in fio.
    pub(super) fn reseed(&mut self, seed: u64) {
        if let PickOrder::Random { stream, .. } = &mut self.order {
            stream.reseed(seed);
        }
    }

    /// The file of the next I/O; `None` when all are finished.
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
                // Draws are skipped one by one, as in fio: their number determines the following draws.
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

    /// Finishes the current file, which has no more I/O; `issued` I/Os were issued so far. Returns whether it is to be closed.
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
        self.close()
    }

    /// Rests the current file, which has had its share, until all others have had theirs. Returns whether it is to be closed.
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
        self.close()
    }

    /// Closes the current file if files are opened on demand, and returns whether they are.
    fn close(&mut self) -> bool {
        if let Some(open) = &mut self.open {
            open.files.remove(self.last);
        }
        self.open.is_some()
    }

    /// Makes the resting files live again when no file is live.
    fn begin_round(&mut self) {
        if let Some(shares) = &mut self.shares
            && self.live.count == 0
        {
            std::mem::swap(&mut self.live, &mut shares.resting);
        }
    }

    /// Whether files are left after their share.
    pub(super) fn shares(&self) -> bool {
        self.shares.is_some()
    }

    /// Whether a file is to be left, whatever else it has.
    #[inline]
    pub(super) fn has_had_its_share(&self, file: usize) -> bool {
        self.shares.as_ref().is_some_and(|shares| shares.is_used_up(file))
    }

    /// Whether a file that has no I/O now will have some later.
    pub(super) fn comes_again(&self, file: usize) -> bool {
        self.shares.as_ref().is_some_and(|shares| shares.comes_again(file))
    }

    /// Counts an issued I/O of this many bytes.
    #[inline]
    pub(super) fn issued(&mut self, file: usize, len: u64) {
        if let Some(shares) = &mut self.shares {
            shares.issued(file, len);
        }
    }

    /// Takes back an issued I/O of this many bytes that cannot be done.
    pub(super) fn take_back(&mut self, file: usize, len: u64) {
        if let Some(shares) = &mut self.shares {
            shares.take_back(file, len);
        }
    }

    /// False if a file at its end starts over.
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
