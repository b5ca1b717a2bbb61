//! Help on options, made from the catalogue.

use std::fmt::Write as _;

use crate::catalogue::{Kind, Multi, Opt, Row, Scope, Unit, rows};

/// `--cmdhelp` (`None` or `all`): all core options, one a line; or `--cmdhelp=NAME`: one option in detail. Of
/// an unknown name the nearest is shown if it is near, and the second value is false.
pub fn cmdhelp(what: Option<&str>) -> (String, bool) {
    let core = || rows().iter().filter(|row| row.scope == Scope::Core && !is_hidden(row));
    let Some(name) = what.filter(|&name| name != "all") else {
        return (list(core()), true);
    };
    if let Some(row) = core().find(|row| row.name == name || row.aliases.contains(&name)) {
        return (detail(row), true);
    }
    let near = core().flat_map(|row| {
        std::iter::once(row.name).chain(row.aliases.iter().copied()).map(move |name| (name, row))
    });
    let near = near
        .map(|(known, row)| (strsim::damerau_levenshtein(name, known), row))
        .min_by_key(|&(distance, _)| distance);
    match near {
        Some((distance, row)) if distance < 3 => {
            (format!("No such command: {name} - showing closest match\n{}", detail(row)), false)
        }
        _ => (format!("No such command: {name}\n"), false),
    }
}

/// `--enghelp`: the engines of this program; with an engine its private options, with an option that one in
/// detail. The second value is false if there is nothing to show.
pub fn enghelp(engines: &[&str], engine: Option<&str>, option: Option<&str>) -> (String, bool) {
    let Some(engine) = engine else {
        let names = engines.iter().map(|name| format!("\t{name}\n"));
        return (format!("Available IO engines:\n{}", names.collect::<String>()), true);
    };
    if !engines.contains(&engine) {
        return (format!("IO engine {engine} not found\n"), false);
    }
    let own = || rows().iter().filter(|row| matches!(row.scope, Scope::Engines(_)) && row.belongs_to(engine));
    match option {
        _ if own().next().is_none() => (format!("IO engine {engine} has no options\n"), false),
        None => (list(own()), true),
        Some(name) => match own().find(|row| row.name == name || row.aliases.contains(&name)) {
            Some(row) => (detail(row), true),
            None => (format!("IO engine {engine} has no option {name}\n"), false),
        },
    }
}

/// One line per option, those that belong to another below it and indented.
fn list<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let rows: Vec<_> = rows.collect();
    let mut text = String::new();
    for row in &rows {
        if !rows.iter().any(|other| other.name == row.parent) {
            branch(row, &rows, 0, &mut text);
        }
    }
    text
}

fn branch(row: &Row, rows: &[&Row], depth: usize, text: &mut String) {
    let name = format!("{:1$}{2}", "", 2 * depth, row.name);
    // writing to a String cannot fail
    let _ = writeln!(text, "{name:<24}: {}", row.help);
    for child in rows.iter().filter(|child| child.parent == row.name && child.name != row.name) {
        branch(child, rows, depth + 1, text);
    }
}

/// Everything about one option: labels right-aligned, an empty line at the end.
fn detail(row: &Row) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:>20}: {value}");
    };
    line(row.name, row.help);
    for alias in row.aliases {
        line("alias", alias);
    }
    line("type", &kind(row));
    line("default", if row.default.is_empty() { "no default" } else { row.default });
    if row.choices.is_empty() {
        match (row.min, row.max) {
            (None, None) => {}
            (min, Some(max)) => line("range", &format!("min={}, max={max}", min.unwrap_or(0))),
            (Some(min), None) => line("range", &format!("min={min}, max=-1")),
        }
    }
    for (at, word) in row.choices.iter().enumerate() {
        let same = row.same.iter().find(|(other, _)| other == word);
        let meaning =
            same.map_or_else(|| (*word).to_owned(), |(_, main)| format!("{word:<10} same as {main}"));
        line(if at == 0 { "valid values" } else { "" }, &meaning);
    }
    text.push('\n');
    text
}

