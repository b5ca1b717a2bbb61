use std::io::BufReader;

use proptest::prelude::*;

use super::*;

/// A record of version 7 in little-endian order: a synchronous write of 4 KiB that thread 77 queues on CPU 3, to sector 0x1122334455 of
/// device 8:16, with a payload of 3 bytes.
const WRITE_7: [u8; 48] = [
    0x07, 0x74, 0x61, 0x65, 0x2a, 0, 0, 0, // magic and version, sequence
    0xe8, 0x03, 0, 0, 0, 0, 0, 0, // 1000 ns
    0x55, 0x44, 0x33, 0x22, 0x11, 0, 0, 0, // sector
    0, 0x10, 0, 0, 0x01, 0, 0x1a, 0, // bytes, action
    77, 0, 0, 0, 0x10, 0, 0x80, 0, // thread, device
    3, 0, 0, 0, 5, 0, 3, 0, // CPU, error, payload
];

/// The same in big-endian order.
const WRITE_7_BIG: [u8; 48] = [
    0x65, 0x61, 0x74, 0x07, 0, 0, 0, 0x2a, //
    0, 0, 0, 0, 0, 0, 0x03, 0xe8, //
    0, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x55, //
    0, 0, 0x10, 0, 0, 0x1a, 0, 0x01, //
    0, 0, 0, 77, 0, 0x80, 0, 0x10, //
    0, 0, 0, 3, 0, 5, 0, 3, //
];

/// The same in version 8, as an append to a zone.
const APPEND_8: [u8; 64] = [
    0x08, 0x74, 0x61, 0x65, 0x2a, 0, 0, 0, // magic and version, sequence
    0xe8, 0x03, 0, 0, 0, 0, 0, 0, // 1000 ns
    0x55, 0x44, 0x33, 0x22, 0x11, 0, 0, 0, // sector
    0, 0x10, 0, 0, 77, 0, 0, 0, // bytes, thread
    0x01, 0, 0x18, 0, 0x01, 0, 0, 0, // action
    0x10, 0, 0x80, 0, 3, 0, 0, 0, // device, CPU
    5, 0, 3, 0, 0, 0, 0, 0, // error, payload
    0, 0, 0, 0, 0, 0, 0, 0, // nothing
];

fn write() -> TraceRecord {
    TraceRecord {
        time_ns: 1000,
        sector: 0x11_2233_4455,
        len: 4096,
        code: 0x1a_0001,
        pid: 77,
        device: (8, 16),
        cpu: 3,
        sequence: 42,
        error: 5,
        payload: 3,
    }
}

fn read(bytes: &[u8]) -> Result<Vec<TraceRecord>, String> {
    // The smallest buffer: a source may hand out its bytes in any pieces.
    let source = BufReader::with_capacity(1, bytes);
    let mut reader = TraceReader::new(source).map_err(|error| error.to_string())?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().map_err(|error| error.to_string())? {
        records.push(record);
    }
    Ok(records)
}

/// A record whose action and categories are these.
fn of_code(code: u64) -> TraceRecord {
    TraceRecord { code, ..write() }
}

#[test]
fn every_field_is_read_in_either_byte_order_and_payloads_are_skipped() {
    let bytes = [&WRITE_7[..], b"abc", &WRITE_7, b"def"].concat();
    assert_eq!(read(&bytes), Ok(vec![write(); 2]));
    let bytes = [&WRITE_7_BIG[..], b"abc", &WRITE_7_BIG, b"def"].concat();
    assert_eq!(read(&bytes), Ok(vec![write(); 2]));
    assert_eq!(write().offset(), 0x11_2233_4455 * 512);
}

#[test]
fn version_8_has_categories_of_zones_and_may_be_beside_version_7() {
    let append = of_code(0x1_0018_0001);
    let bytes = [&APPEND_8[..], b"abc", &WRITE_7, b"abc", &APPEND_8, b"abc"].concat();
    assert_eq!(read(&bytes), Ok(vec![append, write(), append]));
    assert_eq!((append.action(), append.request()), (TraceAction::Queue, Some(TraceRequest::Write)));
    for zone in 17..=21 {
        let management = of_code(1 << (16 + zone) | 0x12_0001);
        assert_eq!(management.request(), Some(TraceRequest::ZoneManagement), "category {zone}");
    }
}

