//! The JSON report beside fio's on jobs of every kind: the same keys in the same order in both directions, the same types, and the same
//! values wherever time has no influence on them.

mod differences;
mod tree;

use crate::support::{TestDir, both, same, side_by_side};
use differences::{comparable, layout};
use tree::{places, without_repetitions};

/// Counts of a job that ends when its time is over.
const COUNTS: [&str; 4] = ["/(io_bytes|io_kbytes|total_ios)$", "_ns/N$", "_samples$", "/iodepth_"];

/// Compares the documents of both programs on a job file.
#[track_caller]
fn compare(job: &str) {
    compare_loosely(job, "json", &[]);
}

/// The same for several job files without globals, in one start of each program.
#[track_caller]
fn compare_all(jobs: &[&str]) {
    compare(&side_by_side(jobs));
}

/// The same in a format, with the values of some paths left out.
#[track_caller]
fn compare_loosely(job: &str, format: &str, loose: &[&str]) {
    let [fio, ferrio] = both(|fio| comparable(without_repetitions(places(&report(job, format, fio))), loose));
    let (only_fio, only_ferrio) = (without(&fio, &ferrio), without(&ferrio, &fio));
    let different = [("fio", only_fio), ("ferrio", only_ferrio)]
        .map(|(program, lines)| format!("--- only {program} has\n{}\n", lines.join("\n")));
    // The same lines in another order are a difference, too.
    assert!(fio == ferrio, "the reports on\n{job}\ndiffer\n{}{}", different[0], different[1]);
    assert!(fio.len() > 100, "a report on\n{job}\nhas more than {fio:#?}");
}

fn without<'a>(lines: &'a [String], others: &[String]) -> Vec<&'a str> {
    lines.iter().filter(|line| !others.contains(line)).map(String::as_str).collect()
}

/// The document of a program: in fio's output notes may stand before it, in ferrio's there is nothing else.
fn report(job: &str, format: &str, fio: bool) -> String {
    let dir = TestDir::new();
    let words = [format!("--output-format={format}"), dir.job(job)];
    if !fio {
        let document = dir.ferrio(&words).run().succeeded().stdout;
        let places = places(&document);
        same!("once": without_repetitions(places.clone()), "in the document": places, "no key is repeated on\n{job}");
        return document;
    }
    let output = dir.fio(&words).run().succeeded().stdout;
    let document = output
        .find("{\n")
        .map_or_else(|| panic!("fio reports nothing on\n{job}"), |start| output[start..].to_owned());
    assert_is_read(&output, &document);
    document
}

/// What fio wrote is read into ferrio's tree with its notes, and printed again it has every key and every value that fio's document has.
#[track_caller]
fn assert_is_read(output: &str, document: &str) {
    let tree = ferrio_report::read(output).unwrap_or_else(|error| panic!("{error}\n{output}"));
    let printed = places(&tree.to_json());
    let written = without_repetitions(places(document));
    // ferrio leaves `job options` out where there are none.
    let is_empty = |path: &str| {
        path.ends_with("/job options")
            && !written.iter().any(|(other, _)| other.starts_with(&format!("{path}/")))
    };
    let lost = written.iter().filter(|place| !printed.contains(place));
    let lost: Vec<_> = lost.filter(|(path, _)| !is_empty(path)).collect();
    assert!(lost.is_empty(), "not in the tree: {lost:#?}");
}

#[test]
fn documents_of_failed_jobs_and_of_runs_without_disks_are_read() {
    needs!("fio");
    let dir = TestDir::new();
    let job = "[bad]\nfilename=/dev/full\nrw=write\nsize=64k\n[good]\nioengine=null\nsize=64k\nrw=randrw\ngtod_reduce=1\n";
    let words = ["--output-format=json+".to_owned(), dir.job(job)];
    let output = dir.fio(&words).run().ended_with(1).stdout;
    assert_is_read(&output, &output[output.find("{\n").unwrap()..]);
    let report = ferrio_report::read(&output).unwrap();
    let [bad, good] = report.jobs.as_slice() else { panic!("{output}") };
    assert_eq!((bad.jobname.as_str(), bad.error, good.jobname.as_str(), good.error), ("bad", 28, "good", 0));
    let [read, write] = [&good.read, &good.write].map(|direction| direction.as_ref().unwrap());
    assert_eq!((read.total_ios + write.total_ios, read.clat_ns.samples), (16, 0));
    assert!(report.disk_util.is_empty() && report.ferrio.is_none());
}

