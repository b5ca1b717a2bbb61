//! `zonemode=zbd` with emulated zones, beside real fio: where the I/Os go, how many zones are reset, what is refused.

use std::collections::BTreeSet;
use std::fs::{self, File};

use crate::support::{FERRIO, Run, TestDir, installed, number, same};

/// What all jobs of a comparison have: with a seed of their own, versions of fio draw the same offsets.
const GLOBAL: &str = "[global]\nzonemode=zbd\nzonesize=64k\nbs=4k\nsize=256k\nrandrepeat=0\nrandseed=137\nverify_state_save=0\n";

/// Runs a job file; each file that it may name has 512 KiB.
fn run(text: &str, fio: bool) -> (TestDir, Run, String) {
    let dir = TestDir::new();
    for name in text.lines().filter_map(|line| line.strip_prefix("filename=")) {
        File::create(dir.work().join(name)).unwrap().set_len(512 << 10).unwrap();
    }
    let job = dir.job(text);
    let report = dir.beside("report");
    let output = format!("--output={}", report.display());
    let words = [output.as_str(), &job];
    let run = if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run();
    let report = fs::read_to_string(report).unwrap_or_default();
    (dir, run, report)
}

/// The I/Os of a log, without times.
fn ios(dir: &TestDir, name: &str) -> Vec<String> {
    let io = |line: &str| {
        let (_, io) = line.split_once(' ')?;
        let words: Vec<&str> = io.split(' ').skip(1).collect();
        (words.len() == 3).then(|| words.join(" "))
    };
    dir.read(name).lines().filter_map(io).collect()
}

/// The numbers of zone resets in a text report, those of writes.
fn resets(report: &str) -> Vec<String> {
    let writes = report.lines().filter(|line| line.trim_start().starts_with("write:"));
    writes.map(|line| line.rsplit("; ").next().unwrap_or_default().to_owned()).collect()
}

/// Compares jobs that run side by side, each on a file of its own.
fn compare_all(jobs: &[&str]) {
    let job = |(at, options): (usize, &&str)| {
        format!("[j{at}]\nfilename=f{at}\nwrite_iolog=log{at}\n{}\n", options.replace(' ', "\n"))
    };
    let text = jobs.iter().enumerate().map(job).collect::<String>();
    compare(&format!("{GLOBAL}{text}"), jobs.len());
}

/// Compares the logs and the resets of a job file.
fn compare(text: &str, jobs: usize) {
    let [fio, ferrio] = [true, false].map(|fio| {
        let (dir, run, report) = run(text, fio);
        run.succeeded();
        ((0..jobs).map(|at| ios(&dir, &format!("log{at}"))).collect::<Vec<_>>(), resets(&report))
    });
    for (at, (fio, ferrio)) in fio.0.iter().zip(&ferrio.0).enumerate() {
        same!("fio": fio, "ferrio": ferrio, "the I/Os of job {at} of\n{text}");
    }
    same!("fio": fio.1, "ferrio": ferrio.1, "the zone resets of\n{text}");
}

#[test]
fn writes_go_to_the_pointers_of_their_zones_as_with_fio() {
    needs!("fio");
    compare_all(&[
        "rw=write",
        "rw=write io_size=512k",
        "rw=write io_size=512k zonecapacity=48k",
        "rw=write bsrange=1k-8k zonecapacity=45k",
        "rw=randwrite",
        "rw=randwrite io_size=640k norandommap",
        "rw=randwrite bsrange=1k-8k",
        "rw=randwrite bs=3k",
        "rw=randwrite ioengine=libaio iodepth=8 direct=1",
        "rw=write ioengine=io_uring iodepth=8 io_size=512k direct=1",
        "rw=randwrite:4",
        "rw=randwrite random_generator=lfsr",
        "rw=write loops=2 fsync=5",
        "rw=randwrite rate_iops=10000",
    ]);
}

#[test]
fn open_zones_are_limited_as_with_fio() {
    needs!("fio");
    compare_all(&[
        "rw=randwrite max_open_zones=1",
        "rw=randwrite max_open_zones=2 io_size=1m",
        "rw=randwrite max_open_zones=3 offset=128k",
        "rw=randwrite max_open_zones=3 job_max_open_zones=2",
        "rw=randrw rwmixread=30 max_open_zones=2 norandommap",
        "rw=randwrite verify=crc32c max_open_zones=3 zonecapacity=32k size=512k io_size=256k",
    ]);
}

