//! The lines of one job: its kind of work, its files, what it transfers.

use std::path::Path;

use ferrio_job::counted;

use super::database;
use super::{BOLD, TextStyle, clean, moves, short};
use crate::model::{
    Certainty, CheckedDatabase, CheckedFile, CheckedFileKind, CheckedJob, CheckedLog, CheckedPlace,
    CheckedReplay, CheckedZonedFile, EndsOthers, EndsWhen, EndsWhich, JobCommand, LayoutAction, Pauses,
    PreconditioningPass, TimeSpan, ZoneSizes, ZonedModel,
};
use crate::units::{block, bytes, listed_in_part, time};

/// Name and kind of work on the first line, then one line per other fact.
pub(super) fn lines(job: &CheckedJob, places: &[CheckedPlace], style: &TextStyle) -> String {
    let clones = if job.instances > 1 { format!(" x{}", job.instances) } else { String::new() };
    let mut out = format!("  {}{clones}: {}\n", style.paint(BOLD, &clean(&job.name)), kind_of_work(job));
    let mut facts: Vec<(&str, String)> = Vec::new();
    let mut line = |what: &'static str, text: String| facts.push((what, text));
    if let Some(error) = &job.setup_error {
        out.push_str(&format!("    fails  {}\n", clean(error)));
        return out;
    }
    if job.never_starts {
        line("starts", "never: the run, or the jobs of its group, end before".to_owned());
    } else if let Some(start) = start_text(job) {
        line("starts", start);
    }
    let command = |option| job.commands.iter().find(|command| command.option == option).map(command_text);
    if let Some(text) = command("exec_prerun") {
        line("before", text);
    }
    let files = if job.background_of.is_some() {
        Vec::new()
    } else {
        files_text(&job.files, places, job.database.as_ref())
    };
    for text in files {
        line("on", text);
    }
    if let Some(zones) = &job.zones {
        line("in", zones_text(zones));
    }
    for text in zoned_text(&job.zoned_files) {
        line("in", text);
    }
    let lasts = length_text(&job.time);
    let timed = job.volume.certainty == Certainty::Unknown;
    if let Some(database) = &job.database {
        database::lines(database).into_iter().for_each(|(what, text)| line(what, text));
    }
    line(
        "does",
        match moves(&job.volume) {
            None if job.never_starts => "nothing".to_owned(),
            None => "no I/O: files are only laid out".to_owned(),
            Some(moves) if timed => format!("{moves} for {lasts}"),
            Some(moves) => format!("{moves}{}, {lasts}", rate_text(job)),
        },
    );
    for replay in &job.replays {
        line("replays", replay_text(replay));
    }
    if let Some(pass) = &job.preconditioning {
        preconditioning_text(pass).into_iter().for_each(|text| line("as", text));
    }
    if let Some(pauses) = &job.pauses {
        line("pauses", pauses_text(pauses));
    }
    if let Some(steady) = &job.steady_state {
        let early = time(steady.least_seconds);
        line(
            "ends",
            format!("once its {} is steady, at the earliest after {early} (steadystate)", steady.figure),
        );
    }
    if let Some(ends) = job.ends_others.filter(|_| !job.never_starts) {
        line("ends", ends_text(ends, job.instances > 1));
    }
    if let Some(text) = command("exec_postrun") {
        line("after", text);
    }
    if let Some(text) = logs_text(&job.logs) {
        line("logs", text);
    }
    // Most labels are at most this long.
    let width = facts.iter().map(|(what, _)| what.len()).fold(6, usize::max);
    for (what, text) in facts {
        out.push_str(&format!("    {what:width$} {text}\n"));
    }
    out
}

/// A command as written; a check does not execute it.
fn command_text(command: &JobCommand) -> String {
    let output = clean(&command.output.display().to_string());
    format!("runs `{}` ({}), output goes to {output}", clean(&command.command), command.option)
}

