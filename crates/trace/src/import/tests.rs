//! Whole imports, from the lines of a trace to the log.

use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::select::{Pattern, SelectedIo};
use super::*;
use crate::{IologReader, IologVersion, LogAction};

fn settings() -> ImportSettings {
    ImportSettings {
        selection: ImportSelection::default(),
        naming: NameRules { keeps_paths: true, ..NameRules::default() },
        window: 1000,
        keeps_times: false,
        max_bad_lines_percent: 10.0,
    }
}

fn run(
    text: &[u8],
    format: TraceFormat,
    settings: &ImportSettings,
) -> Result<(String, ImportSummary), ImportError> {
    let place = TempDir::new().unwrap();
    let path = place.path().join("log");
    let log = IologWriter::append(&path, IologVersion::Three).unwrap();
    let parser = format.parser(text, None, None);
    let summary = import(text, format, parser, settings, log)?;
    Ok((fs::read_to_string(path).unwrap(), summary))
}

const MSR: &str = "\
128166372003061629,hm,0,Read,383496192,32768,413
128166372016382155,hm,1,Write,2822144,4096,2000000000
128166372026382245,hm,1,Write,2822144,65536,1
128166372026382155,hm,0,Read,2822144,4096,1
";

#[test]
fn a_line_with_an_impossible_length_is_a_bad_one() {
    let long = |bytes: u64| format!("{MSR}128166372036382155,hm,0,Read,0,{bytes},1\n");
    let with = |bytes| {
        run(
            long(bytes).as_bytes(),
            TraceFormat::Msr,
            &ImportSettings { max_bad_lines_percent: 100.0, ..settings() },
        )
        .unwrap()
    };
    let (log, summary) = with(4_096_960_094_096_960_096);
    assert_eq!((summary.ios(), summary.bad.count), (4, 1));
    assert_eq!(summary.bad.first_reason(), "the I/O is longer than 128 TiB");
    assert!(!log.contains(" 0 4096"), "{log}");
    let (_, summary) = with(5 << 31);
    assert_eq!((summary.ios(), summary.bad.count), (4 + 6, 0), "a long one is several rows");
}

#[test]
fn a_log_begins_at_one_microsecond_and_opens_files_at_their_first_io() {
    let (log, summary) = run(MSR.as_bytes(), TraceFormat::Msr, &settings()).unwrap();
    let want = "\
fio version 3 iolog
1 hm_0 add
1 hm_0 open
1 hm_0 read 383496192 32768
1332053 hm_1 add
1332053 hm_1 open
1332053 hm_1 write 2822144 4096
2332053 hm_0 read 2822144 4096
2332062 hm_1 write 2822144 65536
2332062 hm_0 close
2332062 hm_1 close
";
    assert_eq!(log, want);
    assert_eq!((summary.lines, summary.span_us(), summary.late, summary.deepest), (4, 2_332_061, 0, 2));
    assert_eq!((summary.of(SelectedIo::Read), summary.of(SelectedIo::Write)), ((2, 36864), (2, 69632)));
    let needed: Vec<u64> = summary.files.iter().map(|file| file.usage.must_exist_up_to).collect();
    assert_eq!(needed, [383_528_960, 0]);
}

#[test]
fn a_part_of_a_trace_is_a_log_of_its_own() {
    let mut some = settings();
    some.selection = ImportSelection {
        files: vec![Pattern::new("hm_1")],
        from_ns: 1_000_000_000,
        ..ImportSelection::default()
    };
    // The time counts from the first I/O that is chosen.
    let (log, summary) = run(MSR.as_bytes(), TraceFormat::Msr, &some).unwrap();
    assert_eq!(
        log,
        "fio version 3 iolog\n10 hm_1 add\n10 hm_1 open\n10 hm_1 write 2822144 65536\n10 hm_1 close\n"
    );
    assert_eq!(summary.skipped[SkipReason::LeftOut as usize], 3);
    some.selection.files = vec![Pattern::new("no-*")];
    let Err(ImportError::Nothing(summary)) = run(MSR.as_bytes(), TraceFormat::Msr, &some) else { panic!() };
    assert_eq!(summary.skipped[SkipReason::LeftOut as usize], 4);
}

