use std::fs;
use std::path::Path;

use ferrio_job::{PlannedJob, ReplayAction};
use tempfile::TempDir;

use super::*;
use crate::testing::plan_of;

/// The jobs that replay this log, and the notes about them.
fn jobs(log: &str, options: &str) -> (Vec<PlannedJob>, Vec<String>) {
    let place = TempDir::new().unwrap();
    let path = place.path().join("log");
    fs::write(&path, log).unwrap();
    let plan = plan_of(&format!("[a]\nioengine=null\nread_iolog={}\n{options}", path.display())).unwrap();
    let shown = path.display().to_string();
    let notes = plan.diagnostics.iter().map(|note| note.message.replace(&shown, "log")).collect();
    (plan.jobs, notes)
}

fn job(log: &str, options: &str) -> JobSpec {
    let planned = jobs(log, options).0.remove(0);
    assert_eq!(planned.setup_error, None);
    planned.spec
}

fn refusal(log: &str, options: &str) -> String {
    let error = jobs(log, options).0.remove(0).setup_error.unwrap();
    assert_eq!((error.errno, error.func), (libc::EINVAL, "failed initializing iolog"));
    error.message.split_once(": ").unwrap().1.to_owned()
}

fn steps(spec: &JobSpec) -> Vec<(u64, ReplayAction, u32, u64, u64)> {
    let ReplaySteps::Loaded(steps) = &spec.replay.as_ref().unwrap().steps else { panic!("no steps") };
    steps.iter().map(|step| (step.due_us(), step.action(), step.file(), step.offset, step.bytes())).collect()
}

fn dues(spec: &JobSpec) -> Vec<u64> {
    steps(spec).into_iter().map(|(due, ..)| due).collect()
}

const V3: &str = "fio version 3 iolog\n";
const MIX: &str = "fio version 2 iolog\nd add\nd open\nd write 0 8192\nd read 4096 4096\nd sync 0 0\n\
                   d datasync 0 0\nd write 8192 4096\nd close\n";

#[test]
fn a_log_decides_direction_blocks_files_and_size() {
    let spec = job(MIX, "rw=randtrim:8\nbs=512\nsize=1g\nnrfiles=9\nloops=3\ntime_based\nruntime=1\n");
    assert_eq!((spec.rw, spec.rw_postfix), (ReadWrite::Mixed, RwPostfix::None));
    let blocks = |direction| (spec.block[direction].min, spec.block[direction].max);
    assert_eq!((blocks(Direction::Write), blocks(Direction::Read)), ((4096, 8192), (4096, 4096)));
    let files: Vec<_> = spec.files.iter().map(|file| (file.path.as_path(), file.size, file.extend)).collect();
    assert_eq!(files, [(Path::new("d"), 12288, false)]);
    assert_eq!((spec.limits.size, spec.limits.loops, spec.limits.time_based), (16384, 1, false));
    assert!(spec.opens_on_demand() && spec.may_overwrite());
    use ReplayAction::{Close, Datasync, Open, Read, Sync, Write};
    let want = [
        (0, Open, 0, 0, 0),
        (0, Write, 0, 0, 8192),
        (0, Read, 0, 4096, 4096),
        (0, Sync, 0, 0, 0),
        (0, Datasync, 0, 0, 0),
        (0, Write, 0, 8192, 4096),
        (0, Close, 0, 0, 0),
    ];
    assert_eq!(steps(&spec), want);
}

#[test]
fn options_that_a_log_overrules_are_noted_with_that_reason() {
    let noted = |options: &str| jobs(MIX, options).1.join("\n");
    for option in [
        "rw_sequencer=identical",
        "rwmixread=70",
        "rwmixwrite=70",
        "percentage_random=50",
        "random_distribution=zipf:1.2",
        "norandommap=1",
        "softrandommap=1",
        "random_generator=lfsr",
        "ba=8k",
        "bs=8k",
        "bsrange=4k-8k",
        "bssplit=4k/50:8k/50",
        "bs_unaligned=1",
        "size=1k",
        "io_size=2g",
        "file_append=1",
        "fill_device=1",
        "opendir=/nowhere",
        "filename_format=x",
        "file_service_type=random",
        "fsync=3",
        "fdatasync=3",
        "sync_file_range=write:3",
    ] {
        let name = option.split('=').next().unwrap();
        let notes = noted(&format!("{option}\n"));
        let begin = format!("option `{name}` has no effect here: ");
        assert!(
            notes.starts_with(&begin) && notes.contains("the log of `read_iolog`"),
            "{option}: {notes:?}"
        );
    }
    let zones = noted("zonemode=strided\nzonesize=4k\nzonerange=8k\n");
    for name in ["zonemode", "zonesize", "zonerange"] {
        assert!(zones.contains(&format!("option `{name}` has no effect")), "{name}: {zones}");
    }
    for kept in ["random_generator=tausworthe64\n", "verify=md5\nbs=8k\n", "end_fsync=1\n"] {
        assert_eq!(noted(kept), "", "{kept}");
    }
}