/// What kind of value an option takes, with an example.
fn kind(row: &Row) -> String {
    let text = match row.kind {
        Kind::Flag => "switch: the bare name, or 0 or 1",
        Kind::Bool => "0 or 1 (opt=1)",
        Kind::Int => "whole number (opt=100)",
        Kind::Size => "size with suffix k, m, g, t or p (opt=4k)",
        Kind::SizeZone => "size with suffix, percentage or zones (opt=4k, opt=50%, opt=2z)",
        Kind::SizeRange => "one size, or two (opt=4k, opt=4k-8k)",
        Kind::TimeRange => "one time, or two (opt=10s, opt=1-3)",
        Kind::Range => "range of sizes (opt=1k-4k)",
        Kind::Time => "time with suffix d, h, m, s, ms or us (opt=10s)",
        Kind::Float => "decimal number (opt=0.5)",
        Kind::FloatList => "decimal numbers joined by ':' (opt=5.9:7.8)",
        Kind::Str => "text (opt=bla)",
        Kind::StrList => "texts joined by ':' (opt=one:two)",
        Kind::Enum => "one of the words below",
        Kind::EnumArg => "one of the words below, perhaps with an argument (opt=word:argument)",
        Kind::EnumList | Kind::WordList => "words below joined by ','",
        Kind::OptStr => "the bare name, or text (opt=bla)",
        Kind::Bssplit => "sizes with shares in percent (opt=4k/60:8k/40)",
        Kind::PrioBssplit => "sizes with shares and priorities (opt=4k/60, opt=4k/60/1/0)",
        Kind::ModeSplit => "one of the words below, or several with shares (opt=word/60:word/40)",
        Kind::Pattern => "bytes as numbers, \"text\" or 'file' (opt=0xff\"ab\")",
        Kind::CpuList => "CPU numbers and ranges (opt=0,2-3)",
        Kind::NodeList => "NUMA node numbers and ranges (opt=0-1)",
        Kind::IdList => "numbers and ranges (opt=1,3-5)",
        Kind::NumaPolicy => "policy, perhaps with nodes (opt=bind:0)",
        Kind::ErrorList => "error names or numbers (opt=EIO:ENOSPC,28)",
        Kind::Deprecated | Kind::Ignored => "deprecated",
    };
    let several = match row.multi {
        Multi::No => "",
        Multi::ReadWrite => "; up to two: read,write",
        Multi::PerDirection => "; up to three: read,write,trim",
    };
    let unit = match row.unit {
        Unit::Plain => "",
        Unit::Bytes => "; in bytes",
        Unit::BytesPerSecond => "; in bytes per second",
        Unit::Seconds => "; in seconds",
        Unit::Milliseconds => "; in milliseconds",
        Unit::Microseconds => "; in microseconds",
        Unit::Percent => "; in percent",
        Unit::Count | Unit::CountPerSecond => "",
        Unit::Mebibytes => "; in MiB",
    };
    format!("{text}{several}{unit}")
}

/// Options that only exist to be refused or ignored.
fn is_hidden(row: &Row) -> bool {
    matches!(row.kind, Kind::Deprecated | Kind::Ignored) || row.opt == Opt::GpuDevId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_option_is_shown_with_everything_about_it() {
        let (text, found) = cmdhelp(Some("blocksize"));
        assert!(found);
        insta::assert_snapshot!(text, @r"
                     bs: Block size per direction
                  alias: blocksize
                   type: size with suffix k, m, g, t or p (opt=4k); up to three: read,write,trim; in bytes
                default: 4096
                  range: min=1, max=18446744073709551615
        ");
        insta::assert_snapshot!(cmdhelp(Some("fallocate")).0, @r"
               fallocate: How space is reserved when laying out files
                    type: one of the words below
                 default: native
            valid values: none
                        : native
                        : posix
                        : keep
                        : truncate
                        : 0          same as none
                        : 1          same as posix
        ");
    }

    #[test]
    fn a_near_miss_shows_the_nearest_and_nonsense_nothing() {
        let (text, found) = cmdhelp(Some("rww"));
        assert!(
            !found
                && text.starts_with("No such command: rww - showing closest match\n                  rw: "),
            "{text}"
        );
        assert_eq!(cmdhelp(Some("zzzzzzzzzzz")), ("No such command: zzzzzzzzzzz\n".to_owned(), false));
        assert!(!cmdhelp(Some("verifysort")).1, "hidden");
    }

    #[test]
    fn the_list_has_every_core_option_once_with_children_below_their_parents() {
        let (text, _) = cmdhelp(None);
        let names: Vec<_> = text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
        for row in rows().iter().filter(|row| row.scope == Scope::Core && !is_hidden(row)) {
            assert_eq!(names.iter().filter(|name| **name == row.name).count(), 1, "{}", row.name);
        }
        assert!(text.contains("\niodepth                 : "), "{text}");
        assert!(text.contains("\n  iodepth_batch         : "), "{text}");
        assert_eq!(cmdhelp(Some("all")).0, text);
    }

    #[test]
    fn engine_help_knows_engines_options_and_their_absence() {
        let engines = ["null", "libaio"];
        assert_eq!(
            enghelp(&engines, None, None),
            ("Available IO engines:\n\tnull\n\tlibaio\n".to_owned(), true)
        );
        assert!(enghelp(&engines, Some("libaio"), None).0.contains("userspace_reap"));
        assert!(enghelp(&engines, Some("libaio"), Some("libaio_backend")).0.contains("io_uring"));
        for (engine, option) in [("null", None), ("nosuch", None), ("libaio", Some("nosuch"))] {
            assert!(!enghelp(&engines, Some(engine), option).1, "{engine}");
        }
    }
}
