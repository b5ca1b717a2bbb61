//! `ferrio check`: it describes the run and changes nothing.

use std::fs;
use std::io::Write;
use std::path::Path;

use ferrio_check::RiskSeverity;
use serde_json::{Value, json};

use crate::loop_device::LoopDevice;
use crate::support::{FERRIO, TestDir, installed, number, same, skipped, text};

const JOB: &str = "\
[global]
size=1m
filename=data

[load]
rw=randrw
bs=8k
iodepth=4
time_based
runtime=2

[scan]
stonewall
rw=read
bs=64k
direct=1
";

/// A job with most of what can precede and follow its I/O.
const SURROUNDED: &str = "\
[global]
ioengine=null
size=64k
exitall

[load]
numjobs=2
exec_prerun=touch before
exec_postrun=touch after
thinktime=1ms
write_lat_log=load
write_bw_log=load
log_avg_msec=10

[shared]
zonemode=strided
zonesize=4k
steadystate=iops:5%
steadystate_duration=2
new_group
write_iops_log=all
write_hist_log=all
log_hist_msec=10
per_job_logs=0
";

/// The check of a job file as JSON.
fn check(dir: &TestDir, job: &str, more: &[&str]) -> Value {
    let job = dir.job(job);
    let words: Vec<&str> = ["check", "--output-format=json", &job].iter().chain(more).copied().collect();
    dir.ferrio(&words).run().json()
}

fn codes(report: &Value) -> Vec<&str> {
    let risks = report["risks"].as_array().unwrap();
    risks.iter().map(|risk| risk["code"].as_str().unwrap()).collect()
}

/// The text without details that differ between machines.
fn masked(text: &str, dir: &TestDir) -> String {
    let base = dir.work().parent().unwrap().display().to_string();
    let mut out = String::new();
    let mut in_places = false;
    for line in text.lines() {
        in_places = line == "places" || (in_places && line.starts_with(' '));
        if in_places && line.starts_with(' ') {
            out.push_str("  MOUNT  FILE SYSTEM\n");
            continue;
        }
        let line = match (line.find(" on /"), line.find(" of memory")) {
            (Some(at), _) => {
                let rest = &line[at + 5..];
                format!("{} on MOUNT{}", &line[..at], &rest[rest.find(':').unwrap_or(0)..])
            }
            (_, Some(at)) => {
                let start = line[..at].rfind(' ').unwrap_or(at);
                format!("{} SO MUCH{}", &line[..start], &line[at..])
            }
            _ => line.to_owned(),
        };
        out.push_str(&line.replace(&base, "BASE"));
        out.push('\n');
    }
    out
}

#[test]
fn a_check_reads_like_a_plan() {
    let dir = TestDir::new();
    let job = dir.job(JOB);
    let run = dir.ferrio(&["check", &job]).run().succeeded();
    assert_eq!(run.stderr, "");
    insta::assert_snapshot!(masked(&run.stdout, &dir));
}

#[test]
fn nothing_is_touched() {
    let dir = TestDir::new();
    fs::write(dir.work().join("data"), [7; 4096]).unwrap();
    let before = dir.files();
    let modified = || fs::metadata(dir.work().join("data")).unwrap().modified().unwrap();
    let time = modified();
    let job = dir.job(&format!("{JOB}unlink=1\nwrite_bw_log\n[new]\nfilename=below/new\nrw=write\n"));
    dir.ferrio(&["check", &job]).run().succeeded();
    assert_eq!((dir.files(), modified()), (before, time));
    assert_eq!(fs::read(dir.work().join("data")).unwrap(), [7; 4096]);
}

