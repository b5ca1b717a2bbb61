//! The front end that takes sysbench's command line: `ferrio sysbench …`, or a program that is called `sysbench`. It runs nothing: whoever
//! calls it runs the plan.
//!
//! It accepts, prints and answers what sysbench 1.0.20 does, so that scripts continue to work. `options` is the table of all options;
//! `completion` has it for shells; `command_line` reads words, `general`, `fileio` and `work` what they mean, with the lines of the header;
//! `prepare` makes and removes the files; `run` makes a plan, has it run and writes the reports, whose texts are in `report`; `job` writes
//! the job file with the same load. All output goes through `log`.

#![forbid(unsafe_code)]

mod command_line;
mod completion;
mod failure;
mod fileio;
mod general;
mod help;
mod job;
mod log;
mod options;
mod prepare;
pub mod report;
mod requests;
mod run;
#[cfg(feature = "lua")]
mod script;
mod sessions;
mod sql;
mod work;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use command_line::{OLD_TEST, SysbenchCommandLine};
use ferrio_oltp::OltpTest;
use general::GeneralOptions;
use log::{Level, Log, Refusal};
use options::SysbenchOption;
use run::TestInvocation;
use work::WorkTest;

pub use completion::command;
pub use help::ABOUT;
pub use help::{names, on_database, on_option, on_test, option_lists};
pub use run::PlanRunner;

/// The name that makes the program this front end.
pub const NAME: &str = "sysbench";

/// A test.
struct Test {
    name: &'static str,
    about: &'static str,
    options: &'static [SysbenchOption],
    run: RunCommand,
}

/// The work of the command `run`.
enum RunCommand {
    /// The test of files, which has `prepare` and `cleanup` too.
    Fileio,
    /// A test without I/O, whose options this reads.
    Work(fn(&SysbenchCommandLine, &Log) -> Result<WorkTest, Refusal>),
    /// A test of a database.
    Sql(OltpTest),
}

/// The tests, in the order of the help text.
const TESTS: &[Test] = &[
    Test {
        name: "fileio",
        about: "reads, writes and syncs of files",
        options: options::FILEIO,
        run: RunCommand::Fileio,
    },
    Test {
        name: "cpu",
        about: "a search for prime numbers",
        options: options::CPU,
        run: RunCommand::Work(WorkTest::cpu),
    },
    Test {
        name: "memory",
        about: "reads and writes of memory",
        options: options::MEMORY,
        run: RunCommand::Work(WorkTest::memory),
    },
    Test {
        name: "threads",
        about: "threads that yield under locks",
        options: options::THREADS,
        run: RunCommand::Work(WorkTest::threads),
    },
    Test {
        name: "mutex",
        about: "threads that take mutexes",
        options: options::MUTEX,
        run: RunCommand::Work(WorkTest::mutex),
    },
    Test {
        name: "oltp_read_write",
        about: "transactions of reads and writes on a database",
        options: options::OLTP,
        run: RunCommand::Sql(OltpTest::ReadWrite),
    },
    Test {
        name: "oltp_read_only",
        about: "transactions of reads on a database",
        options: options::OLTP,
        run: RunCommand::Sql(OltpTest::ReadOnly),
    },
    Test {
        name: "oltp_write_only",
        about: "transactions of writes on a database",
        options: options::OLTP,
        run: RunCommand::Sql(OltpTest::WriteOnly),
    },
    Test {
        name: "oltp_point_select",
        about: "reads of single rows by id",
        options: options::OLTP,
        run: RunCommand::Sql(OltpTest::PointSelect),
    },
    Test {
        name: "oltp_update_index",
        about: "updates of an indexed column",
        options: options::OLTP,
        run: RunCommand::Sql(OltpTest::UpdateIndex),
    },
    Test {
        name: "oltp_update_non_index",
        about: "updates of a column without an index",
        options: options::OLTP,
        run: RunCommand::Sql(OltpTest::UpdateNonIndex),
    },
    Test {
        name: "oltp_insert",
        about: "inserts of single rows",
        options: options::OLTP,
        run: RunCommand::Sql(OltpTest::Insert),
    },
    Test {
        name: "oltp_delete",
        about: "deletes of single rows",
        options: options::OLTP,
        run: RunCommand::Sql(OltpTest::Delete),
    },
    Test {
        name: "select_random_points",
        about: "reads of rows by some values of an indexed column",
        options: options::SELECT_RANDOM_POINTS,
        run: RunCommand::Sql(OltpTest::RandomPoints),
    },
    Test {
        name: "select_random_ranges",
        about: "counts of rows in some ranges of an indexed column",
        options: options::SELECT_RANDOM_RANGES,
        run: RunCommand::Sql(OltpTest::RandomRanges),
    },
    Test {
        name: "bulk_insert",
        about: "inserts of many rows in a statement",
        options: &[],
        run: RunCommand::Sql(OltpTest::BulkInsert),
    },
];

