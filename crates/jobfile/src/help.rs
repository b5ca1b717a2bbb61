//! Help on options from the catalogue: `--cmdhelp` and `--enghelp`, in fio's layout.

use std::borrow::Cow;
use std::fmt::Write as _;

use ferrio_job::{Choice as _, Compat, DatabaseModel, Diagnostic, EngineKind, Origin, Prefix, Word};

use crate::catalogue::{Multi, Opt, OptionRow, OptionScope, OptionStatus, ValueKind, absent_words, rows};
use crate::evaluate::engines_with_option;

/// The answer to a question about options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Help {
    /// The requested text; ends with a newline unless it is empty.
    pub text: String,
    /// The reason why the text is missing or differs from the request.
    pub complaints: Vec<Diagnostic>,
    /// Whether nothing was found.
    pub failed: bool,
}

impl Help {
    /// The requested text.
    pub fn found(text: String) -> Help {
        Help { text, ..Help::default() }
    }

    fn missing(complaint: String) -> Help {
        Help { complaints: vec![not_found(complaint).prefix(Prefix::None)], failed: true, ..Help::default() }
    }
}

fn not_found(message: String) -> Diagnostic {
    Diagnostic::error(message, Origin::Builtin).code("not-found")
}

/// `--cmdhelp` (`None` or `all`): all options that do not belong to an engine, one per line. `--cmdhelp=NAME`: one option in detail; for an
/// unknown name, the most similar option if there is one.
pub fn cmdhelp(what: Option<&str>, compat: Compat) -> Help {
    let is_here = move |row: &&OptionRow| {
        matches!(row.scope, OptionScope::Core | OptionScope::Database)
            && row.is_known_to(compat)
            && is_listed(row)
    };
    let core = || rows().iter().filter(is_here);
    let Some(name) = what.filter(|&name| name != "all") else {
        return Help::found(list(core()));
    };
    if let Some(row) = core().find(|row| row.name == name || row.aliases.contains(&name)) {
        return Help::found(option_help(row));
    }
    let near = core().flat_map(|row| {
        std::iter::once(row.name).chain(row.aliases.iter().copied()).map(move |name| (name, row))
    });
    let near = near
        .map(|(known, row)| (strsim::levenshtein(name, known), row))
        .min_by_key(|&(distance, _)| distance);
    match near {
        Some((distance, row)) if distance < 3 => Help {
            text: option_help(row),
            ..Help::missing(format!("No such command: {name} - showing closest match"))
        },
        _ => Help::missing(format!("No such command: {name}{}", owner(name))),
    }
}

/// The command that explains an engine's option.
fn owner(name: &str) -> String {
    let owners = engines_with_option(name);
    owners.first().map(|engine| format!(" - see --enghelp={engine},{name}")).unwrap_or_default()
}

/// `--enghelp`: all engines, the private options of one engine, or one of those options in detail.
pub fn enghelp(engines: &[&str], engine: Option<&str>, option: Option<&str>) -> Help {
    let Some(engine) = engine else {
        let names = engines.iter().map(|name| format!("\t{name}\n"));
        return Help::found(format!("Available IO engines:\n{}", names.collect::<String>()));
    };
    let engine = crate::canonical_engine(engine);
    if !engines.contains(&engine) {
        let absent = crate::absent_engine(engine).map(|absent| absent.reason.to_owned());
        let absent = absent.or_else(|| EngineKind::from_word(engine)?.reason_of_absence());
        let why = absent.map_or_else(String::new, |reason| format!(": {reason}"));
        let mut help = Help::missing(format!("IO engine {engine} not found"));
        help.complaints.insert(0, not_found(format!("engine {engine} not loadable{why}")));
        return help;
    }
    let own =
        || rows().iter().filter(|row| matches!(row.scope, OptionScope::Engines(_)) && row.belongs_to(engine));
    match option {
        _ if own().next().is_none() => Help::missing(format!("IO engine {engine} has no options")),
        None => Help::found(list(own())),
        Some(name) => match own().find(|row| row.name == name || row.aliases.contains(&name)) {
            Some(row) => Help::found(option_help(row)),
            None => Help::missing(format!("IO engine {engine} has no option {name}")),
        },
    }
}

