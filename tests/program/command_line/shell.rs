//! Commands for the shell: completions and the manual page.

use std::fs;
use std::path::Path;

use ferrio_job::EngineKind;

use crate::support::{TestDir, installed};

fn script(dir: &TestDir, shell: &str) -> String {
    dir.ferrio(&["completions", shell]).run().succeeded().stdout
}

fn script_of_sysbench(dir: &TestDir, shell: &str) -> String {
    dir.ferrio(&["completions", shell, "sysbench"]).run().succeeded().stdout
}

/// What bash offers for the last of `words`, which readline has taken apart at `=` already. The first is a program with a script.
fn offered(dir: &TestDir, words: &[&str]) -> Vec<String> {
    let path = dir.beside("completions.bash");
    let program = words[0];
    let script = if program == "ferrio" { script(dir, "bash") } else { script_of_sysbench(dir, "bash") };
    fs::write(&path, script).unwrap();
    let last = words.len() - 1;
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    // compopt works while readline completes only.
    let program = format!(
        "compopt() {{ :; }}\nsource '{}'\nCOMP_WORDS=({})\nCOMP_CWORD={last}\n_{program} {program} {} {}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        path.display(),
        quoted.join(" "),
        quoted[last],
        quoted[last - 1],
    );
    let run = dir.program(installed("bash"), &["-c", &program]).run().succeeded();
    assert_eq!(run.stderr, "");
    run.stdout.lines().map(str::to_owned).collect()
}

/// The help says where the shells look for completions, in the words of docs/called_fio.md.
#[test]
fn the_help_installs_the_completions_of_each_shell() {
    let in_one_space = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let help = TestDir::new().ferrio(&["completions", "--help"]).run().succeeded().stdout;
    let page = include_str!("../../../docs/called_fio.md");
    for shell in ["bash", "zsh", "fish"] {
        let line = page.lines().find(|line| line.contains(&format!("ferrio completions {shell} >"))).unwrap();
        assert!(in_one_space(&help).contains(&in_one_space(line)), "{line} is expected in\n{help}");
    }
}

#[test]
fn bash_reads_the_script() {
    let dir = TestDir::new();
    let path = dir.beside("completions.bash");
    fs::write(&path, script(&dir, "bash")).unwrap();
    let run = dir.program(installed("bash"), &["-n", path.to_str().unwrap()]).run().succeeded();
    assert_eq!(run.stderr, "");
}

#[test]
fn bash_completes_names_of_options() {
    let dir = TestDir::new();
    let names = offered(&dir, &["ferrio", "--iod"]);
    assert!(
        names.contains(&"--iodepth".to_owned()) && names.contains(&"--iodepth_low".to_owned()),
        "{names:?}"
    );
    assert!(names.iter().all(|name| name.starts_with("--iod")), "{names:?}");
    let names = offered(&dir, &["ferrio", "--blocksize_u"]);
    assert_eq!(names, ["--blocksize_unaligned"], "an alias");
    let names = offered(&dir, &["ferrio", "--output-f"]);
    assert_eq!(names, ["--output-format"]);
}

#[test]
fn bash_completes_values_after_an_equals_sign_and_as_separate_words() {
    let dir = TestDir::new();
    let all = offered(&dir, &["ferrio", "--rw", "="]);
    assert!(all.contains(&"randwrite".to_owned()) && all.contains(&"trimwrite".to_owned()), "{all:?}");
    assert!(all.iter().all(|word| !word.starts_with('-')), "{all:?}");
    let some = offered(&dir, &["ferrio", "--rw", "=", "randw"]);
    assert_eq!(some, ["randwrite"]);
    assert_eq!(offered(&dir, &["ferrio", "--bs=4k", "--rw", "randr"]), ["randread", "randrw"]);
    assert_eq!(offered(&dir, &["ferrio", "--ioengine", "=", "io_"]), ["io_uring", "io_uring_cmd"]);
    assert_eq!(offered(&dir, &["ferrio", "--eta", "=", "n"]), ["never"]);
}

