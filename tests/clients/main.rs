//! Programs that read fio's output read ferrio's: fio-plot, cdmpy (fio-cdm), pandas, jq, and the OpenMetrics
//! parser of prometheus_client; and ferrio's own Python module.
//!
//! The other half of each test is a Python program beside this file. Its packages come from PyPI, so these tests run only with
//! `FERRIO_CLIENTS=1`, as in `.ci/run`; otherwise they are listed as ignored. `tests/clients/setup` installs the packages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::disallowed_methods)]

#[allow(dead_code, unused_imports, unused_macros)]
#[path = "../program/requirements.rs"]
mod requirements;
#[allow(dead_code, unused_imports, unused_macros)]
#[path = "../program/support.rs"]
mod support;

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use libtest_mimic::{Arguments, Trial};

use support::{FERRIO, Run, TestDir};

/// The tests by name: one line per function below.
macro_rules! trials {
    ($($test:ident,)+) => {
        vec![$(Trial::test(stringify!($test), || { $test(); Ok(()) })),+]
    };
}

fn main() -> ExitCode {
    let wanted = env::var_os("FERRIO_CLIENTS").is_some_and(|value| value == "1");
    if !wanted {
        println!("\nThe tests of Python clients download packages: FERRIO_CLIENTS=1 runs them.");
    }
    let trials = trials![
        fio_plot_draws_every_kind_of_bars_from_documents,
        fio_plot_draws_every_kind_of_lines_from_logs,
        bench_fio_runs_ferrio_under_the_name_of_fio,
        cdmpy_prints_the_figures_of_a_link_named_fio,
        jq_reads_both_streams_of_a_link_named_fio,
        pandas_reads_documents_logs_and_terse_lines,
        the_python_module_runs_jobs_and_reads_and_compares_their_reports,
        prometheus_client_parses_the_exposition_and_finds_the_figures_of_the_document,
    ];
    let trials = trials.into_iter().map(|trial| trial.with_ignored_flag(!wanted)).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A file of this repository's directory for the tests of clients.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// The Python environment, made or brought up to date if it has to be.
fn environment() -> &'static Path {
    static ENVIRONMENT: OnceLock<PathBuf> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("clients-venv");
        let setup =
            Command::new(source("setup")).arg(&directory).output().expect("bash runs tests/clients/setup");
        assert!(
            setup.status.success(),
            "these tests need Python 3.11 or later with the packages of tests/clients/requirements.txt: \
             apt-get install python3 python3-venv, then tests/clients/setup, which says\n{}{}",
            String::from_utf8_lossy(&setup.stdout),
            String::from_utf8_lossy(&setup.stderr)
        );
        directory
    })
}

/// Runs one of the Python programs.
fn python(dir: &TestDir, program: &str, arguments: &[&Path]) -> Run {
    let environment = environment();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let words: Vec<String> =
        [source(program).as_path()].iter().chain(arguments).map(|argument| path(argument)).collect();
    let cache = path(&environment.join("matplotlib"));
    let invocation = dir.program(environment.join("bin/python"), &words);
    invocation.env("MPLBACKEND", "Agg").env("MPLCONFIGDIR", &cache).run().succeeded()
}

/// `tests/clients/wheel` does the same with the module and the program of the wheel.
fn the_python_module_runs_jobs_and_reads_and_compares_their_reports() {
    let dir = TestDir::new();
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
    let words = [source("module.py"), dir.work()].map(|path| path.to_str().unwrap().to_owned());
    let run = dir.program(environment().join("bin/python"), &words);
    let run = run
        .env("FERRIO", FERRIO)
        .env("PYTHONPATH", module.to_str().unwrap())
        .env("PYTHONDONTWRITEBYTECODE", "1");
    assert_eq!(run.run().succeeded().stdout, concat!("ferrio ", env!("CARGO_PKG_VERSION"), "\n"));
}