#[test]
fn actions_are_those_of_requests_also_with_the_number_of_a_control_group() {
    let action = |code: u64| of_code(code).action();
    for of_cgroup in [0, 0x100] {
        let actions = [1, 2, 3, 7, 8].map(|code| action(code | of_cgroup));
        let merge = TraceAction::Merge;
        assert_eq!(actions, [TraceAction::Queue, merge, merge, TraceAction::Issue, TraceAction::Complete]);
    }
    assert_eq!(action(15), TraceAction::Other);
}

#[test]
fn categories_tell_the_request() {
    let request = |categories: u64, len: u32| TraceRecord { len, ..of_code(categories << 16 | 1) }.request();
    let (write, flush, notify, discard) = (1 << 1, 1 << 2, 1 << 10, 1 << 13);
    assert_eq!(request(1, 512), Some(TraceRequest::Read));
    assert_eq!(request(0, 512), Some(TraceRequest::Read));
    assert_eq!(request(write, 512), Some(TraceRequest::Write));
    assert_eq!(request(write | discard, 512), Some(TraceRequest::Discard));
    assert_eq!(request(write | flush, 0), Some(TraceRequest::Flush));
    assert_eq!(request(write | flush, 512), Some(TraceRequest::FlushAndWrite));
    assert_eq!(request(flush, 512), Some(TraceRequest::Flush));
    assert_eq!(request(notify | write, 512), None);
}

#[test]
fn a_record_that_the_end_cuts_is_left_out() {
    let whole = [&WRITE_7[..], b"abc", &APPEND_8, b"abc"].concat();
    for end in 4..whole.len() {
        let mut reader = TraceReader::new(&whole[..end]).unwrap();
        let mut records = 0;
        while reader.next_record().unwrap().is_some() {
            records += 1;
        }
        // A payload is not needed.
        assert_eq!(records, usize::from(end >= 48) + usize::from(end >= 48 + 3 + 64), "{end} bytes");
        assert_eq!(reader.is_cut(), end != 48 + 3, "{end} bytes");
    }
}

#[test]
fn what_is_no_trace_or_no_known_one_is_refused_with_its_place() {
    for bytes in [&b""[..], b"fio", b"fio version 3 iolog\n1 f add\n"] {
        assert_eq!(read(bytes).unwrap_err(), "file is not a blktrace");
    }
    let damaged = [&WRITE_7[..], b"abc", &WRITE_7_BIG].concat();
    assert_eq!(read(&damaged).unwrap_err(), "bad magic in blktrace data: 7746165 (record 2, at byte 51)");
    let old = [&[6], &WRITE_7[1..]].concat();
    let error = read(&old).unwrap_err();
    assert_eq!(error, "bad blktrace version 6 (record 1, at byte 0): versions 7 and 8 can be read");
    assert!(is_block_trace(&old) && is_block_trace(&WRITE_7_BIG) && !is_block_trace(b"fio"));
}

#[test]
fn a_merged_record_has_version_7_no_payload_and_no_control_group() {
    let written = |record: TraceRecord| read(&record.to_version_7()).unwrap();
    let plain = TraceRecord { payload: 0, ..write() };
    assert_eq!(written(write()), [plain]);
    assert_eq!(written(of_code(0x1a_0101)), [plain]);
    let append = written(of_code(0x1_0018_0001));
    assert_eq!((append[0].code, append[0].request()), (0x1a_0001, Some(TraceRequest::Write)));
}

mod merging {
    use std::io;

    use super::*;

