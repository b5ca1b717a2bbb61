use ferrio_engine::testing::{Rig, content, contract, file_with, open};

use super::*;
use ferrio_job::{FileKind, Tuning};
use ferrio_plan::testing::{default_job, spec_of};

fn spec(iodepth: u32, change: impl FnOnce(&mut EngineOptions)) -> JobSpec {
    let mut spec = default_job("io_uring");
    spec.depth.iodepth = iodepth;
    change(&mut spec.engine_options);
    spec
}

fn round_trip(spec: &JobSpec, flags: i32) {
    let file = file_with(&content(65536));
    let mut rig = Rig::<Uring>::new(spec, open(&file, libc::O_RDWR | flags).unwrap()).unwrap();
    assert_eq!(rig.read(8192, 4096), content(65536)[8192..12288]);
    rig.write(4096, &[7; 4096]);
    assert_eq!(rig.read(4096, 4096), [7; 4096]);
    assert_eq!(rig.run(Op::Read, 65536, 4096), 0, "a read at the end moves nothing");
    for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(2)] {
        assert_eq!(rig.run(op, 0, 4096), 0, "{op:?}");
    }
    assert_eq!(rig.run(Op::Trim, 0, 4096), -i64::from(libc::ENOTTY));
}

#[test]
fn what_every_engine_promises_holds() {
    contract::holds_for::<Uring>(&spec_of("[a]\nioengine=io_uring\nrw=randrw\nsize=256k\niodepth=1\n"));
    contract::holds_for::<Uring>(&spec_of("[a]\nioengine=io_uring\nrw=randrw\nsize=256k\niodepth=16\n"));
}

#[test]
fn plain_vectored_and_fixed_requests_read_back_what_they_wrote() {
    round_trip(&spec(1, |_| ()), 0);
    round_trip(&JobSpec { tuning: Tuning::Fio, ..spec(1, |_| ()) }, 0);
    round_trip(&spec(4, |o| o.ring.nonvectored = 0), 0);
    round_trip(&spec(4, |o| o.ring.nonvectored = 1), 0);
    round_trip(&spec(3, |o| o.ring.fixedbufs = true), 0);
}

/// What an engine of this job does by itself.
fn used(spec: &JobSpec, buffers: &Buffers) -> String {
    let file = file_with(&content(65536));
    let mut engine = Uring::open(spec, buffers).unwrap();
    engine.attach(&open(&file, libc::O_RDWR).unwrap()).unwrap();
    engine.optimisations().to_string()
}

#[test]
fn lean_jobs_register_files_and_buffers_by_themselves_unless_options_say_otherwise() {
    let buffers = Buffers::new(4, 65536, true).unwrap();
    let with = |change: fn(&mut JobSpec)| {
        let mut spec = spec(4, |_| ());
        change(&mut spec);
        used(&spec, &buffers)
    };
    assert_eq!(with(|_| ()), "registered-files, registered-buffers");
    assert_eq!(with(|spec| spec.tuning = Tuning::Fio), "");
    assert_eq!(with(|spec| spec.engine_options.ring.fixedbufs = true), "registered-files");
    assert_eq!(with(|spec| spec.engine_options.ring.registerfiles = true), "registered-buffers");
    for nonvectored in [0, 1] {
        assert_eq!(used(&spec(4, |o| o.ring.nonvectored = nonvectored), &buffers), "registered-files");
    }
    let on_terminals = |spec: &mut JobSpec| {
        spec.files = vec![ferrio_plan::testing::file("/dev/null", FileKind::Char, 4096)];
    };
    assert_eq!(with(on_terminals), "registered-files");
    // Pages that no I/O may ever use are not pinned.
    assert_eq!(used(&spec(65, |_| ()), &Buffers::new(65, 1 << 20, true).unwrap()), "registered-files");
    // More buffers than can be registered: the kernel refuses them, and the job goes on without.
    let many = Buffers::new(16385, 512, false).unwrap();
    assert_eq!(used(&spec(16385, |_| ()), &many), "registered-files");
}

