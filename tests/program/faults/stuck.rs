//! A disk that does not answer: signals end the run, with a report of what was done.

use nix::sys::signal::Signal;

use super::filesystem::{Call, Fault, Rule, When};
use super::{BLOCK, SIZE, faulty_file, fuse_is_available};
use crate::support::{Place, number, text};

#[test]
fn a_job_whose_io_never_returns_does_not_keep_the_report() {
    if !fuse_is_available() {
        return;
    }
    for (engine, depth) in [("psync", 1), ("io_uring", 4), ("libaio", 2)] {
        let place = Place::new();
        let never = Rule { call: Call::Read, when: When::At(8 * BLOCK), fault: Fault::Never };
        let file = faulty_file(&place, SIZE, &[never]);
        let job = format!(
            "[global]\nbs=4k\n[stuck]\nioengine={engine}\niodepth={depth}\nrw=read\nsize={SIZE}\nfilename={}\nwrite_lat_log=x\n\
             [other]\nioengine=null\nrw=read\nsize=1m\ntime_based\nruntime=1h\n",
            file.path()
        );
        let words = ["--output-format=json", "--output=r.json", &place.job(&job)];
        let mut running = place.ferrio(&words).start();
        running.until("the read that never ends", || file.hanging() > 0);
        running.signal(Signal::SIGINT);
        let stderr = running.stderr_path();
        running.until("a message", || {
            std::fs::read_to_string(&stderr)
                .unwrap()
                .contains("Another signal ends the run without waiting for it")
        });
        running.signal(Signal::SIGTERM);
        // The kernel lets go of the process when the call ends; the report is there before.
        running.until("the report", || place.is_written("r.json"));
        drop(file);
        let run = running.wait().ended_with(129);
        let document = crate::support::json_file(&place.work().join("r.json"));
        assert_eq!(text(&document, "/jobs/0/jobname"), "stuck");
        assert_eq!(number(&document, "/jobs/0/error"), 110, "ETIMEDOUT of {engine}: {}", run.stderr);
        let done = number(&document, "/jobs/0/read/total_ios");
        assert!((1..=SIZE / BLOCK).contains(&done), "{engine}: {done} I/Os");
        assert_eq!(number(&document, "/jobs/1/error"), 0);
        assert!(number(&document, "/jobs/1/read/total_ios") > 0, "{engine}");
        assert!(run.stderr.contains("waiting for the end of the job"), "{}", run.stderr);
        assert!(
            run.stderr.contains("the logs of jobs that did not end lack their last rows"),
            "{}",
            run.stderr
        );
    }
}
