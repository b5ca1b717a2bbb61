//! `ferrio import innodb-status` and `postgres-status` with a server to ask.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use ferrio_sql::{Driver, Keep};

use super::servers::Database;
use crate::support::TestDir;

/// A server that another test may use too: its figures are not those of this test alone.
#[test]
fn a_server_is_asked_for_its_counters_twice() {
    needs_databases!();
    for database in Database::both() {
        let model = if database.driver == Driver::Mysql { "innodb" } else { "postgres" };
        let options = database
            .options()
            .into_iter()
            .filter(|word| !word.starts_with("--db") && !word.starts_with("--mysql-db"));
        let user = format!("--{}-user=sbtest", database.driver.name());
        let words = [
            "import".to_owned(),
            format!("{model}-status"),
            user,
            "--seconds=1".to_owned(),
            "--sessions=3".to_owned(),
        ];
        let words: Vec<String> = words.into_iter().chain(options).collect();
        let is_over = AtomicBool::new(false);
        let text = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut connection = database.connect();
                while !is_over.load(Relaxed) {
                    for text in ["BEGIN", "SELECT 1", "COMMIT"] {
                        connection.query(text, Keep::Count).unwrap();
                    }
                }
            });
            let import = TestDir::new().ferrio(&words).run();
            is_over.store(true, Relaxed);
            import.succeeded().stdout
        });
        let want = [
            format!("\nworkload={model}\n"),
            "\nnumjobs=3\n".to_owned(),
            "between the two snapshots".to_owned(),
        ];
        assert!(want.iter().all(|want| text.contains(want)), "{text}");
        assert!(text.contains("\n; CPU time of the server's process"), "{text}");
    }
    let dir = TestDir::new();
    let refused = dir.ferrio(&["import", "innodb-status", "--mysql-socket=none"]).run().ended_with(1);
    assert!(refused.stderr.starts_with("error: cannot ask the server at none: "), "{}", refused.stderr);
    let both = dir.ferrio(&["import", "innodb-status", "before", "--mysql-socket=none"]).run().ended_with(1);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
}
