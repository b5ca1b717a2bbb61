//! The terse format: one line of fields between semicolons for each entry, in fio's versions 2 to 5.
//!
//! Latencies are in µs; extremes and percentiles are whole, rounded down. The number of fields of a direction does not depend on the job's
//! I/O, so that readers can count them. A field is created together with its name: the line of names, and the list of `ferrio help terse`,
//! always match the fields.

use std::fmt::Write as _;
use std::str::FromStr;

use crate::model::{
    DirectionReport, DiskReport, GroupDirection, GroupReport, JobReport, LATENCY_LABELS, LEVEL_LABELS,
    LatencyReport, Pairs, RunReport, SlaveMeans, ToleratedErrors,
};

/// Number of percentile fields of a direction.
const PERCENTILES: usize = 20;

/// The version of the format, which selects fields (`--terse-version`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerseVersion {
    /// Without the version of the program and without disks; the description is on its own line.
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
    const ALL: [TerseVersion; 4] = [TerseVersion::V2, TerseVersion::V3, TerseVersion::V4, TerseVersion::V5];
}

/// The error for a text that is not a version of the terse format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bad terse version format: the versions are {}", TerseVersion::WORDS.join(", "))]
pub struct UnknownTerseVersion;

impl FromStr for TerseVersion {
    type Err = UnknownTerseVersion;

    fn from_str(text: &str) -> Result<Self, UnknownTerseVersion> {
        let of_text = TerseVersion::WORDS.into_iter().position(|word| word == text);
        of_text.map(|at| TerseVersion::ALL[at]).ok_or(UnknownTerseVersion)
    }
}

/// The layout of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerseLayout {
    /// Selects the fields of a line.
    pub version: TerseVersion,
    /// Precedes the first line, and each line whose fields differ from the previous one, by the names of its fields (`--terse-header`).
    pub header: bool,
}

impl From<TerseVersion> for TerseLayout {
    fn from(version: TerseVersion) -> Self {
        TerseLayout { version, header: false }
    }
}

/// One field of a line.
struct Field {
    /// Name, such as `read_clat_mean_us`; unique in the line.
    name: String,
    about: String,
    text: String,
}

/// The fields of a line.
#[derive(Default)]
struct Fields(Vec<Field>);

impl Fields {
    fn add(&mut self, name: impl Into<String>, about: impl Into<String>, text: impl ToString) {
        self.0.push(Field { name: name.into(), about: about.into(), text: text.to_string() });
    }

    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|field| field.name.as_str()).collect()
    }
}

/// The lines of all entries.
#[must_use]
pub fn to_terse(report: &RunReport, layout: TerseLayout) -> String {
    let mut out = String::new();
    let mut named = String::new();
    for job in &report.jobs {
        let fields = entry_fields(report, job, layout.version);
        let names = fields.names().join(";");
        if layout.header && names != named {
            out.push_str(&names);
            out.push('\n');
            named = names;
        }
        let texts: Vec<&str> = fields.0.iter().map(|field| field.text.as_str()).collect();
        out.push_str(&texts.join(";"));
        if let Some(description) = job.desc.as_ref().filter(|_| layout.version == TerseVersion::V2) {
            // The description is on its own line.
            let _ = write!(out, "\n;{description}");
        }
        out.push('\n');
    }
    out
}

/// The line of the disks, whose first field is empty; nothing without disks, and in version 2.
pub(crate) fn disk_line(disks: &[DiskReport], version: TerseVersion) -> String {
    if disks.is_empty() || version == TerseVersion::V2 {
        return String::new();
    }
    let mut fields = Fields::default();
    (1..).zip(disks).for_each(|(number, disk)| add_disk(&mut fields, number, disk));
    fields.0.iter().fold(String::new(), |line, field| line + ";" + &field.text) + "\n"
}

/// The fields of each version as text: numbers from 1, names and meanings.
#[must_use]
pub fn terse_help() -> String {
    let report = full_report();
    let of_versions = TerseVersion::ALL.map(|version| entry_fields(&report, &report.jobs[0], version));
    let all = &of_versions[TerseVersion::ALL.len() - 1].0;
    let width = all.iter().map(|field| field.name.len()).max().unwrap_or(0);
    let mut out = format!(" v2   v3   v4   v5  {:width$}  meaning\n", "field");
    for field in all {
        for fields in &of_versions {
            let at = fields.0.iter().position(|other| other.name == field.name);
            let _ = write!(out, "{:>3}  ", at.map_or_else(|| "-".to_owned(), |at| (at + 1).to_string()));
        }
        let _ = writeln!(out, "{:width$}  {}", field.name, field.about);
    }
    out
}