/// One line per option; options that belong to another are indented below it.
fn list<'a>(rows: impl Iterator<Item = &'a OptionRow>) -> String {
    let rows: Vec<_> = rows.collect();
    let mut text = String::new();
    for row in &rows {
        if !rows.iter().any(|other| other.name == row.parent) {
            branch(row, &rows, 0, &mut text);
        }
    }
    text
}

fn branch(row: &OptionRow, rows: &[&OptionRow], depth: usize, text: &mut String) {
    let name = format!("{:1$}{2}", "", 2 * depth, row.name);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{name:<24}: {}", row.help);
    for child in rows.iter().filter(|child| child.parent == row.name && child.name != row.name) {
        branch(child, rows, depth + 1, text);
    }
}

/// Everything about one option: labels right-aligned, an empty line at the end.
pub fn option_help(row: &OptionRow) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:>20}: {value}");
    };
    line(row.name, row.help);
    for alias in row.aliases {
        line("alias", alias);
    }
    line("type", &type_with_example(row));
    match default_text(row).as_str() {
        "" => line("default", "no default"),
        default => line("default", default),
    }
    if let Some(range) = range_text(row) {
        line("range", &range);
    }
    let has_number = row.kind == ValueKind::Int;
    for (at, Word { word, same_as, help }) in row.usable_choices().filter(|_| !has_number).enumerate() {
        let text = match same_as {
            Some(main) => format!("{word:<10} Same as {main}"),
            None => format!("{word:<10} {help}"),
        };
        line(if at == 0 { "valid values" } else { "" }, text.trim_end());
    }
    // fio's help does not have the rest.
    if let Some(unit) = row.unit.text() {
        line("unit", unit);
    }
    match row.multi {
        Multi::No => {}
        Multi::ReadWrite => line("directions", "read,write"),
        Multi::PerDirection => line("directions", "read,write,trim"),
    }
    match row.status {
        OptionStatus::Works => {}
        OptionStatus::Unavailable(why) => line("note", &format!("refused when given: {why}")),
        OptionStatus::NoEffect(why) => line("note", &format!("no effect: {why}")),
        OptionStatus::OnlyOff(texts) => line("note", &format!("only {} so far", texts.join(", "))),
    }
    for Word { word, help, .. } in row.usable_choices().filter(|_| has_number) {
        line("note", &format!("in place of a number, {word}: {help}"));
    }
    for (word, why) in absent_words(row) {
        line("note", &format!("{word} is refused: {why}"));
    }
    if row.opt == Opt::Ioengine {
        let note = "other engines of fio are refused: `ferrio help engines` says why and what to use instead";
        line("note", note);
    }
    text.push('\n');
    text
}

/// The type and an example of a value, in fio's form: `string (opt=randread)`.
fn type_with_example(row: &OptionRow) -> String {
    let example = match row.kind {
        ValueKind::Flag => "([0|1])".to_owned(),
        ValueKind::Deprecated | ValueKind::Ignored => return type_text(row).to_owned(),
        _ => format!("(opt={})", example(row)),
    };
    format!("{} {example}", type_text(row))
}

/// A value that the option accepts; of words, one that is not the default.
fn example(row: &OptionRow) -> Cow<'static, str> {
    if row.opt == Opt::ReplayAlign {
        return "4k".into(); // A power of 2.
    }
    if matches!(row.kind, ValueKind::Int | ValueKind::Size) {
        let number = row.min.map_or(100, |min| min.max(100));
        return row.max.map_or(number, |max| max.min(number)).to_string().into();
    }
    let word = row.usable_choices().find(|choice| choice.word != row.default || row.choices.len() == 1);
    let text = match row.kind {
        ValueKind::Flag | ValueKind::Bool => "1",
        ValueKind::Time => "10s",
        ValueKind::TimeRange => "5s-10s",
        ValueKind::SizeZone => "50%",
        ValueKind::Range => "1k-4k[,4k-8k[,1k-8k]]",
        ValueKind::SizeRange => "1m-4m",
        ValueKind::FloatList => "5.9:7.8",
        ValueKind::Float if row.min.is_some_and(|min| min > 0) => "2.5",
        ValueKind::Float => "0.5",
        ValueKind::Bssplit => "4k/60:64k/40",
        ValueKind::PrioBssplit => "4k/60/1/2:64k/40",
        ValueKind::ModeSplit => "write/60:zeroes/40",
        ValueKind::Pattern => "0xdeadbeef",
        ValueKind::CpuList => "0-3,6",
        ValueKind::NodeList => "0,1",
        ValueKind::IdList => "0-2,5",
        ValueKind::NumaPolicy => "bind:0",
        ValueKind::ErrorList => "EIO,ENOSPC",
        ValueKind::StrList => "a:b",
        ValueKind::Str | ValueKind::OptStr | ValueKind::Deprecated | ValueKind::Ignored => "text",
        _ => word.map_or(row.default, |choice| choice.word),
    };
    text.into()
}