/// A job of the matrix that bench-fio runs, with its options and its names of files.
fn benchmark(dir: &TestDir, runs: &str, rw: &str, iodepth: u32, numjobs: u32, more: &str) -> Vec<String> {
    let directory = dir.beside("runs").join(runs);
    fs::create_dir_all(&directory).unwrap();
    let logs = directory.join(format!("{rw}-iodepth-{iodepth}-numjobs-{numjobs}"));
    let text = format!(
        "[FIOJOB]\nfilename={runs}\nioengine=io_uring\nrw={rw}\nbs=4k\nsize=1m\niodepth={iodepth}\nnumjobs={numjobs}\ndirect=0\n\
         thinktime=200us\ninvalidate=1\nwrite_bw_log={logs}\nwrite_lat_log={logs}\nwrite_iops_log={logs}\n{more}\n",
        logs = logs.display()
    );
    let job = directory.join(format!("{rw}-{iodepth}-{numjobs}.fio"));
    fs::write(&job, text).unwrap();
    let report = directory.join(format!("{rw}-{iodepth}-{numjobs}.json"));
    vec![
        "--output-format=json".to_owned(),
        format!("--output={}", report.display()),
        job.to_str().unwrap().to_owned(),
    ]
}

/// Makes the charts of this kind from the runs of `place`; there must be `charts` of them.
fn draw(dir: &TestDir, kind: &str, charts: usize) {
    let pictures = dir.beside("pictures");
    fs::create_dir(&pictures).unwrap();
    let run = python(dir, "charts.py", &[Path::new(kind), &dir.beside("runs"), &pictures]);
    assert_eq!(run.stdout, format!("{charts} charts, 0 failed\n"));
    assert_eq!(fs::read_dir(&pictures).unwrap().count(), charts);
}

