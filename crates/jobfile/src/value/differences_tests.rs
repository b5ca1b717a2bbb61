//! `docs/differences.md` is true: every example of its table of values is read both ways.

use std::collections::HashSet;

use super::describe::describe;
use crate::{Builder, Dialect, Environment, Problems};

/// The page as it is published.
const PAGE: &str = include_str!("../../../../docs/differences.md");

/// The rows of all tables under the headings that `wanted` accepts, cell by cell.
fn rows(wanted: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let sections = PAGE.split("\n## ").skip(1).filter(|section| wanted(section.lines().next().unwrap()));
    let tables = sections.flat_map(|section| section.lines().filter(|line| line.starts_with("| ")));
    let cells = |line: &str| line.replace("\\|", "\u{1}").trim_matches('|').split('|').map(cell).collect();
    tables.map(cells).filter(|row: &Vec<_>| row[0] != "Id").collect()
}

fn cell(text: &str) -> String {
    text.trim().replace('\u{1}', "|")
}

/// What the last line of an example is read as, in the words of the table.
fn outcome(example: &[&str], dialect: Dialect) -> Result<String, Problems> {
    let mut builder = Builder::new(Environment { dialect, ..Environment::default() });
    builder.file("j.fio", format!("[a]\n{}\n", example.join("\n")).as_bytes());
    let set = builder.finish()?;
    let last = set.jobs[0].own.last().expect("a line");
    Ok(describe(last.opt.row(), &last.value))
}

#[test]
fn every_value_is_read_as_the_page_says() {
    let values = rows(|heading| heading == "Values");
    assert!(values.len() > 80, "only {} rows were found", values.len());
    let mut wrong = Vec::new();
    for row in &values {
        let [id, example, fio_reads, ferrio_reads, _why] = &row[..] else { panic!("five cells: {row:?}") };
        let example: Vec<_> = example.split('`').filter(|line| !line.trim().is_empty()).collect();
        let fio = outcome(&example, Dialect::Fio).unwrap_or_else(|_| "refused".to_owned());
        if fio != *fio_reads {
            wrong.push(format!("{id}: --strict=fio reads {fio}, not {fio_reads}"));
        }
        let ferrio = match outcome(&example, Dialect::Ferrio) {
            Ok(value) if value == fio => "the same".to_owned(),
            Ok(value) => value,
            Err(problems) => {
                let help = problems.diagnostics[0].help.clone().unwrap_or_default();
                let says = match fio_reads.as_str() {
                    "nothing" => "fio skips this".to_owned(),
                    fio => format!("fio reads this as {fio}"),
                };
                let advised = help.contains(&says) && help.ends_with("--strict=fio");
                if advised { "refused".to_owned() } else { format!("refused with `{help}`") }
            }
        };
        if ferrio != *ferrio_reads {
            wrong.push(format!("{id}: by default {ferrio}, not {ferrio_reads}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_two_differences_have_the_same_id() {
    let mut seen = HashSet::new();
    for row in rows(|_| true) {
        assert!(seen.insert(row[0].clone()), "{}", row[0]);
    }
    assert!(seen.len() > 180, "only {} rows were found", seen.len());
}
