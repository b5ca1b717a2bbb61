//! `ferrio import innodb-status` and `postgres-status`: the job file of a model of a running server, from what its client prints.
//!
//! `ferrio_dbstatus` says what the counters mean; this file reads them and writes the job; [`live_server`](super::live_server) asks a server.

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgMatches, Command, ValueHint, value_parser};
use ferrio_dbstatus::{
    GivenFigures, INNODB_QUERY, ModelJob, POSTGRES_QUERIES, Snapshot, innodb_job, postgres_job,
};
use ferrio_job::reason;
use ferrio_machine::{FileIdentity, RetryInterrupted};
use ferrio_trace::{STDIN, open_source, source_name};

use super::live_server::{self, ImportedServer};
use super::refusal;
use crate::commands::subcommand::{operand, option};
use crate::error::Error;
use crate::messages::{Messages, print_text};
use crate::output_file::OutputFile;

/// The longest text of a snapshot; servers print some ten thousand bytes.
const MAX_SNAPSHOT: u64 = 64 << 20;

/// The sub-command of a server.
fn command(server: ImportedServer) -> Command {
    let (about, details) = match server {
        ImportedServer::Innodb => (
            "Write the job file of a running MariaDB or MySQL: workload=innodb with the I/O of its transactions",
            innodb_details(),
        ),
        ImportedServer::Postgres => (
            "Write the job file of a running PostgreSQL: workload=postgres with the I/O of its transactions",
            postgres_details(),
        ),
    };
    let path = |name, value, help| {
        operand(name, value, help).value_parser(value_parser!(OsString)).value_hint(ValueHint::FilePath)
    };
    let command =
        Command::new(server.name()).about(about).after_help(details).args_override_self(true).args([
            path("before", "BEFORE", "First snapshot of the server; - is standard input")
                .required_unless_present_any(live_server::names(server))
                .conflicts_with_all(live_server::names(server)),
            path(
                "after",
                "AFTER",
                "Second snapshot; without it, the job has the I/O since the start of the server",
            ),
            option("output", "FILE", "Write the job file to FILE instead of standard output")
                .short('o')
                .value_hint(ValueHint::FilePath)
                .value_parser(value_parser!(PathBuf)),
            option("sessions", "NUMBER", "Sessions at work, in place of those that the counters show")
                .value_parser(value_parser!(u32).range(1..=1_000_000)),
            option("size", "SIZE", "Size of the data, such as 100g, in place of what the snapshots say")
                .value_parser(bytes),
            option("transaction-cpu", "TIME", "CPU time of a transaction, such as 1500us or 2ms")
                .value_parser(cpu_time),
            option("runtime", "SECONDS", "Time that the job runs")
                .default_value("60")
                .value_parser(value_parser!(u32).range(1..=31_536_000)),
        ]);
    command.args(live_server::arguments(server))
}

/// The sub-commands of `ferrio import`.
pub fn commands() -> Vec<Command> {
    ImportedServer::ALL.map(command).to_vec()
}

