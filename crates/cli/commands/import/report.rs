//! The summary of an import on standard error.

use std::fmt::Write as _;

use ferrio_job::counted;
use ferrio_jobfile::escaped_name;
use ferrio_trace::import::ImportSummary;
use ferrio_trace::import::event::SkipReason;
use ferrio_trace::import::select::SelectedIo;
use ferrio_trace::source_name;

use super::{FinishedImport, job};

/// Maximum number of files listed by name.
const MAX_LISTED_FILES: usize = 8;

/// The text of the summary.
pub fn summary_text(import: &FinishedImport) -> String {
    let FinishedImport { summary, format, guessed, .. } = import;
    let mut text = String::new();
    let how = if *guessed { "found from its first lines" } else { "as given" };
    let _ = writeln!(
        text,
        "{}: {}, format {} ({how})",
        source_name(&import.trace),
        format.about(),
        format.word()
    );
    let kinds = SelectedIo::ALL.iter().filter_map(|&(word, kind)| {
        let (ios, bytes) = summary.of(kind);
        let size = if kind == SelectedIo::Sync { String::new() } else { format!(" ({})", size(bytes)) };
        (ios > 0).then(|| format!("{ios} {word}{size}"))
    });
    let _ = writeln!(text, "  lines:   {}", summary.lines);
    let _ = writeln!(text, "  I/Os:    {}", kinds.collect::<Vec<_>>().join(", "));
    let depth = match summary.deepest {
        0 => String::new(),
        deepest => format!(", at most {deepest} in flight"),
    };
    let _ = writeln!(text, "  time:    {}{depth}", duration(summary.span_us()));
    write_files(summary, &mut text);
    write_list("skipped", &skipped(summary), &mut text);
    write_list("notes", &notes(import), &mut text);
    for (number, line, why) in &summary.bad.first {
        let _ = writeln!(text, "  line {number} does not fit: {why}: {line}");
    }
    let more = summary.bad.count.saturating_sub(summary.bad.first.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "  and {} that do not fit", counted(more, "other line"));
    }
    let _ = writeln!(text, "  replay:  {}", replay(import));
    text
}

fn write_files(summary: &ImportSummary, text: &mut String) {
    for (at, file) in summary.files.iter().take(MAX_LISTED_FILES).enumerate() {
        let label = if at == 0 { "files:" } else { "" };
        let (old, new) = (file.in_trace.display().to_string(), file.in_log.display().to_string());
        let old = old.replace(char::is_control, "?");
        let renamed = if old == new { String::new() } else { format!(" (in the trace: {old})") };
        let _ = writeln!(text, "  {label:<8} {new}, {}{renamed}", size(file.usage.end));
    }
    let more = summary.files.len().saturating_sub(MAX_LISTED_FILES);
    if more > 0 {
        let _ = writeln!(text, "  {:<8} and {more} more", "");
    }
    let substituted = summary.files.iter().filter(|file| file.substituted).count();
    if substituted > 0 {
        let what = "because the name has blanks or is too long for a log";
        let _ = writeln!(text, "  {:<8} renamed: {}, {what}", "", counted(substituted as u64, "file"));
    }
}

fn write_list(label: &str, items: &[String], text: &mut String) {
    for (at, item) in items.iter().enumerate() {
        let label = if at == 0 { format!("{label}:") } else { String::new() };
        let _ = writeln!(text, "  {label:<8} {item}");
    }
}

/// The skipped trace entries, with counts by reason.
pub fn skipped(summary: &ImportSummary) -> Vec<String> {
    let counts = SkipReason::ALL.iter().zip(summary.skipped).filter(|(_, count)| *count > 0);
    counts.map(|((_, noun, which), count)| format!("{} {which}", counted(count, noun))).collect()
}

/// A note about `count` things; `None` for 0. `what` follows the noun and must read well after the singular and the plural.
fn note(count: u64, noun: &str, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{} {what}", counted(count, noun)))
}

