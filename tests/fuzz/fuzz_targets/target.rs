//! The entry point of a target: libFuzzer, or a `main` that gives it the inputs of files and needs no C++ compiler.

/// Defines the entry point.
macro_rules! target {
    (|$data:ident: &[u8]| $work:expr) => {
        #[cfg(feature = "fuzzer")]
        libfuzzer_sys::fuzz_target!(|$data: &[u8]| $work);

        #[cfg(not(feature = "fuzzer"))]
        fn main() -> std::process::ExitCode {
            target::replay(|$data: &[u8]| $work)
        }
    };
}
pub(crate) use target;

/// Gives the target each file of the command line, and each file of its directories. A crash ends it after the name of the file.
#[cfg(not(feature = "fuzzer"))]
pub fn replay<T>(target: impl Fn(&[u8]) -> T) -> std::process::ExitCode {
    let mut files = Vec::new();
    for argument in std::env::args_os().skip(1) {
        match std::fs::read_dir(&argument) {
            Ok(entries) => files.extend(entries.filter_map(|entry| Some(entry.ok()?.path()))),
            Err(_) => files.push(argument.into()),
        }
    }
    files.sort();
    for file in &files {
        println!("{}", file.display());
        match std::fs::read(file) {
            Ok(input) => drop(target(&input)),
            Err(error) => {
                eprintln!("cannot read {}: {error}", file.display());
                return std::process::ExitCode::FAILURE;
            }
        }
    }
    println!("inputs: {}", files.len());
    std::process::ExitCode::SUCCESS
}