#[test]
fn files_and_memory_are_free_when_the_engine_is_gone() {
    let file = file_with(&content(65536));
    let buffers = Buffers::new(4, 65536, true).unwrap();
    let mut engine = Uring::open(&spec(4, |_| ()), &buffers).unwrap();
    let files = open(&file, libc::O_RDWR).unwrap();
    engine.attach(&files).unwrap();
    assert!(engine.optimisations().has(Optimisations::REGISTERED_FILES));
    drop((engine, files));
    let file = file.into_temp_path();
    // A lease for writing is granted only if nobody else has the file open.
    let own = std::fs::OpenOptions::new().read(true).write(true).open(&file).unwrap();
    // SAFETY: takes plain numbers.
    let answer =
        unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(&own), libc::F_SETLEASE, libc::F_WRLCK) };
    assert_eq!(answer, 0, "{}", io::Error::last_os_error());
}

#[test]
fn polling_without_completions_asks_the_kernel_for_nothing() {
    use std::io::Write;

    let (reader, mut writer) = io::pipe().unwrap();
    let buffers = Buffers::new(1, 4096, true).unwrap();
    let mut engine = Uring::open(&spec(1, |_| ()), &buffers).unwrap();
    let fd = std::sync::Arc::new(std::os::fd::OwnedFd::from(reader));
    let pipe = OpenFile { fd: Some(fd), offset: 0, size: 4096 };
    engine.attach(&FileSet::new(vec![pipe])).unwrap();
    let request = Request {
        op: Op::Read,
        unit: 0,
        file: 0,
        len: 512,
        priority: 0,
        offset: u64::MAX,
        buffer: buffers.slot(0),
    };
    assert_eq!(engine.submit(&request), Submit::Queued);
    engine.flush().unwrap();
    let mut done = Vec::with_capacity(1);
    for _ in 0..1000 {
        engine.reap(0, 1, &mut done).unwrap();
    }
    assert!(done.is_empty());
    writer.write_all(&[7; 512]).unwrap();
    while done.is_empty() {
        engine.reap(0, 1, &mut done).unwrap();
    }
    assert_eq!(done, [Completion { unit: 0, result: 512 }]);
}

#[test]
fn registered_files_work_alone_and_with_fixed_buffers_and_direct_io() {
    round_trip(&spec(4, |o| o.ring.registerfiles = true), 0);
    let all = spec(4, |o| {
        o.ring.registerfiles = true;
        o.ring.fixedbufs = true;
        o.ring.force_async = 2;
    });
    round_trip(&all, 0);
    round_trip(&all, libc::O_DIRECT);
}

#[test]
fn a_submission_thread_does_the_same() {
    let options = spec(4, |o| {
        o.ring.sqthread_poll = true;
        o.ring.sqthread_poll_cpu = Some(0);
    });
    round_trip(&options, 0);
    let file = file_with(&content(1 << 20));
    let mut rig = Rig::<Uring>::new(&options, open(&file, libc::O_RDONLY).unwrap()).unwrap();
    assert!(rig.pump(Op::Read, 256, 4096, 2, 2).iter().all(|completion| completion.result == 4096));
}

#[test]
fn a_polled_ring_reads_where_the_device_can_be_polled_and_syncs_in_submit() {
    let file = file_with(&content(65536));
    let files = open(&file, libc::O_RDWR | libc::O_DIRECT).unwrap();
    let mut rig = Rig::<Uring>::new(&spec(4, |o| o.calls.hipri = true), files).unwrap();
    let result = rig.run(Op::Read, 0, 4096);
    assert!([4096, -i64::from(libc::EOPNOTSUPP)].contains(&result), "{result}");
    let sync = rig.request(0, Op::Fdatasync, 0, 0);
    assert_eq!(rig.engine.submit(&sync), Submit::Done(0));
}