#[test]
fn a_check_makes_no_system_call_that_changes_anything() {
    needs!("strace");
    let dir = TestDir::new();
    fs::write(dir.work().join("data"), [7; 4096]).unwrap();
    let trace = dir.beside("trace");
    let job = dir.job(JOB);
    let traced = "--trace=%file,%process,ftruncate,fallocate,write,pwrite64,io_setup,io_uring_setup";
    let words =
        ["-f", "-o", trace.to_str().unwrap(), traced, FERRIO, "check", "--output-format=normal,json", &job];
    dir.program(installed("strace"), &words).run().succeeded();
    let trace = fs::read_to_string(trace).unwrap();
    let changes = |line: &&str| {
        // `PID call(arguments) = result`: paths among the arguments may have any name
        let call = line.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
        let (name, arguments) = call.split_once('(').unwrap_or((call, ""));
        let opens_to_change =
            ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].iter().any(|flag| arguments.contains(flag));
        let calls = [
            "unlink",
            "rename",
            "mkdir",
            "truncate",
            "ftruncate",
            "fallocate",
            "chmod",
            "fchmod",
            "link",
            "symlink",
            "io_setup",
            "io_uring_setup",
            "clone",
            "fork",
            "vfork",
            "pwrite64",
        ];
        let starts = name == "execve" && !arguments.contains(FERRIO);
        let says = name == "write" && !arguments.starts_with("1,");
        opens_to_change || starts || says || calls.iter().any(|call| name.starts_with(call))
    };
    assert_eq!(trace.lines().filter(changes).collect::<Vec<_>>(), Vec::<&str>::new());
    let opened = trace.lines().filter(|line| line.contains("open") && line.contains("\"data\"")).count();
    assert_eq!(opened, 0, "files of jobs are not even opened:\n{trace}");
}

#[test]
fn files_of_the_kernel_that_a_run_would_lay_out_are_errors() {
    for (file, rw) in [("/proc/cpuinfo", "read"), ("/proc/missing", "write"), ("/sys/missing", "write")] {
        let dir = TestDir::new();
        let job = dir.job(&format!("[j]\nfilename={file}\nsize=4k\nrw={rw}\n"));
        let check = dir.ferrio(&["check", "--output-format=json", &job]).run().ended_with(1).json();
        assert_eq!(text(&check, "/status"), "errors", "{file}");
        assert_eq!(codes(&check)[0], "kernel-file", "{file}");
        assert!(!codes(&check).contains(&"space-short"), "{file}: {check:#}");
        let run = dir.ferrio(&["--output-format=json", &job]).run().ended_with(1);
        assert_ne!(number(&run.json(), "/jobs/0/error"), 0, "{file}: the check is right");
    }
}

#[test]
fn json_matches_its_documentation() {
    let dir = TestDir::new();
    let report = check(&dir, JOB, &[]);
    let keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "version", "program", "status", "totals", "trigger", "phases", "jobs", "places", "machine",
            "notes", "risks", "errors"
        ]
    );
    assert_eq!((number(&report, "/version"), text(&report, "/status")), (1, "warnings"));
    assert_eq!(number(&report, "/totals/create_bytes"), 1 << 20);
    assert_eq!(report["phases"][1]["waits_because"], "stonewall");
    assert_eq!(
        report["phases"][0]["time"],
        json!({"least_seconds": 2.0, "most_seconds": 2.0, "unbounded_because": null})
    );
    assert_eq!(report["jobs"][0]["volume"]["certainty"], "unknown");
    assert_eq!(number(&report, "/jobs/1/volume/read"), 1 << 20);
    assert_eq!(text(&report, "/jobs/0/files/0/action"), "create-filled");
    assert_eq!(text(&report, "/jobs/1/files/0/action"), "use-earlier");
    let place_of_file = number(&report, "/jobs/0/files/0/place") as usize;
    assert_eq!(report["places"][place_of_file]["needed_bytes"], 1 << 20);
    assert_eq!(codes(&report)[..3], ["cached-reads", "buffered-writes", "iodepth-sync-engine"]);
    assert_eq!(number(&report, "/risks/2/origins/0/line"), 8);
}

#[test]
fn keys_and_codes_are_documented() {
    let document = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/check.md")).unwrap();
    let severity = |severity| match severity {
        RiskSeverity::Error => "error",
        RiskSeverity::Warning => "warning",
        RiskSeverity::Info => "info",
    };
    let wanted: Vec<_> =
        ferrio_check::codes().map(|(code, weight)| format!("| `{code}` | {} |", severity(weight))).collect();
    let rows: Vec<_> =
        document.lines().filter(|line| line.contains("| warning |") || line.contains("| info |")).collect();
    let shown: Vec<_> =
        rows.iter().map(|row| row.splitn(4, '|').take(3).collect::<Vec<_>>().join("|") + "|").collect();
    same!("docs/check.md": shown, "in the code": wanted, "docs/check.md does not list the risks that there are");
    let dir = TestDir::new();
    let mut keys = Vec::new();
    collect_keys(&check(&dir, JOB, &[]), &mut keys);
    collect_keys(&check(&dir, SURROUNDED, &["--trigger-timeout=9"]), &mut keys);
    keys.retain(|key| !document.contains(key.as_str()));
    assert_eq!(keys, Vec::<String>::new(), "keys that docs/check.md does not name");
}

