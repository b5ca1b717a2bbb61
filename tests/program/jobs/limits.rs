//! Latencies that a job must keep, flow groups, ramps of bytes, and devices that become full: reports, messages and exit statuses.

use serde_json::Value;

use crate::support::{Run, TestDir, number};

const NULL: [&str; 5] =
    ["--output-format=json", "--name=a", "--ioengine=null", "--time_based", "--runtime=30"];

/// The JSON figures of the search in the first job.
fn search(report: &Value) -> [f64; 4] {
    ["latency_depth", "latency_target", "latency_percentile", "latency_window"]
        .map(|key| report["jobs"][0][key].as_f64().unwrap_or_else(|| panic!("{key} is missing")))
}

#[test]
fn a_search_for_a_depth_is_reported_as_by_fio() {
    needs!("fio");
    let dir = TestDir::new();
    let words = ["--size=1m", "--iodepth=8", "--latency_target=1000s", "--latency_window=20ms"];
    let words = [&NULL[..], &words[..]].concat();
    let (ferrio, fio) =
        (dir.ferrio(&words).run().succeeded().json(), dir.fio(&words).run().succeeded().json());
    assert_eq!(search(&ferrio), [8.0, 1e12, 100.0, 20_000.0]);
    assert_eq!(search(&fio), search(&ferrio));
    // Four windows lead to the depth, the fifth is measured.
    for report in [&ferrio, &fio] {
        assert!(number(report, "/jobs/0/job_runtime") >= 20);
        assert!(number(report, "/jobs/0/job_runtime") < 10_000, "the end of the search is that of the job");
    }
    assert_eq!(number(&ferrio, "/jobs/0/latency_target_ns"), 1_000_000_000_000);
    assert_eq!(number(&ferrio, "/jobs/0/latency_window_us"), 20_000);
}

#[test]
fn the_text_report_says_what_was_searched_for_and_found() {
    let dir = TestDir::new();
    let words = [
        "--name=a",
        "--ioengine=null",
        "--size=4k",
        "--iodepth=3",
        "--latency_target=2500",
        "--latency_window=1500us",
        "--latency_percentile=99.5",
    ];
    let run = dir.ferrio(&words).run().succeeded();
    let want = "     latency   : target=2.50ms, window=1500.00us, percentile=99.50%, depth=1\n";
    assert!(run.stdout.contains(want), "{}", run.stdout);
}

#[test]
fn a_target_that_no_depth_meets_is_told_when_the_job_ends() {
    let dir = TestDir::new();
    let words = [
        "--output-format=json",
        "--name=a",
        "--ioengine=psync",
        "--size=64k",
        "--fallocate=none",
        "--rw=write",
    ];
    let words =
        [&words[..], &["--fsync=1", "--bs=64k", "--latency_target=1", "--latency_percentile=50"]].concat();
    let run = dir.ferrio(&words).run().succeeded();
    assert_eq!(number(&run.json(), "/jobs/0/latency_depth"), 1);
    let want =
        "a: latency_target of 1000 nsec not met: even at depth 1, less than 50% of the I/Os were within it\n";
    assert_eq!(run.messages(), want);
}

/// The numbers of a message about a late I/O: its latency and the most allowed; and the rest.
fn late(run: &Run) -> ([u64; 2], &str) {
    let line = run.stderr.lines().next().unwrap();
    let rest = line.strip_prefix("ferrio: latency of ").unwrap_or_else(|| panic!("{line}"));
    let (latency, rest) = rest.split_once(" nsec exceeds specified max (").unwrap();
    let (most, place) = rest.split_once(" nsec): ").unwrap();
    ([latency, most].map(|number| number.parse().unwrap()), place)
}

#[test]
fn an_io_above_the_maximum_latency_fails_its_job() {
    let dir = TestDir::new();
    std::fs::write(dir.work().join("x"), vec![1; 64 << 10]).unwrap();
    for engine in ["--ioengine=sync", "--ioengine=io_uring"] {
        let words = [
            "--output-format=json",
            "--name=a",
            engine,
            "--filename=x",
            "--rw=read",
            "--invalidate=1",
            "--bs=64k",
        ];
        let strict = [&words[..], &["--max_latency=1"]].concat();
        let run = dir.ferrio(&strict).run().ended_with(1);
        let ([latency, most], what) = late(&run);
        assert_eq!((most, what), (1000, "x read 0 65536"));
        let report = run.json();
        assert_eq!(number(&report, "/jobs/0/error"), 110);
        assert_eq!(number(&report, "/jobs/0/read/lat_ns/max"), latency);
        assert!(
            run.stderr.contains("func=max latency exceeded, error=Connection timed out"),
            "{}",
            run.stderr
        );
        let lenient = [&words[..], &["--max_latency=1h,1"]].concat();
        assert_eq!(number(&dir.ferrio(&lenient).run().succeeded().json(), "/jobs/0/error"), 0);
    }
}

