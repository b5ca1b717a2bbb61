//! Scripts on a connection that notes what it is sent.

use ferrio_sql::{Connection, Keep, Login, Reply, ReplyKind, ServerError, StatementId, Value};

use super::*;

type Sent = Arc<Mutex<Vec<String>>>;

/// Answers by the first word of a statement.
struct Server(Sent);

impl Server {
    fn answer(&self, text: String, keep: Keep) -> Result<Reply, SqlError> {
        let error = |code, state: &str, message: &str| {
            Err(SqlError::Server(ServerError {
                code,
                state: state.to_owned(),
                message: message.to_owned(),
                is_fatal: false,
            }))
        };
        let word = text.split_whitespace().next().unwrap_or_default().to_owned();
        self.0.lock().unwrap().push(text);
        let row = || vec![Some(b"1".to_vec()), None, Some(b"three".to_vec())];
        match word.as_str() {
            "deadlock" => error(1213, "40001", "Deadlock found"),
            "nowhere" => error(1146, "42S02", "no such table"),
            "SELECT" => {
                let rows = if keep == Keep::Rows { vec![row(), row()] } else { Vec::new() };
                Ok(Reply {
                    kind: ReplyKind::Rows(2),
                    columns: ["a", "b", "c"].map(str::to_owned).to_vec(),
                    rows,
                })
            }
            "UPDATE" => Ok(Reply { kind: ReplyKind::Changed(1), columns: Vec::new(), rows: Vec::new() }),
            _ => Ok(Reply { kind: ReplyKind::Nothing, columns: Vec::new(), rows: Vec::new() }),
        }
    }
}

impl Connection for Server {
    fn query(&mut self, text: &str, keep: Keep) -> Result<Reply, SqlError> {
        self.answer(text.to_owned(), keep)
    }

    fn prepare(&mut self, text: &str) -> Result<StatementId, SqlError> {
        self.0.lock().unwrap().push(format!("prepare {text}"));
        Ok(StatementId(3))
    }

