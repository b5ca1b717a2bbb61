//! The shapes of jobs that published articles ask their readers to try, at sizes that fit a test.

use ferrio_job::EngineKind;

use crate::beside_fio::work::{compare, compare_alike, compare_all};
use crate::engines::scene::{BLOCK, BLOCKS, Scene};
use crate::support::{TestDir, number};

/// The smallest job: a name, a direction, a size.
const SMALLEST: &str = "[lone-reader]\nrw=randread\nsize=1m\n";

const TWO_AT_ONCE: &str = "[global]\nrw=randread\nsize=1m\n[first]\n[second]\n";

/// A global direction that the second group replaces.
const TWO_GROUPS: &str = "[global]\nrw=randread\nsize=1m\n[scattered]\n[in-order]\nstonewall\nrw=read\n";

const SYNC_AND_DIRECT: &str = "[global]\nioengine=sync\ndirect=1\nrw=randread\nsize=1m\nfilename=shared\n\n\
    [scattered]\n[in-order]\nstonewall\nrw=read\n";

/// Blank lines among the globals, and a log option without a value.
const FRESH_BUFFERS: &str = "[global]\nioengine=libaio\ndirect=1\nfilename=shared\nsize=16m\nbs=4m\n\n\
    refill_buffers=1\n\n[fill]\nrw=write\nwrite_bw_log\n\n[drain]\nstonewall\nrw=read\nwrite_bw_log\n";

/// Comments, blocks of many sizes, four groups, and a section name that comes twice.
const MANY_SIZES: &str = "[global]\nioengine=libaio\ndirect=1\n# all groups use the whole file,\n\
    # which the first of them lays out\nfilename=shared\nsize=8M\nbsrange=2k-16k\n\nrefill_buffers=1\n\n\
    [scattered-reads]\nrw=randread\nruntime=60\n\n[in-order]\nstonewall\nrw=read\nruntime=60\n\n\
    [scattered-writes]\nstonewall\nrw=randwrite\nruntime=60\n\n[in-order]\nstonewall\nrw=write\nruntime=60\n";

const DEPTH_FROM_OUTSIDE: &str = "[global]\nioengine=libaio\ndirect=1\nfilename=shared\nsize=1m\nbs=4k\n\
    iodepth=${IODEPTH}\n\n[depth]\nrw=randread\n";

#[test]
fn the_smallest_job_of_all_does_as_in_fio() {
    needs!("fio");
    compare(SMALLEST);
}

#[test]
fn two_jobs_at_once_do_as_in_fio() {
    needs!("fio");
    compare(TWO_AT_ONCE);
}

#[test]
fn two_groups_one_after_the_other_do_as_in_fio() {
    needs!("fio");
    compare(TWO_GROUPS);
}

#[test]
fn direct_io_through_the_sync_engine_does_as_in_fio() {
    needs!("fio");
    compare(SYNC_AND_DIRECT);
}

#[test]
fn refilled_buffers_and_a_bandwidth_log_without_a_name_do_as_in_fio() {
    needs!("fio");
    compare(FRESH_BUFFERS);
}

#[test]
fn four_groups_with_blocks_of_many_sizes_do_as_in_fio() {
    needs!("fio");
    compare_alike(MANY_SIZES);
}

#[test]
fn a_depth_from_the_environment_reaches_the_job() {
    let dir = TestDir::new();
    let job = dir.job(DEPTH_FROM_OUTSIDE);
    let run = dir.ferrio(&["--output-format=json", &job]).env("IODEPTH", "8").run().succeeded();
    let report = run.json();
    assert_eq!(report["global options"]["iodepth"], "8");
    assert_eq!(report["jobs"][0]["read"]["total_ios"], 256);
}

/// The list of engines in an article, with the job that it begins with.
#[test]
fn the_engines_that_articles_list_do_as_in_fio() {
    needs!("fio");
    let jobs = ["sync", "psync", "vsync", "libaio", "posixaio", "mmap", "splice", "null"]
        .map(|engine| format!("[{engine}]\nioengine={engine}\nrw=randread\nsize=1m\n"));
    let load = "[cpuio]\nioengine=cpuio\ncpuload=100\ncpuchunks=1000\nnumber_ios=5\n";
    compare_all(&[&jobs.each_ref().map(String::as_str)[..], &[load]].concat());
}

#[test]
fn the_network_engines_that_articles_list_run() {
    for engine in [EngineKind::Net, EngineKind::Netsplice] {
        let report = Scene::of(engine).unwrap().run(&[]).succeeded().json();
        let moved = [(0, "write"), (1, "read")]
            .map(|(job, direction)| number(&report, &format!("/jobs/{job}/{direction}/io_bytes")));
        assert_eq!(moved, [BLOCKS * BLOCK; 2], "{engine}");
    }
}

#[test]
fn the_shortest_command_line_runs() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["--name=lone-reader", "--rw=randread", "--size=1m"]).run().succeeded();
    assert!(run.stdout.contains("issued rwts: total=256,0,0,0"), "{}", run.stdout);
    assert_eq!(dir.files(), [("lone-reader.0.0".to_owned(), 1 << 20)]);
}

#[test]
fn a_command_line_with_single_dashes_runs() {
    let dir = TestDir::new();
    let words = "-direct=1 -iodepth=128 -rw=randrw -ioengine=libaio -bs=4k -size=1M -numjobs=1 -runtime=1000 \
        -group_reporting -filename=target -name=both_ways";
    let words: Vec<_> = words.split_whitespace().chain(["--output-format=json"]).collect();
    let report = dir.ferrio(&words).run().succeeded().json();
    let job = &report["jobs"][0];
    assert_eq!(job["jobname"], "both_ways");
    let ios = job["read"]["total_ios"].as_u64().unwrap() + job["write"]["total_ios"].as_u64().unwrap();
    assert_eq!(ios, 256);
    assert_eq!(dir.files(), [("target".to_owned(), 1 << 20)]);
}
