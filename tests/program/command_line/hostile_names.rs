//! Names that are meant to do harm: escape sequences, line ends and `../` in names of jobs, descriptions and files. They reach neither
//! the terminal nor the file system as they are. And the permissions of the files that a run makes.

use std::os::unix::fs::PermissionsExt as _;

use crate::live::live_line::written;
use crate::support::{FERRIO, TestDir};

const EVIL: &str = "a\u{1b}[2J\u{9b}\u{7}\nb: (groupid=7, jobs=1): err= 0";

#[test]
fn text_shows_control_characters_and_json_has_the_names_as_they_are() {
    let dir = TestDir::new();
    let (name, description) = (format!("--name={EVIL}"), format!("--description={EVIL}"));
    let words = [name.as_str(), &description, "--ioengine=null", "--size=4k", "--verify_state_save=0"];
    for format in ["normal", "terse", "normal,terse"] {
        let format = format!("--output-format={format}");
        let run = dir.ferrio(&[&[format.as_str()], &words[..]].concat()).run().succeeded();
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{7}']), "{text:?}");
            assert!(!text.contains("\nb: (groupid=7"), "{text:?}");
        }
        assert!(run.stdout.contains("a\\x1b[2J\\x9b\\x07\\nb: (groupid=7"), "{}", run.stdout);
    }
    let run = dir.ferrio(&[&["--output-format=json"], &words[..]].concat()).run().succeeded();
    assert_eq!(run.json()["jobs"][0]["jobname"], EVIL);
    assert!(!run.stderr.contains('\u{1b}'), "{:?}", run.stderr);
    // A job that fails is named in messages.
    let failing = [name.as_str(), "--filename=/dev/full", "--rw=write", "--size=4k"];
    let run = dir.ferrio(&failing).run().ended_with(1);
    assert!(!run.stderr.contains(['\u{1b}', '\u{7}']), "{:?}", run.stderr);
}

#[test]
fn comparisons_series_and_debug_lines_show_them_too() {
    let dir = TestDir::new();
    let name = format!("--name={EVIL}");
    let job = [name.as_str(), "--ioengine=null", "--size=4k"];
    dir.ferrio(&[&["--output-format=json", "--output=x.json"], &job[..]].concat()).run().succeeded();
    let compare = dir.ferrio(&["compare", "x.json", "x.json"]).run();
    let series = dir.ferrio(&[&["--repeat=2", "--results=results"], &job[..]].concat()).run();
    let debug = dir.ferrio(&[&["--debug=all"], &job[..]].concat()).run();
    for run in [compare, series, debug] {
        let run = run.succeeded();
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{7}']), "{text:?}");
        }
        assert!(format!("{}{}", run.stdout, run.stderr).contains("a\\x1b[2J\\x9b\\x07"), "{run:?}");
    }
}

#[test]
fn called_fio_it_shows_them_on_a_terminal_only() {
    let dir = TestDir::new();
    let words = ["--as=fio", "--name=a\u{1b}[2J", "--ioengine=null", "--size=4k", "--eta=never"];
    let piped = dir.ferrio(&words).run().succeeded();
    assert!(piped.stdout.contains("a\u{1b}[2J: (groupid=0"), "{:?}", piped.stdout);
    let text = written(&dir, 200, &words);
    assert!(text.contains("a\\x1b[2J: (groupid=0") && !text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn no_file_gets_a_name_with_control_characters_or_outside_of_its_directory() {
    let dir = TestDir::new();
    let cases: [&[&str]; 5] = [
        &["--name=a\u{1b}[2J", "--rw=write"],
        &["--name=a", "--rw=write", "--filename=f\u{1b}[2J"],
        &["--name=a", "--ioengine=null", "--write_lat_log=l\u{1b}[2J"],
        &["--name=a\nb", "--ioengine=null", "--exec_prerun=true"],
        &["--name=../../up", "--rw=write"],
    ];
    for case in cases {
        let run = dir.ferrio(&[case, &["--size=4k"]].concat()).run().ended_with(1);
        assert!(
            run.stderr.contains("would be made outside") || run.stderr.contains("has control characters")
        );
        assert!(!run.stderr.contains('\u{1b}'), "{:?}", run.stderr);
    }
    assert_eq!(dir.files(), []);
    // A file that is there may be used.
    std::fs::write(dir.work().join("f\u{1b}"), [0; 4096]).unwrap();
    dir.ferrio(&["--name=a", "--rw=read", "--filename=f\u{1b}", "--size=4k"]).run().succeeded();
}

#[test]
fn files_are_made_with_the_umask() {
    for (umask, made) in [("077", 0o600), ("027", 0o640), ("0", 0o666)] {
        let dir = TestDir::new();
        let job = "--name=a --rw=read --filename=f --size=4k --write_lat_log=l --output=r.json --output-format=json \
                   --exec_postrun=true --interval-report=1s:i";
        let script = format!("umask {umask}; exec \"$0\" {job}");
        dir.program("sh", &["-c", &script, FERRIO]).run().succeeded();
        for (name, _) in dir.files() {
            let mode = std::fs::metadata(dir.work().join(&name)).unwrap().permissions().mode() & 0o777;
            // fio's data files are at most for others to read.
            let wanted = if name == "f" { made & 0o644 } else { made };
            assert_eq!(mode, wanted, "{name} with umask {umask}: {mode:o}");
        }
        assert!(dir.files().len() >= 6, "{:?}", dir.files());
    }
}

#[test]
fn commands_show_them_on_a_terminal_only() {
    let dir = TestDir::new();
    let job = dir.job("[a\u{1b}[2J]\nioengine=null\nsize=4k\n");
    for program in ["--as=ferrio", "--as=fio"] {
        let words = [program, "--showcmd", job.as_str()];
        let piped = dir.ferrio(&words).run().succeeded();
        assert!(piped.stdout.contains("--name=a\u{1b}[2J"), "{:?}", piped.stdout);
        let text = written(&dir, 200, &words);
        assert!(text.contains("--name=a\\x1b[2J") && !text.contains('\u{1b}'), "{text:?}");
    }
}
