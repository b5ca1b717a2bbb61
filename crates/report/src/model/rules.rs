//! Rules of the JSON Schema that Rust's types do not express: keys that come together or exclude each other.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// How a schema is generated from a type: for documents as they are written.
pub(crate) fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().for_serialize()
}

/// The required keys of `T`, which is flattened into `schema`, come all together or not at all; each other key of `T` needs them.
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

/// The `ferrio` object is optional in the tree, for documents of fio; those of ferrio have it.
pub(super) fn ferrio_is_required(schema: &mut Schema) {
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.push("ferrio".into());
    }
}

/// An entry has all directions, or one report on them all, or both.
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

/// Keys of single CPUs.
pub(super) fn idle_cpus(schema: &mut Schema) {
    let percent = json!({ "type": "number", "minimum": 0, "maximum": 100, "description": "Idleness of one CPU, percent." });
    schema.insert("patternProperties".to_owned(), json!({ "^cpu-[0-9]+$": percent }));
}
