//! The text report beside fio's, line by line: everything but what measures time is the same.

mod mask;

use std::fs;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::support::{TestDir, at_once, both, same, side_by_side};
use mask::masked;

/// Compares the reports of both programs on a job file, masked and line by line.
#[track_caller]
fn compare(job: &str) {
    compare_ending_with(0, job);
}

/// The same for a run that ends with this status, the number of failed jobs.
#[track_caller]
fn compare_ending_with(status: i32, job: &str) {
    let [fio, ferrio] = both(|fio| report(job, status, fio));
    let (fio, ferrio) = (masked(&as_of_3_42(&fio)), masked(&without_own_lines(&ferrio)));
    assert!(fio.iter().any(|line| line.starts_with("Run status group")), "fio reports nothing on\n{job}");
    same!("fio": fio, "ferrio": ferrio, "the text report on\n{job}");
}

/// Compares the reports on several job files; those without globals share one start of each program.
fn compare_all(jobs: &[&str]) {
    let (mut starts, shared): (Vec<_>, Vec<_>) =
        jobs.iter().map(|&job| job.to_owned()).partition(|job| job.contains("[global]"));
    if !shared.is_empty() {
        starts.push(side_by_side(&shared));
    }
    at_once(&starts, |job| compare(job));
}

/// What a program writes to `--output` on a job file.
fn report(job: &str, status: i32, fio: bool) -> String {
    let dir = TestDir::new();
    let report = dir.beside("report");
    let words = [format!("--output={}", report.display()), dir.job(job)];
    let program = if fio { dir.fio(&words) } else { dir.ferrio(&words) };
    program.run().ended_with(status);
    fs::read_to_string(report).unwrap()
}

/// A report of the oldest version compared with, 3.33, as 3.42 prints it: all differences there are.
fn as_of_3_42(report: &str) -> String {
    // Notes and errors go to the file of the report, too; those of ferrio do not.
    let report = replaced(report, "(?m)^fio: .*\n", "");
    // Every write was taken for one to zones.
    let report = replaced(&report, r"(?m)^(  write: .*); 0 zone resets$", "$1");
    // syncfs was not known.
    let report = replaced(&report, "(?m)^(  fsync/fdatasync/sync_file_range):$", "$1/syncfs:");
    // The target was printed in ns and its window in µs, both without a unit.
    static TARGET: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^(     latency   : target=)(\d+)(, window=)(\d+)").unwrap());
    let with_units = |found: &Captures<'_>| {
        let ns = [(2, 1), (4, 1000)].map(|(at, scale)| found[at].parse::<u64>().unwrap() * scale);
        format!("{}{}{}{}", &found[1], duration(ns[0]), &found[3], duration(ns[1]))
    };
    let report = TARGET.replace_all(&report, with_units);
    // Sectors were not printed.
    let report = replaced(&report, r"(?m)^(  \w+: ios=\d+/\d+, )(merge=)", "${1}sectors=0/0, $2");
    // Nothing was added up into the `mixed` part of a report that has all directions as well: it is not compared.
    without_mixed_beside_others(&report)
}

/// ferrio's report without the lines that fio does not have; `docs/differences.md` names them.
fn without_own_lines(report: &str) -> String {
    let report = replaced(report, "(?m)^    response .*\n", "");
    let report = replaced(&report, "(?m)^     tuning    : .*\n", "");
    without_mixed_beside_others(&report)
}

fn without_mixed_beside_others(report: &str) -> String {
    if report.contains("\n  mixed:") && report.contains("\n  read:") {
        replaced(report, "(?m)^  mixed: .*\n(?:   .*\n)*", "")
    } else {
        report.to_owned()
    }
}

fn replaced(report: &str, pattern: &str, with: &str) -> String {
    Regex::new(pattern).unwrap().replace_all(report, with).into_owned()
}

fn duration(ns: u64) -> String {
    match ns {
        0..2_000 => format!("{ns}.00ns"),
        2_000..2_000_000 => format!("{:.2}us", ns as f64 / 1e3),
        2_000_000..2_000_000_000 => format!("{:.2}ms", ns as f64 / 1e6),
        _ => format!("{:.2}s", ns as f64 / 1e9),
    }
}

#[test]
fn reads_of_the_null_engine_have_fios_lines() {
    needs!("fio");
    compare_all(&[
        "[a]\nioengine=null\nrw=read\nsize=1m\n",
        "[long-name-of-a-job]\nioengine=null\nrw=randread\nsize=1m\nbs=512-64k\nrandrepeat=0\nrandseed=7\n",
    ]);
}

#[test]
fn writes_and_mixes_of_the_null_engine_have_fios_lines() {
    needs!("fio");
    compare_all(&[
        "[tens]\nioengine=null\nrw=write\nsize=1m\nbs=10k\ndescription=ten \"at\" a time\n",
        "[deep]\nioengine=null\nrw=randrw\nsize=1m\niodepth=8\nrandrepeat=0\nrandseed=7\n",
        "[batches]\nioengine=null\nrw=rw\nsize=1m\nnumber_ios=96\nbs=4k,16k,64k\niodepth=32\niodepth_batch=8\n",
    ]);
}

