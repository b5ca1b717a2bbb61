//! `ferrio help [TOPIC]`: explains a subject, an option, an engine, a command, a test of sysbench or the code of a message.
//!
//! The texts come from the tables that the program itself reads, and from the chapters of the manual page.

use std::fmt::Write as _;

use ferrio_job::{Choice as _, Compat, EngineKind, codes};
use ferrio_jobfile::{
    ABSENT_ENGINES, AbsentEngine, Opt, OptionRow, OptionScope, OptionStatus, absent_engine, cmdhelp, enghelp,
    is_listed, nearest, option_help, rows,
};
use ferrio_report::{Format, terse_help};
use ferrio_verify::DamageKind;

use super::chapters::{self, Chapter, Paragraph};
use super::databases;
use super::subcommand::{Invocation, Subcommand};
use super::sysbench;
use crate::error::Error;
use crate::escaped_stream;
use crate::messages::{print_coloured, print_text};
use crate::options::{OPTIONS, Support};
use crate::profiles::Profile;
use crate::usage::usage;

/// Columns of running text.
const WIDTH: usize = 80;

/// A subject to read about: its name, one line for the list of topics, and its text.
type Topic = (&'static str, &'static str, fn(&[Subcommand]) -> String);

const TOPICS: &[Topic] = &[
    ("options", "all options of jobs, one per line", |_| cmdhelp(None, Compat::Ferrio).text),
    ("engines", "the engines, and substitutes for the missing engines of fio", |_| engines()),
    ("commands", "what ferrio does besides running jobs", list_of_commands),
    ("formats", "the formats of the report", |_| formats()),
    ("terse", "the fields of terse lines", |_| terse()),
    ("jobs", "how job files are written: sections, sizes, times, variables", |_| {
        chapters::JOB_FILES.iter().map(text_of).collect()
    }),
    ("examples", "command lines and a job file to start from", |_| chapter_text("EXAMPLES")),
    ("exit-status", "what the exit status means", |_| chapter_text("EXIT STATUS")),
    ("profiles", "the built-in jobs of --profile, and their options", |_| profiles()),
    ("damage", "what a block that fails verification looks like", |_| damage()),
    ("missing", "the options and engines of fio that are missing", |_| missing()),
    ("sysbench", "how to run tests of sysbench", |_| sysbench::ABOUT.to_owned()),
    ("workload", "databases: transactions on files, without a database", |_| databases::ABOUT.to_owned()),
];

/// Prints help on the topic that the arguments name, or the list of topics.
///
/// # Errors
/// Standard output cannot be written to.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(word) = invocation.arguments.first() else {
        let is_coloured = invocation.messages.colors(escaped_stream::stdout().get_ref());
        return print_coloured(&format!("{}\n{}", usage(invocation.commands, is_coloured), topics()));
    };
    let word = word.to_string_lossy();
    let text = on(&word, invocation.commands);
    if text.is_empty() {
        let names = names(invocation.commands);
        let near = nearest(word.trim_start_matches('-'), names.iter().copied());
        let near = near.map(|near| format!("did you mean `ferrio help {near}`? "));
        let help = format!("{}`ferrio help` alone lists the topics", near.unwrap_or_default());
        return Err(Error::refusal("not-found", format!("there is no help on `{word}`"), Some(&help)));
    }
    print_text(&text)
}

/// All names that have help, for completions.
pub fn names(commands: &[Subcommand]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = TOPICS.iter().map(|(name, ..)| *name).collect();
    names.extend(commands.iter().map(|command| command.name));
    names.extend(EngineKind::ALL.iter().map(|engine| engine.word()));
    names.extend(rows().iter().filter(|row| is_listed(row)).map(|row| row.name));
    names.extend(OPTIONS.iter().map(|option| option.name));
    names.extend(DamageKind::ALL.iter().map(|kind| kind.word()));
    names.extend(sysbench::names());
    names.sort_unstable();
    names.dedup();
    names
}

