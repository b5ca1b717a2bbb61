//! How large the I/O region of each file of a clone is, and which files must grow for it.
//!
//! Follows the order of fio's manual: a size split over the files, or the size of each file, or what is there; moved and cut by
//! offsets. Only arithmetic on the options and on what `probe` found.

use std::path::PathBuf;

use ferrio_job::{FileKind, FileRun, FileSpec, JobSpec, Limits, Prefix, SetupError};
use ferrio_jobfile::{Amount, Job, Opt};
use ferrio_random::Stream;

use crate::as_written::{inert, lacks, refuse};
use crate::block_sizes;
use crate::findings::Findings;
use crate::limits::only_a_full_device_limits;
use crate::probe::Found;

inert! {
    OffsetAlign:
        |job| ![Opt::Offset, Opt::OffsetIncrement].iter().any(|&opt| is_percent(job, opt));
        "only an `offset` or `offset_increment` in percent is rounded";
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, sizing: &Sizing, findings: &mut Findings) {
    if let Some(BytesOrPercent::Bytes(size)) = sizing.size
        && lacks(job, Opt::ReadIolog)
        && size > 0
        && size < sizing.min_block
    {
        let what = "size too small, must not be less than minimum block size";
        let message = format!("{what}: {size} < {}", sizing.min_block);
        let help = "use a larger `size` or smaller blocks";
        refuse(findings, job, &[Opt::Size], "size-below-block-size", message, help);
    }
}

/// A size in bytes, or as a share of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BytesOrPercent {
    Bytes(u64),
    Percent(u8),
}

/// What a job says about sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizing {
    pub(crate) size: Option<BytesOrPercent>,
    pub(crate) io_size: Option<BytesOrPercent>,
    /// Bytes of each file, drawn between two bounds unless they are equal.
    pub(crate) filesize: Option<(u64, u64)>,
    pub(crate) offset: BytesOrPercent,
    /// Added once per clone number.
    pub(crate) offset_increment: BytesOrPercent,
    /// Offsets in percent are rounded up to this, 0 for the smallest block size.
    pub(crate) offset_align: u64,
    /// Smallest block size of any direction.
    pub(crate) min_block: u64,
    /// Regular files are worked on from their end.
    pub(crate) file_append: bool,
    /// False when files appear only when opened, or not at all.
    pub(crate) lays_out: bool,
    /// Files of engines without files have no end, unless `size` gives them one in bytes.
    pub(crate) pretended_files_are_endless: bool,
}

impl Sizing {
    /// What the options say. Sizes in zones are 0 as long as the size of a zone is not known.
    pub(crate) fn of(job: &Job, spec: &JobSpec, zone: Option<u64>, findings: &mut Findings) -> Sizing {
        let options = &job.options;
        let mut extent = |opt: Opt| match options.if_given(opt)? {
            Amount::Bytes(bytes) => Some(BytesOrPercent::Bytes(bytes)),
            Amount::Percent(percent) => Some(BytesOrPercent::Percent(percent)),
            Amount::Zones(count) if spec.zbd.is_some() => {
                Some(BytesOrPercent::Bytes(count.saturating_mul(zone.unwrap_or(0))))
            }
            Amount::Zones(_) if spec.compat.sizes_in_zones_may_be_empty => Some(BytesOrPercent::Bytes(0)),
            Amount::Zones(_) => {
                let message = format!("option `{}` in zones needs zonemode=zbd", opt.row().name);
                let help = "give bytes or percent, or set zonemode=zbd";
                refuse(findings, job, &[opt], "zones-without-zbd", message, help);
                None
            }
        };
        let size = match extent(Opt::Size) {
            _ if only_a_full_device_limits(spec, job) => Some(BytesOrPercent::Bytes(Limits::UNLIMITED)),
            size => size,
        };
        let io_size = extent(Opt::IoSize);
        let offset = extent(Opt::Offset).unwrap_or(BytesOrPercent::Bytes(0));
        let offset_increment = extent(Opt::OffsetIncrement).unwrap_or(BytesOrPercent::Bytes(0));
        Sizing {
            size,
            io_size,
            filesize: options.if_given(Opt::Filesize).or(nominal_size(spec, size)),
            offset,
            offset_increment,
            offset_align: options.value(Opt::OffsetAlign),
            min_block: block_sizes::smallest(job, spec),
            file_append: spec.file_append,
            lays_out: !spec.layout.create_on_open && !spec.engine.is_diskless(),
            pretended_files_are_endless: spec.compat.pretended_files_are_endless,
        }
    }
}

