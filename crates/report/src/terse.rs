//! The terse format: one line of fields between semicolons for each entry, in fio's versions 2 to 5.
//!
//! Latencies are in µs; extremes and percentiles are whole, rounded down. The number of fields of a direction does not depend on what
//! the job did, so that a reader can count them.

use std::fmt::{self, Write};
use std::str::FromStr;

use crate::model::{
    DirectionReport, DiskReport, GroupDirection, GroupReport, JobReport, LabelledShares, LatencyReport,
    RunReport,
};

/// Number of percentile fields of a direction.
const PERCENTILES: usize = 20;

/// Which fields a line has (`--terse-version`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerseVersion {
    /// Without the version of the program and without disks; the description is a line of its own.
    V2 = 2,
    /// Reads and writes.
    #[default]
    V3 = 3,
    /// Trims as well.
    V4 = 4,
    /// Trims, numbers of samples and the figures of the IOPS samples.
    V5 = 5,
}

impl TerseVersion {
    /// The words of `--terse-version`.
    pub const WORDS: [&str; 4] = ["2", "3", "4", "5"];
}

/// The text names no version of the terse format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bad terse version format: the versions are {}", TerseVersion::WORDS.join(", "))]
pub struct NoTerseVersion;

impl FromStr for TerseVersion {
    type Err = NoTerseVersion;

    fn from_str(text: &str) -> Result<Self, NoTerseVersion> {
        let versions = [TerseVersion::V2, TerseVersion::V3, TerseVersion::V4, TerseVersion::V5];
        let of_text = TerseVersion::WORDS.into_iter().position(|word| word == text);
        of_text.map(|at| versions[at]).ok_or(NoTerseVersion)
    }
}

/// The lines of all entries.
#[must_use]
pub fn to_terse(report: &RunReport, version: TerseVersion) -> String {
    let mut out = String::new();
    for job in &report.jobs {
        // Writing to memory cannot fail.
        let written = write_entry(&mut out, report, job, version);
        debug_assert!(written.is_ok(), "{written:?}");
    }
    out
}

fn write_entry(out: &mut String, report: &RunReport, job: &JobReport, version: TerseVersion) -> fmt::Result {
    write!(out, "{}", version as u8)?;
    if version > TerseVersion::V2 {
        write!(out, ";{}", report.version)?;
    }
    write!(out, ";{};{};{}", job.jobname, job.groupid, job.error)?;
    let group = report.groups.iter().find(|group| group.id == job.groupid);
    for (direction, summary) in directions(job, group, version) {
        write_direction(out, job, direction, summary, version)?;
    }
    write!(out, ";{:.6}%;{:.6}%;{};{};{}", job.usr_cpu, job.sys_cpu, job.ctx, job.majf, job.minf)?;
    job.iodepth_level.0.iter().try_for_each(|(_, share)| write!(out, ";{share:.1}%"))?;
    write_latency_shares(out, job)?;
    if version > TerseVersion::V2 {
        report.disk_util.iter().try_for_each(|disk| write_disk(out, disk))?;
    }
    if let Some(errors) = &job.tolerated {
        write!(out, ";{};{}", errors.total_err, errors.first_error)?;
    }
    if let Some(description) = &job.desc {
        let start = if version == TerseVersion::V2 { "\n;" } else { ";" };
        write!(out, "{start}{description}")?;
    }
    out.push('\n');
    Ok(())
}

/// The directions of a line in order, each with that of the group.
fn directions<'a>(
    job: &'a JobReport,
    group: Option<&GroupReport>,
    version: TerseVersion,
) -> Vec<(&'a DirectionReport, Option<GroupDirection>)> {
    let trims = version != TerseVersion::V3;
    let named = [&job.read, &job.write, &job.trim].into_iter().take(if trims { 3 } else { 2 }).enumerate();
    let mut shown: Vec<_> = named
        .filter_map(|(index, direction)| {
            Some((direction.as_ref()?, group.and_then(|group| group.directions[index])))
        })
        .collect();
    let group = group.and_then(|group| if job.read.is_none() { group.mixed } else { group.directions[0] });
    shown.extend(job.mixed.as_ref().map(|mixed| (mixed, group)));
    shown
}

