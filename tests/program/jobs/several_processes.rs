//! Several processes at once: two runs do not write one file, and a launcher's variables are noticed.

use std::fs;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;

use crate::support::{Running, TestDir};

/// Outputs of all kinds, with the names of their files.
const OUTPUTS: [(&[&str], &[&str]); 4] = [
    (&["--output=report", "--output-format=normal,json:document"], &["report", "document"]),
    (&["--interval-report=1s:intervals", "--junit=cases"], &["intervals", "cases"]),
    (
        &["--write_bw_log=x", "--write_iolog=ios", "--bandwidth-log=all"],
        &["x_bw.1.log", "ios", "all-read_bw.log"],
    ),
    (&["--rw=write", "--verify=md5", "--verify_state_save=1"], &["local-a-0-verify.state"]),
];
const JOB: [&str; 3] = ["--name=a", "--ioengine=null", "--size=64k"];

/// Starts a run that waits for somebody who opens the pipe `go`.
fn waiting(dir: &TestDir, words: &[&str]) -> Running {
    let go = dir.work().join("go");
    nix::unistd::mkfifo(&go, Mode::S_IRWXU).unwrap();
    let wait = ["--exec_prerun=touch begun; cat go"];
    let mut running = dir.ferrio(&[&JOB[..], words, &wait].concat()).start();
    let begun = dir.work().join("begun");
    running.until("its command", || begun.exists());
    running
}

#[test]
fn two_runs_do_not_write_one_file_at_once() {
    for (words, files) in OUTPUTS {
        let dir = TestDir::new();
        let first = waiting(&dir, words);
        fs::create_dir(dir.work().join("d")).unwrap();
        let names = || dir.files().into_iter().map(|(name, _)| name).collect::<Vec<String>>();
        let before = names();
        let output = files.iter().map(|file| format!("--output=./d/../{file}"));
        for second in
            output.map(|output| vec![output]).chain([words.iter().map(|&word| word.into()).collect()])
        {
            let second: Vec<&str> = second.iter().map(String::as_str).collect();
            let run =
                dir.ferrio(&[&JOB[..], &second, &["--exec_prerun=touch ran"]].concat()).run().ended_with(1);
            for part in ["error: ", "another ferrio process is writing it", "choose another name"] {
                assert!(run.stderr.contains(part), "{part:?} of {second:?} is expected in\n{}", run.stderr);
            }
            assert_eq!(names(), before, "{second:?}");
        }
        // Other files of the same directory are free, and so are those of a run that has ended.
        dir.ferrio(&[&JOB[..], &["--output=other", "--write_bw_log=y"]].concat()).run().succeeded();
        fs::write(dir.work().join("go"), "").unwrap();
        first.wait().succeeded();
        for file in files {
            assert!(dir.is_written(file), "{file}");
        }
        dir.ferrio(&[&JOB[..], words].concat()).run().succeeded();
    }
}

#[test]
fn a_run_that_was_killed_owns_nothing() {
    let dir = TestDir::new();
    let first = waiting(&dir, &["--output=report"]);
    first.signal(Signal::SIGKILL);
    // Its command has nobody who stops it.
    fs::write(dir.work().join("go"), "").unwrap();
    first.wait();
    dir.ferrio(&[&JOB[..], &["--output=report"]].concat()).run().succeeded();
    let names: Vec<String> = dir.files().into_iter().map(|(name, _)| name).collect();
    assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
}

#[test]
fn of_several_ranks_with_one_report_one_is_refused_and_told_how_to_name_it() {
    let dir = TestDir::new();
    let rank = |words: &[&str], rank: &str| {
        let run = dir.ferrio(&[&JOB[..], &["--ranks=off"], words].concat());
        run.env("OMPI_COMM_WORLD_SIZE", "2").env("OMPI_COMM_WORLD_RANK", rank)
    };
    let first = waiting(&dir, &["--output=report"]);
    let run = rank(&["--output=report"], "1").run().ended_with(1);
    assert!(run.stderr.contains("--output=report.$OMPI_COMM_WORLD_RANK"), "{}", run.stderr);
    fs::write(dir.work().join("go"), "").unwrap();
    first.wait().succeeded();
    let report = dir.read("report");
    let run = rank(&["--output=report"], "1").run().ended_with(1);
    for part in ["has been written since the launcher started", "--output=report.$OMPI_COMM_WORLD_RANK"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    assert_eq!(dir.read("report"), report);
    let run = rank(&["--output=report.1", "--output-format=json"], "1").run().succeeded();
    let message = "a launcher has started 2 processes, of which this is number 1";
    assert!(run.stderr.contains(message), "{}", run.stderr);
    assert!(dir.read("report.1").contains("several-processes"), "the document has the note");
    // A file that is open already belongs to whoever has opened it.
    let run = rank(&["--output=/dev/stdout"], "1").run().succeeded();
    assert!(run.stdout.contains("err= 0"), "{}", run.stdout);
    let called_fio = dir.ferrio(&[&JOB[..], &["--as=fio"]].concat());
    let run = called_fio.env("OMPI_COMM_WORLD_SIZE", "2").env("OMPI_COMM_WORLD_RANK", "1").run().succeeded();
    assert_eq!(run.stderr, "");
    // A batch script of Slurm is not one of its tasks.
    let run = dir.ferrio(&JOB).env("SLURM_PROCID", "0").env("SLURM_NTASKS", "5").run().succeeded();
    assert!(!run.stderr.contains("launcher"), "{}", run.stderr);
}

/// fio mixes the two.
#[test]
fn called_fio_two_runs_with_one_report_leave_one_whole_report() {
    let dir = TestDir::new();
    let words = ["--as=fio", "--output=report", "--output-format=json"];
    let first = waiting(&dir, &words);
    let second = ["--name=second", "--ioengine=null", "--size=4k"];
    let run = dir.ferrio(&[&words[..], &second].concat()).run().succeeded();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    let job = || {
        let document: serde_json::Value = serde_json::from_str(&dir.read("report")).unwrap();
        document["jobs"][0]["jobname"].as_str().unwrap().to_owned()
    };
    assert_eq!(job(), "second");
    fs::write(dir.work().join("go"), "").unwrap();
    first.wait().succeeded();
    assert_eq!(job(), "second");
}
