//! sysbench's tests of databases on real servers.

use ferrio_sql::{Driver, Keep};
use nix::sys::signal::Signal;

use super::servers::Database;
use crate::support::{Run, Running, TestDir};
use crate::sysbench::figures::figure;

/// What sysbench 1.0.20 sends in the first transaction of `oltp_read_write --rand-seed=7` on two tables of 1000 rows.
const FIRST_TRANSACTION: [&str; 20] = [
    "BEGIN",
    "SELECT c FROM sbtest2 WHERE id=502",
    "SELECT c FROM sbtest2 WHERE id=499",
    "SELECT c FROM sbtest2 WHERE id=505",
    "SELECT c FROM sbtest2 WHERE id=523",
    "SELECT c FROM sbtest2 WHERE id=499",
    "SELECT c FROM sbtest2 WHERE id=506",
    "SELECT c FROM sbtest2 WHERE id=480",
    "SELECT c FROM sbtest2 WHERE id=499",
    "SELECT c FROM sbtest2 WHERE id=503",
    "SELECT c FROM sbtest2 WHERE id=501",
    "SELECT c FROM sbtest2 WHERE id BETWEEN 582 AND 681",
    "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 499 AND 598",
    "SELECT c FROM sbtest2 WHERE id BETWEEN 504 AND 603 ORDER BY c",
    "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 504 AND 603 ORDER BY c",
    "UPDATE sbtest2 SET k=k+1 WHERE id=504",
    "UPDATE sbtest1 SET c='29101023922-50462081503-73987402891-16248105229-81414164157-18404925966-62394744201-98763668728-56194424839-85021727894' WHERE id=521",
    "DELETE FROM sbtest2 WHERE id=504",
    "INSERT INTO sbtest2 (id, k, c, pad) VALUES (504, 499, '88134382483-07928039469-43836760918-18341705437-71550861802-91309172085-56906140731-26590500661-49568850789-91756689223', '26763704072-70375886404-66327582167-75544409529-61151781242')",
    "COMMIT",
];

/// The words of a call on a database.
fn words(database: &Database, words: &[&str]) -> Vec<String> {
    let words = words.iter().map(|word| (*word).to_owned());
    std::iter::once("sysbench".to_owned()).chain(words).chain(database.options()).collect()
}

fn sysbench(dir: &TestDir, database: &Database, all: &[&str]) -> Run {
    dir.ferrio(&words(database, all)).run()
}

fn started(dir: &TestDir, database: &Database, all: &[&str]) -> Running {
    dir.ferrio(&words(database, all)).start()
}

/// Makes two tables of 1000 rows.
fn prepared(dir: &TestDir, database: &Database) -> Run {
    sysbench(dir, database, &["oltp_read_write", "--tables=2", "--table-size=1000", "prepare"]).succeeded()
}

/// The statements of the last command, as texts, without those that make and fill tables.
fn sent(database: &Database, kind: &str) -> Vec<String> {
    let all = database.statements();
    let made = all.iter().rposition(|text| text.contains("CREATE INDEX")).map_or(0, |at| at + 1);
    all[made..].iter().filter_map(|text| text.strip_prefix(kind)).map(|text| text.trim().to_owned()).collect()
}

#[test]
fn with_a_seed_a_transaction_is_that_of_sysbench() {
    needs_databases!();
    let dir = TestDir::new();
    for database in Database::both() {
        prepared(&dir, &database);
        let run = [
            "oltp_read_write",
            "--tables=2",
            "--table-size=1000",
            "--rand-seed=7",
            "--events=1",
            "--time=0",
            "--db-ps-mode=disable",
            "run",
        ];
        let report = sysbench(&dir, &database, &run).succeeded().stdout;
        assert_eq!(sent(&database, "Query"), FIRST_TRANSACTION, "{}", database.driver.name());
        for (name, count) in [("read", 14.0), ("write", 4.0), ("other", 2.0), ("total", 20.0)] {
            assert_eq!(figure(&report, &format!(r"\n        {name}: +(\d+)\n")), count, "{report}");
        }
        assert_eq!(figure(&report, r"\n    transactions: +(\d+) +\(\d+\.\d\d per sec\.\)\n"), 1.0);
    }
}

