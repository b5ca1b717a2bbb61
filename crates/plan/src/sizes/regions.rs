//! The I/O region of each file of a clone: its part of the size, moved and cut by the offsets.

use std::path::PathBuf;

use ferrio_job::{FileKind, FileRun, FileSpec, Prefix, SetupError};
use ferrio_jobfile::Opt;
use ferrio_random::Stream;

use super::{BytesOrPercent, SizeOptions, percent_of};
use crate::probe::FoundFile;

/// A file of a job, with its size now and once the earlier jobs have laid out theirs.
#[derive(Clone, Debug)]
pub(crate) struct JobFile {
    pub(crate) path: PathBuf,
    pub(crate) found: FoundFile,
    pub(crate) size_by_then: Option<u64>,
    /// Further files of a list that are like it.
    pub(crate) run: Option<Box<FileRun>>,
}

impl JobFile {
    /// How many files it stands for.
    pub(crate) fn count(&self) -> u64 {
        self.run.as_ref().map_or(1, |run| run.count)
    }

    /// The first `count` files, and the others if there are any.
    fn split(mut self, count: u64, path_of: &dyn Fn(u64) -> PathBuf) -> (JobFile, Option<JobFile>) {
        let Some(run) = self.run.as_mut().filter(|run| run.count > count) else { return (self, None) };
        let first = run.first + count;
        let rest = FileRun { first, count: run.count - count, ..(**run).clone() };
        run.count = count;
        run.last = path_of(first.saturating_sub(1));
        let rest = JobFile { path: path_of(first), run: Some(Box::new(rest)), ..self.clone() };
        (self, Some(rest))
    }
}

/// Regions of all files of a clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Regions {
    pub(crate) files: Vec<FileSpec>,
    /// Bytes of the job's region.
    pub(crate) size: u64,
    /// Bytes to transfer, when that differs from the region.
    pub(crate) io_size: Option<u64>,
    pub(crate) notes: Vec<Note>,
}

/// A note about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The options that cause it.
    pub(crate) opts: &'static [Opt],
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

/// Sizes the files of clone `clone`; sizes that are drawn come from `stream`. Where files of a run get different sizes, the run ends, and
/// another one begins at the path that `path_of` makes.
pub(crate) fn regions(
    clone: u32,
    size_options: &SizeOptions,
    files: Vec<JobFile>,
    path_of: &dyn Fn(u64) -> PathBuf,
    stream: &mut Stream,
) -> Result<Regions, SetupError> {
    let known = files.iter().filter_map(|file| file.size_by_then).fold(0, u64::saturating_add);
    let sized = matches!(size_options.size, Some(BytesOrPercent::Bytes(bytes)) if bytes > 0)
        || size_options.filesize.is_some();
    if known == 0 && !sized {
        return Err(failure("you need to specify size="));
    }
    let mut regions = Regions::default();
    let count = files.iter().map(JobFile::count).sum();
    let mut shares = EvenShares::new(size_options, count);
    let mut draws = MAX_DRAWN;
    let mut total = 0_u64;
    let mut files = FileDrain::new(files);
    let mut rest = None;
    let files = std::iter::from_fn(|| {
        rest.take().or_else(|| files.next()).map(|file| {
            let (share, alike) = shares.next(file.count());
            let (mut file, further) = file.split(alike, path_of);
            rest = further;
            let whole = whole_file(size_options, &mut file, &mut draws, stream);
            let region =
                region(clone, size_options, Share { each: shares.each, of_file: share }, whole, file)?;
            let path = region.path.display();
            if size_options.file_append && region.kind == FileKind::Regular && moves(clone, size_options) {
                let message = format!("offset has no effect on {path}: file_append begins at its end");
                let opts = &[Opt::Offset, Opt::OffsetIncrement];
                regions.notes.push(Note { opts, code: "offset-with-append", message });
            } else if size_options.file_append && region.kind != FileKind::Regular {
                let message = format!("file_append has no effect on {path}: it is not a regular file");
                regions.notes.push(Note { opts: &[Opt::FileAppend], code: "append-without-effect", message });
            }
            if region.size == 0 {
                let message = format!("file {path} may be ignored");
                regions.notes.push(Note { opts: &[Opt::Filename], code: "file-ignored", message });
            }
            total = total.saturating_add(region.total_size());
            Ok(region)
        })
    });
    regions.files = files.collect::<Result<_, SetupError>>()?;
    regions.size = match size_options.size {
        Some(BytesOrPercent::Bytes(size)) if size > 0 => size.min(total),
        _ => total,
    };
    regions.io_size = size_options.io_size.map(|extent| extent.of(regions.size)).filter(|&bytes| bytes > 0);
    let scaled_too_far = matches!(size_options.io_size, Some(BytesOrPercent::Percent(_)))
        && regions.io_size.is_some_and(|bytes| bytes < size_options.min_block);
    // If the offset leaves nothing of a size in bytes, fio reports no error: the clone does nothing.
    let nothing_left =
        total == 0 && matches!(size_options.size, Some(BytesOrPercent::Bytes(size)) if size > 0);
    let too_small = regions.size < size_options.min_block && !nothing_left;
    if !regions.files.is_empty() && (too_small || scaled_too_far) {
        // fio leaves the error number empty here.
        let error = SetupError::new(0, "total_file_size", "blocksize is larger than data set range");
        return Err(error.prefix(Prefix::Program));
    }
    Ok(regions)
}

