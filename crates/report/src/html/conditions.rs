//! The table of conditions: options of each run, with differing ones first.

use super::markup::{HtmlTable, escape};
use super::{PageRun, run_label};
use crate::{distinct, grouped};

/// Conditions that the table of runs has, too. They are repeated only if they differ.
const HEAD_CONDITIONS: [&str; 7] = ["program", "host", "kernel", "architecture", "CPU", "CPUs", "memory"];

struct Condition {
    name: String,
    /// Indexed by run: the values in this run.
    values: Vec<Vec<String>>,
}

impl Condition {
    fn differs(&self) -> bool {
        self.values.iter().any(|values| *values != self.values[0])
    }
}

/// The table of conditions; empty without options.
pub(super) fn section(runs: &[PageRun<'_>]) -> String {
    let is_place = |name: &str| name.starts_with("file system of ") || name.starts_with("device of ");
    let is_shown = |condition: &Condition| {
        condition.differs()
            || !(HEAD_CONDITIONS.contains(&condition.name.as_str()) || is_place(&condition.name))
    };
    let (differing, same): (Vec<_>, Vec<_>) =
        conditions(runs).into_iter().filter(is_shown).partition(Condition::differs);
    if differing.is_empty() && same.is_empty() {
        return String::new();
    }
    let labels: Vec<String> = match runs.len() {
        1 => vec!["value".to_owned()],
        _ => (0..runs.len()).map(|number| run_label(runs, number)).collect(),
    };
    let mut columns = vec![("option", false)];
    columns.extend(labels.iter().map(|label| (label.as_str(), false)));
    let caption = match (runs.len(), differing.len()) {
        (1, _) => "Options as they were given".to_owned(),
        (_, 0) => "Conditions and options: the same in all runs".to_owned(),
        (_, 1) => "Conditions and options: the first row differs between the runs".to_owned(),
        (_, count) => format!("Conditions and options: the first {count} rows differ between the runs"),
    };
    let mut table = HtmlTable::new(&caption, &columns);
    for (conditions, differ) in [(&differing, true), (&same, false)] {
        if !conditions.is_empty() {
            table.group();
        }
        for condition in conditions {
            let mark = if differ { " <span class=\"mark\">differs</span>" } else { "" };
            let mut cells = vec![escape(&condition.name) + mark];
            cells.extend(condition.values.iter().map(|values| value(values)));
            table.row_of_html(&cells, differ);
        }
    }
    table.end()
}

fn value(values: &[String]) -> String {
    match values {
        [] => "<span class=\"quiet\">–</span>".to_owned(),
        [one] if one.is_empty() => "<span class=\"quiet\">(no value)</span>".to_owned(),
        values => format!("<code>{}</code>", escape(&values.join(", "))),
    }
}

/// All conditions, in the order of the runs. A name that occurs several times, as with two jobs of one name, has all its values.
fn conditions(runs: &[PageRun<'_>]) -> Vec<Condition> {
    let given = runs.iter().enumerate().flat_map(|(number, run)| {
        run.report.conditions().into_iter().map(move |(name, value)| (name, (number, value)))
    });
    let condition = |(name, given): (String, Vec<(usize, String)>)| {
        let of_run =
            |run: usize| given.iter().filter(move |(of, _)| *of == run).map(|(_, value)| value.clone());
        Condition { name, values: (0..runs.len()).map(|run| distinct(of_run(run))).collect() }
    };
    grouped(given).into_iter().map(condition).collect()
}