fn write_direction(
    out: &mut String,
    job: &JobReport,
    direction: &DirectionReport,
    group: Option<GroupDirection>,
    version: TerseVersion,
) -> fmt::Result {
    let DirectionReport { io_kbytes, bw, iops, runtime, .. } = direction;
    write!(out, ";{io_kbytes};{bw};{};{runtime}", *iops as u64)?;
    write_latency(out, &direction.slat_ns)?;
    write_latency(out, &direction.clat_ns)?;
    write_percentiles(out, job, direction)?;
    write_latency(out, &direction.lat_ns)?;
    write!(out, ";{};{}", direction.bw_min, direction.bw_max)?;
    write!(out, ";{:.6}%", share_of_group(direction, group))?;
    write!(out, ";{:.6};{:.6}", direction.bw_mean, direction.bw_dev)?;
    if version == TerseVersion::V5 {
        write!(out, ";{};{};{}", direction.bw_samples, direction.iops_min, direction.iops_max)?;
        let DirectionReport { iops_mean, iops_stddev, iops_samples, .. } = direction;
        write!(out, ";{iops_mean:.6};{iops_stddev:.6};{iops_samples}")?;
    }
    Ok(())
}

fn write_latency(out: &mut String, latency: &LatencyReport) -> fmt::Result {
    let LatencyReport { min, max, mean, stddev, .. } = latency;
    write!(out, ";{};{};{:.6};{:.6}", min / 1000, max / 1000, mean / 1000.0, stddev / 1000.0)
}

/// Writes a field for each percentile of the list, with or without samples, and empty ones after them.
fn write_percentiles(out: &mut String, job: &JobReport, direction: &DirectionReport) -> fmt::Result {
    let list = &job.text.terse_percentiles;
    let latency = if list.of_lat { &direction.lat_ns } else { &direction.clat_ns };
    for index in 0..PERCENTILES {
        match list.percents.get(index) {
            None => out.push_str(";0%=0"),
            Some(percent) => {
                let ns = latency.percentile.0.get(index).map_or(0, |&(_, ns)| ns);
                write!(out, ";{percent:.6}%={}", ns / 1000)?;
            }
        }
    }
    Ok(())
}

/// The mean bandwidth of an entry in percent of its group's, counted in whole KiB/s.
fn share_of_group(direction: &DirectionReport, group: Option<GroupDirection>) -> f64 {
    let group_kib = group.map_or(0, |group| group.bw / 1024);
    if direction.bw_samples == 0 {
        0.0
    } else if group_kib == 0 {
        100.0
    } else {
        (100.0 * direction.bw_mean / group_kib as f64).min(100.0)
    }
}

/// Writes the shares of latencies; I/Os of less than a µs count in the first field.
fn write_latency_shares(out: &mut String, job: &JobReport) -> fmt::Result {
    let below_us: f64 = values(&job.latency_ns).sum();
    let us = values(&job.latency_us).take(10).enumerate();
    let us = us.map(|(index, share)| if index == 0 { share + below_us } else { share });
    us.chain(values(&job.latency_ms)).try_for_each(|share| write!(out, ";{share:.2}%"))
}

fn values(shares: &LabelledShares) -> impl Iterator<Item = f64> {
    shares.0.iter().map(|&(_, share)| share)
}

fn write_disk(out: &mut String, disk: &DiskReport) -> fmt::Result {
    write!(out, ";{};{};{}", disk.name, disk.read_ios, disk.write_ios)?;
    write!(out, ";{};{}", disk.read_merges, disk.write_merges)?;
    write!(out, ";{};{};{};{:.2}%", disk.read_ticks, disk.write_ticks, disk.in_queue, disk.util)?;
    if let Some(means) = &disk.slaves {
        write!(out, ";slaves;{};{}", means.aggr_read_ios, means.aggr_write_ios)?;
        write!(out, ";{};{}", means.aggr_read_merges, means.aggr_write_merges)?;
        let (read, write, queue) = (means.aggr_read_ticks, means.aggr_write_ticks, means.aggr_in_queue);
        write!(out, ";{read};{write};{queue};{:.2}%", means.aggr_util)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
