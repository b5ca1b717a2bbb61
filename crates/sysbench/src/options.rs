//! The options of sysbench: one table, from which the command line is read, help is written and defaults come. An option is named by its
//! variant everywhere else.
//!
//! Names, forms and defaults are those of sysbench 1.0.20.

/// Everything about an option.
#[derive(Debug)]
pub struct SysbenchOptionRow {
    /// Without the dashes.
    pub name: &'static str,
    pub kind: Kind,
    /// `None` if the option has no value by default.
    pub default: Option<&'static str>,
    /// One line.
    pub help: &'static str,
    /// The words that its value can be, or that its list can have; empty if there are others.
    pub words: &'static [&'static str],
}

impl SysbenchOptionRow {
    /// The line of help with all words.
    pub fn full_help(&self) -> String {
        match self.words {
            [] => self.help.to_owned(),
            [rest @ .., last] if self.kind == Kind::Text => {
                format!("{}: {} or {last}", self.help, rest.join(", "))
            }
            words => format!("{}: {}", self.help, words.join(", ")),
        }
    }

    /// True if this is its name, in which dashes and underscores are the same.
    pub fn is_named(&self, name: &str) -> bool {
        is_same_name(self.name, name)
    }

    /// The name and the form of its value.
    pub fn synopsis(&self) -> String {
        format!("--{}{}", self.name, self.kind.form())
    }

    const fn of(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }
}

/// Kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of 32 bits.
    Number,
    /// A number that may have a suffix, although help shows a plain one.
    SizeNumber,
    /// A number with decimals.
    Decimal,
    /// Bytes, with a suffix K, M, G or T.
    Size,
    /// A word.
    Text,
    /// On or off.
    Flag,
    /// Words separated by commas.
    List,
    /// The name of a file.
    File,
}

impl Kind {
    /// How its value is shown after the name of an option.
    pub const fn form(self) -> &'static str {
        match self {
            Kind::Number | Kind::SizeNumber | Kind::Decimal => "=N",
            Kind::Size => "=SIZE",
            Kind::Text => "=STRING",
            Kind::Flag => "[=on|off]",
            Kind::List => "=[LIST,...]",
            Kind::File => "=FILENAME",
        }
    }
}

const fn row(name: &'static str, kind: Kind, default: &'static str, help: &'static str) -> SysbenchOptionRow {
    SysbenchOptionRow { name, kind, default: Some(default), help, words: &[] }
}

const fn unset(name: &'static str, kind: Kind, help: &'static str) -> SysbenchOptionRow {
    SysbenchOptionRow { name, kind, default: None, help, words: &[] }
}

/// General options under a title.
#[derive(Debug)]
pub struct Group {
    /// The line above the options in help; empty for none.
    pub title: &'static str,
    /// In the order of help.
    pub options: &'static [SysbenchOption],
}

/// The options of all tests.
pub const GENERAL: &[Group] = &[
    Group { title: "General options:", options: GENERAL_OPTIONS },
    Group { title: "Pseudo-Random Numbers Generator options:", options: RANDOM_NUMBERS },
    Group { title: "Log options:", options: LOG },
    Group { title: "", options: LATENCY },
    Group { title: "General database options:\n", options: DATABASE },
    Group { title: DRIVERS, options: MYSQL },
    Group { title: "pgsql options:", options: PGSQL },
];

/// The list of database drivers in `--help`, before their options.
const DRIVERS: &str = "
Compiled-in database drivers:
  mysql - MySQL driver
  pgsql - PostgreSQL driver

mysql options:";

