//! Called `fio`: what a script sees on each stream, in the file of the report and as exit status, beside the real program.

use crate::support::{self, Run, TestDir, same};

/// Runs of both programs with the same words.
fn both(dir: &TestDir, words: &[&str]) -> (Run, Run) {
    let fio = dir.fio(words).run();
    (fio, dir.ferrio(&[&["--as=fio"], words].concat()).run())
}

#[test]
fn a_fatal_error_of_a_class_that_the_job_continues_after_is_counted() {
    needs!("fio");
    // Each fails with ENOSPC, EINVAL or both; fio counts what the submitting call reports.
    let write = ["--filename=/dev/full", "--rw=write", "--bs=64k"];
    let read = ["--filename=data", "--rw=read", "--bs=1000", "--direct=1"];
    let sync = ["--filename=/dev/null", "--rw=write", "--bs=64k", "--fsync=1"];
    let after_others =
        ["--filename=/dev/full", "--rw=write", "--bs=64k", "--fsync=1", "--ignore_error=,ENOSPC"];
    for (words, tolerance, errno, counted) in [
        (&write[..], "--continue_on_error=all", 28, Some((1, 28))),
        (&write, "--continue_on_error=io", 28, Some((1, 28))),
        (&write, "--ignore_error=,EIO", 28, Some((1, 28))),
        (&write, "--continue_on_error=read", 28, Some((0, 0))),
        (&write, "--continue_on_error=verify", 28, Some((0, 0))),
        (&write, "--continue_on_error=none", 28, None),
        (&write, "--continue_on_error=all --ioengine=io_uring", 28, Some((0, 0))),
        (&read, "--continue_on_error=all", 22, Some((1, 22))),
        (&read, "--ignore_error=ENOENT", 22, Some((1, 22))),
        (&read, "--continue_on_error=write", 22, Some((0, 0))),
        (&read, "--continue_on_error=all --ioengine=libaio", 22, Some((0, 0))),
        (&sync, "--continue_on_error=write", 22, Some((1, 22))),
        (&sync, "--continue_on_error=write --ioengine=libaio", 22, Some((1, 22))),
        (&after_others, "", 22, Some((2, 28))),
    ] {
        let dir = TestDir::new();
        std::fs::write(dir.work().join("data"), vec![0; 256 << 10]).unwrap();
        let more = ["--name=a", "--thread", "--size=192k", "--ioengine=psync"];
        let output = ["--output-format=json,normal", "--output=report"];
        let tolerance: Vec<&str> = tolerance.split_whitespace().collect();
        let words = [&more[..], words, &tolerance, &output].concat();
        let report = |run: Run| {
            run.ended_with(1);
            let text = dir.read("report");
            let json = &text[text.find("{\n").unwrap()..];
            let report = serde_json::Deserializer::from_str(json).into_iter::<serde_json::Value>().next();
            let job = report.unwrap().unwrap()["jobs"][0].clone();
            let line = text.lines().find(|line| line.contains("first_error=")).map(str::to_owned);
            (job["error"].as_i64(), job["total_err"].as_i64().zip(job["first_error"].as_i64()), line)
        };
        let ferrio = report(dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run());
        assert_eq!((ferrio.0, ferrio.1), (Some(errno), counted), "{words:?}");
        same!("fio": report(dir.fio(&words).run()), "ferrio": ferrio, "{words:?}");
    }
}

#[test]
fn each_percentile_too_many_has_a_line() {
    needs!("fio");
    let dir = TestDir::new();
    let list = |length: u32| (1..=length).map(|n| n.to_string()).collect::<Vec<_>>().join(":");
    for (length, lines) in [(20, 0), (21, 1), (23, 3)] {
        let job = ["--name=a", "--ioengine=null", "--size=4k", "--output-format=json"];
        let list = format!("--percentile_list={}", list(length));
        let (fio, ours) = both(&dir, &[&job[..], &[&list]].concat());
        same!("fio": fio.stderr, "ferrio": ours.stderr, "{length} percentiles");
        assert_eq!(ours.stderr, "the list exceeding max length 20\n".repeat(lines));
        let reported = |run: &Run| {
            run.json()["jobs"][0]["read"]["clat_ns"]["percentile"].as_object().unwrap().keys().count()
        };
        same!("fio": reported(&fio), "ferrio": reported(&ours), "{length} percentiles");
    }
    // A list for all jobs is read once.
    let text = format!("[global]\npercentile_list={}\n[a]\n[b]\n", list(22));
    let (fio, ours) = both(&dir, &["--parse-only", &dir.job(&text)]);
    same!("fio": fio.stderr, "ferrio": ours.stderr, "of a global section");
}

