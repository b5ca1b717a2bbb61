//! The value of one option: two bytes choose the row of the catalogue, the rest is the value. Read both ways.

#![cfg_attr(feature = "fuzzer", no_main)]

mod shared;
mod target;

use ferrio_job::ArgOrigin;
use ferrio_jobfile::{Builder, Dialect, Environment, OptionScope, rows};

target::target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_at_checked(2) else { return };
    let Ok(text) = str::from_utf8(rest) else { return };
    let row = &rows()[usize::from(u16::from_le_bytes([choice[0], choice[1]])) % rows().len()];
    for dialect in [Dialect::Ferrio, Dialect::Fio] {
        let mut builder = Builder::new(Environment { dialect, ..shared::environment(&[b"pattern"]) });
        let mut give = |name: &str, value: &str| {
            let origin = ArgOrigin { index: 1, text: format!("--{name}={value}") };
            builder.command_option(name, Some(value), origin);
        };
        give("name", "a");
        if let OptionScope::Engines(engines) = row.scope {
            give("ioengine", engines[0]);
        }
        give(row.name, text);
        give(row.name, text);
        shared::finish(builder);
    }
});
