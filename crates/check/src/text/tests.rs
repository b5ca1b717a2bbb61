use super::*;
use crate::testing::{report, report_with};

#[test]
fn a_run_of_two_phases_reads_like_a_plan() {
    let text = text(
        &report(
            "[global]\nioengine=io_uring\ndirect=1\nsize=64m\n\
             [load]\nrw=randrw\nrwmixread=70\nbs=8k,16k\niodepth=16\nnumjobs=3\ntime_based\nruntime=30\n\
             [scan]\nstonewall\nbs=1m\nfilename=scan\nstartdelay=5\nunlink=1\n",
        ),
        false,
    );
    insta::assert_snapshot!(text);
}

#[test]
fn what_precedes_and_follows_a_job_is_shown() {
    let text = text(
        &report(
            "[global]\nioengine=io_uring\ndirect=1\nsize=64m\nexitall\n\
             [load]\nrw=randwrite\nnumjobs=2\nruntime=30\ntime_based\nthinktime=10ms\nthinktime_blocks=64\n\
             exec_prerun=sync\nexec_postrun=df -h\nwrite_lat_log=x\nlog_avg_msec=500\n\
             [after]\nwait_for=load\n\
             [zones]\nnew_group\nzonemode=strided\nzonesize=64k\nzonerange=1m\nzoneskip=4m\n\
             steadystate=bw:5%\nsteadystate_duration=10\nruntime=60\n",
        ),
        false,
    );
    insta::assert_snapshot!(text);
}

#[test]
fn zones_of_files_are_shown_with_their_limits() {
    let shown = |options: &str| {
        let job = format!("[a]\nioengine=null\nrw=write\nzonemode=zbd\nzonesize=1m\nsize=8m\n{options}");
        let text = text(&report(&job), false);
        text.lines().find(|line| line.contains("zone")).unwrap_or_default().trim().to_owned()
    };
    assert_eq!(shown(""), "in     8 emulated zones of 1MiB");
    let want =
        "in     8 emulated zones of 1MiB, 768KiB of each can be written, at most 4 open, 2 by one instance";
    assert_eq!(shown("zonecapacity=768k\nmax_open_zones=4\njob_max_open_zones=2\n"), want);
    let want = "in     4 emulated zones of 1MiB, in each of 2 files";
    assert_eq!(shown("nrfiles=2\n"), want);
}

#[test]
fn risks_name_place_and_advice() {
    let text = text(&report("[a]\nsize=64k\niodepth=8\nrw=write\nfilename=a\\:b\n"), false);
    insta::assert_snapshot!(text);
}

#[test]
fn spans_are_as_exact_as_known() {
    let span = |least_seconds, most_seconds| {
        short(&TimeSpan { least_seconds, most_seconds, unbounded_because: None })
    };
    assert_eq!(span(2.0, Some(2.0)), "2s");
    assert_eq!(span(0.0, Some(2.0)), "at most 2s");
    assert_eq!(span(1.0, Some(2.0)), "1s to 2s");
    assert_eq!(span(8.0, None), "at least 8s");
    assert_eq!(span(0.0, None), "unbounded");
}

#[test]
fn text_of_the_user_cannot_move_the_cursor() {
    let report = report_with("[a]\nioengine=null\nsize=1m\ndescription=x\n", |facts| facts.places.clear());
    let mut report = report;
    report.jobs[0].name = "a\x1b[2J\r".to_owned();
    report.notes.push("b\x07".to_owned());
    let text = text(&report, false);
    assert!(text.chars().all(|sign| sign == '\n' || !sign.is_control()), "{text:?}");
}

#[test]
fn colours_are_used_only_on_request() {
    let report = report("[a]\nsize=64k\niodepth=8\n");
    assert!(text(&report, true).contains("\x1b[1;33mwarning:\x1b[0m"));
    assert!(!text(&report, false).contains('\x1b'));
}
