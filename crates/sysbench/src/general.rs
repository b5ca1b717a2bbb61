//! The values of sysbench's general options, and the lines about them in the header.

use std::fmt::Write as _;

use crate::command_line::SysbenchCommandLine;
use crate::log::{Level, Log, Refusal};
use crate::options::SysbenchOption;

/// Maximum number of checkpoints, as in sysbench.
const MAX_CHECKPOINTS: usize = 256;

/// The general options, with every value in range.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneralOptions {
    /// Number of threads, at least one.
    pub threads: u32,
    /// Maximum number of events of all threads together.
    pub events: Option<u64>,
    /// Maximum run time, s.
    pub time: Option<u64>,
    /// Time after the start at which the program is stopped, s.
    pub forced_shutdown: Option<u64>,
    /// Events per second of all threads together.
    pub rate: Option<u32>,
    /// Interval between progress lines, s.
    pub report_interval: Option<u64>,
    /// Times after the start at which a report is written and counters are reset, s, ascending.
    pub checkpoints: Vec<u64>,
    /// True if requests are logged.
    pub debug: bool,
    /// True if blocks have checksums.
    pub validate: bool,
    /// Highest level of messages that are written.
    pub verbosity: u8,
    /// The latency percentile to report, 0 for none.
    pub percentile: u32,
    /// Print a histogram of latencies.
    pub histogram: bool,
    /// `--rand-seed`; `None` to seed from the clock.
    pub seed: Option<i32>,
    /// Write the report as JSON.
    pub json: bool,
    /// Print the equivalent job file instead of running the test.
    pub shows_job: bool,
}

impl GeneralOptions {
    /// Reads the general options, and warns of those that are deprecated.
    ///
    /// # Errors
    /// A value makes no sense.
    pub fn read(line: &SysbenchCommandLine, log: &Log) -> Result<Self, Refusal> {
        let json = match line.text(SysbenchOption::OutputFormat) {
            None | Some("text") => false,
            Some("json") => true,
            Some(other) => {
                return Err(
                    log.refuse(&format!("Invalid value for --output-format: '{other}': choose text or json"))
                );
            }
        };
        let verbosity = match line.number(SysbenchOption::Verbosity) {
            level @ 0..=5 => level as u8,
            level => {
                log.always(&format!("Invalid value for verbosity: {level}\n"));
                return Err(Refusal);
            }
        };
        let debug = line.flag(SysbenchOption::Debug);
        let verbosity = if debug { 5 } else { verbosity };
        log.set_verbosity(verbosity);
        let shows_job = line.flag(SysbenchOption::ShowJob);
        if json || shows_job {
            log.leave_stdout();
        }
        let threads = line.renamed(SysbenchOption::Threads, SysbenchOption::NumThreads, 1, log);
        if threads < 1 {
            return Err(log.refuse(&format!("Invalid value for --threads: {threads}.\n")));
        }
        // A negative number is no limit in practice: sysbench reads it as a huge one.
        let events = u64::try_from(line.renamed(SysbenchOption::Events, SysbenchOption::MaxRequests, 0, log))
            .ok()
            .filter(|&n| n > 0);
        let time = line.renamed(SysbenchOption::Time, SysbenchOption::MaxTime, 0, log);
        let time = u64::try_from(time).ok().filter(|&seconds| seconds > 0);
        let rate = line.renamed(SysbenchOption::Rate, SysbenchOption::TxRate, 0, log);
        let rate =
            u32::try_from(rate).map_err(|_| log.refuse(&format!("Invalid value for --rate: {rate}")))?;
        if line.flag(SysbenchOption::InitRng) {
            log.line(Level::Warning, "--init-rng is deprecated: random numbers are seeded from the clock unless --rand-seed is given");
        }
        if line.size(SysbenchOption::ThreadStackSize) == 0 {
            return Err(log.refuse("Invalid value for thread-stack-size: 0.\n"));
        }
        let interval = line.number(SysbenchOption::ReportInterval);
        let interval = u64::try_from(interval)
            .map_err(|_| log.refuse(&format!("Invalid value for --report-interval: {interval}")))?;
        let checkpoints = checkpoints(line, log)?;
        let percentile = line.number(SysbenchOption::Percentile);
        let percentile = u32::try_from(percentile)
            .ok()
            .filter(|&percentile| percentile <= 100)
            .ok_or_else(|| log.refuse(&format!("Invalid value for --percentile: {percentile}")))?;
        let histogram = line.flag(SysbenchOption::Histogram);
        if histogram && percentile == 0 {
            return Err(log.refuse("--histogram cannot be used with --percentile=0"));
        }
        let forced_shutdown = forced_shutdown(line, time, log)?;
        let rand_type = SysbenchOption::RandType;
        if let Some(unknown) = line.text(rand_type).filter(|word| !rand_type.row().words.contains(word)) {
            return Err(log.refuse(&format!("Invalid random numbers distribution: {unknown}.")));
        }
        if events.is_none() && time.is_none() {
            log.line(Level::Warning, "Both event and time limits are disabled, running an endless test");
        }
        Ok(GeneralOptions {
            threads: threads.unsigned_abs(),
            events,
            time,
            forced_shutdown,
            rate: Some(rate).filter(|&rate| rate > 0),
            report_interval: Some(interval).filter(|&interval| interval > 0),
            checkpoints,
            debug,
            validate: line.flag(SysbenchOption::Validate),
            verbosity,
            percentile,
            histogram,
            seed: Some(line.number(SysbenchOption::RandSeed)).filter(|&seed| seed != 0),
            json,
            shows_job,
        })
    }