#[test]
fn writes_reset_their_zones_from_time_to_time_as_with_fio() {
    needs!("fio");
    compare_all(&[
        "rw=write io_size=1m zone_reset_threshold=0.5 zone_reset_frequency=0.25",
        "rw=randwrite io_size=512k zone_reset_threshold=0.5 zone_reset_frequency=0.25",
        "rw=randwrite io_size=512k zone_reset_threshold=0.25 zone_reset_frequency=0.3",
        "rw=randwrite io_size=512k zone_reset_threshold=0.25 zone_reset_frequency=0.05",
        "rw=randwrite io_size=512k zone_reset_frequency=1",
        "rw=randwrite io_size=512k zone_reset_threshold=0.25",
        "rw=randwrite io_size=512k max_open_zones=2 zone_reset_threshold=0.25 zone_reset_frequency=0.3",
    ]);
}

#[test]
fn reads_stay_in_what_is_written_as_with_fio() {
    needs!("fio");
    compare_all(&[
        "rw=read",
        "rw=randread",
        "rw=randrw",
        "rw=randrw bs=3k",
        "rw=rw",
        "rw=randread read_beyond_wp=1",
        "rw=randrw read_beyond_wp=1",
        "rw=read read_beyond_wp=1 zoneskip=64k size=512k",
    ]);
}

#[test]
fn sequential_jobs_leave_zones_out_and_count_in_zones_as_with_fio() {
    needs!("fio");
    compare_all(&[
        "rw=write zoneskip=64k size=512k",
        "rw=write zoneskip=1z size=512k io_size=2z",
        "rw=write size=2z offset=1z",
        "rw=write size=50%",
        "rw=write size=250k",
        "rw=write offset=10k",
    ]);
}

#[test]
fn trims_reset_zones_as_with_fio() {
    needs!("fio");
    compare_all(&["rw=trim bs=64k", "rw=randtrim bs=64k", "rw=trimwrite bs=64k", "rw=randtrimwrite bs=64k"]);
}

#[test]
fn what_is_written_in_zones_is_verified_as_with_fio() {
    needs!("fio");
    compare_all(&[
        "rw=write verify=crc32c",
        "rw=randwrite verify=crc32c",
        "rw=write verify=crc32c loops=2",
        "rw=randwrite verify=md5 ioengine=libaio iodepth=4 direct=1",
        "rw=randrw verify=crc32c",
    ]);
}

#[test]
fn what_a_reset_has_discarded_is_not_read_back() {
    let options =
        "rw=randwrite io_size=512k verify=crc32c zone_reset_threshold=0.25 zone_reset_frequency=0.3";
    let text = format!("{GLOBAL}[j]\nfilename=f\nwrite_iolog=log\n{}\n", options.replace(' ', "\n"));
    let (dir, run, report) = run(&text, false);
    run.succeeded();
    assert_ne!(resets(&report), ["0 zone resets"]);
    let (mut written, mut discarded, mut passes) = (BTreeSet::new(), 0, 0);
    let mut read = BTreeSet::new();
    for io in ios(&dir, "log") {
        let words: Vec<&str> = io.split(' ').collect();
        let offset: u64 = words[1].parse().unwrap();
        match words[0] {
            "write" => {
                if !read.is_empty() {
                    assert_eq!(read, written, "of a pass");
                    (read, written) = (BTreeSet::new(), BTreeSet::new());
                    passes += 1;
                }
                let zone = offset / 65536 * 65536;
                if offset == zone {
                    let before = written.len();
                    written.retain(|block| !(zone..zone + 65536).contains(block));
                    discarded += before - written.len();
                }
                written.insert(offset);
            }
            _ => assert!(read.insert(offset), "{offset} twice"),
        }
    }
    assert_eq!(read, written);
    assert!(discarded > 0 && passes < 9, "{discarded} blocks discarded in {passes} passes and one more");
}

#[test]
fn jobs_share_the_zones_of_their_file_as_with_fio() {
    needs!("fio");
    let second = |options: &str| {
        let first = "[a]\nfilename=f\nrw=randwrite\nnumber_ios=30\nmax_open_zones=4\nwrite_iolog=log0\n";
        let second = format!("[b]\nfilename=f\nstonewall\nwrite_iolog=log1\n{options}");
        compare(&format!("{GLOBAL}{first}{second}"), 2);
    };
    second("rw=write\n");
    second("rw=read\n");
    second("rw=randread\nnumber_ios=40\n");
    second("rw=randtrim\nbs=64k\n[c]\nfilename=f\nstonewall\nrw=randwrite\nnumber_ios=9\n");
    second("rw=randwrite\nverify=crc32c\n");
    second("rw=randwrite\noffset=256k\n");
}

