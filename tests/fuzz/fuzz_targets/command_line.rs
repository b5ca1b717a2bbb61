//! A whole command line: one argument per line, read as the program reads it.

#![cfg_attr(feature = "fuzzer", no_main)]

mod shared;
mod target;

use std::ffi::OsString;
use std::path::Path;

use ferrio::Error;

target::target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    // Standard input is libFuzzer's.
    let words: Vec<OsString> = text.split('\n').filter(|&word| word != "-").map(OsString::from).collect();
    let mut environment = shared::environment(&[]);
    environment.read_file = Box::new(|_: &Path| Ok(b"[f]\nbs=8k\n".to_vec()));
    match ferrio::read_jobs(&words, environment) {
        Ok(set) => drop(shared::look_at(Ok(set))),
        Err(Error::Problems(problems)) => drop(shared::look_at(Err(problems))),
        Err(error) => assert!(matches!(error, Error::Help), "{error}"),
    }
});