/// Everything that has this name; empty if nothing has.
fn on(word: &str, commands: &[Subcommand]) -> String {
    let name = word.trim_start_matches('-');
    let name = name.split_once('=').map_or(name, |(name, _)| name);
    let mut parts: Vec<String> = Vec::new();
    let topic = if databases::is_name(name) { "workload" } else { name };
    parts.extend(TOPICS.iter().filter(|(known, ..)| *known == topic).map(|(.., text)| text(commands)));
    // A topic says more about a command of the same name.
    if parts.is_empty() {
        parts.extend(commands.iter().filter(|command| command.name == name).map(Subcommand::text));
    }
    parts.extend(engine(name));
    parts.extend(sysbench::on_test(name));
    parts.extend(job_options(name));
    let is_letter = |letter: Option<char>| letter.is_some_and(|letter| word == format!("-{letter}"));
    let options = OPTIONS.iter().filter(|option| option.name == name || is_letter(option.letter));
    parts.extend(options.map(|option| {
        let value = if option.value.is_empty() { String::new() } else { format!("={}", option.value) };
        format!(
            "--{}{value}: an option of the command line\n{}",
            option.name,
            wrapped(&option.full_help(), 2)
        )
    }));
    parts.extend(damage_kind(word));
    parts.extend(
        codes::find(name).map(|code| format!("{name}: the code of a message\n{}", wrapped(code.meaning, 2))),
    );
    // Many names of sysbench's options are also names of others, which are looked for more often.
    if parts.is_empty() {
        let found = sysbench::on_option(name).or_else(|| sysbench::on_database(name));
        parts.extend(found.map(|[heading, text]| format!("{heading}\n{}", wrapped(&text, 2))));
    }
    parts.iter().map(|part| part.trim_end()).collect::<Vec<_>>().join("\n\n")
        + if parts.is_empty() { "" } else { "\n" }
}

fn topics() -> String {
    let mut text = "Help on a topic, an option, an engine, a command or the code of a message:\n  ferrio help TOPIC\n\nTopics:\n".to_owned();
    for (name, about, _) in TOPICS {
        let _ = writeln!(text, "  {name:<12} {about}");
    }
    text
}

fn list_of_commands(commands: &[Subcommand]) -> String {
    commands.iter().map(|command| format!("{:<22} {}\n", command.synopsis(), command.help)).collect()
}

fn engines() -> String {
    let mut text = "Engines (ioengine=NAME):\n".to_owned();
    for word in Opt::Ioengine.row().usable_choices() {
        let _ = writeln!(text, "  {:<12} {}", word.word, word.help);
    }
    text.push_str("\nMissing engines of fio, and what to use instead:\n");
    for engine in ABSENT_ENGINES {
        let _ = writeln!(text, "  {:<12} {}", engine.name, engine.instead);
    }
    text.push_str("\n`ferrio help NAME` says more about an engine and lists its options.\n");
    text
}

fn damage() -> String {
    let mut text = wrapped(
        "When a block fails verification, the program says what it looks like. docs/damage.md has an example of each kind.",
        0,
    );
    text.push_str("\nKinds of damage, and what the block contains:\n");
    for kind in DamageKind::ALL {
        let _ = writeln!(text, "  {:<14} {}", kind.word(), kind.meaning());
    }
    text
}

/// A kind of damage by its word in reports, or by what a line about a block calls it: `bit-flip`, `a bit flip`, `lost write`.
fn damage_kind(word: &str) -> Option<String> {
    let name = word.trim().to_ascii_lowercase().replace([' ', '_'], "-");
    let name = ["a-", "an-"].iter().find_map(|article| name.strip_prefix(article)).unwrap_or(&name);
    let kind = DamageKind::ALL.iter().find(|kind| kind.word() == name || kind.aliases().contains(&name))?;
    let facts =
        [format!("The block contains: {}.", kind.meaning()), format!("Possible cause: {}.", kind.cause())];
    let facts: String = facts.iter().map(|fact| wrapped(fact, 2)).collect();
    Some(format!("{}: a kind of damage (`ferrio help damage`)\n{facts}", kind.word()))
}

