//! The options that all jobs have: every engine obeys them, or says that it cannot.

use std::fs;

use ferrio_job::EngineKind;
use nix::errno::Errno;
use nix::sys::signal::Signal;
use serde_json::Value;

use super::scene::{BLOCK, BLOCKS, NAMES, Scene};
use super::{Target, engines_on, moving};
use crate::loop_device::LoopDevice;
use crate::support::{Run, TestDir, number};

/// Ends the jobs of engines that would work on and on.
const THREE_PIECES: &str = "--number_ios=3";

/// The scene of each engine, with what is on it and what a whole job does: I/Os and bytes.
fn each(check: impl Fn(EngineKind, Target, Scene, [u64; 2])) {
    for &engine in EngineKind::ALL {
        let target = Target::of(engine);
        let whole = match target {
            Target::Work => [3, 0],
            Target::Names => [NAMES, NAMES * BLOCK],
            _ => [BLOCKS, BLOCKS * BLOCK],
        };
        if let Some(scene) = Scene::of(engine) {
            check(engine, target, scene, whole);
        }
    }
}

/// Runs the scene with these options to its end.
fn run(scene: &Scene, target: Target, more: &[&str]) -> Run {
    let end: &[&str] = if target == Target::Work { &[THREE_PIECES] } else { &[] };
    scene.run(&[more, end].concat())
}

/// I/Os and bytes of the first job, in all directions.
fn done(report: &Value) -> [u64; 2] {
    let sum = |figure: &str| {
        ["read", "write", "trim"].iter().map(|at| number(report, &format!("/jobs/0/{at}/{figure}"))).sum()
    };
    ["total_ios", "io_bytes"].map(sum)
}

/// The run failed with this error, and a message has this text.
#[track_caller]
fn failed(run: Run, errno: Errno, text: &str) {
    let run = run.ended_with(1);
    assert_eq!(number(&run.json(), "/jobs/0/error"), errno as u64, "{}", run.stderr);
    assert!(run.stderr.contains(text), "{text}:\n{}", run.stderr);
}

/// The run was refused before it began, with this text.
#[track_caller]
fn refused(run: Run, text: &str) {
    let run = run.ended_with(1);
    assert!(run.stdout.is_empty() && run.stderr.contains(text), "{text}:\n{}{}", run.stdout, run.stderr);
}

#[test]
fn a_depth_is_reached_or_noted_to_be_1() {
    each(|engine, target, scene, whole| {
        let words = ["--rw=write", "--iodepth=8", "--iodepth_batch=8", "--iodepth_batch_complete_min=8"];
        let run = run(&scene, target, &words).succeeded();
        let report = run.json();
        assert_eq!(done(&report), whole, "{engine}");
        let level = |depth: &str| report["jobs"][0]["iodepth_level"][depth].as_f64().unwrap();
        if engine.is_sync(8) {
            assert_eq!(level("1"), 100.0, "{engine}");
            let note = match target {
                Target::Work => "option `iodepth` has no effect here: the engine does no I/O",
                _ => {
                    "both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1"
                }
            };
            assert!(run.stderr.contains(note), "{engine}: {}", run.stderr);
        } else if engine.begins_at_once() {
            // The queue fills and is emptied at once, twice.
            assert_eq!([level("1"), level("8")], [12.5, 12.5], "{engine}: {report}");
        } else {
            assert_eq!(level("8"), 100.0, "{engine}");
        }
    });
}

#[test]
fn batches_of_any_size_complete_every_io_once() {
    for (batch, min, max) in [(4, 2, 8), (3, 0, 0), (8, 1, 1), (1, 8, 8)] {
        let words = [
            "--rw=write".to_owned(),
            "--iodepth=8".to_owned(),
            format!("--iodepth_batch={batch}"),
            format!("--iodepth_batch_complete_min={min}"),
            format!("--iodepth_batch_complete_max={max}"),
        ];
        each(|engine, target, scene, whole| {
            let report = run(&scene, target, &words.each_ref().map(String::as_str)).succeeded().json();
            assert_eq!(done(&report), whole, "{engine} {words:?}");
            let samples = number(&report, "/jobs/0/write/clat_ns/N");
            assert_eq!(samples, if target == Target::Work { 0 } else { whole[0] }, "{engine} {words:?}");
        });
    }
}