/// The type of an option's value, in the words of fio's help.
pub fn type_text(row: &OptionRow) -> &'static str {
    match row.kind {
        ValueKind::Flag => "empty or boolean value",
        ValueKind::Bool => "boolean value",
        ValueKind::Int | ValueKind::Size => "integer value",
        ValueKind::Time | ValueKind::TimeRange => "string with time postfix",
        // Files of databases have no zones.
        ValueKind::SizeZone if row.scope == OptionScope::Database => "size or percentage",
        ValueKind::SizeZone => "size, percentage or zones",
        ValueKind::Range => "one to three ranges",
        ValueKind::FloatList => "list of floating point values separated by ':'",
        ValueKind::EnumList => "string with possible k/m/g postfix",
        ValueKind::Float => "floating point value",
        ValueKind::Deprecated | ValueKind::Ignored => "deprecated",
        _ => "string",
    }
}

/// The range of a number; `None` for other options and if there is no limit.
pub fn range_text(row: &OptionRow) -> Option<String> {
    if !row.choices.is_empty() && row.kind != ValueKind::Int {
        return None;
    }
    let open = |max: &i128| *max >= i128::from(u32::MAX);
    let max = row.max.filter(|max| !open(max));
    match row.kind {
        ValueKind::Int | ValueKind::Size => {
            let min = row.min.map_or_else(|| "min=0".to_owned(), |min| format!("min={min}"));
            Some(max.map_or_else(|| min.clone(), |max| format!("{min}, max={max}")))
        }
        ValueKind::Bool => Some("min=0, max=1".to_owned()),
        ValueKind::FloatList | ValueKind::Float => {
            max.map(|max| format!("min={}.000000, max={max}.000000", row.min.unwrap_or(0)))
        }
        ValueKind::Range | ValueKind::SizeRange => row.min.map(|min| format!("min={min}")),
        _ => None,
    }
}

