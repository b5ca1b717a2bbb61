//! The table of the program's options, in the order of `--help`.

use std::time::Duration;

use clap::builder::ValueParser;
use ferrio_metrics::MetricsAddress;
use ferrio_report::Format;
use ferrio_sweep::SweepVariable;

use super::{OnHosts, ProgramOptionRow, Relation, ValueCompletion, flag, own, own_flag, value, values};
use crate::option_values::{intervals, label, output_format, rank, rank_count, repetitions};

/// Heading: what to report, where and how.
const REPORT: &str = "Report";
/// Heading: which jobs to run, and how.
const JOBS: &str = "Running jobs";
/// Heading: several runs.
const SWEEPS: &str = "Repeating and sweeping";
/// Heading: information printed without running jobs.
const HELP: &str = "Help";
const TESTS: &str = "Tests of this machine";
const NETWORK: &str = "Jobs on other machines";

const MEMORY: &str = "memory is allocated as needed";
/// Why an option of servers is refused.
const FOR_SERVERS: &str = "for servers: write --server too";
/// Why an option of both is refused.
const FOR_BOTH: &str = "for --server and --client: write one of them too";
/// Why an option of clients is refused.
const FOR_CLIENTS: &str = "for jobs on servers: write --client=ADDRESS too";
/// Why an option of a whole process is refused.
const NO_RUN: &str = "for a process that does nothing else: it is no option of a sub-command";

/// The shortest interval between reports.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// The options that make a series of runs.
const SERIES: &[ProgramOption] = &[ProgramOption::Repeat, ProgramOption::Sweep];
/// The options that make a run on many hosts.
const HOSTS: &[ProgramOption] = &[ProgramOption::Hosts, ProgramOption::HostsFile];
const HOSTS_OR_RANKS: &[ProgramOption] =
    &[ProgramOption::Hosts, ProgramOption::HostsFile, ProgramOption::Ranks];
/// An option that runs no jobs makes no series of runs.
const NO_SERIES: &[Relation] = &[Relation {
    others: &[ProgramOption::Sweep, ProgramOption::Repeat],
    message: "--repeat and --sweep run jobs: leave out --parse-only, --showcmd and --merge-blktrace-only",
}];

/// Makes the enum and its rows, so that an option is in both.
macro_rules! program_options {
    ($($option:ident => $row:expr;)*) => {
        /// An option of the program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ProgramOption {
            $($option,)*
        }

        /// The rows of all options, in the order of the enum.
        pub const ROWS: &[ProgramOptionRow] =
            &[$(ProgramOptionRow { option: ProgramOption::$option, ..$row },)*];
    };
}

/// The options of a run.
pub const OPTIONS: &[ProgramOptionRow] = ROWS.split_at(ProgramOption::DenyWarnings as usize).0;
/// The options that only `ferrio check` has; they are the last ones of the table.
pub const OPTIONS_OF_CHECK: &[ProgramOptionRow] = ROWS.split_at(ProgramOption::DenyWarnings as usize).1;

