//! `--debug`: classes, the form of lines, and that it touches neither the report nor a run without it.

use crate::support::{TestDir, same};

/// Text of the lines of a class; each must be the class in 8 columns, a thread in 5, the text.
fn lines_of<'a>(stderr: &'a str, class: &str) -> Vec<&'a str> {
    let prefix = format!("{class:<8} ");
    let of_class = stderr.lines().filter_map(|line| line.strip_prefix(&prefix));
    of_class
        .map(|rest| {
            let (thread, text) = rest.split_once(' ').unwrap();
            assert!(thread.parse::<u32>().is_ok(), "{rest:?}");
            text.trim_start()
        })
        .collect()
}

const JOB: [&str; 7] = [
    "--name=a",
    "--rw=randwrite",
    "--size=16k",
    "--bs=4k",
    "--ioengine=psync",
    "--randrepeat=1",
    "--randseed=7",
];

fn words<'a>(first: &[&'a str]) -> Vec<&'a str> {
    [first, &JOB].concat()
}

#[test]
fn every_io_of_a_job_is_printed_with_the_facts_that_fio_prints() {
    needs!("fio");
    let dir = TestDir::new();
    let run = dir.ferrio(&words(&["--debug=io,file,process,parse,random"])).run().succeeded();
    for class in ["io", "file", "process", "parse", "random"] {
        assert!(
            run.stderr.contains(&format!("ferrio: set debug option {class}\n")),
            "{class}: {}",
            run.stderr
        );
        assert!(!lines_of(&run.stderr, class).is_empty(), "{class}: {}", run.stderr);
    }
    let io = lines_of(&run.stderr, "io");
    let places = |step: &str| -> Vec<String> {
        let of_step = io.iter().filter(|line| line.starts_with(step));
        of_step.map(|line| line.split_once("off=").unwrap().1.to_owned()).collect()
    };
    let queued = places("queue: ");
    assert_eq!(queued.len(), 4);
    assert_eq!(queued, places("complete: "), "each ends before the next begins");
    let mut sorted = queued.clone();
    sorted.sort();
    let all: Vec<String> =
        (0..4).map(|n| format!("{:#x}, len=0x1000, ddir=write, file=a.0.0", n * 4096)).collect();
    assert_eq!(sorted, all);
    assert_eq!(lines_of(&run.stderr, "random").len(), 4);
    assert!(lines_of(&run.stderr, "parse").iter().any(|line| line.starts_with("bs=4k: ")), "{}", run.stderr);
    assert!(
        lines_of(&run.stderr, "file").iter().any(|line| line.starts_with("open a.0.0")),
        "{}",
        run.stderr
    );
    let fio = dir.fio(&words(&["--debug=io", "--filename=b"])).run().succeeded().stdout;
    let queued_by_fio = lines_of(&fio, "io").iter().filter(|line| line.starts_with("queue: ")).count();
    same!("fio": queued_by_fio, "ferrio": queued.len(), "queued I/Os");
}

#[test]
fn an_asynchronous_engine_tells_what_it_hands_over_and_gets_back() {
    let dir = TestDir::new();
    let words = [
        "--debug=io",
        "--name=a",
        "--rw=write",
        "--size=64k",
        "--bs=4k",
        "--ioengine=io_uring",
        "--iodepth=4",
    ];
    let run = dir.ferrio(&words).run().succeeded();
    let io = lines_of(&run.stderr, "io");
    let count = |step: &str| io.iter().filter(|line| line.starts_with(step)).count();
    assert_eq!((count("queue: "), count("complete: ")), (16, 16), "{}", run.stderr);
    assert!(count("flush: ") > 0 && count("reap: ") > 0, "{}", run.stderr);
}

#[test]
fn a_report_is_the_same_with_debugging_and_stays_alone_on_standard_output() {
    let dir = TestDir::new();
    let with = dir.ferrio(&words(&["--output-format=json", "--debug=all"])).run().succeeded();
    let without = dir.ferrio(&words(&["--output-format=json"])).run().succeeded();
    let written = |report: serde_json::Value| report["jobs"][0]["write"]["io_bytes"].clone();
    same!("with": written(with.json()), "without": written(without.json()), "--debug=all");
    assert_eq!(without.messages(), "");
    assert!(with.stderr.starts_with("ferrio: set all debug options\n"), "{}", with.stderr);
}

#[test]
fn a_job_number_leaves_other_jobs_out() {
    let dir = TestDir::new();
    let words = [
        "--debug=io,job:2",
        "--name=one",
        "--ioengine=null",
        "--size=4k",
        "--name=two",
        "--size=8k",
        "--ioengine=null",
    ];
    let run = dir.ferrio(&words).run().succeeded();
    assert!(run.stderr.contains("ferrio: set debug jobno 2\n"), "{}", run.stderr);
    let io = lines_of(&run.stderr, "io");
    assert_eq!(io.iter().filter(|line| line.starts_with("queue: ")).count(), 2, "{}", run.stderr);
}

