//! Takes two snapshots of a running server, some time apart.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use clap::{Arg, ArgMatches, value_parser};
use ferrio_dbstatus::{POSTGRES_QUERIES, Snapshot};
use ferrio_sql::{Address, Connection, Driver, Keep, Login, SqlError};

use super::refusal;
use crate::commands::subcommand::option;
use crate::error::Error;

/// The databases whose counters can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportedServer {
    Innodb,
    Postgres,
}

impl ImportedServer {
    pub const ALL: [ImportedServer; 2] = [ImportedServer::Innodb, ImportedServer::Postgres];

    /// The name of its sub-command.
    pub const fn name(self) -> &'static str {
        match self {
            ImportedServer::Innodb => "innodb-status",
            ImportedServer::Postgres => "postgres-status",
        }
    }

    /// The server of a command line, and the arguments after its name.
    pub fn of(arguments: &ArgMatches) -> Option<(Self, &ArgMatches)> {
        let (name, arguments) = arguments.subcommand()?;
        let server = Self::ALL.into_iter().find(|server| server.name() == name)?;
        Some((server, arguments))
    }
}

/// The statements that print a snapshot of MariaDB or MySQL.
const INNODB_QUERIES: [&str; 3] = [
    "SHOW GLOBAL VARIABLES",
    "SHOW GLOBAL STATUS",
    "SELECT 'data_bytes' AS Variable_name, CAST(SUM(data_length + index_length) AS UNSIGNED) AS Value FROM information_schema.tables",
];

/// The options of a server, with the names that sysbench gives them.
pub fn arguments(server: ImportedServer) -> Vec<Arg> {
    let text = |name, value, help| option(name, value, help).value_parser(value_parser!(String));
    let port = |name, help| option(name, "PORT", help).value_parser(value_parser!(u16).range(1..));
    let seconds =
        option("seconds", "SECONDS", "Time between the two snapshots that ferrio takes of a server")
            .default_value("60")
            .value_parser(value_parser!(u32).range(1..=31_536_000));
    let mut arguments = match server {
        ImportedServer::Innodb => vec![
            text(
                "mysql-host",
                "HOST",
                "Take the snapshots from the server on this host, instead of from files",
            ),
            port("mysql-port", "Port of the server").default_value("3306"),
            option(
                "mysql-socket",
                "PATH",
                "Take the snapshots from the server with this socket, instead of from files",
            )
            .value_parser(value_parser!(PathBuf)),
            text("mysql-user", "USER", "User of the server").default_value("root"),
            text("mysql-password", "PASSWORD", "Password of the user").default_value(""),
        ],
        ImportedServer::Postgres => vec![
            text(
                "pgsql-host",
                "HOST",
                "Take the snapshots from the server on this host, or with the socket in this directory, instead of from files",
            ),
            port("pgsql-port", "Port of the server").default_value("5432"),
            text("pgsql-user", "USER", "User of the server").default_value("postgres"),
            text("pgsql-password", "PASSWORD", "Password of the user").default_value(""),
            text("pgsql-db", "DATABASE", "Database to connect to").default_value("postgres"),
        ],
    };
    arguments.push(seconds);
    arguments
}

/// The options that name a server.
pub const fn names(server: ImportedServer) -> &'static [&'static str] {
    match server {
        ImportedServer::Innodb => &["mysql-host", "mysql-socket"],
        ImportedServer::Postgres => &["pgsql-host"],
    }
}

/// The login of the server that the options name, if they name one.
fn login(server: ImportedServer, arguments: &ArgMatches) -> Option<(Driver, Login)> {
    let text = |name: &str| arguments.get_one::<String>(name).cloned();
    let port = |name: &str| arguments.get_one::<u16>(name).copied().unwrap_or_default();
    let (driver, address, names) = match server {
        ImportedServer::Innodb => {
            let socket = arguments.get_one::<PathBuf>("mysql-socket");
            let host = text("mysql-host").or(socket.map(|_| String::new()))?;
            let address = Driver::Mysql.address(&host, port("mysql-port"), socket.map(PathBuf::as_path));
            (Driver::Mysql, address, ["mysql-user", "mysql-password"])
        }
        ImportedServer::Postgres => {
            let address = Driver::Pgsql.address(&text("pgsql-host")?, port("pgsql-port"), None);
            (Driver::Pgsql, address, ["pgsql-user", "pgsql-password"])
        }
    };
    let [user, password] = names.map(|name| text(name).unwrap_or_default());
    let database = match server {
        ImportedServer::Innodb => String::new(),
        ImportedServer::Postgres => text("pgsql-db").unwrap_or_default(),
    };
    Some((driver, Login { address, user, password, database, tls: false, compression: false }))
}

