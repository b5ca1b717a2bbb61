//! Which file a path or descriptor means: working directories, renamed and removed files, directories, files without names.

use super::{ios, read, skipped};
use crate::import::event::{SkipReason, TraceEventKind};

#[test]
fn paths_are_those_that_the_process_means() {
    let trace = r#"
1 1.0 openat(AT_FDCWD, "data/a b", O_RDONLY) = 3
1 1.0 read(3, "..", 1) = 1
1 1.0 chdir("/tmp") = 0
1 1.0 open("q\"\n\303\274", O_RDONLY) = 4
1 1.0 read(4, "..", 2) = 2
1 1.0 openat(AT_FDCWD, "imp", O_RDONLY|O_CLOEXEC|O_DIRECTORY) = 5
1 1.0 openat(5, "../s/out", O_RDONLY|O_CLOEXEC) = 6
1 1.0 read(6, "..", 3) = 3
1 1.0 fchdir(5) = 0
1 1.0 creat("new", 0644) = 7
1 1.0 write(7, "..", 4) = 4
1 1.0 read(5, "..", 4) = -1 EISDIR (Is a directory)
1 1.0 openat2(AT_FDCWD, "deep", {flags=O_RDWR|O_APPEND, resolve=0}, 24) = 8
1 1.0 write(8, "..", 4) = 4
"#;
    let want = [
        "read data/a b 0+1",
        "read /tmp/q\"\nü 0+2",
        "read /tmp/s/out 0+3",
        "write /tmp/imp/new 0+4",
        "write /tmp/imp/deep 0+4",
    ];
    assert_eq!(ios(trace), want);
    assert_eq!((skipped(trace, SkipReason::FailedCall), read(trace).1.remarks.unknown_appends), (1, 1));
}

#[test]
fn the_option_y_shows_files_of_descriptors_from_before_the_trace() {
    let trace = r#"
22108      0.000000 read(0</data/in put>, "..", 10) = 10 <0.1>
22108      0.000100 write(1</dev/pts/0<char 136:0>>, "..", 10) = 10 <0.1>
22108      0.000314 openat(AT_FDCWD</tmp/imp/s>, "t.db", O_RDWR|O_CREAT, 0644) = 3</tmp/imp/s/t.db> <0.000172>
22108      0.000330 newfstatat(3</tmp/imp/s/t.db>, "", {st_mode=S_IFREG|0644, st_size=8192, ...}, AT_EMPTY_PATH) = 0 <0.000103>
22108      0.000448 pwrite64(3</tmp/imp/s/t.db>, "\0(>"..., 512, 0) = 512 <0.000150>
22108      0.000448 read(4<pipe:[123]>, "\0(>"..., 512) = 512 <0.000150>
22108      0.000448 pread64(5</dev/sda<block 8:0>>, "\0(>"..., 512, 1024) = 512 <0.000150>
22108      0.000448 write(3</tmp/imp/s/new-name>, "\0"..., 512) = 512 <0.000150>
"#;
    let want = [
        "read /data/in put 0+10",
        "write /tmp/imp/s/t.db 0+512",
        "read /dev/sda 1024+512",
        "close /tmp/imp/s/t.db",
        "write /tmp/imp/s/new-name 0+512",
    ];
    assert_eq!(ios(trace), want);
    assert_eq!(skipped(trace, SkipReason::NotAFile), 2);
    let (events, found) = read(trace);
    assert_eq!(events[1].time_ns, 1_192_000, "times of -r add up");
    assert_eq!(found.remarks.unknown_offsets, 2, "the first read and the last write");
}

#[test]
fn the_path_that_strace_shows_wins_against_a_descriptor_that_has_another_file_by_now() {
    // The trace lacks that descriptor 3 was closed and opened again.
    let trace = r#"
1 1.0 openat(AT_FDCWD</w>, "a", O_RDWR) = 3</w/a>
1 1.0 write(3</w/a>, "..", 10) = 10
1 1.0 write(3</w/b>, "..", 10) = 10
1 1.0 lseek(3</w/b>, 4096, SEEK_SET) = 4096
1 1.0 write(3</w/b>, "..", 10) = 10
1 1.0 read(3<pipe:[7]>, "..", 10) = 10
"#;
    assert_eq!(ios(trace), ["write /w/a 0+10", "close /w/a", "write /w/b 0+10", "write /w/b 4096+10"]);
    let (_, found) = read(trace);
    assert_eq!((found.remarks.unknown_offsets, found.skipped[SkipReason::NotAFile as usize]), (1, 1));
}

