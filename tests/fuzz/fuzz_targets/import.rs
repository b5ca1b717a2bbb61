//! A trace for `ferrio import`: a byte chooses the format, the rest is the trace. The log is thrown away.

#![cfg_attr(feature = "fuzzer", no_main)]

mod target;

use std::fs::OpenOptions;
use std::path::Path;

use ferrio_trace::import::names::Naming;
use ferrio_trace::import::select::Selection;
use ferrio_trace::import::{Format, Settings, guess, import};
use ferrio_trace::{IologVersion, Writer};

target::target!(|data: &[u8]| {
    let Some((&choice, trace)) = data.split_first() else { return };
    let _ = guess(trace, None);
    let path = Path::new("/dev/null");
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return };
    let settings = Settings {
        selection: Selection::default(),
        naming: Naming::default(),
        window: usize::from(choice >> 4),
        keeps_times: choice & 8 != 0,
        most_bad_lines: 100.0,
    };
    let format = Format::ALL[usize::from(choice) % Format::ALL.len()].0;
    let parser = format.parser(trace, None, None);
    // Whatever the trace, it ends with a log or an error.
    let _ = import(trace, format, parser, &settings, Writer::to(file, path, IologVersion::Three));
});
