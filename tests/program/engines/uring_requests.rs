//! The use of io_uring: the requests that reach the kernel, by its tracepoint, and the calls around them, by strace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::gettid;

use crate::support::{FERRIO, Run, TestDir, installed, number, skipped};

/// Records all requests that programs started by this thread submit to rings. Removed when dropped.
struct Recorder(PathBuf);

const EVENT: &str = "events/io_uring/io_uring_submit_req/enable";

impl Recorder {
    /// `None` where this process may not trace: that takes root.
    fn start() -> Option<Self> {
        let directory = format!("/sys/kernel/tracing/instances/ferrio-test-{}", gettid());
        if let Err(error) = fs::create_dir(&directory) {
            skipped("requests of io_uring", &format!("the kernel does not record them: {error}"));
            return None;
        }
        let recorder = Recorder(directory.into());
        let set = |file: &str, value: &str| fs::write(recorder.0.join(file), value);
        let on = set("options/event-fork", "1")
            .and_then(|()| set("set_event_pid", &gettid().to_string()))
            .and_then(|()| set(EVENT, "1"));
        if let Err(error) = on {
            skipped("requests of io_uring", &format!("this kernel does not record them: {error}"));
            return None;
        }
        Some(recorder)
    }

    fn requests(&self) -> Vec<Request> {
        let trace = fs::read_to_string(self.0.join("trace")).unwrap();
        let after = |line: &str, key: &str| {
            let at = line.find(key).unwrap_or_else(|| panic!("no {key} in {line}")) + key.len();
            line[at..].split([',', ' ']).next().unwrap_or_default().to_owned()
        };
        let lines = trace.lines().filter(|line| line.contains("io_uring_submit_req:"));
        lines
            .map(|line| Request {
                opcode: after(line, "opcode "),
                flags: u64::from_str_radix(after(line, "flags 0x").trim(), 16).unwrap() & 0xff,
            })
            .collect()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join(EVENT), "0");
        let _ = fs::remove_dir(&self.0);
    }
}

/// A submitted request.
#[derive(Debug)]
struct Request {
    opcode: String,
    /// `IOSQE_*`
    flags: u64,
}

const FIXED_FILE: u64 = 1;
const ASYNC: u64 = 16;

/// The requests of a job, in order.
fn requests(more: &str) -> Option<Vec<Request>> {
    let dir = TestDir::new();
    let recorder = Recorder::start()?;
    dir.ferrio(&[dir.job(&job(more))]).run().succeeded();
    Some(recorder.requests())
}

/// A job that does nothing by itself.
fn job(more: &str) -> String {
    format!("[a]\nioengine=io_uring\nfilename=f\nsize=64k\nbs=16k\noverwrite=1\ntuning=fio\n{more}\n")
}

fn opcodes(requests: &[Request]) -> Vec<(&str, usize)> {
    let mut all: Vec<(&str, usize)> = Vec::new();
    for request in requests {
        match all.iter_mut().find(|(opcode, _)| *opcode == request.opcode) {
            Some((_, count)) => *count += 1,
            None => all.push((&request.opcode, 1)),
        }
    }
    all
}

/// The kernel runs all syncs in a worker.
fn flags_of_data(requests: &[Request]) -> Vec<u64> {
    let data = requests.iter().filter(|request| !request.opcode.contains("SYNC"));
    data.map(|request| request.flags).collect()
}

#[test]
fn each_kind_of_request_has_its_opcode() {
    for (more, want) in [
        ("rw=read", &[("READ", 4)][..]),
        ("rw=read\nnonvectored=1", &[("READ", 4)]),
        ("rw=read\nnonvectored=0", &[("READV", 4)]),
        ("rw=write\nnonvectored=0", &[("WRITEV", 4)]),
        ("rw=read\nfixedbufs", &[("READ_FIXED", 4)]),
        ("rw=write\nfixedbufs\nfsync=2", &[("WRITE_FIXED", 4), ("FSYNC", 1)]),
        ("rw=write\nfdatasync=1", &[("WRITE", 4), ("FSYNC", 3)]),
        ("rw=write\nsync_file_range=write:1", &[("WRITE", 4), ("SYNC_FILE_RANGE", 3)]),
    ] {
        let Some(requests) = requests(more) else { return };
        assert_eq!(opcodes(&requests), want, "{more}");
        assert!(flags_of_data(&requests).iter().all(|&flags| flags == 0), "{more}: {requests:?}");
    }
}

#[test]
fn registered_files_and_forced_workers_are_flags_of_requests() {
    let Some(registered) = requests("rw=write\nfsync=1\nregisterfiles") else { return };
    assert!(registered.iter().all(|request| request.flags & FIXED_FILE != 0), "{registered:?}");
    let Some(forced) = requests("rw=write\nforce_async=2") else { return };
    assert_eq!(flags_of_data(&forced), [0, ASYNC, 0, ASYNC]);
    let Some(forced) = requests("rw=write\nfsync=1\nforce_async=3") else { return };
    assert_eq!(flags_of_data(&forced), [0, ASYNC, 0, 0], "syncs count as well");
}

