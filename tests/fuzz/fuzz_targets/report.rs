//! A report of ferrio or fio: what is read is written in all formats, compared with itself, and judged by thresholds. A document of sysbench is
//! merged with itself.

#![cfg_attr(feature = "fuzzer", no_main)]

mod target;

use std::path::PathBuf;

use ferrio_compare::{MeasuredRun, Side, compare};
use ferrio_report::{Format, Formats, TerseVersion, read_all};
use ferrio_sysbench::report::{NamedDocument, SysbenchDocument, merged};
use ferrio_thresholds::{Threshold, judge};

/// A document of sysbench, together with itself.
fn of_sysbench(document: SysbenchDocument) {
    let named = |name: &str| NamedDocument { name: name.to_owned(), document: document.clone() };
    if let Ok(both) = merged(&[named("one"), named("other")]) {
        assert!(both.aggregate_text().ends_with('\n') && both.to_json().ends_with('\n'));
    }
}

target::target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Some(document) = SysbenchDocument::read(text) {
        document.map_or_else(|error| assert!(!error.to_string().is_empty()), of_sysbench);
        return;
    }
    let reports = match read_all(text) {
        Ok(reports) => reports,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let thresholds: Vec<Threshold> = ["iops<1k", "read_clat_p99>1ms", "errors>0"]
        .into_iter()
        .filter_map(|text| Threshold::parse(text).ok())
        .collect();
    let mut runs = Vec::new();
    for report in reports.into_iter().take(3) {
        for format in [Format::Normal, Format::JsonPlus, Format::Terse, Format::OpenMetrics, Format::Html] {
            // A report without jobs has no lines in the terse format.
            let shown = report.in_formats(Formats::only(format), TerseVersion::default());
            assert!(!shown.is_empty() || report.jobs.is_empty());
        }
        assert_eq!(judge(&thresholds, &report).len(), thresholds.len());
        let again = read_all(&report.to_json()).expect("what is written can be read");
        assert_eq!(again.len(), 1);
        runs.push(MeasuredRun { path: PathBuf::from("run.json"), report, logged: Vec::new(), events: None });
    }
    let side = |name: &str| Side { name: name.to_owned(), runs: runs.clone() };
    let comparison = compare(&[side("one"), side("other")], 99.0);
    for shown in [ferrio_compare::text, ferrio_compare::markdown, ferrio_compare::json] {
        assert!(shown(&comparison).ends_with('\n'));
    }
});