#[test]
fn trims_of_the_null_engine_have_fios_lines() {
    needs!("fio");
    compare(
        "[trims]\nioengine=null\nrw=trim\nsize=64k\n[both]\nstonewall\nioengine=null\nrw=trimwrite\nsize=64k\n",
    );
}

#[test]
fn one_synchronous_job_has_fios_lines() {
    needs!("fio");
    compare_all(&["[psync]\nrw=randread\nsize=256k\n", "[mmap]\nioengine=mmap\nrw=write\nsize=256k\n"]);
}

#[test]
fn a_queue_has_fios_lines_on_depth_and_submission() {
    needs!("fio");
    compare_all(&[
        "[ring]\nioengine=io_uring\niodepth=8\ndirect=1\nrw=read\nsize=256k\nbs=8k\n",
        "[batches]\nioengine=libaio\niodepth=4\niodepth_batch=4\niodepth_batch_complete_min=4\niodepth_batch_complete_max=4\ndirect=1\nrw=write\nsize=256k\n",
    ]);
}

#[test]
fn groups_clones_and_descriptions_have_fios_lines() {
    needs!("fio");
    compare_all(&[
        "[global]\nsize=128k\n[first]\nrw=write\nnumjobs=3\ndescription=three writers\n\
         [second]\nstonewall\nrw=read\nbs=4k-16k\nrandrepeat=0\nrandseed=3\n",
        "[global]\nioengine=null\nsize=128k\ngroup_reporting\nthread\n[sum]\nrw=rw\nnumjobs=3\n",
        "[global]\nioengine=null\nsize=1m\ngroup_reporting\n[a]\nrw=read\ndescription=of the first\n[b]\nrw=write\ndescription=hidden\n\
         [c]\nnew_group\nrw=read\n[d]\nstonewall\nrw=trim\nthread\n",
    ]);
}

#[test]
fn jobs_with_and_without_a_common_report_in_one_group_have_fios_lines() {
    needs!("fio");
    compare(
        "[global]\nioengine=null\nsize=64k\n[alone]\n[sum]\ngroup_reporting\nnumjobs=2\nnew_group\nrw=write\n",
    );
}

#[test]
fn jobs_without_io_have_fios_lines() {
    needs!("fio");
    compare_all(&[
        "[made]\nrw=randrw\nsize=64k\ncreate_only=1\n",
        "[global]\nioengine=null\nsize=64k\n[made]\nnumber_ios=1\n[none]\nstonewall\nsize=4k\noffset=0\n",
    ]);
}

#[test]
fn lines_before_the_run_are_fios() {
    needs!("fio");
    compare_all(&[
        "[files]\nrw=read\nsize=3m\nbs=128k\nnrfiles=3\n[one]\nrw=write\nsize=2m\nbs=1m\n",
        "[global]\nioengine=null\nsize=64k\n[a]\nthread\nnumjobs=2\n[b]\nnumjobs=3\n[c]\nthread\nnew_group\n",
        "[s]\nioengine=null\nsize=1m\nrw=read\nbs=8k,64k\nbs_is_seq_rand=1\n[t]\nioengine=null\nrw=write\nbsrange=4k-16k,8k-8k\nsize=64k\nrandrepeat=0\nrandseed=5\n",
        "[z]\nioengine=null\nrw=write\nsize=1m\nzonemode=strided\nzonesize=64k\nzonerange=64k\nzoneskip=64k\nbs=9999\n",
    ]);
}

#[test]
fn names_and_descriptions_are_cut_where_fio_cuts_them() {
    needs!("fio");
    let (name, description) = ("n".repeat(200), "d".repeat(300));
    compare(&format!("[{name}]\nioengine=null\nsize=64k\ndescription={description}\n"));
}

#[test]
fn what_is_read_back_has_fios_lines() {
    needs!("fio");
    compare_all(&[
        "[v]\nrw=randwrite\nsize=64k\nverify=crc32c\n",
        "[l]\nioengine=null\nrw=write\nsize=64k\nloops=3\nthinktime=1ms\nthinktime_blocks=8\n",
    ]);
}

#[test]
fn a_steady_state_has_fios_line() {
    needs!("fio");
    compare(
        "[global]\nioengine=null\nsize=1g\nrate_iops=500\nnumber_ios=550\n[i]\nsteadystate=iops:0.1%\nsteadystate_duration=4\n\
         [b]\nnew_group\nss=bw_slope:10k\nss_dur=4\nkb_base=1000\n",
    );
}

#[test]
fn syncs_have_fios_lines() {
    needs!("fio");
    compare_all(&[
        "[fourth]\nrw=write\nsize=64k\nfsync=4\n",
        "[each]\nrw=write\nsize=64k\nfsync=1\npercentile_list=50:99\nunified_rw_reporting=1\n",
        "[second]\nrw=write\nsize=64k\nfsync=2\nclat_percentiles=0\n",
        "[clones]\nrw=write\nsize=64k\nfsync=2\nnumjobs=2\ngroup_reporting\nlat_percentiles=1\n",
        "[unmeasured]\nrw=write\nsize=64k\nfsync=4\ndisable_clat=1\n[reduced]\nrw=write\nsize=64k\nfsync=4\ngtod_reduce=1\n",
    ]);
}

