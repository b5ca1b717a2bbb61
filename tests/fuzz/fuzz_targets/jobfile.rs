//! A whole job file with the files it may include: texts between NUL bytes, the job file first. Read both ways.

#![cfg_attr(feature = "fuzzer", no_main)]

mod shared;
mod target;

use ferrio_jobfile::{Builder, Dialect, Environment};

target::target!(|data: &[u8]| {
    let mut files = data.split(|&byte| byte == 0);
    let first = files.next().unwrap_or_default();
    let rest: Vec<&[u8]> = files.collect();
    for dialect in [Dialect::Ferrio, Dialect::Fio] {
        let mut builder = Builder::new(Environment { dialect, ..shared::environment(&rest) });
        builder.file("d/j.fio", first);
        if let Some(second) = rest.first() {
            builder.file("k.fio", second);
        }
        shared::finish(builder);
    }
});