fn collect_keys(value: &Value, keys: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            keys.push(key.clone());
            collect_keys(value, keys);
        }),
        Value::Array(values) => values.iter().for_each(|value| collect_keys(value, keys)),
        _ => {}
    }
}

#[test]
fn the_status_is_that_of_the_worst_finding() {
    let dir = TestDir::new();
    let clean = ["check", "--name=a", "--ioengine=null", "--size=64m"];
    dir.ferrio(&clean).run().succeeded();
    let odd = ["check", "--name=a", "--filename=f", "--direct=1", "--size=64m", "--runtime=100ms"];
    dir.ferrio(&odd).run().succeeded();
    let denied: Vec<&str> = odd.into_iter().chain(["--deny-warnings"]).collect();
    dir.ferrio(&denied).run().ended_with(2);
    let wrong = dir.ferrio(&["check", "--name=a", "--rw=read"]).run().ended_with(1);
    assert!(wrong.stdout.contains("error: job a: you need to specify size="), "{}", wrong.stdout);
    let readonly = ["check", "--readonly", "--name=a", "--ioengine=null", "--size=4k", "--rw=write"];
    dir.ferrio(&readonly).run().ended_with(1);
    let fatal = ["check", "--warnings-fatal", "--name=a", "--ioengine=null", "--size=4k", "--time_based"];
    dir.ferrio(&fatal).run().ended_with(1);
}

#[test]
fn mistakes_are_shown_as_in_a_run_and_are_in_the_document() {
    let dir = TestDir::new();
    let job = dir.job("[a]\nsize=4k\niodpeth=2\nrw=raed\n");
    let checked = dir.ferrio(&["check", "--output-format=json", &job]).run().ended_with(1);
    let ran = dir.ferrio(&[&job]).run().ended_with(1);
    assert_eq!(checked.stderr, ran.stderr);
    let report = checked.json();
    assert_eq!(report["errors"].as_array().unwrap().len(), 2);
    assert_eq!(number(&report, "/errors/0/origin/line"), 3);
    assert_eq!(text(&report, "/errors/0/help"), "did you mean `iodepth`?");
    let as_text = dir.ferrio(&["check", &job]).run().ended_with(1);
    assert_eq!((as_text.stdout.as_str(), &as_text.stderr), ("", &ran.stderr));
}

#[test]
fn sections_and_output_apply() {
    let dir = TestDir::new();
    let file = dir.beside("answer");
    let job = dir.job(JOB);
    let output = format!("--output={}", file.display());
    let run =
        dir.ferrio(&["check", &output, "--section=scan", "--output-format=json", &job]).run().succeeded();
    assert_eq!(run.stdout, "");
    let report = crate::support::json_file(&file);
    assert_eq!(number(&report, "/totals/jobs"), 1);
    assert_eq!(text(&report, "/jobs/0/name"), "scan");
}

#[test]
fn a_file_named_check_is_named_with_its_directory() {
    let dir = TestDir::new();
    fs::write(dir.work().join("check"), "[a]\nioengine=null\nsize=4k\n").unwrap();
    let run = dir.ferrio(&["./check"]).run().succeeded();
    assert!(run.stdout.contains("Run status group 0"), "{}", run.stdout);
}

#[test]
fn options_that_only_print_information_cannot_be_combined_with_check() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["check", "--showcmd", "--name=a"]).run().ended_with(1);
    assert!(run.stderr.starts_with("error: `ferrio check` cannot be combined"), "{}", run.stderr);
    let help = dir.ferrio(&["check", "--help"]).run().succeeded();
    assert!(help.stdout.contains("ferrio check [OPTIONS]"), "{}", help.stdout);
}

#[test]
fn every_job_of_the_repository_can_be_checked() {
    let dir = TestDir::new();
    let jobs = Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs");
    for job in fs::read_dir(jobs).unwrap() {
        let job = job.unwrap().path();
        dir.ferrio(&["check", job.to_str().unwrap()]).run().succeeded();
    }
    assert_eq!(dir.files(), []);
}