fn fio_plot_draws_every_kind_of_bars_from_documents() {
    let dir = TestDir::new();
    let steady = "time_based=1\nruntime=8\nsteadystate=iops:95%\nsteadystate_duration=2";
    let steady = dir.ferrio(&benchmark(&dir, "steady", "randread", 2, 1, steady)).start();
    for (iodepth, numjobs) in [(1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (4, 2)] {
        dir.ferrio(&benchmark(&dir, "randread", "randread", iodepth, numjobs, "")).run().succeeded();
    }
    dir.ferrio(&benchmark(&dir, "again", "randread", 2, 1, "")).run().succeeded();
    for iodepth in [1, 2] {
        dir.ferrio(&benchmark(&dir, "randrw", "randrw", iodepth, 1, "")).run().succeeded();
    }
    steady.wait().succeeded();
    draw(&dir, "bars", 15);
}

fn fio_plot_draws_every_kind_of_lines_from_logs() {
    let dir = TestDir::new();
    for (iodepth, numjobs) in [(1, 1), (2, 1), (4, 1), (2, 2), (4, 2)] {
        dir.ferrio(&benchmark(&dir, "randread", "randread", iodepth, numjobs, "")).run().succeeded();
    }
    dir.ferrio(&benchmark(&dir, "again", "randread", 2, 1, "")).run().succeeded();
    dir.ferrio(&benchmark(&dir, "randrw", "randrw", 2, 1, "")).run().succeeded();
    draw(&dir, "lines", 8);
}

/// A search path on which `fio` is a link to ferrio.
fn path_with_fio(dir: &TestDir) -> String {
    let programs = dir.beside("programs");
    fs::create_dir(&programs).unwrap();
    symlink(FERRIO, programs.join("fio")).unwrap();
    format!("{}:{}", programs.display(), env::var("PATH").unwrap())
}

fn bench_fio_runs_ferrio_under_the_name_of_fio() {
    let dir = TestDir::new();
    let path = path_with_fio(&dir);
    // bench-fio leaves a job file in /tmp, which has the name of the target.
    let target = format!("ferrio-bench-{}", std::process::id());
    fs::create_dir(dir.work().join(&target)).unwrap();
    let words = [
        ["--target", &target, "--type", "directory", "--size", "64k", "--engine", "io_uring"],
        ["--mode", "randread", "--iodepth", "2", "--numjobs", "1", "--output", "runs"],
    ]
    .concat();
    let words = [&words[..], &["--runtime", "1", "--direct", "0", "--quiet"]].concat();
    let run = dir.program(environment().join("bin/bench-fio"), &words).env("PATH", &path).run();
    let _ = fs::remove_file(format!("/tmp/{target}-tmpjobfile.fio"));
    let run = run.succeeded();
    assert!(!run.stdout.contains("An error occurred"), "{}", run.stdout);
    let report = dir.work().join(format!("runs/{target}/4k/randread-2-1.json"));
    let report: serde_json::Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    assert_eq!(report["jobs"][0]["read"]["io_bytes"], 64 << 10);
}

/// cdmpy uses the engine posixaio.
fn cdmpy_prints_the_figures_of_a_link_named_fio() {
    let dir = TestDir::new();
    let path = path_with_fio(&dir);
    let program = source("cdm_runs.py");
    let run = dir.program(environment().join("bin/python"), &[program.to_str().unwrap()]).env("PATH", &path);
    let run = run.run().succeeded();
    assert_eq!((&run.stdout[..], &run.stderr[..]), ("4 rows\n", ""));
    assert_eq!(fs::read_dir(dir.work()).unwrap().count(), 0, "cdmpy removes its file");
}

/// Jobs that ferrio warns about: to jq, a warning between two lines of the document is an error.
fn jq_reads_both_streams_of_a_link_named_fio() {
    if Command::new("jq").arg("--version").output().is_err() {
        assert!(env::var_os("CI").is_none(), "the CI has jq");
        println!("SKIPPED: jq is not installed (apt-get install jq)");
        return;
    }
    let dir = TestDir::new();
    let path = path_with_fio(&dir);
    let script = "fio --output-format=json --name=a --ioengine=libaio --iodepth=8 --rw=randrw --size=64k --numjobs=2 2>&1 | \
                  jq '[.jobs[] | .read.io_bytes + .write.io_bytes] | add'";
    let run = dir.program("sh", &["-c", script]).env("PATH", &path).run().succeeded();
    assert_eq!((&run.stdout[..], &run.stderr[..]), ("131072\n", ""));
}

fn pandas_reads_documents_logs_and_terse_lines() {
    let dir = TestDir::new();
    let job = |name: &str, text: &str| {
        let log = |kind: &str| format!("write_{kind}_log={name}\n");
        format!("[{name}]\n{text}\n{}{}{}", log("bw"), log("iops"), log("lat"))
    };
    let jobs = [
        job("reads", "rw=randread\nsize=512k\niodepth=4"),
        job("writes", "rw=write\nsize=256k\nbs=8k\nfsync=8"),
        job("mix", "rw=randrw\nsize=1m\niodepth=2"),
    ];
    let job = dir.job(&format!("[global]\nioengine=io_uring\nbs=4k\nthinktime=100us\n{}", jobs.join("\n")));
    dir.ferrio(&["--output-format=terse,json", "--output=report", &job]).run().succeeded();
    let run = python(&dir, "tables.py", &[&dir.work()]);
    assert_eq!(run.stdout, "3 jobs\n");
}

fn prometheus_client_parses_the_exposition_and_finds_the_figures_of_the_document() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nioengine=null\nbs=4k\nsize=1m\nthinktime=100us\n\
         [we\"ird\\ \u{e9} {x=\"1\"}, 1]\nrw=randrw\nnumjobs=2\n\
         [group]\nrw=randread\nnumjobs=3\ngroup_reporting\nnew_group\nlat_percentiles=1\npercentile_list=0.001:50:99.999:100\n\
         [alone]\nrw=read\nsize=64k\nnew_group\nclat_percentiles=0\n\
         [one]\nrw=rw\nunified_rw_reporting=1\nnew_group\n\
         [three]\nrw=rw\nunified_rw_reporting=2\nnew_group\n\
         [synced]\nioengine=psync\nrw=write\nfsync=16\nnew_group\n\
         [paced]\nrw=write\nsize=256k\nthinktime=0\nrate_iops=1000\nnew_group\n",
    );
    for (format, file) in [("openmetrics", "metrics.prom"), ("json", "report.json")] {
        let words = [format!("--output-format={format}"), format!("--output={file}"), job.clone()];
        let run = dir.ferrio(&words).run().succeeded();
        assert_eq!(run.stdout, "", "the report is in the file");
    }
    let run =
        python(&dir, "metrics.py", &[&dir.work().join("metrics.prom"), &dir.work().join("report.json")]);
    assert!(run.stdout.contains(" families, "), "{}", run.stdout);
}
