//! A log that `compare` and `report` read: a byte chooses what it is about and whether it is compressed, the rest is the log.

#![cfg_attr(feature = "fuzzer", no_main)]

mod target;

use ferrio_job::LogKind;
use ferrio_logs::{LogContent, LogName, inflate_log};
use ferrio_report::SeriesFromLogs;

target::target!(|data: &[u8]| {
    let Some((&choice, log)) = data.split_first() else { return };
    let name = LogName {
        prefix: "a".to_owned(),
        kind: LogKind::ALL[usize::from(choice & 7) % LogKind::ALL.len()],
        number: (choice & 8 == 0).then_some(1),
        compressed: choice & 16 != 0,
    };
    if name.compressed {
        let mut rows = Vec::new();
        if inflate_log(log, &mut rows).is_ok() {
            assert!(rows.is_empty() || rows.ends_with(b"\n"), "a row is cut off");
        }
    }
    match LogContent::read(name, log) {
        Ok(read) => {
            let logs = [read];
            let run = SeriesFromLogs::of(&logs, None);
            let report = run.report(&logs);
            assert!(run.series.len() <= 1);
            assert!(!report.to_json().is_empty());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
