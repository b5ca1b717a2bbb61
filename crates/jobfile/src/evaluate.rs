//! Evaluates the lines of a section: finds the option that each name means, orders the lines, and parses their values.

use std::borrow::Cow;

use ferrio_job::{Choice as _, Compat, Diagnostic, FioWords, KbBase, Origin, Prefix, debug_class};
use log::debug;

use crate::catalogue::{MASK, Opt, OptionRow, OptionScope, ValueKind, option_names, rows};
use crate::debug_parse;
use crate::diagnostic::nearest;
use crate::document::Assignment;
use crate::environment::{Environment, leading_word};
use crate::options::GivenOption;
use crate::value::describe::describe;
use crate::value::{Dialect, TextPiece, Value, ValueError, evaluate, fio, parse, read, shortened};

/// The settings that affect how later assignments are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueContext {
    /// The current engine, by its canonical name.
    pub(crate) engine: String,
    /// The value of the suffix `k`.
    pub(crate) kb_base: u64,
}

impl Default for ValueContext {
    fn default() -> ValueContext {
        ValueContext { engine: "psync".to_owned(), kb_base: 1024 }
    }
}

/// Evaluates the lines of a section of a job file: the last engine named applies to all lines, and some options come
/// first or last. `setting` changes from the settings before the section to those after it.
pub(crate) fn section(
    lines: &[Assignment],
    setting: &mut ValueContext,
    environment: &Environment,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<GivenOption> {
    let engine = lines.iter().rev().find(|line| line.name == Opt::Ioengine.row().name);
    let engine = engine.and_then(|line| {
        parse(Opt::Ioengine.row(), line.value.as_deref(), 1024, &*environment.read_file).ok()
    });
    if let Some(Value::Engine(name, _)) = engine {
        setting.engine = name;
    }
    let mut found = Vec::with_capacity(lines.len());
    let mut complaints = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        match Opt::from_name(&line.name, &setting.engine, environment.compat) {
            Some(opt) => found.push((at, opt)),
            None => {
                let suggest = complaints.len() + wrong.len() < MAX_SUGGESTIONS;
                complaints.push((at, unknown(line, &setting.engine, environment.compat, suggest)));
            }
        }
    }
    found.sort_by_key(|(_, opt)| opt.row().evaluation_order());
    let mut all = Vec::with_capacity(found.len());
    for (at, opt) in found {
        let mut findings = Vec::new();
        all.extend(assignment(opt, &lines[at], setting, environment, &mut findings));
        complaints.extend(findings.into_iter().map(|diagnostic| (at, diagnostic)));
    }
    complaints.sort_by_key(|(at, _)| *at);
    wrong.extend(complaints.into_iter().map(|(_, diagnostic)| diagnostic));
    all
}

/// Most diagnostics with suggestions.
const MAX_SUGGESTIONS: usize = 200;