#[test]
fn mistakes_have_the_words_of_fio() {
    needs!("fio");
    for (options, want) in [
        (
            "rw=write zonesize=0",
            "f0: Specifying the zone size is mandatory for regular file/block device with --zonemode=zbd",
        ),
        ("rw=write zonesize=256", "f0: zone size must be at least 512 bytes for --zonemode=zbd"),
        ("rw=write zonecapacity=2m", "f0: job parameter zonecapacity 2097152 is larger than zone size 65536"),
        ("rw=write size=10k", "f0: io_size must be at least one zone"),
        ("rw=trim", "f0: trim block size 4096 is not the zone size 65536"),
        ("rw=write zoneskip=10k", "f0: zoneskip 10240 is not a multiple of the device zone size 65536."),
        (
            "rw=write job_max_open_zones=2",
            "'job_max_open_zones' cannot be used without a global open zones limit",
        ),
        ("rw=write zonesize=1m", "f0: file/device size 524288 is smaller than zone size 1048576"),
    ] {
        let text = format!("{GLOBAL}[j]\nfilename=f0\n{}\n", options.replace(' ', "\n"));
        for fio in [true, false] {
            let (_, run, report) = run(&text, fio);
            let run = run.ended_with(1);
            let said = format!("{report}{}", run.messages());
            assert!(said.lines().any(|line| line == want), "fio: {fio}, {options}: no `{want}` in\n{said}");
        }
    }
}

#[test]
fn two_jobs_write_to_one_zone_in_turns() {
    let text = format!(
        "{GLOBAL}filename=f\nioengine=io_uring\niodepth=4\ndirect=1\nrw=randwrite\nio_size=2m\nmax_open_zones=2\n[a]\n[b]\n[c]\n"
    );
    let (dir, run, _) = run(&text, false);
    run.succeeded();
    assert_eq!(dir.files(), [("f".to_owned(), 512 << 10)]);
}

#[test]
fn the_document_has_the_zone_resets_of_writes_and_trims() {
    let dir = TestDir::new();
    File::create(dir.work().join("f")).unwrap().set_len(256 << 10).unwrap();
    let words =
        "--name=a --filename=f --size=256k --zonemode=zbd --zonesize=64k --bs=4k --output-format=json";
    let document = |more: &str| {
        let words: Vec<&str> = words.split(' ').chain(more.split(' ')).collect();
        dir.ferrio(&words).run().succeeded().json()
    };
    let report = document("--rw=write --io_size=512k");
    assert_eq!(number(&report, "/jobs/0/write/zone_resets"), 4);
    assert!(report["jobs"][0]["read"].get("zone_resets").is_none());
    let report = document("--rw=trim --bs=64k");
    assert_eq!(number(&report, "/jobs/0/trim/zone_resets"), 0, "they are empty");
    assert_eq!(number(&report, "/jobs/0/trim/total_ios"), 4);
}

/// Offset and outcome of the pwrite calls of a job whose third call fails.
fn writes_around_an_error(options: &str) -> Vec<String> {
    let dir = TestDir::new();
    File::create(dir.work().join("f")).unwrap().set_len(128 << 10).unwrap();
    let job = dir.job(&format!(
        "[a]\nfilename=f\nzonemode=zbd\nzonesize=64k\nbs=16k\nsize=128k\nrw=write\ncontinue_on_error=write\n{options}"
    ));
    let trace = dir.beside("trace");
    let output = trace.display().to_string();
    let inject = "inject=pwrite64:error=EIO:when=3";
    let words = ["-f", "-o", &output, "-e", "trace=pwrite64", "-e", inject, FERRIO, &job];
    let _: Run = dir.program(installed("strace"), &words).run();
    let calls = fs::read_to_string(trace).unwrap();
    let outcome = |line: &str| {
        let (_, call) = line.rsplit_once("16384, ")?;
        call.replace(") ", " ").split(" (").next().map(str::to_owned)
    };
    calls.lines().filter_map(outcome).collect()
}

#[test]
fn a_failed_write_leaves_no_gap_in_its_zone() {
    needs!("strace");
    let offsets = |writes: &[String]| {
        writes.iter().map(|write| write.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let plain = writes_around_an_error("");
    assert_eq!(plain[2], "32768 = -1 EIO");
    assert_eq!(offsets(&plain[..4]), ["0", "16384", "32768", "32768"], "the next write has its place");
    assert_eq!(plain.len(), 8, "one of 8 blocks was not written");
    let recovered = writes_around_an_error("recover_zbd_write_error=1\n");
    assert_eq!(offsets(&recovered[..5]), ["0", "16384", "32768", "32768", "49152"], "it is written again");
    assert_eq!(recovered.len(), 9);
}
