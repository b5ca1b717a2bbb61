//! The sessions of the tests: each event is the statements of a transaction, as sysbench sends them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use ferrio_job::{Session, SessionFailed, SessionSource};
use ferrio_sql::{Driver, SqlError, Value};

use crate::bulk_insert::BulkInsert;
use crate::connection::Target;
use crate::failure::{CallFailure, Consequence};
use crate::output::Output;
use crate::random::{RandomNumbers, RandomOptions};
use crate::sender::{Sender, prepared_count};
use crate::statements::{Statement, push_number, push_quoted, ranges};
use crate::test::{OltpOptions, OltpTest};
use crate::unique::UniqueNumbers;

/// The texts of the columns `c` and `pad`.
pub(crate) const C: &[u8] =
    b"###########-###########-###########-###########-###########-###########-###########-###########-###########-###########";
pub(crate) const PAD: &[u8] = b"###########-###########-###########-###########-###########";

/// The number of MySQL's error after which it has rolled back the whole transaction.
const DEADLOCK: u32 = 1213;

/// MySQL's error for more prepared statements than `max_prepared_stmt_count`.
const TOO_MANY_STATEMENTS: u32 = 1461;

/// A run of a test.
#[derive(Debug)]
pub struct OltpRun {
    /// The test.
    pub test: OltpTest,
    /// Its options.
    pub options: OltpOptions,
    /// Random numbers.
    pub random: RandomOptions,
    /// Each event takes a random number for the histogram, as in sysbench.
    pub has_percentile: bool,
    /// The database.
    pub target: Arc<Target>,
    /// Shows why the run ends.
    pub output: Box<dyn Output>,
    /// The ids of `oltp_insert` without those of the server.
    unique: UniqueNumbers,
    /// A session failed at its end, when no event can fail any more.
    has_failed: AtomicBool,
    /// The user knows that the server allows too few prepared statements.
    has_advised: AtomicBool,
}

impl OltpRun {
    /// A run that has not begun.
    #[must_use]
    pub fn new(
        test: OltpTest,
        options: OltpOptions,
        random: RandomOptions,
        has_percentile: bool,
        target: Arc<Target>,
        output: Box<dyn Output>,
    ) -> Self {
        let unique = UniqueNumbers::new(random.seed);
        let (has_failed, has_advised) = (AtomicBool::new(false), AtomicBool::new(false));
        OltpRun { test, options, random, has_percentile, target, output, unique, has_failed, has_advised }
    }

    /// True if a session has failed at its end.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Relaxed)
    }

    /// Says how many statements the server has to allow, if that is why one cannot be prepared.
    fn advise(&self, failure: &CallFailure) {
        if failure.number() == TOO_MANY_STATEMENTS && !self.has_advised.swap(true, Relaxed) {
            let (connections, each) =
                (self.target.counters.threads(), prepared_count(self.test, &self.options));
            self.output.warning(&format!(
                "{connections} connections prepare {each} statements each: set the server's max_prepared_stmt_count to {} or more, \
                 or send texts (--db-ps-mode=disable)",
                connections as u64 * each
            ));
        }
    }

    /// Shows why a function of a thread has failed.
    fn failed(&self, failure: &CallFailure, function: &str, reason: &str) -> SessionFailed {
        for line in &failure.lines {
            self.output.fatal(line);
        }
        self.output.fatal(&format!("`{function}' function failed: {reason}"));
        SessionFailed
    }
}

/// Begins the sessions of a run.
#[derive(Debug)]
pub struct OltpSessions(pub Arc<OltpRun>);

impl SessionSource for OltpSessions {
    fn begin(&self, thread: u32) -> Result<Box<dyn Session>, SessionFailed> {
        let run = &self.0;
        let init = |failure: CallFailure, reason| run.failed(&failure, "thread_init", reason);
        let connection =
            run.target.connect(thread).map_err(|failure| init(failure, "connection creation failed"))?;
        let sender = Sender::new(connection, run.test, &run.options)
            .inspect_err(|failure| run.advise(failure))
            .map_err(|failure| init(failure, "SQL API error"))?;
        let bulk = (run.test == OltpTest::BulkInsert).then(|| Bulk {
            rows: BulkInsert::new(&format!("INSERT INTO sbtest{} VALUES", thread + 1)),
            last: 0,
            row: String::new(),
        });
        let client = Client {
            sender,
            random: RandomNumbers::new(&run.random, thread),
            c: Vec::with_capacity(C.len()),
            pad: Vec::with_capacity(PAD.len()),
            ids: Vec::new(),
            text: String::new(),
            bulk,
        };
        Ok(Box::new(OltpSession { run: Arc::clone(run), client }))
    }
}

