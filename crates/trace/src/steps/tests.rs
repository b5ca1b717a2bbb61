use std::io;

use ferrio_job::{LoggedFile, ReplayAction};

use proptest::prelude::*;

use super::*;
use crate::{MergeError, MergeInput, TraceMerge};

/// The steps of a log, and what is wrong with it.
fn read(log: &str, rules: ReplayRules) -> (Vec<ReplayStep>, Vec<String>, Option<ReplaySummary>) {
    let mut reader = StepReader::new(log.as_bytes(), rules, DeviceNodes::Known(HashMap::new())).unwrap();
    let (mut steps, mut problems) = (Vec::new(), Vec::new());
    loop {
        match reader.next_step() {
            Ok(Some(step)) => steps.push(step),
            Ok(None) => break,
            Err(error @ StepError::Unusable { .. }) => {
                problems.push(error.to_string());
                break;
            }
            Err(StepError::Skipped { line, message }) => problems.push(format!("{line}: {message}")),
            Err(error) => problems.push(error.to_string()),
        }
    }
    (steps, problems, reader.finish())
}

const LOG: &str = "fio version 3 iolog\n1 a add\n1 b add\n2 a open\n3 a write 10000 512\n4 b open\n\
                   5 b read 4096 4096\n9 a sync 0 0\n10 a close\n10 b close\n";

#[test]
fn lines_of_several_files_become_steps_with_their_files() {
    let (steps, problems, summary) = read(LOG, ReplayRules::default());
    use ReplayAction::{Close, Open, Read, Sync, Write};
    let want = [
        ReplayStep::new(1, Open, 0, 0, 0),
        ReplayStep::new(2, Write, 0, 10000, 512),
        ReplayStep::new(3, Open, 1, 0, 0),
        ReplayStep::new(4, Read, 1, 4096, 4096),
        ReplayStep::new(8, Sync, 0, 0, 0),
        ReplayStep::new(9, Close, 0, 0, 0),
        ReplayStep::new(9, Close, 1, 0, 0),
    ];
    assert_eq!((steps.as_slice(), problems.len()), (&want[..], 0));
    let summary = summary.unwrap();
    let files: Vec<_> = summary.files.iter().map(|file| (file.path.to_str().unwrap(), file.end)).collect();
    assert_eq!(files, [("a", 10512), ("b", 8192)]);
    assert_eq!((summary.bytes(), summary.syncs, summary.last_due_us), (4608, 1, 9));
}

#[test]
fn rules_change_offsets_times_files_and_kinds() {
    let skips = ferrio_job::PerDirection([true, false, false]);
    let redirect = Some(PathBuf::from("c"));
    let rules = ReplayRules { time_scale: 50, scale: 2, align: 4096, redirect, skips, ..Default::default() };
    let (steps, _, summary) = read(LOG, rules);
    use ReplayAction::{Close, Open, Sync, Write};
    let want = [
        ReplayStep::new(2, Open, 0, 0, 0),
        ReplayStep::new(4, Write, 0, 4096, 512),
        ReplayStep::new(16, Sync, 0, 0, 0),
        ReplayStep::new(18, Close, 0, 0, 0),
    ];
    assert_eq!(steps, want);
    assert_eq!(summary.unwrap().files, [LoggedFile { path: PathBuf::from("c"), end: 4608 }]);
}

#[test]
fn problems_have_the_number_of_their_line() {
    let log =
        "fio version 2 iolog\nd add\nd open\nd read 0 0\nbad\nd read 0 1\nd close\nd close\ne open\nd open\n";
    let (steps, problems, _) = read(log, ReplayRules::default());
    assert_eq!(steps.len(), 3);
    let want = [
        "4: an I/O of 0 bytes",
        "5: bad iolog2: bad",
        "8: the file d is closed but not open",
        "line 9: the file e is used before a line adds it",
    ];
    assert_eq!(problems, want);
}

#[test]
fn ios_may_be_longer_than_4_gib() {
    let log = "fio version 2 iolog\nd add\nd open\nd trim 4096 5368709120\nd trim 0 281474976710656\n";
    let (steps, problems, summary) = read(log, ReplayRules::default());
    assert_eq!(steps[1..], [ReplayStep::new(0, ReplayAction::Trim, 0, 4096, 5 << 30)]);
    assert_eq!(problems, ["5: an I/O of 2^48 bytes or more"]);
    assert_eq!(summary.unwrap().files[0].end, (5 << 30) + 4096);
}

#[test]
fn a_log_that_does_nothing_has_no_summary() {
    assert_eq!(read("fio version 2 iolog\nd add\nd open\nd sync 0 0\n", ReplayRules::default()).2, None);
    let (steps, _, summary) = read(
        "fio version 2 iolog\nd add\nd wait 5 0\n",
        ReplayRules { no_stall: true, ..Default::default() },
    );
    assert_eq!((steps.len(), summary.is_some()), (0, true));
}

/// A record that begins like one of a block trace.
fn record() -> impl Strategy<Value = Vec<u8>> {
    (prop::sample::select(vec![7_u8, 7, 7, 8, 6]), prop::collection::vec(any::<u8>(), 60), 0..3_u8).prop_map(
        |(version, mut rest, payload)| {
            // Often a request that is queued, on one of few devices.
            if rest[0] > 60 {
                let (category, minor) = ([rest[25] & 0x27, rest[26] & 0x24], rest[0] & 3);
                rest[24..28].copy_from_slice(&[1, 0, category[0], category[1]]);
                rest[32..36].copy_from_slice(&[minor, 0, 0x80, 0]);
            }
            rest[42..44].copy_from_slice(&[payload, 0]);
            rest.truncate(if version == 8 { 60 } else { 44 });
            [&[version, 0x74, 0x61, 0x65][..], &rest, &b"xyz"[..usize::from(payload)]].concat()
        },
    )
}

