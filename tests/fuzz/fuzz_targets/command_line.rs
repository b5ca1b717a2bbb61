//! A whole command line: one argument per line. Goes through the program's own scanner.

#![no_main]

#[path = "../../../crates/cli/arguments.rs"]
#[allow(dead_code)]
mod arguments;
#[path = "../../../crates/cli/options.rs"]
#[allow(dead_code)]
mod options;
#[path = "../../../crates/cli/program.rs"]
#[allow(dead_code)]
mod program;
mod shared;
#[path = "../../../crates/cli/values.rs"]
#[allow(dead_code)]
mod values;

use arguments::Item;
use ferrio_jobfile::Builder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    let words: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let Ok(items) = arguments::scan(&words, 1, &options::options()) else { return };
    let _ = program::Program::read(&items);
    let mut builder = Builder::new(shared::environment(&[]));
    for item in &items {
        match item {
            Item::Job { name, value, origin } => {
                builder.command_option(name, value.as_deref(), origin.clone());
            }
            Item::File(name) => builder.file(name, b"[f]\nbs=8k\n"),
            Item::Program { .. } => {}
        }
    }
    shared::finish(builder);
});
