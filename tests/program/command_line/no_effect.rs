//! Notes that an option has no effect, against what a job does with and without it.

use std::fs;

use crate::support::TestDir;

/// What a job leaves of itself.
#[derive(Debug, PartialEq, Eq)]
struct Deeds {
    /// Lines of its I/O log without times.
    ios: Vec<String>,
    /// Names and contents of its files.
    files: Vec<(String, Vec<u8>)>,
}

/// Runs a job with files `old` of 64 KiB and `part` of 4 KiB. Returns what it did, and the notes about options without effect.
fn run(job: &str, options: &str) -> (Deeds, Vec<String>) {
    let dir = TestDir::new();
    fs::write(dir.work().join("old"), vec![7; 64 << 10]).unwrap();
    fs::write(dir.work().join("part"), vec![7; 4 << 10]).unwrap();
    let text =
        format!("[a]\nioengine=psync\nsize=64k\nscramble_buffers=0\nwrite_iolog=iolog\n{job}\n{options}\n");
    let path = dir.job(&text);
    let run = dir.ferrio(&["--output=report", &path]).run().ended_with(0);
    let notes = run.stderr.lines().filter(|line| line.contains("has no effect here"));
    let notes = notes.map(str::to_owned).collect();
    let log = dir.read("iolog");
    let without_time = |line: &str| line.split_once(' ').map_or(line, |(_, rest)| rest).to_owned();
    let ios = log.lines().filter(|line| [" read ", " write "].iter().any(|io| line.contains(io)));
    let ios = ios.map(without_time).collect();
    let names = dir.files().into_iter().map(|(name, _)| name);
    let of_job = names.filter(|name| ["old", "old2", "new", "part"].contains(&name.as_str()));
    let files = of_job.map(|name| {
        let data = fs::read(dir.work().join(&name)).unwrap();
        (name, data)
    });
    (Deeds { ios, files: files.collect() }, notes)
}

#[test]
fn an_option_without_effect_changes_nothing_and_others_have_no_note() {
    let contents =
        ["buffer_pattern=0xab", "zero_buffers", "buffer_compress_percentage=50", "dedupe_percentage=50"];
    let on_old = contents.iter().map(|option| ("rw=read\nfilename=old", *option, true));
    let on_part =
        contents.iter().map(|option| ("rw=read\nfilename=part\nallow_layout_overwrite=1", *option, false));
    let on_new = contents.iter().map(|option| ("rw=randread\nfilename=new", *option, false));
    let others = [
        (
            "rw=randread\nfilename=old",
            "buffer_pattern=0xab\nbuffer_compress_percentage=50\nbuffer_compress_chunk=1k",
            true,
        ),
        ("rw=read\nfilename=old\nnumjobs=2", "buffer_pattern=0xab", true),
        ("rw=randrw\nfilename=old", "buffer_pattern=0xab", false),
        ("rw=read\nfilename=new", "overwrite=1", true),
        ("rw=randrw\nfilename=part", "overwrite=1", true),
        ("rw=read\nfilename=old", "sync=1", true),
        ("rw=randread\nfilename=new", "sync=dsync", true),
        ("rw=read\nfilename=old:old2", "fsync_on_close=1", true),
        ("rw=randread\nfilename=old:old2\nopenfiles=1", "fsync_on_close=1", true),
        ("rw=randread\nfilename=old", "bs_unaligned", true),
        ("rw=randread\nfilename=old\nbs=3000", "bs_unaligned", true),
        ("rw=randread\nfilename=old\nbsrange=4k-10k", "bs_unaligned", false),
        ("rw=read\nfilename=old\nbssplit=4k/50:6k/50", "bs_unaligned", false),
        ("rw=randread\nfilename=old", "file_service_type=random", true),
        ("rw=write\nfilename=new\nbs=3000", "file_service_type=roundrobin:8", true),
        ("rw=write\nfilename=new\nbs=3000", "file_service_type=sequential", true),
        ("rw=read\nfilename=old:new", "file_service_type=sequential", false),
        ("rw=read\nfilename=old:new", "file_service_type=random", false),
    ];
    for (job, option, is_noted) in on_old.chain(on_part).chain(on_new).chain(others) {
        let (without, none) = run(job, "");
        let (with, notes) = run(job, option);
        assert_eq!(none, Vec::<String>::new(), "{job}");
        let lines = if is_noted { option.lines().count() } else { 0 };
        assert_eq!(notes.len(), lines, "{job}, {option}: {notes:?}");
        assert!(!with.ios.is_empty(), "{job}, {option}");
        assert_eq!(with == without, is_noted, "{job}, {option}");
    }
}

#[test]
fn contents_of_a_reader_matter_if_another_job_inherits_them_or_removes_the_file() {
    let notes = |global: &str, more: &str| {
        let dir = TestDir::new();
        fs::write(dir.work().join("old"), vec![7; 64 << 10]).unwrap();
        let text =
            format!("[global]\nioengine=psync\nsize=64k\n{global}\n[a]\nfilename=old\nrw=read\n{more}\n");
        let run = dir.ferrio(&["--output=report", &dir.job(&text)]).run();
        run.stderr.matches("`buffer_pattern` has no effect here").count()
    };
    let pattern = "buffer_pattern=0xab";
    assert_eq!(notes(pattern, ""), 1);
    assert_eq!(notes(pattern, "[b]\nfilename=old\nrw=read"), 1);
    assert_eq!(notes(pattern, "[b]\nfilename=b\nrw=write"), 0);
    let own = |more: &str| notes("", &format!("{pattern}\n{more}"));
    assert_eq!(own("[b]\nfilename=b\nrw=write"), 1);
    assert_eq!(own("[b]\nfilename=b\nrw=write\nunlink=1"), 0);
    assert_eq!(own("unlink_each_loop=1\nloops=2"), 0);
    assert_eq!(own("verify=pattern\nverify_pattern=7"), 0);
}

#[test]
fn num_range_has_no_effect_in_a_replay_whatever_the_log_trims() {
    let dir = TestDir::new();
    fs::write(dir.work().join("log"), "fio version 2 iolog\nf add\nf open\nf trim 0 4096\nf close\n")
        .unwrap();
    let job = dir.job("[a]\nioengine=null\nread_iolog=log\nnum_range=4\n");
    let run = dir.ferrio(&["--output=report", &job]).run().ended_with(0);
    let want = "option `num_range` has no effect here: each trim of the log of `read_iolog` has one range";
    assert!(run.stderr.contains(want), "{}", run.stderr);
}