#[test]
fn times_may_stay_those_of_the_trace() {
    let kept = ImportSettings { keeps_times: true, ..settings() };
    let (log, _) = run(b"0,8,512,r,5.5\n0,8,512,r,6\n", TraceFormat::Spc, &kept).unwrap();
    assert_eq!(log.lines().nth(3), Some("5500000 asu0 read 4096 512"));
    assert_eq!(log.lines().nth(4), Some("6000000 asu0 read 4096 512"));
}

#[test]
fn what_comes_too_late_for_the_window_has_the_time_of_its_predecessor() {
    let narrow = ImportSettings { window: 0, ..settings() };
    let (log, summary) =
        run(b"0,8,512,r,5.5\n0,16,512,r,5.2\n0,8,512,r,6\n", TraceFormat::Spc, &narrow).unwrap();
    let times: Vec<&str> = log.lines().skip(3).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!((times, summary.late), (vec!["1", "1", "500001", "500001"], 1));
}

#[test]
fn ios_longer_than_a_log_can_say_are_split() {
    let (log, summary) = run(b"1,W,0,4294967296,5\n", TraceFormat::Alibaba, &settings()).unwrap();
    let ios: Vec<&str> = log.lines().filter(|line| line.contains("write")).collect();
    let want = [
        "1 device1 write 0 2147479552",
        "1 device1 write 2147479552 2147479552",
        "1 device1 write 4294959104 8192",
    ];
    assert_eq!((ios, summary.of(SelectedIo::Write)), (want.to_vec(), (3, 1 << 32)));
}

#[test]
fn a_file_is_opened_again_after_its_last_descriptor_was_closed() {
    let trace = r#"
1 1.0 openat(AT_FDCWD, "/d/f", O_RDONLY) = 3
1 1.0 openat(AT_FDCWD, "/d/unused", O_RDONLY) = 4
1 1.0 close(4) = 0
1 1.1 read(3, "..", 10) = 10
1 1.2 close(3) = 0
1 1.3 openat(AT_FDCWD, "/d/f", O_RDONLY) = 3
1 1.4 read(3, "..", 10) = 10
"#;
    let (log, _) = run(trace.as_bytes(), TraceFormat::Strace, &settings()).unwrap();
    let lines: Vec<&str> = log.lines().skip(1).map(|line| line.split_once(' ').unwrap().1).collect();
    let want = [
        "/d/f add",
        "/d/f open",
        "/d/f read 0 10",
        "/d/f close",
        "/d/f open",
        "/d/f read 0 10",
        "/d/f close",
    ];
    assert_eq!(lines, want);
}

#[test]
fn lines_that_do_not_fit_are_named_up_to_a_share() {
    let many: String = (0..100).map(|at| format!("0,{at},512,r,{at}.5\n")).collect();
    let text = format!("{many}oops\n0,1,512,x,1\n");
    let (_, summary) = run(text.as_bytes(), TraceFormat::Spc, &settings()).unwrap();
    assert_eq!(summary.bad.first[0], (101, "oops".to_owned(), "5 fields are expected".to_owned()));
    assert_eq!((summary.bad.count, summary.bad.first[1].0), (2, 102));
    let strict = ImportSettings { max_bad_lines_percent: 0.0, ..settings() };
    let error = run(text.as_bytes(), TraceFormat::Spc, &strict).unwrap_err().to_string();
    assert!(
        error.starts_with("2 of 102 lines do not fit the format spc; the first is line 101: "),
        "{error}"
    );
    let endless = std::iter::repeat_n("no\n", 20_000).collect::<String>();
    let Err(ImportError::WrongFormat { lines, .. }) = run(endless.as_bytes(), TraceFormat::Spc, &settings())
    else {
        panic!()
    };
    assert_eq!(lines, 10_000, "it is given up early");
}