/// Commands of sysbench's tests.
const COMMANDS: &[&str] = &["prepare", "run", "cleanup", "help"];

/// The version of sysbench whose behaviour this is, in the first line of its output.
fn banner() -> String {
    format!("sysbench 1.0.20 (using ferrio {})\n\n", env!("CARGO_PKG_VERSION"))
}

/// True if the program is called by this name.
#[must_use]
pub fn is_called(process: Option<&OsStr>) -> bool {
    process.and_then(|process| Path::new(process).file_name()).is_some_and(|name| name == NAME)
}

/// True if this is a test.
#[must_use]
pub fn is_test(name: &str) -> bool {
    TESTS.iter().any(|test| test.name == name)
}

/// True if this names a load on a database that is none of the tests: the test of versions before 1.0, or a well-known script.
#[must_use]
pub fn is_of_databases(name: &str) -> bool {
    ["oltp", "tpcc"].iter().any(|prefix| name.starts_with(prefix)) && !is_test(name)
}

/// True if this is a test, or a command that is none of ferrio's.
#[must_use]
pub fn is_word(name: &str) -> bool {
    is_test(name) || matches!(name, "prepare" | "run" | "cleanup")
}

/// The commands that a test has.
fn commands_of(test: &Test) -> &'static [&'static str] {
    match test.run {
        RunCommand::Fileio => COMMANDS,
        RunCommand::Work(_) => &["run", "help"],
        RunCommand::Sql(test) => sql::commands_of(test),
    }
}

/// Options of all tests that fio does not have.
const NOT_OF_FIO: [SysbenchOption; 5] = [
    SysbenchOption::NumThreads,
    SysbenchOption::MaxRequests,
    SysbenchOption::MaxTime,
    SysbenchOption::TxRate,
    SysbenchOption::InitRng,
];

/// True if sysbench has an option with this name and fio has none: such an option of all tests, or one of the test of files.
#[must_use]
pub fn is_option_that_fio_lacks(name: &str) -> bool {
    name == OLD_TEST || [&NOT_OF_FIO, options::FILEIO].iter().any(|list| options::named(list, name).is_some())
}

/// Where output goes.
pub struct Streams {
    /// Standard output.
    pub out: Box<dyn Write + Send>,
    /// Standard error.
    pub mistakes: Box<dyn Write + Send>,
    /// Standard output is a terminal.
    pub is_terminal: bool,
}

/// Runs what the words ask for and returns the exit status.
#[must_use]
pub fn run(words: &[OsString], streams: Streams, execute: &PlanRunner) -> u8 {
    let log = Arc::new(Log::to(streams.out, streams.mistakes));
    log.set_terminal(streams.is_terminal);
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let status = answer(&words, &log, execute).unwrap_or(1);
    match log.finish() {
        // The reader of a closed pipe has seen enough.
        Some(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            log.mistake(&format!("cannot write to standard output: {}", ferrio_job::reason(&error)));
            status.max(1)
        }
        _ => status,
    }
}

