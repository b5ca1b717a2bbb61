//! The result: rows as they come for a person, all samples as JSON for programs.

use serde_json::{Value, json};

use crate::Outcome;
use crate::machine::Machine;
use crate::work::Course;

/// Samples of a contender that lie further apart than this part of their median make its row doubtful.
const DOUBTFUL: f64 = 0.2;

/// What the samples of a row are. Less is better in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    NsPerIo,
    Milliseconds,
    Mebibytes,
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Unit::NsPerIo => "ns/IO",
            Unit::Milliseconds => "ms",
            Unit::Mebibytes => "MiB",
        }
    }
}

/// Samples of all contenders for one piece of work, one per round.
#[derive(Debug)]
pub(crate) struct Row {
    name: &'static str,
    unit: Unit,
    pub fio: Vec<f64>,
    pub ferrio: Vec<f64>,
    /// Empty where there is no limit to speak of.
    pub limit: Vec<f64>,
}

impl Row {
    pub(crate) fn new(name: &'static str, unit: Unit) -> Row {
        Row { name, unit, fio: Vec::new(), ferrio: Vec::new(), limit: Vec::new() }
    }

    /// How many times less ferrio needs than fio.
    fn over_fio(&self) -> Option<f64> {
        Some(median(&self.fio)? / median(&self.ferrio)?)
    }

    /// The part of ferrio's time that the bare calls need.
    fn of_limit(&self) -> Option<f64> {
        Some(median(&self.limit)? / median(&self.ferrio)?)
    }

    fn is_doubtful(&self) -> bool {
        [&self.fio, &self.ferrio, &self.limit].into_iter().any(|samples| spread(samples) > DOUBTFUL)
    }

    fn text(&self) -> String {
        let time = |samples: &[f64]| median(samples).map_or_else(|| "-".to_owned(), |m| format!("{m:.1}"));
        let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), |r| format!("{r:.2}"));
        format!(
            "{:<32}{:<6}{:>11}{:>11}{:>11}{:>9}{:>10}{}",
            self.name,
            self.unit.name(),
            time(&self.fio),
            time(&self.ferrio),
            time(&self.limit),
            ratio(self.over_fio()),
            ratio(self.of_limit()),
            if self.is_doubtful() { "  ~" } else { "" }
        )
    }

    fn json(&self) -> Value {
        let contender = |samples: &[f64]| json!({ "median": median(samples), "best": samples.iter().copied().reduce(f64::min), "samples": samples });
        json!({
            "name": self.name,
            "unit": self.unit.name(),
            "fio": contender(&self.fio),
            "ferrio": contender(&self.ferrio),
            "limit": contender(&self.limit),
            "fio_over_ferrio": self.over_fio(),
            "limit_over_ferrio": self.of_limit(),
            "doubtful": self.is_doubtful(),
        })
    }
}

/// All rows.
#[derive(Debug)]
pub(crate) struct Table {
    machine: Machine,
    course: Course,
    rows: Vec<Row>,
    skipped: Vec<(&'static str, String)>,
}

impl Table {
    pub(crate) fn new(machine: Machine, course: Course) -> Table {
        Table { machine, course, rows: Vec::new(), skipped: Vec::new() }
    }

    /// The machine and the heads of the columns.
    pub(crate) fn header(&self) -> String {
        format!(
            "{}\nmedians of {} rounds, {} s of I/O each\n\n{:<32}{:<6}{:>11}{:>11}{:>11}{:>9}{:>10}",
            self.machine.text(),
            self.course.rounds,
            self.course.seconds,
            "work",
            "",
            "fio",
            "ferrio",
            "limit",
            "fio/",
            "limit/"
        ) + &format!("\n{:<32}{:<6}{:>42}{:>10}", "", "", "ferrio", "ferrio")
    }

    /// Keeps a row and prints it.
    pub(crate) fn add(&mut self, row: Row) {
        println!("{}", row.text());
        self.rows.push(row);
    }

    /// Says why a row is missing.
    pub(crate) fn skip(&mut self, name: &'static str, reason: String) {
        println!("{name:<32}skipped: {reason}");
        self.skipped.push((name, reason));
    }

    /// What the columns mean.
    pub(crate) fn footer(&self) -> String {
        let mut text = "\nfio/ferrio: how many times faster, or smaller, ferrio is. limit/ferrio: 1 is the bare system calls."
            .to_owned();
        if self.rows.iter().any(Row::is_doubtful) {
            text += "\n~: samples of one contender lie more than 20 % of their median apart. Something else ran: measure again.";
        }
        text
    }

    /// Everything, samples included.
    pub(crate) fn json(&self) -> Outcome<String> {
        let skipped = self.skipped.iter().map(|(name, reason)| json!({ "name": name, "reason": reason }));
        let document = json!({
            "machine": self.machine.json(),
            "rounds": self.course.rounds,
            "seconds": self.course.seconds,
            "thread": !self.course.processes,
            "rows": self.rows.iter().map(Row::json).collect::<Vec<_>>(),
            "skipped": skipped.collect::<Vec<_>>(),
        });
        Ok(serde_json::to_string_pretty(&document)? + "\n")
    }
}

/// The middle sample, or the mean of the two in the middle.
fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some((sorted[sorted.len() / 2 - 1] + upper) / 2.0) }
}

/// Distance of the extreme samples over the median.
fn spread(samples: &[f64]) -> f64 {
    let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
    let most = samples.iter().copied().fold(0.0, f64::max);
    median(samples).map_or(0.0, |median| (most - least) / median)
}
