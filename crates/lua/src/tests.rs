//! Scripts without a server: what they see, and what is reported.

mod sql;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ferrio_oltp::{
    Connect, DatabaseOptions, Distribution, IgnoredErrors, RandomOptions, Target, UniqueNumbers,
};
use ferrio_sql::{Address, Driver, SqlError};
use tempfile::TempDir;

use crate::{CommandThreads, MainState, OptionValue, Script, ScriptFailed, ScriptRun, Statistics};

/// A script in a directory of its own, and the messages about it.
struct Scene {
    _directory: TempDir,
    path: PathBuf,
    messages: Arc<Mutex<Vec<String>>>,
}

impl Scene {
    fn new(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("own.lua");
        std::fs::write(&path, text).unwrap();
        Scene { _directory: directory, path, messages: Arc::default() }
    }

    fn run_on(&self, driver: Driver, connect: Box<Connect>) -> ScriptRun {
        let options = DatabaseOptions {
            driver,
            prepares: true,
            addresses: vec![Address::Tcp { host: "localhost".to_owned(), port: 3306 }],
            user: String::new(),
            password: String::new(),
            database: String::new(),
            tls: false,
            compression: false,
            ignored: IgnoredErrors::Numbers(vec![1213]),
            dry_run: false,
            debug: false,
        };
        let messages = Arc::clone(&self.messages);
        ScriptRun {
            script: Script::find(&self.path.to_string_lossy()).unwrap(),
            command: Some("run".to_owned()),
            words: vec!["sysbench".to_owned(), "own.lua".to_owned()],
            stdout_is_reserved: true,
            random: RandomOptions {
                distribution: Distribution::Uniform,
                iterations: 12,
                special_percent: 1,
                special_share: 75,
                pareto_h: 0.2,
                zipfian_exponent: 0.8,
                seed: 7,
            },
            unique: UniqueNumbers::new(7),
            extra_draw: false,
            target: Arc::new(Target::new(options, 2, connect)),
            fatal: Box::new(move |line| messages.lock().unwrap().push(line.to_owned())),
        }
    }

    fn run(&self) -> ScriptRun {
        self.run_on(Driver::Mysql, Box::new(|_, _| Err(SqlError::Lost("nobody".to_owned()))))
    }

    fn load(&self) -> Result<MainState, ScriptFailed> {
        let state = MainState::load(self.run())?;
        state.set_options(vec![("threads".to_owned(), OptionValue::Number(2.0))])?;
        Ok(state)
    }

    /// The messages so far, with the name of the script in place of its path.
    fn messages(&self) -> Vec<String> {
        let messages = std::mem::take(&mut *self.messages.lock().unwrap());
        let path = self.path.to_string_lossy();
        messages.into_iter().map(|message| message.replace(&*path, "own.lua")).collect()
    }

    /// Runs events of one thread, and returns whether all succeeded and the thread goes on.
    fn events(&self, count: u32) -> (Result<(), ()>, bool) {
        let state = self.load().unwrap();
        let mut session = state.sessions().begin(0).unwrap();
        let result = (0..count).try_for_each(|_| session.event(&|| false).map_err(drop));
        (result, session.has_ended())
    }
}

/// Writes what a test wants to know to a file beside the script.
const NOTE: &str = r##"
local place = sysbench.cmdline.argv and debug.getinfo(1, "S").source:match("^@(.*/)")
function note(...)
    local file = assert(io.open(place .. "notes", "a"))
    local words = { ... }
    for i = 1, select("#", ...) do words[i] = tostring(words[i]) end
    file:write(table.concat(words, " "), "\n")
    file:close()
end
"##;

/// A scene whose script has `note`.
fn noting(text: &str) -> Scene {
    Scene::new(&format!("{}{text}", NOTE.replace('\n', " ")))
}

impl Scene {
    fn notes(&self) -> String {
        std::fs::read_to_string(self.path.with_file_name("notes")).unwrap_or_default()
    }
}

#[test]
fn functions_are_called_in_the_order_of_a_run() {
    let scene = noting(
        "note('load', sysbench.tid, sysbench.opt) \
         function init() note('init', sysbench.opt.threads) end \
         function thread_init(id) note('thread_init', id, thread_id) end \
         function event(id) n = (n or 0) + 1 note('event', id, n) end \
         function thread_done(id) note('thread_done', id) end \
         function done() note('done') end",
    );
    let state = scene.load().unwrap();
    state.call("init").unwrap();
    let mut session = state.sessions().begin(1).unwrap();
    for _ in 0..2 {
        session.event(&|| false).unwrap();
    }
    drop(session);
    state.call("done").unwrap();
    assert_eq!(
        scene.notes(),
        "load 0 nil\ninit 2\nload 1 nil\nthread_init 1 1\nevent 1 1\nevent 1 2\nthread_done 1\ndone\n"
    );
    assert_eq!(scene.messages(), [""; 0]);
}

