//! Lines of the published traces and of tables.

use super::*;
use crate::IoAction;

fn events(mut columns: ColumnParser, text: &str) -> (Vec<TraceEvent>, TraceContents) {
    let mut found = TraceContents::default();
    for line in text.lines() {
        columns.line(line.as_bytes(), &mut found).unwrap_or_else(|why| panic!("{line}: {why}"));
    }
    (std::mem::take(&mut found.events), found)
}

fn misfit(mut columns: ColumnParser, text: &str) -> String {
    let mut found = TraceContents::default();
    let results = text.lines().map(|line| columns.line(line.as_bytes(), &mut found));
    results.last().unwrap().unwrap_err().into_owned()
}

fn io(action: IoAction, offset: u64, len: u64) -> TraceEventKind {
    TraceEventKind::Io { action, offset, len }
}

#[test]
fn ticks_of_windows_are_100_ns() {
    let (events, found) = events(
        ColumnParser::of(&MSR),
        "128166372003061629,hm,0,Read,383496192,32768,413\n128166372016382155,hm,1,Write,2822144,4096,2\n",
    );
    assert_eq!(events[1].time_ns - events[0].time_ns, 1_332_052_600);
    assert_eq!((events[0].took_ns, events[0].what), (Some(41_300), io(IoAction::Read, 383_496_192, 32768)));
    assert_eq!(events[1].what, io(IoAction::Write, 2_822_144, 4096));
    assert_eq!((found.targets.name(0), found.targets.name(1)), (&b"hm_0"[..], &b"hm_1"[..]));
}

#[test]
fn each_published_layout_has_its_units() {
    let text = "Timestamp,Response,IOType,LUN,Offset,Size\n1455592201.5,0.002,W,3,1048576,8192\n1455592202.0,,R,3,0,512\n";
    let (systor, found) = events(ColumnParser::of(&SYSTOR), text);
    assert_eq!(systor[0].what, io(IoAction::Write, 1_048_576, 8192));
    assert_eq!((systor[0].took_ns, systor[1].took_ns), (Some(2_000_000), None));
    assert_eq!(systor[1].time_ns - systor[0].time_ns, 500_000_000);
    assert_eq!(found.targets.name(0), b"lun3");
    let (alibaba, _) = events(ColumnParser::of(&ALIBABA), "419,W,8792731648,16384,1577808000000073\n");
    assert_eq!(
        (alibaba[0].time_ns, alibaba[0].what),
        (1_577_808_000_000_073_000, io(IoAction::Write, 8_792_731_648, 16384))
    );
    let (tencent, _) =
        events(ColumnParser::of(&TENCENT), "1538323200,12910952,128,0,1063\n1538323201,8,1,1,1063\n");
    assert_eq!(tencent[0].what, io(IoAction::Read, 12_910_952 * 512, 65536));
    assert_eq!(tencent[1].what, io(IoAction::Write, 4096, 512));
    let (spc, found) = events(ColumnParser::of(&SPC), "0,303567,3584,w,0.026214\n1,55590,3072,R,0.041353\n");
    assert_eq!((spc[0].time_ns, spc[0].what), (26_214_000, io(IoAction::Write, 303_567 * 512, 3584)));
    assert_eq!(found.targets.name(1), b"asu1");
}

#[test]
fn lines_of_other_forms_say_what_is_wrong() {
    let msr = |line| misfit(ColumnParser::of(&MSR), line);
    assert_eq!(msr("128166372003061629,hm,0,Read,383496192,32768"), "7 fields are expected");
    assert_eq!(msr("128166372003061629,hm,0,Read,383496192,32768,413,9"), "7 fields are expected");
    assert_eq!(msr("128166372003061629,hm,0,Copy,383496192,32768,413"), "`Copy` is no kind of I/O");
    assert_eq!(msr("1,hm,0,Read,x,32768,413"), "`x` is no offset");
    assert_eq!(msr("soon,hm,0,Read,1,32768,413"), "`soon` is no time");
    assert!(msr("1,hm,0,Read,18446744073709551615,2,413").contains("beyond"));
}

const BIOSNOOP: &str = "\
Tracing block device I/O... Hit Ctrl-C to end.
TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  QUE(ms) LAT(ms)
0.000500    supervise      1950    sdb       W 13092560   4096      0.10    0.30
0.001000    Web Content    1951    sdb       R 16         8192      0.00    0.50
0.002000    jbd2/sdb-8     300     sdb       WS 64        4096      0.00    0.50
0.003000    kworker/1:1H   301     sdb       FF 18446744073709551615 0      0.00    0.20
";

#[test]
fn times_of_biosnoop_are_those_of_completion() {
    let (events, found) = events(ColumnParser::named(), BIOSNOOP);
    let begin: Vec<_> = events.iter().map(|event| event.time_ns).collect();
    assert_eq!(begin, [100_000, 500_000, 1_500_000, 2_800_000]);
    assert_eq!(events[0].what, io(IoAction::Write, 13_092_560 * 512, 4096));
    assert_eq!((events[1].pid, events[1].what), (Some(1951), io(IoAction::Read, 8192, 8192)));
    assert_eq!(events[3].what, io(IoAction::Sync, 0, 0));
    assert_eq!(found.targets.name(0), b"sdb");
}

#[test]
fn a_table_with_commas_names_its_columns_and_units() {
    let text = "start_us,rwbs,device,sector,nr_sector\n10,R,sda,8,16\n2000,D,sda,0,8\n";
    let (events, _) = events(ColumnParser::named(), text);
    assert_eq!((events[0].time_ns, events[0].what), (10_000, io(IoAction::Read, 4096, 8192)));
    assert_eq!((events[1].time_ns, events[1].what), (2_000_000, io(IoAction::Trim, 0, 4096)));
}

#[test]
fn times_without_a_unit_are_seconds_unless_they_are_too_large() {
    let unit = |time: &str| {
        let text = format!("time,rwbs,device,sector,bytes\n{time},R,sda,8,512\n");
        let (events, found) = events(ColumnParser::named(), &text);
        (events[0].time_ns, found.remarks.assumed_unit.unwrap())
    };
    assert_eq!(unit("1.5"), (1_500_000_000, "seconds"));
    assert_eq!(unit("1700000000"), (1_700_000_000 * SECOND, "seconds"));
    assert_eq!(unit("1700000000123"), (1_700_000_000_123 * MILLI, "milliseconds"));
    assert_eq!(unit("1700000000123456"), (1_700_000_000_123_456 * MICRO, "microseconds"));
    assert_eq!(unit("1700000000123456789"), (1_700_000_000_123_456_789, "nanoseconds"));
    let (_, found) = events(ColumnParser::named(), BIOSNOOP);
    assert_eq!(found.remarks.assumed_unit, None);
}

#[test]
fn a_table_without_offsets_is_refused() {
    let text = "TIME(ms)     DISK    COMM             PID    LAT(ms)\n";
    assert_eq!(misfit(ColumnParser::named(), text), "no column has the kind of I/O (T, TYPE, RWBS)");
    let text = "TIME(s) T BYTES LAT(ms)\n";
    assert_eq!(misfit(ColumnParser::named(), text), "no column has where it begins (SECTOR, OFFSET)");
    assert!(misfit(ColumnParser::named(), "1 2 3 4\n").contains("names of the columns"));
}