#[test]
fn bash_knows_the_arguments_of_every_command() {
    let dir = TestDir::new();
    let names = offered(&dir, &["ferrio", "check", "--"]);
    for name in ["--deny-warnings", "--rw", "--output-format", "--ioengine", "--blocksize", "--hipri"] {
        assert!(names.contains(&name.to_owned()), "{name}");
    }
    let of_run = offered(&dir, &["ferrio", "--"]);
    let lost: Vec<_> = of_run.iter().filter(|name| !names.contains(name)).collect();
    assert!(lost.is_empty() && names.len() == of_run.len() + 1, "{lost:?}");
    assert_eq!(offered(&dir, &["ferrio", "check", "--rw", "=", "randw"]), ["randwrite"]);
    assert_eq!(offered(&dir, &["ferrio", "check", "--zonemode", "=", ""]), ["none", "strided", "zbd"]);
    let mut engines: Vec<_> = EngineKind::ALL.iter().map(|engine| engine.word()).collect();
    assert_eq!(offered(&dir, &["ferrio", "--enghelp", "=", ""]), engines);
    engines.sort_by_key(|&engine| engine == "external");
    let of_letter: Vec<_> = engines.iter().copied().filter(|engine| engine.starts_with('p')).collect();
    assert_eq!(offered(&dir, &["ferrio", "check", "--ioengine", "=", "p"]), of_letter);
    assert_eq!(offered(&dir, &["ferrio", "--ioengine", "=", ""]), engines);
    assert_eq!(offered(&dir, &["ferrio", "completions", "b"]), ["bash"]);
    assert_eq!(offered(&dir, &["ferrio", "help", "iodepth_l"]), ["iodepth_low"]);
    assert!(offered(&dir, &["ferrio", "help", "-"]).contains(&"--help".to_owned()));
    assert!(offered(&dir, &["ferrio", "h"]).contains(&"help".to_owned()));
}

#[test]
fn bash_knows_the_tests_of_sysbench_behind_the_word_and_for_a_link() {
    let dir = TestDir::new();
    for front in [&["ferrio", "sysbench"][..], &["sysbench"]] {
        let offered = |words: &[&str]| offered(&dir, &[front, words].concat());
        let first = offered(&[""]);
        for word in ["fileio", "cpu", "memory", "threads", "mutex", "--threads", "--report-interval"] {
            assert!(first.contains(&word.to_owned()), "{word}: {first:?}");
        }
        assert_eq!(offered(&["fi"]), ["fileio"]);
        assert_eq!(offered(&["fileio", "--file-t"]), ["--file-total-size", "--file-test-mode"]);
        assert_eq!(offered(&["fileio", "--thr"]), ["--threads", "--thread-stack-size"]);
        let modes = ["rndrd", "rndwr", "rndrw"];
        assert_eq!(offered(&["--threads=4", "fileio", "--file-test-mode", "=", "rnd"]), modes);
        assert_eq!(offered(&["--test", "=", "fileio", "--file-io-mode", "=", ""]), ["sync", "async", "mmap"]);
        assert_eq!(offered(&["fileio", "--file-num", "=", "4", "p"]), ["prepare"]);
        assert_eq!(offered(&["fileio", "--file-num", "=", "4", ""]).last().unwrap(), "help");
        assert_eq!(offered(&["cpu", "--cpu"]), ["--cpu-max-prime"]);
        assert_eq!(offered(&["cpu", "r"]), ["run"]);
        assert_eq!(offered(&["cpu", "p"]), [""], "cpu prepares nothing");
    }
}

