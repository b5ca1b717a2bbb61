//! Traces of small programs, most of them as strace 6.1 writes them.

mod paths;

use proptest::prelude::*;

use super::*;
use crate::IoAction;
use crate::import::event::{TraceEvent, TraceEventKind};

/// Reads a trace. Every line must fit.
fn read(text: &str) -> (Vec<TraceEvent>, TraceContents) {
    let (mut strace, mut found) = (Strace::default(), TraceContents::default());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        strace.line(line.as_bytes(), &mut found).unwrap_or_else(|why| panic!("{line}: {why}"));
    }
    strace.finish(&mut found);
    (std::mem::take(&mut found.events), found)
}

/// The I/Os and closes of a trace in short: `w f 0+4096`.
fn ios(text: &str) -> Vec<String> {
    let (events, found) = read(text);
    events
        .iter()
        .map(|event| {
            let name = String::from_utf8_lossy(found.targets.name(event.target));
            match event.what {
                TraceEventKind::Close => format!("close {name}"),
                TraceEventKind::Io { action, offset, len } => {
                    format!("{} {name} {offset}+{len}", action.word())
                }
            }
        })
        .collect()
}

fn skipped(text: &str, why: SkipReason) -> u64 {
    read(text).1.skipped[why as usize]
}

#[test]
fn offsets_follow_reads_writes_and_seeks() {
    let trace = r#"
22076 22:06:13.346210 openat(AT_FDCWD, "out", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3 <0.000170>
22076 22:06:13.347289 write(3, "\0\0)\"\0"..., 4096) = 4096 <0.000116>
22076 22:06:13.347868 writev(3, [{iov_base="x\"]", iov_len=10}, {iov_base="y", iov_len=15}], 2) = 25 <0.000140>
22076 22:06:13.348000 pwrite64(3, "x"..., 512, 65536) = 512 <0.000140>
22076 22:06:13.348100 lseek(3, -1, SEEK_CUR) = 4120 <0.000140>
22076 22:06:13.348390 write(3, "\0"..., 4096) = 100 <0.000111>
22076 22:06:13.348685 fsync(3)          = 0 <0.001231>
22076 22:06:13.348785 fdatasync(3)          = 0 <0.001231>
22076 22:06:13.350061 close(3)          = 0 <0.000109>
22076 22:06:13.351601 exit_group(0)     = ?
22076 22:06:13.352198 +++ exited with 0 +++
"#;
    let want = [
        "write out 0+4096",
        "write out 4096+25",
        "write out 65536+512",
        "write out 4120+100",
        "sync out 0+0",
        "datasync out 0+0",
        "close out",
    ];
    assert_eq!(ios(trace), want);
    let (events, _) = read(trace);
    assert_eq!(events[1].time_ns - events[0].time_ns, 579_000);
    assert_eq!((events[0].took_ns, events[0].pid), (Some(116_000), Some(22076)));
}

#[test]
fn preadv_takes_its_offset_unless_that_is_minus_one() {
    let trace = r#"
openat(AT_FDCWD, "f", O_RDWR) = 3
preadv(3, [{iov_base="xxxxx", iov_len=5}], 1, 4096) = 5
preadv2(3, [{iov_base="xxxxx", iov_len=5}], 1, -1, RWF_NOWAIT) = 5
pwritev2(3, [{iov_base="xxxxx", iov_len=5}], 1, -1, 0) = 5
pread64(3, "", 100, 0) = 0
"#;
    assert_eq!(ios(trace), ["read f 4096+5", "read f 0+5", "write f 5+5"]);
    assert_eq!(skipped(trace, SkipReason::AtEnd), 1);
    assert_eq!(read(trace).1.remarks.untimed, 5);
}

#[test]
fn duplicates_share_an_offset_and_the_last_one_closes() {
    let trace = r#"
1 0.0 openat(AT_FDCWD, "f", O_RDONLY) = 3
1 0.1 dup2(3, 0) = 0
1 0.1 close(3) = 0
1 0.1 read(0, "..", 10) = 10
1 0.1 fcntl(0, F_DUPFD, 10) = 10
1 0.1 read(10, "..", 10) = 10
1 0.1 dup(0) = 4
1 0.1 dup3(4, 5, O_CLOEXEC) = 5
1 0.1 read(5, "..", 10) = 10
1 0.1 close_range(4, 4294967295, 0) = 0
1 0.1 read(5, "..", 10) = 10
1 0.1 close(0) = 0
"#;
    assert_eq!(ios(trace), ["read f 0+10", "read f 10+10", "read f 20+10", "close f"]);
    assert_eq!(skipped(trace, SkipReason::UnknownDescriptor), 1, "descriptor 5 was closed");
}

#[test]
fn a_fork_shares_offsets_but_not_descriptors() {
    let trace = r#"
10 1.0 openat(AT_FDCWD, "f", O_RDONLY) = 3
10 1.1 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f) = 11
11 1.2 read(3, "..", 10) = 10
11 1.3 close(3) = 0
10 1.4 read(3, "..", 10) = 10
11 1.5 openat(AT_FDCWD, "g", O_RDONLY) = 3
11 1.6 read(3, "..", 7) = 7
11 1.7 +++ exited with 0 +++
10 1.8 read(3, "..", 10) = 10
"#;
    assert_eq!(ios(trace), ["read f 0+10", "read f 10+10", "read g 0+7", "close g", "read f 20+10"]);
}