#[test]
fn words_are_listed_and_wrong_ones_are_not_fatal() {
    let dir = TestDir::new();
    for word in ["--debug=help", "--debug=?"] {
        let run = dir.ferrio(&[word]).run().succeeded();
        assert!(run.stdout.starts_with("ferrio: dumping debug options:process,file,io,"), "{}", run.stdout);
        assert!(run.stdout.ends_with(",all\n"), "{}", run.stdout);
    }
    let run =
        dir.ferrio(&["--debug=nosuch,job,net", "--name=a", "--ioengine=null", "--size=4k"]).run().succeeded();
    assert_eq!(
        run.messages(),
        "ferrio: debug mask nosuch not found\nferrio: missing job number\nferrio: set debug option net\n\
         ferrio: no messages in debug class net\n"
    );
    dir.ferrio(&["--debug"]).run().ended_with(1);
}

#[test]
fn options_without_effect_are_reported_when_debugging() {
    let dir = TestDir::new();
    let words = ["--debug=mem", "--alloc-size=1024", "--name=a", "--ioengine=null", "--size=4k"];
    let run = dir.ferrio(&words).run().succeeded();
    assert_eq!(run.stderr.matches("--alloc-size has no effect").count(), 1, "{}", run.stderr);
}

#[test]
fn messages_for_programs_are_json_with_debugging_too() {
    let dir = TestDir::new();
    let run = dir.ferrio(&words(&["--debug=all", "--message-format=json"])).run().succeeded();
    let keys = |line: &str| -> Vec<String> {
        let object: serde_json::Value = serde_json::from_str(line).expect(line);
        object.as_object().unwrap().keys().cloned().collect()
    };
    let first = keys(run.stderr.lines().next().unwrap());
    assert!(run.stderr.lines().count() > 20 && run.stderr.lines().all(|line| keys(line) == first));
    let asked = ["--message-format=json", "--enghelp=nosuch"];
    let run = dir.ferrio(&asked).run().ended_with(1);
    assert!(run.stderr.lines().all(|line| keys(line) == first), "{}", run.stderr);
}

#[test]
fn debug_lines_are_words_for_people() {
    let dir = TestDir::new();
    let run = dir.ferrio(&words(&["--debug=all"])).run().succeeded();
    assert!(lines_of(&run.stderr, "parse").contains(&"size=16k: size is 16384 bytes"), "{}", run.stderr);
    assert!(lines_of(&run.stderr, "process").contains(&"job 1: ready -> running"), "{}", run.stderr);
    for word in ["Some(", "Word(", "NotCreated", "Regular"] {
        assert!(!run.stderr.contains(word), "{}", run.stderr);
    }
}

/// The lines of a class in the order printed, without class and thread, engine addresses left out.
fn as_fio(stdout: &str, class: &str) -> Vec<String> {
    let lines = lines_of(stdout, class).into_iter();
    lines
        .map(|line| match line.split_once(": io_u 0x") {
            Some((step, io)) => format!("{step}: {}", io.split_once(": ").unwrap().1),
            None => line.to_owned(),
        })
        .collect()
}

#[test]
fn called_fio_lines_about_options_are_those_of_fio() {
    needs!("fio");
    let dir = TestDir::new();
    let text = "[a]\ndescription=x\nioengine=null\nsize=64k\nio_size=32k\nfilesize=64k\noffset_increment=10%\nnumber_ios=7\nbs=4k,8k\n\
        bsrange=4k-8k\nbssplit=4k/50:8k/50\nrandseed=5\nnorandommap\nsoftrandommap=1\nfallocate=none\nsync_file_range=write:4\n\
        direct=0\nruntime=1s\nramp_time=10ms\nstartdelay=1ms\nthinktime=5ms\nrate=1m,2m\nrwmixread=30\n\
        percentile_list=50:99.5\nlatency_target=1s\nlatency_percentile=99.5\nclocksource=cpu\nmem=malloc\nverify=crc32c\n\
        verify_interval=4k\nverify_pattern=0xff\nrandom_distribution=zipf:1.2\nfile_service_type=random:4\ncpus_allowed=0\n\
        ignore_error=EIO\ncontinue_on_error=all\nwrite_bw_log=l\nlog_avg_msec=500\ngroup_reporting=0\nss=iops_slope:0.3%\n\
        ss_dur=4\nzonesize=4k\nzoneskip=0\nhugepage-size=2m\npercentage_random=50\nstonewall\nrw=randrw:4\nverify_backlog=10\n\
        [b]\nss=iops:10\n[c]\nsteadystate=bw:12\n";
    let job = dir.job(text);
    let words = ["--parse-only", "--debug=parse", &job];
    let fio = dir.fio(&words).run().succeeded().stdout;
    let ours = dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run().succeeded();
    assert_eq!(ours.stderr, "");
    assert!(ours.stdout.starts_with("fio: set debug option parse\n"), "{}", ours.stdout);
    let about_options = |text: &str| -> Vec<String> {
        let starts = ["handle_option", "__handle_option", "ret=", "out=", "set "];
        let lines = as_fio(text, "parse").into_iter();
        lines.filter(|line| starts.iter().any(|start| line.starts_with(start))).collect()
    };
    same!("fio": about_options(&fio), "ferrio": about_options(&ours.stdout), "--debug=parse");
}