fn answer(words: &[String], log: &Arc<Log>, execute: &PlanRunner) -> Result<u8, Refusal> {
    let line = SysbenchCommandLine::read(words, log)?;
    if line.flag(SysbenchOption::Help) {
        log.always(&help::general());
        return Ok(0);
    }
    if line.flag(SysbenchOption::Version) {
        log.always("sysbench 1.0.20\n");
        return Ok(0);
    }
    let general = GeneralOptions::read(&line, log)?;
    log.text(Level::Notice, &banner());
    let Some(name) = &line.test else {
        log.line(Level::Fatal, "No test is named; `sysbench --help` lists the tests");
        return Err(Refusal);
    };
    let call =
        TestInvocation { name, options: &[], of_script: &[], line: &line, general: &general, log, execute };
    let Some(test) = built_in(name) else { return other_test(&call, words) };
    let name = test.name;
    line.check_options(test.options, log)?;
    let command = line.command.as_deref().ok_or_else(|| no_command(test, log))?;
    let call = TestInvocation { name, options: test.options, ..call };
    match (command, &test.run) {
        ("help", _) if commands_of(test).contains(&"help") => {
            log.always(&format!("{name} options:\n{}\n", options::list(test.options)));
            Ok(0)
        }
        ("run", RunCommand::Fileio) => {
            let options = fileio::read(&line, &general, true, log)?;
            if general.shows_job {
                log.document(&job::job(&options, &general));
                return Ok(0);
            }
            call.fileio(&options)
        }
        (_, _) if general.shows_job => Err(log.refuse("--show-job is for `fileio … run`")),
        ("run", RunCommand::Work(read)) => call.work(&read(&line, log)?),
        ("prepare", RunCommand::Fileio) => {
            prepare::prepare(&fileio::read(&line, &general, false, log)?, log).map(|()| 0)
        }
        ("cleanup", RunCommand::Fileio) => {
            prepare::cleanup(&fileio::read(&line, &general, false, log)?, log);
            Ok(0)
        }
        ("run", RunCommand::Sql(test)) => sql::run(&call, *test),
        (command, RunCommand::Sql(test)) if sql::commands_of(*test).contains(&command) => {
            sql::on_tables(&call, *test, command)
        }
        (known, RunCommand::Work(_) | RunCommand::Sql(_)) if COMMANDS.contains(&known) => {
            Err(log.mistake(&format!("'{name}' test does not implement the '{known}' command.")))
        }
        (unknown, _) => Err(log.mistake(&format!("Unknown command: {unknown}"))),
    }
}

/// Refuses a call of a test without a command.
fn no_command(test: &Test, log: &Log) -> Refusal {
    let name = test.name;
    match test.run {
        RunCommand::Sql(test) => sql::no_command(test, log),
        _ => {
            log.mistake(&format!("The '{name}' test requires a command argument. See 'sysbench {name} help'"))
        }
    }
}

/// A built-in test, by its name or by the path that sysbench installs its script at, which articles have.
fn built_in(name: &str) -> Option<&'static Test> {
    let path = Path::new(name);
    let is_installed = path.parent().and_then(Path::file_name).is_some_and(|directory| directory == NAME);
    let name =
        name.strip_suffix(".lua").filter(|_| is_installed).and(path.file_stem()?.to_str()).unwrap_or(name);
    TESTS.iter().find(|test| test.name == name)
}

/// Runs a test that is not built in: a script.
#[cfg(feature = "lua")]
fn other_test(call: &TestInvocation<'_>, words: &[String]) -> Result<u8, Refusal> {
    let script = ferrio_lua::Script::find(call.name).ok_or_else(|| unknown_test(call.name, call.log))?;
    if call.general.shows_job {
        return Err(call.log.refuse("--show-job is for `fileio … run`"));
    }
    // Messages have its name without directories.
    let name = call.name.rsplit('/').next().unwrap_or(call.name);
    script::answer(script, &TestInvocation { name, ..*call }, words)
}

/// Refuses a test that is not built in.
#[cfg(not(feature = "lua"))]
fn other_test(call: &TestInvocation<'_>, _words: &[String]) -> Result<u8, Refusal> {
    let is_script = call.name.ends_with(".lua") || Path::new(call.name).is_file();
    if is_script {
        return Err(call.log.refuse(&format!("Cannot run '{}': {}", call.name, help::SCRIPTS_NEED)));
    }
    Err(unknown_test(call.name, call.log))
}

/// Refuses a test that is nothing that is known here.
fn unknown_test(name: &str, log: &Log) -> Refusal {
    let refused =
        log.refuse(&format!("Cannot find benchmark '{name}': no such built-in test, file or module"));
    let names: Vec<&str> = TESTS.iter().map(|test| test.name).collect();
    log.text(
        Level::Fatal,
        &format!("The tests are {}. `sysbench --help` lists the options.\n", names.join(", ")),
    );
    refused
}