/// Makes the enum and its rows, so that an option is in both. A list is in the order of help.
macro_rules! options {
    ($($(#[$doc:meta])* $visible:vis $list:ident { $($option:ident => $row:expr;)* })*) => {
        /// An option.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SysbenchOption {
            $($($option,)*)*
        }

        impl SysbenchOption {
            #[must_use]
            pub const fn row(self) -> &'static SysbenchOptionRow {
                match self {
                    $($(SysbenchOption::$option => const { &$row },)*)*
                }
            }
        }

        $($(#[$doc])* $visible const $list: &[SysbenchOption] = &[$(SysbenchOption::$option),*];)*
    };
}

options! {
    GENERAL_OPTIONS {
        Threads => row("threads", Kind::Number, "1", "threads that run events");
        Events => row("events", Kind::Number, "0", "events to do in all; 0 is no limit");
        Time => row("time", Kind::Number, "10", "seconds to run; 0 is no limit");
        ForcedShutdown => row("forced-shutdown", Kind::Text, "off",
            "stop a run that has not ended this many seconds, or this share of --time (10%), after --time; or off");
        ThreadStackSize => row("thread-stack-size", Kind::Size, "64K",
            "checked, but without effect: threads have the stacks that they need");
        Rate => row("rate", Kind::Number, "0",
            "mean events per second in all, at random times; 0 is as fast as possible");
        ReportInterval => row("report-interval", Kind::Number, "0",
            "seconds between reports of the interval; 0 is none");
        ReportCheckpoints => row("report-checkpoints", Kind::List, "",
            "seconds after the start at which to print a report and begin all figures again");
        Debug => row("debug", Kind::Flag, "off", "print each request, and the figures of each thread");
        Validate => row("validate", Kind::Flag, "off",
            "give blocks checksums, and check those of blocks that are read");
        Help => row("help", Kind::Flag, "off", "print this help");
        Version => row("version", Kind::Flag, "off", "print the version");
        ConfigFile => unset("config-file", Kind::File, "read options from this file, one name=value a line");
        TxRate => row("tx-rate", Kind::Number, "0", "old name of --rate");
        MaxRequests => row("max-requests", Kind::Number, "0", "old name of --events");
        MaxTime => row("max-time", Kind::Number, "0", "old name of --time");
        NumThreads => row("num-threads", Kind::Number, "1", "old name of --threads");
        InitRng => row("init-rng", Kind::Flag, "off",
            "accepted, but without effect: seeding from the clock is the default");
        OutputFormat => row("output-format", Kind::Text, "text",
            "format of the report (not in sysbench)").of(&["text", "json"]);
        ShowJob => row("show-job", Kind::Flag, "off",
            "print a job file with the load of a run of fileio (not in sysbench)");
    }
    RANDOM_NUMBERS {
        RandType => row("rand-type", Kind::Text, "special",
            "distribution of ids in tables and of numbers in scripts; offsets in files are always uniform").of(&["uniform", "gaussian", "special", "pareto", "zipfian"]);
        RandSpecIter => row("rand-spec-iter", Kind::Number, "12",
            "how many uniform numbers each number is the mean of (gaussian, special)");
        RandSpecPct => row("rand-spec-pct", Kind::Number, "1",
            "size of the part around the middle that most numbers are in, as a percentage of the range (special)");
        RandSpecRes => row("rand-spec-res", Kind::Number, "75", "percentage of the numbers that are in the part of --rand-spec-pct (special)");
        RandSeed => row("rand-seed", Kind::Number, "0", "seed of random numbers; 0 is a different one in each run");
        RandParetoH => row("rand-pareto-h", Kind::Decimal, "0.2",
            "share h of the range that has the share 1-h of the numbers (pareto)");
        RandZipfianExp => row("rand-zipfian-exp", Kind::Decimal, "0.8",
            "exponent of Zipf's law (zipfian; not in sysbench 1.0)");
    }
    LOG {
        Verbosity => row("verbosity", Kind::Number, "3",
            "0 prints only fatal errors, 2 also warnings, 3 also the report, 5 everything");
    }
    LATENCY {
        Percentile => row("percentile", Kind::Number, "95", "percentile of the latency to report (1-100); 0 is none");
        Histogram => row("histogram", Kind::Flag, "off", "print how latencies are distributed");
    }
    DATABASE {
        DbDriver => row("db-driver", Kind::Text, "mysql", "driver of the database").of(&["mysql", "pgsql"]);
        DbPsMode => row("db-ps-mode", Kind::Text, "auto", "prepare statements (auto), or send them as texts (disable)").of(&["auto", "disable"]);
        DbDebug => row("db-debug", Kind::Flag, "off", "accepted, but without effect");
    }
    MYSQL {
        MysqlHost => row("mysql-host", Kind::List, "localhost",
            "hosts of servers; connections go to them in turn; localhost means a Unix socket");
        MysqlPort => row("mysql-port", Kind::List, "3306", "ports of the servers on each host");
        MysqlSocket => unset("mysql-socket", Kind::List, "Unix sockets of servers, in place of hosts and ports");
        MysqlUser => row("mysql-user", Kind::Text, "sbtest", "user");
        MysqlPassword => row("mysql-password", Kind::Text, "", "password");
        MysqlDb => row("mysql-db", Kind::Text, "sbtest", "database");
        MysqlSsl => row("mysql-ssl", Kind::Flag, "off", "encrypt connections");
        MysqlSslCipher => row("mysql-ssl-cipher", Kind::Text, "",
            "accepted, but without effect: client and server choose the cipher");
        MysqlCompression => row("mysql-compression", Kind::Flag, "off", "compress what client and server send");
        MysqlDebug => row("mysql-debug", Kind::Flag, "off", "accepted, but without effect");
        MysqlIgnoreErrors => row("mysql-ignore-errors", Kind::List, "1213,1020,1205",
            "errors by number after which an event begins again, or all");
        MysqlDryRun => row("mysql-dry-run", Kind::Flag, "off",
            "send nothing; every statement succeeds at once");
    }
    PGSQL {
        PgsqlHost => row("pgsql-host", Kind::Text, "localhost", "host of the server, or the directory of its socket");
        PgsqlPort => row("pgsql-port", Kind::Number, "5432", "port of the server");
        PgsqlUser => row("pgsql-user", Kind::Text, "sbtest", "user");
        PgsqlPassword => row("pgsql-password", Kind::Text, "", "password");
        PgsqlDb => row("pgsql-db", Kind::Text, "sbtest", "database");
    }
    /// The options of the test `fileio`.
    pub FILEIO {
        FileNum => row("file-num", Kind::Number, "128", "number of files");
        FileBlockSize => row("file-block-size", Kind::SizeNumber, "16384", "bytes of a request");
        FileTotalSize => row("file-total-size", Kind::Size, "2G", "bytes of all files together");
        FileTestMode => unset("file-test-mode", Kind::Text,
            "what `run` does").of(&["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"]);
        FileIoMode => row("file-io-mode", Kind::Text, "sync", "how requests are made").of(&["sync", "async", "mmap"]);
        FileAsyncBacklog => row("file-async-backlog", Kind::Number, "128",
            "requests that each thread has in flight (async)");
        FileExtraFlags => row("file-extra-flags", Kind::List, "",
            "how files are opened").of(&["sync", "dsync", "direct"]);
        FileFsyncFreq => row("file-fsync-freq", Kind::Number, "100",
            "sync all files after this many requests; 0 means never");
        FileFsyncAll => row("file-fsync-all", Kind::Flag, "off", "sync after each write");
        FileFsyncEnd => row("file-fsync-end", Kind::Flag, "on", "each thread syncs all files when it ends");
        FileFsyncMode => row("file-fsync-mode", Kind::Text, "fsync",
            "how files are synced").of(&["fsync", "fdatasync"]);
        FileMergedRequests => row("file-merged-requests", Kind::Number, "0",
            "merge this many sequential requests into one; 0 merges none");
        FileRwRatio => row("file-rw-ratio", Kind::Decimal, "1.5", "reads for each write (rndrw)");
    }
    /// The options of the test `cpu`.
    pub CPU {
        CpuMaxPrime => row("cpu-max-prime", Kind::Number, "10000", "an event looks for the primes below this number");
    }
    /// The options of the test `threads`.
    pub THREADS {
        ThreadYields => row("thread-yields", Kind::Number, "1000", "yields in an event");
        ThreadLocks => row("thread-locks", Kind::Number, "8", "locks that the threads share");
    }
    /// The options of the test `mutex`.
    pub MUTEX {
        MutexNum => row("mutex-num", Kind::Number, "4096", "mutexes to choose from");
        MutexLocks => row("mutex-locks", Kind::Number, "50000", "locks that each thread takes");
        MutexLoops => row("mutex-loops", Kind::Number, "10000", "empty loops before each lock");
    }
    /// The options of the test `memory`.
    pub MEMORY {
        MemoryBlockSize => row("memory-block-size", Kind::Size, "1K", "bytes of a block, a power of two");
        MemoryTotalSize => row("memory-total-size", Kind::Size, "100G", "bytes to transfer; 0 is no limit");
        MemoryScope => row("memory-scope", Kind::Text, "global",
            "one block for all threads, or one for each").of(&["global", "local"]);
        MemoryHugetlb => row("memory-hugetlb", Kind::Flag, "off", "take the block from the pool of huge pages");
        MemoryOper => row("memory-oper", Kind::Text, "write",
            "what is done with a block").of(&["read", "write", "none"]);
        MemoryAccessMode => row("memory-access-mode", Kind::Text, "seq",
            "order of the words in a block").of(&["seq", "rnd"]);
    }
    /// The options of all tests of databases but `bulk_insert`.
    pub OLTP {
        AutoInc => row("auto_inc", Kind::Flag, "on", "the server numbers the rows; if off, the client does");
        CreateSecondary => row("create_secondary", Kind::Flag, "on", "tables have an index on k");
        DeleteInserts => row("delete_inserts", Kind::Number, "1",
            "rows that a transaction deletes and inserts again");
        DistinctRanges => row("distinct_ranges", Kind::Number, "1", "ranges that a transaction reads sorted and without duplicates");
        IndexUpdates => row("index_updates", Kind::Number, "1", "updates of the indexed column k in a transaction");
        MysqlStorageEngine => row("mysql_storage_engine", Kind::Text, "innodb", "storage engine of MySQL's tables");
        NonIndexUpdates => row("non_index_updates", Kind::Number, "1", "updates of the column c, which has no index, in a transaction");
        OrderRanges => row("order_ranges", Kind::Number, "1", "ranges that a transaction reads sorted");
        PgsqlVariant => unset("pgsql_variant", Kind::Text,
            "variant of PostgreSQL; it sets no index on k and delete_inserts=0").of(&["redshift"]);
        PointSelects => row("point_selects", Kind::Number, "10", "single rows that a transaction reads");
        RangeSelects => row("range_selects", Kind::Flag, "on", "transactions read ranges");
        RangeSize => row("range_size", Kind::Number, "100", "rows in a range");
        Secondary => row("secondary", Kind::Flag, "off", "ids have a secondary index in place of the primary key");
        SimpleRanges => row("simple_ranges", Kind::Number, "1", "ranges that a transaction reads");
        SkipTrx => row("skip_trx", Kind::Flag, "off", "send the statements without BEGIN and COMMIT");
        SumRanges => row("sum_ranges", Kind::Number, "1", "ranges that a transaction sums up");
        TableSize => row("table_size", Kind::Number, "10000", "rows in each table");
        Tables => row("tables", Kind::Number, "1", "number of tables");
    }
    POINTS {
        RandomPoints => row("random_points", Kind::Number, "10", "values of k that a statement looks for");
    }
    RANGES {
        Delta => row("delta", Kind::Number, "5", "length of a range of values of k");
        NumberOfRanges => row("number_of_ranges", Kind::Number, "10", "ranges of values of k in a statement");
    }
}

/// The options of the test `select_random_points`.
pub const SELECT_RANDOM_POINTS: &[SysbenchOption] = &with::<{ OLTP.len() + POINTS.len() }>(POINTS);
/// The options of the test `select_random_ranges`.
pub const SELECT_RANDOM_RANGES: &[SysbenchOption] = &with::<{ OLTP.len() + RANGES.len() }>(RANGES);

/// The options of all tests of tables and `more`, sorted by name.
const fn with<const COUNT: usize>(more: &[SysbenchOption]) -> [SysbenchOption; COUNT] {
    let mut all = [SysbenchOption::Tables; COUNT];
    let (mut at, mut added) = (0, 0);
    while at + added < COUNT {
        let takes_more = at == OLTP.len()
            || (added < more.len() && is_before(more[added].row().name, OLTP[at].row().name));
        if takes_more {
            all[at + added] = more[added];
            added += 1;
        } else {
            all[at + added] = OLTP[at];
            at += 1;
        }
    }
    all
}

/// True if a name comes before another one.
const fn is_before(name: &str, other: &str) -> bool {
    let (name, other) = (name.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < name.len() && at < other.len() && name[at] == other[at] {
        at += 1;
    }
    at < other.len() && (at == name.len() || name[at] < other[at])
}

/// Finds a general option by its name, in which dashes and underscores are the same.
pub fn general(name: &str) -> Option<SysbenchOption> {
    GENERAL.iter().find_map(|group| named(group.options, name))
}

/// Finds an option of a list by its name, in which dashes and underscores are the same.
pub fn named(options: &[SysbenchOption], name: &str) -> Option<SysbenchOption> {
    options.iter().copied().find(|option| option.row().is_named(name))
}

/// True if two names differ at most in dashes and underscores.
pub fn is_same_name(one: &str, other: &str) -> bool {
    let same = |byte: u8| if byte == b'_' { b'-' } else { byte };
    one.bytes().map(same).eq(other.bytes().map(same))
}

/// The lines of help about these options, in columns.
pub fn list(options: &[SysbenchOption]) -> String {
    let row = |option: &SysbenchOption| {
        let row = option.row();
        HelpRow { synopsis: row.synopsis(), help: row.full_help(), default: row.default.map(str::to_owned) }
    };
    columns(&options.iter().map(row).collect::<Vec<_>>())
}

/// A line of help.
pub struct HelpRow {
    /// The name and the form of the value.
    pub synopsis: String,
    /// The description.
    pub help: String,
    /// `None` if the option has no value by default.
    pub default: Option<String>,
}

/// Lines of help in columns.
pub fn columns(rows: &[HelpRow]) -> String {
    let width = rows.iter().map(|row| row.synopsis.len()).max().unwrap_or_default();
    let line = |HelpRow { synopsis, help, default }: &HelpRow| {
        let default = default.as_ref().map(|default| format!(" [{default}]")).unwrap_or_default();
        format!("  {synopsis:width$} {help}{default}\n")
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_the_columns_of_sysbench() {
        let list = list(THREADS);
        assert_eq!(
            list,
            "  --thread-yields=N yields in an event [1000]\n  --thread-locks=N  locks that the threads share [8]\n"
        );
        assert!(super::list(FILEIO).contains("\n  --file-test-mode=STRING       what `run` does: seqwr, seqrewr, seqrd, rndrd, rndwr or rndrw\n"));
        assert!(super::list(FILEIO).contains("sync, dsync, direct []\n"));
    }

    #[test]
    fn options_of_tests_of_tables_are_by_name() {
        for list in [OLTP, SELECT_RANDOM_POINTS, SELECT_RANDOM_RANGES] {
            assert!(list.iter().map(|option| option.row().name).is_sorted());
        }
        assert!(SELECT_RANDOM_RANGES.contains(&SysbenchOption::NumberOfRanges));
        assert_eq!(SELECT_RANDOM_RANGES.len(), OLTP.len() + 2);
    }

    #[test]
    fn names_are_unique() {
        let general = GENERAL.iter().flat_map(|group| group.options);
        let tests = [FILEIO, CPU, THREADS, MUTEX, MEMORY, OLTP, POINTS, RANGES].into_iter().flatten();
        let mut names: Vec<_> = general.chain(tests).map(|option| option.row().name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    /// The modules that read the values accept the words of the table and no others.
    #[test]
    fn words_are_those_that_are_read() {
        use crate::command_line::SysbenchCommandLine;
        use crate::general::GeneralOptions;
        use crate::log::testing;
        use crate::work::WorkTest;

        let is_read = |option: &SysbenchOptionRow, word: &str| {
            let (log, _, _) = testing::log();
            let words = ["--file-test-mode=rndrd".to_owned(), format!("--{}={word}", option.name)];
            let line = SysbenchCommandLine::read(&words, &log).unwrap();
            let general = GeneralOptions::read(&line, &log);
            let general = general.map(|general| crate::fileio::read(&line, &general, true, &log).is_ok());
            let sql = crate::sql::database(&line, &log).is_ok() && crate::sql::oltp(&line, &log).is_ok();
            general.is_ok_and(|is_read| is_read) && WorkTest::memory(&line, &log).is_ok() && sql
        };
        let general = GENERAL.iter().flat_map(|group| group.options);
        let rows = general.chain(FILEIO).chain(MEMORY).chain(OLTP).map(|option| option.row());
        let with_words = rows.filter(|option| !option.words.is_empty());
        assert_eq!(with_words.clone().count(), 12);
        for option in with_words {
            assert!(option.words.iter().all(|word| is_read(option, word)), "{}", option.name);
            assert!(!is_read(option, "nonsense"), "{}", option.name);
        }
    }
}