#[test]
fn each_statement_is_prepared_once_for_each_table() {
    needs_databases!();
    let dir = TestDir::new();
    let database = Database::new(Driver::Mysql);
    prepared(&dir, &database);
    let run = ["oltp_read_only", "--tables=2", "--sum_ranges=0", "--events=3", "--time=0", "run"];
    sysbench(&dir, &database, &run).succeeded();
    let prepared = sent(&database, "Prepare");
    assert_eq!(
        prepared[..4],
        ["SELECT c FROM sbtest1 WHERE id=?", "SELECT c FROM sbtest2 WHERE id=?", "BEGIN", "COMMIT"]
    );
    assert_eq!(prepared.len(), 2 + 2 + 4 * 2);
    let executed = sent(&database, "Execute");
    assert_eq!(executed.len(), 3 * 15);
    assert!(!executed.iter().any(|text| text.contains("SUM")), "{executed:?}");
}

#[test]
fn prepare_makes_the_same_rows_with_any_number_of_threads() {
    needs_databases!();
    let dir = TestDir::new();
    for database in Database::both() {
        let rows = |threads: &str| {
            let prepare =
                ["oltp_insert", "--tables=3", "--table_size=500", "--rand-seed=5", threads, "prepare"];
            let run = sysbench(&dir, &database, &prepare).succeeded();
            for table in 1..=3 {
                for line in [
                    format!("Creating table 'sbtest{table}'...\n"),
                    format!("Inserting 500 records into 'sbtest{table}'\n"),
                    format!("Creating a secondary index on 'sbtest{table}'...\n"),
                ] {
                    assert!(run.stdout.contains(&line), "{}", run.stdout);
                }
            }
            let all = (1..=3).map(|table| {
                assert_eq!(database.rows(&format!("SELECT MIN(id), MAX(id) FROM sbtest{table}")), ["1|500"]);
                database.rows(&format!("SELECT k, c, pad FROM sbtest{table} ORDER BY id"))
            });
            let all: Vec<Vec<String>> = all.collect();
            let cleanup = sysbench(&dir, &database, &["oltp_insert", "--tables=3", "cleanup"]).succeeded();
            assert!(cleanup.stdout.ends_with("Dropping table 'sbtest3'...\n"), "{}", cleanup.stdout);
            all
        };
        let (one, three) = (rows("--threads=1"), rows("--threads=3"));
        assert_eq!(one, three, "{}", database.driver.name());
        assert_ne!(one[0], one[1]);
        let digits = |text: &str, groups| {
            text.split('-').count() == groups
                && text
                    .split('-')
                    .all(|group| group.len() == 11 && group.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let values: Vec<&str> = one[0][0].split('|').collect();
        assert!(digits(values[1].trim_end(), 10) && digits(values[2].trim_end(), 5), "{values:?}");
        // Half a megabyte has all rows of a table.
        let inserts = database.statements().iter().filter(|text| text.contains("INSERT INTO")).count();
        assert_eq!(inserts, 6);
    }
}

#[test]
fn a_table_that_exists_is_left_as_it_is() {
    needs_databases!();
    let dir = TestDir::new();
    for database in Database::both() {
        prepared(&dir, &database);
        let run = sysbench(&dir, &database, &["oltp_read_write", "--table-size=7", "prepare"]).ended_with(1);
        let reason = match database.driver {
            Driver::Mysql => {
                "FATAL: mysql_drv_query() returned error 1050 (Table 'sbtest1' already exists) for query 'CREATE TABLE sbtest1(\n"
            }
            Driver::Pgsql => {
                "FATAL: PQexec() failed: 7 relation \"sbtest1\" already exists\nFATAL: failed query was: CREATE TABLE sbtest1(\n"
            }
        };
        assert!(run.stdout.contains(reason), "{}", run.stdout);
        assert_eq!(database.rows("SELECT COUNT(*) FROM sbtest1"), ["1000"]);
    }
}

#[test]
fn what_the_server_refuses_is_told_in_its_words() {
    needs_databases!();
    let dir = TestDir::new();
    for database in Database::both() {
        prepared(&dir, &database);
        let mysql = database.driver == Driver::Mysql;
        let prefix = if mysql { "--mysql" } else { "--pgsql" };
        let missing = if mysql { "doesn't exist" } else { "relation \"sbtest3\" does not exist" };
        // On its socket, PostgreSQL asks nobody for a password.
        let user = if mysql { "--mysql-user=native" } else { "--pgsql-host=127.0.0.1 --pgsql-user=scram" };
        let user = format!("{user} {prefix}-password=wrong");
        let refused = if mysql {
            "FATAL: error 1045: Access denied for user 'native'@"
        } else {
            "password authentication failed"
        };
        let unknown = if mysql {
            "FATAL: error 1049: Unknown database 'nowhere'\n"
        } else {
            "FATAL:  database \"nowhere\" does not exist\n"
        };
        for (option, words) in
            [("--tables=3".to_owned(), missing), (user, refused), (format!("{prefix}-db=nowhere"), unknown)]
        {
            let mut all = words_of_run(&database, "--threads=3");
            all.extend(option.split(' ').map(str::to_owned));
            let run = dir.ferrio(&all).run().ended_with(1);
            assert!(run.stdout.contains(words), "{option}: {}", run.stdout);
            assert!(
                run.stdout.ends_with("\nFATAL: Thread initialization failed!\n"),
                "{option}: {}",
                run.stdout
            );
            assert!(!run.stdout.contains("Threads started!"), "{option}: {}", run.stdout);
        }
    }
}

/// A run whose options others may follow.
fn words_of_run(database: &Database, option: &str) -> Vec<String> {
    words(database, &["oltp_point_select", "--events=9", option, "run"])
}

#[test]
fn nobody_begins_if_one_thread_cannot_connect() {
    needs_databases!();
    let dir = TestDir::new();
    let database = Database::new(Driver::Mysql);
    prepared(&dir, &database);
    let socket = database
        .options()
        .iter()
        .find_map(|option| option.strip_prefix("--mysql-socket=").map(str::to_owned))
        .unwrap();
    let mut all = words_of_run(&database, "--threads=2");
    all.push(format!("--mysql-socket={socket},{socket}.missing"));
    let run = dir.ferrio(&all).run().ended_with(1);
    let reason = format!(
        "FATAL: unable to connect to MySQL server on socket '{socket}.missing', aborting...\n\
         FATAL: error 2002: Can't connect to local server through socket '{socket}.missing' (2: No such file or directory)\n\
         FATAL: `thread_init' function failed: connection creation failed\nFATAL: Thread initialization failed!\n"
    );
    assert!(run.stdout.ends_with(&reason), "{}", run.stdout);
    assert_eq!(sent(&database, "Execute"), [""; 0]);
}

#[test]
fn deadlocks_begin_the_transaction_again_and_are_counted() {
    needs_databases!();
    let dir = TestDir::new();
    for database in Database::both() {
        sysbench(&dir, &database, &["oltp_write_only", "--table-size=4", "prepare"]).succeeded();
        if database.driver == Driver::Pgsql {
            // Deadlocks are looked for after this time.
            let alter = format!("ALTER DATABASE {} SET deadlock_timeout = '10ms'", database.name);
            database.connect().query(&alter, Keep::Count).unwrap();
        }
        // Each of many transactions changes rows in another order.
        let run = [
            "oltp_write_only",
            "--table-size=4",
            "--threads=8",
            "--events=400",
            "--time=0",
            "--rand-type=uniform",
            "--index_updates=4",
            "--output-format=json",
            "run",
        ];
        let document = sysbench(&dir, &database, &run).succeeded().json();
        let sql = &document["report"]["sql"];
        let count = |key: &str| sql[key].as_u64().unwrap();
        assert!(count("ignored_errors") > 0, "{sql}");
        assert_eq!((count("transactions"), count("reconnects")), (400, 0), "{sql}");
        // Each begins as often as it is tried, and commits once.
        assert!(count("others") >= 2 * 400 + count("ignored_errors"), "{sql}");
        assert_eq!(count("queries"), count("reads") + count("writes") + count("others"), "{sql}");
        let (seconds, rate) = (
            document["report"]["measured"].as_f64().unwrap(),
            sql["transactions_per_second"].as_f64().unwrap(),
        );
        assert!((rate * seconds / 400.0 - 1.0).abs() < 0.01, "{document}");
        assert_eq!(database.rows("SELECT COUNT(*) FROM sbtest1"), ["4"]);
    }
}

#[test]
fn a_lost_connection_ends_the_run() {
    needs_databases!();
    let dir = TestDir::new();
    for database in Database::both() {
        prepared(&dir, &database);
        let run = [
            "oltp_read_only",
            "--tables=2",
            "--table-size=1000",
            "--threads=2",
            "--time=0",
            "--events=0",
            "run",
        ];
        let mut run = started(&dir, &database, &run);
        let (list, kill) = match database.driver {
            Driver::Mysql => (
                "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
                "KILL ",
            ),
            Driver::Pgsql => (
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
                "SELECT pg_terminate_backend",
            ),
        };
        run.until("an event", || sent(&database, "Execute").len() > 50);
        let ids = database.rows(list);
        assert_eq!(ids.len(), 2);
        database.connect().query(&format!("{kill}({})", ids[0]), Keep::Count).map(drop).unwrap_or_else(
            |_| {
                database.connect().query(&format!("{kill}{}", ids[0]), Keep::Count).unwrap();
            },
        );
        let run = run.wait().ended_with(1);
        assert!(run.stdout.contains("Threads started!\n\nFATAL: "), "{}", run.stdout);
        assert!(
            run.stdout.contains("FATAL: `thread_run' function failed: SQL error, errno = "),
            "{}",
            run.stdout
        );
        assert!(!run.stdout.contains("SQL statistics"), "{}", run.stdout);
    }
}

#[test]
fn an_ignored_loss_of_the_connection_connects_again() {
    needs_databases!();
    let dir = TestDir::new();
    let database = Database::new(Driver::Mysql);
    prepared(&dir, &database);
    let run = [
        "oltp_read_only",
        "--tables=2",
        "--table-size=1000",
        "--time=0",
        "--events=0",
        "--mysql-ignore-errors=2006,2013,1927",
        "run",
    ];
    let mut run = started(&dir, &database, &run);
    run.until("an event", || sent(&database, "Execute").len() > 50);
    let ids = database.rows(
        "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
    );
    database.connect().query(&format!("KILL {}", ids[0]), Keep::Count).unwrap();
    let executed = sent(&database, "Execute").len();
    run.until("events after it", || sent(&database, "Execute").len() > executed + 200);
    run.signal(Signal::SIGINT);
    let report = run.wait().ended_with(130).stdout;
    assert_eq!(figure(&report, r"reconnects: +(\d+) "), 1.0);
    assert_eq!(figure(&report, r"ignored errors: +(\d+) "), 1.0);
    assert!(report.contains("\nGeneral statistics:\n"), "{report}");
}

#[test]
fn an_event_that_never_succeeds_ends_with_the_time() {
    needs_databases!();
    let dir = TestDir::new();
    let database = Database::new(Driver::Mysql);
    let run = ["oltp_point_select", "--mysql-ignore-errors=all", "--db-ps-mode=disable", "--time=1", "run"];
    let report = sysbench(&dir, &database, &run).succeeded().stdout;
    assert!(figure(&report, r"ignored errors: +(\d+) ") > 1.0);
    assert_eq!(figure(&report, r"\n        total: +(\d+)\n"), 0.0);
}

#[test]
fn intervals_and_checkpoints_add_up_to_the_report() {
    needs_databases!();
    let dir = TestDir::new();
    let database = Database::new(Driver::Pgsql);
    prepared(&dir, &database);
    let run = [
        "oltp_read_write",
        "--tables=2",
        "--table-size=1000",
        "--time=3",
        "--rate=40",
        "--threads=2",
        "--report-interval=1",
        "--report-checkpoints=2",
        "--output-format=json",
        "run",
    ];
    let document = sysbench(&dir, &database, &run).succeeded().json();
    let sum = |parts: &[&serde_json::Value], key: &str| -> u64 {
        parts.iter().map(|part| part["sql"][key].as_u64().unwrap()).sum()
    };
    let intervals: Vec<_> = document["intervals"].as_array().unwrap().iter().collect();
    let parts = [&document["checkpoints"][0], &document["report"]];
    assert!((2..=3).contains(&intervals.len()), "{document}");
    for key in ["transactions", "reads", "writes", "others", "queries"] {
        // The last interval may end before the run.
        assert!(sum(&intervals, key) <= sum(&parts, key), "{key}: {document}");
    }
    assert_eq!(sum(&parts, "reads"), 14 * sum(&parts, "transactions") + 14 * sum(&parts, "ignored_errors"));
    assert_eq!(document["settings"]["options"]["tables"], "2");
}

#[test]
fn bulk_insert_sends_the_rows_that_are_left_at_its_end() {
    needs_databases!();
    let dir = TestDir::new();
    for database in Database::both() {
        sysbench(&dir, &database, &["bulk_insert", "--threads=2", "prepare"]).succeeded();
        let run = ["bulk_insert", "--threads=2", "--events=100001", "--time=0", "run"];
        let report = sysbench(&dir, &database, &run).succeeded().stdout;
        let rows = database.rows("SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)");
        assert_eq!(rows, ["100001"]);
        assert_eq!(figure(&report, r"transactions: +(\d+) "), 100_001.0);
        let writes = figure(&report, r"\n        write: +(\d+)\n");
        assert!((3.0..10.0).contains(&writes), "{report}");
        // The rows are there.
        let again =
            sysbench(&dir, &database, &["bulk_insert", "--events=3", "--time=0", "run"]).ended_with(1);
        assert!(
            again.stdout.contains("FATAL: `thread_done' function failed: SQL error, errno = "),
            "{}",
            again.stdout
        );
        sysbench(&dir, &database, &["bulk_insert", "--threads=2", "cleanup"]).succeeded();
        sysbench(&dir, &database, &["bulk_insert", "--events=3", "--time=0", "run"]).ended_with(1);
    }
}

#[test]
fn prewarm_reads_the_tables_of_mysql_and_is_refused_on_postgresql() {
    needs_databases!();
    let dir = TestDir::new();
    for database in Database::both() {
        prepared(&dir, &database);
        let prewarm = ["oltp_read_only", "--tables=2", "--threads=2", "--table-size=1000", "prewarm"];
        let run = sysbench(&dir, &database, &prewarm);
        if database.driver == Driver::Mysql {
            let run = run.succeeded();
            assert!(run.stdout.contains("Prewarming table sbtest2\n"), "{}", run.stdout);
            let read = "SELECT AVG(id) FROM (SELECT * FROM sbtest2 FORCE KEY (PRIMARY) LIMIT 1000) t";
            assert!(sent(&database, "Query").iter().any(|text| text == read));
        } else {
            assert!(run.ended_with(1).stdout.contains("FATAL: prewarm is currently MySQL only\n"));
        }
    }
}

#[test]
fn prepare_tells_how_far_it_is_if_it_is_asked() {
    needs_databases!();
    let dir = TestDir::new();
    let database = Database::new(Driver::Mysql);
    let prepare = ["oltp_read_write", "--tables=1", "--table-size=2000000", "--report-interval=1", "prepare"];
    let mut run = started(&dir, &database, &prepare);
    let shown = run.stdout_path();
    run.until("a line", || std::fs::read_to_string(&shown).is_ok_and(|text| text.contains(" rows/s")));
    run.kill();
    let text = std::fs::read_to_string(&shown).unwrap();
    let done = figure(&text, r"\n\[ 1s \] (\d+) of 2000000 rows \(\d+\.\d %\), \d+ rows/s, about ");
    assert!((1.0..2_000_000.0).contains(&done), "{text}");
}
