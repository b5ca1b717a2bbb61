//! Expressions of the command line that are no job options: a byte chooses the parser, the rest is the text.

#![cfg_attr(feature = "fuzzer", no_main)]

mod target;

use ferrio_logs::LogName;
use ferrio_metrics::MetricsAddress;
use ferrio_nbd::Uri;
use ferrio_report::TerseVersion;
use ferrio_sweep::{MAX_POINTS, SweepVariable};
use ferrio_thresholds::Threshold;

target::target!(|data: &[u8]| {
    let Some((&choice, rest)) = data.split_first() else { return };
    let Ok(text) = str::from_utf8(rest) else { return };
    match choice % 6 {
        0 => match Threshold::parse(text) {
            Ok(threshold) => assert_eq!(threshold.expression(), text.trim()),
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        1 => match SweepVariable::parse(text) {
            Ok(variable) => {
                assert!((1..=MAX_POINTS).contains(&variable.values.len()));
                assert!(variable.name.ends_with(variable.option()));
                let _ = (variable.is_load(), variable.ascends());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        2 => drop(text.parse::<MetricsAddress>()),
        3 => {
            if let Err(error) = text.parse::<Uri>() {
                assert!(!error.to_string().is_empty());
            }
        }
        4 => {
            let _ = (text.parse::<TerseVersion>(), LogName::of(text.as_ref()));
        }
        _ => request(rest),
    }
});

/// A request for metrics.
fn request(mut bytes: &[u8]) {
    // The end of the input is the end of the connection.
    let _ = ferrio_metrics::request::read(&mut bytes);
}