#[test]
fn a_search_that_allows_no_late_io_fails_like_a_maximum() {
    let dir = TestDir::new();
    std::fs::write(dir.work().join("x"), vec![1; 64 << 10]).unwrap();
    let words = ["--output-format=json", "--name=a", "--filename=x", "--bs=64k", "--latency_target=1"];
    let run = dir.ferrio(&words).run().ended_with(1);
    let ([latency, most], what) = late(&run);
    assert!(latency > most);
    assert_eq!((most, what), (1000, "x read 0 65536"));
    assert_eq!(number(&run.json(), "/jobs/0/error"), 110);
}

#[test]
fn limits_of_latencies_that_are_not_measured_are_refused() {
    let dir = TestDir::new();
    for (option, name) in [("--max_latency=5ms", "max_latency"), ("--latency_target=5ms", "latency_target")] {
        let words = ["--name=a", "--ioengine=null", "--size=4k", "--gtod_reduce=1", option];
        let run = dir.ferrio(&words).run().ended_with(1);
        let want = format!("{name} needs the latencies of I/Os, which are not measured");
        assert!(run.stderr.contains(&want), "{}", run.stderr);
    }
}

fn reads(report: &Value, job: usize) -> u64 {
    number(report, &format!("/jobs/{job}/read/total_ios"))
}

#[test]
fn jobs_of_a_flow_group_do_their_ios_in_proportion() {
    for more in [&[][..], &["--flow_sleep=100"], &["--ioengine=io_uring", "--iodepth=4", "--filename=x"]] {
        let dir = TestDir::new();
        std::fs::write(dir.work().join("x"), vec![1; 16 << 20]).unwrap();
        let common = ["--output-format=json", "--thread", "--ioengine=null", "--size=16m", "--exitall"];
        // The first job ends both after a number of I/Os, so that the load of the machine does not matter.
        let jobs = ["--flow_id=7", "--name=a", "--flow=3", "--number_ios=3000", "--name=b", "--flow=1"];
        let words = [&common[..], more, &jobs].concat();
        let report = dir.ferrio(&words).run().succeeded().json();
        let (a, b) = (reads(&report, 0), reads(&report, 1));
        assert!(a == 3000 && a.abs_diff(3 * b) * 50 < a, "{more:?}: {a} and {b}");
    }
}

/// fio's first job stops after two I/Os and never ends.
#[test]
fn a_flow_group_may_span_a_stonewall() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nioengine=null\nsize=1m\nflow=1\nflow_id=3\n[a]\n[b]\nstonewall\n[c]\nflow=9\nexec_prerun=true\n",
    );
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    assert_eq!([0, 1, 2].map(|job| reads(&report, job)), [256; 3]);
}

#[test]
fn a_ramp_of_bytes_is_not_measured() {
    let dir = TestDir::new();
    let words = ["--output-format=json", "--name=a", "--ioengine=null", "--size=1m", "--ramp_size=256k"];
    let report = dir.ferrio(&words).run().succeeded().json();
    assert_eq!((reads(&report, 0), number(&report, "/jobs/0/read/io_bytes")), (192, 768 << 10));
    let clones = [&words[..], &["--numjobs=4"]].concat();
    let report = dir.ferrio(&clones).run().succeeded().json();
    assert_eq!([0, 1, 2, 3].map(|job| reads(&report, job)), [192; 4], "each has a ramp of its own");
    let group = [&clones[..], &["--group_reporting"]].concat();
    let report = dir.ferrio(&group).run().succeeded().json();
    let done = reads(&report, 0);
    // One I/O of each may be under way when the group's ramp ends.
    assert!((956..=960).contains(&done), "{done}");
}

#[test]
fn a_full_device_is_what_a_job_that_fills_it_waits_for() {
    for (engine, failed) in [("--ioengine=psync", 1), ("--ioengine=io_uring", 4)] {
        let dir = TestDir::new();
        let words =
            ["--output-format=json", "--name=a", engine, "--iodepth=4", "--iodepth_batch=4", "--rw=write"];
        let words = [&words[..], &["--filename=/dev/full", "--size=1m", "--verify=md5"]].concat();
        let run = dir.ferrio(&words).run().ended_with(1);
        assert_eq!(number(&run.json(), "/jobs/0/error"), 28);
        let run = dir.ferrio(&[&words[..], &["--fill_device=1"]].concat()).run().succeeded();
        let report = run.json();
        assert_eq!(
            ["/jobs/0/error", "/jobs/0/write/total_ios", "/jobs/0/write/io_bytes", "/jobs/0/read/total_ios"]
                .map(|key| number(&report, key)),
            [0, failed, 0, 0]
        );
        let line =
            "ferrio: io_u error on file /dev/full: No space left on device: write offset=0, buflen=4096\n";
        assert!(run.stderr.contains(line), "{}", run.stderr);
    }
}

#[test]
fn a_job_that_fills_a_device_needs_no_size() {
    let dir = TestDir::new();
    let words = ["--output-format=json", "--name=a", "--rw=write", "--fill_device=1", "--number_ios=5"];
    let run = dir.ferrio(&words).run().succeeded();
    assert_eq!(number(&run.json(), "/jobs/0/write/total_ios"), 5);
    assert_eq!(dir.files(), [("a.0.0".to_owned(), 5 * 4096)], "nothing is reserved");
}