/// Notes about I/Os that the log represents inexactly.
fn notes(import: &FinishedImport) -> Vec<String> {
    let summary = &import.summary;
    let remarks = &summary.remarks;
    let event = import.event.filter(|(_, is_guessed)| *is_guessed).map(|(event, _)| {
        let meaning = match event {
            'Q' => "queued",
            'D' => "issued",
            _ => "completed",
        };
        format!(
            "each event {event} ({meaning}) counts as an I/O, because the first lines have such events; --event chooses another"
        )
    });
    let unit = remarks.assumed_unit.map(|unit| {
        format!("times have no unit and are read as {unit}; a column name such as TIME(ms) sets the unit")
    });
    let cut = summary.is_cut.then(|| {
        format!("the rest of the trace was not read: line {} is beyond --until or --limit", summary.lines)
    });
    let needs_files =
        summary.files.iter().any(|file| file.usage.must_exist_up_to > 0 && !job::is_device(&file.in_log));
    let fixed = |applies: bool, note: &str| applies.then(|| note.to_owned());
    let notes = [
        note(
            summary.late,
            "I/O",
            "too far out of order: the log has the time of the I/O before; a larger --window may sort the trace",
        ),
        note(
            remarks.unknown_appends,
            "append",
            "to a file whose size the trace does not show: the offset begins at 0",
        ),
        note(
            remarks.unknown_offsets,
            "I/O",
            "at the position of a file that was opened before the trace began: the offset counts from 0, and O_APPEND is unknown",
        ),
        note(
            remarks.abbreviated,
            "I/O",
            "of io_submit missing, because strace abbreviated the arguments: trace with -e abbrev=none",
        ),
        note(
            remarks.shortened,
            "vectored I/O",
            "of io_submit too short, because strace abbreviated the arguments: trace with -e abbrev=none",
        ),
        event,
        unit,
        cut,
        note(remarks.range_syncs, "call", "of sync_file_range: datasync in the log"),
        note(
            remarks.synchronous,
            "write",
            "through O_SYNC or O_DSYNC: sync=1 or sync=dsync does so in the replay",
        ),
        note(
            remarks.untimed,
            "line",
            "without a time (strace -tt adds it): the I/O follows the one before without pause",
        ),
        fixed(
            remarks.whole_seconds,
            "times are whole seconds: I/Os of a second follow each other without pause",
        ),
        fixed(
            summary.of(SelectedIo::Trim).0 > 0,
            "only block devices can be trimmed: replay_skip=trim leaves trims out",
        ),
        fixed(
            needs_files && import.job.is_none(),
            "files that are read must exist before the replay: --job writes a job file that lays them out",
        ),
    ];
    notes.into_iter().flatten().collect()
}

/// The command line that replays the log.
fn replay(import: &FinishedImport) -> String {
    if let Some(job) = &import.job {
        return format!("ferrio {}", shell_quote(&job.display().to_string()));
    }
    let log = import.log.as_ref().map_or("LOG".to_owned(), |log| log.display().to_string());
    let mut words =
        vec!["ferrio --name=replay".to_owned(), shell_quote(&format!("--read_iolog={}", escaped_name(&log)))];
    words.extend(job::options(import).into_iter().map(|option| format!("--{option}")));
    words.join(" ")
}

/// Quotes a word for a shell.
fn shell_quote(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-=+,@%:".contains(&byte);
    if word.bytes().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Formats a size with a unit.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (bytes.max(1).ilog2() / 10) as usize;
    if power == 0 {
        return format!("{bytes} B");
    }
    format!("{:.1} {}", bytes as f64 / (1_u64 << (10 * power)) as f64, UNITS[power])
}

/// Formats a time with a unit.
fn duration(us: u64) -> String {
    match us {
        0..1000 => format!("{us} us"),
        1000..1_000_000 => format!("{:.3} ms", us as f64 / 1e3),
        _ => format!("{:.3} s", us as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(
            ["0 B", "1023 B", "1.0 KiB", "16.0 EiB"],
            [0, 1023, 1024, u64::MAX].map(size).each_ref().map(String::as_str)
        );
        assert_eq!(duration(999), "999 us");
        assert_eq!(duration(1500), "1.500 ms");
        assert_eq!(duration(61_000_000), "61.000 s");
    }

    #[test]
    fn words_for_a_shell_are_quoted_where_needed() {
        assert_eq!(shell_quote("--read_iolog=a.log"), "--read_iolog=a.log");
        assert_eq!(shell_quote("it's"), r"'it'\''s'");
    }
}
