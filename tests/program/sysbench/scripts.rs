//! Scripts in Lua: what they may do, beside sysbench itself and on databases.

use std::fs;

use regex::Regex;

use crate::sql::servers::Database;
use crate::support::{Run, TestDir, installed, same};
use crate::sysbench::compared::without_times;
use crate::sysbench::figures::figure;

/// A script of transactions on a database, and the file that it requires.
const SHOP: [(&str, &str); 2] = [
    ("shop.lua", include_str!("scripts/shop.lua")),
    ("shop_common.lua", include_str!("scripts/shop_common.lua")),
];

fn sysbench(dir: &TestDir, words: &[&str]) -> Run {
    dir.ferrio(&[&["sysbench"], words].concat()).run()
}

/// A script in directories of both programs, and runs of both.
#[track_caller]
fn agree(text: &str, words: &[&str]) {
    let [theirs, ours] = [TestDir::new(), TestDir::new()];
    for dir in [&theirs, &ours] {
        fs::write(dir.work().join("own.lua"), text).unwrap();
    }
    let theirs = theirs.program(installed("sysbench"), words).run();
    let ours = sysbench(&ours, words);
    let shown = format!("{words:?} of {text}\n{}{}", ours.stdout, ours.stderr);
    same!("sysbench": theirs.status, "ferrio": ours.status, "status of {shown}");
    same!("sysbench": theirs.stderr, "ferrio": ours.stderr, "standard error of {shown}");
    same!("sysbench": without_times(&theirs.stdout), "ferrio": without_times(&ours.stdout), "output of {shown}");
}

#[test]
fn scripts_run_as_in_sysbench() {
    needs!("sysbench");
    let of_all = "print('load', sysbench.tid, thread_id, sysbench.opt, test, sysbench.cmdline.command) \
                  function prepare() print('prepare', sysbench.opt.threads) end function cleanup() print('cleanup') return 5 end \
                  function help() print('my help') end function custom() print('custom') end \
                  function init() print('init', sysbench.tid) end function done() print('done') end \
                  function thread_init(id) print('thread_init', id) end function thread_done(id) print('thread_done', id) end \
                  function event(id) print('event', id) end \
                  sysbench.cmdline.commands = { one = {custom}, all = {function() print('all', sysbench.tid) end, \
                  sysbench.cmdline.PARALLEL_COMMAND} }";
    for command in ["prepare", "cleanup", "help", "one", "all", "custom", "unknown"] {
        agree(of_all, &["own.lua", command]);
    }
    agree(of_all, &["own", "prepare"]);
    agree(of_all, &["own.lua"]);
    agree(of_all, &["own.lua", "--events=3", "run"]);
    let declared = "sysbench.cmdline.options = { zeta = {'a number', 10}, alpha = {'a text', 'x'}, beta = {'a switch', false}, \
                    list = {'a list', {'a', 'b'}}, half = {'decimals', 1.5}, none = {'no default', nil, sysbench.cmdline.ARG_INT}, \
                    under_score = {'underscored', 5}, size = {'bytes', 1024, sysbench.cmdline.ARG_SIZE} } \
                    function event() local names = {} for name in pairs(sysbench.opt) do names[#names + 1] = name end \
                    table.sort(names) for _, name in ipairs(names) do local value = sysbench.opt[name] \
                    if type(value) == 'table' then value = '{' .. table.concat(value, ';') .. '}' end \
                    if name ~= 'output_format' and name ~= 'show_job' and name ~= 'rand_zipfian_exp' and name ~= 'init_rng' \
                    then print(name, type(sysbench.opt[name]), value) end end os.exit(3) end";
    agree(declared, &["own.lua", "help"]);
    agree(declared, &["own.lua", "prepare"]);
    agree(declared, &["own.lua", "run"]);
    let given = [
        "--zeta=12",
        "--under-score=9",
        "--beta",
        "--size=4K",
        "--half=3",
        "--list=q,r,s",
        "--alpha=",
        "--mysql-host=h,i",
    ];
    agree(declared, &[&["own.lua"], &given[..], &["run"]].concat());
    agree(declared, &["own.lua", "--unknown=3", "run"]);
    agree(declared, &["own.lua", "--beta=maybe", "run"]);
    // A script that declares nothing takes anything.
    let old = "function event() print(type(table_size), table_size, foo, bar, type(threads), mysql_table_engine, myisam_max_rows) \
               os.exit(0) end";
    agree(old, &["own.lua", "--table-size=12", "--foo=off", "--bar", "run"]);
    agree(old, &["own.lua", "help"]);
}