/// Evaluates one assignment, which may change `setting`. Errors, and a warning if the option is deprecated, go to `findings`.
pub(crate) fn assignment(
    opt: Opt,
    line: &Assignment,
    setting: &mut ValueContext,
    environment: &Environment,
    findings: &mut Vec<Diagnostic>,
) -> Option<GivenOption> {
    let row = opt.row();
    let mut refuse =
        |text: Option<&str>, error| findings.push(refusal(line, text.unwrap_or_default(), error));
    let text = effective(row, line, environment.dialect);
    let text = text.map_err(|error| refuse(line.value.as_deref(), error)).ok()?;
    let read = |text| read(environment.dialect, row, text, setting.kb_base, &*environment.read_file);
    let examined = text.as_deref().filter(|_| environment.parse_only && environment.dialect == Dialect::Fio);
    let examined = examined.filter(|text| !text.is_empty()).map(|text| fio::examined_part(opt, text));
    let value = read(text.as_deref()).or_else(|error| match examined {
        Some("") => Ok(Value::Nothing),
        Some(part) if Some(part) != text.as_deref() => read(Some(part)),
        _ => Err(error),
    });
    let value = value.map_err(|error| refuse(text.as_deref(), error)).ok()?;
    match (opt, &value) {
        (Opt::KbBase, Value::Word(word, _)) => {
            setting.kb_base = KbBase::from_word(word).unwrap_or_default().bytes().into();
        }
        (Opt::Ioengine, Value::Engine(name, _)) => setting.engine = name.clone(),
        _ => {}
    }
    if opt.is_secret() {
        debug!(target: debug_class::PARSE, "{}={MASK}", line.name);
        debug_parse::option(row, Some(MASK), &value);
    } else {
        debug!(target: debug_class::PARSE, "{}={}: {} is {}", line.name, text.as_deref().unwrap_or_default(), row.name, describe(row, &value));
        debug_parse::option(row, text.as_deref(), &value);
    }
    if let Some(name) = line.unset.first().filter(|_| environment.dialect == Dialect::Ferrio) {
        let message = format!(
            "the variable `{name}` is not set, is empty or is not UTF-8: `{}` is read without it",
            line.name
        );
        let warning = Diagnostic::warning(message, line.value_origin.clone()).code("unset-variable");
        findings
            .push(warning.help(format!("export {name} with a value, or write the value in the job file")));
    }
    if row.kind == ValueKind::Ignored {
        let message = format!("option `{}` is deprecated and has no effect", line.name);
        let in_fio = FioWords::Lines([format!("Option {} is deprecated", row.name)].into());
        let warning = Diagnostic::warning(message, line.origin.clone()).code("deprecated-option");
        findings.push(warning.in_fio(in_fio));
    }
    if environment.dialect == Dialect::Fio && opt == Opt::PercentileList {
        // fio has a line for each of them. The planner never sees them.
        let text = text.as_deref().unwrap_or_default();
        findings.extend(fio::floats_dropped(text).map(|piece| {
            let start = text[..piece.at].chars().count();
            let place = line.value_origin.part(start, piece.text.chars().count());
            let warning = Diagnostic::warning("the list exceeding max length 20", place);
            warning.code("percentiles-cut").prefix(Prefix::None)
        }));
    }
    let names_files = matches!(
        opt,
        Opt::Filename | Opt::Directory | Opt::Opendir | Opt::LogFilename | Opt::DoubleWriteFilename
    );
    if environment.dialect == Dialect::Ferrio && names_files {
        findings.extend(literal_variable(line, text.as_deref().unwrap_or_default(), environment));
    }
    let text = text.unwrap_or_default().into_owned();
    let value_origin = if line.value.is_some() { &line.value_origin } else { &line.origin };
    let name = row.aliases.iter().find(|&&alias| alias == line.name).unwrap_or(&row.name);
    Some(GivenOption {
        opt,
        name,
        text,
        value,
        origin: line.origin.clone(),
        value_origin: value_origin.clone(),
    })
}

/// The text of a value after arithmetic; in fio's reading, with the blanks before it.
fn effective<'a>(
    row: &OptionRow,
    line: &'a Assignment,
    dialect: Dialect,
) -> Result<Option<Cow<'a, str>>, ValueError> {
    let Some(value) = line.value.as_deref() else { return Ok(None) };
    let text = match dialect {
        Dialect::Ferrio => arithmetic(row, value).filter(|_| line.has_keyword),
        Dialect::Fio if line.has_keyword => fio_arithmetic(line, value)?,
        Dialect::Fio => None,
    };
    Ok(Some(match text {
        Some(text) => Cow::Owned(text),
        None if dialect == Dialect::Fio && !line.indent.is_empty() => {
            Cow::Owned(format!("{}{value}", line.indent))
        }
        None => Cow::Borrowed(value),
    }))
}

/// The engines that have a private option of this name, each once.
pub fn engines_with_option(name: &str) -> Vec<&'static str> {
    let mut owners = Vec::new();
    for opt in Opt::named(name) {
        if let OptionScope::Engines(engines) = opt.row().scope {
            owners.extend(engines.iter().filter(|engine| !owners.contains(*engine)).collect::<Vec<_>>());
        }
    }
    owners
}

