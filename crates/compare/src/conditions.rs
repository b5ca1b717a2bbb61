//! What differs between the sides beside the figures: options, programs, machines, devices.

use ferrio_report::model::RunReport;
use serde::Serialize;

use crate::read::Side;

/// A condition that is not the same on all sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its name, such as `kernel` or `job a: bs`.
    pub what: String,
    /// Per side: its value; several, if the runs of the side differ; empty if it is absent.
    pub values: Vec<String>,
}

/// The conditions that differ, in the order in which the first side has them.
pub(crate) fn differences(sides: &[Side]) -> Vec<Difference> {
    let of_sides: Vec<Vec<(String, String)>> = sides.iter().map(conditions).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in of_sides.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let value = |side: &Vec<(String, String)>, name: &str| {
        side.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let all = names.into_iter().map(|name| Difference {
        what: name.to_owned(),
        values: of_sides.iter().map(|side| value(side, name)).collect(),
    });
    all.filter(|difference| difference.values.iter().any(|value| *value != difference.values[0])).collect()
}

/// The conditions of all runs of a side, each once with its values.
fn conditions(side: &Side) -> Vec<(String, String)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for run in &side.runs {
        for (name, value) in of_run(&run.report) {
            match all.iter_mut().find(|(other, _)| *other == name) {
                Some((_, values)) if values.contains(&value) => {}
                Some((_, values)) => values.push(value),
                None => all.push((name, vec![value])),
            }
        }
    }
    all.into_iter().map(|(name, values)| (name, values.join(", "))).collect()
}

fn of_run(report: &RunReport) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            all.push((name.to_owned(), value));
        }
    };
    match &report.ferrio {
        Some(ferrio) => {
            add("program", Some(format!("ferrio {}", ferrio.version)));
            let host = &ferrio.host;
            add("host", host.name.clone());
            add("kernel", host.kernel.clone());
            add("architecture", host.arch.clone());
            add("CPU", host.cpu_model.clone());
            add("CPUs", host.cpus_online.map(|count| count.to_string()));
            add("memory", host.memory_bytes.map(|bytes| format!("{} MiB", bytes >> 20)));
            for place in &ferrio.targets {
                let at = place.mount_point.as_deref().unwrap_or("device");
                add(&format!("file system of {at}"), place.file_system.clone());
                add(&format!("device of {at}"), place.device.as_ref().map(|device| device.device.clone()));
            }
        }
        None => add("program", Some(report.version.clone())),
    }
    for (name, value) in &report.global_options.0 {
        add(&format!("all jobs: {name}"), Some(value.clone()));
    }
    for job in &report.jobs {
        // A name on the command line is an option, in a job file it is none.
        for (name, value) in job.job_options.0.iter().filter(|(name, _)| name != "name") {
            add(&format!("job {}: {name}", job.jobname), Some(value.clone()));
        }
    }
    all
}