/// What fish offers at the end of this command line, without descriptions.
fn offered_by_fish(dir: &TestDir, fish: &Path, line: &str) -> Vec<String> {
    let path = dir.beside("completions.fish");
    fs::write(&path, script(dir, "fish") + &script_of_sysbench(dir, "fish")).unwrap();
    let program = format!("source '{}'; complete -C '{line}'", path.display());
    let home = dir.beside("home");
    let run = dir.program(fish, &["--no-config", "-c", &program]).env("HOME", home.to_str().unwrap());
    let run = run.run().succeeded();
    assert_eq!(run.stderr, "");
    run.stdout.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn fish_completes_runs_sub_commands_and_sysbench() {
    let dir = TestDir::new();
    needs!("fish");
    let fish = &installed("fish");
    for (line, words) in [
        ("ferrio --name=a --iodepth_l", &["--iodepth_low"][..]),
        ("ferrio --rw=randw", &["--rw=randwrite"]),
        ("ferrio check --deny", &["--deny-warnings"]),
        ("ferrio check --rw=randw", &["--rw=randwrite"]),
        ("ferrio completions ", &["bash", "fish", "zsh"]),
        ("ferrio import --iode", &[]),
        ("ferrio sysbench f", &["fileio"]),
        ("ferrio sysbench oltp_re", &["oltp_read_only", "oltp_read_write"]),
        ("ferrio sysbench fileio --file-io-mode=m", &["--file-io-mode=mmap"]),
        ("ferrio sysbench fileio --file-num=4 ", &["cleanup", "help", "prepare", "run"]),
        ("sysbench fi", &["fileio"]),
        ("sysbench --threads=2 fileio --file-te", &["--file-test-mode"]),
        ("sysbench cpu ", &["help", "run"]),
    ] {
        assert_eq!(offered_by_fish(&dir, fish, line), words, "{line}");
    }
}

#[test]
fn zsh_and_fish_learn_the_same_options() {
    let dir = TestDir::new();
    let zsh = script(&dir, "zsh");
    assert!(
        zsh.starts_with("#compdef ferrio") && zsh.contains("--iodepth_batch=") && zsh.contains("randwrite")
    );
    let fish = script(&dir, "fish");
    assert!(
        fish.contains("complete -c ferrio")
            && fish.contains("-l iodepth_batch ")
            && fish.contains("randwrite")
    );
    for (shell, start) in [("zsh", "#compdef sysbench"), ("fish", "# Print an optspec")] {
        let script = script_of_sysbench(&dir, shell);
        assert!(script.starts_with(start), "{script}");
        for word in ["file-test-mode", "seqrewr", "prepare", "cpu-max-prime"] {
            assert!(script.contains(word) && !script.contains("iodepth"), "{word} for {shell}");
        }
    }
}

#[test]
fn a_wrong_shell_is_reported() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["completions", "tcsh"]).run().ended_with(1);
    assert!(run.stderr.contains("bash, zsh or fish"), "{}", run.stderr);
    dir.ferrio(&["completions"]).run().ended_with(1);
    for words in [&["completions", "bash", "fio"][..], &["completions", "bash", "sysbench", "x"]] {
        let run = dir.ferrio(words).run().ended_with(1);
        assert!(run.stderr.contains(&format!("`{}`", words.last().unwrap())), "{}", run.stderr);
    }
}

#[test]
fn the_manual_page_renders_without_warnings() {
    let dir = TestDir::new();
    let page = dir.ferrio(&["man"]).run().succeeded().stdout;
    for part in [".SH \"EXIT STATUS\"", ".SH EXAMPLES", "iodepth", "io_uring"] {
        assert!(page.contains(part), "{part}");
    }
    if !Path::new("/usr/bin/groff").exists() {
        eprintln!("SKIPPED: the page was not rendered, groff is not installed (apt-get install groff)");
        return;
    }
    let path = dir.beside("ferrio.1");
    fs::write(&path, page).unwrap();
    let words = ["-man", "-ww", "-Tascii", "-P-cbou", path.to_str().unwrap()];
    let run = dir.program("/usr/bin/groff", &words).run().succeeded();
    assert_eq!(run.stderr, "");
    assert!(run.stdout.contains("iodepth_batch_complete_min"));
}

#[test]
fn a_job_file_with_the_name_of_a_command_is_given_with_its_directory() {
    let dir = TestDir::new();
    fs::write(dir.work().join("man"), "[a]\nioengine=null\nsize=4k\n").unwrap();
    let run = dir.ferrio(&["--output-format=json", "./man"]).run().succeeded();
    assert_eq!(run.json()["jobs"][0]["jobname"], "a");
    let run = dir.ferrio(&["--output-format=json", "man"]).run().succeeded();
    assert_eq!(run.json()["jobs"][0]["jobname"], "a", "after an option it is not a command");
    assert!(dir.ferrio(&["man"]).run().succeeded().stdout.contains(".TH FERRIO"));
}
