//! A whole job file with the files it may include: texts between NUL bytes, the job file first. Read both ways.

#![cfg_attr(feature = "fuzzer", no_main)]

mod shared;
mod target;

use ferrio_jobfile::{Builder, Environment, Reading};

target::target!(|data: &[u8]| {
    let mut files = data.split(|&byte| byte == 0);
    let first = files.next().unwrap_or_default();
    let rest: Vec<&[u8]> = files.collect();
    for reading in [Reading::Ferrio, Reading::Fio] {
        let mut builder = Builder::new(Environment { reading, ..shared::environment(&rest) });
        builder.file("d/j.fio", first);
        if let Some(second) = rest.first() {
            builder.file("k.fio", second);
        }
        shared::finish(builder);
    }
});
