//! The result: rows as they come for a person, all samples as JSON for programs.

use serde_json::{Value, json};

use crate::Outcome;
use crate::machine::Machine;
use crate::row::{Row, Samples};
use crate::scaling::ScalingRow;
use crate::statistics::{least, median, spread, standard_error};
use crate::work::Settings;

/// Samples of a contender that lie further apart than this part of their median make a row of start-up doubtful.
const DOUBTFUL: f64 = 0.2;

/// What the samples of a row of start-up are. Less is better in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Milliseconds,
    Mebibytes,
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Unit::Milliseconds => "ms",
            Unit::Mebibytes => "MiB",
        }
    }
}

/// Samples of all contenders for whole processes, one per round.
#[derive(Debug)]
pub(crate) struct StartRow {
    name: &'static str,
    unit: Unit,
    pub fio: Vec<f64>,
    pub ferrio: Vec<f64>,
    /// Empty where there is no limit to speak of.
    pub limit: Vec<f64>,
}

impl StartRow {
    pub(crate) fn new(name: &'static str, unit: Unit) -> StartRow {
        StartRow { name, unit, fio: Vec::new(), ferrio: Vec::new(), limit: Vec::new() }
    }

    /// How many times less ferrio needs than fio.
    fn over_fio(&self) -> Option<f64> {
        Some(median(&self.fio)? / median(&self.ferrio)?)
    }

    fn is_doubtful(&self) -> bool {
        [&self.fio, &self.ferrio, &self.limit].into_iter().any(|samples| spread(samples) > DOUBTFUL)
    }

    fn text(&self) -> String {
        let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
        let [fio, ferrio, limit] =
            [&self.fio, &self.ferrio, &self.limit].map(|samples| figure(median(samples)));
        let doubt = if self.is_doubtful() { "  ~" } else { "" };
        format!(
            "{:<42}fio {fio}, ferrio {ferrio}, limit {limit} {}; fio/ferrio {}{doubt}",
            self.name,
            self.unit.name(),
            figure(self.over_fio()),
        )
    }

    fn json(&self) -> Value {
        let contender =
            |samples: &[f64]| json!({ "median": median(samples), "min": least(samples), "samples": samples });
        json!({
            "name": self.name,
            "unit": self.unit.name(),
            "fio": contender(&self.fio),
            "ferrio": contender(&self.ferrio),
            "limit": contender(&self.limit),
            "fio_over_ferrio": self.over_fio(),
            "doubtful": self.is_doubtful(),
        })
    }
}

/// All rows.
#[derive(Debug)]
pub(crate) struct Table {
    machine: Machine,
    settings: Settings,
    rows: Vec<Row>,
    scaling: Vec<ScalingRow>,
    start: Vec<StartRow>,
    skipped: Vec<(&'static str, String)>,
}

impl Table {
    pub(crate) fn new(machine: Machine, settings: Settings) -> Table {
        Table {
            machine,
            settings,
            rows: Vec::new(),
            scaling: Vec::new(),
            start: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// The machine and the heads of the columns.
    pub(crate) fn header(&self) -> String {
        let Settings { rounds, scale, .. } = self.settings;
        let mut text =
            format!("{}\nns per I/O, medians of {rounds} rounds, I/Os x{scale}\n\n", self.machine.text());
        let mut heads = ["".to_owned(), "".to_owned()];
        heads[0] += &format!(
            "{:<42}{:<24}{:<28}{:<15}{:<7}{:<21}{:<21}",
            "", "   user", " own cost", "   least", "", "  system", "   wall"
        );
        heads[1] += &format!("{:<42}", "work");
        heads[1] += &format!("{:>7}{:>8}{:>7}  ", "fio", "ferrio", "bare");
        heads[1] +=
            &format!("{:>8}{:>8}{:>10}  {:>7}{:>8}{:>7}", "fio", "ferrio", "+-", "fio", "ferrio", "ratio");
        heads[1] +=
            &format!("{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}", "fio", "ferrio", "bare", "fio", "ferrio", "bare");
        if self.settings.instructions {
            heads[0] += "   instructions";
            heads[1] += &format!("{:>9}{:>8}{:>7}", "fio", "ferrio", "bare");
        }
        text += &format!("{}\n{}", heads[0], heads[1]);
        text
    }

    /// Keeps a row and prints it.
    pub(crate) fn add(&mut self, row: Row) {
        println!("{}", self.text(&row));
        self.rows.push(row);
    }

    pub(crate) fn add_scaling(&mut self, row: ScalingRow) {
        println!("{}", row.text());
        self.scaling.push(row);
    }

    pub(crate) fn add_start(&mut self, row: StartRow) {
        println!("{}", row.text());
        self.start.push(row);
    }

    fn text(&self, row: &Row) -> String {
        let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0}"));
        let three = |of: fn(&Samples) -> Vec<f64>| {
            [&row.fio, &row.ferrio, &row.bare].map(|samples| figure(median(&of(samples))))
        };
        let [fio, ferrio, bare] = three(Samples::user);
        let mut text = format!("{:<42}{fio:>7}{ferrio:>8}{bare:>7}  ", row.name);
        let own = [row.own(&row.fio), row.own(&row.ferrio)];
        let [fio, ferrio] = own.each_ref().map(|samples| figure(median(samples)));
        let error = figure(standard_error(&own[1]));
        let [least_fio, least_ferrio] = own.each_ref().map(|samples| figure(least(samples)));
        let ratio = row.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.1}"));
        text += &format!("{fio:>8}{ferrio:>8}{error:>10}  {least_fio:>7}{least_ferrio:>8}{ratio:>7}");
        for of in [Samples::system, Samples::wall] {
            let [fio, ferrio, bare] = three(of);
            text += &format!("{fio:>7}{ferrio:>7}{bare:>7}");
        }
        if self.settings.instructions {
            let [fio, ferrio, bare] =
                [&row.fio, &row.ferrio, &row.bare].map(|samples| figure(samples.instructions));
            text += &format!("{fio:>9}{ferrio:>8}{bare:>7}");
        }
        text
    }

    /// Says why a row is missing.
    pub(crate) fn skip(&mut self, name: &'static str, reason: String) {
        println!("{name:<42}skipped: {reason}");
        self.skipped.push((name, reason));
    }

    /// What the columns mean.
    pub(crate) fn footer(&self) -> String {
        let mut text =
            "\nown cost: user time without that of the bare loop. +-: standard error of ferrio's. \
                        ratio: fio's own cost over ferrio's."
                .to_owned();
        if self.start.iter().any(StartRow::is_doubtful) {
            text += "\n~: samples of one contender lie more than 20 % of their median apart. Something else ran: measure again.";
        }
        text
    }

    /// Everything, samples included.
    pub(crate) fn json(&self) -> Outcome<String> {
        let skipped = self.skipped.iter().map(|(name, reason)| json!({ "name": name, "reason": reason }));
        let document = json!({
            "machine": self.machine.json(),
            "rounds": self.settings.rounds,
            "scale": self.settings.scale,
            "thread": !self.settings.processes,
            "rows": self.rows.iter().map(Row::json).collect::<Vec<_>>(),
            "scaling": self.scaling.iter().map(ScalingRow::json).collect::<Vec<_>>(),
            "start": self.start.iter().map(StartRow::json).collect::<Vec<_>>(),
            "skipped": skipped.collect::<Vec<_>>(),
        });
        Ok(serde_json::to_string_pretty(&document)? + "\n")
    }
}
