//! The options of the test `fileio`: what they mean, what is refused, and the lines about them in the header.

use std::fmt::Write as _;
use std::time::Duration;

use ferrio_plan::sysbench::{FileIoMode, FileTest, OpenFlags, SysbenchFileio, SysbenchRun};

use crate::command_line::SysbenchCommandLine;
use crate::general::GeneralOptions;
use crate::log::{Level, Log, Refusal};
use crate::options::{self, FILEIO, SysbenchOption};

/// The words of `--file-test-mode`, and what the header says of them.
const TESTS: [(&str, FileTest, &str); 6] = [
    ("seqwr", FileTest::SequentialCreate, "sequential write (creation)"),
    ("seqrewr", FileTest::SequentialRewrite, "sequential rewrite"),
    ("seqrd", FileTest::SequentialRead, "sequential read"),
    ("rndrd", FileTest::RandomRead, "random read"),
    ("rndwr", FileTest::RandomWrite, "random write"),
    ("rndrw", FileTest::RandomMix, "random r/w"),
];

/// The flags that files are opened with, as the header lists them.
pub fn flag_words(flags: OpenFlags) -> String {
    let mut words = String::new();
    for (is_on, word) in [(flags.sync, "sync "), (flags.dsync, "dsync "), (flags.direct, "directio")] {
        words.push_str(if is_on { word } else { "" });
    }
    if words.is_empty() { "(none)".to_owned() } else { words }
}

/// Reads a count that is not negative.
fn count(line: &SysbenchCommandLine, option: SysbenchOption, log: &Log) -> Result<u32, Refusal> {
    let value = line.number(option);
    u32::try_from(value)
        .map_err(|_| log.refuse(&format!("Invalid value for {}: {value}.", option.row().name)))
}

/// Reads `--file-block-size`.
fn block(line: &SysbenchCommandLine, log: &Log) -> Result<u64, Refusal> {
    let block = line.size(SysbenchOption::FileBlockSize);
    if block == 0 {
        let text = line.wrong_size(SysbenchOption::FileBlockSize);
        return Err(log.refuse(&format!("Invalid value for file-block-size: {text}.")));
    }
    if u32::try_from(block).is_err() {
        return Err(log.refuse(&format!("Invalid value for file-block-size: {block}.")));
    }
    Ok(block)
}

/// Reads `--file-extra-flags`.
fn flags(line: &SysbenchCommandLine, log: &Log) -> Result<OpenFlags, Refusal> {
    let mut flags = OpenFlags::default();
    for word in line.list(SysbenchOption::FileExtraFlags) {
        match word {
            "sync" => flags.sync = true,
            "dsync" => flags.dsync = true,
            "direct" => flags.direct = true,
            other => return Err(log.refuse(&format!("Invalid value for file-extra-flags: {other}"))),
        }
    }
    Ok(flags)
}

/// Reads `--file-test-mode`.
fn test_mode(line: &SysbenchCommandLine, log: &Log) -> Result<FileTest, Refusal> {
    let Some(mode) = line.text(SysbenchOption::FileTestMode) else {
        let refused = log.refuse("Missing required argument: --file-test-mode\n");
        log.text(Level::Fatal, &format!("fileio options:\n{}\n", options::list(FILEIO)));
        return Err(refused);
    };
    let test = TESTS.iter().find(|(word, ..)| *word == mode).map(|&(_, test, _)| test);
    test.ok_or_else(|| log.refuse(&format!("Invalid IO operations mode: {mode}.")))
}