fn replay_text(replay: &CheckedReplay) -> String {
    let kinds =
        [(replay.reads, "read"), (replay.writes, "write"), (replay.trims, "trim"), (replay.syncs, "sync")];
    let ios = kinds.into_iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> = ios.map(|(count, kind)| counted(count, kind)).collect();
    if replay.files > 1 {
        parts.push(format!("{} files", replay.files));
    }
    parts.push(match replay.seconds {
        0.0 => "as fast as possible".to_owned(),
        seconds => format!("over {}", time(seconds)),
    });
    let more = if replay.has_more { "at least " } else { "" };
    format!("{}: {more}{}", clean(&replay.log), parts.join(", "))
}

fn preconditioning_text(pass: &PreconditioningPass) -> [String; 2] {
    let [first, last] = pass.invalid_shares.map(|share| format!("{:.2}%", share * 100.0));
    let regions = counted(pass.regions as u64, "region");
    [
        format!(
            "a pass over {} of flash for {} of data: each block once, about {} of them again (sprandom)",
            bytes(pass.physical_bytes),
            bytes(pass.logical_bytes),
            bytes(pass.repeated_bytes)
        ),
        format!(
            "{regions} of {}, share written again: {first} (first) to {last} (last); write amplification {:.2}; {} of memory",
            bytes(pass.region_bytes),
            pass.write_amplification,
            bytes(pass.memory_bytes)
        ),
    ]
}

fn zones_text(zones: &ZoneSizes) -> String {
    let gap =
        if zones.skip > 0 { format!(", {} skipped after each", bytes(zones.skip)) } else { String::new() };
    match zones.size == zones.range {
        true => format!("zones of {}{gap}", bytes(zones.range)),
        false => format!("zones of {}, {} done in each{gap}", bytes(zones.range), bytes(zones.size)),
    }
}

/// One line for the files that have the same zones.
fn zoned_text(files: &[CheckedZonedFile]) -> Vec<String> {
    let text = |file: &CheckedZonedFile| {
        let model = match file.model {
            ZonedModel::Emulated => "emulated",
            ZonedModel::HostAware => "host-aware",
            ZonedModel::HostManaged => "host-managed",
        };
        let count = counted(file.zones, &format!("{model} zone"));
        let mut text = format!("{count} of {}", bytes(file.zone_bytes));
        if let Some(capacity) = file.capacity_bytes.filter(|&capacity| capacity < file.zone_bytes) {
            text += &format!(", {} of each can be written", bytes(capacity));
        }
        if let Some(most) = file.max_open_zones {
            text += &format!(", at most {most} open");
        }
        if let Some(most) = file.job_max_open_zones {
            text += &format!(", {most} by one instance");
        }
        text
    };
    let mut lines: Vec<(String, u64)> = Vec::new();
    for (line, count) in files.iter().map(|file| (text(file), file.files)) {
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, files)) => *files = files.saturating_add(count),
            None => lines.push((line, count)),
        }
    }
    let shown = |(text, files)| if files > 1 { format!("{text}, in each of {files} files") } else { text };
    lines.into_iter().map(shown).collect()
}

fn pauses_text(pauses: &Pauses) -> String {
    let ios = pauses.after_ios.map(|ios| match ios {
        1 => "after each I/O".to_owned(),
        ios => format!("after {ios} I/Os"),
    });
    let while_busy = pauses.after_seconds.map(|seconds| format!("after {} of I/O", time(seconds)));
    let when: Vec<String> = ios.into_iter().chain(while_busy).collect();
    format!("{} {} (thinktime)", time(pauses.seconds), when.join(" or "))
}

fn ends_text(ends: EndsOthers, clones: bool) -> String {
    let whom = match ends.which {
        EndsWhich::Group if clones => "its other instances and all other jobs of its group",
        EndsWhich::Group => "all other jobs of its group",
        EndsWhich::Running => "all running jobs",
        EndsWhich::All => "all other jobs, even those not started",
    };
    match ends.when {
        EndsWhen::End => format!("{whom} when it ends (exitall)"),
        EndsWhen::Error => format!("{whom} if it fails (exitall_on_error)"),
    }
}

