//! The drivers against real servers.

use std::process::Command;
use std::time::{Duration, Instant};

use ferrio_sql::{Connection, Driver, Keep, Login, Reply, ReplyKind, SqlError, Value};

use super::servers::Database;
use crate::support::installed;

/// A column of each common type.
const COLUMNS: &str = "i INTEGER, b BIGINT, s VARCHAR(300), c CHAR(4), d DOUBLE PRECISION, f REAL, n DECIMAL(10, 3), da DATE, ti TIME, \
                       ts TIMESTAMP NULL, t TEXT";

const TEXTS: [&str; 11] = [
    "-5",
    "7000000000",
    "it's ä ?",
    "abcd",
    "1.5",
    "0.25",
    "12.345",
    "2026-01-02",
    "10:11:12",
    "2026-01-02 03:04:05",
    "",
];

fn texts(reply: &Reply) -> Vec<Vec<Option<String>>> {
    let text = |value: &Vec<u8>| String::from_utf8(value.clone()).unwrap();
    reply.rows.iter().map(|row| row.iter().map(|value| value.as_ref().map(text)).collect()).collect()
}

fn query(connection: &mut dyn Connection, text: &str) -> ReplyKind {
    connection.query(text, Keep::Count).unwrap_or_else(|error| panic!("{text}: {error}")).kind
}

#[test]
fn values_of_all_types_come_back_as_their_texts() {
    needs_databases!();
    for database in Database::both() {
        let mut connection = database.connect();
        query(&mut *connection, &format!("CREATE TABLE v({COLUMNS})"));
        let insert = connection.prepare("INSERT INTO v VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").unwrap();
        let mut values: Vec<Value<'_>> = TEXTS.iter().map(|text| Value::Text(text.as_bytes())).collect();
        (values[0], values[1]) = (Value::Int(-5), Value::Int(7_000_000_000));
        (values[4], values[5]) = (Value::Double(1.5), Value::Double(0.25));
        for values in [&values[..], &[Value::Null; 11], &values[..]] {
            assert_eq!(connection.execute(insert, values, Keep::Count).unwrap().kind, ReplyKind::Changed(1));
        }
        let full: Vec<Option<String>> = TEXTS.iter().map(|text| Some((*text).to_owned())).collect();
        let expected = vec![full.clone(), full, vec![None; 11]];
        let select = "SELECT * FROM v ORDER BY i IS NULL";
        let sent = connection.query(select, Keep::Rows).unwrap();
        assert_eq!(texts(&sent), expected, "{}", database.driver.name());
        assert_eq!(sent.columns, ["i", "b", "s", "c", "d", "f", "n", "da", "ti", "ts", "t"]);
        let select = connection.prepare(select).unwrap();
        for _ in 0..2 {
            let executed = connection.execute(select, &[], Keep::Rows).unwrap();
            assert_eq!(executed, sent, "{}: a prepared statement", database.driver.name());
        }
    }
}

#[test]
fn answers_say_what_statements_did() {
    needs_databases!();
    for database in Database::both() {
        let mut connection = database.connect();
        let connection = &mut *connection;
        assert_eq!(
            query(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER)"),
            ReplyKind::Nothing
        );
        assert_eq!(query(connection, "INSERT INTO t VALUES (1, 1), (2, 1), (3, 7)"), ReplyKind::Changed(3));
        assert_eq!(query(connection, "BEGIN"), ReplyKind::Nothing);
        assert_eq!(query(connection, "UPDATE t SET k = k + 1 WHERE id > 3"), ReplyKind::Nothing);
        assert_eq!(query(connection, "UPDATE t SET k = k + 1 WHERE id > 1"), ReplyKind::Changed(2));
        assert_eq!(query(connection, "SELECT * FROM t"), ReplyKind::Rows(3));
        assert_eq!(query(connection, "SELECT * FROM t WHERE id > 3"), ReplyKind::Rows(0));
        assert_eq!(query(connection, "SELECT 1; SELECT * FROM t"), ReplyKind::Rows(3), "the last of two");
        assert_eq!(query(connection, "ROLLBACK"), ReplyKind::Nothing);
        let select = connection.prepare("SELECT k, '?' FROM t WHERE id BETWEEN ? AND ?").unwrap();
        let reply = connection.execute(select, &[Value::Int(2), Value::Int(9)], Keep::Count).unwrap();
        assert_eq!(reply, Reply { kind: ReplyKind::Rows(2), columns: Vec::new(), rows: Vec::new() });
        let wrong = connection.execute(select, &[Value::Int(2)], Keep::Count).unwrap_err();
        assert_eq!(wrong.to_string(), "1 values for a statement with 2 parameters");
        connection.close(select).unwrap();
        connection.execute(select, &[Value::Int(2), Value::Int(9)], Keep::Count).unwrap_err();
        let delete = connection.prepare("DELETE FROM t WHERE id=?").unwrap();
        for expected in [ReplyKind::Changed(1), ReplyKind::Nothing] {
            assert_eq!(connection.execute(delete, &[Value::Int(2)], Keep::Count).unwrap().kind, expected);
        }
        let sent = database.statements();
        let last = "Execute DELETE FROM t WHERE id=";
        assert!(sent.last().is_some_and(|statement| statement.starts_with(last)), "{sent:?}");
        assert!(sent.contains(&"Query ROLLBACK".to_owned()), "{sent:?}");
    }
}

