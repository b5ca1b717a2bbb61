//! Engines that measure operations on files: filecreate, filestat, filedelete, dircreate, dirstat, dirdelete, falloc, ftruncate,
//! e4defrag; and page_fault.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;

use nix::sys::statfs::{EXT4_SUPER_MAGIC, statfs};

use crate::beside_fio::work::compare_all;
use crate::support::{Run, TestDir, number, skipped};

/// A job on three files of one block each.
fn three_files(dir: &TestDir, engine: &str, more: &[&str]) -> Run {
    let engine = format!("--ioengine={engine}");
    let words =
        ["--output-format=json", "--name=a", "--nrfiles=3", "--filesize=4k", "--openfiles=1", &engine];
    dir.ferrio(&[&words, more].concat()).run()
}

/// Clat, lat and slat samples of the job's reads.
fn samples(run: &Run) -> [u64; 3] {
    ["clat_ns", "lat_ns", "slat_ns"].map(|kind| number(&run.json(), &format!("/jobs/0/read/{kind}/N")))
}

fn names(dir: &TestDir) -> Vec<String> {
    dir.files().into_iter().map(|(name, _)| name).collect()
}

const NAMES: [&str; 3] = ["a.0.0", "a.0.1", "a.0.2"];

#[test]
fn files_are_created_as_in_fio() {
    needs!("fio");
    compare_all(&[
        "[blocks]\nioengine=filecreate\nnrfiles=3\nfilesize=16k\nrw=write\n",
        "[one]\nioengine=filecreate\nfilesize=16k\nloops=3\n",
        "[in-turn]\nioengine=filecreate\nnrfiles=20\nfilesize=4k\nopenfiles=2\nrw=write\n",
        "[again]\nioengine=filecreate\nnrfiles=3\nfilesize=16k\nio_size=64k\n",
        "[random]\nioengine=filecreate\nnrfiles=7\nfilesize=16k\nrw=randread\nfile_service_type=random\n",
        "[few]\nioengine=filecreate\nnrfiles=7\nfilesize=16k\nnumber_ios=5\n",
        "[no-size]\nioengine=filecreate\nnrfiles=7\n",
        "[removed]\nioengine=filecreate\nnrfiles=7\nsize=64k\nunlink=1\n",
        "[no-latency]\nioengine=filecreate\nnrfiles=7\nfilesize=4k\ndisable_lat=1\n",
        "[no-clat]\nioengine=filecreate\nnrfiles=7\nfilesize=4k\ndisable_clat=1\n",
        "[cheap]\nioengine=filecreate\nnrfiles=7\nfilesize=4k\ngtod_reduce=1\n",
    ]);
}

#[test]
fn files_are_looked_up_and_removed_as_in_fio() {
    needs!("fio");
    compare_all(&[
        "[looked-up]\nioengine=filestat\nnrfiles=3\nfilesize=16k\nloops=2\n",
        "[links]\nioengine=filestat\nnrfiles=3\nfilesize=4k\nstat_type=lstat\nrw=write\n",
        "[all-fields]\nioengine=filestat\nnrfiles=3\nfilesize=4k\nopenfiles=1\nstat_type=statx\n",
        "[part]\nioengine=filestat\nnrfiles=3\nfilesize=4k\nsize=8k\n",
        "[deleted]\nioengine=filedelete\nnrfiles=3\nfilesize=16k\n",
        "[some-deleted]\nioengine=filedelete\nnrfiles=3\nfilesize=4k\nsize=8k\nrw=write\n",
    ]);
}

#[test]
fn each_file_is_one_sample_of_clat() {
    for engine in ["filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"] {
        let dir = TestDir::new();
        let run = three_files(&dir, engine, &[]).succeeded();
        assert_eq!(samples(&run), [3, 0, 0], "{engine}");
        assert_eq!(number(&run.json(), "/jobs/0/read/total_ios"), 3, "{engine}");
        let left = if engine.ends_with("delete") { &[][..] } else { &NAMES[..] };
        assert_eq!(names(&dir), left, "{engine}");
        let are_directories = |name: &String| dir.work().join(name).is_dir() == engine.starts_with("dir");
        assert!(names(&dir).iter().all(are_directories), "{engine}");
    }
}

#[test]
fn directories_can_be_used_by_their_owner() {
    let dir = TestDir::new();
    for engine in ["dircreate", "dirstat"] {
        three_files(&dir, engine, &[]).succeeded();
        let mode = fs::metadata(dir.work().join(NAMES[0])).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{engine}");
        three_files(&dir, "dirdelete", &[]).succeeded();
        assert_eq!(dir.files(), []);
    }
}