/// An engine with its options, or why it is missing.
fn engine(name: &str) -> Option<String> {
    if let Some(AbsentEngine { name, help, reason, instead }) = absent_engine(name) {
        return Some(format!(
            "{name}: an engine of fio that ferrio does not have ({help})\n{}",
            wrapped(&format!("{reason}. Instead: {instead}."), 2)
        ));
    }
    let word = Opt::Ioengine.row().usable_choices().find(|word| word.word == name)?;
    if let Some(reason) = EngineKind::from_word(name).and_then(EngineKind::reason_of_absence) {
        return Some(format!(
            "{name}: an engine (ioengine={name})\n  {}\n\n{}",
            word.help,
            wrapped(&reason, 2)
        ));
    }
    let special: Vec<_> = EngineKind::from_word(name).into_iter().flat_map(EngineKind::in_words).collect();
    let special = if special.is_empty() { String::new() } else { wrapped(&special.join(" "), 2) };
    let options = enghelp(&[name], Some(name), None);
    let options = if options.failed {
        "It has no private options.\n".to_owned()
    } else {
        format!("Private options:\n{}", options.text)
    };
    Some(format!("{name}: an engine (ioengine={name})\n  {}\n{special}\n{options}", word.help))
}

/// False for options that belong only to missing engines.
fn is_of_this_program(row: &OptionRow) -> bool {
    match row.scope {
        OptionScope::Engines(engines) => engines.iter().any(|engine| absent_engine(engine).is_none()),
        OptionScope::Core | OptionScope::Database | OptionScope::Profile(_) => true,
    }
}

/// The job options of this name. Those of missing engines count only if there are no others.
fn job_options(name: &str) -> Vec<String> {
    let (here, absent): (Vec<Opt>, Vec<Opt>) =
        Opt::named(name).partition(|opt| is_of_this_program(opt.row()));
    let shown = if here.is_empty() { absent } else { here };
    shown.into_iter().map(job_option).collect()
}

/// A job option as `--cmdhelp` and `--enghelp` show it.
fn job_option(opt: Opt) -> String {
    let owner = match opt.row().scope {
        OptionScope::Core => "an option of every job".to_owned(),
        OptionScope::Database => "an option of jobs with a `workload` (`ferrio help workload`)".to_owned(),
        OptionScope::Engines(engines) => {
            format!("an option of jobs with the engine {}", engines.join(" or "))
        }
        OptionScope::Profile(profile) => format!("an option of the profile {profile}"),
    };
    format!("{}: {owner}\n\n{}", opt.row().name, option_help(opt.row()))
}

fn formats() -> String {
    format!(
        "{}.\n\n--output=FILE writes the report to a file. docs/json.md, docs/openmetrics.md and docs/page.md\ndescribe the documents.\n",
        Format::HELP
    )
}

fn terse() -> String {
    format!(
        "Numbers of the fields in a line of each version (--terse-version), from 1; `-` where a version lacks one.\n\
         Fields after the first disk have other numbers if there are several disks. --terse-header prints the names.\n\n{}",
        terse_help()
    )
}