    /// Reads of one sector at these times, after each of which it is completed.
    fn trace(times: &[u64], sector: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for &time_ns in times {
            for (code, time_ns) in [(0x1_0001, time_ns), (0x81_0008, time_ns + 1)] {
                let record = TraceRecord { code, time_ns, sector, ..write() };
                bytes.extend(record.to_version_7());
            }
        }
        bytes
    }

    fn merged(inputs: &[(&[u8], f64, u64)]) -> Vec<(u64, u64)> {
        let input = |&(bytes, percent, iterations): &(&'static [u8], f64, u64)| MergeInput {
            name: String::new(),
            open: move || Ok::<_, io::Error>(bytes),
            percent,
            iterations,
        };
        let leaked: Vec<(&'static [u8], f64, u64)> =
            inputs.iter().map(|&(bytes, percent, times)| (&*bytes.to_vec().leak(), percent, times)).collect();
        let mut merge = TraceMerge::new(leaked.iter().map(input).collect()).unwrap();
        let mut found = Vec::new();
        while let Some(record) = merge.next_record().unwrap() {
            assert_eq!(record.action(), TraceAction::Queue);
            found.push((record.time_ns, record.sector));
        }
        found
    }

    #[test]
    fn requests_come_in_the_order_of_time_and_ties_go_to_the_earlier_trace() {
        let (one, other) = (trace(&[10, 40, 50], 1), trace(&[20, 40, 60], 2));
        let want = [(10, 1), (20, 2), (40, 1), (40, 2), (50, 1), (60, 2)];
        assert_eq!(merged(&[(&one, 100.0, 1), (&other, 100.0, 1)]), want);
    }

    #[test]
    fn times_are_scaled_and_each_iteration_begins_where_the_one_before_ends() {
        let (one, other) = (trace(&[10, 39], 1), trace(&[100], 2));
        let want = [(5, 1), (19, 1), (25, 1), (39, 1), (45, 1), (59, 1), (100, 2)];
        assert_eq!(merged(&[(&one, 50.0, 3), (&other, 100.0, 1)]), want);
    }

    #[test]
    fn a_trace_that_is_not_in_order_lasts_until_its_latest_time_and_is_named() {
        let disordered = trace(&[10, 50, 20, 30, 25], 1);
        assert_eq!(merged(&[(&disordered, 100.0, 2)])[5..], [61, 101, 71, 81, 76].map(|time| (time, 1)));
        let input = |name: &str, bytes: &[u8]| MergeInput {
            name: name.to_owned(),
            open: {
                let bytes = bytes.to_vec();
                move || Ok(Cursor::new(bytes.clone()))
            },
            percent: 100.0,
            iterations: 2,
        };
        let inputs = vec![input("ordered", &trace(&[1, 1, 2], 1)), input("disordered", &disordered)];
        let mut merge = TraceMerge::new(inputs).unwrap();
        while merge.next_record().unwrap().is_some() {}
        assert_eq!(merge.out_of_order().collect::<Vec<_>>(), [("disordered", 2)]);
        assert_eq!(merge.truncated().count(), 0);
        let disordered = &disordered[..disordered.len() - 1];
        let mut merge =
            TraceMerge::new(vec![input("ordered", &trace(&[1], 1)), input("cut", disordered)]).unwrap();
        while merge.next_record().unwrap().is_some() {}
        assert_eq!(merge.truncated().collect::<Vec<_>>(), ["cut"]);
    }

    #[test]
    fn a_trace_without_requests_adds_nothing_however_often_it_is_merged() {
        let mut bytes = Vec::new();
        bytes.extend(of_code(0x82_0008).to_version_7());
        assert_eq!(merged(&[(&bytes, 100.0, u64::MAX)]), []);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn no_bytes_make_it_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        begins in prop::sample::select(vec![&b""[..], &WRITE_7, &WRITE_7_BIG, &APPEND_8]),
    ) {
        let bytes = [begins, &bytes].concat();
        let _ = read(&bytes);
        if let Ok(reader) = TraceReader::new(&bytes[..]) {
            let _ = TraceSummary::read(reader);
        }
    }
}
