//! `ferrio man`: the manual page, generated from the option tables and the chapters in `chapters.rs`.

use std::io::{self, Write};

use clap_mangen::Man;
use ferrio_job::Word;
use ferrio_jobfile::{
    OptionRow, OptionScope, OptionStatus, absent_words, default_text, is_listed, range_text, rows, type_text,
};
use roff::{Inline, Roff, bold, italic, roman};

use super::chapters::{self, Chapter};
use super::full_command::value_name;
use super::subcommand::{Invocation, Operand, Subcommand, nothing_follows};
use super::sysbench;
use crate::error::Error;
use crate::messages::print;
use crate::profiles::Profile;
use crate::settings;

/// Help text after the usage.
pub const LONG_HELP: &str = "\
To read it:     ferrio man | man -l -
To install it:  ferrio man > /usr/local/share/man/man1/ferrio.1
";

/// Prints the manual page.
///
/// # Errors
/// An argument is given, or standard output cannot be written to.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    nothing_follows("man", invocation.arguments)?;
    print(|out| write(out, invocation.commands).map(|()| true))
}

/// Writes the page as roff source.
///
/// # Errors
/// `out` cannot be written to.
fn write(out: &mut dyn Write, commands: &[Subcommand]) -> io::Result<()> {
    let version = format!("ferrio {}", env!("CARGO_PKG_VERSION"));
    let program =
        Man::new(settings::command()).title("FERRIO").section("1").source(version).manual("User Commands");
    program.render_title(out)?;
    let mut front = Roff::new();
    write_chapter(&chapters::NAME, &mut front);
    write_synopsis(commands, &mut front);
    write_chapter(&chapters::DESCRIPTION, &mut front);
    write_commands(commands, &mut front);
    front.to_writer(out)?;
    program.render_options_section(out)?;
    let mut rest = Roff::new();
    chapters::JOB_FILES.iter().for_each(|chapter| write_chapter(chapter, &mut rest));
    write_job_options(&mut rest);
    write_engine_options(&mut rest);
    write_chapter(&chapters::PROFILES, &mut rest);
    write_profile_options(&mut rest);
    write_chapter(&chapters::SYSBENCH, &mut rest);
    write_sysbench_options(&mut rest);
    chapters::BACK.iter().for_each(|chapter| write_chapter(chapter, &mut rest));
    rest.to_writer(out)
}

fn write_synopsis(commands: &[Subcommand], page: &mut Roff) {
    let run = "[options] [job options] [job files]";
    let commands = commands.iter().map(|command| match command.operand {
        Operand::Jobs(_) => format!("ferrio {} {run}", command.name),
        _ => format!("ferrio {}", command.usage()),
    });
    page.control("SH", ["SYNOPSIS"]);
    write_example(std::iter::once(format!("ferrio {run}")).chain(commands), page);
}

fn write_commands(commands: &[Subcommand], page: &mut Roff) {
    page.control("SH", ["COMMANDS"]);
    for command in commands {
        write_item(vec![bold(command.name)], &format!("{}.", command.help), page);
    }
    page.control("PP", []);
    page.text([roman("A command is recognised as the first argument only. To run a job file with the name of a command, write its directory: ./man.")]);
}

/// Writes a term and the text about it.
fn write_item(term: Vec<Inline>, text: &str, page: &mut Roff) {
    page.control("TP", []);
    page.text(term);
    page.text([roman(text)]);
}

/// Writes lines verbatim.
fn write_example(lines: impl Iterator<Item = impl Into<String>>, page: &mut Roff) {
    page.control("PP", []);
    page.control("nf", []);
    page.control("RS", []);
    lines.for_each(|line| {
        page.text([roman(line)]);
    });
    page.control("RE", []);
    page.control("fi", []);
}

fn write_chapter(chapter: &Chapter, page: &mut Roff) {
    page.control("SH", [chapter.heading]);
    for paragraph in chapter.paragraphs {
        match paragraph {
            chapters::Paragraph::Text(text) => {
                page.control("PP", []);
                page.text([roman(*text)]);
            }
            chapters::Paragraph::Item(term, text) => {
                write_item(vec![bold(*term)], text, page);
            }
            chapters::Paragraph::Example(text) => write_example(text.lines(), page),
        }
    }
}

/// The categories of the catalogue and their headings, in the order of the page.
const CATEGORIES: [(&str, &str); 7] = [
    ("general", "General"),
    ("io", "I/O"),
    ("file", "Files"),
    ("engine", "Engines"),
    ("stat", "Statistics"),
    ("log", "Logs"),
    ("profile", "Profiles"),
];