#[test]
fn failures_name_the_file_and_the_line() {
    let failed = |text: &str| {
        let scene = Scene::new(text);
        let failed = scene.load().map(|state| {
            state.call("init").and_then(|()| {
                let mut session = state.sessions().begin(0).map_err(|_| ScriptFailed)?;
                session.event(&|| false).map_err(|_| ScriptFailed)
            })
        });
        assert_eq!(failed.and_then(|result| result).err(), Some(ScriptFailed), "{text}");
        scene.messages()
    };
    for (text, message) in [
        ("\nfunction event(", "own.lua:2: <name> or '...' expected near '<eof>'"),
        ("\nerror('at load')", "own.lua:2: at load"),
        ("function init() error('early') end", "`init' function failed: own.lua:1: early"),
        ("function thread_init() error('x') end", "`thread_init' function failed: own.lua:1: x"),
        (
            "function event()\n  nothing.there()\nend",
            "`thread_run' function failed: own.lua:2: attempt to index global 'nothing' (a nil value)",
        ),
        ("function event() error({code=5}) end", "`thread_run' function failed: (not a string)"),
        ("function event() error('plain', 0) end", "`thread_run' function failed: plain"),
        (
            "function event() sysbench.rand.string(nil) end",
            "`thread_run' function failed: own.lua:1: sysbench.rand.string() needs a format, not a nil",
        ),
    ] {
        assert_eq!(failed(text), [message], "{text}");
    }
    let missing = failed("\nrequire('oltp_common')");
    assert!(missing[0].starts_with("own.lua:2: module 'oltp_common' not found:"), "{missing:?}");
    assert!(missing[0].contains("a file of sysbench, which ferrio does not have: copy it"), "{missing:?}");
}

#[test]
fn an_event_ends_its_thread_or_begins_again() {
    let scene = noting("function event() n = (n or 0) + 1 note(n) return n == 2 end");
    assert_eq!(scene.events(2), (Ok(()), true));
    assert_eq!(Scene::new("function event() return false end").events(3), (Ok(()), false));
    let again = "function event() n = (n or 0) + 1 note(n) if n < 3 then error({errcode = sysbench.error.RESTART_EVENT}) end end \
                 function sysbench.hooks.before_restart_event(err) note('again', err.errcode) end";
    let scene = noting(again);
    assert_eq!(scene.events(1), (Ok(()), false));
    assert_eq!(scene.notes(), "1\nagain 1\n2\nagain 1\n3\n");
    // An event that would begin again for ever ends with the run.
    let scene = Scene::new("function event() error({errcode = 1}) end");
    let state = scene.load().unwrap();
    assert_eq!(state.sessions().begin(0).unwrap().event(&|| true), Ok(()));
}

#[test]
fn a_script_has_its_own_loop() {
    let scene = noting(
        "function event(id) note('event', id) end \
         function thread_run(id) note('begin', id) while ffi.C.sb_more_events(id) do ffi.C.sb_event_start(id) event(id) \
         ffi.C.sb_event_stop(id) end note('end') end \
         function thread_done() note('done') end",
    );
    assert_eq!(scene.events(2), (Ok(()), false));
    assert_eq!(scene.notes(), "begin 0\nevent 0\nevent 0\nend\ndone\n");
    // One that asks for nothing ends at once, and the default one can be called.
    assert_eq!(Scene::new("function thread_run() end").events(1), (Ok(()), true));
    let scene = noting(
        "local run = thread_run function thread_run(id) note('mine') run(id) end function event() note('event') end",
    );
    assert_eq!(scene.events(2), (Ok(()), false));
    assert_eq!(scene.notes(), "mine\nevent\nevent\n");
}

#[test]
fn random_numbers_are_those_of_the_range() {
    let scene = noting(
        "function event() \
         for _, name in ipairs{'default', 'uniform', 'gaussian', 'special', 'pareto', 'zipfian'} do \
           for i = 1, 500 do local n = sysbench.rand[name](3, 12) assert(n >= 3 and n <= 12 and n == math.floor(n), name) end \
         end \
         local seen = {} for i = 1, 1000 do local n = sysbench.rand.unique() assert(not seen[n]) seen[n] = true end \
         local u = sysbench.rand.uniform_double() assert(u >= 0 and u < 1) \
         assert(sysbench.rand.string('##-@@ x'):match('^%d%d%-%l%l x$')) \
         assert(#sysbench.rand.varstring(3, 5) >= 3) assert(#sysbench.rand.varstring(4, 4) == 4) \
         assert(type(sysbench.rand.uniform_uint64()) == 'cdata') \
         assert(sb_rand_uniform(2, 2) == 2 and sb_rand_str('###'):match('^%d%d%d$') and sb_rnd() >= 0) \
         local q = sb_rand_uniq(5, 9) assert(q >= 5 and q <= 9) \
         note(sysbench.rand.uniform(1, 1e6)) end",
    );
    assert_eq!(scene.events(2), (Ok(()), false));
    let first = scene.notes();
    assert_eq!(first.lines().count(), 2);
    assert_ne!(first.lines().next(), first.lines().nth(1));
    // The same seed draws the same numbers.
    assert_eq!(scene.events(2), (Ok(()), false));
    assert_eq!(scene.notes(), first.repeat(2));
    assert_eq!(scene.messages(), [""; 0]);
}