#[test]
fn threads_share_descriptors_and_lines_of_a_child_may_come_before_the_end_of_clone() {
    let trace = r#"
22114 22:06:14.027052 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD, child_tid=0x7fe5f040e990, parent_tid=0x7fe5f040e990, exit_signal=0, stack=0x7fe5efc0e000, stack_size=0x7fba80, tls=0x7fe5f040e6c0} <unfinished ...>
22115 22:06:14.027100 openat(AT_FDCWD, "f", O_RDONLY <unfinished ...>
22114 22:06:14.027285 <... clone3 resumed> => {parent_tid=[22115]}, 88) = 22115 <0.000208>
22115 22:06:14.027300 <... openat resumed>) = 3 <0.000200>
22114 22:06:14.027285 pread64(3,  <unfinished ...>
22115 22:06:14.027300 read(3, "..", 5) = 5 <0.000200>
22114 22:06:14.027900 <... pread64 resumed>"..", 10, 4096) = 10 <0.000600>
22115 22:06:14.028000 +++ exited with 0 +++
22114 22:06:14.028285 read(3, "..", 5) = 5
"#;
    assert_eq!(ios(trace), ["read f 0+5", "read f 4096+10", "read f 5+5"]);
    let (events, _) = read(trace);
    assert_eq!(
        (events[1].time_ns, events[1].took_ns),
        (79_574_027_285_000, Some(600_000)),
        "it began with its first line"
    );
}

/// On standard error strace names processes only while there are several, and its messages interrupt lines.
#[test]
fn standard_error_has_lines_without_numbers() {
    let trace = r#"
1795385173.370000 openat(AT_FDCWD, "f", O_RDONLY) = 3
1795385173.371065 vfork(strace: Process 22083 attached
 <unfinished ...>
[pid 22083] 1795385173.371501 execve("/usr/bin/cp", ["cp", "out", "out2"], 0x55d6efa3dc60 /* 35 vars */ <unfinished ...>
[pid 22082] 1795385173.371719 <... vfork resumed>) = 22083 <0.000629>
[pid 22083] 1795385173.371866 <... execve resumed>) = 0 <0.000335>
[pid 22082] 1795385173.371906 read(3,  <unfinished ...>
[pid 22083] 1795385173.372000 read(3, "..", 10) = 10 <0.1>
[pid 22082] 1795385173.372100 <... read resumed>"..", 10) = 10 <0.1>
[pid 22083] 1795385173.408000 +++ exited with 0 +++
1795385173.408751 read(3, "..", 10) = 10 <0.1>
1795385173.408961 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLDstrace: Process 22084 attached
, child_tidptr=0x7f7e58c56a10) = 22084 <0.000200>
[pid 22084] 1795385173.409345 read(3, "..", 10) = 10 <0.1>
--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=22084, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
"#;
    let (events, found) = read(trace);
    assert_eq!(found.skipped[SkipReason::Cut as usize], 0);
    let offsets: Vec<u64> = events
        .iter()
        .filter_map(|event| match event.what {
            TraceEventKind::Io { offset, .. } => Some(offset),
            TraceEventKind::Close => None,
        })
        .collect();
    assert_eq!(offsets, [0, 10, 20, 30]);
}

