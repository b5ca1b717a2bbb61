//! The helper programs of fio, as sub-commands and called by their names: what they print, side by side with those of fio.

mod dedupe;
mod genzipf;
mod verify_state;

use std::os::unix::fs::symlink;

use crate::support::{FERRIO, Place, Run};

/// Runs ferrio by a link with the name of a helper program.
fn called(place: &Place, program: &str, words: &[&str]) -> Run {
    let link = place.beside(program);
    if !link.exists() {
        symlink(FERRIO, &link).unwrap();
    }
    place.program(link, words).run()
}

#[test]
fn each_link_is_a_program_and_each_program_a_sub_command() {
    let place = Place::new();
    for name in ["btrace2fio", "dedupe", "genzipf", "verify-state"] {
        let program = format!("fio-{name}");
        let help = called(&place, &program, &["--help"]).succeeded().stdout;
        assert!(help.contains(&format!("Usage: {program} ")), "{help}");
        let help = place.ferrio(&[name, "--help"]).run().succeeded().stdout;
        assert!(help.contains(&format!("Usage: ferrio {name} ")), "{help}");
        called(&place, &program, &["--no-such-option"]).ended_with(1);
        called(&place, &program, &["-", "/no/such/file"]).ended_with(1);
    }
}