/// Reads the options. Only a run has a test mode; `prepare` and `cleanup` have all other options checked too.
///
/// # Errors
/// A value makes no sense, or the test mode is missing.
pub fn read(
    line: &SysbenchCommandLine,
    general: &GeneralOptions,
    is_run: bool,
    log: &Log,
) -> Result<SysbenchFileio, Refusal> {
    // As in sysbench, number and sizes of files are checked first.
    let files = line.number(SysbenchOption::FileNum);
    let positive = u32::try_from(files).ok().filter(|&files| files > 0);
    let files = positive.ok_or_else(|| log.refuse(&format!("Invalid value for file-num: {files}")))?;
    let total_size = line.size(SysbenchOption::FileTotalSize);
    if total_size == 0 {
        let text = line.wrong_size(SysbenchOption::FileTotalSize);
        return Err(log.refuse(&format!("Invalid value for file-total-size: {text}")));
    }
    if total_size < u64::from(files) {
        return Err(log.refuse(&format!(
            "Invalid value for file-total-size: {total_size}: it is less than a byte for each of {files} files"
        )));
    }
    let test = if is_run { test_mode(line, log)? } else { FileTest::SequentialRead };
    let block = block(line, log)?;
    let flags = flags(line, log)?;
    let io_mode = match line.text(SysbenchOption::FileIoMode) {
        None | Some("sync") => FileIoMode::Sync,
        Some("mmap") => FileIoMode::Mmap,
        Some("async") => {
            let backlog = line.number(SysbenchOption::FileAsyncBacklog);
            let backlog = u32::try_from(backlog)
                .ok()
                .filter(|&backlog| backlog > 0)
                .ok_or_else(|| log.refuse(&format!("Invalid value of file-async-backlog: {backlog}")))?;
            FileIoMode::Async { backlog }
        }
        Some(other) => return Err(log.refuse(&format!("unknown I/O mode: {other}"))),
    };
    let merged_requests = count(line, SysbenchOption::FileMergedRequests, log)?;
    if u32::try_from(block.saturating_mul(u64::from(merged_requests))).is_err() {
        return Err(log.refuse(&format!(
            "Invalid value for file-merged-requests: {merged_requests}: a request has at most 4 GiB - 1"
        )));
    }
    let fdatasync = match line.text(SysbenchOption::FileFsyncMode) {
        None | Some("fsync") => false,
        Some("fdatasync") => true,
        Some(other) => return Err(log.refuse(&format!("Invalid fsync mode: {other}."))),
    };
    let rw_ratio = line.decimal(SysbenchOption::FileRwRatio);
    if rw_ratio < 0.0 {
        return Err(log.refuse(&format!("Invalid value for --file-rw-ratio: {rw_ratio:.6}.")));
    }
    let fsync_all = line.flag(SysbenchOption::FileFsyncAll);
    let fsync_freq = count(line, SysbenchOption::FileFsyncFreq, log)?;
    Ok(SysbenchFileio {
        run: run_of(general),
        test,
        io_mode,
        files,
        total_size,
        block,
        merged_requests,
        rw_ratio,
        fsync_freq: if fsync_all { 0 } else { u64::from(fsync_freq) },
        fsync_all,
        fsync_end: !fsync_all && line.flag(SysbenchOption::FileFsyncEnd),
        fdatasync,
        validate: general.validate,
        flags,
    })
}

/// The part of a plan that every test has.
pub fn run_of(general: &GeneralOptions) -> SysbenchRun {
    SysbenchRun {
        threads: general.threads,
        events: general.events,
        time: Duration::from_secs(general.time.unwrap_or(0)),
        rate: general.rate.map(f64::from),
        // The C library's srandom takes 32 bits.
        seed: general.seed.map(|seed| u64::from(seed.cast_unsigned())),
        has_percentile: general.percentile > 0,
    }
}

/// The lines of the header about this test.
pub fn header(options: &SysbenchFileio, general: &GeneralOptions) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let mut add = |line: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{line}");
    };
    add(format_args!("Extra file open flags: {}", flag_words(options.flags)));
    add(format_args!("{} files, {} each", options.files, bytes(options.file_size())));
    add(format_args!("{} total file size", bytes(options.file_size() * u64::from(options.files))));
    add(format_args!("Block size {}", bytes(options.block)));
    if options.merged_requests > 0 {
        let merged = options.block * u64::from(options.merged_requests);
        add(format_args!("Merging requests up to {} for sequential IO.", bytes(merged)));
    }
    if matches!(options.test, FileTest::RandomRead | FileTest::RandomWrite | FileTest::RandomMix) {
        add(format_args!("Number of IO requests: {}", general.events.unwrap_or(0)));
        add(format_args!("Read/Write ratio for combined random IO test: {:.2}", options.rw_ratio));
    }
    if options.fsync_freq > 0 {
        add(format_args!("Periodic FSYNC enabled, calling fsync() each {} requests.", options.fsync_freq));
    }
    if options.fsync_end {
        add(format_args!("Calling fsync() at the end of test, Enabled."));
    }
    if options.fsync_all {
        add(format_args!("Calling fsync() after each write operation."));
    }
    let mode = match options.io_mode {
        FileIoMode::Sync => "synchronous",
        FileIoMode::Async { .. } => "asynchronous",
        // Scripts know sysbench's spelling.
        FileIoMode::Mmap => "fast mmaped",
    };
    add(format_args!("Using {mode} I/O mode"));
    if options.validate {
        add(format_args!("Using checksums validation."));
    }
    let title = TESTS.iter().find(|(_, test, _)| *test == options.test).map_or("", |&(_, _, title)| title);
    add(format_args!("Doing {title} test"));
    text
}

