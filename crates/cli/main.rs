//! The program: a command line in, a report out.
//!
//! The steps stand in [`run`]; each has a file of its own. Who calls the program `fio` gets fio's version line.
#![forbid(unsafe_code)]

mod answers;
mod arguments;

mod commands;
mod completions;
mod exit;
mod job_arguments;
mod jobs;
mod manual;
mod options;
mod output;
mod program;
mod selftest;
mod values;

use std::process::ExitCode;

use ferrio_plan::PlanOptions;
use ferrio_report::{LogWriter, ReportOptions};
use ferrio_runner::RunOptions;

use exit::Stop;
use output::Output;
use program::{FIO_VERSION, Program};

fn main() -> ExitCode {
    exit::code(run())
}

/// From arguments to the exit status.
fn run() -> Result<u8, Stop> {
    let arguments = answers::arguments()?;
    if let Some(command) = commands::read(&arguments) {
        return commands::run(command?);
    }
    let items = arguments::scan(&arguments, &options::options())?;
    let program = Program::read(&items)?;
    if let Some(question) = &program.question {
        return answers::answer(question);
    }
    answers::debug(&program.debug);
    let set = jobs::read(&items, &program.sections)?;
    answers::warn(&program, &set);
    if program.parse_only || program.showcmd {
        return answers::show(&program, &set);
    }
    if set.jobs.is_empty() {
        return if program.merge_blktrace_only { Ok(0) } else { Err(Stop::NoJobs) };
    }
    let options = PlanOptions { readonly: program.readonly, warnings_fatal: program.warnings_fatal };
    let plan = ferrio_plan::plan(&set, &options).map_err(Stop::Problems)?;
    let mut output = Output::open(&program)?;
    plan.notes.iter().for_each(|note| output.note(note));
    output.announce(&format!("{}{FIO_VERSION}\n", ferrio_report::start_lines(&plan)));
    if program.merge_blktrace_only {
        return output.close().map(|()| 0);
    }
    let logs = LogWriter::start(&plan, &mut |note| output.note(&note));
    let options = RunOptions {
        progress: output.is_live(),
        logs: logs.as_ref().map(LogWriter::sender),
        trigger: program.trigger.clone(),
    };
    let mut result = ferrio_runner::run(&plan, &options, &mut |event| output.observe(&plan, &event));
    drop(options);
    if let Some(logs) = logs {
        logs.finish(&mut result).iter().for_each(|note| output.note(note));
    }
    output.write(&ferrio_report::report(&plan, &result, &ReportOptions::new(program.formats, FIO_VERSION)));
    output.close()?;
    Ok(exit::status(&plan, &result))
}
