//! The same jobs under real fio and under ferrio: both do the same work and report it in the same form.
//!
//! Offsets of random jobs may differ between versions of fio; what must agree is how much was done, in which blocks, in which
//! order of jobs and groups, which keys the JSON report has, and which files are there afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{TestDir, both, document_within, json_file, number, same, side_by_side};

/// Keys that fio's report has gained since version 3.33, the oldest one compared with.
const NEW_KEYS: [&str; 7] = [
    "/job_start",
    "/latency_target_ns",
    "/latency_window_us",
    "/read_sectors",
    "/write_sectors",
    "/aggr_read_sectors",
    "/aggr_write_sectors",
];

/// How exactly numbers of I/Os must agree.
#[derive(Clone, Copy, PartialEq)]
enum Counts {
    Equal,
    /// Random offsets decide where a block meets one that was done before and is cut: one in ten may differ.
    Alike,
}

/// Runs a job file under both programs and compares whatever does not depend on time.
pub fn compare(job: &str) {
    compare_words(job, Counts::Equal, &[]);
}

/// The same for several job files without globals, which run side by side in one start of each program.
pub fn compare_all(jobs: &[&str]) {
    compare(&side_by_side(jobs));
}

/// The same for jobs whose random offsets decide how large some blocks are.
pub fn compare_alike(job: &str) {
    compare_words(job, Counts::Alike, &[]);
}

fn compare_words(job: &str, counts: Counts, more: &[&str]) {
    let [(fio, fio_files), (ferrio, ferrio_files)] = both(|fio| outcome(job, more, fio));
    same!("fio": facts(&fio, counts), "ferrio": facts(&ferrio, counts), "the work done by\n{job}");
    if counts == Counts::Alike {
        alike(&fio, &ferrio, job);
    }
    let (fio_globals, ferrio_globals) =
        (with_values(&fio["global options"]), with_values(&ferrio["global options"]));
    same!("fio": fio_globals, "ferrio": ferrio_globals, "global options of\n{job}");
    let (fio_keys, ferrio_keys) = (keys(&fio), keys(&ferrio));
    let only = |here: &BTreeSet<String>, there| here.difference(there).cloned().collect::<Vec<_>>();
    let (fio_only, ferrio_only) = (only(&fio_keys, &ferrio_keys), only(&ferrio_keys, &fio_keys));
    same!("only fio has": fio_only, "only ferrio has": ferrio_only, "keys of the report on\n{job}");
    same!("fio": fio_files, "ferrio": ferrio_files, "files left by\n{job}");
}

fn alike(fio: &Value, ferrio: &Value, job: &str) {
    for (at, of_fio) in fio["jobs"].as_array().unwrap().iter().enumerate() {
        for direction in ["read", "write", "trim"] {
            let path = format!("/{direction}/total_ios");
            let (fio, ferrio) = (number(of_fio, &path), number(&ferrio["jobs"][at], &path));
            let far = fio.abs_diff(ferrio) * 10 > fio;
            assert!(!far, "{direction}s of job {at} of\n{job}\n   fio: {fio}\nferrio: {ferrio}");
        }
    }
}

/// Options without a value are echoed since 3.42 only.
fn with_values(options: &Value) -> Vec<(String, String)> {
    let options = options.as_object().into_iter().flatten();
    let options = options.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    options.filter(|(_, value)| !value.is_empty()).collect()
}

fn outcome(job: &str, more: &[&str], fio: bool) -> (Value, Vec<(String, u64)>) {
    let dir = TestDir::new();
    let job = dir.job(job);
    let report = dir.beside("report");
    let output = format!("--output={}", report.display());
    let words: Vec<&str> = ["--output-format=json", &output, &job].iter().chain(more).copied().collect();
    let program = if fio { dir.fio(&words) } else { dir.ferrio(&words) };
    program.run().succeeded();
    let report = if fio { fio_report(&report) } else { json_file(&report) };
    (report, dir.files().into_iter().map(log_without_size).collect())
}

/// fio's notes may precede the document; ferrio's file has nothing else.
fn fio_report(path: &Path) -> Value {
    document_within(&fs::read_to_string(path).unwrap()).0
}

/// How long a log is depends on time.
fn log_without_size((name, size): (String, u64)) -> (String, u64) {
    let size = if name.ends_with(".log") { 0 } else { size };
    (name, size)
}