/// Everything that is refused: options by reason, engines, options of the command line, commands.
fn missing() -> String {
    let mut text = "Options of jobs that accept only values that change nothing:\n".to_owned();
    let with = |wanted: fn(&OptionStatus) -> bool| {
        let rows =
            rows().iter().filter(|row| wanted(&row.status) && is_listed(row) && is_of_this_program(row));
        let mut names: Vec<&str> = rows.map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        wrapped(&names.join(", "), 2)
    };
    text.push_str(&with(|status| matches!(status, OptionStatus::OnlyOff(_))));
    text.push_str("\nOptions of jobs that need hardware or libraries that ferrio does not support:\n");
    text.push_str(&with(|status| matches!(status, OptionStatus::Unavailable(_))));
    text.push_str("\nEngines (`ferrio help engines` says what to use instead):\n");
    let engines: Vec<&str> = ABSENT_ENGINES.iter().map(|engine| engine.name).collect();
    text.push_str(&wrapped(&engines.join(", "), 2));
    text.push_str("\nOptions of the command line:\n");
    for option in OPTIONS {
        if let Support::Refused(why) = option.support {
            let _ = writeln!(text, "  --{:<15} {why}", option.name);
        }
    }
    text.push_str("\nOther programs' command lines:\n  sysbench (`ferrio help sysbench`)\n");
    text
}

/// The chapter of the manual page with this heading.
fn chapter_text(heading: &str) -> String {
    chapters::BACK.iter().filter(|chapter| chapter.heading == heading).map(text_of).collect()
}

fn profiles() -> String {
    let mut text = text_of(&chapters::PROFILES);
    for (profile, _) in Profile::ALL {
        let _ = write!(text, "\nOptions of the profile {profile}:\n\n");
        for row in rows().iter().filter(|row| row.scope == OptionScope::Profile(profile)) {
            let default = if row.default.is_empty() { String::new() } else { format!(" [{}]", row.default) };
            let _ = writeln!(text, "  --{:24}{}{default}", row.name, row.help);
        }
    }
    text
}

fn text_of(chapter: &Chapter) -> String {
    let paragraph = |paragraph: &Paragraph| match paragraph {
        Paragraph::Text(text) => wrapped(text, 0),
        Paragraph::Item(term, text) => format!("{term}\n{}", wrapped(text, 4)),
        Paragraph::Example(text) => text.lines().map(|line| format!("    {line}\n")).collect(),
    };
    chapter.paragraphs.iter().map(paragraph).collect::<Vec<_>>().join("\n")
}