#[test]
fn a_lean_job_registers_files_and_buffers_and_others_do_not() {
    let Some(lean) = requests("rw=write\nfsync=2\ntuning=lean") else { return };
    assert_eq!(opcodes(&lean), [("WRITE_FIXED", 4), ("FSYNC", 1)]);
    assert!(lean.iter().all(|request| request.flags & FIXED_FILE != 0), "{lean:?}");
    let Some(chosen) = requests("rw=read\nnonvectored=0\ntuning=lean") else { return };
    assert_eq!(opcodes(&chosen), [("READV", 4)]);
    // Files that are opened one by one are not registered by themselves.
    let Some(one_by_one) = requests("rw=read\nfilename=g\nopenfiles=1\ntuning=lean") else {
        return;
    };
    assert_eq!(opcodes(&one_by_one), [("READ_FIXED", 4)]);
    assert!(flags_of_data(&one_by_one).iter().all(|&flags| flags == 0), "{one_by_one:?}");
}

/// Undone when dropped.
struct LoopDevice(String);

impl LoopDevice {
    fn of(file: &Path) -> Option<Self> {
        let made = Command::new(installed("losetup")).args(["-f", "--show"]).arg(file).output().unwrap();
        if !made.status.success() {
            skipped(
                "requests of io_uring",
                &format!("no loop device: {}", String::from_utf8_lossy(&made.stderr)),
            );
            return None;
        }
        Some(LoopDevice(String::from_utf8(made.stdout).unwrap().trim().to_owned()))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

#[test]
fn trims_of_a_device_are_requests_like_others_and_clear_their_range() {
    let dir = TestDir::new();
    let medium = dir.beside("medium");
    fs::write(&medium, vec![0xaa; 1 << 20]).unwrap();
    let Some(recorder) = Recorder::start() else { return };
    let Some(device) = LoopDevice::of(&medium) else { return };
    let job =
        format!("[a]\nioengine=io_uring\nfilename={}\nsize=64k\nbs=16k\nrw=trim\niodepth=4\n", device.0);
    let report = dir.ferrio(&["--output-format=json", &dir.job(&job)]).run().succeeded().json();
    assert_eq!(number(&report, "/jobs/0/trim/total_ios"), 4);
    let content = fs::read(&device.0).unwrap();
    assert!(content[..65536].iter().all(|&byte| byte == 0));
    assert!(content[65536..].iter().all(|&byte| byte == 0xaa));
    let requests = recorder.requests();
    let first = opcodes(&requests)[0];
    // A kernel before 6.12 refuses the first ones, and the rest are calls.
    assert_eq!(first.0, "URING_CMD");
    assert!(first.1 >= 1);
}

/// The calls of these names that a run makes, a line each.
fn calls(names: &str, inject: &[&str], more: &str) -> Vec<String> {
    let dir = TestDir::new();
    let (log, job) = (dir.beside("calls"), dir.job(&job(more)));
    let (log, trace) = (log.to_str().unwrap(), format!("trace={names}"));
    let words = [&["-f", "-qq", "-o", log, "-e", &trace][..], inject, &[FERRIO, &job]].concat();
    let _: Run = dir.program(installed("strace"), &words).run().succeeded();
    fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
}

fn setups(inject: &[&str], more: &str) -> Vec<String> {
    let calls = calls("io_uring_setup", inject, more);
    let flags = |line: &String| line.split("flags=").nth(1)?.split(',').next().map(str::to_owned);
    calls.iter().filter_map(flags).collect()
}

#[test]
fn a_ring_is_set_up_with_fewer_flags_after_each_einval() {
    needs!("strace");
    let refused = setups(&["-e", "inject=io_uring_setup:error=EINVAL:when=1..3"], "rw=read");
    assert_eq!(refused.len(), 4, "{refused:?}");
    let has = |flag: &str| refused.iter().map(|flags| flags.contains(flag)).collect::<Vec<_>>();
    assert_eq!(has("CQSIZE"), [true, true, true, false], "{refused:?}");
    assert_eq!(has("COOP_TASKRUN"), [true, true, false, false], "{refused:?}");
    let polled = setups(&[], "rw=read\nsqthread_poll\nsqthread_poll_cpu=0");
    assert_eq!(polled.len(), 1, "{polled:?}");
    assert!(polled[0].contains("SQPOLL") && polled[0].contains("SQ_AFF"), "{polled:?}");
}

#[test]
fn a_ring_has_a_registered_descriptor_and_a_probe_unless_the_opcode_is_chosen() {
    needs!("strace");
    let registered = |more: &str| {
        let calls = calls("io_uring_register", &[], more);
        ["RING_FDS", "PROBE", "FILES", "BUFFERS"].map(|what| {
            calls
                .iter()
                .any(|line| line.contains(&format!("REGISTER_{what},")) && !line.contains("UNREGISTER"))
        })
    };
    assert_eq!(registered("rw=read"), [true, true, false, false]);
    assert_eq!(registered("rw=read\nnonvectored=1\nregisterfiles"), [true, false, true, false]);
    assert_eq!(registered("rw=read\nfixedbufs"), [true, false, false, true]);
}

#[test]
fn nobody_sleeps_in_the_kernel_beside_a_submission_thread() {
    needs!("strace");
    let calls = calls("io_uring_enter", &[], "rw=read\nsqthread_poll\niodepth=4\nbs=512");
    for line in &calls {
        let arguments: Vec<&str> = line.split(", ").collect();
        assert_eq!((arguments[2], arguments[3].contains("SQ_WAKEUP")), ("0", true), "{line}");
    }
}
