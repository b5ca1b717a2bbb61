//! `docs/options.md` and the counts in the README are generated from the option table, `docs/engines.md` from the engine table,
//! `docs/messages.md` from the table of codes, and the JSON Schemas from the types that are serialized.
//!
//! `FERRIO_BLESS=1 cargo test --test program reference` regenerates them.

mod engines;

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use ferrio_job::AsFio;
use ferrio_job::EngineKind;
use ferrio_job::codes::{self, SUBJECTS};
use ferrio_jobfile::{
    ABSENT_ENGINES, Opt, OptionRow, OptionScope, OptionStatus, ValueKind, absent_words, default_text, rows,
};

use crate::support::same;

const BEGIN: &str = "<!-- option counts: made by FERRIO_BLESS=1 cargo test --test program reference -->";
const END: &str = "<!-- end of option counts -->";

fn in_repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Compares a file with its wanted content, or writes it.
fn check(name: &str, wanted: &str) {
    let path = in_repository(name);
    if std::env::var_os("FERRIO_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, wanted).unwrap();
        return;
    }
    let present = fs::read_to_string(&path).unwrap_or_default();
    let differing = present.lines().zip(wanted.lines()).find(|(present, wanted)| present != wanted);
    if let Some((present, wanted)) = differing {
        same!("in the file": present, "in the table": wanted, "{name} is out of date: {}", REMEDY);
    }
    assert!(present == wanted, "{name} is out of date: {REMEDY}");
}

const REMEDY: &str = "run FERRIO_BLESS=1 cargo test --test program reference to regenerate";

#[test]
fn the_option_reference_is_up_to_date() {
    check("docs/options.md", &reference());
}

#[test]
fn the_counts_in_the_readme_are_up_to_date() {
    let readme = fs::read_to_string(in_repository("README.md")).unwrap();
    let (before, rest) = readme.split_once(BEGIN).expect("the README marks where the counts begin");
    let (_, after) = rest.split_once(END).expect("the README marks where the counts end");
    check("README.md", &format!("{before}{BEGIN}\n{}{END}{after}", counts("docs/engines.md")));
}

#[test]
fn the_list_of_message_codes_is_up_to_date() {
    check("docs/messages.md", &message_codes());
}

#[test]
fn the_schemas_are_up_to_date() {
    for (name, schema) in [
        ("docs/report.schema.json", ferrio_report::report_schema()),
        ("docs/interval_report.schema.json", ferrio_report::interval_report_schema()),
        ("docs/hosts_interval_report.schema.json", ferrio_report::hosts_interval_report_schema()),
        (
            "docs/sysbench.schema.json",
            ferrio_report::schema_of::<ferrio_sysbench::report::SysbenchDocument>(),
        ),
    ] {
        check(name, &format!("{schema:#}\n"));
    }
}

#[test]
fn codes_in_the_sources_and_codes_in_the_table_are_the_same() {
    let mut texts = String::new();
    read_sources(&in_repository("crates"), &mut texts);
    for part in texts.split(".code(\"").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(codes::find(name).is_some(), "`{name}` is not in the table of codes");
    }
    // What is between two quotes is a string, or the text between two strings.
    let strings: HashSet<&str> = texts.split('"').collect();
    for code in SUBJECTS.iter().flat_map(|subject| subject.codes) {
        assert!(strings.contains(code.name), "nothing uses the code `{}`", code.name);
    }
}