#[test]
fn files_that_are_renamed_or_removed_stay_the_same_to_their_descriptors() {
    let trace = r#"
1 1.0 openat(AT_FDCWD</w>, "y", O_RDWR|O_CREAT, 0777) = 4</w/y>
1 1.0 write(4</w/y>, "..", 10) = 10
1 1.0 rename("y", "z") = 0
1 1.0 write(4</w/z>, "..", 10) = 10
1 1.0 openat(AT_FDCWD</w>, "z", O_RDONLY) = 5</w/z>
1 1.0 read(5</w/z>, "..", 20) = 20
1 1.0 unlink("/w/z") = 0
1 1.0 read(5</w/z>(deleted), "..", 5) = 5
1 1.0 write(4</w/z (deleted)>, "..", 10) = 10
"#;
    let want =
        ["write /w/y 0+10", "write /w/y 10+10", "read /w/y 0+20", "read /w/y 20+5", "write /w/y 20+10"];
    assert_eq!(ios(trace), want);
    assert_eq!(read(trace).1.remarks.unknown_offsets, 0);
}

#[test]
fn sizes_follow_files_that_are_renamed_and_removed() {
    let trace = r#"
1 1.0 openat(AT_FDCWD, "a", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3
1 1.0 write(3, "..", 100) = 100
1 1.0 close(3) = 0
1 1.0 renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE) = 0
1 1.0 openat(AT_FDCWD, "a", O_WRONLY|O_CREAT|O_APPEND, 0666) = 3
1 1.0 write(3, "..", 7) = 7
1 1.0 openat(AT_FDCWD, "b", O_WRONLY|O_APPEND) = 4
1 1.0 write(4, "..", 7) = 7
1 1.0 close(4) = 0
1 1.0 unlinkat(AT_FDCWD, "b", 0) = 0
1 1.0 openat(AT_FDCWD, "b", O_WRONLY|O_CREAT|O_APPEND, 0666) = 4
1 1.0 write(4, "..", 7) = 7
1 1.0 truncate("b", 3) = 0
1 1.0 write(4, "..", 7) = 7
1 1.0 unlink("nothing") = -1 ENOENT (No such file or directory)
"#;
    let (events, found) = read(trace);
    let offsets: Vec<(u32, u64)> = events
        .iter()
        .filter_map(|event| match event.what {
            TraceEventKind::Io { offset, .. } => Some((event.target, offset)),
            TraceEventKind::Close => None,
        })
        .collect();
    assert_eq!(offsets, [(0, 0), (1, 0), (0, 100), (0, 0), (0, 3)]);
    assert_eq!(found.remarks.unknown_appends, 0);
}

#[test]
fn offsets_of_files_from_before_the_trace_are_counted_as_unknown() {
    let trace = r#"
1 1.0 read(0</d/in>, "..", 10) = 10
1 1.0 read(0</d/in>, "..", 10) = 10
1 1.0 pread64(0</d/in>, "..", 10, 4096) = 10
1 1.0 fcntl(1</d/out>, F_GETFL) = 0x8401 (flags O_WRONLY|O_APPEND|O_LARGEFILE)
1 1.0 fstat(1</d/out>, {st_mode=S_IFREG|0644, st_size=500, ...}) = 0
1 1.0 write(1</d/out>, "..", 10) = 10
"#;
    let (_, found) = read(trace);
    assert_eq!(found.remarks.unknown_offsets, 2);
    // F_GETFL and fstat come before the first I/O, when the trace has not shown the file yet.
    assert_eq!(ios(trace)[3], "write /d/out 500+10");
}

#[test]
fn syncs_of_directories_are_no_files() {
    let trace = r#"
1 1.0 openat(AT_FDCWD, "/d/sub/f", O_RDWR|O_CREAT, 0666) = 3
1 1.0 openat(AT_FDCWD, "/d/sub", O_RDONLY) = 4
1 1.0 fsync(4) = 0
1 1.0 openat(AT_FDCWD, "/e", O_RDONLY|O_DIRECTORY) = 5
1 1.0 fsync(5) = 0
1 1.0 openat(AT_FDCWD, "/g", O_RDONLY) = 6
1 1.0 rename("/g/old", "/g/new") = 0
1 1.0 fsync(6) = 0
1 1.0 openat(AT_FDCWD, "/h", O_RDONLY) = 7
1 1.0 getdents64(7, 0x55 /* 2 entries */, 32768) = 48
1 1.0 fsync(7) = 0
1 1.0 fsync(8</d/sub>) = 0
1 1.0 fsync(3) = 0
"#;
    assert_eq!(ios(trace), ["sync /d/sub/f 0+0"]);
    assert_eq!(skipped(trace, SkipReason::SyncOfDirectory), 5);
}

