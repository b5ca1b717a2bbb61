//! How large the I/O region of each file of a clone is, and which files must grow for it.
//!
//! Follows the order of fio's manual: a size split over the files, or the size of each file, or what is there; moved and cut by
//! offsets. Only arithmetic on the options and on what `probe` found.

mod regions;

use ferrio_job::{JobSpec, Limits};
use ferrio_jobfile::{Amount, Job, Opt};

use crate::as_written::{inert, lacks, refuse};
use crate::block_sizes;
use crate::findings::Findings;
use crate::limits::only_a_full_device_limits;

pub(crate) use regions::{JobFile, Note, regions};

inert! {
    OffsetAlign:
        |job| ![Opt::Offset, Opt::OffsetIncrement].iter().any(|&opt| is_percent(job, opt));
        "only an `offset` or `offset_increment` in percent is rounded";
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, size_options: &SizeOptions, findings: &mut Findings) {
    if let Some(BytesOrPercent::Bytes(size)) = size_options.size
        && lacks(job, Opt::ReadIolog)
        && size > 0
        && size < size_options.min_block
    {
        let what = "size too small, must not be less than minimum block size";
        let message = format!("{what}: {size} < {}", size_options.min_block);
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

impl BytesOrPercent {
    /// Bytes; a share is one of `whole` bytes.
    fn of(self, whole: u64) -> u64 {
        match self {
            BytesOrPercent::Bytes(bytes) => bytes,
            BytesOrPercent::Percent(percent) => percent_of(whole, percent),
        }
    }
}

/// `percent` of `bytes`, rounded down.
pub(crate) fn percent_of(bytes: u64, percent: u8) -> u64 {
    u64::try_from(u128::from(bytes) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}

/// The size options of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SizeOptions {
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

impl SizeOptions {
    /// The options of a job. Sizes in zones are 0 as long as the size of a zone is not known.
    pub(crate) fn of(job: &Job, spec: &JobSpec, zone: Option<u64>, findings: &mut Findings) -> SizeOptions {
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
        SizeOptions {
            size,
            io_size: extent(Opt::IoSize),
            filesize: options.if_given(Opt::Filesize).or(nominal_size(spec, size)),
            offset: extent(Opt::Offset).unwrap_or(BytesOrPercent::Bytes(0)),
            offset_increment: extent(Opt::OffsetIncrement).unwrap_or(BytesOrPercent::Bytes(0)),
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

fn is_percent(job: &Job, opt: Opt) -> bool {
    matches!(job.options.if_given(opt), Some(Amount::Percent(_)))
}

#[cfg(test)]
mod tests;