#[test]
fn mistakes_of_scripts_are_answered_as_by_sysbench() {
    needs!("sysbench");
    for text in [
        "syntax error",
        "error('at load')",
        "function init() error('in init') end function event() end",
        "function event()\n nothing.there() end",
        "function event() error({code = 5}) end",
        "function event() error('plain', 0) end",
        "function thread_init() error('in thread') end function event() end",
        "function event() n = (n or 0) + 1 print(n) if n < 3 then error({errcode = sysbench.error.RESTART_EVENT}) end end",
        "function thread_done() print('done') end function event() error({code = 5}) end",
        "",
    ] {
        agree(text, &["own.lua", "--events=1", "run"]);
    }
    for text in [
        "function prepare() error('in prepare') end",
        "sysbench.cmdline.commands = { prepare = {function() error('in command') end} }",
        "function prepare() os.exit(4) end",
        "sysbench.cmdline.options = { a = {nil, 3} }",
    ] {
        let dir = TestDir::new();
        fs::write(dir.work().join("own.lua"), text).unwrap();
        let ours = sysbench(&dir, &["own.lua", "prepare"]);
        assert_ne!(ours.status, Some(0), "{text}");
    }
    agree("function prepare() error('in prepare') end", &["own.lua", "prepare"]);
}

#[test]
fn reports_go_to_hooks() {
    needs!("sysbench");
    let hooks = "function event() end \
                 function sysbench.hooks.report_cumulative(stat) local names = {} for name in pairs(stat) do names[#names + 1] = name end \
                 table.sort(names) print(table.concat(names, ' '), stat.events, stat.threads_running) end";
    agree(hooks, &["own.lua", "--events=5", "run"]);
    let dir = TestDir::new();
    let json = "function event() end sysbench.hooks.report_intermediate = sysbench.report_json";
    fs::write(dir.work().join("own.lua"), json).unwrap();
    let run = sysbench(&dir, &["own.lua", "--time=2", "--rate=50", "--report-interval=1", "run"]).succeeded();
    let (start, end) = (run.stdout.find("[\n").unwrap(), run.stdout.find("\n]\n").unwrap());
    let parts: serde_json::Value = serde_json::from_str(&run.stdout[start..end + 2]).unwrap();
    let parts = parts.as_array().unwrap();
    assert_eq!(
        parts.iter().map(|part| part["time"].as_u64().unwrap()).collect::<Vec<_>>(),
        [1, 2],
        "{parts:?}"
    );
    assert!(
        parts.iter().all(|part| part["threads"] == 1 && part["tps"].as_f64().unwrap() > 0.0),
        "{parts:?}"
    );
    assert!(run.stdout[end..].contains("total number of events:"), "{}", run.stdout);
    // A document is alone on standard output.
    let printing = "print('at load') io.write('written\\n') function event() print('event') end";
    fs::write(dir.work().join("own.lua"), printing).unwrap();
    let words = ["own.lua", "--events=2", "--my-rows=3", "--output-format=json", "run"];
    let run = sysbench(&dir, &words).succeeded();
    let document = run.json();
    assert_eq!((&document["report"]["events"], &document["test"]), (&2.into(), &"own.lua".into()));
    assert_eq!(document["settings"]["options"], serde_json::json!({ "my_rows": "3" }));
    assert!(
        run.stderr.contains("at load\nwritten\n") && run.stderr.contains("event\nevent\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn random_numbers_of_a_seed_are_those_of_sysbench() {
    needs!("sysbench");
    let text = "function event() local words = {} \
                for _, name in ipairs{'default', 'uniform', 'gaussian', 'special', 'pareto'} do \
                  for i = 1, 4 do words[#words + 1] = sysbench.rand[name](1, 100000) end end \
                words[#words + 1] = sysbench.rand.string('##-@@@') \
                print(table.concat(words, ' ')) end";
    for words in [["--rand-seed=7", "--events=3"], ["--rand-type=uniform", "--rand-seed=11"]] {
        agree(text, &[&["own.lua", "--events=3"], &words[..], &["run"]].concat());
    }
}

#[test]
fn modules_are_found_beside_the_script_and_in_lua_path() {
    let dir = TestDir::new();
    fs::create_dir(dir.work().join("modules")).unwrap();
    fs::write(dir.work().join("modules/helper.lua"), "return { name = 'helper' }").unwrap();
    fs::write(dir.work().join("own.lua"), "function prepare() print(require('helper').name) end").unwrap();
    let missing = sysbench(&dir, &["own.lua", "prepare"]).ended_with(1);
    assert!(
        missing.stdout.contains("`prepare' function failed: own.lua:1: module 'helper' not found:"),
        "{}",
        missing.stdout
    );
    let places = dir.work().join("modules/?.lua").display().to_string();
    let found = dir.ferrio(&["sysbench", "own.lua", "prepare"]).env("LUA_PATH", &places).run().succeeded();
    assert!(found.stdout.ends_with("\nhelper\n"), "{}", found.stdout);
    fs::rename(dir.work().join("own.lua"), dir.work().join("modules/own.lua")).unwrap();
    let as_module = dir.ferrio(&["sysbench", "own", "prepare"]).env("LUA_PATH", &places).run().succeeded();
    assert!(as_module.stdout.ends_with("\nhelper\n"), "{}", as_module.stdout);
    // What sysbench installs is not loaded.
    fs::write(dir.work().join("own.lua"), "require('oltp_common')").unwrap();
    let missing = sysbench(&dir, &["own.lua", "prepare"]).ended_with(1);
    assert!(
        missing.stdout.contains("'oltp_common' is a file of sysbench, which ferrio does not have"),
        "{}",
        missing.stdout
    );
}

#[test]
fn transactions_of_a_script_leave_a_database_that_agrees_with_itself() {
    needs_databases!();
    let row = Regex::new(r"(?m)^1,1,(\d+\.\d\d,){7}0\.00$").unwrap();
    for database in Database::both() {
        let dir = TestDir::new();
        for (name, text) in SHOP {
            fs::write(dir.work().join(name), text).unwrap();
        }
        let options = database.options();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let run = |words: &[&str]| {
            sysbench(&dir, &[&["shop.lua", "--shops=3"], &options[..], words].concat()).succeeded()
        };
        let prepared = run(&["--threads=3", "prepare"]);
        for shop in 1..=3 {
            assert!(prepared.stdout.contains(&format!("\nloading shop {shop}\n")), "{}", prepared.stdout);
        }
        assert_eq!(database.rows("SELECT COUNT(*), MIN(i_id), MAX(i_id) FROM item"), ["150|1|50"]);
        let ran = run(&["--threads=2", "--events=300", "--time=0", "run"]);
        let of = |expression: &str| figure(&ran.stdout, expression);
        assert_eq!(of(r"transactions: +(\d+)"), 300.0);
        let (read, write, other) = (of(r"read: +(\d+)"), of(r"write: +(\d+)"), of(r"other: +(\d+)"));
        assert_eq!(of(r"total: +(\d+)"), read + write + other);
        // Rolled back ones are counted by the script.
        assert!(of(r"ignored errors: +(\d+)") > 0.0, "{}", ran.stdout);
        let orders: u32 = database.rows("SELECT COUNT(*) FROM orders")[0].parse().unwrap();
        assert!((200..300).contains(&orders), "{orders}");
        let checked = run(&["--threads=2", "check"]);
        assert_eq!(checked.stdout.matches(", PASSED\n").count(), 3, "{}", checked.stdout);
        // Texts in place of prepared statements; reports of intervals as CSV.
        let ran = run(&["--db-ps-mode=disable", "--csv", "--time=2", "--report-interval=1", "run"]);
        assert!(row.is_match(&ran.stdout), "{}", ran.stdout);
        assert_eq!(run(&["check"]).stdout.matches(", PASSED\n").count(), 3);
        assert!(run(&["cleanup"]).stdout.ends_with("\nDropping table 'shop'\n"));
        assert!(
            !database
                .statements()
                .iter()
                .any(|statement| statement.starts_with("Execute SELECT i_price") && statement.ends_with('?'))
        );
    }
}

#[test]
fn errors_of_statements_are_answered_as_by_sysbench() {
    needs_databases!();
    needs!("sysbench");
    let database = Database::new(ferrio_sql::Driver::Mysql);
    let connect = "function thread_init() con = sysbench.sql.driver():connect() end ";
    let hook = "function sysbench.hooks.sql_error_ignorable(e) print(e.sql_errno, e.sql_state, e.sql_errmsg, e.query) return true end ";
    let fails_twice = "function event() n = (n or 0) + 1 con:query('BEGIN') if n < 3 then con:query('SELECT * FROM nowhere') end con:query('COMMIT') end";
    let options = database.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let words = |more: &[&'static str]| [&["own.lua", "--events=2"], &options[..], more, &["run"]].concat();
    agree(&format!("{connect}{fails_twice}"), &words(&[]));
    agree(&format!("{connect}{fails_twice}"), &words(&["--mysql-ignore-errors=1146"]));
    agree(&format!("{connect} function event() con:prepare('SELECT * FROM nowhere') end"), &words(&[]));
    agree(
        &format!("{connect} function event() con:query() end").replace("con:query()", "error('x')"),
        &words(&[]),
    );
    agree("function event() db_query('SELECT 1') db_query('SET @a = 1') end", &words(&[]));
    agree(connect, &["own.lua", "--mysql-host=127.0.0.1", "--mysql-port=1", "run"]);
    // With a hook, sysbench prints errors that it ignores.
    let dir = TestDir::new();
    fs::write(dir.work().join("own.lua"), format!("{connect}{hook}{fails_twice}")).unwrap();
    let run = sysbench(&dir, &words(&[])).succeeded();
    let line =
        format!("1146\t42S02\tTable '{}.nowhere' doesn't exist\tSELECT * FROM nowhere\n", database.name);
    assert_eq!(run.stdout.matches(&line).count(), 2, "{}", run.stdout);
    assert_eq!(figure(&run.stdout, r"ignored errors: +(\d+)"), 2.0);
}
