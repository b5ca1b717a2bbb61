//! The tests of databases: their options, the command `run` and those that make, read and drop tables. What they send is in `ferrio_oltp`.

mod commands;
mod options;
mod output;

use std::sync::Arc;

use ferrio_oltp::{OltpRun, OltpSessions, OltpTest, TableCommand, Target};

use crate::log::{Level, Log, Refusal};
use crate::run::TestInvocation;

pub use options::{database, oltp, random};
pub use output::LogOutput;

/// The commands of tests that have tables, in the order of sysbench's message.
pub const COMMANDS: [&str; 5] = ["prepare", "prewarm", "run", "cleanup", "help"];
/// Those of `bulk_insert`.
pub const BULK_COMMANDS: [&str; 3] = ["prepare", "run", "cleanup"];

/// The commands that a test has.
pub const fn commands_of(test: OltpTest) -> &'static [&'static str] {
    match test {
        OltpTest::BulkInsert => &BULK_COMMANDS,
        _ => &COMMANDS,
    }
}

/// Refuses a call of a test without a command.
pub fn no_command(test: OltpTest, log: &Log) -> Refusal {
    log.refuse(&format!("Command is required. Supported commands: {}", commands_of(test).join(", ")))
}

/// The database of a run.
///
/// # Errors
/// An option of the database makes no sense.
pub fn target(call: &TestInvocation<'_>) -> Result<Arc<Target>, Refusal> {
    let database = database(call.line, call.log)?;
    let connect = |driver: ferrio_oltp::Driver, login: &ferrio_sql::Login| {
        Ok(driver.connect(login)? as Box<dyn ferrio_sql::Connection>)
    };
    Ok(Arc::new(Target::new(database, call.general.threads, Box::new(connect))))
}

/// Runs a test and returns the exit status.
///
/// # Errors
/// It failed, which has been reported.
pub fn run(call: &TestInvocation<'_>, test: OltpTest) -> Result<u8, Refusal> {
    let options = oltp(call.line, call.log)?;
    let target = target(call)?;
    let random = random(call.line, call.general);
    let output = Box::new(LogOutput(Arc::clone(call.log)));
    let has_percentile = call.general.percentile > 0;
    let run = Arc::new(OltpRun::new(test, options, random, has_percentile, Arc::clone(&target), output));
    call.log.text(Level::Notice, &call.general.header());
    let status = call.sessions(Arc::new(OltpSessions(Arc::clone(&run))), Some(target), None)?;
    if run.has_failed() { Err(Refusal) } else { Ok(status) }
}

/// Does a command on tables.
///
/// # Errors
/// It failed, which has been reported.
pub fn on_tables(call: &TestInvocation<'_>, test: OltpTest, command: &str) -> Result<u8, Refusal> {
    let options = oltp(call.line, call.log)?;
    let output = LogOutput(Arc::clone(call.log));
    let filling = ferrio_oltp::Filling::default();
    let command_on_tables = TableCommand {
        test,
        options: &options,
        random: &random(call.line, call.general),
        threads: call.general.threads,
        target: &target(call)?,
        output: &output,
        filling: &filling,
    };
    let done = match command {
        "prewarm" => {
            announce_threads(call);
            command_on_tables.prewarm()
        }
        "cleanup" => command_on_tables.cleanup(),
        _ => {
            if test != OltpTest::BulkInsert {
                announce_threads(call);
            }
            commands::prepare(&command_on_tables, call)
        }
    };
    done.map(|()| 0).map_err(|_| Refusal)
}

/// Announces the threads of a command that has several.
fn announce_threads(call: &TestInvocation<'_>) {
    if call.general.threads > 1 {
        call.log.text(Level::Notice, "Initializing worker threads...\n\n");
    }
}
