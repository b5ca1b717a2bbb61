//! A whole job file with the files it may include: texts between NUL bytes, the job file first.

#![no_main]

mod shared;

use ferrio_jobfile::Builder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut files = data.split(|&byte| byte == 0);
    let first = files.next().unwrap_or_default();
    let rest: Vec<&[u8]> = files.collect();
    let mut builder = Builder::new(shared::environment(&rest));
    builder.file("d/j.fio", first);
    if let Some(second) = rest.first() {
        builder.file("k.fio", second);
    }
    shared::finish(builder);
});
