use proptest::prelude::*;

use super::line::text;
use super::*;
use crate::FileAction;

/// A line with its name as text.
type Parsed = (u64, String, LogAction);
type Entry = (u64, Result<Parsed, String>);

fn read(log: &[u8]) -> Result<Vec<Entry>, String> {
    let mut reader = IologReader::new(log).map_err(|error| error.to_string())?;
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        let entry = entry.map(|line| (line.time_us, text(line.name), line.what));
        let entry = entry.map_err(|bad| bad.to_string());
        entries.push((reader.line_number(), entry));
    }
    Ok(entries)
}

fn line(time_us: u64, name: &str, what: LogAction) -> Result<Parsed, String> {
    Ok((time_us, name.to_owned(), what))
}

fn io(action: IoAction, offset: u64, len: u64) -> LogAction {
    LogAction::Io { action, offset, len }
}

#[test]
fn version_2_has_no_times_but_waits() {
    let log = b"fio version 2 iolog\nd add\nd open\nd write 0 8192\n\nd wait 1000 0\nd datasync 0 0\nd close";
    let want = vec![
        (2, line(0, "d", LogAction::File(FileAction::Add))),
        (3, line(0, "d", LogAction::File(FileAction::Open))),
        (4, line(0, "d", io(IoAction::Write, 0, 8192))),
        (6, line(0, "d", LogAction::Wait { until_ms: 1000 })),
        (7, line(0, "d", io(IoAction::Datasync, 0, 0))),
        (8, line(0, "d", LogAction::File(FileAction::Close))),
    ];
    assert_eq!(read(log), Ok(want));
}

#[test]
fn version_3_has_times_and_further_words_are_ignored() {
    let log =
        b"fio version 3 iolog\n 7  d\tread 1 2 more words\r\n9 d wait 5 0\n10 d sync 3 4\n11 d trim 5 6\n";
    let want = vec![
        (2, line(7, "d", io(IoAction::Read, 1, 2))),
        (3, Err("iolog: ignoring wait command with version 3 for file d".to_owned())),
        (4, line(10, "d", io(IoAction::Sync, 3, 4))),
        (5, line(11, "d", io(IoAction::Trim, 5, 6))),
    ];
    assert_eq!(read(log), Ok(want));
}

#[test]
fn bad_lines_have_their_number_and_fios_words() {
    let log = b"fio version 2 iolog\nd bogus 0 1\none\nd unlink\nd sync\nd write 0\nd write 0 18446744073709551616\nd write x 1\n";
    let said: Vec<(u64, String)> =
        read(log).unwrap().into_iter().map(|(number, bad)| (number, bad.unwrap_err())).collect();
    let want = [
        (2, "bad iolog file action: bogus"),
        (3, "bad iolog2: one"),
        (4, "bad iolog file action: unlink"),
        (5, "bad iolog file action: sync"),
        (6, "bad iolog2: d write 0"),
        (7, "bad iolog2: d write 0 18446744073709551616"),
        (8, "bad iolog file action: write"),
    ];
    assert_eq!(said, want.map(|(number, bad)| (number, bad.to_owned())));
    let in_3 = read(b"fio version 3 iolog\nx d add\n1 d\n").unwrap();
    assert_eq!(in_3[0].1, Err("bad iolog3: x d add".to_owned()));
    assert_eq!(in_3[1].1, Err("bad iolog3: 1 d".to_owned()));
}

#[test]
fn a_header_in_the_middle_changes_the_version() {
    let entries = read(b"fio version 3 iolog\n1 d add\nfio version 2 iolog\nd open\n").unwrap();
    assert!(entries[1].1.as_ref().unwrap_err().starts_with("a further `fio version 2 iolog`"));
    assert_eq!(entries[2], (4, line(0, "d", LogAction::File(FileAction::Open))));
}

#[test]
fn what_is_no_log_is_refused() {
    let refused = |log: &[u8]| read(log).unwrap_err();
    assert_eq!(refused(b""), "unable to read iolog: it is empty");
    assert!(refused(b"fio version 1 iolog\nd add\n").starts_with("iolog version 1 is no longer supported"));
    assert!(refused(b"d add\n").starts_with("iolog version 1 is no longer supported"));
}

#[test]
fn a_source_without_lines_is_not_read_to_its_end() {
    let error = IologReader::new(io::repeat(0)).unwrap_err();
    assert!(matches!(error, IologReadError::Version));
}

#[test]
fn a_line_that_is_too_long_is_no_shorter_line() {
    let long = format!("fio version 2 iolog\nd write 0 4096 {}\nd add\n", "x ".repeat(9000));
    let entries = read(long.as_bytes()).unwrap();
    let too_long = Err("a line of more than 4096 bytes".to_owned());
    assert_eq!(entries, [(2, too_long), (3, line(0, "d", LogAction::File(FileAction::Add)))]);
    let name = "n".repeat(257);
    let entries = read(format!("fio version 2 iolog\n{name} add\n").as_bytes()).unwrap();
    assert!(entries[0].1.is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_bytes_make_it_panic(lines in prop::collection::vec(any::<u8>(), 0..300), header in 0..3) {
        let header = ["", "fio version 2 iolog\n", "fio version 3 iolog\n"][header as usize];
        let _ = read(&[header.as_bytes(), &lines].concat());
    }

    #[test]
    fn what_is_written_is_read(
        ios in prop::collection::vec((any::<u64>(), "[a-z/.]{1,200}", 0..5_usize, any::<u64>(), any::<u64>()), 0..50)
    ) {
        let place = tempfile::TempDir::new().unwrap();
        let path = place.path().join("log");
        let mut writer = crate::IologWriter::append(&path, IologVersion::Three).unwrap();
        let actions = [
            ("read", IoAction::Read),
            ("write", IoAction::Write),
            ("trim", IoAction::Trim),
            ("sync", IoAction::Sync),
            ("datasync", IoAction::Datasync),
        ];
        for (time, name, action, offset, len) in &ios {
            writer.io(*time, name.as_ref(), actions[*action].0, *offset, *len).unwrap();
        }
        writer.finish().unwrap();
        let want: Vec<Entry> = (2..)
            .zip(&ios)
            .map(|(at, (time, name, action, offset, len))| {
                (at, line(*time, name, io(actions[*action].1, *offset, *len)))
            })
            .collect();
        prop_assert_eq!(read(&std::fs::read(path).unwrap()), Ok(want));
    }
}
