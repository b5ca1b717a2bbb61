//! How much two workers do in the time of one. Ideal is 2.
//!
//! The ratio of speeds needs two idle CPUs. Beside it is the same ratio made of CPU time, which load from other programs changes
//! little: twice the CPU time per I/O of one worker over that of two. It shows what workers take from each other by sharing
//! memory, and does not show waiting.

use serde_json::{Value, json};

use crate::Outcome;
use crate::statistics::median;
use crate::tools::{Contender, Job, Tool};
use crate::work::Work;

/// Names of the rows made here, each with the row of the list that has the job.
pub(crate) const ROWS: [(&str, &str); 2] =
    [("two-workers-null", "null-randread"), ("two-workers-psync", "psync-randread-cached")];

/// Speed of two workers over that of one, one sample per round.
#[derive(Debug, Default)]
struct Scale {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

/// The samples of both tools.
#[derive(Debug)]
pub(crate) struct ScalingRow {
    name: &'static str,
    fio: Scale,
    ferrio: Scale,
}

impl ScalingRow {
    /// Runs all rounds of the job, which must not say how many workers it has.
    pub(crate) fn measure(name: &'static str, job: &Job<'_>) -> Outcome<ScalingRow> {
        let mut row = ScalingRow { name, fio: Scale::default(), ferrio: Scale::default() };
        for _ in 0..job.settings.rounds {
            for (tool, scale) in [(Tool::Fio, &mut row.fio), (Tool::Ferrio, &mut row.ferrio)] {
                let [one, two] = [1, 2].map(|workers| per_io(&Job { workers, ..job.clone() }, tool));
                let (one, two) = (one?, two?);
                scale.wall.push(one.0 / two.0);
                scale.cpu.push(2.0 * one.1 / two.1);
            }
        }
        Ok(row)
    }

    pub(crate) fn text(&self) -> String {
        let figure =
            |samples: &[f64]| median(samples).map_or_else(|| "-".to_owned(), |median| format!("{median:.2}"));
        let Scale { wall, cpu } = &self.ferrio;
        let text =
            format!("{:<42}ferrio {} by speed, {} by CPU time; ", self.name, figure(wall), figure(cpu));
        text + &format!("fio {} by speed, {} by CPU time", figure(&self.fio.wall), figure(&self.fio.cpu))
    }

    pub(crate) fn json(&self) -> Value {
        let scale = |scale: &Scale| {
            let figures = |samples: &[f64]| json!({ "median": median(samples), "samples": samples });
            json!({ "by_speed": figures(&scale.wall), "by_cpu_time": figures(&scale.cpu) })
        };
        json!({ "name": self.name, "fio": scale(&self.fio), "ferrio": scale(&self.ferrio) })
    }
}

/// The job of a row.
pub(crate) fn work(row: &str) -> Outcome<&'static Work> {
    Ok(Work::find(row).ok_or("no such row")?)
}

/// Wall-clock and CPU time per I/O.
fn per_io(job: &Job<'_>, tool: Tool) -> Outcome<(f64, f64)> {
    let contender = Contender::Tool(tool);
    let (short, few) = job.run(contender, 1)?;
    let (long, many) = job.run(contender, 1 + job.work.passes * job.settings.scale)?;
    let usage = long.per_io(short, many.saturating_sub(few) as f64);
    Ok((usage.wall, usage.user + usage.system))
}