#[test]
fn exec_closes_what_is_marked() {
    let trace = r#"
1 1.0 openat(AT_FDCWD, "a", O_RDONLY|O_CLOEXEC) = 3
1 1.0 openat(AT_FDCWD, "b", O_RDONLY) = 4
1 1.0 openat(AT_FDCWD, "c", O_RDONLY) = 5
1 1.0 fcntl(5, F_SETFD, FD_CLOEXEC) = 0
1 1.0 execve("/bin/x", ["x"], 0x7ffd /* 3 vars */) = 0
1 1.0 read(3, "..", 1) = 1
1 1.0 read(4, "..", 1) = 1
1 1.0 read(5, "..", 1) = 1
1 1.0 execve("/bin/y", ["y"], 0x7ffd /* 3 vars */) = -1 ENOENT (No such file or directory)
1 1.0 read(4, "..", 1) = 1
"#;
    assert_eq!(ios(trace), ["close a", "close c", "read b 0+1", "read b 1+1"]);
}

#[test]
fn what_strace_abbreviates_is_counted() {
    let request = "{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5, aio_nbytes=512, aio_offset=0}";
    let trace = format!(
        "1 1.0 openat(AT_FDCWD, \"f\", O_RDWR) = 5\n\
         1 1.0 io_submit(0x7f, 64, [{request}, {request}, ...]) = 64\n\
         1 1.0 io_submit(0x7f, 3, 0x7ffd) = 3\n\
         1 1.0 io_submit(0x7f, 1, [{{aio_lio_opcode=IOCB_CMD_PREADV, aio_fildes=5, aio_buf=[{{iov_base=0x1, iov_len=9}}, ...], aio_nbytes=2, aio_offset=0}}]) = 1\n"
    );
    assert_eq!(ios(&trace), ["read f 0+512", "read f 0+512", "read f 0+9"]);
    let (_, found) = read(&trace);
    assert_eq!((found.remarks.abbreviated, found.remarks.shortened), (65, 1));
}

#[test]
fn appends_go_to_the_end_as_far_as_it_is_known() {
    let trace = r#"
1 1.0 openat(AT_FDCWD, "log", O_WRONLY|O_CREAT|O_APPEND, 0666) = 3
1 1.0 newfstatat(3, "", {st_mode=S_IFREG|0644, st_size=1000, ...}, AT_EMPTY_PATH) = 0
1 1.0 write(3, "..", 10) = 10
1 1.0 lseek(3, 0, SEEK_SET) = 0
1 1.0 write(3, "..", 10) = 10
1 1.0 ftruncate(3, 5) = 0
1 1.0 pwrite64(3, "..", 10, 0) = 10
1 1.0 openat(AT_FDCWD, "new", O_WRONLY|O_CREAT|O_EXCL|O_APPEND, 0666) = 4
1 1.0 write(4, "..", 10) = 10
1 1.0 lseek(4, -2, SEEK_END) = 98
1 1.0 write(4, "..", 10) = 10
"#;
    let want =
        ["write log 1000+10", "write log 1010+10", "write log 5+10", "write new 0+10", "write new 100+10"];
    assert_eq!(ios(trace), want);
    assert_eq!(read(trace).1.remarks.unknown_appends, 0);
    assert_eq!(skipped(trace, SkipReason::NotInLogs), 1);
}