#[test]
fn an_operation_that_fails_names_the_file() {
    let dir = TestDir::new();
    three_files(&dir, "dircreate", &[]).succeeded();
    let error = |run: Run| {
        let run = run.ended_with(1);
        (number(&run.json(), "/jobs/0/error"), run.stderr)
    };
    let (errno, told) = error(three_files(&dir, "dircreate", &[]));
    assert!(errno == 17 && told.contains("mkdir(a.0.0)"), "{errno}: {told}");
    fs::write(dir.work().join("a.0.1/file"), "").unwrap();
    let (errno, told) = error(three_files(&dir, "dirdelete", &[]));
    assert!(errno == 39 && told.contains("rmdir(a.0.1)"), "{errno}: {told}");
    let (errno, told) = error(three_files(&dir, "filecreate", &["--directory=."]));
    assert!(errno == 21 && told.contains("open(./a.0.1)"), "{errno}: {told}");
    let (errno, told) = error(three_files(&dir, "filestat", &["--filename=b", "--create_on_open=1"]));
    assert!(errno == 2 && told.contains("stat(b)"), "{errno}: {told}");
    let gone = ["--filename=c", "--exec_prerun=rm c"];
    let (errno, told) = error(three_files(&dir, "filedelete", &gone));
    assert!(errno == 2 && told.contains("delete(c)"), "{errno}: {told}");
    let (errno, told) = error(three_files(&dir, "dirstat", &["--filename=no/such/dir"]));
    assert!(errno == 2 && told.contains("mkdir(no/such/dir)"), "{errno}: {told}");
}

#[test]
fn a_read_only_run_creates_and_removes_nothing() {
    let dir = TestDir::new();
    three_files(&dir, "filestat", &[]).succeeded();
    for engine in ["filecreate", "filedelete", "dircreate", "dirdelete"] {
        let run = three_files(&dir, engine, &["--readonly"]).ended_with(1);
        let want = format!("job <a> has ioengine={engine}, but we're in read-only mode");
        assert!(run.stderr.contains(&want), "{}", run.stderr);
        assert_eq!(names(&dir), NAMES);
    }
    three_files(&dir, "filestat", &["--readonly"]).succeeded();
}

#[test]
fn unlink_removes_what_was_created() {
    for engine in ["filecreate", "dircreate", "dirstat", "filestat"] {
        let dir = TestDir::new();
        three_files(&dir, engine, &["--unlink=1"]).succeeded();
        assert_eq!(dir.files(), [], "{engine}");
        three_files(&dir, engine, &["--unlink_each_loop=1", "--loops=2"]);
    }
    let dir = TestDir::new();
    // Without the removal between the passes, the second mkdir would fail.
    let run = three_files(&dir, "dircreate", &["--unlink_each_loop=1", "--loops=3"]).succeeded();
    assert_eq!(samples(&run), [9, 0, 0]);
}

#[test]
fn logs_have_a_row_for_each_file() {
    let dir = TestDir::new();
    three_files(&dir, "filecreate", &["--write_lat_log=l", "--write_iops_log=l", "--write_bw_log=l"])
        .succeeded();
    for log in ["l_clat.1.log", "l_bw.1.log", "l_iops.1.log"] {
        assert_eq!(dir.rows(log).len(), 3, "{log}");
    }
    assert!(dir.rows("l_clat.1.log").iter().all(|row| row[1] != "0"));
    assert!(dir.rows("l_bw.1.log").iter().all(|row| row[3] == "4096"));
}

#[test]
fn latency_limits_have_no_effect_and_that_is_said() {
    let dir = TestDir::new();
    let run = three_files(&dir, "filecreate", &["--max_latency=1us"]).succeeded();
    assert!(run.stderr.contains("the engine measures operations on files, not I/Os"), "{}", run.stderr);
}

#[test]
fn space_is_reserved_and_cut_as_in_fio() {
    needs!("fio");
    compare_all(&[
        "[reserved]\nioengine=falloc\nrw=write\nsize=64k\nbs=16k\nfallocate=none\n",
        "[kept]\nioengine=falloc\nrw=randread\nsize=64k\nbs=16k\n",
        "[punched]\nioengine=falloc\nrw=trim\nsize=64k\nbs=16k\n",
        "[cut]\nioengine=ftruncate\nrw=write\nsize=64k\nbs=16k\n",
    ]);
}

/// False, with a line that the test harness does not hide, where the working directories of tests are not on ext4.
pub fn is_on_ext4(dir: &TestDir) -> bool {
    let found = statfs(&dir.work()).unwrap().filesystem_type();
    if found != EXT4_SUPER_MAGIC {
        skipped("e4defrag", &format!("the tests' files are on a file system of type {found:?}, not on ext4"));
    }
    found == EXT4_SUPER_MAGIC
}