/// A line of a log, or something like it.
fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => "[0-9]{1,3} [ab] (add|open|close|read|write|trim|sync|wait)( [0-9]{1,20} [0-9]{1,11})?",
        2 => "[ab] (add|open|close|read|write|wait) [0-9]{1,20} [0-9]{1,5}",
        1 => "fio version [23] iolog",
        1 => "[ -~]{0,40}",
    ]
    .prop_map(|line| [line.as_bytes(), b"\n"].concat())
}

/// Steps come in the order of time and of known files, problems in that of their entries, and then it ends.
fn check_steps(bytes: &[u8], rules: ReplayRules) {
    let find = |(_, minor): DeviceNumber| (minor < 3).then(|| PathBuf::from(format!("{minor}")));
    let mut reader = match StepReader::new(bytes, rules, DeviceNodes::Find(find)) {
        Ok(reader) => reader,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let (mut due_us, mut last) = (0, 0);
    loop {
        match reader.next_step() {
            Ok(None) => break,
            Ok(Some(step)) => {
                assert!(step.due_us() >= due_us);
                due_us = step.due_us();
                let has_file = (step.file() as usize) < reader.summary().files.len();
                assert!(has_file || step.action() == ReplayAction::Wait);
            }
            Err(StepError::Skipped { line, .. } | StepError::LeftOut { line, .. }) => {
                assert!(line > last && line <= bytes.len() as u64, "{line} after {last}");
                last = line;
            }
            Err(error @ StepError::Unusable { line, .. }) => {
                assert!(line >= last && error.to_string().contains(&line.to_string()));
                break;
            }
            Err(StepError::Unreadable(IologReadError::Trace(error))) => {
                let named = error.to_string();
                assert!(named.contains("(record ") && named.contains("at byte "), "{named}");
                break;
            }
            Err(StepError::Unreadable(error)) => {
                assert!(matches!(error, IologReadError::NoDevice(_)), "{error}");
                break;
            }
        }
    }
    reader.notes();
    reader.finish();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn whatever_a_log_contains_its_steps_are_in_order_and_its_problems_have_their_places(
        header in prop::sample::select(vec!["", "fio version 2 iolog\n", "fio version 3 iolog\n1 a add\n2 a open\n"]),
        lines in prop::collection::vec(line(), 0..40),
        no_stall in any::<bool>(),
        align in prop::sample::select(vec![1, 4096]),
        redirect in prop::sample::select(vec![None, Some(PathBuf::from("c"))]),
    ) {
        let rules = ReplayRules { no_stall, align, redirect, ..ReplayRules::default() };
        check_steps(&[header.as_bytes(), &lines.concat()].concat(), rules);
    }

    #[test]
    fn whatever_a_trace_contains_the_same_holds(
        records in prop::collection::vec(record(), 0..30),
        cut in 0..40_usize,
        redirect in prop::sample::select(vec![None, Some(PathBuf::from("c"))]),
        flush_replaces_write in any::<bool>(),
    ) {
        let bytes = records.concat();
        let rules = ReplayRules { redirect, flush_replaces_write, ..ReplayRules::default() };
        check_steps(&bytes[..bytes.len().saturating_sub(cut)], rules);
    }

    #[test]
    fn a_merge_has_no_more_records_than_its_traces_and_names_what_it_cannot_read(
        traces in prop::collection::vec((prop::collection::vec(record(), 0..12), 1..1000_u32, 1..4_u64), 1..4),
    ) {
        let most: u64 = traces.iter().map(|(records, _, iterations)| records.len() as u64 * iterations).sum();
        let inputs = traces.iter().enumerate().map(|(name, (records, percent, iterations))| {
            let bytes = records.concat();
            MergeInput {
                name: name.to_string(),
                open: move || Ok(Cursor::new(bytes.clone())),
                percent: f64::from(*percent),
                iterations: *iterations,
            }
        });
        let merged = TraceMerge::new(inputs.collect()).and_then(|mut merge| {
            let mut records = 0;
            while merge.next_record()?.is_some() {
                records += 1;
            }
            Ok(records)
        });
        match merged {
            Ok(records) => prop_assert!(records <= most),
            Err(MergeError::Open { name, .. } | MergeError::Read { name, .. }) => {
                prop_assert!(name.parse::<usize>().is_ok_and(|at| at < traces.len()));
            }
        }
    }
}

/// A source of any length whose bytes nobody keeps.
struct Endless<'a> {
    begin: &'a [u8],
    left: u64,
}

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.begin.is_empty() {
            return self.begin.read(buffer);
        }
        let read = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        // Memory that grew with a line would be asked for in one piece.
        assert!(buffer.len() <= 1 << 20, "{} bytes at once", buffer.len());
        buffer[..read].fill(b'x');
        self.left -= read as u64;
        Ok(read)
    }
}

#[test]
fn a_line_of_a_hundred_megabytes_is_passed_over_in_a_buffer_of_fixed_size() {
    let source = Endless { begin: b"fio version 2 iolog\n", left: 100 << 20 };
    let mut reader =
        StepReader::new(source, ReplayRules::default(), DeviceNodes::Known(HashMap::new())).unwrap();
    let problem = reader.next_step().unwrap_err();
    assert!(matches!(problem, StepError::Skipped { line: 2, .. }), "{problem}");
    assert!(matches!(reader.next_step(), Ok(None)));
}