#[test]
fn copies_in_the_kernel_are_a_read_and_a_write() {
    let trace = r#"
1 1.0 openat(AT_FDCWD, "a", O_RDONLY) = 3
1 1.0 openat(AT_FDCWD, "b", O_WRONLY|O_CREAT, 0644) = 4
1 1.0 copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 12288
1 1.0 copy_file_range(3, [100] => [200], 4, [0] => [100], 100, 0) = 100
1 1.0 sendfile(1, 3, [0] => [5], 5) = 5
1 1.0 sendfile(4, 3, NULL, 7) = 7
1 1.0 copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 0
"#;
    let want = [
        "read a 0+12288",
        "write b 0+12288",
        "read a 100+100",
        "write b 0+100",
        "read a 0+5",
        "read a 12288+7",
        "write b 12288+7",
    ];
    assert_eq!(ios(trace), want);
}

#[test]
fn asynchronous_ios_and_trims_are_there() {
    let trace = r#"
1 1.0 openat(AT_FDCWD, "f", O_RDWR|O_DIRECT) = 5
1 1.0 io_submit(0x7f5c, 2, [{aio_data=0x55, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=5, aio_buf="\0}]"..., aio_nbytes=4096, aio_offset=20480}, {aio_data=0x56, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5, aio_buf=0x7f5c, aio_nbytes=8192, aio_offset=0}]) = 2
1 1.0 io_submit(0x7f5c, 2, [{aio_data=0x55, aio_lio_opcode=IOCB_CMD_FDSYNC, aio_fildes=5}, {aio_data=0x56, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5, aio_nbytes=8192, aio_offset=0}]) = 1
1 1.0 fallocate(5, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 4096, 8192) = 0
1 1.0 fallocate(5, 0, 0, 8192) = 0
1 1.0 ioctl(5, BLKDISCARD, [0, 65536]) = 0
1 1.0 ioctl(5, BLKDISCARD, [9223372036854775807, 4096]) = 0
1 1.0 ioctl(5, BLKDISCARD, [0, 0]) = 0
1 1.0 ioctl(5, FIONREAD, [3]) = 0
1 1.0 sync_file_range(5, 0, 4096, SYNC_FILE_RANGE_WRITE) = 0
"#;
    let want = [
        "write f 20480+4096",
        "read f 0+8192",
        "datasync f 0+0",
        "trim f 4096+8192",
        "trim f 0+65536",
        "datasync f 0+0",
    ];
    assert_eq!(ios(trace), want);
    let (_, found) = read(trace);
    assert_eq!((found.remarks.range_syncs, found.remarks.direct), (1, 6));
    assert_eq!([SkipReason::BeyondFiles, SkipReason::Empty].map(|why| skipped(trace, why)), [1, 1]);
}

#[test]
fn asynchronous_ios_are_in_flight_until_they_are_reaped() {
    let submit = |count: usize| {
        let request = "{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5, aio_nbytes=512, aio_offset=0}";
        format!("1 1.0 io_submit(0x7f, {count}, [{}]) = {count}\n", vec![request; count].join(", "))
    };
    let reap = |count| format!("1 1.0 io_getevents(0x7f, 1, 4, [{{data=0}}], NULL) = {count}\n");
    let trace = [submit(3), reap(2), submit(4), reap(5)].concat();
    assert_eq!(read(&trace).1.remarks.deepest, 5);
}

