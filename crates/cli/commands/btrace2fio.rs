//! `ferrio btrace2fio`, and fio's `fio-btrace2fio`: prints the I/O of each thread of a block trace as a table or as a job file.

mod job;
mod table;

use std::ffi::OsString;
use std::io::BufReader;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgAction, ArgMatches, Command, ValueHint, value_parser};
use ferrio_job::{Diagnostic, Origin, reason};
use ferrio_machine::{RetryInterrupted, block_device_node};
use ferrio_trace::{ThreadSummary, TraceReader, TraceSummary, open_source};

use super::subcommand::{Invocation, flag, operand, option};
use crate::error::Error;
use crate::messages::print_text;

/// Help text after the options.
pub const LONG_HELP: &str = "\
`blktrace -d DEVICE -o NAME` records what goes to a device, and
`blkparse -i NAME -d TRACE` makes the trace that this command reads.

A job of the job file does what its thread did on average: kind, sizes and
depth of its I/O, and how random it is. To do the same I/O at the same times,
use a job with read_iolog=TRACE.";

/// The options, which are those of fio's program.
pub fn command() -> Command {
    let number = |letter: char, name, value, default: &'static str, help| {
        option(name, value, help).short(letter).default_value(default).value_parser(value_parser!(u64))
    };
    Command::new("btrace2fio").args([
        flag("job-file", "Print a job file").short('f'),
        option("device", "FILE", "Use this file or device in place of the traced ones")
            .short('d')
            .value_hint(ValueHint::FilePath)
            .value_parser(NonEmptyStringValueParser::new()),
        number('t', "least-time", "USEC", "1000000", "Leave out threads that are busy for less than this"),
        number('n', "least-ios", "NUMBER", "10", "Leave out threads with fewer I/Os"),
        number('r', "least-rate", "KIB", "0", "Leave out threads with fewer KiB per second"),
        flag("rate", "Limit jobs to the rate of their thread").short('R'),
        number('D', "most-depth", "NUMBER", "256", "Cap queue depths at this"),
        number('c', "collapse", "0|1", "0", "Combine similar threads into one job")
            .value_parser(value_parser!(u64).range(..=1)),
        number(
            'u',
            "depth-difference",
            "NUMBER",
            "1",
            "With -c: largest difference in depth between combined threads",
        ),
        number(
            'x',
            "random-difference",
            "PERCENT",
            "5",
            "With -c: largest difference in the share of random I/O between combined threads",
        ),
        option("add", "OPTION", "Add this line to each job; may be repeated")
            .short('a')
            .action(ArgAction::Append),
        operand("trace", "TRACE", "The trace; - is standard input")
            .required(true)
            .value_parser(value_parser!(OsString))
            .value_hint(ValueHint::FilePath),
    ])
}

/// The parsed options.
struct TraceJobOptions {
    least_us: u64,
    least_ios: u64,
    least_kib: u64,
    most_depth: u64,
    collapse: bool,
    depth_difference: u64,
    random_difference: u64,
    limits_rates: bool,
    device: Option<String>,
    added: Vec<String>,
}

/// The threads that one job represents.
struct ThreadGroup {
    pids: Vec<u32>,
    /// Summaries of the threads; the job has the average depth and share of random I/O.
    threads: Vec<ThreadSummary>,
    files: Vec<String>,
}

/// Prints the table or the job file.
///
/// # Errors
/// The arguments are invalid, or standard output cannot be written to.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.parsed_arguments()? else { return Ok(0) };
    let request = TraceJobOptions::of(&arguments);
    let messages = *invocation.messages;
    let refusal = |text: String, help| Error::refusal("unreadable-trace", text, Some(help));
    let name = arguments.get_one::<OsString>("trace").cloned().unwrap_or_default();
    let shown = name.to_string_lossy();
    let source =
        open_source(&name).map_err(|error| refusal(format!("open: {}: {shown}", reason(&error)), ""))?;
    let reader = TraceReader::new(BufReader::new(RetryInterrupted(source)));
    let make_trace = "make a trace with `blkparse -i NAME -d TRACE`";
    let summary = reader
        .and_then(TraceSummary::read)
        .map_err(|error| refusal(format!("{error}: {shown}"), make_trace))?;
    let no_device = |(major, minor)| {
        refusal(format!("failed to find device {major}/{minor}"), "use -d to specify device")
    };
    let (groups, left_out) = request.groups(&summary).map_err(no_device)?;
    let note =
        |text: String| messages.note(&Diagnostic::warning(text, Origin::Builtin).code("trace-summary"));
    if groups.iter().any(|group| group.depth() > request.most_depth) {
        note(format!("missing completion traces, depths capped at {}", request.most_depth));
    }
    if !messages.are_of_fio() {
        if left_out > 0 {
            note(format!(
                "left out {left_out} threads with fewer than {} I/Os, less than {} us or less than {} KiB/s: see -n, -t and -r",
                request.least_ios, request.least_us, request.least_kib
            ));
        }
        if summary.is_cut {
            note(format!("{shown} ends in the middle of a record"));
        }
    }
    let text = match arguments.get_flag("job-file") {
        true => groups.iter().map(|group| job::text(group, &request)).collect(),
        false => table::text(&summary, &groups, &request),
    };
    print_text(&text)
}