#[test]
fn what_a_log_overrules_is_nothing_to_warn_or_to_fail_about() {
    let trims = "fio version 2 iolog\nd add\nd open\nd trim 0 4096\n";
    for log in [MIX, trims] {
        let notes = jobs(log, "fill_device=1\ntime_based\nruntime=1\nverify=md5\n").1.join("\n");
        assert!(!notes.contains("verification read phase") && !notes.contains("does not write"), "{notes}");
    }
    let (jobs, notes) = jobs(MIX, "time_based\nruntime=1\nverify=md5\nverify_only=1\nrw=write\n");
    assert!(jobs[0].setup_error.is_none(), "{notes:?}");
}

#[test]
fn numbers_are_not_compared_if_writes_of_a_log_to_one_place_may_overtake_each_other() {
    let checked = |options: &str| {
        let spec =
            job(&format!("{V3}1 d add\n1 d open\n1 d write 0 4096\n"), &format!("verify=md5\n{options}"));
        spec.checks_write_sequence(spec.verify.as_ref().unwrap())
    };
    assert!(checked("") && checked("iodepth=8\nverify_write_sequence=1\n"));
    assert!(!checked("iodepth=8\n"));
}

#[test]
fn every_combination_of_directions_has_a_kind() {
    let kind = |ios: &[&str]| {
        let lines: String = ios.iter().map(|io| format!("d {io} 0 512\n")).collect();
        job(&format!("fio version 2 iolog\nd add\nd open\n{lines}"), "").rw
    };
    assert_eq!((kind(&["read"]), kind(&["write"])), (ReadWrite::Read, ReadWrite::Write));
    assert_eq!((kind(&["trim"]), kind(&["read", "write"])), (ReadWrite::Trim, ReadWrite::Mixed));
    assert_eq!((kind(&["write", "trim"]), kind(&["trim", "read"])), (ReadWrite::TrimWrite, ReadWrite::Every));
}

#[test]
fn blocks_that_no_smallest_one_divides_count_as_the_largest() {
    let spec = job(&format!("{V3}1 d add\n1 d open\n1 d read 0 12345\n1 d read 7 99\n"), "");
    assert_eq!((spec.block[Direction::Read].min, spec.block[Direction::Read].max), (12345, 12345));
}

#[test]
fn waits_are_differences_of_times_scaled_and_left_out() {
    let log = format!("{V3}1 d add\n2 d open\n1000 d write 0 4096\n301000 d write 4096 4096\n");
    assert_eq!(dues(&job(&log, "")), [1, 999, 300_999]);
    assert_eq!(dues(&job(&log, "replay_time_scale=300\n")), [0, 333, 100_333]);
    assert_eq!(dues(&job(&log, "replay_time_scale=50\n")), [2, 1998, 601_998]);
    assert_eq!(dues(&job(&log, "replay_no_stall=1\n")), [0, 0, 0]);
}

#[test]
fn there_is_no_wait_before_the_first_time_nor_where_time_goes_back() {
    let log = format!(
        "{V3}0 d add\n0 d open\n3000000 d write 0 4096\n1000 d write 4096 4096\n2000 d write 8192 4096\n"
    );
    assert_eq!(dues(&job(&log, "")), [0, 0, 0, 1000]);
}

#[test]
fn version_2_waits_for_times_of_the_program() {
    let log = "fio version 2 iolog\nd add\nd open\nd wait 1500 0\n";
    assert_eq!(steps(&job(log, ""))[1], (0, ReplayAction::Wait, 0, 1500, 0));
    assert_eq!(steps(&job(log, "replay_no_stall=1\n")).len(), 1);
}

#[test]
fn offsets_are_scaled_and_then_aligned() {
    let offset =
        |options: &str| steps(&job(&format!("{V3}1 d add\n2 d open\n3 d write 10000 4096\n"), options))[1].3;
    assert_eq!(offset(""), 10_000);
    assert_eq!(offset("replay_scale=2\n"), 5000);
    assert_eq!(offset("replay_align=4096\n"), 8192);
    assert_eq!(offset("replay_scale=2\nreplay_align=4096\n"), 4096);
}

#[test]
fn redirected_files_are_one_file_that_is_opened_once() {
    let log = format!("{V3}1 a add\n1 b add\n2 a open\n2 b open\n3 b write 0 1\n4 a close\n5 b close\n");
    let spec = job(&log, "replay_redirect=one\n");
    assert_eq!(spec.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>(), [Path::new("one")]);
    let actions: Vec<_> = steps(&spec).into_iter().map(|(_, action, ..)| action).collect();
    assert_eq!(actions, [ReplayAction::Open, ReplayAction::Write, ReplayAction::Close]);
}