/// The default; empty if there is none. That of an option of databases depends on the model.
pub fn default_text(row: &OptionRow) -> String {
    if row.scope != OptionScope::Database {
        return row.default.to_owned();
    }
    let defaults = DatabaseModel::ALL.iter().filter_map(|model| Some((row.opt.preset(*model)?, *model)));
    let defaults: Vec<_> = defaults.collect();
    match defaults.first() {
        Some((first, _)) if defaults.iter().all(|(value, _)| value == first) => (*first).to_owned(),
        _ => {
            let each = defaults.iter().map(|(value, model)| format!("{value} ({model})"));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// False for options that are only refused or ignored.
pub fn is_listed(row: &OptionRow) -> bool {
    !matches!(row.kind, ValueKind::Deprecated | ValueKind::Ignored) && row.opt != Opt::GpuDevId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_option_is_shown_with_everything_about_it() {
        insta::assert_snapshot!(cmdhelp(Some("blocksize"), Compat::Fio).text, @r"
                     bs: Block size per direction
                  alias: blocksize
                   type: integer value (opt=100)
                default: 4096
                  range: min=1
                   unit: bytes
             directions: read,write,trim
        ");
        insta::assert_snapshot!(cmdhelp(Some("fallocate"), Compat::Fio).text, @r"
           fallocate: How space is reserved when laying out files
                type: string (opt=none)
             default: native
        valid values: none       Reserve nothing
                    : native     fallocate(2) where supported
                    : posix      posix_fallocate(3)
                    : keep       Reserve space, keep the file size
                    : truncate   Set the file size, reserve nothing
                    : 0          Same as none
                    : 1          Same as posix
        ");
    }

    #[test]
    fn every_example_is_a_value_that_a_job_can_have() {
        for row in rows().iter().filter(|row| is_listed(row)) {
            let help = option_help(row);
            assert!(!help.contains("opt=bla") && !help.contains("max=-1"), "{help}");
            let text = example(row);
            let no_file = |_: &std::path::Path| Err(std::io::ErrorKind::NotFound.into());
            // Only the form of ranges is shown.
            if row.kind != ValueKind::Range && !text.is_empty() {
                let value = crate::value::parse(row, Some(&text), 1024, &no_file);
                let needs_more = |label: &str| label.ends_with("expected") || label.ends_with("needs nodes");
                let good = value.as_ref().map_or_else(|fault| needs_more(&fault.label), |_| true);
                assert!(good, "{}={text}: {value:?}", row.name);
            }
        }
    }

    #[test]
    fn words_that_are_refused_are_no_choices() {
        let help = cmdhelp(Some("zonemode"), Compat::Fio).text;
        assert!(help.contains(": strided    ") && help.contains(": zbd    "), "{help}");
        let help = cmdhelp(Some("ioengine"), Compat::Fio).text;
        assert!(help.contains(": io_uring   ") && !help.contains(": rbd "), "{help}");
        assert!(!cmdhelp(Some("mem"), Compat::Fio).text.contains(": cudamalloc GPU"));
    }

    #[test]
    fn a_near_miss_shows_the_nearest_and_nonsense_nothing() {
        let near = cmdhelp(Some("rww"), Compat::Fio);
        assert_eq!(near.complaints[0].line(Compat::Fio), "No such command: rww - showing closest match");
        assert!(near.text.starts_with("                  rw: "), "{}", near.text);
        let nonsense = cmdhelp(Some("zzzzzzzzzzz"), Compat::Fio);
        assert_eq!((nonsense.text.as_str(), nonsense.failed), ("", true));
        assert_eq!(nonsense.complaints[0].line(Compat::Fio), "No such command: zzzzzzzzzzz");
        assert!(cmdhelp(Some("verifysort"), Compat::Fio).failed, "hidden");
        let private = cmdhelp(Some("userspace_reap"), Compat::Fio).complaints;
        assert!(private[0].message.ends_with("see --enghelp=libaio,userspace_reap"));
    }

    #[test]
    fn the_list_has_every_core_option_once_with_children_below_their_parents() {
        let text = cmdhelp(None, Compat::Fio).text;
        let names: Vec<_> = text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
        for row in rows().iter().filter(|row| row.scope == OptionScope::Core && is_listed(row)) {
            let times = usize::from(row.is_known_to(Compat::Fio));
            assert_eq!(names.iter().filter(|name| **name == row.name).count(), times, "{}", row.name);
        }
        assert!(text.contains("\niodepth                 : "), "{text}");
        assert!(text.contains("\n  iodepth_batch         : "), "{text}");
        assert_eq!(cmdhelp(Some("all"), Compat::Fio).text, text);
    }

    #[test]
    fn engine_help_knows_engines_options_and_their_absence() {
        let engines = ["null", "libaio"];
        assert_eq!(
            enghelp(&engines, None, None),
            Help::found("Available IO engines:\n\tnull\n\tlibaio\n".to_owned())
        );
        assert!(enghelp(&engines, Some("libaio"), None).text.contains("userspace_reap"));
        assert!(enghelp(&engines, Some("linuxaio"), Some("libaio_backend")).text.contains("io_uring"));
        for (engine, option) in [("null", None), ("nosuch", None), ("rbd", None), ("libaio", Some("nosuch"))]
        {
            let help = enghelp(&engines, Some(engine), option);
            assert!(help.failed && help.complaints[0].message.contains(engine), "{engine}");
        }
    }

    #[test]
    fn unsupported_options_say_so() {
        let with = |wanted: fn(&OptionStatus) -> bool| rows().iter().filter(move |row| wanted(&row.status));
        for row in with(|status| matches!(status, OptionStatus::Unavailable(_))) {
            assert!(option_help(row).contains("note: refused when given: "), "{}", row.name);
        }
        for row in with(|status| matches!(status, OptionStatus::NoEffect(_))) {
            assert!(option_help(row).contains("note: no effect: "), "{}", row.name);
        }
    }
}