/// The session of a thread.
struct OltpSession {
    run: Arc<OltpRun>,
    client: Client,
}

/// What a session sends, apart from what all share: so an event needs no other reference to the run.
struct Client {
    sender: Sender,
    random: RandomNumbers,
    /// The columns of the current statement.
    c: Vec<u8>,
    pad: Vec<u8>,
    ids: Vec<Value<'static>>,
    text: String,
    bulk: Option<Bulk>,
}

/// The rows of `bulk_insert`.
struct Bulk {
    rows: BulkInsert,
    last: i64,
    row: String,
}

impl Session for OltpSession {
    fn event(&mut self, is_over: &dyn Fn() -> bool) -> Result<(), SessionFailed> {
        let (run, client) = (&*self.run, &mut self.client);
        while let Err(failure) = client.attempt(run) {
            let begun = client.begin_again(run, &failure);
            begun.map_err(|failure| run.failed(&failure, "thread_run", &failure.sql_error()))?;
            if failure.consequence == Consequence::End {
                return Err(run.failed(&failure, "thread_run", &failure.sql_error()));
            }
            if is_over() {
                break;
            }
        }
        if run.has_percentile {
            client.random.skip();
        }
        Ok(())
    }
}

impl Drop for OltpSession {
    /// Sends the rows that are left.
    fn drop(&mut self) {
        let Some(bulk) = &mut self.client.bulk else { return };
        if let Err(failure) = bulk.rows.finish(&mut self.client.sender.connection)
            && !self.run.has_failed.swap(true, Relaxed)
        {
            self.run.failed(&failure, "thread_done", &failure.sql_error());
        }
    }
}

impl Client {
    /// Gets ready for the event to begin again after an ignored error.
    fn begin_again(&mut self, run: &OltpRun, failure: &CallFailure) -> Result<(), CallFailure> {
        match failure.consequence {
            Consequence::End => {}
            Consequence::Restart => {
                let is_ended = run.target.options.driver == Driver::Pgsql
                    || matches!(&failure.error, SqlError::Server(error) if error.code == DEADLOCK);
                self.sender.abandon(is_ended);
            }
            Consequence::RestartUnprepared => {
                self.sender.abandon(true);
                self.sender.prepare_again(run.test, &run.options)?;
            }
        }
        Ok(())
    }

    /// Sends the statements of an event.
    fn attempt(&mut self, run: &OltpRun) -> Result<(), CallFailure> {
        let options = &run.options;
        let has_transaction = run.test.has_transactions() && !options.skip_trx;
        if has_transaction {
            self.sender.begin()?;
        }
        match run.test {
            OltpTest::ReadWrite => {
                self.point_selects(options, options.point_selects)?;
                self.ranges(options)?;
                self.writes(options)?;
            }
            OltpTest::ReadOnly => {
                self.point_selects(options, options.point_selects)?;
                self.ranges(options)?;
            }
            OltpTest::WriteOnly => self.writes(options)?,
            OltpTest::PointSelect => self.point_selects(options, 1)?,
            OltpTest::UpdateIndex => self.index_updates(options, 1)?,
            OltpTest::UpdateNonIndex => self.non_index_updates(options, 1)?,
            OltpTest::Insert => self.insert(run)?,
            OltpTest::Delete => {
                let table = self.table(options);
                let id = self.id(options);
                self.sender.send(Statement::Delete, table, &[Value::Int(id)])?;
            }
            OltpTest::RandomPoints => self.random_points(options)?,
            OltpTest::RandomRanges => self.random_ranges(options)?,
            OltpTest::BulkInsert => self.bulk_row()?,
        }
        if has_transaction {
            self.sender.commit()?;
        }
        Ok(())
    }

    #[inline]
    fn table(&mut self, options: &OltpOptions) -> u32 {
        self.random.uniform(1, options.tables.into()) as u32
    }

    #[inline]
    fn id(&mut self, options: &OltpOptions) -> i64 {
        self.random.default(1, options.table_size.into())
    }

    /// A new value for `c`.
    fn new_c(&mut self) {
        self.c.clear();
        self.random.string(C, &mut self.c);
    }

    /// A new value for `pad`.
    fn new_pad(&mut self) {
        self.pad.clear();
        self.random.string(PAD, &mut self.pad);
    }