#[test]
fn extents_are_moved_as_in_fio() {
    needs!("fio");
    if is_on_ext4(&TestDir::new()) {
        compare_all(&[
            "[once]\nioengine=e4defrag\ndonorname=d.1\nrw=write\nfilesize=256k\nbs=64k\noverwrite=1\n",
            "[each]\nioengine=e4defrag\ndonorname=d.2\ninplace=1\nrw=write\nsize=256k\nbs=64k\noverwrite=1\n",
            "[random]\nioengine=e4defrag\ndonorname=d.3\ninplace=1\nrw=randwrite\nsize=256k\nbs=16k\nloops=2\n",
            "[several]\nioengine=e4defrag\ndonorname=d.4\ninplace=1\nrw=write\nnrfiles=3\nfilesize=64k\nbs=16k\noverwrite=1\n",
            "[odd]\nioengine=e4defrag\ndonorname=d.5\ninplace=1\nrw=write\nsize=24000\nbs=6000\n",
        ]);
    }
}

#[test]
fn extents_that_move_keep_their_data() {
    let dir = TestDir::new();
    if !is_on_ext4(&dir) {
        return;
    }
    let data: Vec<u8> = (0..262_144_u32).map(|at| (at / 4096 + at) as u8).collect();
    let path = dir.work().join("f");
    let job =
        ["--name=a", "--ioengine=e4defrag", "--donorname=donor", "--filename=f", "--rw=write", "--bs=64k"];
    let more = ["--size=256k", "--end_fsync=1", "--output-format=json"];
    for inplace in ["--inplace=0", "--inplace=1"] {
        fs::write(&path, &data).unwrap();
        File::open(&path).unwrap().sync_all().unwrap();
        let report = dir.ferrio(&[&job[..], &more, &[inplace]].concat()).run().succeeded().json();
        assert_eq!(number(&report, "/jobs/0/write/total_ios"), 4);
        assert_eq!(number(&report, "/jobs/0/write/io_bytes"), 262_144);
        assert!(fs::read(&path).unwrap() == data, "{inplace}");
        let donor = fs::metadata(dir.work().join("donor")).unwrap().len();
        assert_eq!(donor, if inplace == "--inplace=0" { 262_144 } else { 0 });
    }
}

#[test]
fn extents_that_cannot_be_moved_are_refused_with_the_reason() {
    let dir = TestDir::new();
    if !is_on_ext4(&dir) {
        return;
    }
    let refused = |more: &[&str], want: &str| {
        let job = ["--name=a", "--ioengine=e4defrag", "--size=64k", "--bs=16k", "--overwrite=1"];
        let run = dir.ferrio(&[&job[..], more].concat()).run().ended_with(1);
        assert!(run.stderr.contains(want), "{more:?}: {}", run.stderr);
    };
    let shared = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
    let elsewhere = format!("--filename={}", shared.path().display());
    refused(&["--rw=write"], "'donorname' options required");
    refused(&["--rw=write", "--donorname=d", &elsewhere], "a file of the job is not on ext4");
    assert!(!dir.work().join("d").exists(), "a donor of no use is not left behind");
    refused(&["--rw=read", "--donorname=d"], "a write moves extents, and e4defrag does nothing else");
    refused(&["--rw=randrw", "--donorname=d"], "a write moves extents, and e4defrag does nothing else");
    refused(&["--rw=write", "--donorname=no/such/d"], "open(no/such/d)");
    refused(&["--rw=write", "--donorname=f", "--filename=f"], "f is a file of the job itself");
    let other = format!("--donorname={}", shared.path().display());
    refused(&["--rw=write", &other], "is on another file system than a file of the job");
}

#[test]
fn fresh_memory_is_verified_and_faults_once_per_page() {
    let dir = TestDir::new();
    let words = ["--name=a", "--ioengine=page_fault", "--rw=randwrite", "--size=1m", "--output-format=json"];
    let report = dir.ferrio(&[&words[..], &["--verify=crc32c"]].concat()).run().succeeded().json();
    assert_eq!(number(&report, "/jobs/0/write/total_ios"), 256);
    assert_eq!(number(&report, "/jobs/0/read/total_ios"), 256);
    assert_eq!(dir.files(), []);
    let run = dir.ferrio(&[&words[..], &["--nrfiles=2"]].concat()).run().ended_with(1);
    assert!(run.stderr.contains("page_fault ioengine does not support multiple files"), "{}", run.stderr);
}

#[test]
fn a_read_only_run_reserves_nothing() {
    let dir = TestDir::new();
    let words = ["--name=a", "--ioengine=falloc", "--rw=read", "--size=64k", "--readonly"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert!(run.stderr.contains("ioengine=falloc, but we're in read-only mode"), "{}", run.stderr);
    assert_eq!(dir.files(), []);
}
