//! Objects whose keys are data: options, shares by label, percentiles, buckets.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

/// An object whose keys are data: kept in order, repetitions included.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs<K, V>(pub Vec<(K, V)>);

/// Percentages by label.
pub type LabelledShares = Pairs<String, f64>;

/// Labels of queue depths.
pub(crate) const LEVEL_LABELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// Labels of numbers of I/Os per call.
pub(crate) const BATCH_LABELS: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
/// Labels of what became of blocks.
pub(crate) const BLOCK_LABELS: [&str; 5] =
    ["unwritten", "trimmed", "written", "trim failure", "write failure"];
/// Labels of latencies in ms; those in ns and µs end with 1000.
pub(crate) const LATENCY_LABELS: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];

impl<K, V> Pairs<K, V> {
    /// True without any pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K, V> Default for Pairs<K, V> {
    fn default() -> Self {
        Pairs(Vec::new())
    }
}

impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, K: FromStr<Err: Display>, V: Deserialize<'de>> Deserialize<'de> for Pairs<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor(PhantomData)).map(Pairs)
    }
}

/// Percentiles in ascending order, as (percent, ns).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Percentiles(pub Vec<(f64, u64)>);

impl Percentiles {
    /// True without any percentile.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Percentiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (percent, ns) in &self.0 {
            map.serialize_entry(&format_args!("{percent:.6}"), ns)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Percentiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor(PhantomData)).map(Percentiles)
    }
}

/// Reads the pairs of an object; keys are parsed from their text.
struct PairsVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: FromStr<Err: Display>, V: Deserialize<'de>> Visitor<'de> for PairsVisitor<K, V> {
    type Value = Vec<(K, V)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some((key, value)) = map.next_entry::<Cow<'de, str>, V>()? {
            let key = key.parse().map_err(|error| A::Error::custom(format_args!("key `{key}`: {error}")))?;
            pairs.push((key, value));
        }
        Ok(pairs)
    }
}

/// Reads options: an object, or the list of objects that fio writes for several servers, whose options then follow each other. Values
/// that are not text become text.
pub(super) fn read_options<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Pairs<String, String>, D::Error> {
    deserializer.deserialize_any(OptionsVisitor)
}

struct OptionsVisitor;

impl<'de> Visitor<'de> for OptionsVisitor {
    type Value = Pairs<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of options or a list of such objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let options: Vec<(String, OptionText)> = PairsVisitor(PhantomData).visit_map(map)?;
        Ok(Pairs(options.into_iter().map(|(name, OptionText(value))| (name, value)).collect()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Pairs(options)) = list.next_element::<Pairs<String, OptionText>>()? {
            all.extend(options.into_iter().map(|(name, OptionText(value))| (name, value)));
        }
        Ok(Pairs(all))
    }
}

/// The value of an option as text, whatever type the document gives it.
struct OptionText(String);

impl<'de> Deserialize<'de> for OptionText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(OptionText(match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            other => other.to_string(),
        }))
    }
}

impl<V: JsonSchema> JsonSchema for Pairs<String, V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Pairs of {}", V::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "minProperties": 1,
            "additionalProperties": generator.subschema_for::<V>(),
        })
    }
}

impl JsonSchema for Percentiles {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Percentiles".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "patternProperties": { r"^[0-9]{1,3}\.[0-9]{6}$": generator.subschema_for::<u64>() },
        })
    }
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

pub(super) fn bins(_: &mut SchemaGenerator) -> Schema {
    let count = json!({ "type": "integer", "minimum": 1 });
    json_schema!({ "type": "object", "minProperties": 1, "patternProperties": { "^[0-9]+$": count } })
}