/// The error for an option that does not exist for jobs with `engine`.
pub(crate) fn unknown(line: &Assignment, engine: &str, compat: Compat, suggest: bool) -> Diagnostic {
    let name = &line.name;
    let owners = engines_with_option(name);
    if !owners.is_empty() {
        let engines = if owners.len() > 1 { "engines" } else { "engine" };
        let message =
            format!("option `{name}` belongs to {engines} {}; this job uses {engine}", owners.join(", "));
        return Diagnostic::error(message, line.origin.clone())
            .code("option-of-other-engine")
            .in_fio(FioWords::BadOption)
            .label(format!("not an option of {engine}"))
            .help(format!("choose the engine with `ioengine={}`, or remove the option", owners[0]));
    }
    let diagnostic =
        Diagnostic::error(format!("unknown option `{name}`"), line.origin.clone()).code("unknown-option");
    let diagnostic = diagnostic.in_fio(FioWords::BadOption);
    if let Some(meant) = separated(line, engine, compat) {
        return diagnostic.label(format!("did you mean `{meant}`?")).suggest(meant);
    }
    let known_engine = Opt::Ioengine.row().choice(engine).is_some();
    match suggest.then(|| nearest(name, option_names(engine, compat))).flatten() {
        Some(word) => diagnostic.label(format!("did you mean `{word}`?")).suggest(word),
        None if !known_engine => {
            diagnostic.help(format!("private options of engine {engine} are unknown here"))
        }
        None => match suggest.then(|| nearest_of_engines(name)).flatten() {
            Some((word, owner)) => {
                diagnostic.label(format!("did you mean `{word}`, an option of engine {owner}?")).suggest(word)
            }
            None => diagnostic.label("no such option"),
        },
    }
}

/// `rw=read` for a line such as `rw read` or `rw: read`, without an equals sign between name and value.
fn separated(line: &Assignment, engine: &str, compat: Compat) -> Option<String> {
    let (name, value) = line.name.split_once([' ', '\t', ':']).filter(|_| line.value.is_none())?;
    let value = value.trim_start_matches([' ', '\t', ':']);
    (!value.is_empty() && Opt::from_name(name, engine, compat).is_some()).then(|| format!("{name}={value}"))
}

/// The private option that `name` probably misspells, with an engine that has it.
fn nearest_of_engines(name: &str) -> Option<(&'static str, &'static str)> {
    let owned = |row: &'static OptionRow| match row.scope {
        OptionScope::Engines(engines) => engines.first().map(|engine| (row.name, *engine)),
        _ => None,
    };
    let word = nearest(name, rows().iter().filter_map(owned).map(|(word, _)| word))?;
    rows().iter().filter_map(owned).find(|(other, _)| *other == word)
}

/// Most characters of a refused value that are shown.
const MAX_SHOWN_CHARS: usize = 60;

/// A error in a value as a diagnostic.
fn refusal(line: &Assignment, text: &str, error: ValueError) -> Diagnostic {
    let unset = line.unset.first().map(|name| format!("the variable `{name}` is not set"));
    let (message, origin) = match error.message {
        Some(message) => (message.into_string(), line.origin.clone()),
        None => {
            let message =
                format!("invalid value `{}` for option `{}`", shortened(text, MAX_SHOWN_CHARS), line.name);
            let characters = |range: &str| range.chars().count();
            let start = characters(text.get(..error.start).unwrap_or(""));
            let length = characters(text.get(error.start..error.start + error.length).unwrap_or(""));
            let origin =
                if line.literal { line.value_origin.part(start, length) } else { line.value_origin.clone() };
            (message, origin)
        }
    };
    let diagnostic = Diagnostic::error(message, origin).code(error.code).label(error.label);
    let diagnostic = diagnostic.in_fio(FioWords::FailedParsing(error.fio.map(str::into_string)));
    Diagnostic {
        help: unset.or_else(|| bare_variable(line, text)).or(error.help).or_else(|| punctuation(text)),
        suggestion: error.suggestion.map(str::to_owned),
        ..diagnostic
    }
}

