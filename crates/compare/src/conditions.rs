//! What differs between the sides beside the figures: options, programs, machines, devices.

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
        for (name, value) in run.report.conditions() {
            match all.iter_mut().find(|(other, _)| *other == name) {
                Some((_, values)) if values.contains(&value) => {}
                Some((_, values)) => values.push(value),
                None => all.push((name, vec![value])),
            }
        }
    }
    all.into_iter().map(|(name, values)| (name, values.join(", "))).collect()
}