/// The two snapshots of the server that the options name, and its address; `None` if they name none.
///
/// # Errors
/// There is no server, or it refuses the login or a statement.
pub fn snapshots(
    server: ImportedServer,
    arguments: &ArgMatches,
) -> Result<Option<(String, [Snapshot; 2])>, Error> {
    let Some((driver, login)) = login(server, arguments) else { return Ok(None) };
    let shown = match &login.address {
        Address::Tcp { host, port } => format!("the server {host}:{port}"),
        Address::Socket(path) => format!("the server at {}", path.display()),
    };
    let failure = |error: SqlError| refusal(format!("cannot ask {shown}: {error}"), None);
    let mut connection = driver.connect(&login).map_err(failure)?;
    let is_local = matches!(login.address, Address::Socket(_));
    let before = ask(server, &mut *connection, is_local).map_err(failure)?;
    let seconds = arguments.get_one::<u32>("seconds").copied().unwrap_or_default();
    sleep(Duration::from_secs(seconds.into()));
    let after = ask(server, &mut *connection, is_local).map_err(failure)?;
    Ok(Some((shown, [before, after])))
}

/// A snapshot; with the CPU time of the server if it is on this machine.
fn ask(
    server: ImportedServer,
    connection: &mut dyn Connection,
    is_local: bool,
) -> Result<Snapshot, SqlError> {
    let queries: &[&str] = match server {
        ImportedServer::Innodb => &INNODB_QUERIES,
        ImportedServer::Postgres => &POSTGRES_QUERIES,
    };
    let mut snapshot = Snapshot::default();
    for query in queries {
        match table(connection, query) {
            Ok((columns, rows)) => snapshot.add_table(&columns, rows),
            // A release without this table, or a user who may not see it: the rest may be enough.
            Err(SqlError::Server(error)) if !error.is_fatal => {}
            Err(error) => return Err(error),
        }
    }
    if is_local {
        snapshot.add_processes(&processes(server, connection, &snapshot)?);
    }
    Ok(snapshot)
}

/// Columns and rows, without distinction between empty texts and `NULL`.
fn table(connection: &mut dyn Connection, query: &str) -> Result<(Vec<String>, Vec<Vec<String>>), SqlError> {
    let reply = connection.query(query, Keep::Rows)?;
    let text = |cell: Option<Vec<u8>>| String::from_utf8_lossy(&cell.unwrap_or_default()).into_owned();
    let rows = reply.rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect();
    Ok((reply.columns, rows))
}

/// The lines of `/proc/PID/stat` of the server's processes, as far as they can be read.
fn processes(
    server: ImportedServer,
    connection: &mut dyn Connection,
    snapshot: &Snapshot,
) -> Result<String, SqlError> {
    match server {
        ImportedServer::Innodb => {
            let pid = snapshot.value("pid_file").and_then(|file| fs::read_to_string(file).ok());
            let line = pid.and_then(|pid| stat(pid.trim()));
            Ok(line.filter(|line| line.contains("mariadbd") || line.contains("mysqld")).unwrap_or_default())
        }
        ImportedServer::Postgres => {
            let (_, rows) = table(connection, "SELECT pg_backend_pid()")?;
            let own = rows.first().and_then(|row| row.first()).and_then(|pid| stat(pid));
            let Some(server) = own.as_deref().filter(|line| line.contains("(postgres)")).and_then(parent)
            else {
                return Ok(String::new());
            };
            let all = fs::read_dir("/proc").into_iter().flatten().flatten();
            let all = all.filter_map(|entry| stat(entry.file_name().to_str()?));
            let is_of_server = |line: &String| {
                parent(line) == Some(server) || line.split(' ').next() == Some(server.to_string().as_str())
            };
            Ok(all.filter(is_of_server).collect())
        }
    }
}

/// The line of `/proc/PID/stat`.
fn stat(pid: &str) -> Option<String> {
    pid.parse::<u32>().ok()?;
    fs::read_to_string(Path::new("/proc").join(pid).join("stat")).ok()
}

/// The parent's process id in such a line.
fn parent(line: &str) -> Option<u32> {
    line.rsplit_once(") ")?.1.split_whitespace().nth(1)?.parse().ok()
}
