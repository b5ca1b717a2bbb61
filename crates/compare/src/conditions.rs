//! Conditions that differ between sides: options, programs, machines, devices.

use ferrio_report::{distinct, grouped};
use serde::Serialize;

use crate::read::Side;

/// A condition that differs between sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionDifference {
    /// The condition, such as `kernel` or `job a: bs`.
    pub what: String,
    /// The values of each side: several if its runs differ, none if the condition is absent.
    pub values: Vec<String>,
}

/// The conditions that differ, in the order of the first side.
pub(crate) fn differences(sides: &[Side]) -> Vec<ConditionDifference> {
    let of_sides: Vec<Vec<(String, String)>> = sides.iter().map(conditions).collect();
    let names = distinct(of_sides.iter().flatten().map(|(name, _)| name));
    let value = |side: &Vec<(String, String)>, name: &String| {
        side.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let all = names.into_iter().map(|name| ConditionDifference {
        what: name.clone(),
        values: of_sides.iter().map(|side| value(side, name)).collect(),
    });
    all.filter(|difference| difference.values.iter().any(|value| *value != difference.values[0])).collect()
}

/// All conditions of a side, each once with the values of the runs.
fn conditions(side: &Side) -> Vec<(String, String)> {
    let given = side.runs.iter().flat_map(|run| run.report.conditions());
    let joined = |values| distinct::<String>(values).join(", ");
    grouped(given).into_iter().map(|(name, values)| (name, joined(values))).collect()
}
