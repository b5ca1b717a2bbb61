//! The commands of the tests beside `run`: making, reading and dropping their tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use ferrio_sql::{Driver, Keep};

use crate::bulk_insert::BulkInsert;
use crate::connection::{Target, TestConnection};
use crate::failure::CallFailure;
use crate::output::Output;
use crate::random::{RandomNumbers, RandomOptions};
use crate::session::{C, PAD};
use crate::statements::{create_bulk_table, create_table, insert_rows, push_number, push_quoted};
use crate::test::{OltpOptions, OltpTest};

/// Rows between two additions to the number that reports read.
const ROWS_PER_ADDITION: u64 = 1000;

/// A command on tables.
#[derive(Debug)]
pub struct TableCommand<'a> {
    /// The test.
    pub test: OltpTest,
    /// Its options.
    pub options: &'a OltpOptions,
    /// Random numbers.
    pub random: &'a RandomOptions,
    /// Threads, at least 1.
    pub threads: u32,
    /// The database.
    pub target: &'a Arc<Target>,
    /// Shows what is done.
    pub output: &'a dyn Output,
    /// The progress.
    pub filling: &'a Filling,
}

/// How far tables are filled, for another thread.
#[derive(Debug, Default)]
pub struct Filling {
    rows: AtomicU64,
    /// A thread has failed, and the others end.
    is_over: AtomicBool,
}

impl Filling {
    /// Rows that were made so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows.load(Relaxed)
    }
}

