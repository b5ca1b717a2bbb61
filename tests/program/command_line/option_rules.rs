//! Options that exclude each other, options that cannot matter, and what this program does not have: from outside.

use crate::support::{Run, TestDir};

fn run(job: &str, arguments: &[&str]) -> Run {
    let dir = TestDir::new();
    let path = dir.job(job);
    let arguments: Vec<_> = arguments.iter().copied().chain([path.as_str()]).collect();
    dir.ferrio(&arguments).run()
}

/// Where each text is found; all must be there, in this order.
#[track_caller]
fn in_order(text: &str, parts: &[&str]) {
    let mut from = 0;
    for part in parts {
        let at =
            text[from..].find(part).unwrap_or_else(|| panic!("{part:?} is expected in\n{}", &text[from..]));
        from += at + part.len();
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once_and_before_what_is_missing() {
    let job = "[a]\nioengine=io_uring\nsize=64k\nverify_bytchk=1\nrate=1m\nrate_iops=9\nzonesize=64k\n";
    let run = run(job, &[]).ended_with(1);
    in_order(
        &run.stderr,
        &[
            "--zonemode=none and --zonesize are not compatible",
            "7 | zonesize=64k",
            "rate and rate_iops are mutually exclusive",
            "6 | rate_iops=9",
            "option `verify_bytchk` is not implemented yet",
            "its purpose: Comparison done by SCSI VERIFY",
            "remove the option",
        ],
    );
    assert_eq!(run.stdout, "");
}

#[test]
fn an_option_that_cannot_matter_is_a_note_and_the_job_runs() {
    let job = "[a]\nioengine=null\nsize=64k\nreplay_skip=write,trim\nplids=1,3-5\n";
    let run = run(job, &["--output-format=json"]).ended_with(0);
    in_order(
        &run.stderr,
        &["option `replay_skip` has no effect here: ", "option `plids` has no effect here: "],
    );
    assert!(run.stdout.starts_with('{'), "notes are on stderr only");
}

#[test]
fn an_engine_that_cannot_be_here_is_one_error_with_the_nearest_there_is() {
    let job = "[a]\nioengine=rbd\nclientname=admin\npool=rbd\nrbdname=x\nrw=write\nsize=1m\n";
    let run = run(job, &[]).ended_with(1);
    in_order(
        &run.stderr,
        &["engine rbd not loadable", "not available: engine rbd needs Ceph's librbd", "rbd map"],
    );
    assert_eq!(run.stderr.matches("error").count(), 1, "{}", run.stderr);
}

#[test]
fn parse_only_refuses_an_engine_that_is_not_here_wherever_the_job_is() {
    let text = "[a]\nioengine=rbd\npool=rbd\nrbdname=x\n";
    let typed = ["--parse-only", "--name=a", "--ioengine=rbd", "--pool=rbd", "--rbdname=x"];
    let dir = TestDir::new();
    let in_file = run(text, &["--parse-only"]).ended_with(1).stderr;
    let typed = dir.ferrio(&typed).run().ended_with(1).stderr;
    for stderr in [in_file, typed] {
        in_order(&stderr, &["engine rbd not loadable", "not available: engine rbd needs Ceph's librbd"]);
    }
    // fio loads the engine of a job file when it runs; the command line of such a job is of use elsewhere.
    run(text, &["--as=fio", "--parse-only"]).ended_with(0);
    run(text, &["--showcmd"]).ended_with(0);
}

#[test]
fn a_warning_is_a_note_or_an_error_as_asked() {
    let job = "[a]\nioengine=null\nsize=64k\nrw=randread\nba=2k\n";
    let text = "Any use of blockalign= turns off randommap";
    in_order(&run(job, &[]).ended_with(0).stderr, &[text]);
    in_order(
        &run(job, &["--warnings-fatal"]).ended_with(1).stderr,
        &["error", text, "--> ", ":5:4", "--warnings-fatal"],
    );
}

#[test]
fn jobs_of_a_group_agree() {
    let job = "[global]\nioengine=null\nsize=64k\n[a]\nramp_size=4k\n[b]\nramp_size=8k\n";
    in_order(
        &run(job, &[]).ended_with(1).stderr,
        &["inconsistent ramp_size within reporting group", "7 | ramp_size=8k"],
    );
}
