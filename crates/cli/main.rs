//! The program `ferrio`, which is a call of the library of the same name.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ferrio::main(std::env::args_os())
}