/// What the jobs did, apart from when and how fast, one line per direction.
fn facts(report: &Value, counts: Counts) -> Vec<String> {
    let mut facts = Vec::new();
    let count = |value: &Value| if counts == Counts::Equal { value.to_string() } else { "some".to_owned() };
    for job in report["jobs"].as_array().unwrap() {
        facts.push(format!(
            "{} (group {}, error {}, desc {}): {} syncs",
            job["jobname"], job["groupid"], job["error"], job["desc"], job["sync"]["total_ios"]
        ));
        for name in ["read", "write", "trim", "mixed"] {
            let of = &job[name];
            facts.push(format!(
                "  {name}: {} bytes, {} KiB in {} I/Os, {} short, {} dropped; {} slat, {} clat, {} lat samples",
                of["io_bytes"],
                of["io_kbytes"],
                count(&of["total_ios"]),
                of["short_ios"],
                of["drop_ios"],
                count(&of["slat_ns"]["N"]),
                count(&of["clat_ns"]["N"]),
                count(&of["lat_ns"]["N"]),
            ));
        }
    }
    facts
}

/// Paths of all keys that all versions have. Each job has its own; other arrays have those of all their elements.
fn keys(report: &Value) -> BTreeSet<String> {
    fn walk(value: &Value, path: &str, keys: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                let options = path.ends_with(" options");
                for (key, value) in map.iter().filter(|(_, value)| !options || *value != "") {
                    let path = format!("{path}/{key}");
                    walk(value, &path, keys);
                    keys.insert(path);
                }
            }
            Value::Array(elements) => {
                for (at, element) in elements.iter().enumerate() {
                    let at = if path == "/jobs" { at.to_string() } else { String::new() };
                    walk(element, &format!("{path}[{at}]"), keys);
                }
            }
            _ => {}
        }
    }
    let mut keys = BTreeSet::new();
    walk(report, "", &mut keys);
    // Response times of directions with a rate are ferrio's own.
    keys.retain(|key| !NEW_KEYS.iter().any(|new| key.ends_with(new)) && !key.contains("/response_ns"));
    keys.retain(|key| !key.starts_with("/ferrio"));
    keys
}

#[test]
fn a_mixed_job_splits_its_directions_as_in_fio() {
    needs!("fio");
    compare("[mixed]\nrw=randrw\nsize=2m\nbs=4k\nrwmixread=70\nioengine=psync\n");
}

#[test]
fn a_deep_direct_queue_does_all_of_its_file() {
    needs!("fio");
    compare_all(&[
        "[deep-reads]\nioengine=io_uring\niodepth=32\ndirect=1\nrw=randread\nsize=4m\n",
        "[deep-writes]\nioengine=libaio\niodepth=16\niodepth_batch=8\ndirect=1\nrw=randwrite\nsize=2m\n",
        "[threads]\nioengine=posixaio\niodepth=8\niodepth_batch=4\nnrfiles=3\nrw=randwrite\nsize=1536k\n",
        "[merging]\nioengine=vsync\niodepth=8\niodepth_batch=8\nrw=write\nsize=256k\n",
        "[merging-reads]\nioengine=vsync\niodepth=4\niodepth_batch=4\nrw=read\nsize=256k\n",
        "[polling]\nioengine=libaio\niodepth=4\niodepth_batch_complete=0\ndirect=1\nrw=randread\nsize=256k\n",
    ]);
}

#[test]
fn clones_are_counted_and_named_as_in_fio() {
    needs!("fio");
    compare_all(&[
        "[processes]\nnumjobs=3\nrw=randread\nsize=256k\n",
        "[threads]\nnumjobs=3\nthread\nrw=write\nsize=256k\n",
    ]);
}

#[test]
fn a_group_report_adds_its_jobs_up() {
    needs!("fio");
    compare(
        "[global]\nsize=256k\ngroup_reporting\n[a]\nrw=write\nnumjobs=2\ndescription=two of a kind\n\
         [b]\nrw=read\n[c]\nstonewall\nrw=randrw\n",
    );
}

#[test]
fn groups_begin_where_fio_begins_them() {
    needs!("fio");
    compare(
        "[global]\nioengine=null\nsize=64k\n[a]\n[b]\nstonewall\n[c]\nnew_group\n[d]\nwait_for_previous\n",
    );
}

#[test]
fn a_size_that_blocks_do_not_divide_ends_as_in_fio() {
    needs!("fio");
    compare("[odd]\nrw=read\nsize=100k\nbs=16k\n[three-kib]\nrw=write\nsize=100k\nbs=3k\n");
}