#[test]
fn syncs_are_counted_or_fail() {
    for option in ["--fsync", "--fdatasync", "--sync_file_range"] {
        each(|engine, target, scene, whole| {
            let (often, kind) =
                ((whole[0] / 4).max(1), if option == "--sync_file_range" { "write:" } else { "" });
            let run = run(&scene, target, &["--rw=write", &format!("{option}={kind}{often}")]);
            let has_descriptors = target != Target::Names || engine.creates_files();
            if target == Target::Work {
                let option = &option[2..];
                let note = format!("option `{option}` has no effect here: the engine does no I/O");
                assert!(run.stderr.contains(&note), "{engine}: {}", run.stderr);
            } else if has_descriptors {
                let report = run.succeeded().json();
                // None follows the last write.
                assert_eq!(
                    (done(&report), number(&report, "/jobs/0/sync/total_ios")),
                    (whole, 3),
                    "{engine} {option}"
                );
            } else {
                failed(run, Errno::EBADF, "Bad file descriptor: ");
            }
        });
    }
}

#[test]
fn a_device_is_trimmed_or_the_trim_fails() {
    each(|engine, target, scene, whole| {
        let trims_files = matches!(target, Target::Files | Target::Space | Target::Foreign);
        if !trims_files {
            let run = run(&scene, target, &["--rw=trim"]);
            return match target {
                Target::Peer => {
                    let there = ["--rw=trim", "--name=c", "--rw=trim", "--hostname=::1", "--port=9"];
                    let trim = Scene::of(engine).unwrap().run(&there);
                    refused(trim, "network IO can't trim");
                }
                Target::Memory if !engine.can_trim() => {
                    failed(run, Errno::EINVAL, "Invalid argument: trim offset=0, buflen=4096");
                }
                _ => assert_eq!(done(&run.succeeded().json()), whole, "{engine}"),
            };
        }
        let Some(device) = LoopDevice::of(&scene.dir, BLOCKS * BLOCK) else { return };
        let scene = scene.on(device.node());
        fs::write(device.node(), vec![0x5a; (BLOCKS * BLOCK) as usize]).unwrap();
        let trim = scene.run(&["--rw=trim"]);
        if engine.only_writes() {
            return failed(trim, Errno::EINVAL, "Invalid argument");
        }
        let report = trim.succeeded().json();
        let trimmed =
            ["total_ios", "io_bytes"].map(|figure| number(&report, &format!("/jobs/0/trim/{figure}")));
        assert_eq!(trimmed, whole, "{engine}");
        let left = fs::read(device.medium()).unwrap().into_iter().filter(|&byte| byte != 0).count();
        assert_eq!(left, 0, "{engine}");
    });
}

#[test]
fn a_trim_of_a_regular_file_fails_with_its_place() {
    for engine in moving() {
        let run = Scene::of(engine).unwrap().run(&["--rw=trim"]);
        failed(run, Errno::ENOTTY, "file f: Inappropriate ioctl for device: trim offset=0, buflen=4096");
    }
}

#[test]
fn what_was_written_is_verified_where_there_is_something_to_read() {
    each(|engine, target, scene, whole| {
        let run = run(&scene, target, &["--rw=randwrite", "--verify=crc32c"]);
        if engine.only_writes() {
            return failed(run, Errno::EINVAL, "Invalid argument");
        }
        let report = run.succeeded().json();
        let read = number(&report, "/jobs/0/read/total_ios");
        let expected = if matches!(target, Target::Work) {
            3
        } else if target == Target::Peer {
            0
        } else {
            whole[0]
        };
        assert_eq!(read, expected, "{engine}");
    });
}

#[test]
fn a_changed_byte_is_found_with_its_place() {
    for engine in moving().chain(engines_on(Target::Foreign)) {
        let scene = Scene::of(engine).unwrap();
        scene.run(&["--rw=randwrite", "--verify=crc32c", "--do_verify=0"]).succeeded();
        let mut content = fs::read(scene.file()).unwrap();
        content[5 * BLOCK as usize + 100] ^= 1;
        fs::write(scene.file(), content).unwrap();
        let run = scene.run(&["--rw=read", "--verify=crc32c", "--iodepth=4"]);
        failed(run, Errno::EILSEQ, "f offset 20480, length 4096");
    }
}

#[test]
fn offloading_works_or_is_refused() {
    each(|engine, target, scene, whole| {
        let run = run(&scene, target, &["--rw=write", "--io_submit_mode=offload", "--iodepth=4"]);
        if engine.needs_one_thread() {
            refused(run, &format!("engine {engine} cannot be used with io_submit_mode=offload"));
        } else {
            assert_eq!(done(&run.succeeded().json()), whole, "{engine}");
        }
    });
}

#[test]
fn untorn_writes_are_refused_by_engines_that_cannot_ask_for_them() {
    each(|engine, target, scene, _| {
        if target != Target::Work && !engine.can_ask_for_atomic_writes() {
            refused(scene.run(&["--rw=write", "--atomic=1"]), "engine does not support atomic writes");
        }
    });
}