impl TraceJobOptions {
    fn of(arguments: &ArgMatches) -> Self {
        let number = |name: &str| arguments.get_one(name).copied().unwrap_or_default();
        TraceJobOptions {
            least_us: number("least-time"),
            least_ios: number("least-ios"),
            least_kib: number("least-rate"),
            most_depth: number("most-depth").max(1),
            collapse: number("collapse") == 1,
            depth_difference: number("depth-difference"),
            random_difference: number("random-difference"),
            limits_rates: arguments.get_flag("rate"),
            device: arguments.get_one("device").cloned(),
            added: arguments.get_many("add").map(|lines| lines.cloned().collect()).unwrap_or_default(),
        }
    }

    /// The threads of each job, and the number of threads without a job.
    ///
    /// # Errors
    /// The number of a device that this host does not have.
    fn groups(&self, summary: &TraceSummary) -> Result<(Vec<ThreadGroup>, usize), (u64, u64)> {
        let mut groups: Vec<ThreadGroup> = Vec::new();
        let mut left_out = 0;
        for (&pid, thread) in &summary.threads {
            let rate =
                thread.kinds.iter().fold(0_u64, |sum, kind| sum.saturating_add(thread.kib_per_second(kind)));
            let is_small = thread.ios() < self.least_ios.max(1)
                || thread.lasts_ns / 1000 < self.least_us
                || rate < self.least_kib;
            if is_small {
                left_out += 1;
                continue;
            }
            let like =
                groups.iter_mut().find(|group| self.collapse && self.are_alike(&group.threads[0], thread));
            match like {
                Some(group) => {
                    group.pids.push(pid);
                    group.threads.push(thread.clone());
                }
                None => {
                    let files = self.files(thread)?;
                    groups.push(ThreadGroup { pids: vec![pid], threads: vec![thread.clone()], files });
                }
            }
        }
        Ok((groups, left_out))
    }

    fn are_alike(&self, one: &ThreadSummary, other: &ThreadSummary) -> bool {
        let kinds = one.kinds.iter().zip(&other.kinds);
        let same_kinds = kinds.clone().all(|(one, other)| {
            (one.ios > 0) == (other.ios > 0)
                && one.sizes.keys().eq(other.sizes.keys())
                && one.random_percent().abs_diff(other.random_percent()) <= self.random_difference
        });
        let depths = u64::from(one.depth.abs_diff(other.depth));
        same_kinds && depths <= self.depth_difference && one.devices == other.devices
    }

    fn files(&self, thread: &ThreadSummary) -> Result<Vec<String>, (u64, u64)> {
        if let Some(device) = &self.device {
            return Ok(vec![device.clone()]);
        }
        let name = |&device: &(u64, u64)| {
            block_device_node(device).map(|path| path.to_string_lossy().into_owned()).ok_or(device)
        };
        thread.devices.iter().map(name).collect()
    }
}

impl ThreadGroup {
    /// The average depth of the threads.
    fn depth(&self) -> u64 {
        self.average(|thread| u64::from(thread.depth)).max(1)
    }

    /// The start of the first thread, and the time from there to the end of the last one, in microseconds.
    fn times_us(&self) -> (u64, u64) {
        let begins = self.threads.iter().map(|thread| thread.begins_ns).min().unwrap_or_default();
        let ends = self.threads.iter().map(|thread| thread.begins_ns.saturating_add(thread.lasts_ns)).max();
        (begins / 1000, ends.unwrap_or_default().saturating_sub(begins) / 1000)
    }

    /// KiB per second of all threads together.
    fn kib_per_second(&self, kind: usize) -> u64 {
        self.threads
            .iter()
            .fold(0, |sum: u64, thread| sum.saturating_add(thread.kib_per_second(&thread.kinds[kind])))
    }

    fn average(&self, of: impl Fn(&ThreadSummary) -> u64) -> u64 {
        self.threads.iter().map(of).sum::<u64>() / (self.threads.len() as u64).max(1)
    }
}