#[test]
fn several_files_share_the_size() {
    needs!("fio");
    compare("[files]\nrw=randread\nsize=250k\nnrfiles=3\n[in-order]\nrw=write\nsize=96k\nnrfiles=3\nbs=8k\n");
}

#[test]
fn limits_on_bytes_ios_and_passes_count_as_in_fio() {
    needs!("fio");
    compare_all(&[
        "[bytes]\nrw=read\nsize=1m\nio_size=300k\n",
        "[ios]\nrw=randwrite\nsize=1m\nnumber_ios=7\n",
        "[passes]\nrw=randread\nsize=128k\nloops=3\n",
        "[more-than-the-file]\nrw=write\nsize=128k\nio_size=512k\n",
    ]);
}

#[test]
fn offsets_and_holes_cover_the_same_part_of_the_file() {
    needs!("fio");
    compare_all(&[
        "[part]\nrw=write\nfilename=f\noffset=64k\nsize=128k\n",
        "[holes]\nrw=read:12k\nsize=256k\nbs=4k\n",
        "[runs]\nrw=randread:8\nsize=256k\nbs=4k\n",
    ]);
}

#[test]
fn files_get_the_sizes_that_fio_draws() {
    needs!("fio");
    compare_all(&[
        "[sizes]\nrw=write\nnrfiles=8\nfilesize=8k-64k\nnumjobs=2\n",
        "[seeded]\nrw=write\nnrfiles=5\nfilesize=10000-300000\nbs=1k\nrandseed=42\nrandom_generator=tausworthe64\n",
        "[cut]\nrw=write\nnrfiles=4\nfilesize=8k-64k\nsize=60k\noffset=4k\n",
        "[nothing]\nioengine=null\nnrfiles=3\nfilesize=4k-32k\n",
    ]);
}

#[test]
fn clones_share_a_file_by_parts() {
    needs!("fio");
    compare("[parts]\nrw=write\nfilename=f\nsize=256k\noffset_increment=128k\nnumjobs=3\n");
}

#[test]
fn names_of_files_are_made_as_in_fio() {
    needs!("fio");
    compare_all(&[
        "[a]\nrw=write\nsize=64k\nfilename_format=$jobname-$jobnum-$filenum\nnumjobs=2\nnrfiles=2\n",
        "[listed]\nrw=read\nsize=64k\nbs=3k\nfilename=x:y\n",
        "[logs]\nsize=256k\nwrite_lat_log=l\nwrite_bw_log=b\nwrite_iops_log=i\nlog_avg_msec=10\n",
    ]);
}

/// Of clones with the same names only the first does something, called fio; they share the files otherwise.
#[test]
fn clones_with_the_same_names_are_idle_as_in_fio() {
    needs!("fio");
    let job = "[a]\nrw=write\nsize=64k\nfilename_format=x.$filenum\nnumjobs=3\nnrfiles=2\n";
    let work = |words: &[&str], fio| {
        let (report, files) = outcome(job, words, fio);
        let jobs = report["jobs"].as_array().unwrap().iter();
        (jobs.map(|job| number(job, "/write/io_bytes")).collect::<Vec<_>>(), files)
    };
    let theirs = work(&[], true);
    same!("fio": theirs, "ferrio": work(&["--as=fio"], false), "work and files of\n{job}");
    assert_eq!(theirs.0, [64 << 10, 0, 0]);
    assert_eq!(work(&[], false), (vec![64 << 10; 3], theirs.1));
}

#[test]
fn random_blocks_without_a_map_or_with_alignment_are_counted_as_in_fio() {
    needs!("fio");
    compare_all(&[
        "[no-map]\nrw=randread\nsize=1m\nnorandommap\n",
        "[aligned]\nrw=randread\nsize=1m\nba=8k\nbs=4k\n",
        "[again-and-again]\nrw=randread\nsize=512k\nio_size=2m\n",
        "[same-place]\nrw=randread:4\nrw_sequencer=identical\nsize=1m\nbs=4k\n",
    ]);
}

#[test]
fn a_rate_limits_speed_and_not_work() {
    needs!("fio");
    compare_all(&[
        "[slow]\nrw=read\nsize=256k\nrate_iops=1000\n",
        "[slow-writer]\nrw=randwrite\nsize=256k\nrate=4m\n",
    ]);
}

