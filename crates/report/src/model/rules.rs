//! JSON Schema rules that Rust's types do not express: keys that occur together or exclude each other, and objects whose keys are data.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::maps::{BATCH_LABELS, BLOCK_LABELS, LATENCY_LABELS, LEVEL_LABELS};

/// Settings to generate schemas of documents as they are written.
pub(crate) fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().for_serialize()
}

/// The required keys of `T`, which is flattened into `schema`, occur all together or not at all; each other key of `T` requires them.
pub(crate) fn together<T: JsonSchema>(schema: &mut Schema) {
    let part = settings().into_generator().into_root_schema_for::<T>();
    let required = part.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let keys = part.get("properties").and_then(Value::as_object).map(Map::keys).into_iter().flatten();
    let rules =
        keys.map(|key| (key.clone(), required.iter().filter(|&other| other != key).cloned().collect()));
    let rules: Map<String, Value> = rules.collect();
    match schema.ensure_object().get_mut("dependentRequired").and_then(Value::as_object_mut) {
        Some(present) => present.extend(rules),
        None => drop(schema.insert("dependentRequired".to_owned(), Value::Object(rules))),
    }
}

/// An entry has either all directions, or one report for all of them, or both.
pub(super) fn directions_or_mixed(schema: &mut Schema) {
    let any = ["read", "write", "trim", "sync"].map(|key| json!({ "required": [key] }));
    let alternatives = json!([
        { "required": ["read", "write", "trim", "sync"] },
        { "required": ["mixed"], "not": { "anyOf": any } },
    ]);
    schema.insert("oneOf".to_owned(), alternatives);
}

/// A priority has one of the two latencies.
pub(super) fn clat_or_lat(schema: &mut Schema) {
    schema.insert("oneOf".to_owned(), json!([{ "required": ["clat_ns"] }, { "required": ["lat_ns"] }]));
}

/// The keys of single CPUs.
pub(super) fn idle_cpus(schema: &mut Schema) {
    let percent = json!({ "type": "number", "minimum": 0, "maximum": 100, "description": "Idleness of one CPU, percent." });
    schema.insert("patternProperties".to_owned(), json!({ "^cpu-[0-9]+$": percent }));
}

/// The schema of an object that has exactly these keys, each with its meaning, and values like `value`.
fn labelled<'a>(labels: &[&'a str], meanings: impl Fn(usize, &'a str) -> String, value: &Value) -> Schema {
    let property = |(at, &label): (usize, &&'a str)| {
        let mut property = value.clone();
        property["description"] = meanings(at, label).into();
        (label.to_owned(), property)
    };
    let properties: Map<String, Value> = labels.iter().enumerate().map(property).collect();
    json_schema!({ "type": "object", "properties": properties, "required": labels })
}

fn shares<'a>(labels: &[&'a str], meanings: impl Fn(usize, &'a str) -> String) -> Schema {
    labelled(labels, meanings, &json!({ "type": "number", "minimum": 0 }))
}

pub(super) fn depth_shares(_: &mut SchemaGenerator) -> Schema {
    const RANGES: [&str; 7] = ["1", "2 to 3", "4 to 7", "8 to 15", "16 to 31", "32 to 63", "64 or more"];
    shares(&LEVEL_LABELS, |at, _| format!("Percent of I/Os submitted at a depth of {}.", RANGES[at]))
}

pub(super) fn batch_shares(_: &mut SchemaGenerator) -> Schema {
    const RANGES: [&str; 7] = ["no", "1 to 4", "5 to 8", "9 to 16", "17 to 32", "33 to 64", "more than 64"];
    shares(&BATCH_LABELS, |at, _| format!("Percent of calls with {} I/Os.", RANGES[at]))
}

pub(super) fn ns_shares(_: &mut SchemaGenerator) -> Schema {
    latency_shares(&LATENCY_LABELS[..10], "ns")
}

pub(super) fn us_shares(_: &mut SchemaGenerator) -> Schema {
    latency_shares(&LATENCY_LABELS[..10], "µs")
}

pub(super) fn ms_shares(_: &mut SchemaGenerator) -> Schema {
    latency_shares(&LATENCY_LABELS, "ms")
}

fn latency_shares(labels: &[&'static str], unit: &str) -> Schema {
    shares(labels, |at, label| match label.strip_prefix(">=") {
        Some(bound) => format!("Percent of I/Os that took {bound} {unit} or more."),
        None if at == 0 => format!("Percent of I/Os that took less than {label} {unit}."),
        None => format!("Percent of I/Os that took {} to {label} {unit}.", labels[at - 1]),
    })
}

pub(super) fn block_states(_: &mut SchemaGenerator) -> Schema {
    const MEANINGS: [&str; 5] = [
        "Blocks that were not used.",
        "Blocks that were trimmed last.",
        "Blocks that were written last.",
        "Blocks whose trim failed.",
        "Blocks whose write failed.",
    ];
    let count = json!({ "type": "integer", "minimum": 0 });
    labelled(&BLOCK_LABELS, |at, _| MEANINGS[at].to_owned(), &count)
}

/// Values in ns by percentage.
pub(super) fn percentiles(_: &mut SchemaGenerator) -> Schema {
    let ns = json!({ "type": "integer", "minimum": 0 });
    json_schema!({ "type": "object", "patternProperties": { r"^[0-9]{1,3}\.[0-9]{6}$": ns } })
}

/// Options as they were written.
pub(super) fn options(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "minProperties": 1, "additionalProperties": { "type": "string" } })
}

/// Labels by name.
pub(super) fn labels(_: &mut SchemaGenerator) -> Schema {
    let text = json!({ "type": "string" });
    json_schema!({ "type": "object", "minProperties": 1, "patternProperties": { "^[A-Za-z_][A-Za-z0-9_]*$": text } })
}

pub(super) fn bins(_: &mut SchemaGenerator) -> Schema {
    let count = json!({ "type": "integer", "minimum": 1 });
    json_schema!({ "type": "object", "minProperties": 1, "patternProperties": { "^[0-9]+$": count } })
}