#[test]
fn a_job_that_is_not_measured_has_fios_lines() {
    needs!("fio");
    compare_all(&[
        "[reduced]\nrw=read\nsize=64k\ngtod_reduce=1\n",
        "[percentiles]\nrw=read\nsize=64k\nlat_percentiles=1\nclat_percentiles=0\n",
        "[lat]\nrw=read\nsize=64k\ndisable_lat=1\n[clat]\nrw=read\nsize=64k\ndisable_clat=1\n[bw]\nrw=read\nsize=64k\ndisable_bw=1\n",
        "[slat]\nioengine=libaio\nrw=read\nsize=64k\ndisable_slat=1\nslat_percentiles=1\n",
    ]);
}

#[test]
fn directions_reported_as_one_have_fios_lines() {
    needs!("fio");
    let jobs = [
        "[unified]\nioengine=null\nrw=rw\nsize=256k\nunified_rw_reporting=mixed\n",
        "[unified]\nioengine=null\nrw=rw\nsize=256k\nnumjobs=2\ngroup_reporting\nunified_rw_reporting=both\n",
        "[global]\nioengine=null\nsize=256k\n[one]\nrw=rw\nunified_rw_reporting=1\n[trims]\nrw=trim\nunified_rw_reporting=1\n",
    ];
    // The lines beside a `mixed` line decide whether it is compared, so each job has its own start.
    at_once(&jobs, |job| compare(job));
}

#[test]
fn percentiles_of_every_latency_have_fios_lines() {
    needs!("fio");
    let all = "slat_percentiles=1\nclat_percentiles=1\nlat_percentiles=1\n";
    compare_all(&[
        &format!(
            "[all]\nrw=read\ndirect=1\nsize=256k\nioengine=libaio\niodepth=4\niodepth_batch_complete_min=4\n{all}"
        ),
        &format!("[null]\nioengine=null\nrw=read\nsize=256k\n{all}percentile_list=50:99.5\n"),
        "[digits]\nioengine=null\nsize=256k\npercentile_list=99.9999:1:50.5:20:30:40:60:70:75:80:85:90\n",
        "[whole]\nioengine=null\nsize=256k\npercentile_list=1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:100\n",
        "[none]\nioengine=null\nsize=256k\npercentile_list=0:50\n",
    ]);
}

#[test]
fn units_and_figures_have_fios_lines() {
    needs!("fio");
    compare_all(&[
        "[global]\nioengine=null\nsize=1m\n[a]\nkb_base=1000\n[b]\nstonewall\nunit_base=1\nrw=write\nbs=10240\nsignificant_figures=6\n",
        "[decimal]\nioengine=null\nsize=1000000\nkb_base=1000\nsignificant_figures=1\nbs=1000\n",
        "[digits]\nioengine=null\nsize=1234567\nsignificant_figures=10\nbs=1k\n",
    ]);
}

#[test]
fn samples_of_longer_jobs_have_fios_lines() {
    needs!("fio");
    compare(
        "[global]\nioengine=null\nsize=1m\nbs=8k\nrate=2m\nbwavgtime=100\niopsavgtime=150\n[a]\n[b]\nrw=write\nkb_base=1000\n",
    );
}

#[test]
fn errors_that_are_ignored_have_fios_lines() {
    needs!("fio");
    compare_all(&[
        "[e]\nfilename=/dev/full\nsize=64k\nrw=write\nbs=4k\ncontinue_on_error=write\nignore_error=,ENOSPC\n",
        "[none]\nioengine=null\nsize=64k\ncontinue_on_error=all\n",
    ]);
}

#[test]
fn jobs_that_fail_have_fios_lines() {
    needs!("fio");
    let bad = "filename=/dev/full\nrw=write\nsize=64k\n";
    at_once(
        &[
            format!("[good]\nioengine=null\nsize=64k\n[bad]\nnew_group\n{bad}"),
            format!("[global]\ngroup_reporting\n[good]\nioengine=null\nsize=64k\n[bad]\n{bad}"),
        ],
        |job| compare_ending_with(1, job),
    );
}

#[test]
fn the_base_of_units_is_that_of_the_last_job_of_a_group_and_of_the_first_of_an_entry() {
    needs!("fio");
    let jobs = "[a]\n[b]\nrw=write\nkb_base=1000\n[c]\nrw=trim\nunit_base=1\nsignificant_figures=6\n";
    at_once(&["", "group_reporting\n"], |globals| {
        compare(&format!("[global]\nioengine=null\nsize=1m\nbs=16k\n{globals}{jobs}"));
    });
}

#[test]
fn latency_targets_have_fios_lines() {
    needs!("fio");
    compare_all(&[
        "[t]\nioengine=null\nsize=64k\nlatency_target=1500us\nlatency_window=2500ms\nlatency_percentile=99.5\n",
        "[u]\nioengine=null\nsize=64k\nlatency_target=5s\nlatency_window=100s\n",
    ]);
}