    fn point_selects(&mut self, options: &OltpOptions, times: u32) -> Result<(), CallFailure> {
        let table = self.table(options);
        for _ in 0..times {
            let id = self.id(options);
            self.sender.send(Statement::PointSelect, table, &[Value::Int(id)])?;
        }
        Ok(())
    }

    fn ranges(&mut self, options: &OltpOptions) -> Result<(), CallFailure> {
        if !options.range_selects {
            return Ok(());
        }
        for (statement, times) in ranges(options) {
            let table = self.table(options);
            for _ in 0..times {
                let first = self.id(options);
                let last = first + i64::from(options.range_size) - 1;
                self.sender.send(statement, table, &[Value::Int(first), Value::Int(last)])?;
            }
        }
        Ok(())
    }

    fn writes(&mut self, options: &OltpOptions) -> Result<(), CallFailure> {
        self.index_updates(options, options.index_updates)?;
        self.non_index_updates(options, options.non_index_updates)?;
        let table = self.table(options);
        for _ in 0..options.delete_inserts {
            let id = self.id(options);
            let k = self.id(options);
            self.new_c();
            self.new_pad();
            self.sender.send(Statement::Delete, table, &[Value::Int(id)])?;
            let row = [Value::Int(id), Value::Int(k), Value::Text(&self.c), Value::Text(&self.pad)];
            self.sender.send(Statement::Insert, table, &row)?;
        }
        Ok(())
    }

    fn index_updates(&mut self, options: &OltpOptions, times: u32) -> Result<(), CallFailure> {
        let table = self.table(options);
        for _ in 0..times {
            let id = self.id(options);
            self.sender.send(Statement::IndexUpdate, table, &[Value::Int(id)])?;
        }
        Ok(())
    }

    fn non_index_updates(&mut self, options: &OltpOptions, times: u32) -> Result<(), CallFailure> {
        let table = self.table(options);
        for _ in 0..times {
            self.new_c();
            let id = self.id(options);
            self.sender.send(Statement::NonIndexUpdate, table, &[Value::Text(&self.c), Value::Int(id)])?;
        }
        Ok(())
    }

    /// A row with an id from the server, or with 0, which stands for that on MySQL. With `auto_inc` off, a number that does not repeat.
    fn insert(&mut self, run: &OltpRun) -> Result<(), CallFailure> {
        let options = &run.options;
        let table = self.table(options);
        let k = self.id(options);
        self.new_c();
        self.new_pad();
        let has_id = run.target.options.driver == Driver::Mysql || !options.auto_inc;
        let columns = if has_id { "id, k, c, pad" } else { "k, c, pad" };
        let text = &mut self.text;
        text.clear();
        text.push_str("INSERT INTO sbtest");
        push_number(text, table.into());
        for part in [" (", columns, ") VALUES ("] {
            text.push_str(part);
        }
        if has_id {
            let id = if options.auto_inc { 0 } else { run.unique.next().cast_signed() };
            push_number(text, id.into());
            text.push_str(", ");
        }
        push_number(text, k);
        for column in [&self.c, &self.pad] {
            text.push_str(", ");
            push_quoted(text, column);
        }
        text.push(')');
        self.sender.send_text(&self.text)
    }

    // sysbench draws values of `k` from 0.

    fn random_points(&mut self, options: &OltpOptions) -> Result<(), CallFailure> {
        self.ids.clear();
        for _ in 0..options.random_points {
            self.ids.push(Value::Int(self.random.default(0, options.table_size.into())));
        }
        self.sender.send(Statement::RandomPoints, 1, &self.ids)
    }

    fn random_ranges(&mut self, options: &OltpOptions) -> Result<(), CallFailure> {
        self.ids.clear();
        for _ in 0..options.number_of_ranges {
            let first = self.random.default(0, options.table_size.into());
            self.ids.extend([first, first + i64::from(options.delta)].map(Value::Int));
        }
        self.sender.send(Statement::RandomRanges, 1, &self.ids)
    }

    fn bulk_row(&mut self) -> Result<(), CallFailure> {
        let Some(bulk) = &mut self.bulk else { return Ok(()) };
        bulk.last += 1;
        bulk.row.clear();
        bulk.row.push('(');
        push_number(&mut bulk.row, bulk.last);
        bulk.row.push(',');
        push_number(&mut bulk.row, bulk.last);
        bulk.row.push(')');
        bulk.rows.add(&bulk.row, &mut self.sender.connection)
    }
}