/// The lines on standard error, with one name for the program and each only once in a row: fio repeats one.
fn said(run: &Run) -> Vec<String> {
    let lines = run.stderr.lines().filter(|line| !line.is_empty());
    let mut lines: Vec<String> = lines
        .map(|line| match line.split_once("/fio: ") {
            Some((_, message)) => format!("fio: {message}"),
            None => line.to_owned(),
        })
        .collect();
    lines.dedup();
    lines
}

#[test]
fn a_mistake_has_the_lines_of_fio_before_its_place() {
    needs!("fio");
    let dir = TestDir::new();
    let files = [
        "size=4k\n[a]\n",
        "[a]\nsiz = 1 # c\n",
        "[a]\nsize\n",
        "[a]\nnorandommap=\n",
        "[a]\niodepth = 0\n",
        "[a]\nblocksize=foo\n",
        "[a]\nreplay_align=3\n",
        "[a]\npercentile_list=foo\n",
        "[a]\nioengine=null\nuserspace_reap=1\n",
        "[a]\nioengine=null\nsize=4k\nwait_for=x\n",
    ];
    let files: Vec<[String; 2]> = files
        .iter()
        .enumerate()
        .map(|(number, text)| {
            let path = dir.beside(&format!("{number}.fio"));
            std::fs::write(&path, text).unwrap();
            ["--output=report".to_owned(), path.to_str().unwrap().to_owned()]
        })
        .collect();
    let lines = [
        &["--name=a", "--iodepth=0"][..],
        &["--name=a", "--direct=2"],
        &["--name=a", "--rwmixread=101"],
        &["--name=a", "--bs", "foo"],
        &["--name=a", "--percentile_list=101"],
        &["--name=a", "--zonesize=1z"],
        &["--name=a", "--io_size=150%"],
        &["--name=a", "--rw="],
        &["--name=a", "--ioengine=nosuch"],
        &["--name=a", "--numjobs=0"],
        &["--readonly", "--name=a", "--ioengine=null", "--size=4k", "--rate=1m", "--rate_iops=9"],
        &["--outpt=x"],
        &["--eta-newline=foo"],
        &["--eta-interval=100ms"],
        &["--status-interval=x"],
        &["--section=global"],
        &["--output-format=json,bla"],
        &["--terse-version=7"],
        &["--idle-prof=foo"],
        &["--latency-log=1"],
        &["--profile=foo"],
        &["nosuch.fio"],
    ];
    let lines = lines.iter().map(|words| words.iter().map(|&word| word.to_owned()).collect());
    for words in lines.chain(files.iter().map(|words| words.to_vec())) {
        let words: Vec<String> = words;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (fio, ours) = both(&dir, &words);
        same!("fio": fio.status, "ferrio": ours.status, "{words:?}");
        let (fio, ours) = (said(&fio), said(&ours));
        assert!(!fio.is_empty(), "{words:?}");
        for line in &fio {
            let is_said = ours.iter().any(|ours| ours.starts_with(line.as_str()));
            assert!(is_said, "{words:?}: {line}\n{}", ours.join("\n"));
        }
        assert!(ours[0].starts_with(fio[0].as_str()), "{words:?}: {}", ours[0]);
    }
}