#[test]
fn options_are_values_of_lua() {
    let text = "function init() local o = sysbench.opt \
                note(o.rows, o.label, o.fast, #o.hosts, o.hosts[2], rows) end";
    let check = |text: &str, notes: &str| {
        let scene = noting(text);
        let state = MainState::load(scene.run()).unwrap();
        let hosts = OptionValue::List(vec!["a".to_owned(), "b".to_owned()]);
        let values = [
            ("rows", OptionValue::Number(25.0)),
            ("label", OptionValue::Text("x".to_owned())),
            ("fast", OptionValue::Flag(true)),
            ("hosts", hosts),
        ];
        state.set_options(values.map(|(name, value)| (name.to_owned(), value)).into()).unwrap();
        state.call("init").unwrap();
        assert_eq!(scene.notes(), notes);
    };
    // A script that declares nothing has them as globals too.
    check(text, "25 x true 2 b 25\n");
    check(&format!("sysbench.cmdline.options = {{}} {text}"), "25 x true 2 b nil\n");
}

#[test]
fn commands_run_once_or_in_every_thread() {
    let scene = noting(
        "sysbench.cmdline.commands = { one = {function() note('one', sysbench.tid) end}, \
           all = {function() note('all', sysbench.tid, sysbench.opt.threads) end, sysbench.cmdline.PARALLEL_COMMAND}, \
           bad = {function() error('no') end}, prepare = {function() note('mine') end} } \
         function prepare() note('not mine') end function cleanup() note('cleanup') end function custom() end",
    );
    let state = scene.load().unwrap();
    assert_eq!(state.threads_of_command("one"), Some(CommandThreads::Main));
    assert_eq!(state.threads_of_command("all"), Some(CommandThreads::All));
    assert_eq!(state.threads_of_command("custom"), None);
    assert_eq!(state.threads_of_command("help"), None);
    for command in ["one", "prepare", "cleanup"] {
        state.run_command(command).unwrap();
    }
    assert_eq!(scene.notes(), "one 0\nmine\ncleanup\n");
    state.run_command_in_threads("all", 3).unwrap();
    let mut all: Vec<_> = scene.notes().lines().skip(3).map(str::to_owned).collect();
    all.sort();
    assert_eq!(all, ["all 0 2", "all 1 2", "all 2 2"]);
    assert_eq!(state.run_command("bad"), Err(ScriptFailed));
    assert_eq!(state.run_command_in_threads("bad", 1), Err(ScriptFailed));
    let message = "`sysbench.cmdline.call_command' function failed: own.lua:1: no";
    assert_eq!(scene.messages(), [message; 2]);
}

#[test]
fn hooks_get_figures() {
    let scene = noting(
        "function sysbench.hooks.report_intermediate(s) note('i', s.events, s.threads_running, s.queue_length, s.latency_min) end \
         function sysbench.hooks.report_cumulative(s) note('c', s.reads, s.latency_max, s.queue_length) error('in hook') end",
    );
    let state = scene.load().unwrap();
    let figures = Statistics { events: 9, threads_running: 2, reads: 4, ..Statistics::default() };
    assert!(state.report_interval(figures));
    assert!(state.report_total(Statistics { latencies: Some([0.5, 1.0, 2.0, 3.0]), ..figures }));
    assert_eq!(scene.notes(), "i 9 2 0 nil\nc 4 2 nil\n");
    assert_eq!(scene.messages(), ["`report_cumulative' function failed: own.lua:1: in hook"]);
    let scene = Scene::new("");
    assert!(!scene.load().unwrap().report_interval(figures));
}

#[test]
fn the_libraries_of_luajit_are_there() {
    let scene = noting(
        "local ffi = require('ffi') ffi.cdef('int abs(int); void sb_counter_inc(int, sb_counter_type);') \
         function event() note(ffi.C.abs(-4), bit.band(6, 3), jit and 'jit', io and 'io', debug and 'debug') \
         ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR) ffi.C.sb_counter_inc(0, ffi.C.SB_CNT_READ) end",
    );
    let run = scene.run();
    let target = Arc::clone(&run.target);
    let state = MainState::load(run).unwrap();
    state.sessions().begin(1).unwrap().event(&|| false).unwrap();
    assert_eq!(scene.notes(), "4 2 jit io debug\n");
    let counts = target.counters.total();
    assert_eq!((counts.ignored_errors, counts.reads), (1, 1));
}
