//! A trace for `ferrio import`: a byte chooses the format, the rest is the trace. The log is thrown away.

#![cfg_attr(feature = "fuzzer", no_main)]

mod target;

use std::fs::OpenOptions;
use std::path::Path;

use ferrio_trace::import::names::NameRules;
use ferrio_trace::import::select::ImportSelection;
use ferrio_trace::import::{ImportSettings, TraceFormat, guess, import};
use ferrio_trace::{IologVersion, IologWriter};

target::target!(|data: &[u8]| {
    let Some((&choice, trace)) = data.split_first() else { return };
    let _ = guess(trace, None);
    let path = Path::new("/dev/null");
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return };
    let settings = ImportSettings {
        selection: ImportSelection::default(),
        naming: NameRules::default(),
        window: usize::from(choice >> 4),
        keeps_times: choice & 8 != 0,
        max_bad_lines_percent: 100.0,
    };
    let format = TraceFormat::ALL[usize::from(choice) % TraceFormat::ALL.len()].0;
    let parser = format.parser(trace, None, None);
    // Whatever the trace, it ends with a log or an error.
    let _ = import(trace, format, parser, &settings, IologWriter::to(file, path, IologVersion::Three));
});