#[test]
fn the_usage_and_what_is_said_about_engines_go_where_fio_prints_them() {
    needs!("fio");
    let dir = TestDir::new();
    let empty = dir.job("[global]\nbs=4k\n");
    for words in [&[][..], &["--bs=4k"], &[&empty], &["--help"], &["-h"]] {
        let (fio, ours) = both(&dir, words);
        same!("fio": fio.status, "ferrio": ours.status, "{words:?}");
        same!("fio": said(&fio).first().cloned(), "ferrio": said(&ours).first().cloned(), "{words:?}");
        assert!(fio.stdout.starts_with("fio-3.") && ours.stdout.starts_with("fio-3.42\n"), "{}", ours.stdout);
        assert!(ours.stdout.contains("\nUsage: fio [OPTIONS]"), "{}", ours.stdout);
        assert!(!ours.stdout.contains("Commands"), "called fio, there are none: {}", ours.stdout);
    }
    for engine in ["null", "nosuch"] {
        let (fio, ours) = both(&dir, &[&format!("--enghelp={engine}")]);
        same!("fio": (fio.status, &fio.stdout), "ferrio": (ours.status, &ours.stdout), "{engine}");
        same!("fio": said(&fio), "ferrio": said(&ours), "{engine}");
    }
}

#[test]
fn an_unknown_word_for_eta_is_ignored() {
    needs!("fio");
    let dir = TestDir::new();
    let job = ["--name=a", "--ioengine=null", "--size=4k", "--output-format=json"];
    for words in [&["--eta=nevr"][..], &["--eta="], &["--eta=never", "--eta=auto"]] {
        let words = [words, &job].concat();
        let (fio, ours) = both(&dir, &words);
        same!("fio": (fio.status, &fio.stderr), "ferrio": (ours.status, &ours.stderr), "{words:?}");
        assert_eq!(fio.json()["jobs"][0]["read"]["total_ios"], ours.json()["jobs"][0]["read"]["total_ios"]);
    }
    let run = dir.ferrio(&[&["--eta=nevr"], &job[..]].concat()).run().ended_with(1);
    assert!(run.stderr.contains("did you mean `never`?"), "{}", run.stderr);
    // Other mistakes are reported without this one.
    let run = dir.ferrio(&["--as=fio", "--eta=nevr", "--terse-version=7"]).run().ended_with(1);
    assert!(run.stderr.starts_with("fio: bad terse version format\n"), "{}", run.stderr);
    assert!(!run.stderr.contains("nevr"), "{}", run.stderr);
}

#[test]
fn a_directory_is_an_empty_job_file() {
    needs!("fio");
    let dir = TestDir::new();
    std::fs::create_dir(dir.work().join("d")).unwrap();
    let job = dir.job("[a]\nioengine=null\nsize=4k\n");
    let jobs = |run: &Run| run.stdout.lines().filter(|line| line.contains("(g=")).count();
    for words in [&["d"][..], &["--parse-only", "d"], &["--section=a", "d"], &["d", &job], &[&job, "d"]] {
        let (fio, ours) = both(&dir, words);
        same!("fio": (fio.status, jobs(&fio)), "ferrio": (ours.status, jobs(&ours)), "{words:?}");
        same!("fio": said(&fio).first().cloned(), "ferrio": said(&ours).first().cloned(), "{words:?}");
    }
    let run = dir.ferrio(&["d"]).run().ended_with(1);
    assert!(run.stderr.contains("unable to open 'd' job file: Is a directory"), "{}", run.stderr);
}

#[test]
fn the_streams_of_a_trigger_are_those_of_the_program() {
    needs!("fio");
    let command = "--trigger=echo triggered; echo failing >&2; exit 7";
    let job = ["--name=a", "--ioengine=null", "--size=1g", "--rate=1m", "--time_based", "--runtime=100"];
    let own = ["--output=report", "--output-format=json", "--trigger-timeout=1500ms", command];
    let words = [&job[..], &own].concat();
    let [fio, ours] = support::both(|is_fio| {
        let dir = TestDir::new();
        let run = match is_fio {
            true => dir.fio(&words).run(),
            false => dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run(),
        };
        let run = run.succeeded();
        let files = dir.files().into_iter().map(|(name, _)| name);
        (run.stdout, run.stderr, files.collect::<Vec<_>>())
    });
    same!("fio": fio, "ferrio": ours, "streams and files");
    assert_eq!((&ours.0[..], &ours.1[..]), ("triggered\n", "failing\n"));
}