/// Files opened with O_TMPFILE are no directories, and each one is another.
#[test]
fn files_without_names_are_files_of_their_own() {
    let trace = r#"
1 1.0 openat(AT_FDCWD, "/w/f", O_RDWR) = 3
1 1.0 openat(AT_FDCWD, "/w", O_RDWR|O_CLOEXEC|O_TMPFILE, 0600) = 4
1 1.0 openat(AT_FDCWD, "/w", O_RDWR|O_CLOEXEC|O_TMPFILE, 0600) = 5
1 1.0 write(4, "..", 10) = 10
1 1.0 write(5, "..", 20) = 20
1 1.0 fsync(4) = 0
1 1.0 openat(AT_FDCWD</w>, ".", O_RDWR|O_TMPFILE, 0600) = 6</w/#77>(deleted)
1 1.0 write(6</w/#77>(deleted), "..", 30) = 30
1 1.0 fsync(6</w/#77>(deleted)) = 0
1 1.0 openat(AT_FDCWD, "/w", O_RDONLY) = 7
1 1.0 fsync(7) = 0
2 1.0 openat(AT_FDCWD, ".", O_RDWR|O_TMPFILE, 0600) = 3
2 1.0 write(3, "..", 40) = 40
"#;
    let want = [
        "write /w/O_TMPFILE 0+10",
        "write /w/O_TMPFILE 0+20",
        "sync /w/O_TMPFILE 0+0",
        "write /w/#77 0+30",
        "sync /w/#77 0+0",
        "write O_TMPFILE 0+40",
    ];
    assert_eq!(ios(trace), want);
    assert_eq!(targets(trace), [1, 2, 1, 3, 3, 4]);
    assert_eq!(skipped(trace, SkipReason::SyncOfDirectory), 1);
}

/// The numbers of the files of all I/Os.
fn targets(trace: &str) -> Vec<u32> {
    let events = read(trace).0.into_iter();
    events.filter(|event| event.what != TraceEventKind::Close).map(|event| event.target).collect()
}

#[test]
fn files_below_a_renamed_directory_stay_the_same() {
    let trace = r#"
1 1.0 chdir("/w/old/sub") = 0
1 1.0 openat(AT_FDCWD, "f", O_RDWR|O_CREAT|O_EXCL, 0666) = 3
1 1.0 write(3, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "/w/older", O_RDWR|O_CREAT, 0666) = 4
1 1.0 write(4, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "/w/old", O_RDONLY|O_DIRECTORY) = 5
1 1.0 rename("/w/old", "/w/new") = 0
1 1.0 openat(AT_FDCWD, "/w/new/sub/f", O_WRONLY|O_APPEND) = 6
1 1.0 write(6, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "f", O_RDONLY) = 7
1 1.0 read(7, "..", 10) = 10
1 1.0 openat(5, "sub/f", O_RDONLY) = 8
1 1.0 read(8, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "/w/old/sub/f", O_RDWR|O_CREAT, 0666) = 9
1 1.0 write(9, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "/w/older", O_RDWR) = 10
1 1.0 read(10, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "/w/new/sub", O_RDONLY) = 11
1 1.0 fsync(11) = 0
"#;
    assert_eq!(targets(trace), [0, 1, 0, 0, 0, 2, 1]);
    assert_eq!(ios(trace)[2], "write /w/old/sub/f 10+10", "its size is known");
    assert_eq!((skipped(trace, SkipReason::SyncOfDirectory), read(trace).1.remarks.unknown_appends), (1, 0));
}

#[test]
fn directories_exchange_their_files() {
    let trace = r#"
1 1.0 openat(AT_FDCWD, "a/f", O_RDWR|O_CREAT, 0666) = 3
1 1.0 write(3, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "b/f", O_RDWR|O_CREAT, 0666) = 4
1 1.0 write(4, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "b/g", O_RDWR|O_CREAT, 0666) = 5
1 1.0 write(5, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "a", O_RDONLY|O_DIRECTORY) = 6
1 1.0 renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE) = 0
1 1.0 openat(AT_FDCWD, "a/f", O_RDWR) = 7
1 1.0 write(7, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "b/f", O_RDWR) = 8
1 1.0 write(8, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "a/g", O_RDWR) = 9
1 1.0 write(9, "..", 10) = 10
1 1.0 openat(6, "f", O_RDWR) = 10
1 1.0 write(10, "..", 10) = 10
1 1.0 openat(AT_FDCWD, "b/g", O_RDWR) = 11
1 1.0 write(11, "..", 10) = 10
"#;
    assert_eq!(targets(trace), [0, 1, 2, 1, 0, 2, 0, 3]);
}