/// Text in lines of at most [`WIDTH`] columns, indented.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line =
            lines.last_mut().filter(|line| line.is_empty() || line.len() + word.len() < WIDTH - indent);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::COMMANDS;

    #[test]
    fn every_name_that_is_offered_has_help() {
        for name in names(COMMANDS) {
            assert!(!on(name, COMMANDS).is_empty(), "{name}");
        }
        assert!(on("nonsense", COMMANDS).is_empty());
    }

    #[test]
    fn a_name_with_several_meanings_has_the_help_of_each() {
        let text = on("sync", COMMANDS);
        assert!(text.contains("sync: an engine") && text.contains("sync: an option of every job"), "{text}");
        let text = on("hipri", COMMANDS);
        assert!(
            text.contains("the engine io_uring or io_uring_cmd\n")
                && !text.contains("libblkio")
                && text.contains("the engine pvsync2\n"),
            "{text}"
        );
    }

    #[test]
    fn dashes_and_values_do_not_matter_and_aliases_are_found() {
        assert_eq!(on("--rw=read", COMMANDS), on("readwrite", COMMANDS));
        assert!(
            on("--output-format", COMMANDS).starts_with("--output-format=FORMATS: an option of the command")
        );
        assert_eq!(on("-o", COMMANDS), on("--output", COMMANDS));
        assert!(on("few-ios", COMMANDS).starts_with("few-ios: the code of a message\n"));
    }

    #[test]
    fn tests_of_sysbench_and_their_options_are_explained() {
        let text = on("fileio", COMMANDS);
        assert!(
            text.starts_with("fileio: a test of sysbench (`ferrio sysbench fileio`): reads, writes"),
            "{text}"
        );
        assert!(text.contains("\n  Commands: prepare, run, cleanup, help\n\n  --file-num=N "), "{text}");
        assert!(on("cpu", COMMANDS).contains("\n  Commands: run, help\n\n  --cpu-max-prime=N "));
        let text = on("threads", COMMANDS);
        assert!(
            text.contains("threads: a test of sysbench") && text.contains("the profile tiobench"),
            "{text}"
        );
        let text = on("--file_io_mode=sync", COMMANDS);
        assert_eq!(
            text,
            "--file-io-mode=STRING: an option of sysbench's test fileio\n  \
             how requests are made: sync, async or mmap (default: sync)\n"
        );
        assert!(on("max-requests", COMMANDS).starts_with("--max-requests=N: an option of sysbench\n"));
        assert!(!on("rate", COMMANDS).contains("sysbench"), "an option of jobs");
        for name in ["database", "databases", "innodb", "mysql", "Postgres", "postgresql", "rocksdb", "etcd"]
        {
            assert!(on(name, COMMANDS).starts_with(databases::ABOUT.trim_end()), "{name}");
        }
        assert!(on("oltp", COMMANDS).starts_with("oltp: not a test of sysbench 1.0\n"));
        // Lines are folded, also within what is to be typed.
        let text = on("oltp", COMMANDS).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains("oltp_read_write, oltp_read_only") && text.contains("`ferrio help workload`"),
            "{text}"
        );
        assert!(on("oltp_read_write", COMMANDS).contains("\n  --table_size=N "));
        assert!(
            on("table-size", COMMANDS)
                .starts_with("--table_size=N: an option of sysbench's test oltp_read_write\n")
        );
    }

    #[test]
    fn kinds_of_damage_are_found_by_the_words_that_reports_and_messages_have_for_them() {
        for kind in DamageKind::ALL {
            let text = on(kind.word(), COMMANDS);
            assert!(text.contains(&format!("{}: a kind of damage", kind.word())), "{text}");
        }
        for (printed, word) in [
            ("a bit flip", "bit-flip"),
            ("a lost write", "older-version"),
            ("misdirected write", "other-block"),
            ("torn_write", "torn-write"),
            ("an erased block", "ones"),
            ("damaged bytes", "few-bytes"),
        ] {
            assert_eq!(on(printed, COMMANDS), on(word, COMMANDS), "{printed}");
        }
        assert!(on("damage", COMMANDS).contains("  lost-trim      data in place of the zeros"));
    }

    #[test]
    fn an_engine_that_is_not_here_is_explained() {
        let text = on("rbd", COMMANDS);
        assert!(text.contains("needs Ceph's librbd") && text.contains("(rbd map)"), "{text}");
        let text = on("engines", COMMANDS);
        assert!(
            text.contains("  io_uring     io_uring(7)\n")
                && text.contains("  nfs          mount the export and use `io_uring`"),
            "{text}"
        );
    }

    #[test]
    fn an_engine_is_explained_by_its_properties() {
        let text = on("mmap", COMMANDS);
        assert!(text.starts_with(
            "mmap: an engine (ioengine=mmap)\n  Memory copies to mapped files\n  Cannot extend"
        ));
        assert!(
            on("psync", COMMANDS).contains("  pread(2), pwrite(2)\n\nIt has no private options"),
            "nothing is special"
        );
    }

    #[test]
    fn what_is_missing_is_listed_by_its_status() {
        let text = on("missing", COMMANDS);
        let refused = |row: &&OptionRow| {
            matches!(row.status, OptionStatus::OnlyOff(_) | OptionStatus::Unavailable(_))
                && is_of_this_program(row)
                && is_listed(row)
        };
        for row in rows().iter().filter(refused) {
            assert!(text.contains(row.name), "{}", row.name);
        }
        assert!(text.contains("--latency-log ") && text.contains(" rbd,"), "{text}");
    }

    #[test]
    fn running_text_fits_the_width() {
        let text = wrapped(&"word ".repeat(100), 4);
        assert!(text.lines().all(|line| line.len() <= WIDTH && line.starts_with("    word")), "{text}");
        assert_eq!(text.split_whitespace().count(), 100);
        assert_eq!(wrapped("", 2), "  \n");
    }
}