/// Size of the files of an engine that creates or looks up files without a use for their size: one I/O each, unless the job says more.
fn nominal_size(spec: &JobSpec, size: Option<BytesOrPercent>) -> Option<(u64, u64)> {
    let unsized_files = spec.engine.operates_on_files() && spec.engine.is_diskless();
    (unsized_files && size.is_none()).then(|| (spec.min_block(), spec.min_block()))
}

/// A file of a job, with its size now and once the earlier jobs have laid out theirs.
#[derive(Clone, Debug)]
pub(crate) struct JobFile {
    pub(crate) path: PathBuf,
    pub(crate) found: Found,
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
    sizing: &Sizing,
    files: Vec<JobFile>,
    path_of: &dyn Fn(u64) -> PathBuf,
    stream: &mut Stream,
) -> Result<Regions, SetupError> {
    let known = files.iter().filter_map(|file| file.size_by_then).fold(0, u64::saturating_add);
    let sized =
        matches!(sizing.size, Some(BytesOrPercent::Bytes(bytes)) if bytes > 0) || sizing.filesize.is_some();
    if known == 0 && !sized {
        return Err(failure("you need to specify size="));
    }
    let mut regions = Regions::default();
    let count = files.iter().map(JobFile::count).sum();
    let mut shares = EvenShares::new(sizing, count);
    let mut draws = MAX_DRAWN;
    let mut total = 0_u64;
    let mut files = Consumed::new(files);
    let mut rest = None;
    let files = std::iter::from_fn(|| {
        rest.take().or_else(|| files.next()).map(|file| {
            let (share, alike) = shares.next(file.count());
            let (mut file, further) = file.split(alike, path_of);
            rest = further;
            let whole = whole_file(sizing, &mut file, &mut draws, stream);
            let region = region(clone, sizing, Share { each: shares.each, of_file: share }, whole, file)?;
            let path = region.path.display();
            if sizing.file_append && region.kind == FileKind::Regular && moves(clone, sizing) {
                let message = format!("offset has no effect on {path}: file_append begins at its end");
                let opts = &[Opt::Offset, Opt::OffsetIncrement];
                regions.notes.push(Note { opts, code: "offset-with-append", message });
            } else if sizing.file_append && region.kind != FileKind::Regular {
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
    regions.size = match sizing.size {
        Some(BytesOrPercent::Bytes(size)) if size > 0 => size.min(total),
        _ => total,
    };
    regions.io_size = match sizing.io_size {
        Some(BytesOrPercent::Bytes(bytes)) => Some(bytes).filter(|&bytes| bytes > 0),
        Some(BytesOrPercent::Percent(percent)) => {
            Some(percent_of(regions.size, percent)).filter(|&bytes| bytes > 0)
        }
        None => None,
    };
    let scaled_too_far = matches!(sizing.io_size, Some(BytesOrPercent::Percent(_)))
        && regions.io_size.is_some_and(|bytes| bytes < sizing.min_block);
    // If the offset leaves nothing of a size in bytes, fio reports no error: the clone does nothing.
    let nothing_left = total == 0 && matches!(sizing.size, Some(BytesOrPercent::Bytes(size)) if size > 0);
    let too_small = regions.size < sizing.min_block && !nothing_left;
    if !regions.files.is_empty() && (too_small || scaled_too_far) {
        // fio leaves the error number empty here.
        let error = SetupError::new(0, "total_file_size", "blocksize is larger than data set range");
        return Err(SetupError { prefix: Prefix::Program, ..error });
    }
    Ok(regions)
}

/// The files of a list, each taken out of it, so that a hundred thousand of them are not in memory twice.
struct Consumed(Vec<JobFile>);

impl Consumed {
    /// Files after whose removal the list gives memory back.
    const PIECE: usize = 4096;

    fn new(mut files: Vec<JobFile>) -> Self {
        files.reverse();
        Consumed(files)
    }
}

impl Iterator for Consumed {
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
    fn new(sizing: &Sizing, files: u64) -> Self {
        let size = match sizing.size {
            Some(BytesOrPercent::Bytes(bytes)) => bytes,
            _ => 0,
        };
        let files = files.max(1);
        EvenShares { each: size / files, left: size % files, unit: sizing.min_block.max(1) }
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

/// What a file gets of a `size` in bytes.
#[derive(Clone, Copy, Debug)]
struct Share {
    each: u64,
    /// With its part of what does not divide.
    of_file: u64,
}

fn region(
    clone: u32,
    sizing: &Sizing,
    share: Share,
    whole: u64,
    file: JobFile,
) -> Result<FileSpec, SetupError> {
    let real = file.size_by_then.unwrap_or(0);
    let kind = file.found.kind;
    // What a share of a file's size is a share of.
    let base = match sizing.size {
        _ if kind != FileKind::Pretend || file.found.size.is_some() => real,
        Some(BytesOrPercent::Bytes(_)) if share.each > 0 => share.each,
        _ if sizing.pretended_files_are_endless => u64::MAX,
        _ => whole,
    };
    let offset =
        if sizing.file_append && kind == FileKind::Regular { real } else { offset(clone, sizing, base) };
    let rest = || {
        whole.checked_sub(offset).ok_or_else(|| {
            // fio leaves the error number empty here.
            SetupError::new(0, "total_file_size", "you need to specify valid offset=")
        })
    };
    let mut size = match (sizing.filesize, sizing.size) {
        (_, Some(BytesOrPercent::Percent(percent))) if percent < 100 => {
            let part = percent_of(whole, percent).min(rest()?);
            part - part % sizing.min_block.max(1)
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
    if kind == FileKind::Pretend && sizing.pretended_files_are_endless {
        // An engine without files has no limit: a negative `filesize` is one that never ends.
        size = size.min(MAX_END.saturating_sub(offset));
    }
    let end = offset.saturating_add(size);
    let extend = kind == FileKind::Regular && sizing.lays_out && end > real;
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
fn whole_file(sizing: &Sizing, file: &mut JobFile, draws: &mut u64, stream: &mut Stream) -> u64 {
    let real = file.size_by_then.unwrap_or(0);
    match sizing.filesize {
        None => real,
        Some((low, high)) if low == high => low,
        Some((low, high)) if (low..=high).contains(&real) => real,
        Some((low, high)) => {
            let mut draw = || {
                let drawn = low + stream.below(stream.scale(high - low));
                drawn - drawn % sizing.min_block.max(1)
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
fn offset(clone: u32, sizing: &Sizing, base: u64) -> u64 {
    let bytes = |extent| match extent {
        BytesOrPercent::Bytes(bytes) => bytes,
        BytesOrPercent::Percent(percent) => percent_of(base, percent),
    };
    let sum =
        bytes(sizing.offset).saturating_add(bytes(sizing.offset_increment).saturating_mul(u64::from(clone)));
    let in_percent = |extent| matches!(extent, BytesOrPercent::Percent(_));
    if in_percent(sizing.offset) || in_percent(sizing.offset_increment) {
        let align = if sizing.offset_align > 0 { sizing.offset_align } else { sizing.min_block.max(1) };
        sum.checked_next_multiple_of(align).unwrap_or(sum)
    } else {
        sum
    }
}

/// Whether the options ask this clone to begin elsewhere than at the start of its files.
fn moves(clone: u32, sizing: &Sizing) -> bool {
    let some = |extent| !matches!(extent, BytesOrPercent::Bytes(0) | BytesOrPercent::Percent(0));
    some(sizing.offset) || (clone > 0 && some(sizing.offset_increment))
}

fn is_percent(job: &Job, opt: Opt) -> bool {
    matches!(job.options.if_given(opt), Some(Amount::Percent(_)))
}

/// `percent` of `bytes`, rounded down.
fn percent_of(bytes: u64, percent: u8) -> u64 {
    u64::try_from(u128::from(bytes) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

fn failure(message: impl Into<String>) -> SetupError {
    SetupError::new(libc::EINVAL, "total_file_size", message)
}

#[cfg(test)]
mod tests;