program_options! {
    Output => value("output", 'o', "FILE", REPORT, "Write the report to FILE instead of standard output")
        .parser(values::name)
        .completion(ValueCompletion::File)
        .on_hosts(OnHosts::Coordinator);
    OutputFormat => value("output-format", 'F', "FORMATS", REPORT, Format::HELP)
        .parser(|| ValueParser::new(output_format))
        .completion(ValueCompletion::Words(values::formats))
        .error_in_fio(values::invalid_formats)
        .on_hosts(OnHosts::Coordinator);
    Minimal => flag("minimal", 'm', REPORT, "Report in the terse format only")
        .on_hosts(OnHosts::Coordinator);
    AppendTerse => value("append-terse", 'f', "X", REPORT, "Add the terse format to those of --output-format")
        .optional()
        .on_hosts(OnHosts::Coordinator);
    TerseVersion => value("terse-version", 'V', "VERSION", REPORT, "Version of the terse format, 2 to 5")
        .parser(values::terse_version)
        .error_in_fio(|_| Some(vec!["fio: bad terse version format".to_owned()]))
        .on_hosts(OnHosts::Coordinator);
    TerseHeader => own_flag("terse-header", REPORT,
        "Print the names of the fields before terse lines; `ferrio help terse` explains them")
        .only_ferrio()
        .on_hosts(OnHosts::Coordinator);
    FioBins => own_flag("fio-bins", REPORT, "Compute percentiles from fio's histogram buckets, as json+ does")
        .on_hosts(OnHosts::All);
    Eta => value("eta", 'e', "WHEN", REPORT, "When to show the progress line: auto, always, never")
        .parser(values::eta)
        .value_in_fio(values::eta_in_fio)
        .on_hosts(OnHosts::Coordinator);
    EtaNewline => value("eta-newline", 'E', "TIME", REPORT, "Start a new progress line every TIME and keep the old one")
        .parser(|| values::at_least(MIN_INTERVAL))
        .completion(ValueCompletion::Nothing)
        .error_in_fio(|value| values::invalid_time(value, "eta time", "eta new line time too short"))
        .on_hosts(OnHosts::Coordinator);
    EtaInterval => value("eta-interval", 'O', "TIME", REPORT, "Time between updates of the progress line, at least 250ms")
        .parser(|| values::at_least(Duration::from_millis(250)))
        .completion(ValueCompletion::Nothing)
        .error_in_fio(|value| {
            values::invalid_time(value, "eta interval", "eta interval time too short (250msec min)")
        })
        .on_hosts(OnHosts::Coordinator);
    Tui => own_flag("tui", REPORT,
        "While the jobs run, show their rates, latencies and errors on all of the terminal; ? lists the keys, q ends the run")
        .only_ferrio()
        .excluded_by(&[
            Relation {
                others: SERIES,
                message: "each run of --repeat and --sweep would take the terminal: leave out --tui",
            },
            Relation {
                others: &[ProgramOption::Eta, ProgramOption::EtaInterval, ProgramOption::EtaNewline],
                message: "--tui takes the place of the progress line: leave out --eta, --eta-interval and --eta-newline",
            },
            Relation {
                others: &[ProgramOption::ParseOnly, ProgramOption::Showcmd, ProgramOption::MergeBlktraceOnly],
                message: "--tui shows a run: it cannot be combined with --parse-only, --showcmd or --merge-blktrace-only, which \
                          run nothing",
            },
        ])
        .on_hosts(OnHosts::Coordinator);
    StatusInterval => value("status-interval", 'L', "TIME", REPORT, "Report the results so far every TIME")
        .parser(|| values::at_least(MIN_INTERVAL))
        .completion(ValueCompletion::Nothing)
        .error_in_fio(|value| values::invalid_time(value, "time", "status interval too small"))
        .on_hosts(OnHosts::All);
    BandwidthLog => value("bandwidth-log", 'b', "PREFIX", REPORT, "Log the bandwidth of all jobs together")
        .optional()
        .excluded_by(&[Relation {
            others: SERIES,
            message: "each run of --repeat and --sweep would write the same bandwidth log: leave out --bandwidth-log",
        }])
        .on_hosts(OnHosts::Agents);
    LatencyLog => value("latency-log", 'l', "PREFIX", REPORT, "Log the latency of all jobs together")
        .refused("deprecated; use write_lat_log in the jobs")
        .error_in_fio(|_| Some(vec!["fio: --latency-log is deprecated. Use per-job latency log options.".to_owned()]));
    IdleProf => value("idle-prof", 'I', "HOW", REPORT, "Report CPU idleness: system, percpu, calibrate")
        .parser(values::idle_prof)
        .error_in_fio(|value| Some(vec![format!("fio: incorrect idle-prof option: {value}")]))
        .on_hosts(OnHosts::Agents);
    IntervalReport => own("interval-report", "TIME[:FILE|-]", REPORT,
        "Report each job's I/O every TIME as JSON lines, to standard error or FILE; - is standard output")
        .parser(|| ValueParser::new(intervals))
        .on_hosts(OnHosts::Coordinator);
    Metrics => own("metrics", "[ADDR:]PORT", REPORT,
        "Serve the metrics of the run over HTTP while jobs run, at /metrics; without ADDR to this machine only")
        .only_ferrio()
        .parser(|| ValueParser::new(|text: &str| text.parse::<MetricsAddress>()))
        .on_hosts(OnHosts::Coordinator);
    MessageFormat => own("message-format", "FORMAT", REPORT,
        "Format of errors, warnings and notes on standard error: human or json")
        .parser(|| ["human", "json"].into())
        .on_hosts(OnHosts::All);
    Color => own("color", "WHEN", REPORT, "When to colour messages: auto (on a terminal), always, never")
        .parser(|| ["auto", "always", "never"].into())
        .on_hosts(OnHosts::Coordinator);
    Quiet => own_flag("quiet", REPORT, "Leave out warnings about figures and notes on options; errors are still printed")
        .on_hosts(OnHosts::All);
    FailIf => own("fail-if", "EXPRESSION", REPORT,
        "End with status 3 if EXPRESSION is true for the report, such as 'read.clat.p99 > 5ms'; may be repeated")
        .only_ferrio()
        .adds_up()
        .parser(values::threshold)
        .on_hosts(OnHosts::Coordinator);
    AbortIf => own("abort-if", "EXPRESSION", REPORT,
        "Like --fail-if, and end the run as soon as EXPRESSION is true for the figures so far; may be repeated")
        .only_ferrio()
        .adds_up()
        .parser(values::threshold)
        .on_hosts(OnHosts::Coordinator);
    Label => own("label", "KEY=VALUE", REPORT,
        "Label the run: a column of the format rows, and a key of `labels` in JSON; may be repeated")
        .only_ferrio()
        .adds_up()
        .parser(|| ValueParser::new(label))
        .on_hosts(OnHosts::Coordinator);
    Junit => own("junit", "FILE", REPORT, "Write the jobs and the thresholds of --fail-if to FILE as test cases, in JUnit XML")
        .only_ferrio()
        .parser(values::name)
        .completion(ValueCompletion::File)
        .excluded_by(&[Relation {
            others: SERIES,
            message: "each run of --repeat and --sweep would write the same JUnit file: leave out --junit",
        }])
        .on_hosts(OnHosts::Coordinator);
    Readonly => flag("readonly", 'r', JOBS, "Refuse jobs that write or trim")
        .on_hosts(OnHosts::Agents);
    Section => value("section", 'x', "NAME", JOBS, "Run only the jobs of this section; may be repeated")
        .adds_up()
        .parser(values::name)
        .completion(ValueCompletion::Nothing)
        .on_hosts(OnHosts::All);
    Set => own("set", "[JOB:]OPTION=VALUE", JOBS,
        "Set a job option in all jobs, or in those named JOB, whatever job files and command line say; may be repeated")
        .only_ferrio()
        .adds_up()
        .parser(values::name)
        .on_hosts(OnHosts::Agents);
    WarningsFatal => flag("warnings-fatal", 'w', JOBS, "Treat warnings about jobs as errors")
        .on_hosts(OnHosts::Agents);
    As => own("as", "PROGRAM", JOBS,
        "Behave as ferrio, strict and with warnings, or as fio. The default is the value of FERRIO_AS, or else the name that the \
         program is called by")
        .parser(values::compat)
        .on_hosts(OnHosts::All);
    Strict => own("strict", "PROGRAM", JOBS,
        "What to do with job option values that fio misreads: ferrio refuses them, fio reads them as fio does; the default is that of --as")
        .parser(values::compat)
        .completion(ValueCompletion::Words(values::programs))
        .on_hosts(OnHosts::Agents);
    ParseOnly => flag("parse-only", 'P', JOBS, "Check job files and options; run nothing").excluded_by(NO_SERIES)
        .on_hosts(OnHosts::Coordinator);
    Showcmd => flag("showcmd", 's', JOBS, "Print job files as command lines; run nothing").excluded_by(NO_SERIES)
        .on_hosts(OnHosts::Coordinator);
    MergeBlktraceOnly => flag("merge-blktrace-only", 'A', JOBS, "Plan the jobs and merge their traces; run nothing")
        .excluded_by(NO_SERIES);
    Profile => value("profile", 'p', "NAME", JOBS, "Run a built-in set of jobs: act or tiobench")
        .on_hosts(OnHosts::Agents);
    TriggerFile => value("trigger-file", 'W', "FILE", JOBS, "When FILE exists, remove it, end the jobs and run the trigger")
        .parser(values::name)
        .completion(ValueCompletion::File);
    TriggerTimeout => value("trigger-timeout", 'B', "TIME", JOBS, "End the jobs and run the trigger after TIME; 0 means never")
        .parser(values::trigger_timeout)
        .completion(ValueCompletion::Nothing)
        .value_in_fio(values::trigger_timeout_in_fio)
        .error_in_fio(values::invalid_trigger_timeout);
    Trigger => value("trigger", 'H', "COMMAND", JOBS, "The shell command that --trigger-file and --trigger-timeout run");
    AuxPath => value("aux-path", 'K', "DIRECTORY", JOBS, "Keep verify state files and dumps of bad blocks in DIRECTORY")
        .parser(values::name)
        .completion(ValueCompletion::Directory)
        .on_hosts(OnHosts::Agents);
    MaxJobs => value("max-jobs", 'j', "COUNT", JOBS, "Maximum number of jobs").without_effect(MEMORY)
        .on_hosts(OnHosts::Agents);
    AllocSize => value("alloc-size", 'a', "KIB", JOBS, "Size of the memory pool for jobs").without_effect(MEMORY)
        .on_hosts(OnHosts::Agents);
    Debug => value("debug", 'd', "CLASSES", JOBS, "Print debug messages of these classes; `help` lists them")
        .adds_up()
        .completion(ValueCompletion::Words(values::debug_classes))
        .on_hosts(OnHosts::Agents);
    Repeat => own("repeat", "COUNT", SWEEPS,
        "Run the jobs COUNT times, each in a process of its own, and print a table of the figures; \
         until:2%[,max=COUNT] ends when every mean of IOPS is precise to 2 % (95 % confidence)")
        .only_ferrio()
        .parser(|| ValueParser::new(repetitions));
    RepeatPause => own("repeat-pause", "TIME", SWEEPS, "Wait TIME between two runs")
        .only_ferrio()
        .parser(|| values::at_least(Duration::ZERO))
        .needs(SERIES, "--repeat-pause is the time between several runs: add --repeat or --sweep");
    Sweep => own("sweep", "OPTION=VALUES", SWEEPS,
        "Run the jobs with each of these values: 1,2,4 or 8..128 (doubled) or 10..50:10 (steps); several make all combinations")
        .only_ferrio()
        .adds_up()
        .parser(|| ValueParser::new(|text: &str| SweepVariable::parse(text)));
    ShuffleJobs => own_flag("shuffle-jobs", SWEEPS,
        "Run each section of the job files by itself, and shuffle their order too, for jobs that need nothing of each other")
        .only_ferrio()
        .needs(SERIES, "--shuffle-jobs is about the order of several runs: add --repeat or --sweep");
    SweepSeed => own("sweep-seed", "NUMBER", SWEEPS, "Seed of the shuffled order of the runs, as an earlier series printed it")
        .only_ferrio()
        .parser(values::seed)
        .needs(SERIES, "--sweep-seed is the order of several runs: add --repeat or --sweep");
    Results => own("results", "DIRECTORY", SWEEPS,
        "Keep the report of each run in DIRECTORY, which is new or empty; the default is ferrio-results-YYYYMMDD-HHMMSS")
        .only_ferrio()
        .parser(values::name)
        .needs(SERIES, "--results is the directory for the reports of several runs: add --repeat or --sweep");
    Help => flag("help", 'h', HELP, "Print this text").ends_scan()
        .on_hosts(OnHosts::Coordinator);
    Version => flag("version", 'v', HELP, "Print the version").ends_scan()
        .on_hosts(OnHosts::Coordinator);
    Cmdhelp => value("cmdhelp", 'c', "OPTION", HELP, "Describe a job option, or list all")
        .optional()
        .ends_scan()
        .completion(ValueCompletion::Words(values::job_options))
        .on_hosts(OnHosts::Coordinator);
    Enghelp => value("enghelp", 'i', "ENGINE[,OPTION]", HELP, "Describe the options of an engine, or list all engines")
        .optional()
        .ends_scan()
        .completion(ValueCompletion::Words(values::engines))
        .on_hosts(OnHosts::Coordinator);
    InflateLog => value("inflate-log", 'X', "FILE", HELP, "Print a compressed log as text").parser(values::name)
        .on_hosts(OnHosts::Coordinator);
    Crctest => value("crctest", 'G', "NAMES", TESTS, "Measure the speed of checksum functions; `help` lists them").optional()
        .on_hosts(OnHosts::Coordinator);
    Memcpytest => value("memcpytest", 'M', "NAMES", TESTS, "Measure the speed of copying memory; `help` lists the methods")
        .optional()
        .on_hosts(OnHosts::Coordinator);
    CpuclockTest => flag("cpuclock-test", 'T', TESTS, "Test whether the CPUs' clocks agree")
        .on_hosts(OnHosts::Coordinator);
    Server => value("server", 'S', "ADDRESS", NETWORK,
        "Wait for jobs from clients; ADDRESS is HOST, or HOST,PORT, or ,PORT for all addresses, or ip6:HOST,PORT, or sock:PATH")
        .optional()
        .only_runs(NO_RUN);
    Daemonize => value("daemonize", 'D', "PIDFILE", NETWORK, "Run as a server in the background")
        .parser(values::name)
        .completion(ValueCompletion::File)
        .only_runs(FOR_SERVERS);
    Client => value("client", 'C', "ADDRESS", NETWORK,
        "Run job files on a server, or on each server listed in a file: those before the first --client on all servers, one behind a --client on that one; may be repeated")
        .adds_up()
        .only_runs(NO_RUN);
    RemoteConfig => value("remote-config", 'R', "FILE", NETWORK, "Run a job file that is on the server; may be repeated")
        .adds_up()
        .completion(ValueCompletion::Nothing)
        .only_runs(FOR_CLIENTS);
    TriggerRemote => value("trigger-remote", 'J', "COMMAND", NETWORK, "The shell command that servers run when the trigger of --trigger-file or --trigger-timeout fires")
        .completion(ValueCompletion::Nothing)
        .only_runs(FOR_CLIENTS);
    TokenFile => own("token-file", "FILE", NETWORK,
        "The file with a secret of at least 16 characters that clients and servers share; FERRIO_TOKEN is the secret itself")
        .parser(values::name)
        .completion(ValueCompletion::File)
        .only_runs(FOR_BOTH);
    TlsCert => own("tls-cert", "FILE", NETWORK,
        "The certificate of this end, in PEM: servers and clients talk over TLS and check each other's certificate")
        .parser(values::name)
        .completion(ValueCompletion::File)
        .only_runs(FOR_BOTH);
    TlsKey => own("tls-key", "FILE", NETWORK, "The key of the certificate of --tls-cert, in PEM")
        .parser(values::name)
        .completion(ValueCompletion::File)
        .only_runs(FOR_BOTH);
    TlsCa => own("tls-ca", "FILE", NETWORK, "The CA that signs the certificates of all ends, in PEM")
        .parser(values::name)
        .completion(ValueCompletion::File)
        .only_runs(FOR_BOTH);
    AllowExec => own_flag("allow-exec", NETWORK,
        "Let the jobs of a server's clients start programs and load engines; FERRIO_ALLOW_EXEC=1 does, too")
        .only_runs(FOR_SERVERS);
    Root => own("root", "PATH", NETWORK,
        "Let the jobs of a server's clients use this file, or what is below this directory; may be repeated. Called ferrio, the default is the working directory")
        .adds_up()
        .parser(values::name)
        .completion(ValueCompletion::File)
        .only_runs(FOR_SERVERS);
    Hosts => own("hosts", "HOSTS", NETWORK,
        "Run the jobs on each of these hosts, over ssh: node1,node2 or node[1-8]; all start together, and one report has all")
        .only_ferrio()
        .parser(values::name)
        .completion(ValueCompletion::Nothing)
        .excluded_by(&[Relation { others: SERIES, message: "--repeat and --sweep run on one machine: leave out --hosts" }])
        .on_hosts(OnHosts::Coordinator);
    HostsFile => own("hosts-file", "FILE", NETWORK, "Like --hosts, with the hosts in FILE: white space separates them, # begins a comment")
        .only_ferrio()
        .parser(values::name)
        .completion(ValueCompletion::File)
        .excluded_by(&[
            Relation { others: &[ProgramOption::Hosts], message: "the hosts are in --hosts or in --hosts-file: leave out one" },
            Relation { others: SERIES, message: "--repeat and --sweep run on one machine: leave out --hosts-file" },
        ])
        .on_hosts(OnHosts::Coordinator);
    Via => own("via", "COMMAND", NETWORK,
        "Reach each host by this shell command instead of ssh, with {host} for its name: 'kubectl exec -i {host} --'")
        .only_ferrio()
        .parser(values::name)
        .needs(HOSTS, "--via is the way to hosts: add --hosts or --hosts-file")
        .on_hosts(OnHosts::Coordinator);
    FerrioPath => own("ferrio-path", "COMMAND", NETWORK,
        "How ferrio is called on the hosts, if it is not in the PATH of their shells: /opt/bin/ferrio, or 'sudo ferrio'")
        .only_ferrio()
        .parser(values::name)
        .needs(HOSTS, "--ferrio-path is about hosts: add --hosts or --hosts-file")
        .on_hosts(OnHosts::Coordinator);
    Copy => own_flag("copy", NETWORK, "Send this program to hosts that lack it; its file there is removed when it has started")
        .only_ferrio()
        .needs(HOSTS, "--copy is about hosts: add --hosts or --hosts-file")
        .on_hosts(OnHosts::Coordinator);
    HostDocuments => own_flag("host-documents", NETWORK,
        "Put the whole report of each host into the JSON document of all, at `ferrio.hosts[].document`")
        .only_ferrio()
        .needs(HOSTS_OR_RANKS, "--host-documents is about hosts: add --hosts, --hosts-file or --ranks=auto")
        .on_hosts(OnHosts::Coordinator);
    RequireAll => own_flag("require-all", NETWORK, "End the jobs on all hosts when one is lost, instead of going on without it")
        .only_ferrio()
        .needs(HOSTS_OR_RANKS, "--require-all is about hosts: add --hosts, --hosts-file or --ranks=auto")
        .on_hosts(OnHosts::Coordinator);
    Ranks => own("ranks", "COUNT", NETWORK,
        "Make one run of the COUNT processes that a launcher such as mpirun or srun has started; auto asks the launcher, off ignores it")
        .only_ferrio()
        .parser(|| ValueParser::new(rank_count))
        .completion(ValueCompletion::Nothing)
        .excluded_by(&[Relation { others: HOSTS, message: "--ranks is for processes that a launcher has started: leave out --hosts" }])
        .on_hosts(OnHosts::Coordinator);
    Rank => own("rank", "NUMBER", NETWORK, "The number of this process among the ranks, from 0; the default is what the launcher says")
        .only_ferrio()
        .parser(|| ValueParser::new(rank))
        .completion(ValueCompletion::Nothing)
        .needs(&[ProgramOption::Ranks], "--rank is one of several: add --ranks=COUNT")
        .on_hosts(OnHosts::Coordinator);
    Rendezvous => own("rendezvous", "PLACE", NETWORK,
        "Where ranks find rank 0: HOST:PORT, or file:PATH in a directory that all hosts share; the default is what the launcher says")
        .only_ferrio()
        .parser(values::name)
        .completion(ValueCompletion::Nothing)
        .excluded_by(&[Relation { others: HOSTS, message: "--rendezvous is for processes that a launcher has started: leave out --hosts" }])
        .on_hosts(OnHosts::Coordinator);
    RendezvousTimeout => own("rendezvous-timeout", "TIME", NETWORK, "How long ranks wait for each other; the default is 2m")
        .only_ferrio()
        .parser(|| values::at_least(Duration::from_secs(1)))
        .completion(ValueCompletion::Nothing)
        .on_hosts(OnHosts::Coordinator);
    DenyWarnings => own_flag("deny-warnings", JOBS, "Exit with status 2 if there are warnings");
}
