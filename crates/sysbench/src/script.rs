//! Scripts in Lua: their options, their commands, and runs of their events.

use std::sync::Arc;

use ferrio_lua::{
    CommandThreads, DeclaredOption, MainState, OptionKind, OptionValue, Script, ScriptFailed, ScriptRun,
    Statistics,
};
use ferrio_oltp::UniqueNumbers;

use crate::command_line::SysbenchCommandLine;
use crate::log::{Level, Log, Refusal};
use crate::options::{GENERAL, HelpRow, Kind, SysbenchOption, columns, is_same_name};
use crate::report::{SysbenchFigures, SysbenchReport, in_system};
use crate::run::{ReportPart, TestInvocation};
use crate::sql;

/// Commands that sysbench knows whether a script has them or not.
const KNOWN_COMMANDS: [&str; 3] = ["prepare", "cleanup", "help"];

/// Does what the command line asks of a script, and returns the exit status.
///
/// # Errors
/// It failed, which has been reported.
pub fn answer(script: Script, call: &TestInvocation<'_>, words: &[String]) -> Result<u8, Refusal> {
    let TestInvocation { line, general, log, .. } = *call;
    let target = sql::target(call)?;
    let random = sql::random(line, general);
    let fatal = {
        let log = Arc::clone(log);
        Box::new(move |message: &str| log.line(Level::Fatal, message))
    };
    let state = MainState::load(ScriptRun {
        script,
        command: line.command.clone(),
        words: std::iter::once(crate::NAME.to_owned()).chain(words.iter().cloned()).collect(),
        stdout_is_reserved: general.json,
        unique: UniqueNumbers::new(random.seed),
        random,
        extra_draw: general.percentile > 0,
        target: Arc::clone(&target),
        fatal,
    })
    .map_err(refused)?;
    // A script that is all in its file.
    let Some(command) = line.command.as_deref() else { return Ok(0) };
    let declared = state.declared_options().map_err(refused)?;
    state.set_options(option_values(line, declared.as_deref(), log)?).map_err(refused)?;
    if command == "run" {
        let of_script = line.check_general(log)?.into_iter();
        let of_script: Vec<_> = of_script
            .map(|given| (underscored(&given.name), given.value.clone().unwrap_or_default()))
            .collect();
        return run(&TestInvocation { of_script: &of_script, ..*call }, &state, &target);
    }
    match (state.threads_of_command(command), declared) {
        (Some(threads), _) => run_command(call, &state, command, threads),
        (None, Some(declared)) if command == "help" && !declared.is_empty() => {
            let rows: Vec<_> = declared.iter().map(help_row).collect();
            log.always(&format!("{} options:\n{}\n", call.name, columns(&rows)));
            Ok(0)
        }
        (None, _) if KNOWN_COMMANDS.contains(&command) => {
            Err(log.mistake(&format!("'{}' test does not implement the '{command}' command.", call.name)))
        }
        (None, _) => Err(log.mistake(&format!("Unknown command: {command}"))),
    }
}

/// The script has told why.
fn refused(_: ScriptFailed) -> Refusal {
    Refusal
}

fn run_command(
    call: &TestInvocation<'_>,
    state: &MainState,
    command: &str,
    threads: CommandThreads,
) -> Result<u8, Refusal> {
    let done = match threads {
        CommandThreads::All if call.general.threads > 1 => {
            call.log.text(Level::Notice, "Initializing worker threads...\n\n");
            state.run_command_in_threads(command, call.general.threads)
        }
        _ => state.run_command(command),
    };
    done.map(|()| 0).map_err(refused)
}

/// The command `run`.
fn run(
    call: &TestInvocation<'_>,
    state: &MainState,
    target: &Arc<ferrio_oltp::Target>,
) -> Result<u8, Refusal> {
    if !state.defines("event") {
        return Err(call.log.refuse(&format!("cannot find the event() function in {}", call.name)));
    }
    state.call("init").map_err(refused)?;
    call.log.text(Level::Notice, &call.general.header());
    let hook = |part: ReportPart, report: &SysbenchReport, figures: &SysbenchFigures| {
        let statistics = statistics(part, report, figures);
        match part {
            ReportPart::Interval => state.report_interval(statistics),
            ReportPart::Checkpoint => state.report_total(statistics),
            ReportPart::Total => {
                state.end_reports();
                let is_written = state.report_total(statistics);
                state.end_reports();
                is_written
            }
        }
    };
    let ran = call.sessions(state.sessions(), Some(Arc::clone(target)), Some(&hook));
    let done = state.call("done").map_err(refused);
    ran.and_then(|status| done.map(|()| status))
}