#[test]
fn what_is_no_io_is_counted_by_its_reason() {
    let trace = r#"
1 1.0 write(1, "x", 1) = 1
1 1.0 openat(AT_FDCWD, "/dev/null", O_WRONLY) = 3
1 1.0 write(3, "x", 1) = 1
1 1.0 openat(AT_FDCWD, "f", O_RDWR) = 4
1 1.0 read(4, 0x7ffd, 10) = -1 EAGAIN (Resource temporarily unavailable)
1 1.0 read(4, 0x7ffd, 10) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
1 1.0 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 4, 0) = 0x7f0000
1 1.0 io_uring_enter(6, 1, 0, 0, NULL, 8) = 1
1 1.0 <... futex resumed>) = 0
1 1.0 read(4,  <unfinished ...>
"#;
    assert_eq!(ios(trace), [""; 0]);
    let (_, found) = read(trace);
    for (why, count) in [
        (SkipReason::UnknownDescriptor, 1),
        (SkipReason::NotAFile, 1),
        (SkipReason::FailedCall, 2),
        (SkipReason::Mapped, 1),
        (SkipReason::Ring, 1),
        (SkipReason::Cut, 2),
    ] {
        assert_eq!(found.skipped[why as usize], count, "{why:?}");
    }
}

#[test]
fn midnight_is_no_way_back() {
    let trace = "23:59:59.900000 openat(AT_FDCWD, \"f\", O_RDWR) = 4\n23:59:59.950000 read(4, \"\", 1) = 1\n00:00:00.050000 read(4, \"\", 1) = 1\n";
    let (events, _) = read(trace);
    assert_eq!(events[1].time_ns - events[0].time_ns, 100_000_000);
    for (line, whole_seconds) in [
        ("22:06:18 close(4)                 = 0\n", true),
        ("1795385173 close(4)                 = 0\n", true),
        ("1795385173.370000 close(4)                 = 0\n", false),
    ] {
        assert_eq!(read(line).1.remarks.whole_seconds, whole_seconds, "{line}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..20)) {
        let (mut strace, mut found) = (Strace::default(), TraceContents::default());
        for line in &lines {
            let _ = strace.line(line, &mut found);
        }
        strace.finish(&mut found);
    }

    /// Lines put together from parts of real ones get further than arbitrary bytes.
    #[test]
    fn no_mixture_of_parts_makes_it_panic(
        parts in prop::collection::vec(prop::sample::select(vec![
            "openat(AT_FDCWD, \"f\", O_RDWR|O_APPEND) = 3\n", "1 ", "[pid 2] ", "read(3, ", "\"..\", ", "10) = 10\n", " = ", "3", "\n",
            "<unfinished ...>\n", "<... read resumed>", "clone(flags=CLONE_FILES", ") = 2\n", "18446744073709551615", "-1",
            "pwrite64(3, \"\", 5, 9223372036854775807) = 5\n", "lseek(3, -9223372036854775808, SEEK_END) = 9223372036854775807\n",
            "close(3) = 0\n", "dup2(3, 4) = 4\n", "rename(\"f\", \"g\") = 0\n", "rename(\"d\", \"e\") = 0\n", "openat(AT_FDCWD, \"d/f\", O_RDWR) = 5\n", "unlink(\"f\") = 0\n", "openat(AT_FDCWD, \"g\", O_RDWR) = 4\n", "read(4</g>, ", "fsync(4</f>(deleted)) = 0\n", "+++ exited with 0 +++\n", "strace: Process 2 attached\n", "1.5 ", "99:99:99 ", "{", "[", "(", ")",
            "write(3, \"\", 9223372036854775807) = 9223372036854775807\n", "io_submit(1, 1, [{aio_fildes=3, aio_lio_opcode=IOCB_CMD_PREADV, aio_buf=[{iov_len=18446744073709551615}, {iov_len=9}]}]) = 1\n",
        ]), 0..40)
    ) {
        let (mut strace, mut found) = (Strace::default(), TraceContents::default());
        for line in parts.concat().lines() {
            let _ = strace.line(line.as_bytes(), &mut found);
        }
        strace.finish(&mut found);
        for event in &found.events {
            if let TraceEventKind::Io { action, offset, len } = event.what {
                prop_assert!(offset.checked_add(len).is_some_and(|end| end <= i64::MAX as u64));
                prop_assert_eq!(len == 0, matches!(action, IoAction::Sync | IoAction::Datasync));
            }
        }
    }
}
