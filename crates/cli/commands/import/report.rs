//! What an import says about the log that it made.

use std::fmt::Write as _;

use ferrio_trace::import::Summary;
use ferrio_trace::import::event::Skip;
use ferrio_trace::import::select::IoKind;

use super::{Done, job, shown};

/// Files that are listed by name.
const LISTED: usize = 8;

/// The text on standard error.
pub fn text(done: &Done) -> String {
    let Done { summary, format, guessed, .. } = done;
    let mut text = String::new();
    let how = if *guessed { "found from its first lines" } else { "as given by --format" };
    let _ = writeln!(text, "{}: {}, format {} ({how})", shown(&done.trace), format.about(), format.word());
    let kinds = IoKind::ALL.iter().filter_map(|&(word, kind)| {
        let (ios, bytes) = summary.of(kind);
        let size = if kind == IoKind::Sync { String::new() } else { format!(" ({})", size(bytes)) };
        (ios > 0).then(|| format!("{ios} {word}{size}"))
    });
    let _ = writeln!(text, "  lines:   {}", summary.lines);
    let _ = writeln!(text, "  I/Os:    {}", kinds.collect::<Vec<_>>().join(", "));
    let depth = match summary.deepest {
        0 => String::new(),
        deepest => format!(", at most {deepest} in flight"),
    };
    let _ = writeln!(text, "  time:    {}{depth}", duration(summary.span_us()));
    files(summary, &mut text);
    list("skipped", &skipped(summary), &mut text);
    list("notes", &notes(done), &mut text);
    for (number, line, why) in &summary.bad.first {
        let _ = writeln!(text, "  line {number} does not fit: {why}: {line}");
    }
    let more = summary.bad.count.saturating_sub(summary.bad.first.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "  {more} more lines do not fit");
    }
    let _ = writeln!(text, "  replay:  {}", replay(done));
    text
}

fn files(summary: &Summary, text: &mut String) {
    for (at, file) in summary.files.iter().take(LISTED).enumerate() {
        let label = if at == 0 { "files:" } else { "" };
        let (old, new) = (file.in_trace.display().to_string(), file.in_log.display().to_string());
        let old = old.replace(char::is_control, "?");
        let renamed = if old == new { String::new() } else { format!(" (in the trace: {old})") };
        let _ = writeln!(text, "  {label:<8} {new}, {}{renamed}", size(file.usage.end));
    }
    let more = summary.files.len().saturating_sub(LISTED);
    if more > 0 {
        let _ = writeln!(text, "  {:<8} and {more} more", "");
    }
    let substituted = summary.files.iter().filter(|file| file.substituted).count();
    if substituted > 0 {
        let what = "are renamed, because their names have blanks or are too long for a log";
        let _ = writeln!(text, "  {:<8} {substituted} of them {what}", "");
    }
}

fn list(label: &str, items: &[String], text: &mut String) {
    for (at, item) in items.iter().enumerate() {
        let label = if at == 0 { format!("{label}:") } else { String::new() };
        let _ = writeln!(text, "  {label:<8} {item}");
    }
}

/// What is not in the log, with its numbers.
pub fn skipped(summary: &Summary) -> Vec<String> {
    let counts = Skip::ALL.iter().zip(summary.skipped);
    counts.filter(|(_, count)| *count > 0).map(|((_, words), count)| format!("{count} {words}")).collect()
}

/// What the log shows only in part.
fn notes(done: &Done) -> Vec<String> {
    let summary = &done.summary;
    let remarks = &summary.remarks;
    let mut notes = Vec::new();
    let mut note = |count: u64, what: &str| {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    };
    note(
        summary.late,
        "I/Os were too far out of order and got the time of the I/O before them; a larger --window may sort them",
    );
    note(
        remarks.unknown_appends,
        "appends went to files whose size the trace does not show: they begin at offset 0",
    );
    note(remarks.range_syncs, "calls of sync_file_range are datasync in the log");
    note(
        remarks.synchronous,
        "writes went through O_SYNC or O_DSYNC; sync=1 or sync=dsync does so in the replay",
    );
    note(remarks.untimed, "lines have no time (strace -tt): their I/Os follow each other without pause");
    if remarks.whole_seconds {
        notes.push("times are whole seconds: I/Os of a second follow each other without pause".to_owned());
    }
    if summary.of(IoKind::Trim).0 > 0 {
        notes.push("only block devices can be trimmed: replay_skip=trim leaves trims out".to_owned());
    }
    let needs_files = summary.files.iter().any(|file| file.usage.needed > 0 && !job::is_device(&file.in_log));
    if needs_files && done.job.is_none() {
        notes.push(
            "files that are read must exist before the replay: --job writes a job file that lays them out"
                .to_owned(),
        );
    }
    notes
}

/// The command line that replays the log.
fn replay(done: &Done) -> String {
    if let Some(job) = &done.job {
        return format!("ferrio {}", quoted(&job.display().to_string()));
    }
    let log = done.log.as_ref().map_or("LOG".to_owned(), |log| log.display().to_string());
    let mut words =
        vec!["ferrio --name=replay".to_owned(), quoted(&format!("--read_iolog={}", job::escaped(&log)))];
    words.extend(job::options(done).into_iter().map(|option| format!("--{option}")));
    words.join(" ")
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-=+,@%:".contains(&byte);
    if word.bytes().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Bytes with a unit.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (bytes.max(1).ilog2() / 10) as usize;
    if power == 0 {
        return format!("{bytes} B");
    }
    format!("{:.1} {}", bytes as f64 / (1_u64 << (10 * power)) as f64, UNITS[power])
}

/// A time with a unit.
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
        assert_eq!(quoted("--read_iolog=a.log"), "--read_iolog=a.log");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
