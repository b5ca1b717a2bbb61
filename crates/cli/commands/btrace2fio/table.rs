//! The table of the threads' I/O.

use std::fmt::Write as _;

use ferrio_trace::{RequestsSummary, TraceSummary};

use super::{ThreadGroup, TraceJobOptions};

/// The kinds of requests, in the order of [`ferrio_trace::ThreadSummary::kinds`].
const KINDS: [&str; 3] = ["reads", "writes", "trims"];

/// The whole table.
pub(super) fn text(summary: &TraceSummary, groups: &[ThreadGroup], request: &TraceJobOptions) -> String {
    let mut text = format!("Traces loaded: {}\n", summary.records);
    for group in groups {
        // Writing to a string cannot fail.
        let _ = write_group(&mut text, group, request);
    }
    let total = |kind: usize| -> u64 {
        groups.iter().flat_map(|group| &group.threads).map(|thread| thread.kinds[kind].ios).sum()
    };
    let _ = write!(text, "Total: reads={}, writes={}", total(0), total(1));
    if total(2) > 0 {
        let _ = write!(text, ", trims={}", total(2));
    }
    text.push('\n');
    text
}

fn write_group(text: &mut String, group: &ThreadGroup, request: &TraceJobOptions) -> std::fmt::Result {
    let pids: Vec<String> = group.pids.iter().map(u32::to_string).collect();
    writeln!(text, "[pid:\t{}]", pids.join(", "))?;
    let all: u64 = group.threads.iter().map(ferrio_trace::ThreadSummary::ios).sum();
    for (at, name) in KINDS.into_iter().enumerate() {
        let kind = group.kind(at);
        if kind.ios == 0 {
            continue;
        }
        let count =
            |name: &str, count: u64, of: u64| format!("\t{name}{count} (perc={:.2}%)\n", percent(count, of));
        writeln!(text, "{name}")?;
        text.push_str(&count("ios:    ", kind.ios, all));
        text.push_str(&count("merges: ", kind.merges, kind.ios));
        text.push_str(&count("seq:    ", kind.sequential, kind.ios));
        writeln!(text, "\trate:   {} KiB/sec", group.kib_per_second(at))?;
        for (size, ios) in kind.by_frequency() {
            writeln!(text, "\tbs={size}, perc={:.2}%", percent(ios, kind.ios))?;
        }
    }
    let flushes: u64 = group.threads.iter().map(|thread| thread.flushes).sum();
    if flushes > 0 {
        writeln!(text, "flushes\n\tios:    {flushes}")?;
    }
    let (begins_us, lasts_us) = group.times_us();
    writeln!(text, "depth:\t{}", group.depth().min(request.most_depth))?;
    writeln!(text, "usec:\t{lasts_us} (delay={begins_us})")?;
    let files: String = group.files.iter().map(|file| format!("{file},")).collect();
    writeln!(text, "files:\t{files}\n")
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

impl ThreadGroup {
    /// The requests of one kind, summed over all threads.
    pub(super) fn kind(&self, at: usize) -> RequestsSummary {
        let mut sum = RequestsSummary::default();
        for thread in &self.threads {
            sum.add(&thread.kinds[at]);
        }
        sum
    }
}
