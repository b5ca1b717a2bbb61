//! Database servers of this test process: one MariaDB and one PostgreSQL, started by `tests/servers/database` when a test first asks for
//! them, and gone with the process. Each test has a database of its own.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ferrio_sql::{Address, Connection, Driver, Keep, Login};

/// Longest time until a server answers, on a busy machine too.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Programs that the servers need; begins a test.
macro_rules! needs_databases {
    () => {
        needs!("mariadbd", "mariadb-install-db", "postgres", "initdb", "setpriv")
    };
}

/// The accounts of MariaDB, beside `sbtest` without a password. Those of PostgreSQL are in `pg_hba.conf` of the script.
const MARIADB_ACCOUNTS: [&str; 5] = [
    "CREATE USER sbtest@'%'",
    "GRANT ALL ON *.* TO sbtest@'%'",
    "CREATE USER native@'%' IDENTIFIED BY 'secret'",
    "CREATE USER ed25519@'%' IDENTIFIED VIA ed25519 USING PASSWORD('secret')",
    "CREATE USER tls@'%' IDENTIFIED BY 'secret' REQUIRE SSL",
];

const PGSQL_ACCOUNTS: [&str; 5] = [
    "CREATE ROLE scram LOGIN PASSWORD 'secret'",
    "CREATE ROLE tls LOGIN PASSWORD 'secret'",
    "CREATE ROLE clear LOGIN PASSWORD 'secret'",
    "SET password_encryption = 'md5'",
    "CREATE ROLE md5 LOGIN PASSWORD 'secret'",
];

static MARIADB: Shared = OnceLock::new();
static PGSQL: Shared = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

type Shared = OnceLock<Mutex<Option<Server>>>;