#[test]
fn wrong_lines_end_an_import_early_wherever_they_are() {
    // Line 10000 is the first one that fits.
    let text = ["no\n".repeat(9999), "0,1,512,r,1\n".repeat(10_001)].concat();
    let Err(ImportError::WrongFormat { lines, .. }) = run(text.as_bytes(), TraceFormat::Spc, &settings())
    else {
        panic!()
    };
    assert_eq!(lines, 10_000);
    let lenient = ImportSettings { max_bad_lines_percent: 60.0, ..settings() };
    assert_eq!(
        run(text.as_bytes(), TraceFormat::Spc, &lenient).unwrap_err().to_string().split(' ').nth(2),
        Some("10000")
    );
    let lenient = ImportSettings { max_bad_lines_percent: 100.0, ..settings() };
    assert_eq!(run(text.as_bytes(), TraceFormat::Spc, &lenient).unwrap().1.lines, 20_000);
}

#[test]
fn a_trace_is_read_only_as_far_as_the_log_needs_it() {
    let text: String = (0..5000).map(|at| format!("0,{at},512,r,{at}.5\n")).collect();
    let selections = [
        ImportSelection { limit: Some(10), ..ImportSelection::default() },
        ImportSelection { until_ns: Some(10_000_000_000), ..ImportSelection::default() },
    ];
    for selection in selections {
        let some = ImportSettings { selection, window: 100, ..settings() };
        let (_, summary) = run(text.as_bytes(), TraceFormat::Spc, &some).unwrap();
        assert_eq!((summary.ios(), summary.lines, summary.is_cut), (10, 111, true));
    }
    assert!(!run(text.as_bytes(), TraceFormat::Spc, &settings()).unwrap().1.is_cut);
}

#[test]
fn ios_that_are_left_out_are_not_in_flight() {
    let depth = |selection| {
        let some = ImportSettings { selection, ..settings() };
        run(MSR.as_bytes(), TraceFormat::Msr, &some).unwrap().1.deepest
    };
    assert_eq!(depth(ImportSelection::default()), 2);
    assert_eq!(depth(ImportSelection { limit: Some(1), ..ImportSelection::default() }), 1);
    assert_eq!(
        depth(ImportSelection { without: vec![Pattern::new("hm_1")], ..ImportSelection::default() }),
        1
    );
    let queued =
        "8,16 0 1 0.0 7 Q R 8 + 8 [a]\n8,16 0 2 0.1 7 Q R 16 + 8 [a]\n8,16 0 3 0.2 7 C R 8 + 8 [0]\n";
    let some = ImportSettings {
        selection: ImportSelection { limit: Some(1), ..ImportSelection::default() },
        ..settings()
    };
    assert_eq!(run(queued.as_bytes(), TraceFormat::Blkparse, &settings()).unwrap().1.deepest, 2);
    assert_eq!(run(queued.as_bytes(), TraceFormat::Blkparse, &some).unwrap().1.deepest, 0, "it is unknown");
}