/// A report that has every field once.
fn full_report() -> RunReport {
    let shares = |labels: &[&str]| Pairs(labels.iter().map(|&label| (label.to_owned(), 0.0)).collect());
    let direction = || Some(DirectionReport::default());
    let job = JobReport {
        read: direction(),
        write: direction(),
        trim: direction(),
        iodepth_level: shares(&LEVEL_LABELS),
        latency_us: shares(&LATENCY_LABELS[..US_FIELDS]),
        latency_ms: shares(&LATENCY_LABELS),
        tolerated: Some(ToleratedErrors::default()),
        desc: Some(String::new()),
        ..JobReport::default()
    };
    let disk = DiskReport { slaves: Some(SlaveMeans::default()), ..DiskReport::default() };
    RunReport { jobs: vec![job], disk_util: vec![disk], ..RunReport::default() }
}

/// Number of fields for latencies in µs.
const US_FIELDS: usize = 10;

fn entry_fields(report: &RunReport, job: &JobReport, version: TerseVersion) -> Fields {
    let mut fields = Fields::default();
    fields.add("terse_version", "version of the terse format", version as u8);
    if version > TerseVersion::V2 {
        fields.add("fio_version", "version of fio that the line follows", &report.version);
    }
    fields.add("jobname", "name of the job", &job.jobname);
    fields.add("groupid", "number of its reporting group", job.groupid);
    fields.add("error", "errno, 0 without errors", job.error);
    let group = report.groups.iter().find(|group| group.id == job.groupid);
    for (name, direction, summary) in directions(job, group, version) {
        add_direction(&mut fields, name, job, (direction, summary), version);
    }
    fields.add("cpu_user_percent", "user time, of the run time", format!("{:.6}%", job.usr_cpu));
    fields.add("cpu_system_percent", "system time, of the run time", format!("{:.6}%", job.sys_cpu));
    fields.add("context_switches", "context switches", job.ctx);
    fields.add("major_faults", "major page faults", job.majf);
    fields.add("minor_faults", "minor page faults", job.minf);
    for (label, share) in &job.iodepth_level.0 {
        let (name, depth) = match label.strip_prefix(">=") {
            Some(least) => (format!("iodepth_from_{least}_percent"), format!("{least} or more")),
            None => (format!("iodepth_{label}_percent"), format!("{label}, up to the next field")),
        };
        fields.add(name, format!("I/Os submitted at a depth of {depth}"), format!("{share:.1}%"));
    }
    add_latency_shares(&mut fields, job);
    if version > TerseVersion::V2 {
        for (number, disk) in (1..).zip(&report.disk_util) {
            add_disk(&mut fields, number, disk);
        }
    }
    if let Some(errors) = &job.tolerated {
        fields.add("total_errors", "errors, only with continue_on_error", errors.total_err);
        fields.add("first_error", "errno of the first of them", errors.first_error);
    }
    if let Some(description) = job.desc.as_ref().filter(|_| version > TerseVersion::V2) {
        fields.add(
            "description",
            "description of the job, only if it has one; in version 2 a line of its own",
            description,
        );
    }
    fields
}

/// The directions of a line in order, each with its name and the group's figures.
fn directions<'a>(
    job: &'a JobReport,
    group: Option<&GroupReport>,
    version: TerseVersion,
) -> Vec<(&'static str, &'a DirectionReport, Option<GroupDirection>)> {
    let trims = version != TerseVersion::V3;
    let named = [("read", &job.read), ("write", &job.write), ("trim", &job.trim)];
    let named = named.into_iter().take(if trims { 3 } else { 2 }).enumerate();
    let mut shown: Vec<_> = named
        .filter_map(|(index, (name, direction))| {
            Some((name, direction.as_ref()?, group.and_then(|group| group.directions[index])))
        })
        .collect();
    let group = group.and_then(|group| if job.read.is_none() { group.mixed } else { group.directions[0] });
    shown.extend(job.mixed.as_ref().map(|mixed| ("mixed", mixed, group)));
    shown
}

fn add_direction(
    fields: &mut Fields,
    name: &str,
    job: &JobReport,
    (direction, group): (&DirectionReport, Option<GroupDirection>),
    version: TerseVersion,
) {
    let mut add =
        |figure: &str, about: &str, text: String| fields.add(format!("{name}_{figure}"), about, text);
    add("io_kib", "data moved, KiB", direction.io_kbytes.to_string());
    add("bw_kib", "bandwidth, KiB/s", direction.bw.to_string());
    add("iops", "I/Os per second, rounded down", (direction.iops as u64).to_string());
    add("runtime_ms", "run time, ms", direction.runtime.to_string());
    add_latency(fields, name, "slat", "submission latency", &direction.slat_ns);
    add_latency(fields, name, "clat", "completion latency", &direction.clat_ns);
    add_percentiles(fields, name, job, direction);
    add_latency(fields, name, "lat", "total latency", &direction.lat_ns);
    let mut add =
        |figure: &str, about: &str, text: String| fields.add(format!("{name}_{figure}"), about, text);
    add("bw_min_kib", "smallest sample of the bandwidth, KiB/s", direction.bw_min.to_string());
    add("bw_max_kib", "largest sample, KiB/s", direction.bw_max.to_string());
    add(
        "bw_group_percent",
        "mean of the samples, of the group's bandwidth",
        format!("{:.6}%", share_of_group(direction, group)),
    );
    add("bw_mean_kib", "mean of the samples, KiB/s", format!("{:.6}", direction.bw_mean));
    add("bw_stddev_kib", "standard deviation of the samples, KiB/s", format!("{:.6}", direction.bw_dev));
    if version == TerseVersion::V5 {
        add("bw_samples", "number of samples", direction.bw_samples.to_string());
        add("iops_min", "smallest sample of the IOPS", direction.iops_min.to_string());
        add("iops_max", "largest sample", direction.iops_max.to_string());
        add("iops_mean", "mean of the samples", format!("{:.6}", direction.iops_mean));
        add("iops_stddev", "standard deviation of the samples", format!("{:.6}", direction.iops_stddev));
        add("iops_samples", "number of samples", direction.iops_samples.to_string());
    }
}