    fn execute(&mut self, _: StatementId, values: &[Value<'_>], keep: Keep) -> Result<Reply, SqlError> {
        self.answer(format!("SELECT {values:?}"), keep)
    }

    fn close(&mut self, _: StatementId) -> Result<(), SqlError> {
        self.0.lock().unwrap().push("close".to_owned());
        Ok(())
    }

    fn reconnect(&mut self) -> Result<(), SqlError> {
        self.0.lock().unwrap().push("reconnect".to_owned());
        Ok(())
    }
}

/// Runs one event of a script whose connection is `con`, and returns whether it succeeded and what was sent.
fn event(scene: &Scene) -> (bool, Vec<String>) {
    let sent = Sent::default();
    let of_server = Arc::clone(&sent);
    let connect =
        move |_: Driver, _: &Login| Ok(Box::new(Server(Arc::clone(&of_server))) as Box<dyn Connection>);
    let state = MainState::load(scene.run_on(Driver::Mysql, Box::new(connect))).unwrap();
    state.set_options(vec![("db_driver".to_owned(), OptionValue::Text("mysql".to_owned()))]).unwrap();
    let is_done = state.sessions().begin(0).is_ok_and(|mut session| session.event(&|| false).is_ok());
    let sent = std::mem::take(&mut *sent.lock().unwrap());
    (is_done, sent)
}

const CONNECT: &str = "function thread_init() con = sysbench.sql.driver():connect() end ";

#[test]
fn queries_return_rows() {
    let scene = noting(&format!(
        "{CONNECT} function event() \
         local rs = con:query('SELECT') note(rs.nrows, rs.nfields) \
         local row = rs:fetch_row() note(row[1], row[2], row[3]) rs:fetch_row() note(rs:fetch_row()) rs:free() \
         note(unpack(con:query('SELECT'):fetch_row(), 1, rs.nfields)) \
         note(con:query_row('SELECT')) note(con:query_row('UPDATE')) note(con:query('UPDATE').nrows) end"
    ));
    assert!(event(&scene).0);
    assert_eq!(scene.notes(), "2 3\n1 nil three\nnil\n1 nil three\n1 nil three\nnil\n0\n");
}

#[test]
fn parameters_have_their_types() {
    let scene = Scene::new(&format!(
        "{CONNECT} function event() local t = sysbench.sql.type local st = con:prepare('SELECT ?') \
         local i, d, s, n = st:bind_create(t.BIGINT), st:bind_create(t.DOUBLE), st:bind_create(t.CHAR, 4), st:bind_create(t.INT) \
         st:bind_param(i, d, s, n) i:set(9007199254740993LL) d:set(2.5) s:set('longer') st:execute() \
         i:set(1.9) s:set_rand_str('##') n:set(3) assert(st:execute():fetch_row()[3] == 'three') st:close() end"
    ));
    let (is_done, sent) = event(&scene);
    assert_eq!((is_done, scene.messages()), (true, Vec::new()));
    assert_eq!(sent[0], "prepare SELECT ?");
    let long = format!(
        "SELECT {:?}",
        [Value::Int(9_007_199_254_740_993), Value::Double(2.5), Value::Text(b"long"), Value::Null]
    );
    assert_eq!(sent[1], long);
    assert!(sent[2].starts_with("SELECT [Int(1), Double(2.5), Text(["), "{}", sent[2]);
    assert_eq!(sent[3], "close");
}

#[test]
fn inserts_of_many_rows_are_collected() {
    let scene = Scene::new(&format!(
        "{CONNECT} function event() con:bulk_insert_init('INSERT INTO t VALUES') \
         for i = 1, 3 do con:bulk_insert_next('(' .. i .. ')') end con:bulk_insert_done() \
         con:bulk_insert_init('INSERT INTO t VALUES') local row = '(' .. ('x'):rep(1000) .. ')' \
         for i = 1, 1000 do con:bulk_insert_next(row) end con:bulk_insert_done() con:bulk_insert_next('late') end"
    ));
    let (is_done, sent) = event(&scene);
    assert_eq!(sent[0], "INSERT INTO t VALUES(1),(2),(3)");
    // Half a megabyte each.
    let lengths: Vec<_> = sent[1..].iter().map(String::len).collect();
    assert_eq!(lengths.len(), 2);
    assert!((524_288..526_000).contains(&lengths[0]), "{lengths:?}");
    assert_eq!(lengths.iter().sum::<usize>(), 2 * "INSERT INTO t VALUES".len() + 1000 * 1003 - 2);
    assert!(!is_done);
    assert_eq!(
        scene.messages(),
        [
            "`thread_run' function failed: own.lua:1: attempt to call bulk_insert_next() before bulk_insert_init()"
        ]
    );
}

#[test]
fn an_error_of_a_statement_ends_the_run_or_begins_the_event_again() {
    let scene = Scene::new(&format!("{CONNECT}\nfunction event()\n con:query('nowhere') end"));
    assert_eq!(event(&scene), (false, vec!["nowhere".to_owned()]));
    assert_eq!(
        scene.messages(),
        [
            "mysql_drv_query() returned error 1146 (no such table) for query 'nowhere'",
            "`thread_run' function failed: own.lua:3: SQL error, errno = 1146, state = '42S02': no such table",
        ]
    );
    let again = "function event() n = (n or 0) + 1 con:query(n == 1 and 'BROKEN' or 'UPDATE') end";
    let scene = Scene::new(&format!("{CONNECT}{}", again.replace("BROKEN", "deadlock")));
    assert_eq!(event(&scene), (true, vec!["deadlock".to_owned(), "UPDATE".to_owned()]));
    // A hook decides about the others.
    let hook = "function sysbench.hooks.sql_error_ignorable(e) note(e.sql_errno, e.sql_state, e.sql_errmsg, e.query) return true end ";
    let scene = noting(&format!("{CONNECT}{hook}{}", again.replace("BROKEN", "nowhere")));
    assert_eq!(event(&scene), (true, vec!["nowhere".to_owned(), "UPDATE".to_owned()]));
    assert_eq!(scene.notes(), "1146 42S02 no such table nowhere\n");
    assert_eq!(scene.messages(), [""; 0]);
    // A script can catch them.
    let scene = noting(&format!(
        "{CONNECT} function event() local _, e = pcall(con.query, con, 'deadlock') note(type(e), e.errcode) \
         _, e = pcall(function() con:query('nowhere') end) note(e) note(con.sql_errno) end"
    ));
    assert!(event(&scene).0);
    let notes = scene.notes();
    assert!(
        notes.starts_with("table 1\n")
            && notes.ends_with("own.lua:1: SQL error, errno = 1146, state = '42S02': no such table\n1146\n"),
        "{notes}"
    );
}

#[test]
fn a_connection_can_be_left_and_made_again() {
    let scene = noting(&format!(
        "{CONNECT} function event() local st = con:prepare('SELECT 1') con:reconnect() st:execute() con:disconnect() \
         note(pcall(con.query, con, 'SELECT')) note(pcall(sysbench.sql.driver, 'oracle')) note(pcall(sysbench.sql.driver, 'pgsql')) end"
    ));
    let (is_done, sent) = event(&scene);
    assert!(is_done);
    assert_eq!(sent, ["prepare SELECT 1", "reconnect", "prepare SELECT 1", "SELECT []"]);
    assert_eq!(
        scene.notes(),
        "false attempt to use an already closed connection\nfalse failed to initialize the DB driver\n\
         false the options are those of the driver mysql: use --db-driver=pgsql\n"
    );
    let scene = Scene::new(CONNECT);
    let state = scene.load().unwrap();
    state.set_options(Vec::new()).unwrap();
    assert!(state.sessions().begin(0).is_err());
}

#[test]
fn scripts_of_older_versions_have_one_connection() {
    let scene = noting(
        "function event() db_connect() db_query('UPDATE') local st = db_prepare('SELECT ?') local values = {1, 'a'} \
         db_bind_param(st, values) values[1] = 5 local rs = db_execute(st) db_store_results(rs) db_free_results(rs) db_close(st) \
         db_bulk_insert_init('INSERT INTO t VALUES') db_bulk_insert_next('(1)') db_bulk_insert_done() \
         note(db_driver, mysql_table_engine, pcall(db_query, 'nowhere')) db_disconnect() end",
    );
    let (is_done, sent) = event(&scene);
    assert!(is_done, "{:?}", scene.messages());
    let bound = format!("SELECT {:?}", [Value::Int(5), Value::Text(b"a")]);
    assert_eq!(sent, ["UPDATE", "prepare SELECT ?", &bound, "close", "INSERT INTO t VALUES(1)", "nowhere"]);
    assert_eq!(scene.notes(), "mysql innodb false SQL error, errno = 1146, state = '42S02': no such table\n");
}
