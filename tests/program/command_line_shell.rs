//! Commands for the shell: completions and the manual page.

use std::fs;
use std::path::Path;

use ferrio_job::EngineKind;

use crate::support::{Place, installed};

fn script(place: &Place, shell: &str) -> String {
    place.ferrio(&["completions", shell]).run().succeeded().stdout
}

/// What bash offers for the last of `words`, which readline has taken apart at `=` already.
fn offered(place: &Place, words: &[&str]) -> Vec<String> {
    let path = place.beside("completions.bash");
    fs::write(&path, script(place, "bash")).unwrap();
    let last = words.len() - 1;
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    // compopt works while readline completes only.
    let program = format!(
        "compopt() {{ :; }}\nsource '{}'\nCOMP_WORDS=({})\nCOMP_CWORD={last}\n_ferrio ferrio {} {}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        path.display(),
        quoted.join(" "),
        quoted[last],
        quoted[last - 1],
    );
    let run = place.program(installed("bash"), &["-c", &program]).run().succeeded();
    assert_eq!(run.stderr, "");
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn bash_reads_the_script() {
    let place = Place::new();
    let path = place.beside("completions.bash");
    fs::write(&path, script(&place, "bash")).unwrap();
    let run = place.program(installed("bash"), &["-n", path.to_str().unwrap()]).run().succeeded();
    assert_eq!(run.stderr, "");
}

#[test]
fn bash_completes_names_of_options() {
    let place = Place::new();
    let names = offered(&place, &["ferrio", "--iod"]);
    assert!(
        names.contains(&"--iodepth".to_owned()) && names.contains(&"--iodepth_low".to_owned()),
        "{names:?}"
    );
    assert!(names.iter().all(|name| name.starts_with("--iod")), "{names:?}");
    let names = offered(&place, &["ferrio", "--blocksize_u"]);
    assert_eq!(names, ["--blocksize_unaligned"], "an alias");
    let names = offered(&place, &["ferrio", "--output-f"]);
    assert_eq!(names, ["--output-format"]);
}

#[test]
fn bash_completes_values_after_an_equals_sign_and_as_separate_words() {
    let place = Place::new();
    let all = offered(&place, &["ferrio", "--rw", "="]);
    assert!(all.contains(&"randwrite".to_owned()) && all.contains(&"trimwrite".to_owned()), "{all:?}");
    assert!(all.iter().all(|word| !word.starts_with('-')), "{all:?}");
    let some = offered(&place, &["ferrio", "--rw", "=", "randw"]);
    assert_eq!(some, ["randwrite"]);
    assert_eq!(offered(&place, &["ferrio", "--bs=4k", "--rw", "randr"]), ["randread", "randrw"]);
    assert_eq!(offered(&place, &["ferrio", "--ioengine", "=", "io_"]), ["io_uring", "io_uring_cmd"]);
    assert_eq!(offered(&place, &["ferrio", "--eta", "=", "n"]), ["never"]);
}

#[test]
fn bash_knows_the_arguments_of_every_command() {
    let place = Place::new();
    let names = offered(&place, &["ferrio", "check", "--"]);
    for name in ["--deny-warnings", "--rw", "--output-format", "--ioengine", "--blocksize", "--hipri"] {
        assert!(names.contains(&name.to_owned()), "{name}");
    }
    let of_run = offered(&place, &["ferrio", "--"]);
    let lost: Vec<_> = of_run.iter().filter(|name| !names.contains(name)).collect();
    assert!(lost.is_empty() && names.len() == of_run.len() + 1, "{lost:?}");
    assert_eq!(offered(&place, &["ferrio", "check", "--rw", "=", "randw"]), ["randwrite"]);
    assert_eq!(offered(&place, &["ferrio", "check", "--zonemode", "=", ""]), ["none", "strided", "zbd"]);
    let mut engines: Vec<_> = EngineKind::ALL.iter().map(|engine| engine.word()).collect();
    assert_eq!(offered(&place, &["ferrio", "--enghelp", "=", ""]), engines);
    engines.sort_by_key(|&engine| engine == "external");
    let of_letter: Vec<_> = engines.iter().copied().filter(|engine| engine.starts_with('p')).collect();
    assert_eq!(offered(&place, &["ferrio", "check", "--ioengine", "=", "p"]), of_letter);
    assert_eq!(offered(&place, &["ferrio", "--ioengine", "=", ""]), engines);
    assert_eq!(offered(&place, &["ferrio", "completions", "b"]), ["bash"]);
    assert_eq!(offered(&place, &["ferrio", "help", "iodepth_l"]), ["iodepth_low"]);
    assert!(offered(&place, &["ferrio", "help", "-"]).contains(&"--help".to_owned()));
    assert!(offered(&place, &["ferrio", "h"]).contains(&"help".to_owned()));
}

#[test]
fn zsh_and_fish_learn_the_same_options() {
    let place = Place::new();
    let zsh = script(&place, "zsh");
    assert!(
        zsh.starts_with("#compdef ferrio") && zsh.contains("--iodepth_batch=") && zsh.contains("randwrite")
    );
    let fish = script(&place, "fish");
    assert!(
        fish.contains("complete -c ferrio")
            && fish.contains("-l iodepth_batch ")
            && fish.contains("randwrite")
    );
}

#[test]
fn a_wrong_shell_is_reported() {
    let place = Place::new();
    let run = place.ferrio(&["completions", "tcsh"]).run().ended_with(1);
    assert!(run.stderr.contains("bash, zsh or fish"), "{}", run.stderr);
    place.ferrio(&["completions"]).run().ended_with(1);
}

#[test]
fn the_manual_page_renders_without_warnings() {
    let place = Place::new();
    let page = place.ferrio(&["man"]).run().succeeded().stdout;
    for part in [".SH \"EXIT STATUS\"", ".SH EXAMPLES", "iodepth", "io_uring"] {
        assert!(page.contains(part), "{part}");
    }
    if !Path::new("/usr/bin/groff").exists() {
        eprintln!("SKIPPED: the page was not rendered, groff is not installed (apt-get install groff)");
        return;
    }
    let path = place.beside("ferrio.1");
    fs::write(&path, page).unwrap();
    let words = ["-man", "-ww", "-Tascii", "-P-cbou", path.to_str().unwrap()];
    let run = place.program("/usr/bin/groff", &words).run().succeeded();
    assert_eq!(run.stderr, "");
    assert!(run.stdout.contains("iodepth_batch_complete_min"));
}

#[test]
fn a_job_file_with_the_name_of_a_command_is_given_with_its_directory() {
    let place = Place::new();
    fs::write(place.work().join("man"), "[a]\nioengine=null\nsize=4k\n").unwrap();
    let run = place.ferrio(&["--output-format=json", "./man"]).run().succeeded();
    assert_eq!(run.json()["jobs"][0]["jobname"], "a");
    let run = place.ferrio(&["--output-format=json", "man"]).run().succeeded();
    assert_eq!(run.json()["jobs"][0]["jobname"], "a", "after an option it is not a command");
    assert!(place.ferrio(&["man"]).run().succeeded().stdout.contains(".TH FERRIO"));
}