#[test]
fn kinds_are_left_out_and_sync_does_not_mean_datasync() {
    let kept = |skip: &str| {
        let actions = steps(&job(MIX, &format!("replay_skip={skip}\n"))).into_iter();
        actions.map(|(_, action, ..)| action).filter(|action| *action != ReplayAction::Open).count()
    };
    assert_eq!((kept("read"), kept("write"), kept("sync"), kept("read,sync")), (5, 4, 5, 4));
    assert!(refusal(MIX, "replay_skip=read,write\n").contains("nothing to replay"));
}

#[test]
fn bad_lines_are_noted_with_their_number_and_skipped() {
    let (jobs, notes) = jobs(
        "fio version 2 iolog\nd add\nd open\nd bogus 0 1\none\nd write 0 4096 x\nd write 0 0\nd close\nd close\n",
        "",
    );
    assert_eq!(jobs[0].spec.limits.size, 4096);
    let want = [
        "bad iolog file action: bogus (log, line 4)",
        "bad iolog2: one (log, line 5)",
        "an I/O of 0 bytes (log, line 7)",
        "the file d is closed but not open (log, line 9)",
    ];
    assert_eq!(notes, want);
}

#[test]
fn many_bad_lines_are_counted() {
    let (_, notes) = jobs(&format!("{V3}1 d add\n1 d open\n1 d read 0 1\n{}", "x\n".repeat(25)), "");
    assert_eq!((notes.len(), notes[10].as_str()), (11, "15 more bad lines in log"));
}

#[test]
fn logs_that_cannot_be_replayed_say_why() {
    assert!(refusal("", "").contains("it is empty"));
    assert!(refusal("fio version 1 iolog\n", "").contains("version 1 is no longer supported"));
    assert!(refusal(&format!("{V3}1 d add\n2 d open\n3 d sync 0 0\n"), "").contains("nothing to replay"));
    let unopened = refusal(&format!("{V3}1 d add\n3 d read 0 1\n"), "");
    assert_eq!(unopened, "line 3: the file d is used before a line opens it");
    let unknown = refusal(&format!("{V3}3 d open\n"), "");
    assert_eq!(unknown, "line 2: the file d is used before a line adds it");
}

#[test]
fn clones_take_logs_in_turn_and_a_missing_one_fails_its_clone_alone() {
    let place = TempDir::new().unwrap();
    let log = place.path().join("log");
    fs::write(&log, format!("{V3}1 d add\n2 d open\n3 d write 0 512\n")).unwrap();
    let text = format!("[a]\nioengine=null\nnumjobs=2\nread_iolog={}:/nowhere/log\n", log.display());
    let jobs = plan_of(&text).unwrap().jobs;
    assert_eq!((jobs[0].spec.rw, jobs[0].setup_error.is_none()), (ReadWrite::Write, true));
    let error = jobs[1].setup_error.as_ref().unwrap();
    assert_eq!(error.errno, libc::ENOENT);
    assert_eq!(error.message, "/nowhere/log: fopen read iolog: No such file or directory");
}

#[test]
fn a_trace_that_can_be_read_only_once_is_not_repeated() {
    let place = TempDir::new().unwrap();
    let (pipe, file) = (place.path().join("pipe"), place.path().join("file"));
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    fs::write(&file, "").unwrap();
    let first = |read: &str, counts: &str| {
        let text = format!(
            "[a]\nioengine=null\nread_iolog={read}:{}\nmerge_blktrace_file=/nowhere/out\n\
             merge_blktrace_iters={counts}\n",
            file.display()
        );
        plan_of(&text).map_or_else(|problems| problems.diagnostics[0].message.clone(), |_| String::new())
    };
    let pipe = pipe.display().to_string();
    assert_eq!(
        first("-", "2:1"),
        "merge_blktrace_iters repeats standard input 2 times, but it can be read only once"
    );
    assert_eq!(
        first(&pipe, "3:1"),
        format!("merge_blktrace_iters repeats {pipe} 3 times, but it can be read only once")
    );
    for good in [first("/nowhere/x", "5:5"), first(&file.display().to_string(), "2:2")] {
        assert_eq!(good, "");
    }
}

/// A list may have tens of thousands of names, each of which costs a read and a resolved job.
#[test]
fn logs_that_no_clone_takes_are_not_read() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("log");
    fs::write(&path, "fio version 2 iolog\nf add\nf open\nf read 0 4096\nf close\n").unwrap();
    let log = path.display();
    let drafts = |options: &str| {
        let set = crate::testing::jobs_of(&format!("[a]\nioengine=null\n{options}"));
        let logs = read(&set.jobs[0], &PlanOptions::default(), &mut Findings::default()).unwrap();
        logs.iter().map(Result::is_ok).collect::<Vec<_>>()
    };
    let list = format!("read_iolog={log}{}\n", ":/no".repeat(900));
    assert_eq!(drafts(&list), [true]);
    assert_eq!(drafts(&format!("{list}numjobs=3\n")), [true, false, false]);
    assert_eq!(drafts(&format!("read_iolog={log}:{log}\nnumjobs=5\n")), [true, true]);
}
