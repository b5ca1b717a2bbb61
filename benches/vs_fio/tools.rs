//! Runs a job under fio, under ferrio, or as a bare loop.

use std::env;
use std::ffi::OsString;
use std::process::Command;

use serde_json::Value;

use crate::Outcome;
use crate::usage::Usage;
use crate::work::{Calls, PASS, Settings, Work};

pub(crate) const LOOP: &str = "--role=loop";

/// A program under comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Fio,
    Ferrio,
}

impl Tool {
    /// What to execute.
    pub(crate) const fn program(self, settings: Settings) -> &'static str {
        match self {
            Tool::Fio => "fio",
            Tool::Ferrio => settings.ferrio,
        }
    }
}

/// Whether a build of ferrio has the option `tuning`, which older ones refuse.
pub(crate) fn has_tuning(ferrio: &str) -> bool {
    let answer = Command::new(ferrio).arg("--cmdhelp=tuning").output();
    answer.is_ok_and(|answer| answer.status.success())
}

/// Who does the I/O of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contender {
    Tool(Tool),
    /// This program, in the role of a loop.
    Bare,
}

impl Contender {
    pub(crate) const ALL: [Contender; 3] =
        [Contender::Tool(Tool::Fio), Contender::Tool(Tool::Ferrio), Contender::Bare];
}

/// A row with the places that its job needs.
#[derive(Clone, Debug)]
pub(crate) struct Job<'a> {
    pub work: &'static Work,
    /// File, directory or device, `None` for [`crate::work::Place::Nothing`].
    pub path: Option<&'a str>,
    /// A directory for the logs of the job.
    pub logs: &'a str,
    pub settings: Settings,
    /// I/Os per second that the job is limited to.
    pub rate: Option<u64>,
    /// Workers of a tool; the bare loop has one.
    pub workers: u64,
}

/// A command and how to count what it did.
struct Line {
    program: String,
    arguments: Vec<String>,
    /// Known beforehand; otherwise the report has it.
    ios: Option<u64>,
}

impl Job<'_> {
    /// Runs the job for some passes and returns what it cost and how many I/Os it did.
    pub(crate) fn run(&self, contender: Contender, passes: u64) -> Outcome<(Usage, u64)> {
        let line = self.line(contender, passes)?;
        let (usage, output) = Usage::of(Command::new(&line.program).args(&line.arguments))
            .map_err(|error| format!("{}: {error}", line.program))?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        let failed = |why: &str| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            format!("{} {}: {why}\n{stderr}", line.program, line.arguments.join(" "))
        };
        if !output.status.success() {
            return Err(failed(&output.status.to_string()).into());
        }
        Ok((usage, line.ios(&stdout).ok_or_else(|| failed("its report has no number of I/Os"))?))
    }

    /// Counts the instructions of the job, and its I/Os.
    pub(crate) fn count(&self, contender: Contender, passes: u64) -> Outcome<(u64, u64)> {
        let line = self.line(contender, passes)?;
        let (instructions, stdout) = ferrio_instructions::count(&line.program, &line.arguments)?;
        Ok((instructions, line.ios(&stdout).ok_or("the report has no number of I/Os")?))
    }

    fn line(&self, contender: Contender, passes: u64) -> Outcome<Line> {
        match contender {
            Contender::Tool(tool) => {
                let mut options = self.work.options(self.path, passes, self.logs, self.settings.processes);
                if self.workers > 1 {
                    options.extend([format!("numjobs={}", self.workers), "group_reporting=1".to_owned()]);
                }
                if tool == Tool::Ferrio && self.settings.has_tuning {
                    // The conditions of the others.
                    options.push("tuning=fio".to_owned());
                }
                options.extend(self.rate.map(|rate| format!("rate_iops={rate}")));
                Ok(Line {
                    program: tool.program(self.settings).to_owned(),
                    arguments: arguments(&options),
                    ios: None,
                })
            }
            Contender::Bare => {
                let this =
                    |path: OsString| path.into_string().map_err(|_| "the path of this program is no UTF-8");
                let ios = passes * PASS;
                let path = self.path.filter(|_| self.work.calls != Calls::Clock).unwrap_or_default();
                let arguments =
                    vec![LOOP.to_owned(), self.work.name.to_owned(), path.to_owned(), ios.to_string()];
                Ok(Line { program: this(env::current_exe()?.into_os_string())?, arguments, ios: Some(ios) })
            }
        }
    }
}

impl Line {
    fn ios(&self, stdout: &str) -> Option<u64> {
        if self.ios.is_some() {
            return self.ios;
        }
        // fio may put notes before its report.
        let report: Value = serde_json::from_str(&stdout[stdout.find('{')?..]).ok()?;
        let job = &report["jobs"][0];
        let done = |direction: &str| job[direction]["total_ios"].as_u64();
        Some(done("read")? + done("write")?).filter(|&ios| ios > 0)
    }
}

/// The command line of a job.
pub(crate) fn arguments(options: &[String]) -> Vec<String> {
    let job = ["--name=bench".to_owned()];
    let format = options.iter().any(|option| option.starts_with("output-format="));
    let format = (!format).then(|| "--output-format=json".to_owned());
    format.into_iter().chain(job).chain(options.iter().map(|option| format!("--{option}"))).collect()
}