fn innodb_details() -> String {
    format!(
        "\
Each snapshot is what {INNODB_QUERY} prints, under the usual load and some
minutes apart; with the line of /proc/PID/stat, the job also has the CPU time:

  snapshot() {{ mariadb -e 'SHOW GLOBAL VARIABLES; SHOW GLOBAL STATUS'
               cat /proc/$(pidof mariadbd)/stat; }}
  snapshot > before.txt; sleep 300; snapshot > after.txt
  ferrio import innodb-status before.txt after.txt -o bank.fio
  ferrio check bank.fio

With --mysql-host or --mysql-socket, ferrio takes both snapshots itself.

The counters lack the size of the data. Give --size, or append a line to the
snapshots: `data_bytes', a tab and the number of bytes."
    )
    .replace("`data_bytes'", "`data_bytes`")
}

fn postgres_details() -> String {
    let statements: Vec<String> =
        POSTGRES_QUERIES.iter().map(|statement| format!("    -c \"{statement}\"")).collect();
    format!(
        "\
Each snapshot is what psql prints for these statements, under the usual load
and some minutes apart. Statements about tables that a release lacks fail, which
does no harm. With the lines of /proc/PID/stat of all processes of the server,
the job also has the CPU time:

  snapshot() {{ psql -X --csv \\
{} 2>/dev/null
    for pid in $(pidof postgres); do cat /proc/$pid/stat; done; }}
  snapshot > before.csv; sleep 300; snapshot > after.csv
  ferrio import postgres-status before.csv after.csv -o bank.fio
  ferrio check bank.fio

With --pgsql-host, ferrio takes both snapshots itself.",
        statements.join(" \\\n")
    )
}

fn bytes(text: &str) -> Result<u64, String> {
    let (number, power) = scaled(text, &[("k", 10), ("m", 20), ("g", 30), ("t", 40)], 0);
    let bytes = number.filter(|&number| number > 0.0).map(|number| number * (1_u64 << power) as f64);
    bytes
        .filter(|&bytes| bytes < 1e18)
        .map(|bytes| bytes as u64)
        .ok_or_else(|| "a size such as 100g is expected".to_owned())
}

fn cpu_time(text: &str) -> Result<Duration, String> {
    let (number, power) = scaled(text, &[("us", 0), ("ms", 3), ("s", 6)], 0);
    let us = number.filter(|number| (0.0..=3.6e9).contains(number)).map(|number| number * 10_f64.powi(power));
    let time = us.and_then(|us| Duration::try_from_secs_f64(us / 1e6).ok());
    time.ok_or_else(|| "a time such as 1500us or 2ms is expected".to_owned())
}

/// The number before a unit, and what the unit stands for.
fn scaled<T: Copy>(text: &str, units: &[(&str, T)], without: T) -> (Option<f64>, T) {
    let text = text.trim().to_ascii_lowercase();
    let found = units.iter().find_map(|&(unit, power)| Some((text.strip_suffix(unit)?, power)));
    let (number, power) = found.unwrap_or((&text, without));
    (number.trim().parse().ok().filter(|number: &f64| number.is_finite()), power)
}

/// Writes the job file.
pub fn run(server: ImportedServer, arguments: &ArgMatches, messages: &mut Messages) -> Result<u8, Error> {
    let output = arguments.get_one::<PathBuf>("output").filter(|output| *output != Path::new("-"));
    let (names, snapshots) = match live_server::snapshots(server, arguments)? {
        Some((name, snapshots)) => (name, snapshots.to_vec()),
        None => read_snapshots(arguments, output)?,
    };
    let (before, after) = match &snapshots[..] {
        [before, after] => (Some(before), after),
        [only, ..] => (None, only),
        [] => return Ok(0),
    };
    let given = GivenFigures {
        sessions: arguments.get_one("sessions").copied(),
        data_bytes: arguments.get_one("size").copied(),
        transaction_cpu: arguments.get_one("transaction-cpu").copied(),
        runtime: arguments.get_one("runtime").copied().unwrap_or_default(),
    };
    let job = match server {
        ImportedServer::Innodb => innodb_job(before, after, &given),
        ImportedServer::Postgres => postgres_job(before, after, &given),
    };
    let job =
        job.map_err(|error| refusal(format!("cannot make a job of {names}: {error}"), Some(&error.help())))?;
    write(&job, output)?;
    for remark in &job.remarks {
        messages.write(&format!("note: {remark}\n"));
    }
    Ok(0)
}

/// The snapshots in files, and their names.
fn read_snapshots(
    arguments: &ArgMatches,
    output: Option<&PathBuf>,
) -> Result<(String, Vec<Snapshot>), Error> {
    let path = |name| arguments.get_one::<OsString>(name).map(OsString::as_os_str);
    let first = path("before").unwrap_or(OsStr::new(STDIN));
    let second = path("after");
    if second == Some(first) {
        return Err(refusal(
            format!("{} is given twice", source_name(first)),
            Some("give two different snapshots, or only one"),
        ));
    }
    let paths = || [Some(first), second].into_iter().flatten();
    let names: Vec<String> = paths().map(source_name).collect();
    let snapshots = paths().map(|path| snapshot(path, output)).collect::<Result<_, Error>>()?;
    Ok((names.join(" and "), snapshots))
}

/// Reads a snapshot, which the output must not overwrite.
fn snapshot(path: &OsStr, output: Option<&PathBuf>) -> Result<Snapshot, Error> {
    let shown = source_name(path);
    let cannot_read =
        |error: std::io::Error| refusal(format!("cannot read {shown}: {}", reason(&error)), None);
    let file = open_source(path).map_err(cannot_read)?;
    let source = FileIdentity::of_descriptor(&file);
    if let Some(output) = output.filter(|output| source.is_some() && source == FileIdentity::of_path(output))
    {
        let message = format!("{} is the snapshot itself ({shown})", output.display());
        return Err(refusal(message, Some("write the job file to another file")));
    }
    let mut text = Vec::new();
    RetryInterrupted(file).take(MAX_SNAPSHOT).read_to_end(&mut text).map_err(cannot_read)?;
    Ok(Snapshot::of(&String::from_utf8_lossy(&text)))
}

fn write(job: &ModelJob, output: Option<&PathBuf>) -> Result<(), Error> {
    let Some(path) = output else { return print_text(&job.text()).map(drop) };
    let failure = |error: std::io::Error| {
        refusal(format!("cannot write the job file {}: {}", path.display(), reason(&error)), None)
    };
    let mut file = OutputFile::begin(path).map_err(failure)?;
    file.write_all(job.text().as_bytes()).map_err(failure)?;
    file.keep().map(drop).map_err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(["100g", "1.5K", "7"].map(bytes), [Ok(100 << 30), Ok(1536), Ok(7)]);
        let times = ["1500us", "2ms", "0.5 s", "300"].map(cpu_time);
        assert_eq!(
            times.map(|time| time.map(|time| time.as_micros())),
            [Ok(1500), Ok(2000), Ok(500_000), Ok(300)]
        );
        assert!(["", "x", "-1g", "inf"].iter().all(|text| bytes(text).is_err() && cpu_time(text).is_err()));
    }
}
