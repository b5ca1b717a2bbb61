//! `ferrio check` foresees which files a run cannot open, and says so in the words of the run.

use std::fs;

use crate::support::TestDir;

const NULL: [&str; 3] = ["--name=a", "--ioengine=null", "--size=4k"];
const WRITER: [&str; 5] = ["--name=a", "--filename=f", "--size=16k", "--rw=write", "--verify=crc32c"];

/// A job, an option with `@` for a path, the code of the risk, and whether it is an error.
const OPENED: [(&[&str], &str, &str, bool); 12] = [
    (&NULL, "--write_iolog=@", "recording-not-created", true),
    (&NULL, "--write_lat_log=@/x", "log-not-created", false),
    (&NULL, "--bandwidth-log=@/x", "log-not-created", false),
    (&WRITER, "--mem=mmap:@", "memory-file-not-opened", true),
    (&WRITER, "--mem=mmapshared:@", "memory-file-not-opened", true),
    (&WRITER, "--mem=mmaphuge:@", "memory-file-not-opened", true),
    (&WRITER, "--verify_state_save=1 --aux-path=@", "state-not-saved", false),
    (&WRITER, "--verify_only --verify_state_load=1 --aux-path=@", "state-not-loaded", true),
    (&["--name=a"], "--ioengine=exec --program=@", "program-not-run", true),
    (&NULL, "--trigger-file=@/x", "trigger-not-seen", false),
    (&["--name=a", "--filename=f", "--size=4k"], "--ioengine=external:@", "engine-not-loaded", true),
    (
        &["--name=a", "--filename=f", "--size=16k", "--rw=write"],
        "--ioengine=e4defrag --donorname=@",
        "donor-not-opened",
        true,
    ),
];

/// Missing directories, files as directories, directories, files, and file systems on which only the kernel makes files.
const PATHS: [&str; 6] = ["none/x", "plain/x", "d", "plain", "/proc/none", "/sys/none"];

#[test]
fn what_a_run_cannot_open_is_foreseen_in_its_words() {
    let dir = TestDir::new();
    fs::create_dir(dir.work().join("d")).unwrap();
    fs::write(dir.work().join("plain"), "x".repeat(100)).unwrap();
    fs::write(dir.work().join("f"), [0; 16384]).unwrap();
    let mut foreseen = 0;
    for (job, options, code, is_error) in OPENED {
        for path in PATHS {
            let options = options.replace('@', path);
            let words: Vec<&str> = job.iter().copied().chain(options.split(' ')).collect();
            let checked = dir.ferrio(&[&["check", "--output-format=json"], &words[..]].concat()).run();
            let run = dir.ferrio(&words).run();
            let _ = fs::remove_file(dir.work().join("local-a-0-verify.state"));
            if checked.stdout.is_empty() || !checked.json()["errors"].as_array().unwrap().is_empty() {
                // The plan refuses it already, in both.
                run.ended_with(1);
                continue;
            }
            let document = checked.json();
            let risks = document["risks"].as_array().unwrap();
            let found = risks.iter().find(|risk| risk["code"] == code);
            let Some(found) = found else {
                assert!(
                    !run.stderr.contains("cannot be") && !run.stderr.contains("open"),
                    "{words:?}: {run:?}"
                );
                continue;
            };
            foreseen += 1;
            assert_eq!(found["severity"], if is_error { "error" } else { "warning" }, "{words:?}");
            let message = found["message"].as_str().unwrap().replace(" and 2 more", "");
            for part in message.split("; ") {
                assert!(run.stderr.contains(part), "{words:?}: {part:?} is not in {}", run.stderr);
            }
            if is_error {
                checked.ended_with(1);
                run.ended_with(1);
            }
        }
    }
    // Of 72: a trigger file may be missing, and some paths are good or refused by the plan.
    assert!(foreseen > 40, "{foreseen}");
}