/// File names, then the interval of rows.
fn logs_text(logs: &[CheckedLog]) -> Option<String> {
    const NAMED: usize = 3;
    let first = logs.first()?;
    let names = listed_in_part(logs.iter().map(|log| clean(&log.path.display().to_string())), NAMED);
    let rows = match first.window_ms {
        _ if logs.iter().any(|log| log.window_ms != first.window_ms) => {
            "rows at several intervals".to_owned()
        }
        None => "a row for each I/O".to_owned(),
        Some(0) => "no rows".to_owned(),
        Some(ms) => format!("a row every {}", time(f64::from(ms) / 1000.0)),
    };
    let shared = if first.shared { ", appended" } else { "" };
    Some(format!("{names}: {rows}{shared}"))
}

/// Mount point or device of a place.
pub(super) fn place_name(place: &CheckedPlace) -> String {
    let point = place.mount_point.as_deref().map(Path::display).map(|point| point.to_string());
    clean(&point.or_else(|| place.source.clone()).unwrap_or_default())
}

fn kind_of_work(job: &CheckedJob) -> String {
    let mix = job.rwmixread.map(|reads| format!(" with {reads}% reads")).unwrap_or_default();
    let mut words = match (&job.database, &job.background_of) {
        (Some(database), _) => {
            vec![format!("workload={}", database.model), format!("bs={}", block(database.page_bytes.into()))]
        }
        (None, Some(name)) => vec![format!("writes back for {}", clean(name))],
        (None, None) => vec![format!("{}{mix}", job.rw), format!("bs={}", block_sizes(job))],
    };
    words.extend([job.engine.clone(), format!("iodepth={}", job.iodepth)]);
    if job.files.iter().any(|file| file.kind != CheckedFileKind::None) {
        // A mapping uses the page cache, whatever the open flags.
        let direct = job.direct && job.engine != "mmap";
        words.push(if direct { "direct" } else { "buffered" }.to_owned());
    }
    if job.thread {
        words.push("thread".to_owned());
    }
    words.join(", ")
}

