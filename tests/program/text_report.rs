//! The text report beside fio's: the lines before the run, the lines of the report in their order, and the counts in them.

use std::fs;

use crate::support::{Place, same};

/// What is comparable of the report on a job file.
#[derive(Debug, PartialEq)]
struct Text {
    /// Everything before the report, but the version line.
    start: Vec<String>,
    /// Labels of the lines of the report.
    labels: Vec<String>,
    /// Lines that time has no influence on.
    counts: Vec<String>,
}

fn text(job: &str, fio: bool) -> Text {
    let place = Place::new();
    let job = place.job(job);
    let report = place.beside("report");
    let words = [format!("--output={}", report.display()), job];
    let program = if fio { place.fio(&words) } else { place.ferrio(&words) };
    program.run().succeeded();
    let report = fs::read_to_string(report).unwrap();
    let (start, body) = report.split_once("\n\n").unwrap();
    let start = start.lines().filter(|line| !line.starts_with("fio-")).map(str::to_owned).collect();
    let counts = body.lines().filter(|line| line.trim_start().starts_with("issued rwts")).map(str::to_owned);
    Text { start, labels: body.lines().filter_map(label).collect(), counts: counts.collect() }
}

/// A line up to its first value, without units; nothing for lines that depend on how long something took.
fn label(line: &str) -> Option<String> {
    let fleeting = ["lat (", "|", "bw (", "iops "].iter().any(|start| line.trim_start().starts_with(start));
    // A total latency has three figures, a line of shares has none of these.
    let summary = line.contains("avg=") && line.trim_start().starts_with("lat (");
    if fleeting && !summary {
        return None;
    }
    // Added since 3.33, the oldest version compared with.
    let line = line.replace("/sync_file_range/syncfs:", "/sync_file_range:");
    let label = line.split(['=', ':']).next().unwrap_or_default();
    let label =
        ["nsec", "usec", "msec"].iter().fold(label.to_owned(), |label, unit| label.replace(unit, "time"));
    Some(label)
}

#[track_caller]
fn compare(job: &str) {
    let (fio, ferrio) = (text(job, true), text(job, false));
    same!("fio": fio, "ferrio": ferrio, "the text report on\n{job}");
}

#[test]
fn one_synchronous_job_has_fios_lines() {
    compare("[one]\nrw=randread\nsize=256k\n");
}

#[test]
fn a_queue_has_fios_lines_on_depth_and_submission() {
    compare("[deep]\nioengine=io_uring\niodepth=8\ndirect=1\nrw=randrw\nsize=256k\nbs=8k\n");
}

#[test]
fn groups_clones_and_descriptions_have_fios_lines() {
    compare(
        "[global]\nsize=128k\n[first]\nrw=write\nnumjobs=3\ndescription=three writers\n\
         [second]\nstonewall\nrw=read\nbs=4k-16k\n",
    );
    compare("[global]\nsize=128k\ngroup_reporting\nthread\n[sum]\nrw=rw\nnumjobs=3\n");
}

#[test]
fn syncs_have_fios_lines() {
    compare("[syncs]\nrw=write\nsize=64k\nfsync=4\n");
}

#[test]
fn a_job_that_is_not_measured_has_fios_lines() {
    compare("[reduced]\nrw=read\nsize=64k\ngtod_reduce=1\n");
    compare("[percentiles]\nrw=read\nsize=64k\nlat_percentiles=1\nclat_percentiles=0\n");
}

#[test]
fn trims_of_the_null_engine_have_fios_lines() {
    compare("[trims]\nioengine=null\nrw=trim\nsize=64k\n");
}

#[test]
fn directions_reported_as_one_have_fios_lines() {
    compare("[unified]\nrw=rw\nsize=256k\nunified_rw_reporting=mixed\n");
    compare("[unified]\nrw=rw\nsize=256k\nnumjobs=2\ngroup_reporting\nunified_rw_reporting=both\n");
}

#[test]
fn percentiles_of_every_latency_have_fios_lines() {
    let all = "slat_percentiles=1\nclat_percentiles=1\nlat_percentiles=1\n";
    compare(&format!("[all]\nrw=randread\nsize=256k\nioengine=libaio\niodepth=4\n{all}"));
    compare(&format!("[all]\nrw=randrw\nsize=256k\n{all}percentile_list=50:99.5\n"));
}