/// Appends all sources below a directory, except the table of codes.
fn read_sources(directory: &Path, texts: &mut String) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_sources(&path, texts);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("codes.rs") {
            texts.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

fn message_codes() -> String {
    let mut text = String::from(
        "# Message codes\n\n\
         Generated from `crates/job/src/diagnostic/codes/table.rs` by `FERRIO_BLESS=1 cargo test --test program reference`; do not edit.\n\n\
         With `--message-format=json`, every message is one JSON object on a line of stderr. Every object has all keys; those that\n\
         do not apply are `null`:\n\n\
         | Key | Value |\n\
         |---|---|\n\
         | `severity` | `error`, `warning` or `note` |\n\
         | `code` | the kind of message, from the tables below |\n\
         | `message` | the message itself |\n\
         | `jobs` | the names of the jobs it is about |\n\
         | `file`, `line` | the line of a job file that it is about; lines count from 1 |\n\
         | `argument` | the number of the command-line argument that it is about, from 1 |\n\
         | `column`, `length` | the part of that line or argument, in characters; columns count from 1 |\n\
         | `text` | that line or argument |\n\
         | `label` | what is wrong with that part |\n\
         | `help` | what to do |\n\
         | `suggestion` | what to write instead of that part |\n\
         | `rendered` | the message as text |\n\n\
         Codes are stable: they stay the same when the wording of a message changes. The codes of `ferrio check` are in\n\
         [check.md](check.md).\n\n\
         The last column says where a program that is called `fio` shows warnings and notes with this code: on stderr, among the lines\n\
         of the text report (on stderr if there is none), or nowhere. Errors are always shown.\n",
    );
    for subject in SUBJECTS {
        let _ = writeln!(text, "\n## {}\n\n| Code | Meaning | Called `fio` |\n|---|---|---|", subject.name);
        for code in subject.codes {
            let place = match code.as_fio {
                AsFio::Stderr => "stderr",
                AsFio::Report => "report",
                AsFio::Hidden => "not shown",
            };
            let _ = writeln!(text, "| `{}` | {} | {place} |", code.name, cell(code.meaning));
        }
    }
    text
}

fn reference() -> String {
    let mut text = String::from(
        "# Options of a job\n\n\
         Generated from `crates/jobfile/src/catalogue` by `FERRIO_BLESS=1 cargo test --test program reference`; do not edit.\n\n\
         | Status | Meaning |\n|---|---|\n\
         | works | the option is implemented |\n\
         | only | only the values listed are accepted, which change nothing |\n\
         | no effect | the option is accepted, and a note says that it has no effect |\n\
         | not available | the option is refused, for the reason given |\n\n",
    );
    text.push_str(&counts("engines.md"));
    text.push_str("\n| Option | Of | Status | Type | Default | Meaning |\n|---|---|---|---|---|---|\n");
    for row in rows() {
        let names: Vec<_> = std::iter::once(&row.name).chain(row.aliases).map(|name| code(name)).collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            names.join(", "),
            owner(row),
            status(row),
            kind(row),
            if default_text(row).is_empty() { String::new() } else { code(&default_text(row)) },
            cell(row.help),
        );
    }
    text.push_str(
        "\n## Where options have no effect\n\n\
         An option may have no effect in a job because of another option, or of what the job does. It is then accepted,\n\
         and a note gives the reason.\n\n| Options | Reason |\n|---|---|\n",
    );
    for (options, reason) in ferrio_plan::without_effect() {
        let names: Vec<_> = options.into_iter().map(code).collect();
        let _ = writeln!(text, "| {} | {} |", names.join(", "), cell(reason));
    }
    text
}

/// The number of options by status, and all engines with a link to what they can do.
fn counts(engines_page: &str) -> String {
    let count = |wanted: fn(&OptionStatus) -> bool| rows().iter().filter(|row| wanted(&row.status)).count();
    let lines = [
        ("work", count(|status| matches!(status, OptionStatus::Works))),
        (
            "accept only values that change nothing",
            count(|status| matches!(status, OptionStatus::OnlyOff(_))),
        ),
        (
            "have no effect here, and a note says so",
            count(|status| matches!(status, OptionStatus::NoEffect(_))),
        ),
        ("are not available here", count(|status| matches!(status, OptionStatus::Unavailable(_)))),
    ];
    let mut text = format!("Of {} options:\n\n", rows().len());
    for (what, number) in lines {
        let _ = writeln!(text, "- {number} {what}");
    }
    let engine = |engine: &EngineKind| match engine.feature() {
        Some(feature) => format!("{} (with `--features {feature}`)", code(engine.word())),
        None => code(engine.word()),
    };
    let engines: Vec<_> = EngineKind::ALL.iter().map(engine).collect();
    let _ = writeln!(text, "\n[Engines]({engines_page}): {}.", engines.join(", "));
    let absent: Vec<_> = ABSENT_ENGINES.iter().map(|engine| code(engine.name)).collect();
    let _ = writeln!(text, "\nEngines of fio that are not available here: {}.", absent.join(", "));
    text
}