#[test]
fn a_deep_queue_completes_every_request_once() {
    let file = file_with(&content(1 << 20));
    for (batch, min) in [(1, 1), (16, 16), (5, 3), (32, 32), (32, 0)] {
        for direct in [0, libc::O_DIRECT] {
            let files = open(&file, libc::O_RDONLY | direct).unwrap();
            let mut rig = Rig::<Uring>::new(&spec(32, |_| ()), files).unwrap();
            let done = rig.pump(Op::Read, 256, 4096, batch, min);
            assert_eq!(done.len(), 256);
            assert!(done.iter().all(|completion| completion.result == 4096), "batch {batch}, min {min}");
        }
    }
}

#[test]
fn one_enter_submits_a_batch_and_makes_its_completions_visible() {
    let file = file_with(&content(65536));
    let mut rig = Rig::<Uring>::new(&spec(16, |_| ()), open(&file, libc::O_RDONLY).unwrap()).unwrap();
    rig.read(0, 65536);
    for unit in 0..16 {
        let request = rig.request(unit, Op::Read, u64::from(unit) * 4096, 4096);
        assert_eq!(rig.engine.submit(&request), Submit::Queued);
    }
    let mut done = Vec::with_capacity(16);
    assert_eq!(rig.engine.flush().unwrap(), 16);
    assert_eq!(rig.engine.flush().unwrap(), 0);
    rig.engine.reap(16, 16, &mut done).unwrap();
    assert_eq!(done.iter().map(|c| c.unit).collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
}

#[test]
fn failed_requests_do_not_stop_the_batch() {
    let file = file_with(&content(65536));
    let mut rig = Rig::<Uring>::new(&spec(8, |_| ()), open(&file, libc::O_WRONLY).unwrap()).unwrap();
    let done = rig.pump(Op::Read, 16, 4096, 8, 8);
    assert_eq!(done.len(), 16);
    assert!(done.iter().all(|completion| completion.result == -i64::from(libc::EBADF)));
}

#[test]
fn a_full_queue_says_so_and_takes_requests_again_after_the_flush() {
    let file = file_with(&content(65536));
    let mut rig = Rig::<Uring>::new(&spec(2, |_| ()), open(&file, libc::O_RDONLY).unwrap()).unwrap();
    let request = rig.request(0, Op::Read, 0, 4096);
    assert_eq!(rig.engine.submit(&request), Submit::Queued);
    assert_eq!(rig.engine.submit(&rig.request(1, Op::Read, 0, 4096)), Submit::Queued);
    assert_eq!(rig.engine.submit(&request), Submit::Full);
    let mut done = Vec::with_capacity(2);
    rig.engine.reap(2, 2, &mut done).unwrap();
    assert_eq!(done.len(), 2, "reaping submits what still waits");
}

#[test]
fn files_can_be_attached_again() {
    let (first, second) = (file_with(&[1; 4096]), file_with(&[2; 4096]));
    for register in [false, true] {
        let options = spec(1, |o| o.ring.registerfiles = register);
        let mut rig = Rig::<Uring>::new(&options, open(&first, libc::O_RDONLY).unwrap()).unwrap();
        assert_eq!(rig.read(0, 4096), [1; 4096]);
        rig.files = open(&second, libc::O_RDONLY).unwrap();
        rig.engine.attach(&rig.files).unwrap();
        assert_eq!(rig.read(0, 4096), [2; 4096]);
    }
}

#[test]
fn an_engine_dropped_with_io_in_flight_waits_for_it() {
    let file = file_with(&content(1 << 20));
    let files = open(&file, libc::O_RDONLY | libc::O_DIRECT).unwrap();
    let mut rig = Rig::<Uring>::new(&spec(16, |_| ()), files).unwrap();
    for unit in 0..16 {
        let offset = u64::from(unit) * 65536;
        let request = rig.request(unit, Op::Read, offset, 65536);
        assert_eq!(rig.engine.submit(&request), Submit::Queued);
        if unit == 11 {
            rig.engine.flush().unwrap();
        }
    }
    let Rig { engine, buffers, files } = rig;
    drop(engine);
    let read = |unit| {
        // SAFETY: nothing is in flight any more; the slot has 65536 bytes.
        unsafe { std::slice::from_raw_parts(buffers.slot(unit), 65536) }
    };
    assert_eq!(read(11), &content(1 << 20)[11 * 65536..12 * 65536]);
    assert!(read(12).iter().all(|&byte| byte == 0), "what was never flushed never ran");
    drop(files);
}

#[test]
fn every_nth_counts_from_the_first() {
    let mut third = EveryNth::new(3);
    assert_eq!([(); 7].map(|()| third.is_due()), [false, false, true, false, false, true, false]);
    assert!(!EveryNth::new(0).is_due());
}

#[test]
fn uncached_counts_only_for_buffered_jobs() {
    let mut job = spec(1, |o| o.calls.uncached = true);
    assert_eq!(sync_ops::rw_flags(&job), libc::RWF_DONTCACHE);
    job.opening.direct = true;
    job.engine_options.calls.nowait = true;
    assert_eq!(sync_ops::rw_flags(&job), libc::RWF_NOWAIT);
}

#[test]
fn a_wait_with_a_limit_ends_with_the_limit_or_with_the_first_completion() {
    let (reader, mut writer) = io::pipe().unwrap();
    let file = OpenFile { fd: Some(std::sync::Arc::new(reader.into())), offset: 0, size: 0 };
    let mut rig = Rig::<Uring>::new(&spec(2, |_| ()), FileSet::new(vec![file])).unwrap();
    let mut done = Vec::with_capacity(2);
    let long = Duration::from_secs(3600);
    assert!(
        rig.engine.reap_within(long, 2, &mut done).unwrap(),
        "nothing is in flight, nothing is waited for"
    );
    let request = rig.request(1, Op::Read, 0, 4096);
    assert_eq!(rig.engine.submit(&request), Submit::Queued);
    rig.engine.flush().unwrap();
    assert!(rig.engine.reap_within(Duration::from_millis(2), 2, &mut done).unwrap());
    assert!(done.is_empty(), "the pipe is empty: {done:?}");
    io::Write::write_all(&mut writer, b"seven..").unwrap();
    while done.is_empty() {
        assert!(rig.engine.reap_within(long, 2, &mut done).unwrap());
    }
    assert_eq!(done, [Completion { unit: 1, result: 7 }]);
}

fn full(spec: &JobSpec) -> (Rig<FullUring>, tempfile::NamedTempFile) {
    let file = file_with(&content(65536));
    let rig = Rig::new(spec, open(&file, libc::O_RDWR).unwrap()).unwrap();
    (rig, file)
}

#[test]
fn a_trim_that_the_ring_cannot_do_is_repeated_by_a_call_and_so_are_all_after_it() {
    let (mut rig, _file) = full(&spec(4, |_| ()));
    let requests: Vec<_> = (0..3).map(|unit| rig.request(unit, Op::Trim, 0, 4096)).collect();
    for request in &requests[..2] {
        assert_eq!(rig.engine.submit(request), Submit::Queued);
    }
    rig.engine.flush().unwrap();
    let mut done = Vec::with_capacity(4);
    rig.engine.reap(2, 4, &mut done).unwrap();
    let refused = -i64::from(libc::ENOTTY);
    assert_eq!(done.iter().map(|completion| completion.result).collect::<Vec<_>>(), [refused; 2]);
    assert_eq!(rig.engine.submit(&requests[2]), Submit::Done(refused));
}

#[test]
fn a_job_that_trims_reads_writes_and_syncs_as_others_do() {
    let (mut rig, _file) = full(&spec(4, |o| o.ring.registerfiles = true));
    rig.write(4096, &[7; 4096]);
    assert_eq!(rig.read(4096, 4096), [7; 4096]);
    assert_eq!(rig.run(Op::Fsync, 0, 0), 0);
}

#[test]
fn metadata_needs_a_file_that_keeps_it() {
    let file = file_with(&content(4096));
    let options = spec(1, |o| o.protection.metadata_bytes = 64);
    let error = Rig::<FullUring>::new(&options, open(&file, libc::O_RDWR).unwrap()).err().unwrap();
    let hint = error.hint.unwrap_or_default();
    assert!(hint.contains("failed to query protection information capabilities; error "), "{hint}");
}