#[test]
fn less_than_a_second_is_no_time_for_a_trigger() {
    needs!("fio");
    let dir = TestDir::new();
    let job = ["--name=a", "--ioengine=null", "--size=4k", "--minimal", "--trigger-timeout=500ms"];
    let (fio, ours) = both(&dir, &[&job[..], &["--trigger=echo triggered"]].concat());
    same!("fio": (fio.status, &fio.stderr), "ferrio": (ours.status, &ours.stderr), "500ms");
    assert!(!ours.stdout.contains("triggered"));
    let run = dir.ferrio(&job).run().ended_with(1);
    assert!(run.stderr.contains("too short: the minimum is 1000ms"), "{}", run.stderr);
}

#[test]
fn a_log_that_cannot_be_created_has_the_line_of_fio() {
    needs!("fio");
    let dir = TestDir::new();
    std::fs::create_dir(dir.work().join("agg-read_bw.log")).unwrap();
    for option in ["--write_lat_log=no/x", "--bandwidth-log"] {
        let (fio, ours) = both(&dir, &["--name=a", "--ioengine=null", "--size=4k", option]);
        same!("fio": (fio.status, &fio.stderr), "ferrio": (ours.status, &ours.stderr), "{option}");
        assert!(ours.stderr.starts_with("fopen log: "), "{}", ours.stderr);
    }
}

#[test]
fn jobs_that_are_only_merged_have_no_version_line() {
    needs!("fio");
    let dir = TestDir::new();
    let words = ["--merge-blktrace-only", "--name=a", "--ioengine=null", "--size=4k"];
    let (fio, ours) = both(&dir, &words);
    same!("fio": (fio.status, fio.stdout), "ferrio": (ours.status, ours.stdout), "--merge-blktrace-only");
}

#[test]
fn there_are_no_colours_unless_they_are_asked_for() {
    let dir = TestDir::new();
    let stderr = |words: &[&str]| {
        let words = [&["--as=fio", "--name=a", "--bs=foo"], words].concat();
        dir.ferrio(&words).env("CLICOLOR_FORCE", "1").run().ended_with(1).stderr
    };
    assert!(!stderr(&[]).contains('\u{1b}'));
    assert!(stderr(&["--color=always"]).contains('\u{1b}'));
}

#[test]
fn an_asynchronous_read_beyond_the_end_of_a_file_is_one_of_0_bytes() {
    needs!("fio");
    for engine in ["libaio", "io_uring", "posixaio"] {
        let engine_word = format!("--ioengine={engine}");
        let dir = TestDir::new();
        let words =
            ["--output-format=json", "--name=a", "--filename=f", "--size=16k", "--bs=4k", "--rw=read"];
        let shortened = ["--iodepth=4", "--exec_prerun=truncate -s 6k f", &engine_word];
        let (fio, as_fio) = both(&dir, &[&words[..], &shortened].concat());
        // A line about the command precedes fio's document.
        fio.succeeded();
        let read = &as_fio.succeeded().json()["jobs"][0]["read"];
        assert_eq!((&read["short_ios"], &read["io_bytes"]), (&1.into(), &6144.into()), "{engine}");
        let again = ["--allow_layout_overwrite=1"];
        let run = dir.ferrio(&[&words[..], &shortened, &again].concat()).run().ended_with(1);
        assert_eq!(run.json()["jobs"][0]["error"], 5, "{engine}");
    }
}

#[test]
fn registered_files_that_are_not_all_open_are_refused() {
    needs!("fio");
    let dir = TestDir::new();
    let words =
        ["--name=a", "--nrfiles=2", "--openfiles=1", "--size=64k", "--ioengine=io_uring", "--registerfiles"];
    let (fio, as_fio) = both(&dir, &words);
    for run in [fio, as_fio] {
        assert!(
            run.ended_with(1)
                .stderr
                .contains("registered files require nr_files to be identical to open_files")
        );
    }
    dir.ferrio(&words).run().succeeded();
}