fn shared(driver: Driver) -> MutexGuard<'static, Option<Server>> {
    let server = match driver {
        Driver::Mysql => &MARIADB,
        Driver::Pgsql => &PGSQL,
    };
    server
        .get_or_init(|| Mutex::new(Some(Server::start(driver))))
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Ends the servers with the process. If the process is killed, the script sees that its standard input ends.
#[dtor::dtor(unsafe)]
fn end_servers() {
    for server in [&MARIADB, &PGSQL] {
        if let Some(server) = server.get() {
            server.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}

/// A server that is running.
struct Server {
    driver: Driver,
    script: Child,
    directory: PathBuf,
    port: u16,
}

impl Server {
    fn start(driver: Driver) -> Server {
        // The server's user has to be able to enter it, and the path of a socket must be short.
        let directory = tempfile::Builder::new().prefix("ferrio-").tempdir_in("/tmp").unwrap().keep();
        let identity = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        fs::write(directory.join("cert.pem"), identity.cert.pem()).unwrap();
        fs::write(directory.join("key.pem"), identity.signing_key.serialize_pem()).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let script = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/database"))
            .arg(match driver {
                Driver::Mysql => "mariadb",
                Driver::Pgsql => "postgres",
            })
            .arg(&directory)
            .arg(port.to_string())
            .args(match driver {
                Driver::Mysql => {
                    ["--general-log=1".to_owned(), format!("--general-log-file={}/log", directory.display())]
                }
                Driver::Pgsql => ["-clog_statement=all".to_owned(), "-clog_line_prefix=%d ".to_owned()],
            })
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Server { driver, script, directory, port };
        let mut first = server.wait_for_first_connection();
        let accounts = match driver {
            Driver::Mysql => MARIADB_ACCOUNTS,
            Driver::Pgsql => PGSQL_ACCOUNTS,
        };
        for statement in accounts {
            first.query(statement, Keep::Count).unwrap();
        }
        server
    }

    fn wait_for_first_connection(&self) -> Box<dyn Connection + Send> {
        let (user, database) = match self.driver {
            Driver::Mysql => ("root", "mysql"),
            Driver::Pgsql => ("sbtest", "postgres"),
        };
        let login = Login { user: user.to_owned(), ..self.login(database) };
        let began = Instant::now();
        loop {
            match self.driver.connect(&login) {
                Ok(connection) => return connection,
                Err(error) if began.elapsed() > START_TIMEOUT => {
                    let output = fs::read_to_string(self.directory.join("output")).unwrap_or_default();
                    panic!("{} does not start: {error}\n{output}", self.driver.name());
                }
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    fn socket(&self) -> PathBuf {
        match self.driver {
            Driver::Mysql => self.directory.join("socket"),
            Driver::Pgsql => self.directory.join(format!(".s.PGSQL.{}", self.port)),
        }
    }

    fn login(&self, database: &str) -> Login {
        Login {
            address: Address::Socket(self.socket()),
            user: "sbtest".to_owned(),
            password: String::new(),
            database: database.to_owned(),
            tls: false,
            compression: false,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Closes its standard input first.
        let _ = self.script.wait();
    }
}

/// An empty database of a test, which is dropped at its end.
pub struct Database {
    pub driver: Driver,
    pub name: String,
    pub directory: PathBuf,
    pub port: u16,
    socket: PathBuf,
    login: Login,
}

impl Database {
    /// Both kinds.
    pub fn both() -> [Database; 2] {
        // They start at the same time.
        thread::scope(|scope| {
            for driver in Driver::ALL {
                scope.spawn(move || drop(shared(driver)));
            }
        });
        Driver::ALL.map(Database::new)
    }

    pub fn new(driver: Driver) -> Database {
        let name = format!("test{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let server = shared(driver);
        let server = server.as_ref().expect("the process has not ended");
        let administrator = match driver {
            Driver::Mysql => "mysql",
            Driver::Pgsql => "postgres",
        };
        let create = format!("CREATE DATABASE {name}");
        driver.connect(&server.login(administrator)).unwrap().query(&create, Keep::Count).unwrap();
        Database {
            driver,
            login: server.login(&name),
            name,
            directory: server.directory.clone(),
            socket: server.socket(),
            port: server.port,
        }
    }

    /// The user `sbtest`, who has no password, on the socket.
    pub fn login(&self) -> Login {
        self.login.clone()
    }

    /// As [`Database::login`], over TCP.
    pub fn tcp_login(&self) -> Login {
        Login { address: Address::Tcp { host: "127.0.0.1".to_owned(), port: self.port }, ..self.login() }
    }

    pub fn connect(&self) -> Box<dyn Connection + Send> {
        self.driver.connect(&self.login).unwrap()
    }

    /// The words that point sysbench to this database: over the socket.
    pub fn options(&self) -> Vec<String> {
        let Database { driver, name, port, .. } = self;
        match driver {
            Driver::Mysql => vec![
                "--db-driver=mysql".to_owned(),
                format!("--mysql-socket={}", self.socket.display()),
                format!("--mysql-db={name}"),
            ],
            Driver::Pgsql => vec![
                "--db-driver=pgsql".to_owned(),
                format!("--pgsql-host={}", self.directory.display()),
                format!("--pgsql-port={port}"),
                format!("--pgsql-db={name}"),
            ],
        }
    }

    /// The rows that a statement returns, each as one text with `|` between its values.
    #[track_caller]
    pub fn rows(&self, statement: &str) -> Vec<String> {
        let reply = self
            .connect()
            .query(statement, Keep::Rows)
            .unwrap_or_else(|error| panic!("{statement}: {error}"));
        let text = |value: &Option<Vec<u8>>| match value {
            Some(value) => String::from_utf8_lossy(value).into_owned(),
            None => "NULL".to_owned(),
        };
        reply.rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join("|")).collect()
    }

    /// The statements that clients have sent to this database, as the server's log has them: `Query …`, `Prepare …`, `Execute …`. PostgreSQL
    /// does not write that it prepares.
    pub fn statements(&self) -> Vec<String> {
        let log = fs::read(self.directory.join("log")).unwrap();
        let log = String::from_utf8_lossy(&log);
        match self.driver {
            Driver::Mysql => mariadb_statements(&log, &self.name),
            Driver::Pgsql => pgsql_statements(&log, &self.name),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (administrator, force) = match self.driver {
            Driver::Mysql => ("mysql", ""),
            Driver::Pgsql => ("postgres", " WITH (FORCE)"),
        };
        let dropped = self
            .driver
            .connect(&Login { database: administrator.to_owned(), ..self.login() })
            .and_then(|mut connection| {
                connection.query(&format!("DROP DATABASE {}{force}", self.name), Keep::Count)
            });
        if let (Err(error), false) = (dropped, thread::panicking()) {
            panic!("{}: {error}", self.name);
        }
    }
}

/// Lines are `[time] TAB number kind TAB text`; the line that begins a connection names its database.
fn mariadb_statements(log: &str, database: &str) -> Vec<String> {
    let mut connections: Vec<&str> = Vec::new();
    let mut statements = Vec::new();
    for line in log.lines() {
        let Some((head, text)) = line.rsplit_once("\t") else { continue };
        let head = head.rsplit('\t').next().unwrap_or_default().trim_start();
        let Some((number, kind)) = head.split_once(' ') else { continue };
        if kind == "Connect" {
            connections.retain(|known| *known != number);
            if text.split_whitespace().nth(2) == Some(database) {
                connections.push(number);
            }
        } else if connections.contains(&number) && matches!(kind, "Query" | "Prepare" | "Execute") {
            statements.push(format!("{kind} {text}"));
        }
    }
    statements
}

fn pgsql_statements(log: &str, database: &str) -> Vec<String> {
    let lines = log.lines().filter_map(|line| line.strip_prefix(database)?.strip_prefix(" LOG:  "));
    lines
        .filter_map(|line| {
            if let Some(text) = line.strip_prefix("statement: ") {
                return Some(format!("Query {text}"));
            }
            let (_name, text) = line.strip_prefix("execute ")?.split_once(": ")?;
            Some(format!("Execute {text}"))
        })
        .collect()
}