    /// The lines of the header that all tests have.
    pub fn header(&self) -> String {
        let mut text =
            format!("Running the test with following options:\nNumber of threads: {}\n", self.threads);
        // Writing to a string does not fail.
        let mut add = |line: std::fmt::Arguments<'_>| {
            let _ = text.write_fmt(line);
        };
        if let Some(rate) = self.rate {
            add(format_args!("Target transaction rate: {rate}/sec\n"));
        }
        if let Some(interval) = self.report_interval {
            add(format_args!("Report intermediate results every {interval} second(s)\n"));
        }
        if !self.checkpoints.is_empty() {
            let all: Vec<String> = self.checkpoints.iter().map(u64::to_string).collect();
            add(format_args!("Report checkpoint(s) at {} seconds\n", all.join(", ")));
        }
        if self.debug {
            add(format_args!("Debug mode enabled.\n\n"));
        }
        if self.validate {
            add(format_args!("Validation checks: on.\n\n"));
        }
        match self.seed {
            Some(seed) => add(format_args!("Initializing random number generator from seed ({seed}).\n\n")),
            None => add(format_args!("Initializing random number generator from current time\n\n")),
        }
        if let Some(seconds) = self.forced_shutdown {
            add(format_args!("Forcing shutdown in {seconds} seconds\n"));
        }
        add(format_args!("\n"));
        text
    }
}