#[test]
fn outputs_of_commands_and_of_the_whole_run_count_too() {
    let dir = TestDir::new();
    for name in ["a.prerun.txt", "b.postrun.txt"] {
        fs::create_dir(dir.work().join(name)).unwrap();
    }
    let job = dir.job("[global]\nioengine=null\nsize=4k\n[a]\nexec_prerun=true\n[b]\nexec_postrun=true\n");
    let checked = dir.ferrio(&["check", "--output-format=json", &job]).run().ended_with(1).json();
    let run = dir.ferrio(&[&job]).run().ended_with(1);
    let risks = checked["risks"].as_array().unwrap().iter();
    let found: Vec<_> = risks.filter(|risk| risk["code"] == "command-output-not-created").collect();
    let severities: Vec<_> = found.iter().map(|risk| risk["severity"].as_str().unwrap()).collect();
    assert_eq!(severities, ["error", "warning"]);
    for risk in found {
        let message = risk["message"].as_str().unwrap();
        assert!(message.ends_with(": Is a directory") && run.stderr.contains(message), "{message}: {run:?}");
    }
    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let metrics = format!("--metrics={}", busy.local_addr().unwrap());
    for output in ["--junit=none/x", "--output=none/x", "--interval-report=1s:none/x", &metrics] {
        let words = [&NULL[..], &[output]].concat();
        let checked = dir.ferrio(&[&["check"], &words[..]].concat()).run().ended_with(1);
        let run = dir.ferrio(&words).run().ended_with(1);
        assert_eq!(checked.stderr, run.stderr, "{output}");
    }
}

/// A command of an earlier job may make what is missing.
#[test]
fn what_a_command_makes_is_not_certain_to_fail() {
    let dir = TestDir::new();
    let job = dir.job(
        "[a]\nioengine=null\nsize=4k\nexec_prerun=mkdir new\n[b]\nstonewall\nioengine=psync\nfilename=f\nsize=16k\nrw=write\nmem=mmap:new/x\n",
    );
    let checked = dir.ferrio(&["check", "--output-format=json", &job]).run().succeeded().json();
    let codes: Vec<_> = checked["risks"].as_array().unwrap().iter().map(|risk| &risk["code"]).collect();
    assert!(codes.iter().any(|code| *code == "memory-file-not-opened"), "{codes:?}");
    dir.ferrio(&[&job]).run().succeeded();
}

/// What engines require of offsets, block sizes and files.
#[test]
fn what_an_engine_refuses_is_foreseen_in_its_words() {
    let dir = TestDir::new();
    fs::write(dir.work().join("f"), [0; 65536]).unwrap();
    let job = ["--name=a", "--size=16k", "--filename=f", "--rw=write"];
    for (options, code, words) in [
        (
            "--ioengine=mmap --offset=512",
            "mapping-within-page",
            "a mapping begins at a page boundary, but offset 512 is not a multiple of 4096",
        ),
        (
            "--ioengine=mmap --bs=1000 --fsync=1",
            "mapping-partial-pages",
            "the mmap engine writes back whole pages",
        ),
        ("--ioengine=libpmem", "not-persistent-memory", "file_name does not point to persistent memory"),
        (
            "--ioengine=libpmem --filename=new",
            "not-persistent-memory",
            "file_name does not point to persistent memory",
        ),
    ] {
        let arguments: Vec<&str> = job.into_iter().chain(options.split(' ')).collect();
        let check = [&["check", "--output-format=json"], &arguments[..]].concat();
        let document = dir.ferrio(&check).run().ended_with(1).json();
        let risks = document["risks"].as_array().unwrap();
        let found = risks.iter().find(|risk| risk["code"] == code).unwrap_or_else(|| panic!("{document:#}"));
        assert_eq!(found["severity"], "error", "{options}");
        assert!(found["message"].as_str().unwrap().contains(words), "{options}: {found}");
        let run = dir.ferrio(&arguments).run().ended_with(1);
        assert!(run.stderr.contains(words), "{options}: {}", run.stderr);
    }
}