#[test]
fn ios_that_may_not_overlap_are_all_done() {
    each(|engine, target, scene, whole| {
        let words = ["--rw=randwrite", "--serialize_overlap=1", "--iodepth=4"];
        let report = run(&scene, target, &words).succeeded().json();
        assert_eq!(done(&report), whole, "{engine}");
    });
}

#[test]
fn ctrl_c_ends_a_job_in_order() {
    each(|engine, target, scene, _| {
        let intervals = format!("--interval-report=50ms:{}", scene.dir.beside("intervals").display());
        // A name that was created or removed once cannot be so again, and the kernel does not always move extents twice: the job pauses
        // after the first.
        let endless: &[&str] = match target {
            _ if target == Target::Names || engine.only_on_ext4() => &["--thinktime=1h"],
            _ => &["--time_based", "--runtime=1h"],
        };
        let words = ["--rw=write", "--iodepth=8", &intervals];
        let mut running = scene.invocation(&[&words[..], endless].concat()).start();
        running.until("the first interval", || {
            fs::metadata(scene.dir.beside("intervals")).is_ok_and(|found| found.len() > 0)
        });
        running.signal(Signal::SIGINT);
        let run = running.wait().ended_with(128);
        assert!(run.stderr.contains("terminating on signal 2"), "{engine}: {}", run.stderr);
        let report = run.json();
        assert_eq!(number(&report, "/jobs/0/error"), 0, "{engine}: {}", run.stderr);
        let [ios, bytes] = done(&report);
        assert!(ios > 0, "{engine}");
        let samples = number(&report, "/jobs/0/write/clat_ns/N");
        match target {
            Target::Work => assert_eq!(bytes, 0, "{engine}"),
            // One sample for each file, which is opened for the next I/O.
            Target::Names => assert!(samples >= ios, "{engine}"),
            _ => assert_eq!((bytes, samples), (ios * BLOCK, ios), "{engine}"),
        }
    });
}

/// A write that the limit of file sizes does not allow.
#[test]
fn an_error_names_file_offset_and_length() {
    let on_files = moving().filter(|engine| !engine.cannot_extend());
    // Moving extents leaves the file as long as it is.
    let on_space = engines_on(Target::Space).filter(|engine| !engine.only_on_ext4());
    for engine in on_files.chain(on_space).chain(engines_on(Target::Foreign)) {
        let scene = Scene::of(engine).unwrap();
        let run = scene
            .under("trap '' XFSZ; ulimit -f 32", &["--rw=write", "--fallocate=none", "--iodepth=1"])
            .run();
        // ftruncate(2) may make the file end at the limit.
        let at = if engine == EngineKind::Ftruncate { 36 << 10 } else { 32 << 10 };
        failed(
            run,
            Errno::EFBIG,
            &format!("io_u error on file f: File too large: write offset={at}, buflen={BLOCK}"),
        );
    }
}

#[test]
fn an_engine_without_its_device_or_its_server_says_so() {
    let of = |engine: EngineKind, more: &str| {
        let dir = TestDir::new();
        let words = format!("--name=a --ioengine={engine} --filename=f --size=64k {more}");
        dir.ferrio(&words.split_whitespace().collect::<Vec<_>>()).run().ended_with(1).stderr
    };
    for engine in engines_on(Target::PersistentMemory) {
        for rw in ["read", "write"] {
            let told = of(engine, &format!("--rw={rw}"));
            let refusals = ["not a DAX device!", "does not point to persistent memory"];
            assert!(refusals.iter().any(|refusal| told.contains(refusal)), "{engine}: {told}");
        }
    }
    for engine in engines_on(Target::Objects) {
        let told = of(engine, "--rw=write --http_host=127.0.0.1:9");
        let refusal = match engine.reason_of_absence() {
            Some(reason) => reason,
            None => "Connection refused".to_owned(),
        };
        assert!(told.contains(&refusal), "{engine}: {told}");
    }
}

#[test]
fn engines_on_files_are_in_the_contract_beside_their_code() {
    let crates = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/crates/engines")).unwrap();
    let tests = crates.filter_map(|path| fs::read_to_string(path.unwrap().path().join("src/tests.rs")).ok());
    let calls: Vec<String> = tests
        .flat_map(|text| text.split("contract::holds_for::").skip(1).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    for engine in moving() {
        let job = format!("ioengine={engine}\\n");
        assert!(
            calls.iter().any(|call| call.contains(&job)),
            "{engine}: call ferrio_engine::testing::contract::holds_for in the tests of its crate"
        );
    }
}
