//! The helper programs of fio, as sub-commands and called by their names: what they print, side by side with those of fio.

mod dedupe;
mod genzipf;
mod verify_state;

use std::os::unix::fs::symlink;

use crate::support::{FERRIO, Run, TestDir};

/// Runs ferrio by a link with the name of a helper program.
fn called(dir: &TestDir, program: &str, words: &[&str]) -> Run {
    let link = dir.beside(program);
    if !link.exists() {
        symlink(FERRIO, &link).unwrap();
    }
    dir.program(link, words).run()
}

#[test]
fn each_link_is_a_program_and_each_program_a_sub_command() {
    let dir = TestDir::new();
    for name in ["btrace2fio", "dedupe", "genzipf", "verify-state"] {
        let program = format!("fio-{name}");
        let help = called(&dir, &program, &["--help"]).succeeded().stdout;
        assert!(help.contains(&format!("Usage: {program} ")), "{help}");
        let help = dir.ferrio(&[name, "--help"]).run().succeeded().stdout;
        assert!(help.contains(&format!("Usage: ferrio {name} ")), "{help}");
        called(&dir, &program, &["--no-such-option"]).ended_with(1);
        called(&dir, &program, &["-", "/no/such/file"]).ended_with(1);
    }
}