fn owner(row: &OptionRow) -> String {
    match row.scope {
        OptionScope::Core => "all jobs".to_owned(),
        OptionScope::Database => "jobs with a `workload`".to_owned(),
        OptionScope::Engines(engines) => engines.join(", "),
        OptionScope::Profile(profile) => format!("profile {profile}"),
    }
}

fn status(row: &OptionRow) -> String {
    match row.status {
        OptionStatus::Works if row.opt == Opt::Ioengine => {
            "works; [engines.md](engines.md) says what each engine can do".to_owned()
        }
        OptionStatus::Works => {
            let absent = absent_words(row).into_iter();
            let absent =
                absent.map(|(word, why)| format!("; {} is not available: {}", code(word), cell(why)));
            format!("works{}", absent.collect::<String>())
        }
        OptionStatus::Unavailable(reason) => format!("not available: {}", cell(reason)),
        OptionStatus::NoEffect(reason) => format!("no effect: {}", cell(reason)),
        OptionStatus::OnlyOff(texts) => {
            let texts: Vec<_> = texts.iter().map(|text| code(text)).collect();
            format!("only {}", texts.join(", "))
        }
    }
}

/// The type in words, with the choices that are not refused if there are any.
fn kind(row: &OptionRow) -> String {
    let words = match row.kind {
        ValueKind::Flag => "flag",
        ValueKind::Bool => "0 or 1",
        ValueKind::Int => "number",
        ValueKind::Size => "size",
        ValueKind::SizeZone if row.scope == OptionScope::Database => "size or percentage",
        ValueKind::SizeZone => "size, percentage or zones",
        ValueKind::SizeRange => "size or range of sizes",
        ValueKind::TimeRange => "time or range of times",
        ValueKind::Range => "range of sizes",
        ValueKind::Time => "time",
        ValueKind::Float => "decimal number",
        ValueKind::FloatList => "decimal numbers",
        ValueKind::Str => "text",
        ValueKind::StrList => "texts",
        ValueKind::Enum => "one of",
        ValueKind::EnumArg => "one of, possibly with an argument",
        ValueKind::EnumList | ValueKind::WordList => "any of",
        ValueKind::OptStr => "nothing or text",
        ValueKind::Bssplit | ValueKind::PrioBssplit => "sizes with percentages",
        ValueKind::ModeSplit => "one of, or several with percentages",
        ValueKind::Pattern => "bytes",
        ValueKind::CpuList => "CPUs",
        ValueKind::NodeList => "NUMA nodes",
        ValueKind::IdList => "numbers and ranges",
        ValueKind::NumaPolicy => "NUMA policy",
        ValueKind::ErrorList => "errors",
        ValueKind::Deprecated | ValueKind::Ignored => "withdrawn",
    };
    let names = row.usable_choices().filter(|choice| choice.same_as.is_none());
    let names: Vec<_> = names.map(|choice| code(choice.word)).collect();
    if names.is_empty() { words.to_owned() } else { format!("{words}: {}", names.join(" ")) }
}

fn code(text: &str) -> String {
    if text.trim().is_empty() { "(empty)".to_owned() } else { format!("`{}`", cell(text)) }
}

/// Escapes bars, which would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
