//! What `read_iolog` reads: a byte chooses the rules, the rest is an I/O log or a block trace.

#![cfg_attr(feature = "fuzzer", no_main)]

mod target;

use std::path::PathBuf;

use ferrio_job::{PerDirection, ReplayAction, ReplayRules};
use ferrio_trace::{DeviceNodes, StepError, StepReader, TraceReader, TraceSummary};

target::target!(|data: &[u8]| {
    let Some((&choice, log)) = data.split_first() else { return };
    let has = |bit: u8| choice & 1 << bit != 0;
    let rules = ReplayRules {
        no_stall: has(0),
        time_scale: if has(1) { 7 } else { 100 },
        scale: if has(2) { 3 } else { 1 },
        align: if has(3) { 4096 } else { 1 },
        redirect: has(4).then(|| PathBuf::from("file")),
        skips: PerDirection([has(5); 3]),
        skips_syncs: has(5),
        readonly: has(6),
        flush_replaces_write: has(7),
    };
    let find =
        |(major, minor): (u64, u64)| (major % 2 == 0).then(|| PathBuf::from(format!("{major}-{minor}")));
    if let Ok(mut steps) = StepReader::new(log, rules, DeviceNodes::Find(find)) {
        let (mut due_us, mut entries) = (0, log.len());
        loop {
            match steps.next_step() {
                Ok(None) => break,
                Ok(Some(step)) => {
                    assert!(step.due_us() >= due_us, "time goes back");
                    due_us = step.due_us();
                    let has_file = (step.file() as usize) < steps.summary().files.len();
                    assert!(has_file || step.action() == ReplayAction::Wait);
                }
                Err(StepError::Skipped { line, message }) => {
                    assert!(line > 0 && !message.is_empty());
                    // A problem costs at least a byte of the log.
                    entries = entries.checked_sub(1).expect("problems without end");
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    break;
                }
            }
        }
        steps.notes();
        steps.finish();
    }
    if let Ok(trace) = TraceReader::new(log) {
        let _ = TraceSummary::read(trace);
    }
});