/// The files of a list, each taken out of it, so that a hundred thousand of them are not in memory twice.
struct FileDrain(Vec<JobFile>);

impl FileDrain {
    /// Files after whose removal the list gives memory back.
    const PIECE: usize = 4096;

    fn new(mut files: Vec<JobFile>) -> Self {
        files.reverse();
        FileDrain(files)
    }
}

impl Iterator for FileDrain {
    type Item = JobFile;

    fn next(&mut self) -> Option<JobFile> {
        let file = self.0.pop();
        if self.0.len().is_multiple_of(Self::PIECE) {
            self.0.shrink_to_fit();
        }
        file
    }
}

/// Hands out `size` file by file; what does not divide goes to the first files in units of the smallest block size.
struct EvenShares {
    each: u64,
    left: u64,
    unit: u64,
}

impl EvenShares {
    fn new(size_options: &SizeOptions, files: u64) -> Self {
        let size = match size_options.size {
            Some(BytesOrPercent::Bytes(bytes)) => bytes,
            _ => 0,
        };
        let files = files.max(1);
        EvenShares { each: size / files, left: size % files, unit: size_options.min_block.max(1) }
    }

    /// The share of the next file, and how many files, at most `most`, get the same.
    fn next(&mut self, most: u64) -> (u64, u64) {
        let larger = (self.left / self.unit).min(most);
        if larger == 0 {
            return (self.each, most);
        }
        self.left -= larger * self.unit;
        (self.each + self.unit, larger)
    }
}

/// The share of a file in a `size` in bytes.
#[derive(Clone, Copy, Debug)]
struct Share {
    each: u64,
    /// This includes its part of the remainder.
    of_file: u64,
}

