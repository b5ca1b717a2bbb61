//! The JSON Schemas of the documents that ferrio writes, generated from the types that serialize to them.

use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::interval::{HostIntervalLine, IntervalLine};
use crate::model::{RunReport, settings};

/// The schema of the JSON report: docs/report.schema.json.
#[must_use]
pub fn report_schema() -> Value {
    schema_of::<RunReport>()
}

/// The schema of a line of the interval report: docs/interval_report.schema.json.
#[must_use]
pub fn interval_report_schema() -> Value {
    schema_of::<IntervalLine<'static>>()
}

/// The schema of a line of the interval report of a run on many hosts: docs/hosts_interval_report.schema.json.
#[must_use]
pub fn hosts_interval_report_schema() -> Value {
    schema_of::<HostIntervalLine<'static>>()
}

/// The schema of a document of another crate.
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = settings().into_generator().into_root_schema_for::<T>();
    RecursiveTransform(tighten).transform(&mut schema);
    // Keys that identify the schema come first.
    let mut keys = schema.as_object().cloned().unwrap_or_default();
    let mut ordered = Map::new();
    for key in ["$schema", "$id", "title", "description"] {
        ordered.extend(keys.shift_remove(key).map(|value| (key.to_owned(), value)));
    }
    ordered.extend(keys);
    Value::Object(ordered)
}

/// Forbids what the derived schema allows but documents never have: keys without a description, and `null`. Removes formats and defaults,
/// which are Rust's and mean nothing to readers of documents.
fn tighten(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("format");
    object.remove("default");
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    let has_keys = object.contains_key("properties") || object.contains_key("patternProperties");
    if has_keys
        && object.get("type").is_some_and(|kind| kind == "object")
        && !object.contains_key("additionalProperties")
    {
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if let Some(Value::Array(types)) = object.get("type")
        && let Some(only) = types.iter().find(|&kind| kind != "null").cloned()
    {
        object.insert("type".to_owned(), only);
    }
    if let Some(Value::Array(choices)) = object.get("anyOf")
        && let [Value::Object(only), Value::Object(null)] = choices.as_slice()
        && null.get("type").is_some_and(|kind| kind == "null")
    {
        let only = only.clone();
        object.remove("anyOf");
        object.extend(only);
    }
}