fn checkpoints(line: &SysbenchCommandLine, log: &Log) -> Result<Vec<u64>, Refusal> {
    let mut all = Vec::new();
    for word in line.list(SysbenchOption::ReportCheckpoints) {
        match word.parse::<u32>() {
            Ok(seconds) if seconds > 0 => all.push(u64::from(seconds)),
            _ => return Err(log.refuse(&format!("Invalid value for --report-checkpoints: '{word}'"))),
        }
    }
    if all.len() > MAX_CHECKPOINTS {
        return Err(log.refuse(&format!(
            "Invalid value for --report-checkpoints: {} of them, at most {MAX_CHECKPOINTS} are possible",
            all.len()
        )));
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// The moment of `--forced-shutdown`: seconds after the time limit, or a share of it.
fn forced_shutdown(line: &SysbenchCommandLine, time: Option<u64>, log: &Log) -> Result<Option<u64>, Refusal> {
    const DEFAULT_PERCENT: u64 = 5;
    let option = SysbenchOption::ForcedShutdown;
    let share = |percent: u64| time.map(|time| time * percent / 100);
    let text = line.text(option).unwrap_or_default();
    let refused = || log.refuse(&format!("Invalid value for --forced-shutdown: '{text}'"));
    let number = |text: &str| text.parse::<u32>().map(u64::from).map_err(|_| refused());
    let after = if line.is_bare(option) {
        share(DEFAULT_PERCENT)
    } else if text.eq_ignore_ascii_case("off") {
        None
    } else if let Some(percent) = text.strip_suffix('%') {
        share(number(percent)?)
    } else {
        Some(number(text)?)
    };
    Ok(time.zip(after).map(|(time, after)| time + after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::testing;

    fn read(text: &str) -> (Option<GeneralOptions>, String) {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let (log, out, _) = testing::log();
        let line = SysbenchCommandLine::read(&words, &log).unwrap();
        (GeneralOptions::read(&line, &log).ok(), out.text())
    }

    #[test]
    fn values_without_sense_are_refused_in_the_words_of_sysbench() {
        for (text, message) in [
            ("--threads=0", "FATAL: Invalid value for --threads: 0.\n\n"),
            ("--verbosity=6", "Invalid value for verbosity: 6\n"),
            ("--percentile=101", "FATAL: Invalid value for --percentile: 101\n"),
            ("--percentile=-1", "FATAL: Invalid value for --percentile: -1\n"),
            ("--histogram --percentile=0", "FATAL: --histogram cannot be used with --percentile=0\n"),
            ("--forced-shutdown=1x", "FATAL: Invalid value for --forced-shutdown: '1x'\n"),
            ("--report-checkpoints=a", "FATAL: Invalid value for --report-checkpoints: 'a'\n"),
            ("--rand-type=foo", "FATAL: Invalid random numbers distribution: foo.\n"),
            ("--thread-stack-size=0", "FATAL: Invalid value for thread-stack-size: 0.\n\n"),
            ("--rate=-1", "FATAL: Invalid value for --rate: -1\n"),
        ] {
            assert_eq!(read(text), (None, message.to_owned()), "{text}");
        }
    }

    #[test]
    fn old_names_win_and_are_reported() {
        let (general, out) =
            read("--num-threads=3 --threads=5 --max-time=1 --max-requests=2 --tx-rate=100 --events=9");
        let general = general.unwrap();
        assert_eq!(
            (general.threads, general.time, general.events, general.rate),
            (3, Some(1), Some(2), Some(100))
        );
        assert_eq!(out.matches("is deprecated, use --").count(), 4);
        let (general, out) = read("--num-threads=1 --threads=5 --max-requests=0 --events=2");
        assert_eq!(general.map(|general| (general.threads, general.events)), Some((5, Some(2))));
        assert_eq!(out, "");
    }

    #[test]
    fn the_forced_shutdown_is_after_the_time_limit() {
        let of = |text: &str| read(text).0.unwrap().forced_shutdown;
        assert_eq!(of("--time=100 --forced-shutdown"), Some(105));
        assert_eq!(of("--time=100 --forced-shutdown=20%"), Some(120));
        assert_eq!(of("--time=1 --forced-shutdown=1"), Some(2));
        assert_eq!(of("--time=100 --forced-shutdown=OFF"), None);
        assert_eq!(of("--time=0 --forced-shutdown=3 --events=1"), None);
    }

    #[test]
    fn the_header_has_a_line_for_each_option_that_matters() {
        let (general, _) = read(
            "--threads=2 --time=1 --forced-shutdown=2 --rate=10 --report-interval=1 --report-checkpoints=2,1 --rand-seed=3 --debug --validate",
        );
        insta::assert_snapshot!(general.unwrap().header(), @r"
        Running the test with following options:
        Number of threads: 2
        Target transaction rate: 10/sec
        Report intermediate results every 1 second(s)
        Report checkpoint(s) at 1, 2 seconds
        Debug mode enabled.

        Validation checks: on.

        Initializing random number generator from seed (3).

        Forcing shutdown in 3 seconds

        ");
        let (general, _) = read("");
        assert!(general.unwrap().header().ends_with("current time\n\n\n"));
    }
}