fn region(
    clone: u32,
    size_options: &SizeOptions,
    share: Share,
    whole: u64,
    file: JobFile,
) -> Result<FileSpec, SetupError> {
    let real = file.size_by_then.unwrap_or(0);
    let kind = file.found.kind;
    // What a share of a file's size is a share of.
    let base = match size_options.size {
        _ if kind != FileKind::Pretend || file.found.size.is_some() => real,
        Some(BytesOrPercent::Bytes(_)) if share.each > 0 => share.each,
        _ if size_options.pretended_files_are_endless => u64::MAX,
        _ => whole,
    };
    let offset = if size_options.file_append && kind == FileKind::Regular {
        real
    } else {
        offset(clone, size_options, base)
    };
    let rest = || {
        whole.checked_sub(offset).ok_or_else(|| {
            // fio leaves the error number empty here.
            SetupError::new(0, "total_file_size", "you need to specify valid offset=")
        })
    };
    let mut size = match (size_options.filesize, size_options.size) {
        (_, Some(BytesOrPercent::Percent(percent))) if percent < 100 => {
            let part = percent_of(whole, percent).min(rest()?);
            part - part % size_options.min_block.max(1)
        }
        (None, Some(BytesOrPercent::Bytes(_))) if share.of_file > 0 => share.of_file,
        _ => rest()?,
    };
    // A device and an export are as large as they are.
    let is_known = matches!(kind, FileKind::Char | FileKind::Pretend) && file.found.size.is_some();
    let has_fixed_size = kind == FileKind::Block || is_known;
    if has_fixed_size {
        if offset > real {
            return Err(failure(format!("offset extends end ({offset} > {real})")));
        }
        size = size.min(real - offset);
    }
    if kind == FileKind::Pretend && size_options.pretended_files_are_endless {
        // An engine without files has no limit: a negative `filesize` is one that never ends.
        size = size.min(MAX_END.saturating_sub(offset));
    }
    let end = offset.saturating_add(size);
    let extend = kind == FileKind::Regular && size_options.lays_out && end > real;
    Ok(FileSpec {
        path: file.path,
        kind,
        offset,
        size,
        real_size: if has_fixed_size { real } else { end.max(real) },
        found: file.found.size,
        extend,
        missing_device: false,
        run: file.run,
    })
}

/// Largest end of a region.
const MAX_END: u64 = i64::MAX.cast_unsigned();

/// Most sizes that are drawn for files that are counted. A description says "about" in any case.
const MAX_DRAWN: u64 = 10_000;

/// Size of the whole file. A file that exists with a size between the bounds keeps it, and nothing is drawn. Of several files, their mean.
fn whole_file(size_options: &SizeOptions, file: &mut JobFile, draws: &mut u64, stream: &mut Stream) -> u64 {
    let real = file.size_by_then.unwrap_or(0);
    match size_options.filesize {
        None => real,
        Some((low, high)) if low == high => low,
        Some((low, high)) if (low..=high).contains(&real) => real,
        Some((low, high)) => {
            let mut draw = || {
                let drawn = low + stream.below(stream.scale(high - low));
                drawn - drawn % size_options.min_block.max(1)
            };
            let Some(run) = file.run.as_mut().filter(|run| run.count > 1) else { return draw() };
            run.is_mean = true;
            let drawn = run.count.min(*draws);
            *draws -= drawn;
            let sum: u128 = (0..drawn).map(|_| u128::from(draw())).sum();
            match sum.checked_div(u128::from(drawn)) {
                Some(mean) => u64::try_from(mean).unwrap_or(u64::MAX),
                None => low + (high - low) / 2,
            }
        }
    }
}

/// Where the region of a file begins; shares are those of `base`.
fn offset(clone: u32, size_options: &SizeOptions, base: u64) -> u64 {
    let increment = size_options.offset_increment.of(base).saturating_mul(u64::from(clone));
    let sum = size_options.offset.of(base).saturating_add(increment);
    let in_percent = |extent| matches!(extent, BytesOrPercent::Percent(_));
    if in_percent(size_options.offset) || in_percent(size_options.offset_increment) {
        let align = if size_options.offset_align > 0 {
            size_options.offset_align
        } else {
            size_options.min_block.max(1)
        };
        sum.checked_next_multiple_of(align).unwrap_or(sum)
    } else {
        sum
    }
}

/// Whether the options ask this clone to begin elsewhere than at the start of its files.
fn moves(clone: u32, size_options: &SizeOptions) -> bool {
    let some = |extent| !matches!(extent, BytesOrPercent::Bytes(0) | BytesOrPercent::Percent(0));
    some(size_options.offset) || (clone > 0 && some(size_options.offset_increment))
}

fn failure(message: impl Into<String>) -> SetupError {
    SetupError::new(libc::EINVAL, "total_file_size", message)
}