impl TableCommand<'_> {
    /// Makes and fills all tables, each thread some of them.
    ///
    /// # Errors
    /// It fails, which has been told.
    pub fn prepare(&self) -> Result<(), CommandFailed> {
        if self.test == OltpTest::BulkInsert {
            return self.told(self.on_one_connection(|connection| {
                for table in 1..=self.threads {
                    self.output.notice(&format!("Creating table 'sbtest{table}'..."));
                    connection.query(&create_bulk_table(table), Keep::Count)?;
                }
                Ok(())
            }));
        }
        self.in_parallel(|connection, table| self.make_table(connection, table))
    }

    /// Reads all tables into the cache of the server.
    ///
    /// # Errors
    /// It fails, which has been told.
    pub fn prewarm(&self) -> Result<(), CommandFailed> {
        if self.target.options.driver != Driver::Mysql {
            self.output.fatal("prewarm is currently MySQL only");
            return Err(CommandFailed);
        }
        let size = self.options.table_size;
        self.in_parallel(|connection, table| {
            self.output.notice(&format!("Prewarming table sbtest{table}"));
            if table <= self.threads {
                for variable in ["tmp_table_size", "max_heap_table_size"] {
                    connection.query(&format!("SET {variable}=2*1024*1024*1024"), Keep::Count)?;
                }
            }
            connection.query(&format!("ANALYZE TABLE sbtest{table}"), Keep::Count)?;
            for query in [
                format!(
                    "SELECT AVG(id) FROM (SELECT * FROM sbtest{table} FORCE KEY (PRIMARY) LIMIT {size}) t"
                ),
                format!(
                    "SELECT COUNT(*) FROM (SELECT * FROM sbtest{table} WHERE k LIKE '%0%' LIMIT {size}) t"
                ),
            ] {
                connection.query(&query, Keep::Count)?;
            }
            Ok(())
        })
    }

    /// Drops all tables that are there.
    ///
    /// # Errors
    /// It fails, which has been told.
    pub fn cleanup(&self) -> Result<(), CommandFailed> {
        let tables = if self.test == OltpTest::BulkInsert { self.threads } else { self.options.tables };
        self.told(self.on_one_connection(|connection| {
            for table in 1..=tables {
                self.output.notice(&format!("Dropping table 'sbtest{table}'..."));
                connection.query(&format!("DROP TABLE IF EXISTS sbtest{table}"), Keep::Count)?;
            }
            Ok(())
        }))
    }

    /// Does something with each table: thread number `n` with the tables `n`, `n + threads` and so on.
    fn in_parallel(
        &self,
        act: impl Fn(&mut TestConnection, u32) -> Result<(), CallFailure> + Sync,
    ) -> Result<(), CommandFailed> {
        let is_over = &self.filling.is_over;
        let work = |thread: u32| {
            let tables = (thread + 1..=self.options.tables).step_by(self.threads as usize);
            let done = self.target.connect(thread).map_err(Failure::Connect).and_then(|mut connection| {
                for table in tables {
                    if is_over.load(Relaxed) {
                        break;
                    }
                    act(&mut connection, table).map_err(Failure::Call)?;
                }
                Ok(())
            });
            if done.is_err() {
                is_over.store(true, Relaxed);
            }
            self.told(done)
        };
        // Threads without a table would only connect.
        let threads = self.threads.min(self.options.tables.max(1));
        if threads == 1 {
            return work(0);
        }
        let work = &work;
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
            let results = threads.into_iter().map(|thread| thread.join().unwrap_or(Err(CommandFailed)));
            results.fold(Ok(()), Result::and)
        })
    }

    fn on_one_connection(
        &self,
        act: impl FnOnce(&mut TestConnection) -> Result<(), CallFailure>,
    ) -> Result<(), Failure> {
        let mut connection = self.target.connect(0).map_err(Failure::Connect)?;
        act(&mut connection).map_err(Failure::Call)
    }

    /// Reports why something failed.
    fn told(&self, done: Result<(), Failure>) -> Result<(), CommandFailed> {
        let Err(failure) = done else { return Ok(()) };
        let (failure, reason) = match failure {
            Failure::Connect(failure) => (failure, "connection creation failed".to_owned()),
            Failure::Call(failure) => {
                let reason = failure.sql_error();
                (failure, reason)
            }
        };
        for line in &failure.lines {
            self.output.fatal(line);
        }
        self.output.fatal(&format!("`sysbench.cmdline.call_command' function failed: {reason}"));
        Err(CommandFailed)
    }

    fn make_table(&self, connection: &mut TestConnection, table: u32) -> Result<(), CallFailure> {
        let (options, driver) = (self.options, self.target.options.driver);
        self.output.notice(&format!("Creating table 'sbtest{table}'..."));
        connection.query(&create_table(driver, table, options), Keep::Count)?;
        if options.table_size > 0 {
            self.output.notice(&format!("Inserting {} records into 'sbtest{table}'", options.table_size));
            self.fill_table(connection, table)?;
        }
        if options.create_secondary && !options.secondary {
            self.output.notice(&format!("Creating a secondary index on 'sbtest{table}'..."));
            connection.query(&format!("CREATE INDEX k_{table} ON sbtest{table}(k)"), Keep::Count)?;
        }
        Ok(())
    }

    /// Fills a table. Its rows depend on its number and the seed alone.
    fn fill_table(&self, connection: &mut TestConnection, table: u32) -> Result<(), CallFailure> {
        let (options, filling) = (self.options, self.filling);
        let mut random = RandomNumbers::new(self.random, table - 1);
        let mut insert = BulkInsert::new(&insert_rows(table, options));
        let (mut row, mut text) = (String::new(), Vec::new());
        for id in 1..=options.table_size {
            row.clear();
            row.push('(');
            if !options.auto_inc {
                push_number(&mut row, id.into());
                row.push_str(", ");
            }
            push_number(&mut row, random.default(1, options.table_size.into()));
            for format in [C, PAD] {
                text.clear();
                random.string(format, &mut text);
                row.push_str(", ");
                push_quoted(&mut row, &text);
            }
            row.push(')');
            insert.add(&row, connection)?;
            if u64::from(id).is_multiple_of(ROWS_PER_ADDITION) {
                filling.rows.fetch_add(ROWS_PER_ADDITION, Relaxed);
                if filling.is_over.load(Relaxed) {
                    return Ok(());
                }
            }
        }
        insert.finish(connection)?;
        filling.rows.fetch_add(u64::from(options.table_size) % ROWS_PER_ADDITION, Relaxed);
        Ok(())
    }
}

/// A command on tables has failed, which has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandFailed;

enum Failure {
    Connect(CallFailure),
    Call(CallFailure),
}