#[test]
fn called_fio_lines_about_ios_and_draws_are_those_of_fio() {
    needs!("fio");
    let dir = TestDir::new();
    let words = words(&["--debug=io,random", "--filename=f"]);
    let fio = dir.fio(&words).run().succeeded().stdout;
    let ours = dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run().succeeded();
    assert_eq!(ours.stderr, "");
    let ios = |text: &str| -> Vec<String> {
        as_fio(text, "io").into_iter().filter(|line| line.contains("off=")).collect()
    };
    // The order of random offsets is that of version 3.42.
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    same!("fio": sorted(ios(&fio)), "ferrio": sorted(ios(&ours.stdout)), "--debug=io");
    let steps = |lines: Vec<String>| -> Vec<String> {
        lines.iter().map(|line| line.split(':').next().unwrap().to_owned()).collect()
    };
    same!("fio": steps(ios(&fio)), "ferrio": steps(ios(&ours.stdout)), "steps of all I/Os");
    assert_eq!(ios(&fio).len(), 4 * 4);
    let draws = |text: &str| -> Vec<u64> {
        let lines = as_fio(text, "random").into_iter();
        lines.filter_map(|line| line.strip_prefix("off rand ")?.parse().ok()).collect()
    };
    let drawn = draws(&ours.stdout);
    assert_eq!((drawn.len(), draws(&fio).len()), (4, 4), "one for each I/O");
    let first = format!("off={:#x},", ((drawn[0] * 4) >> 32) * 4096);
    assert!(ios(&ours.stdout)[0].contains(&first), "the first draw makes the first offset: {first}");
    let seeds = as_fio(&ours.stdout, "random");
    assert_eq!(seeds[0], "FIO_RAND_NR_OFFS=24");
    assert_eq!(seeds.iter().filter(|line| line.starts_with("rand_seeds[")).count(), 24);
    let io = as_fio(&ours.stdout, "io");
    assert_eq!(io[0], "load ioengine psync");
    assert_eq!(io[io.len() - 2..], ["close ioengine psync", "free ioengine psync"]);
}

#[test]
fn called_fio_lines_are_never_beside_a_document() {
    let words = words(&["--as=fio", "--debug=io,parse,verify", "--output-format=json"]);
    let run = TestDir::new().ferrio(&words).run().succeeded();
    assert!(run.json()["jobs"][0]["write"]["total_ios"] == 4);
    assert!(run.stderr.starts_with("fio: set debug option io\n") && run.stderr.contains("complete: io_u"));
    assert!(!run.stderr.contains("no messages"), "{}", run.stderr);
}

#[test]
fn called_fio_lines_follow_the_report_into_its_file() {
    needs!("fio");
    let dir = TestDir::new();
    // What is said before the option for the file is read goes to standard output.
    for (words, said_in_file) in
        [(["--output=report", "--debug=io"], true), (["--debug=io", "--output=report"], false)]
    {
        // The lines of a process that fio starts for a job are lost with its buffer.
        let words = [self::words(&words), vec!["--thread"]].concat();
        let streams = |run: &crate::support::Run| (run.stdout.clone(), run.stderr.clone());
        let fio = streams(&dir.fio(&words).run().succeeded());
        let by_fio = dir.read("report");
        let ours = streams(&dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run().succeeded());
        let by_ferrio = dir.read("report");
        let of_options = |stdout: &str| -> Vec<String> {
            // fio also tries engines before it knows that of the job.
            stdout.lines().filter(|line| !line.starts_with("io ")).map(str::to_owned).collect()
        };
        same!("fio": of_options(&fio.0), "ferrio": of_options(&ours.0), "standard output");
        assert_eq!(ours.0.contains("set debug option io"), !said_in_file);
        same!("fio": fio.1, "ferrio": ours.1, "standard error");
        let ios = |report: &str| -> Vec<String> {
            let lines = as_fio(report, "io").into_iter();
            lines.filter(|line| line.starts_with("complete: ")).map(|line| line[..8].to_owned()).collect()
        };
        assert_eq!(ios(&by_ferrio).len(), 4);
        same!("fio": ios(&by_fio), "ferrio": ios(&by_ferrio), "lines in the file");
        let order = |report: &str| {
            let at = |text: &str| report.find(text).unwrap_or_else(|| panic!("{text}: {report}"));
            [at("\nStarting 1 thread"), at(" complete: "), at("(groupid=0, jobs=1)")].is_sorted()
        };
        assert!(order(&by_fio) && order(&by_ferrio), "{by_ferrio}");
        assert_eq!(by_ferrio.contains("fio: set debug option io\n"), said_in_file);
    }
}