/// Not compared: which direction is due first depends on the moment, with fio from run to run too.
#[test]
fn a_mix_with_rates_does_all_of_its_work() {
    let dir = TestDir::new();
    let job = dir.job("[slow-mix]\nrw=randrw\nsize=256k\nrate_iops=1000,500\n");
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    let done = |direction: &str| number(&report, &format!("/jobs/0/{direction}/total_ios"));
    assert_eq!(done("read") + done("write"), 64);
    assert!(done("write") > 0 && done("read") > 0, "{report:#}");
}

#[test]
fn pauses_limit_speed_and_not_work() {
    needs!("fio");
    // fio 3.33 never wakes up if it spins longer than the pause, which a busy machine makes of 1 ms: so the pause is far longer.
    compare_all(&[
        "[thinker]\nrw=read\nsize=64k\nthinktime=200ms\nthinktime_spin=1ms\nthinktime_blocks=4\n",
        "[deep]\nioengine=libaio\niodepth=4\ndirect=1\nrw=randread\nsize=128k\nthinktime=1ms\nthinktime_blocks_type=issue\n",
        "[timed]\nioengine=null\nrw=randread\nsize=64k\nthinktime=1ms\nthinktime_iotime=2ms\nrate_iops=2000\nrate_ignore_thinktime=1\n",
    ]);
}

#[test]
fn zones_are_done_one_after_the_other_as_in_fio() {
    needs!("fio");
    let zones = "zonemode=strided\nzonesize=48k\nzonerange=64k\nzoneskip=20k\n";
    compare_all(&[
        &format!("[walk]\nrw=write\nsize=1m\n{zones}"),
        &format!("[mix]\nioengine=null\nrw=randrw\nsize=1m\nloops=2\nrandrepeat=0\nrandseed=7\n{zones}"),
        &format!("[files]\nioengine=null\nrw=read\nsize=1m\nnrfiles=2\n{zones}"),
    ]);
}

#[test]
fn random_arrivals_limit_speed_and_not_work() {
    needs!("fio");
    compare(
        "[poisson]\nioengine=null\nrw=randread\nsize=128k\nrate_iops=2000\nrate_process=poisson\nrate_min=1\n",
    );
}

#[test]
fn layout_alone_leaves_the_files_and_no_work() {
    needs!("fio");
    compare_all(&[
        "[layout]\nrw=randrw\nsize=256k\ncreate_only=1\n",
        "[gone]\nrw=write\nsize=256k\nunlink=1\n",
    ]);
}

#[test]
fn syncs_of_further_passes_are_counted_as_in_fio() {
    needs!("fio");
    compare("[passes]\nrw=write\nsize=64k\nfsync=5\nloops=3\n");
}

#[test]
fn syncs_are_counted_as_in_fio() {
    needs!("fio");
    compare_all(&[
        "[fsyncs]\nrw=write\nsize=256k\nfsync=8\n",
        "[at-the-end]\nrw=randwrite\nsize=128k\nend_fsync=1\n",
    ]);
}

/// Not compared: fio 3.33 shows them as short reads instead.
#[test]
fn data_syncs_are_counted_as_syncs() {
    let dir = TestDir::new();
    let job = dir.job("[data]\nrw=randwrite\nsize=128k\nfdatasync=4\n");
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    assert_eq!(number(&report, "/jobs/0/sync/total_ios"), 7);
    assert_eq!(number(&report, "/jobs/0/read/short_ios"), 0);
}

#[test]
fn blocks_of_different_directions_keep_their_sizes() {
    needs!("fio");
    compare_all(&[
        "[sizes]\nrw=rw\nsize=1m\nbs=4k,16k\n",
        "[range]\nrw=write\nsize=1m\nbsrange=4k-32k\n",
        // With a seed that is given, 3.33 draws the offsets that later releases always draw: then the counts are exact.
        "[scattered]\nrw=randread\nsize=4m\nbsrange=4k-32k\nrandrepeat=0\nrandseed=137\n",
    ]);
}

#[test]
fn blocks_by_share_are_as_many_as_in_fio() {
    needs!("fio");
    let seeded = "size=8m\nioengine=null\nrandrepeat=0\nrandseed=137\n";
    compare_all(&[
        &format!("[read]\n{seeded}rw=read\nbssplit=4k/50:16k/30:64k/20\n"),
        &format!("[random]\n{seeded}rw=randread\nbssplit=4k/50:16k:64k\n"),
        &format!("[mix]\n{seeded}rw=rw\nbssplit=4k/60:8k/60,4k/20:32k/20\n"),
        &format!("[odd]\n{seeded}rw=write\nbssplit=3k/50:4k/20:10k\n"),
        "[on-disk]\nrw=randwrite\nsize=2m\nloops=2\nnorandommap\nbssplit=4k/10:64k/90\nrandrepeat=0\nrandseed=137\n",
        "[one]\nrw=randwrite\nsize=1m\nbssplit=8k/100\n",
    ]);
}