#[test]
fn errors_have_the_words_of_the_server() {
    needs_databases!();
    for database in Database::both() {
        let mut connection = database.connect();
        let expected = match database.driver {
            Driver::Mysql => (1146, "42S02", format!("Table '{}.nowhere' doesn't exist", database.name)),
            Driver::Pgsql => (0, "42P01", "relation \"nowhere\" does not exist".to_owned()),
        };
        let sent = connection.query("SELECT * FROM nowhere", Keep::Count).unwrap_err();
        let prepared = connection.prepare("SELECT * FROM nowhere WHERE id=?").unwrap_err();
        for error in [sent, prepared] {
            let SqlError::Server(error) = error else { panic!("{error:?}") };
            assert_eq!((error.code, error.state.as_str(), error.message), expected);
            assert!(!error.is_fatal);
        }
        assert_eq!(query(&mut *connection, "SELECT 1"), ReplyKind::Rows(1), "the connection goes on");
    }
}

#[test]
fn users_log_in_by_each_method() {
    needs_databases!();
    let users = |driver| match driver {
        Driver::Mysql => ["native", "ed25519", "tls"].as_slice(),
        Driver::Pgsql => &["scram", "md5", "clear", "tls"],
    };
    for database in Database::both() {
        for user in users(database.driver) {
            let login = Login {
                user: (*user).to_owned(),
                password: "secret".to_owned(),
                database: String::new(),
                tls: *user == "tls",
                ..database.tcp_login()
            };
            // PostgreSQL takes the user's name for that of the database.
            let login = match database.driver {
                Driver::Mysql => login,
                Driver::Pgsql => Login { database: database.name.clone(), ..login },
            };
            let result = database.driver.connect(&login);
            if login.tls && cfg!(not(feature = "http")) {
                assert!(result.err().unwrap().to_string().contains("cargo install --features http"));
                continue;
            }
            let mut connection = result.unwrap_or_else(|error| panic!("{user}: {error}"));
            assert_eq!(query(&mut *connection, "SELECT 1"), ReplyKind::Rows(1));
            let refused = database.driver.connect(&Login { password: "wrong".to_owned(), ..login });
            let Err(SqlError::Server(error)) = refused else { panic!("{user}: {:?}", refused.err()) };
            let expected = match database.driver {
                Driver::Mysql => format!("Access denied for user '{user}'@'127.0.0.1' (using password: YES)"),
                Driver::Pgsql => format!("password authentication failed for user \"{user}\""),
            };
            assert_eq!(error.message, expected);
        }
    }
}

#[test]
fn what_is_longer_than_a_packet_arrives() {
    needs_databases!();
    for database in Database::both() {
        let mut connection = database.connect();
        // The longest packet of MySQL, one less, and more than one.
        for length in [(1 << 24) - 2, (1 << 24) - 1, 17_000_000] {
            let reply = connection.query(&format!("SELECT REPEAT('x', {length})"), Keep::Rows).unwrap();
            assert_eq!(reply.rows[0][0].as_ref().unwrap().len(), length);
        }
        let text = "y".repeat((1 << 24) - 1 - "_SELECT LENGTH('')".len());
        for text in [&text[1..], &text, &format!("{text}z")] {
            let reply = connection.query(&format!("SELECT LENGTH('{text}')"), Keep::Rows).unwrap();
            assert_eq!(texts(&reply), [[Some(text.len().to_string())]]);
        }
    }
}

#[test]
fn compressed_statements_and_answers_arrive() {
    needs_databases!();
    let database = Database::new(Driver::Mysql);
    let mut connection = database.driver.connect(&Login { compression: true, ..database.login() }).unwrap();
    let status = connection.query("SHOW STATUS LIKE 'Compression'", Keep::Rows).unwrap();
    assert_eq!(texts(&status), [[Some("Compression".to_owned()), Some("ON".to_owned())]]);
    // Frames that are not compressed because they are too short, ordinary ones, and many at once.
    for length in [1, 40, 60, 5000, 3_000_000] {
        let text = "0123456789abcdef".repeat(length / 16 + 1);
        let reply = connection.query(&format!("SELECT '{text}'"), Keep::Rows).unwrap();
        assert_eq!(texts(&reply), [[Some(text)]]);
    }
}

#[test]
fn sysbench_reaches_the_servers_of_tests() {
    needs_databases!();
    needs!("sysbench");
    for database in Database::both() {
        let mut sysbench = Command::new(installed("sysbench"));
        let prepare = ["oltp_read_write", "--table-size=7", "prepare"];
        let output = sysbench.args(database.options()).args(prepare).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(database.rows("SELECT MIN(id), MAX(id), COUNT(*) FROM sbtest1"), ["1|7|7"]);
    }
}

#[test]
fn a_connection_that_the_server_ends_fails_at_once_and_can_be_made_again() {
    needs_databases!();
    for database in Database::both() {
        let mut connection = database.connect();
        let (own, end) = match database.driver {
            Driver::Mysql => ("SELECT CONNECTION_ID()", "KILL"),
            Driver::Pgsql => ("SELECT pg_backend_pid()", "SELECT pg_terminate_backend"),
        };
        let number = texts(&connection.query(own, Keep::Rows).unwrap())[0][0].clone().unwrap();
        let statement = connection.prepare("SELECT 1").unwrap();
        query(&mut *database.connect(), &format!("{end} ({number})"));
        let began = Instant::now();
        // The first statement may still be answered: the end comes when the server gets to it.
        let error = loop {
            match connection.execute(statement, &[], Keep::Count) {
                Err(error) => break error,
                Ok(_) => assert!(began.elapsed() < Duration::from_secs(20)),
            }
        };
        assert!(error.is_fatal(), "{error:?}");
        let error = connection.query("SELECT 1", Keep::Count).unwrap_err();
        assert!(matches!(error, SqlError::Lost(_)), "{error:?}");
        connection.reconnect().unwrap();
        assert_eq!(query(&mut *connection, "SELECT 1"), ReplyKind::Rows(1));
        let error = connection.execute(statement, &[], Keep::Count).unwrap_err();
        assert!(error.to_string().contains("last reconnection"), "{error}");
    }
}