#[test]
fn null_at_depth_1_with_a_queue_and_in_batches() {
    needs!("fio");
    compare_all(&[
        "[one]\nioengine=null\nrw=randread\nsize=1m\n",
        "[queue]\nioengine=null\nrw=rw\nsize=1m\niodepth=8\n[batches]\nioengine=null\nrw=write\nsize=1m\niodepth=16\niodepth_batch=16\n",
    ]);
}

#[test]
fn engines_and_their_syncs() {
    needs!("fio");
    compare_all(&[
        "[p]\nioengine=psync\nrw=randwrite\nsize=256k\nfsync=8\nend_fsync=1\n",
        "[m]\nioengine=mmap\nrw=randwrite\nsize=128k\nfsync=4\n",
        "[u]\nioengine=io_uring\ndirect=1\nrw=rw\nsize=256k\niodepth=8\n",
        "[l]\nioengine=libaio\ndirect=1\nrw=write\nsize=256k\niodepth=8\niodepth_batch=8\niodepth_batch_complete_min=8\n",
    ]);
}

#[test]
fn rates_pauses_and_passes() {
    needs!("fio");
    compare_all(&[
        "[r]\nioengine=null\nrw=read\nsize=128k\nrate_iops=2000\n[w]\nioengine=null\nrw=write\nbs=8k\nsize=256k\nrate=16m\n",
        "[t]\nioengine=null\nsize=64k\nthinktime=1ms\nthinktime_blocks=4\n[l]\nioengine=null\nrw=write\nsize=64k\nloops=3\n[n]\nioengine=null\nsize=1m\nnumber_ios=7\n",
    ]);
}

#[test]
fn zones_and_blocks_by_share_and_by_kind_of_offset() {
    needs!("fio");
    compare_all(&[
        "[z]\nioengine=null\nrw=write\nsize=1m\nzonemode=strided\nzonesize=48k\nzonerange=64k\nzoneskip=20k\n",
        "[s]\nioengine=null\nrw=randrw\nsize=2m\nrandrepeat=0\nrandseed=137\nbssplit=4k/60:8k/60,4k/20:32k/20\n",
    ]);
}

#[test]
fn trims_and_their_mixes() {
    needs!("fio");
    compare(
        "[global]\nioengine=null\nsize=256k\n[t]\nrw=randtrim\n[tw]\nrw=trimwrite\n[rtw]\nrw=randtrimwrite\n",
    );
}

#[test]
fn psync_with_fdatasync_and_sync_file_range() {
    needs!("fio");
    // 3.33 counts them as short transfers and not as syncs.
    let sync = ["/short_ios$", "/sync/total_ios$"];
    compare_loosely(
        "[d]\nrw=write\nsize=128k\nfdatasync=4\n[r]\nrw=write\nsize=128k\nsync_file_range=write:8\n",
        "json",
        &sync,
    );
}

#[test]
fn the_other_synchronous_engines() {
    needs!("fio");
    compare(
        "[global]\nsize=128k\n[s]\nioengine=sync\nrw=read\n[v]\nioengine=vsync\nrw=write\n[p]\nioengine=pvsync\nrw=randread\n[p2]\nioengine=pvsync2\nrw=rw\n",
    );
}

#[test]
fn libaio_in_batches() {
    needs!("fio");
    compare_loosely(
        "[l]\nioengine=libaio\ndirect=1\nrw=randread\nsize=512k\niodepth=16\niodepth_batch=4\niodepth_batch_complete_min=2\niodepth_low=8\n",
        "json",
        // How many are ready when at least two are waited for depends on the disk.
        &["/iodepth_level/", "/iodepth_submit/", "/iodepth_complete/"],
    );
}

#[test]
fn group_reporting_over_clones_groups_and_threads() {
    needs!("fio");
    compare(
        "[global]\nioengine=null\nsize=256k\ngroup_reporting\n[a]\nnumjobs=3\nrw=rw\ndescription=of \"a\" with \\ in it\n\
         [b]\nnew_group\nrw=write\ndescription=of b\n[c]\nstonewall\nrw=trim\nnumjobs=2\nthread\n",
    );
}

#[test]
fn clones_without_group_reporting() {
    needs!("fio");
    compare(
        "[global]\nsize=64k\nioengine=null\n[a]\nnumjobs=3\n[b]\nnumjobs=2\nthread\nrw=write\n[c]\nwait_for_previous\n",
    );
}

#[test]
fn unified_as_one() {
    needs!("fio");
    compare(
        "[global]\nsize=256k\nunified_rw_reporting=mixed\n[m]\nioengine=null\nrw=rw\n[s]\nioengine=psync\nrw=write\nfsync=8\nlat_percentiles=1\n",
    );
}