fn add_latency(fields: &mut Fields, direction: &str, kind: &str, about: &str, latency: &LatencyReport) {
    let LatencyReport { min, max, mean, stddev, .. } = latency;
    let mut add = |figure: &str, word: &str, text: String| {
        fields.add(format!("{direction}_{kind}_{figure}_us"), format!("{about}, {word}, µs"), text);
    };
    add("min", "smallest", (min / 1000).to_string());
    add("max", "largest", (max / 1000).to_string());
    add("mean", "mean", format!("{:.6}", mean / 1000.0));
    add("stddev", "standard deviation", format!("{:.6}", stddev / 1000.0));
}

/// Adds a field for each percentile of the list, with or without samples, and empty ones for the rest.
fn add_percentiles(fields: &mut Fields, name: &str, job: &JobReport, direction: &DirectionReport) {
    let list = &job.text.terse_percentiles;
    let latency = if list.of_lat { &direction.lat_ns } else { &direction.clat_ns };
    for index in 0..PERCENTILES {
        let text = match list.percents.get(index) {
            None => "0%=0".to_owned(),
            Some(percent) => {
                let ns = latency.percentile.0.get(index).map_or(0, |&(_, ns)| ns);
                format!("{percent:.6}%={}", ns / 1000)
            }
        };
        let about = "PERCENT%=LATENCY, a percentile of percentile_list, µs";
        fields.add(format!("{name}_percentile_{}", index + 1), about, text);
    }
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

/// Adds the shares of latencies; I/Os of less than a µs are added to the first field.
fn add_latency_shares(fields: &mut Fields, job: &JobReport) {
    let below_us: f64 = job.latency_ns.0.iter().map(|&(_, share)| share).sum();
    let us = job.latency_us.0.iter().take(US_FIELDS).map(|(label, share)| ("us", "µs", label, *share));
    let ms = job.latency_ms.0.iter().map(|(label, share)| ("ms", "ms", label, *share));
    for (index, (unit, shown_unit, label, share)) in us.chain(ms).enumerate() {
        let share = if index == 0 { share + below_us } else { share };
        let (name, about) = match label.strip_prefix(">=") {
            Some(least) => (
                format!("lat_from_{least}{unit}_percent"),
                format!("I/Os that took {least} {shown_unit} or more"),
            ),
            None => (
                format!("lat_below_{label}{unit}_percent"),
                format!("I/Os that took less than {label} {shown_unit}, but not less than the field before"),
            ),
        };
        fields.add(name, about, format!("{share:.2}%"));
    }
}

fn add_disk(fields: &mut Fields, number: usize, disk: &DiskReport) {
    let mut add =
        |figure: &str, about: &str, text: String| fields.add(format!("disk{number}_{figure}"), about, text);
    add("name", "a disk of the run; further disks follow with as many fields", disk.name.clone());
    add("read_ios", "reads", disk.read_ios.to_string());
    add("write_ios", "writes", disk.write_ios.to_string());
    add("read_merges", "reads merged into others", disk.read_merges.to_string());
    add("write_merges", "writes merged into others", disk.write_merges.to_string());
    add("read_ms", "time of reads, ms", disk.read_ticks.to_string());
    add("write_ms", "time of writes, ms", disk.write_ticks.to_string());
    add("queue_ms", "time in the queue, ms", disk.in_queue.to_string());
    add("util_percent", "time in which it had requests", format!("{:.2}%", disk.util));
    let Some(means) = &disk.slaves else { return };
    add("slaves", "the word `slaves`, only if the disk has any; their means follow", "slaves".to_owned());
    add("slaves_read_ios", "reads", means.aggr_read_ios.to_string());
    add("slaves_write_ios", "writes", means.aggr_write_ios.to_string());
    add("slaves_read_merges", "reads merged into others", means.aggr_read_merges.to_string());
    add("slaves_write_merges", "writes merged into others", means.aggr_write_merges.to_string());
    add("slaves_read_ms", "time of reads, ms", means.aggr_read_ticks.to_string());
    add("slaves_write_ms", "time of writes, ms", means.aggr_write_ticks.to_string());
    add("slaves_queue_ms", "time in the queue, ms", means.aggr_in_queue.to_string());
    add("slaves_util_percent", "largest utilisation", format!("{:.2}%", means.aggr_util));
}

#[cfg(test)]
mod tests;