fn write_job_options(page: &mut Roff) {
    page.control("SH", ["JOB OPTIONS"]);
    for (category, heading) in CATEGORIES {
        page.control("SS", [heading]);
        let of_category =
            |row: &&OptionRow| row.category == category && row.scope == OptionScope::Core && is_listed(row);
        rows().iter().filter(of_category).for_each(|row| write_option(row, &[], page));
    }
    page.control("SS", ["Databases"]);
    let of_databases = |row: &&OptionRow| row.scope == OptionScope::Database;
    rows().iter().filter(of_databases).for_each(|row| write_option(row, &[], page));
}

fn write_engine_options(page: &mut Roff) {
    page.control("SH", ["OPTIONS OF ENGINES"]);
    page.control("PP", []);
    page.text([roman("These options are available to jobs that use one of the engines in parentheses.")]);
    for row in rows().iter().filter(|row| is_listed(row)) {
        if let OptionScope::Engines(engines) = row.scope {
            write_option(row, engines, page);
        }
    }
}

fn write_profile_options(page: &mut Roff) {
    for profile in Profile::ALL.map(|(name, _)| name) {
        page.control("SS", [format!("Options of the profile {profile}").as_str()]);
        for row in rows().iter().filter(|row| row.scope == OptionScope::Profile(profile)) {
            write_option(row, &[], page);
        }
    }
}

fn write_sysbench_options(page: &mut Roff) {
    for (heading, options) in sysbench::option_lists() {
        page.control("SS", [heading.as_str()]);
        for option in options {
            let default = option.default.filter(|default| !default.is_empty());
            let default = default.map(|default| format!(" Default: {default}.")).unwrap_or_default();
            write_item(vec![bold(option.synopsis())], &format!("{}.{default}", option.full_help()), page);
        }
    }
}

/// Writes an option: name, aliases and value; then help, type, default, choices.
fn write_option(row: &'static OptionRow, engines: &[&str], page: &mut Roff) {
    let mut head: Vec<Inline> = vec![bold(row.name)];
    for alias in row.aliases {
        head.extend([roman(", "), bold(*alias)]);
    }
    head.extend([roman("="), italic(value_name(row))]);
    if !engines.is_empty() {
        head.push(roman(format!(" ({})", engines.join(", "))));
    }
    write_item(head, &option_paragraph(row), page);
    if !row.choices.is_empty() {
        page.control("RS", []);
        for Word { word, same_as, help } in row.usable_choices() {
            let text = same_as.map_or_else(|| (*help).to_owned(), |main| format!("same as {main}"));
            page.control("br", []);
            page.text(if text.is_empty() {
                vec![bold(*word)]
            } else {
                vec![bold(*word), roman(format!(": {text}"))]
            });
        }
        page.control("RE", []);
    }
}

/// Formats help, type, range, unit, default and lack of support as one paragraph.
fn option_paragraph(row: &OptionRow) -> String {
    let mut sentences = vec![format!("{}.", row.help), format!("Type: {}.", type_text(row))];
    sentences.extend(range_text(row).map(|range| format!("Range: {range}.")));
    sentences.extend(row.unit.text().map(|unit| format!("A bare number means {unit}.")));
    let default = default_text(row);
    if !default.is_empty() {
        sentences.push(format!("Default: {default}."));
    }
    match row.status {
        OptionStatus::Works => {}
        OptionStatus::Unavailable(why) => sentences.push(format!("Refused: {why}.")),
        // The heading names the profile.
        OptionStatus::NoEffect(_) if matches!(row.scope, OptionScope::Profile(_)) => {}
        OptionStatus::NoEffect(why) => sentences.push(format!("No effect: {why}.")),
        OptionStatus::OnlyOff(texts) => sentences.push(format!("Only {} so far.", texts.join(", "))),
    }
    sentences.extend(absent_words(row).into_iter().map(|(word, why)| format!("{word} is refused: {why}.")));
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> String {
        let mut page = Vec::new();
        write(&mut page, crate::commands::COMMANDS).unwrap();
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn every_option_is_on_the_page() {
        let page = page().replace("\\-", "-");
        for row in rows().iter().filter(|row| is_listed(row)) {
            assert!(page.contains(&format!("\\fB{}\\fR", row.name)), "{}", row.name);
        }
        for entry in crate::options::OPTIONS {
            assert!(page.contains(&format!("--{}", entry.name)), "{}", entry.name);
        }
        for (_, options) in sysbench::option_lists() {
            for option in options {
                assert!(page.contains(&format!("\\fB{}\\fR", option.synopsis())), "{}", option.name);
            }
        }
    }

    #[test]
    fn every_core_option_is_in_a_category_of_the_page() {
        for row in rows().iter().filter(|row| row.scope == OptionScope::Core) {
            assert!(CATEGORIES.iter().any(|(category, _)| *category == row.category), "{}", row.category);
        }
    }

    #[test]
    fn the_usual_sections_are_there() {
        let page = page();
        for heading in ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "FILES", "EXAMPLES"] {
            assert!(
                page.contains(&format!(".SH {heading}\n")) || page.contains(&format!(".SH \"{heading}\"\n")),
                "{heading}"
            );
        }
    }
}