#[test]
fn unified_both_ways() {
    needs!("fio");
    // 3.33 adds nothing up into `mixed`.
    compare_loosely(
        "[b]\nioengine=null\nrw=rw\nsize=256k\nunified_rw_reporting=both\nclat_percentiles=0\n",
        "json",
        &["/mixed/"],
    );
}

#[test]
fn a_steady_state() {
    needs!("fio");
    let job =
        "[global]\nioengine=null\nsize=1g\nrate_iops=500\nruntime=2\ntime_based\nsteadystate_duration=3\n";
    compare_loosely(
        &format!("{job}[i]\nsteadystate=iops_slope:0.1%\n[l]\nnew_group\nrw=write\nss=bw:5%\n"),
        "json",
        &COUNTS,
    );
}

#[test]
fn a_latency_target() {
    needs!("fio");
    compare_loosely(
        "[l]\nioengine=null\nrw=read\nsize=64k\niodepth=4\nlatency_target=50ms\nlatency_window=1s\nlatency_percentile=99.9\n",
        "json",
        &["/latency_depth$"],
    );
}

#[test]
fn percentiles_of_every_latency() {
    needs!("fio");
    compare(
        "[p]\nioengine=libaio\nrw=read\nsize=64k\npercentile_list=99.999:1:50.5\nslat_percentiles=1\nlat_percentiles=1\n\
         [q]\nioengine=null\nsize=64k\nclat_percentiles=0\nlat_percentiles=1\n",
    );
}

#[test]
fn less_measured() {
    needs!("fio");
    compare(
        "[global]\nsize=64k\nrw=rw\n[g]\nioengine=null\niodepth=4\ngtod_reduce=1\n[c]\ndisable_clat=1\n[l]\ndisable_lat=1\n\
         [s]\nioengine=libaio\ndisable_slat=1\n[b]\ndisable_bw_measurement=1\n",
    );
}

#[test]
fn errors_that_are_ignored() {
    needs!("fio");
    compare(
        "[e]\nfilename=/dev/full\nsize=64k\nrw=write\nbs=4k\ncontinue_on_error=write\nignore_error=,ENOSPC\n[n]\nioengine=null\nsize=64k\ncontinue_on_error=all\n",
    );
}

#[test]
fn options_by_other_names_and_twice() {
    needs!("fio");
    compare(
        "[global]\nioengine=null\nsize=64k\nblocksize=4k\nbs=8k\niodepth=2\nthread\n\
         [a]\nkb_base=1000\nbs=4k\nblocksize=16k\nrw=read\nbs=4k\nnumjobs=2\n[b]\nreadwrite=write\nbuffered=1\nio_limit=32k\nrandseed=7\n",
    );
}

#[test]
fn a_ramp_and_a_time_limit() {
    needs!("fio");
    compare_loosely(
        "[r]\nioengine=null\nrw=write\nsize=1g\nramp_time=500ms\ntime_based\nruntime=700ms\nrate_iops=100\n",
        "json",
        &COUNTS,
    );
}

#[test]
fn files_made_removed_and_read_back() {
    needs!("fio");
    compare_all(&[
        "[u]\nrw=write\nsize=128k\nunlink=1\nend_fsync=1\nnrfiles=2\n[f]\nrw=write\nsize=128k\nfsync_on_close=1\ncreate_on_open=1\n",
        "[v]\nrw=randwrite\nsize=256k\nverify=crc32c\n[p]\nrw=write\nsize=64k\nverify=pattern\nverify_pattern=0xcafe\ndo_verify=0\n",
        "[c]\nrw=randrw\nsize=64k\ncreate_only=1\n",
    ]);
}

#[test]
fn the_extended_form() {
    needs!("fio");
    compare_loosely(
        "[a]\nioengine=null\nrw=rw\nsize=256k\niodepth=4\nslat_percentiles=1\n[s]\nrw=write\nsize=64k\nfsync=4\n",
        "json+",
        &[],
    );
}

#[test]
fn documents_are_laid_out_as_fios() {
    needs!("fio");
    let jobs = [
        "[global]\nsize=64k\n[a]\nrw=write\nfsync=8\ndescription=a \"quoted\" back\\slash and \u{e9}\n[b]\nioengine=null\ncontinue_on_error=all\n",
        "[a]\nioengine=null\nsize=1g\nnumber_ios=220\nthinktime=5ms\npercentile_list=50\nsteadystate=iops_slope:0.1%\nsteadystate_duration=2\n",
    ];
    for job in jobs {
        let [fio, ferrio] = both(|fio| layout(&report(job, "json", fio)));
        same!("fio": fio, "ferrio": ferrio, "the layout of the document on\n{job}");
    }
}
