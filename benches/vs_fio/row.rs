//! One row: all rounds of all contenders, and the figures made of them.
//!
//! A round of a contender is two runs, of one pass and of several. What the long run needs more than the short one, over the I/Os that
//! it does more, leaves out what starting, reporting and ending a process costs. The short run that is subtracted is the median of all
//! rounds, so that its noise does not add to that of every long one.

use serde_json::{Value, json};

use crate::Outcome;
use crate::statistics::{least, median, standard_error};
use crate::tools::{Contender, Job, Tool};
use crate::usage::Usage;

/// Passes of a short run, and of the long run when instructions are counted, which takes some fifty times as long as running.
const SHORT: u64 = 1;
const COUNTED: u64 = 2;

/// What one contender needed.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    short: Vec<(Usage, u64)>,
    long: Vec<(Usage, u64)>,
    /// User instructions per I/O, if they were counted.
    pub instructions: Option<f64>,
}

impl Samples {
    /// Times of an I/O, one per round.
    fn per_io(&self) -> Vec<Usage> {
        let of = |time: fn(&Usage) -> f64| {
            median(&self.short.iter().map(|(usage, _)| time(usage)).collect::<Vec<_>>()).unwrap_or_default()
        };
        let short = Usage { user: of(|u| u.user), system: of(|u| u.system), wall: of(|u| u.wall) };
        let long = self.long.iter().zip(&self.short);
        long.map(|(&(usage, ios), &(_, fewer))| usage.per_io(short, ios.saturating_sub(fewer) as f64))
            .collect()
    }

    pub(crate) fn user(&self) -> Vec<f64> {
        self.per_io().iter().map(|usage| usage.user).collect()
    }

    pub(crate) fn system(&self) -> Vec<f64> {
        self.per_io().iter().map(|usage| usage.system).collect()
    }

    pub(crate) fn wall(&self) -> Vec<f64> {
        self.per_io().iter().map(|usage| usage.wall).collect()
    }

    fn json(&self) -> Value {
        let figures = |samples: Vec<f64>| json!({ "median": median(&samples), "min": least(&samples), "samples": samples });
        json!({
            "user_ns": figures(self.user()),
            "system_ns": figures(self.system()),
            "wall_ns": figures(self.wall()),
            "instructions": self.instructions,
        })
    }
}

/// Samples of all contenders for one piece of work.
#[derive(Debug)]
pub(crate) struct Row {
    pub name: &'static str,
    pub fio: Samples,
    pub ferrio: Samples,
    pub bare: Samples,
}

impl Row {
    /// Runs all rounds. `before` is called at the start of each.
    pub(crate) fn measure(job: &Job<'_>, mut before: impl FnMut() -> Outcome<()>) -> Outcome<Row> {
        let mut row = Row {
            name: job.work.name,
            fio: Samples::default(),
            ferrio: Samples::default(),
            bare: Samples::default(),
        };
        for round in 0..job.settings.rounds {
            before()?;
            // Who begins changes from round to round: a machine that slows down meets all three.
            for turn in 0..Contender::ALL.len() {
                let contender = Contender::ALL[(round + turn) % Contender::ALL.len()];
                let short = job.run(contender, SHORT)?;
                let long = job.run(contender, SHORT + job.work.passes * job.settings.scale)?;
                let samples = row.of(contender);
                samples.short.push(short);
                samples.long.push(long);
            }
        }
        if job.settings.instructions {
            for contender in Contender::ALL {
                let (short, long) = (job.count(contender, SHORT)?, job.count(contender, SHORT + COUNTED)?);
                let count = long.0.saturating_sub(short.0) as f64 / long.1.saturating_sub(short.1) as f64;
                row.of(contender).instructions = Some(count);
            }
        }
        Ok(row)
    }

    fn of(&mut self, contender: Contender) -> &mut Samples {
        match contender {
            Contender::Tool(Tool::Fio) => &mut self.fio,
            Contender::Tool(Tool::Ferrio) => &mut self.ferrio,
            Contender::Bare => &mut self.bare,
        }
    }

    /// User time of a tool without that of the bare loop, one sample per round.
    pub(crate) fn own(&self, tool: &Samples) -> Vec<f64> {
        tool.user().iter().zip(self.bare.user()).map(|(tool, bare)| tool - bare).collect()
    }

    /// How many times fio's own cost is ferrio's.
    pub(crate) fn ratio(&self) -> Option<f64> {
        Some(median(&self.own(&self.fio))? / median(&self.own(&self.ferrio))?)
    }

    pub(crate) fn json(&self) -> Value {
        let own = |tool: &Samples| {
            let samples = self.own(tool);
            json!({ "median": median(&samples), "min": least(&samples), "standard_error": standard_error(&samples) })
        };
        json!({
            "name": self.name,
            "fio": self.fio.json(),
            "ferrio": self.ferrio.json(),
            "bare": self.bare.json(),
            "own_ns": { "fio": own(&self.fio), "ferrio": own(&self.ferrio), "ratio": self.ratio() },
        })
    }
}