#[test]
fn unaligned_blocks_end_where_they_do_in_fio() {
    needs!("fio");
    let seeded = "size=8m\nioengine=null\nrandrepeat=0\nrandseed=137\n";
    compare_all(&[
        &format!("[read]\n{seeded}rw=read\nbsrange=4k-16k\nbs_unaligned\n"),
        &format!("[random]\n{seeded}rw=randread\nbsrange=4k-16k\nbs_unaligned\n"),
    ]);
}

#[test]
fn a_trim_job_of_the_null_engine_counts_trims() {
    needs!("fio");
    compare(
        "[trims]\nioengine=null\nrw=randtrim\nsize=256k\n[both]\nioengine=null\nrw=trimwrite\nsize=256k\n",
    );
}

#[test]
fn percentiles_and_switched_off_latencies_have_the_same_keys() {
    needs!("fio");
    compare_all(&[
        "[some]\nrw=read\nsize=64k\npercentile_list=10:50:99.99\nlat_percentiles=1\nslat_percentiles=1\n",
        "[none]\nrw=read\nsize=64k\ngtod_reduce=1\n",
        "[neither]\nrw=read\nsize=64k\ndisable_clat=1\nclat_percentiles=0\n",
    ]);
}

#[test]
fn buffers_of_one_pattern_leave_the_same_file() {
    needs!("fio");
    let job = "[pattern]\nfilename=f\nrw=write\nsize=64k\nbs=4k\nbuffer_pattern=0xcafe\n";
    let content = |fio: bool| {
        let dir = TestDir::new();
        let file = dir.job(job);
        let words = [file.as_str()];
        if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().succeeded();
        fs::read(dir.work().join("f")).unwrap()
    };
    let (fio, ferrio) = (content(true), content(false));
    assert_eq!(fio.len(), 65536);
    assert!(fio == ferrio, "fio's file begins {:x?}, ferrio's {:x?}", &fio[..8], &ferrio[..8]);
}

#[test]
fn a_file_of_the_right_size_is_used_as_it_is() {
    let job = "[reader]\nfilename=f\nrw=read\nsize=64k\n";
    let dir = TestDir::new();
    let file = dir.job(job);
    let content: Vec<u8> = (0..65536u32).map(|n| ((n * 7) >> 3) as u8).collect();
    fs::write(dir.work().join("f"), &content).unwrap();
    dir.ferrio(&[&file]).run().succeeded();
    assert!(fs::read(dir.work().join("f")).unwrap() == content, "the file was rewritten");
}

#[test]
fn directions_can_be_reported_as_one() {
    needs!("fio");
    compare_all(&[
        "[mix]\nrw=rw\nsize=1m\nbs=4k,8k\nunified_rw_reporting=mixed\n",
        "[trims]\nrw=trimwrite\nioengine=null\nsize=1m\nunified_rw_reporting=1\nlat_percentiles=1\n",
    ]);
}

#[test]
fn directions_can_be_reported_alone_and_as_one() {
    let dir = TestDir::new();
    let job = dir.job("[unified]\nrw=rw\nsize=1m\nbs=4k,8k\nunified_rw_reporting=both\nfsync=16\n");
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    let job = &report["jobs"][0];
    for figure in ["io_bytes", "total_ios", "clat_ns/N"] {
        let of = |direction: &str| number(job, &format!("/{direction}/{figure}"));
        assert_eq!(of("mixed"), of("read") + of("write"), "{figure}");
    }
    assert!(number(job, "/sync/total_ios") > 0);
}

#[test]
fn one_section_can_be_chosen() {
    needs!("fio");
    compare_words(
        "[global]\nsize=64k\nioengine=null\n[a]\n[b]\nrw=write\n[c]\n",
        Counts::Equal,
        &["--section=b"],
    );
}

#[test]
fn the_extended_json_has_a_histogram_that_adds_up() {
    let dir = TestDir::new();
    let words = ["--output-format=json+", "--name=a", "--ioengine=null", "--size=4m"];
    let report = dir.ferrio(&words).run().succeeded().json();
    let clat = &report["jobs"][0]["read"]["clat_ns"];
    let bins = clat["bins"].as_object().unwrap();
    let sum: u64 = bins.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(sum, 1024);
    assert_eq!(clat["N"], 1024);
}