#[test]
fn arguments_are_counted_from_the_word_check() {
    let dir = TestDir::new();
    let job = dir.job("[a]\nioengine=null\nsize=4k\n");
    for (words, place_named) in [
        (&["check", job.as_str(), "--nonsense"][..], "argument 3"),
        (&["check", "--name=a", "--rw", "raed"], "argument 3"),
        (&["check", "--name=a", "--output-format=x"], "argument 3"),
    ] {
        let run = dir.ferrio(words).run().ended_with(1);
        assert!(run.stderr.contains(place_named), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn commands_are_shown_and_not_run() {
    let dir = TestDir::new();
    let job = dir.job(SURROUNDED);
    let run =
        dir.ferrio(&["check", "--trigger-timeout=9", "--trigger=touch triggered", &job]).run().succeeded();
    for shown in [
        "before runs `touch before` (exec_prerun), output goes to load.prerun.txt",
        "after  runs `touch after` (exec_postrun), output goes to load.postrun.txt",
        "trigger  ends all jobs after 9s, then runs `touch triggered`",
    ] {
        assert!(run.stdout.contains(shown), "{}", run.stdout);
    }
    assert_eq!(dir.files(), []);
}

#[test]
fn a_run_writes_the_logs_that_a_check_names() {
    let dir = TestDir::new();
    let text = SURROUNDED.replace("exec_", ";exec_").replace("steady", ";steady");
    let report = check(&dir, &text, &[]);
    let logs = report["jobs"].as_array().unwrap().iter().flat_map(|job| job["logs"].as_array().unwrap());
    let mut named: Vec<_> = logs.map(|log| text_of(&log["path"])).collect();
    named.sort();
    dir.ferrio(&[&dir.job(&text)]).run().succeeded();
    let written: Vec<_> = dir.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(written, named);
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn the_contents_of_a_device_are_reported_before_it_is_written_to() {
    let dir = TestDir::new();
    let Some(device) = LoopDevice::of(&dir, 4 << 20) else { return };
    let job = format!("[a]\nfilename={}\nrw=write\nbs=64k\ndirect=1\n", device.node());
    let empty = check(&dir, &job, &[]);
    assert!(codes(&empty).contains(&"write-to-device"), "{empty}");
    assert!(text(&empty, "/places/0/device/model").starts_with("loop over "), "{empty}");
    // The superblock of XFS begins with these bytes.
    let mut disk = fs::OpenOptions::new().write(true).open(device.node()).unwrap();
    disk.write_all(b"XFSB").unwrap();
    disk.sync_all().unwrap();
    let used = check(&dir, &job, &[]);
    if !Path::new("/run/udev").exists() {
        assert!(codes(&used).contains(&"write-to-used-device"), "{used}");
        assert_eq!(used["places"][0]["device"]["holds"], json!(["xfs signature"]));
    }
    assert_eq!(number(&used, "/places/0/device/size_bytes"), 4 << 20);
}

/// Mounts a read-only file system, checks a job there and runs it.
const ON_A_READ_ONLY_DISK: &str = "mount -t tmpfs -o ro tmpfs sealed && cd \"$PWD\" || exit 99\n\
    \"$0\" check --name=a --directory=sealed --size=64k --rw=write; echo \"check: $?\"\n\
    \"$0\" --name=a --directory=sealed --size=64k --rw=write >/dev/null 2>&1; echo \"run: $?\"";

#[test]
fn what_fails_at_once_in_a_run_is_an_error_in_the_check() {
    let dir = TestDir::new();
    fs::write(dir.work().join("file"), [1; 65_536]).unwrap();
    let unaligned = ["--direct=1", "--bs=1000"];
    let jobs: [&[&str]; 6] = [
        &["--filename=file", "--size=64k", unaligned[0], unaligned[1]],
        &["--filename=new", "--size=64k", "--rw=write", unaligned[0], unaligned[1]],
        &["--filename=absent", "--rw=read"],
        &["--directory=absent", "--size=4k"],
        &["--filename=file", "--ioengine=rbd"],
        &["--filename=.", "--size=4k"],
    ];
    for job in jobs {
        let words: Vec<&str> = ["--name=a"].iter().chain(job).copied().collect();
        let checked: Vec<&str> = ["check"].into_iter().chain(words.iter().copied()).collect();
        let check = dir.ferrio(&checked).run().ended_with(1);
        assert!(check.stdout.contains("error:") || check.stderr.contains("error:"), "{job:?}: {check:?}");
        dir.ferrio(&words).run().ended_with(1);
    }
    // The same with aligned blocks is fine.
    dir.ferrio(&["check", "--name=a", "--filename=file", "--size=64k", "--direct=1"]).run().ended_with(0);
}

#[test]
fn writing_to_a_read_only_file_system_is_an_error() {
    needs!("unshare");
    let dir = TestDir::new();
    fs::create_dir(dir.work().join("sealed")).unwrap();
    if dir.program(installed("unshare"), &["-rm", "true"]).run().status != Some(0) {
        return skipped("a check of a read-only file system", "this machine does not let the test mount one");
    }
    let words = ["-rm", "bash", "-c", ON_A_READ_ONLY_DISK, FERRIO];
    let run = dir.program(installed("unshare"), &words).run().succeeded();
    assert!(
        run.stdout.contains("the file system at") && run.stdout.contains("is read-only"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("\n1 error, ") || run.stdout.contains("\n1 error;"), "{}", run.stdout);
    assert!(run.stdout.ends_with("check: 1\nrun: 1\n"), "{}", run.stdout);
}

/// What makes a run fail at once is an error of a check, in the words of the run.
#[test]
fn a_check_and_a_run_refuse_in_the_same_words() {
    for (options, words) in [
        (&["--write_iolog=away/log"][..], "cannot open the I/O log away/log: No such file or directory"),
        (
            &["--ioengine=mmap", "--offset=512"][..],
            "a mapping begins at a page boundary, but offset 512 is not a multiple of 4096",
        ),
    ] {
        let dir = TestDir::new();
        let jobs = [&["--name=a", "--size=64k", "--rw=write"], options].concat();
        let checked = dir.ferrio(&[&["check"], &jobs[..]].concat()).run().ended_with(1);
        assert!(checked.stdout.contains(words), "{}", checked.stdout);
        let ran = dir.ferrio(&jobs).run();
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        assert_ne!(ran.status, Some(0));
    }
}

/// A misaligned direct I/O is refused by name, not only by EINVAL, where the file system says what it requires.
#[test]
fn a_run_names_the_block_that_direct_io_refuses() {
    let dir = TestDir::new();
    let jobs = ["--name=a", "--size=64k", "--rw=write", "--direct=1", "--bs=2"];
    // The file is there before the check, which asks its file system.
    let ran = dir.ferrio(&jobs).run();
    let ferrio_machine::DirectIo::Aligned(align) = ferrio_machine::DirectIo::on(&dir.work().join("a.0.0"))
    else {
        return skipped(
            "a_run_names_the_block_that_direct_io_refuses",
            "the file system reports no alignment",
        );
    };
    let words = format!("direct=1 with block size 2, but a.0.0 requires multiples of {align}");
    let checked = dir.ferrio(&[&["check"], &jobs[..]].concat()).run().ended_with(1);
    assert!(checked.stdout.contains(&words), "{}", checked.stdout);
    assert!(ran.stderr.contains(&words), "{}", ran.stderr);
}

#[test]
fn sizes_that_no_block_has_are_named_by_check_and_by_the_run() {
    for rw in ["read", "randread", "randwrite"] {
        let rw = format!("--rw={rw}");
        let both = |sizes: &str| {
            let dir = TestDir::new();
            let words = ["--name=a", "--ioengine=null", "--size=4m", &rw, sizes];
            let check = dir.ferrio(&[&["check"], &words[..]].concat()).run().ended_with(0);
            [check.stdout, dir.ferrio(&words).run().ended_with(0).stderr]
        };
        for text in both("--bssplit=6k/50:10k/50") {
            assert!(text.contains("[sizes-rounded]") && text.contains("bs_unaligned=1"), "{text}");
            assert!(text.contains("10240 bytes") && text.contains("6144 bytes"), "{text}");
            assert!(!text.contains("no warnings"), "{text}");
        }
        for text in both("--bsrange=3k-10k") {
            assert!(text.contains("[sizes-rounded]") && text.contains("10240 bytes"), "{text}");
        }
        for sizes in ["--bssplit=4k/50:16k/50", "--bsrange=4k-64k", "--bs=6k"] {
            assert!(both(sizes).iter().all(|text| !text.contains("sizes-rounded")), "{sizes}");
        }
    }
}