#[test]
fn a_full_disk_ends_the_import() {
    let log = IologWriter::append("/dev/full".as_ref(), IologVersion::Three).unwrap();
    let parser = TraceFormat::Msr.parser(b"", None, None);
    let error = import(MSR.as_bytes(), TraceFormat::Msr, parser, &settings(), log).unwrap_err();
    assert!(error.to_string().starts_with("cannot write the I/O log /dev/full: "), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever the trace, the log is one that can be replayed: known files, times that do not go back, lengths that fit.
    #[test]
    fn every_log_can_be_replayed(
        rows in prop::collection::vec((0..3_u8, 0..1_000_000_u64, 1..5_000_000_000_u64, any::<bool>(), 0..10_000_000_u64), 1..100),
        window in 0..20_usize,
    ) {
        let text: String = rows.iter().map(|(device, offset, len, writes, time)| {
            format!("{device},{},{offset},{len},{time}\n", if *writes { 'W' } else { 'R' })
        }).collect();
        let (log, summary) = run(text.as_bytes(), TraceFormat::Alibaba, &ImportSettings { window, ..settings() }).unwrap();
        let mut reader = IologReader::new(log.as_bytes()).unwrap();
        let mut open = std::collections::HashMap::new();
        let (mut before, mut bytes) = (0, 0_u64);
        while let Some(line) = reader.next_entry().unwrap() {
            let line = line.unwrap();
            prop_assert!(line.time_us >= before.max(1));
            before = line.time_us;
            match line.what {
                LogAction::File(FileAction::Add) => prop_assert_eq!(open.insert(line.name.to_vec(), false), None),
                LogAction::File(action) => prop_assert_eq!(open.insert(line.name.to_vec(), action == FileAction::Open), Some(action == FileAction::Close)),
                LogAction::Io { len, .. } => {
                    prop_assert_eq!(open[line.name], true);
                    bytes += len;
                }
                LogAction::Wait { .. } => prop_assert!(false),
            }
        }
        prop_assert!(open.values().all(|open| !open));
        let want: u64 = rows.iter().map(|(_, _, len, ..)| len).sum();
        prop_assert_eq!((bytes, summary.of(SelectedIo::Read).1 + summary.of(SelectedIo::Write).1), (want, want));
    }

    /// Whatever the names in a trace, the options and the form of blkparse, the log is one that the reader takes.
    #[test]
    fn every_log_can_be_read(
        names in prop::collection::vec("[a /.:,\\\\\u{e9}\u{a0}-]{1,12}", 1..6),
        rows in prop::collection::vec((0..6_usize, 0..1_000_000_u64, 1..100_000_u64, 0..1000_u64), 1..20),
        keeps_paths in any::<bool>(),
        directory in prop::option::of("[a-z/.]{1,8}"),
        file in prop::option::of("[a*?/.]{1,3}"),
        (from_ns, until_ns, limit) in (0..1000_u64, prop::option::of(0..2000_u64), prop::option::of(1..10_u64)),
        form in "(%[DTtdSnNap0-9-]{1,2}[ ,.]?){1,8}",
    ) {
        let text: String = rows.iter().map(|(name, offset, len, time)| {
            let name = names[name % names.len()].replace('\\', "\\\\");
            format!("1 {time}.5 openat(AT_FDCWD, \"{name}\", O_RDWR) = 3\n1 {time}.5 pwrite64(3, \"\", {len}, {offset}) = {len}\n")
        }).collect();
        let selection = ImportSelection {
            files: file.iter().map(|file| Pattern::new(file)).collect(), from_ns, until_ns, limit, ..ImportSelection::default()
        };
        let naming = NameRules { keeps_paths, directory: directory.map(Into::into), ..NameRules::default() };
        let some = ImportSettings { selection, naming, max_bad_lines_percent: 100.0, ..settings() };
        if let Ok((log, summary)) = run(text.as_bytes(), TraceFormat::Strace, &some) {
            let mut reader = IologReader::new(log.as_bytes()).unwrap();
            let mut ios = 0;
            while let Some(line) = reader.next_entry().unwrap() {
                ios += u64::from(matches!(line.unwrap().what, LogAction::Io { .. }));
            }
            prop_assert_eq!(ios, summary.ios());
            prop_assert!(summary.files.iter().all(|file| names::is_valid(&file.in_log)));
        }
        if let Ok(form) = blkparse::BlkparseForm::parse(&form) {
            let _ = guess(text.as_bytes(), Some(&form));
        }
    }

    #[test]
    fn no_bytes_make_any_format_panic(text in prop::collection::vec(any::<u8>(), 0..300), which in 0..TraceFormat::ALL.len()) {
        let lenient = ImportSettings { max_bad_lines_percent: 100.0, ..settings() };
        let _ = run(&text, TraceFormat::ALL[which].0, &lenient);
        let _ = guess(&text, None);
    }

    #[test]
    fn no_numbers_make_any_format_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "1", "0", "18446744073709551615", "9223372036854775807", "R", "W", "D", "Q", "C", "8,16", ",", "+", " ", "\n", "hm", "Read",
            "1.5", "0.999999999999", "TIME(s) T SECTOR BYTES LAT(ms)\n", "COMM", "time_ns,op,offset,sectors\n",
        ]), 0..60),
        which in 0..TraceFormat::ALL.len()
    ) {
        let lenient = ImportSettings { max_bad_lines_percent: 100.0, ..settings() };
        let _ = run(words.concat().as_bytes(), TraceFormat::ALL[which].0, &lenient);
        let _ = run(words.join(",").as_bytes(), TraceFormat::ALL[which].0, &lenient);
        let _ = run(words.join(" ").as_bytes(), TraceFormat::ALL[which].0, &lenient);
    }
}
