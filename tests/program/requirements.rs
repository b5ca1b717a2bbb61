//! Requirements of tests on this machine. A test that lacks something is skipped; in CI, where `tests/run` has installed all programs, it fails.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Returns from a test, which then counts as skipped, unless these programs are installed.
macro_rules! needs {
    ($($program:literal),+) => {
        if !$crate::requirements::all_installed(&[$($program),+]) {
            return;
        }
    };
}

/// The programs that tests run, a line each with the package that has it.
const PROGRAMS: &str = include_str!("../programs");

/// Tests that were skipped, and why.
static SKIPPED: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Skips a test that this machine cannot run.
pub fn skipped(test: &str, why: &str) {
    SKIPPED.lock().unwrap().push((test.to_owned(), why.to_owned()));
}

/// Whether these programs are installed; if not, the test that asks is skipped.
#[track_caller]
pub fn all_installed(programs: &[&str]) -> bool {
    let missing: Vec<&str> = programs.iter().copied().filter(|program| find(program).is_none()).collect();
    if missing.is_empty() {
        return true;
    }
    let missing = missing.join(", ");
    assert!(env::var_os("CI").is_none(), "CI needs {missing}: run tests/run");
    skipped(std::thread::current().name().unwrap_or_default(), &format!("{missing} not installed"));
    false
}

/// Where a program is, if it is installed.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // Debian keeps servers where only root looks.
    let directories = env::split_paths(&path).chain([PathBuf::from("/usr/sbin"), PathBuf::from("/sbin")]);
    let directories = directories.chain(postgresql_directories());
    directories.map(|directory| directory.join(program)).find(|file| file.is_file())
}

/// Debian keeps each release of PostgreSQL in a directory of its own.
fn postgresql_directories() -> impl Iterator<Item = PathBuf> {
    let releases = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    releases.map(|release| release.path().join("bin"))
}

/// The path of a program that a test needs and has asked for with [`needs!`].
#[track_caller]
pub fn installed(program: &str) -> PathBuf {
    find(program).unwrap_or_else(|| {
        panic!(
            "{program} is not installed (apt-get install {}): begin the test with `needs!`",
            package(program)
        )
    })
}

/// The package that has a program; other programs are parts of any Debian.
fn package(program: &str) -> &str {
    let rows = PROGRAMS.lines().filter_map(|line| line.split_once(' '));
    rows.into_iter().find(|(name, _)| *name == program).map_or(program, |(_, package)| package)
}

/// After the last line of the test harness: how many tests were skipped, why, and what to do.
#[dtor::dtor(unsafe)]
fn closing_line() {
    let Ok(mut skipped) = SKIPPED.lock() else { return };
    if skipped.is_empty() {
        return;
    }
    skipped.sort();
    let mut text = String::new();
    for (test, why) in skipped.iter() {
        text.push_str(&format!("SKIPPED {test}: {why}\n"));
    }
    skipped.dedup_by(|one, other| one.0 == other.0);
    let count = skipped.len();
    text.push_str(&format!(
        "{count} tests were skipped, because this machine lacks what they need: tests/run installs the programs\n"
    ));
    // Past the macros that the harness captures. Nobody may be left to read it.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

#[test]
fn every_program_has_a_package() {
    let rows: Vec<_> = PROGRAMS.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(rows.iter().all(|row| row.split(' ').count() == 2), "{rows:?}");
    assert!(rows.is_sorted(), "{rows:?}");
    assert_eq!((package("qemu-nbd"), package("bash")), ("qemu-utils", "bash"));
    assert_eq!(find("no-such-program"), None);
    assert!(Path::new(&installed("sh")).is_file());
}

/// The sources of tests below a directory.
fn sources(directory: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}

#[test]
fn a_test_that_runs_fio_says_so() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program"), &mut files);
    let mut silent = Vec::new();
    for (path, text) in &files {
        for test in text.split("#[test]\n").skip(1) {
            // What follows it are helpers.
            let test = test.split_inclusive("\n}\n").next().unwrap_or_default();
            if [".fio(", "installed(\"fio\")"].iter().any(|call| test.contains(call))
                && !test.contains("needs!(")
            {
                silent.push(format!("{}: {}", path.display(), test.lines().next().unwrap_or_default()));
            }
        }
    }
    assert!(files.len() > 100 && silent.is_empty(), "begin with needs!: {silent:#?}");
}