/// A number of bytes with five significant digits and a binary unit.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["", "Ki", "Mi", "Gi", "Ti"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let whole_digits = format!("{}", value.trunc()).len();
    let mut digits = format!("{value:.*}", 5_usize.saturating_sub(whole_digits));
    if digits.contains('.') {
        digits.truncate(digits.trim_end_matches('0').trim_end_matches('.').len());
    }
    format!("{digits}{}B", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::testing;

    fn read_all(text: &str) -> (Option<String>, String) {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let (log, out, mistakes) = testing::log();
        let line = SysbenchCommandLine::read(&words, &log).unwrap();
        line.check_options(FILEIO, &log).unwrap();
        let general = GeneralOptions::read(&line, &log).unwrap();
        let header = read(&line, &general, true, &log).ok().map(|options| header(&options, &general));
        assert_eq!(mistakes.text(), "");
        (header, out.text())
    }

    #[test]
    fn sizes_have_five_digits() {
        for (size, text) in [
            (34133, "33.333KiB"),
            (5000, "4.8828KiB"),
            (102399, "99.999KiB"),
            (16384, "16KiB"),
            (524288, "512KiB"),
            (2 << 30, "2GiB"),
            (1023, "1023B"),
            (1 << 50, "1024TiB"),
            (1000 << 10, "1000KiB"),
        ] {
            assert_eq!(bytes(size), text);
        }
    }

    #[test]
    fn the_header_says_what_the_test_does() {
        let (header, _) = read_all(
            "--file-num=3 --file-total-size=100K --file-block-size=5000 --file-test-mode=rndrw --events=6 \
             --file-extra-flags=sync --file-merged-requests=2 --validate",
        );
        insta::assert_snapshot!(header.unwrap().replace("sync \n", "sync\n"), @r"
        Extra file open flags: sync
        3 files, 33.333KiB each
        99.999KiB total file size
        Block size 4.8828KiB
        Merging requests up to 9.7656KiB for sequential IO.
        Number of IO requests: 6
        Read/Write ratio for combined random IO test: 1.50
        Periodic FSYNC enabled, calling fsync() each 100 requests.
        Calling fsync() at the end of test, Enabled.
        Using synchronous I/O mode
        Using checksums validation.
        Doing random r/w test
        ");
        let (header, _) = read_all(
            "--file-test-mode=seqwr --file-fsync-all --file-io-mode=mmap --file-extra-flags=direct,dsync",
        );
        insta::assert_snapshot!(header.unwrap(), @r"
        Extra file open flags: dsync directio
        128 files, 16MiB each
        2GiB total file size
        Block size 16KiB
        Calling fsync() after each write operation.
        Using fast mmaped I/O mode
        Doing sequential write (creation) test
        ");
    }

    #[test]
    fn values_without_sense_are_refused_in_the_words_of_sysbench() {
        for (option, message) in [
            ("--file-num=0", "Invalid value for file-num: 0"),
            ("--file-block-size=abc", "Invalid value for file-block-size: 0."),
            ("--file-total-size=abc", "Invalid value for file-total-size: 0"),
            ("--file-total-size=4Kxyz", "Invalid value for file-total-size: 4Kxyz"),
            ("--file-block-size=16kk", "Invalid value for file-block-size: 16kk."),
            ("--file-test-mode=RNDRD", "Invalid IO operations mode: RNDRD."),
            ("--file-io-mode=foo", "unknown I/O mode: foo"),
            ("--file-extra-flags=direct,foo", "Invalid value for file-extra-flags: foo"),
            ("--file-fsync-freq=-1", "Invalid value for file-fsync-freq: -1."),
            ("--file-fsync-mode=foo", "Invalid fsync mode: foo."),
            ("--file-merged-requests=-1", "Invalid value for file-merged-requests: -1."),
            ("--file-rw-ratio=-1", "Invalid value for --file-rw-ratio: -1.000000."),
            ("--file-io-mode=async --file-async-backlog=0", "Invalid value of file-async-backlog: 0"),
        ] {
            let (header, out) = read_all(&format!("--file-test-mode=rndrw {option}"));
            assert_eq!((header, out), (None, format!("FATAL: {message}\n")), "{option}");
        }
        let (_, out) = read_all("");
        assert!(out.starts_with(
            "FATAL: Missing required argument: --file-test-mode\n\nfileio options:\n  --file-num=N "
        ));
        assert!(out.ends_with("[1.5]\n\n"), "{out}");
    }
}