/// Advice on a variable without braces in a job file. A shell would have replaced it on a command line.
fn bare_variable(line: &Assignment, text: &str) -> Option<String> {
    let name = bare_name(text).filter(|_| matches!(line.origin, Origin::File { .. }))?;
    Some(format!("variables need braces: write `${{{name}}}`"))
}

/// The first name that follows a `$`, apart from fio's keywords.
fn bare_name(text: &str) -> Option<&str> {
    let names = text.split('$').skip(1).map(leading_word);
    let is_name = |name: &&str| name.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_');
    names.filter(is_name).find(|name| !KEYWORDS.contains(name))
}

/// Words with a `$` that are not variables: figures of the machine, and parts of names in `filename_format`.
const KEYWORDS: [&str; 10] =
    ["pagesize", "mb_memory", "ncpus", "jobname", "jobnum", "filenum", "clientuid", "host", "rank", "ranks"];

/// The warning about the name of a file or of a directory that contains the name of a variable without braces.
fn literal_variable(line: &Assignment, text: &str, environment: &Environment) -> Option<Diagnostic> {
    let name = bare_name(text).filter(|_| matches!(line.origin, Origin::File { .. }))?;
    (environment.var)(name)?;
    let message = format!(
        "`${name}` in option `{}` is taken literally, not replaced by the variable {name}",
        line.name
    );
    let warning = Diagnostic::warning(message, line.value_origin.clone()).code("literal-variable");
    Some(warning.help(format!("variables need braces: write `${{{name}}}`")))
}

/// Advice on signs that have a meaning in shells but not in job files.
fn punctuation(text: &str) -> Option<String> {
    let unquoted = |sign| text.strip_prefix(sign)?.strip_suffix(sign).filter(|inner| !inner.is_empty());
    if let Some(inner) = unquoted('"').or_else(|| unquoted('\'')) {
        return Some(format!("quotes belong to the value: write `{inner}`"));
    }
    text.contains("${").then(|| "a variable ends with `}`: `${NAME}`".to_owned())
}

/// The result of arithmetic in a value with a keyword, for options that are numbers. Anything else, such as a path with
/// slashes, is not changed.
fn arithmetic(row: &OptionRow, value: &str) -> Option<String> {
    let numeric = matches!(
        row.kind,
        ValueKind::Int
            | ValueKind::Size
            | ValueKind::SizeZone
            | ValueKind::SizeRange
            | ValueKind::Time
            | ValueKind::TimeRange
            | ValueKind::Float
            | ValueKind::FloatList
            | ValueKind::CpuList
    );
    if !numeric || !value.contains(['+', '-', '*', '/']) {
        return None;
    }
    // `0-$ncpus` is a range, not a difference.
    let range = matches!(row.kind, ValueKind::CpuList | ValueKind::SizeRange | ValueKind::TimeRange);
    let Ok(result) = evaluate(TextPiece::whole(value), &|_| None) else {
        // Arithmetic with units is that of values in parentheses.
        let has_units = !range && evaluate(TextPiece::whole(value), &|_| Some(1)).is_ok();
        return has_units.then(|| format!("({value})"));
    };
    let number = result.number.whole()?;
    (!range || number >= 0).then(|| number.to_string())
}

/// Longest line (exclusive) and value (inclusive) in which fio does arithmetic.
const ARITHMETIC: (usize, usize) = (128, 100);

/// The result of fio's arithmetic, which it does in any value with a keyword and an operator, even in a path.
fn fio_arithmetic(line: &Assignment, value: &str) -> Result<Option<String>, ValueError> {
    let length = line.name.len() + 1 + line.indent.len() + value.len();
    let operator = |text: &str| text.contains(['+', '-', '*', '/']);
    let quoted = line.name.contains('\'') || value.contains('\'');
    if quoted
        || !(operator(value) || operator(&line.name))
        || length >= ARITHMETIC.0
        || value.len() > ARITHMETIC.1
    {
        return Ok(None);
    }
    fio::bc(value)
        .map(Some)
        .map_err(|error| error.help("fio runs every value with a keyword and an operator through bc"))
}
