//! The program: a command line in, a report out.
//!
//! The steps stand in [`run`]; each has a file of its own. Who calls the program `fio` gets fio's version line.
#![forbid(unsafe_code)]

mod answers;
mod arguments;
mod check;
mod commands;
mod completions;
mod exit;
mod intervals;
mod job_arguments;
mod jobs;
mod manual;
mod messages;
mod options;
mod output;
mod program;
mod selftest;
mod values;

use std::ffi::OsString;
use std::process::ExitCode;

use ferrio_plan::PlanOptions;
use ferrio_report::{LogWriter, Setting};
use ferrio_runner::RunOptions;

use exit::Stop;
use messages::Messages;
use output::Output;
use program::{FIO_VERSION, Program};

fn main() -> ExitCode {
    // From the first moment on: until the run takes it, the signal waits.
    ferrio_runner::hold_report_signal();
    let mut messages = Messages::default();
    let outcome = run(&mut messages);
    exit::code(outcome, messages)
}

/// From arguments to the exit status; `messages` learns how to speak as soon as it is known.
fn run(messages: &mut Messages) -> Result<u8, Stop> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(command) = commands::read(&words) {
        return commands::run(command?, messages);
    }
    let scanned = arguments::read(words.into_iter(), 1, &options::options());
    *messages = Messages::of(scanned.as_ref().unwrap_or_else(|misread| &misread.items));
    let items = scanned?;
    let program = Program::read(&items).map_err(|error| Stop::program(error, &items))?;
    if let Some(question) = &program.question {
        return answers::answer(question, *messages);
    }
    answers::debug(*messages, &program.debug);
    let set = jobs::read(&items, &program.sections, program.strict)?;
    answers::warn(*messages, &program, &set);
    if program.parse_only || program.showcmd {
        return answers::show(*messages, &program, &set);
    }
    if set.jobs.is_empty() {
        return if program.merge_blktrace_only {
            Ok(0)
        } else {
            Err(Stop::no_jobs(&items, &program.sections))
        };
    }
    let options = PlanOptions { readonly: program.readonly, warnings_fatal: program.warnings_fatal };
    let plan = ferrio_plan::plan(&set, &options).map_err(Stop::Problems)?;
    // Before the file of the report is emptied.
    program.intervals_have_a_place()?;
    let mut output = Output::open(&program, *messages)?;
    output.open_intervals(&program)?;
    if messages.advises() {
        plan.diagnostics.iter().for_each(|diagnostic| output.notice(diagnostic, &set.sources));
    }
    output.announce(&format!("{}{FIO_VERSION}\n", ferrio_report::start_lines(&plan)));
    if program.merge_blktrace_only {
        return output.close().map(|()| 0);
    }
    output.describe(Setting::ask(&plan, env!("CARGO_PKG_VERSION")));
    let logs = LogWriter::start(&plan, program.bandwidth_log.as_deref(), &mut |lost| output.tell(&lost));
    let options = RunOptions {
        progress: output.is_live(),
        logs: logs.as_ref().map(LogWriter::sender),
        total_bandwidth: program.bandwidth_log.is_some(),
        trigger: program.trigger.clone(),
        idleness: program.idle_prof.is_some(),
        interval: program.interval_report.as_ref().map(|wanted| wanted.every),
        status_interval: program.status_interval,
        status_file: Some(output::status_file()),
    };
    let mut result = ferrio_runner::run(&plan, &options, &mut |event| output.observe(&plan, &event));
    drop(options);
    output.write_interval(&plan, &result);
    if let Some(logs) = logs {
        logs.finish(&mut result).iter().for_each(|lost| output.tell(lost));
    }
    output.report(&plan, &result);
    let lost = output.lost_intervals();
    output.close()?;
    Ok(exit::status(&plan, &result).max(u8::from(lost)))
}