/// Figures as hooks get them.
fn statistics(part: ReportPart, report: &SysbenchReport, figures: &SysbenchFigures) -> Statistics {
    let latency = figures.latency();
    let seconds = |ns: f64| ns / 1e9;
    let threads = u32::try_from(figures.threads.len()).unwrap_or(u32::MAX);
    let (queue_length, concurrency) = in_system(figures, &latency);
    Statistics {
        threads_running: if part == ReportPart::Total { 0 } else { threads },
        time_total: figures.total.as_secs_f64(),
        time_interval: figures.measured.as_secs_f64(),
        events: latency.count(),
        reads: figures.sql.reads,
        writes: figures.sql.writes,
        other: figures.sql.others,
        errors: figures.sql.ignored_errors,
        reconnects: figures.sql.reconnects,
        latency_pct: report.percentile_ms(&latency) / 1e3,
        latencies: (part != ReportPart::Interval).then(|| {
            [latency.min() as f64, latency.mean(), latency.max() as f64, latency.sum() as f64].map(seconds)
        }),
        queue_length,
        concurrency,
    }
}

/// The values of all options: those of all tests, those that the script declares, or, if it declares none, any.
fn option_values(
    line: &SysbenchCommandLine,
    declared: Option<&[DeclaredOption]>,
    log: &Log,
) -> Result<Vec<(String, OptionValue)>, Refusal> {
    let general = GENERAL.iter().flat_map(|group| group.options);
    // The options in a file are known, not its name.
    let general = general.filter(|option| option.row().kind != Kind::File);
    let mut values: Vec<_> =
        general.map(|option| (underscored(option.row().name), value(line, *option))).collect();
    for given in line.check_general(log)? {
        match declared.map(|all| all.iter().any(|one| is_same_name(&one.name, &given.name))) {
            // The last value counts, as in a table of Lua.
            None => values
                .push((underscored(&given.name), OptionValue::Text(given.value.clone().unwrap_or_default()))),
            Some(true) => {}
            Some(false) => return Err(given.refuse(log)),
        }
    }
    for option in declared.unwrap_or_default() {
        values.push((option.name.clone(), declared_value(line, option, log)?));
    }
    Ok(values)
}

fn underscored(name: &str) -> String {
    name.replace('-', "_")
}

/// The value of an option of all tests.
fn value(line: &SysbenchCommandLine, option: SysbenchOption) -> OptionValue {
    match option.row().kind {
        Kind::Flag => OptionValue::Flag(line.flag(option)),
        Kind::Number => OptionValue::Number(line.number(option).into()),
        Kind::Size | Kind::SizeNumber => OptionValue::Number(line.size(option) as f64),
        Kind::Decimal => OptionValue::Number(line.decimal(option)),
        Kind::Text | Kind::File => OptionValue::Text(line.text(option).unwrap_or_default().to_owned()),
        Kind::List => OptionValue::List(line.list(option).into_iter().map(str::to_owned).collect()),
    }
}

/// The value of an option of the script.
fn declared_value(
    line: &SysbenchCommandLine,
    option: &DeclaredOption,
    log: &Log,
) -> Result<OptionValue, Refusal> {
    let given = line.given_as(&option.name);
    if let (OptionKind::Flag, Some(given)) = (option.kind, given) {
        return given.flag().map(OptionValue::Flag).ok_or_else(|| given.refuse(log));
    }
    let text = match given {
        Some(given) => given.value.as_deref().unwrap_or_default(),
        None => option.default.as_deref().unwrap_or_default(),
    };
    let number = match option.kind {
        // sysbench has such a switch on.
        OptionKind::Flag => return Ok(OptionValue::Flag(option.default.as_deref() != Some("off"))),
        OptionKind::Text | OptionKind::File => return Ok(OptionValue::Text(text.to_owned())),
        OptionKind::List => {
            let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
            return Ok(OptionValue::List(words.map(str::to_owned).collect()));
        }
        _ if text.is_empty() => Some(0.0),
        OptionKind::Size => crate::command_line::size(text).map(|bytes| bytes as f64),
        OptionKind::Number | OptionKind::Decimal => {
            text.parse::<f64>().ok().filter(|number| number.is_finite())
        }
    };
    number.map(OptionValue::Number).ok_or_else(|| {
        log.mistake(&format!("Invalid value for the '{}' option: '{text}'", underscored(&option.name)))
    })
}

/// An option in the help.
fn help_row(option: &DeclaredOption) -> HelpRow {
    let kind = match option.kind {
        OptionKind::Flag => Kind::Flag,
        OptionKind::Number => Kind::Number,
        OptionKind::Size => Kind::Size,
        OptionKind::Decimal => Kind::Decimal,
        OptionKind::Text => Kind::Text,
        OptionKind::List => Kind::List,
        OptionKind::File => Kind::File,
    };
    let synopsis = format!("--{}{}", option.name, kind.form());
    HelpRow { synopsis, help: option.help.clone(), default: option.default.clone() }
}