/// One size for all directions where they agree.
fn block_sizes(job: &CheckedJob) -> String {
    let sizes = job.block_sizes;
    let range = |[min, max]: [u64; 2]| match min == max {
        true => block(min),
        false => format!("{}-{}", block(min), block(max)),
    };
    let used: Vec<(&str, String)> = [("read", sizes.read), ("write", sizes.write), ("trim", sizes.trim)]
        .into_iter()
        .filter_map(|(name, size)| Some((name, range(size?))))
        .collect();
    match used.as_slice() {
        [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => first.clone(),
        several => {
            several.iter().map(|(name, size)| format!("{size} ({name})")).collect::<Vec<_>>().join(" ")
        }
    }
}

fn start_text(job: &CheckedJob) -> Option<String> {
    let mut when = Vec::new();
    if let Some(name) = &job.wait_for {
        when.push(format!("after job {} (wait_for)", clean(name)));
    }
    let [low, high] = job.startdelay_seconds;
    if high > 0.0 {
        let delay = if low < high { format!("{} to {}", time(low), time(high)) } else { time(high) };
        when.push(format!("{delay} into the run (startdelay)"));
    }
    (!when.is_empty()).then(|| when.join(", "))
}

/// Files that differ only in their names share a line.
fn files_text(
    files: &[CheckedFile],
    places: &[CheckedPlace],
    database: Option<&CheckedDatabase>,
) -> Vec<String> {
    const LINES: usize = 6;
    // Files of a database are separated by purpose. All jobs of a database have the same files.
    let kinds = database.into_iter().flat_map(|database| &database.files);
    let mut kinds = kinds.flat_map(|kind| std::iter::repeat_n(kind.kind, kind.files as usize));
    let mut rows: Vec<(Option<&str>, String, Vec<&CheckedFile>)> = Vec::new();
    for file in files {
        let (kind, what) = (kinds.next(), file_text(file, places));
        match rows.iter_mut().find(|(known, shown, _)| *known == kind && *shown == what) {
            Some((_, _, same)) => same.push(file),
            None => rows.push((kind, what, vec![file])),
        }
    }
    let more = rows.len().saturating_sub(LINES);
    let mut lines: Vec<String> =
        rows.iter().take(LINES).map(|(_, what, same)| format!("{}, {what}", file_names(same))).collect();
    if more > 0 {
        lines.push(format!("and {more} more kinds of files"));
    }
    lines
}

fn file_names(files: &[&CheckedFile]) -> String {
    let name = |file: &CheckedFile| match file.kind {
        CheckedFileKind::None => "no file".to_owned(),
        _ => clean(&file.path.display().to_string()),
    };
    let count = files.iter().map(|file| file.files).fold(0, u64::saturating_add);
    match files {
        [first, ..] if first.kind == CheckedFileKind::None && count > 1 => format!("no file, {count} times"),
        [only] if count == 1 => name(only),
        [first, ..] => {
            let last = files.last().map_or(&first.path, |last| last.last_path.as_ref().unwrap_or(&last.path));
            format!("{} .. {} ({count} files)", name(first), clean(&last.display().to_string()))
        }
        [] => String::new(),
    }
}

fn file_text(file: &CheckedFile, places: &[CheckedPlace]) -> String {
    let end = file.offset.saturating_add(file.size);
    let bytes = |size| if file.size_is_mean { format!("about {}", bytes(size)) } else { bytes(size) };
    let size = match (file.offset, file.existing_bytes) {
        (0, Some(there)) if there > end && file.action == LayoutAction::Use => {
            format!("the first {} of {}", bytes(file.size), bytes(there))
        }
        (0, _) => bytes(file.size),
        (offset, _) => format!("{} from {}", bytes(file.size), bytes(offset)),
    };
    let place = file.place.and_then(|at| places.get(at));
    let place = place.filter(|place| place.mount_point.is_some());
    let place = place.map(|place| format!(" on {}", place_name(place))).unwrap_or_default();
    let sparse = file.existing_bytes.zip(file.allocated_bytes).is_some_and(|(size, space)| space < size / 2);
    let action = match file.action {
        LayoutAction::None => return format!("region of {size}"),
        LayoutAction::Use if file.kind == CheckedFileKind::Block => "a block device".to_owned(),
        LayoutAction::Use if file.kind == CheckedFileKind::Char => "a character device".to_owned(),
        LayoutAction::Use if sparse => "exists, sparse".to_owned(),
        LayoutAction::Use => "exists".to_owned(),
        LayoutAction::UseEarlier => "created by an earlier job".to_owned(),
        LayoutAction::CreateFilled => "created and filled".to_owned(),
        LayoutAction::CreateEmpty => "created, not filled".to_owned(),
        LayoutAction::ReplaceFilled => replaced(file, "filled"),
        LayoutAction::ReplaceEmpty => replaced(file, "not filled"),
        LayoutAction::Grow => format!("grown from {}", bytes(file.existing_bytes.unwrap_or(0))),
        LayoutAction::CreateOnOpen => "created when opened".to_owned(),
        LayoutAction::Missing => "does not exist".to_owned(),
    };
    let removed = if file.unlink { ", removed at the end" } else { "" };
    format!("{size}{place}: {action}{removed}")
}

fn replaced(file: &CheckedFile, how: &str) -> String {
    format!("removed ({} is too short), created again, {how}", bytes(file.existing_bytes.unwrap_or(0)))
}

fn length_text(span: &TimeSpan) -> String {
    match short(span) {
        text if text == "unbounded" => "however long it takes".to_owned(),
        text => text,
    }
}

fn rate_text(job: &CheckedJob) -> String {
    job.rate_bytes_per_second.map(|rate| format!(" at {}/s", bytes(rate))).unwrap_or_default()
}
