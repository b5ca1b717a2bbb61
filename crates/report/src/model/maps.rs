//! Objects whose keys are data: options, shares by label, percentiles, buckets.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::num::{ParseFloatError, ParseIntError};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

/// An object whose keys are data, in order. As in fio, options may repeat a key; of percentiles with the same text, only the last is
/// written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs<K, V>(pub Vec<(K, V)>);

/// Percentages by label.
pub type LabelledShares = Pairs<String, f64>;

/// Percentiles in ascending order, as (percent, ns). Keys have the six decimals of all floats in documents.
pub type Percentiles = Pairs<f64, u64>;

/// Labels of queue depths.
pub(crate) const LEVEL_LABELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// Labels of numbers of I/Os per call.
pub(crate) const BATCH_LABELS: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
/// Labels of the states of blocks.
pub(crate) const BLOCK_LABELS: [&str; 5] =
    ["unwritten", "trimmed", "written", "trim failure", "write failure"];
/// Labels of latencies in ms; those in ns and µs end at 1000.
pub(crate) const LATENCY_LABELS: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];

impl<K, V> Pairs<K, V> {
    /// True if there are no pairs.
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

impl<K: PairKey + Serialize, V: Serialize> Serialize for Pairs<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_last =
            |at: usize, key: &K| !self.0[at + 1..].iter().any(|(other, _)| key.is_written_as(other));
        let pairs = self.0.iter().enumerate().filter(|(at, (key, _))| is_last(*at, key));
        serializer.collect_map(pairs.map(|(_, (key, value))| (key, value)))
    }
}

/// A key of an object, parsed from its text.
trait PairKey: Sized {
    /// Parses the key; the error is the reason why no document can have it.
    fn parse(text: &str) -> Result<Self, String>;

    /// True if a document must not have both keys, because their texts are the same.
    fn is_written_as(&self, _: &Self) -> bool {
        false
    }
}

impl PairKey for String {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl PairKey for u64 {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: ParseIntError| error.to_string())
    }
}

impl PairKey for f64 {
    fn parse(text: &str) -> Result<Self, String> {
        let number: f64 = text.parse().map_err(|error: ParseFloatError| error.to_string())?;
        if number.is_finite() { Ok(number) } else { Err("the number is not finite".to_owned()) }
    }

    fn is_written_as(&self, other: &Self) -> bool {
        format!("{self:.6}") == format!("{other:.6}")
    }
}

impl<'de, K: PairKey, V: Deserialize<'de>> Deserialize<'de> for Pairs<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor(PhantomData))
    }
}

/// Reads the pairs of an object, parsing keys from their text.
struct PairsVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: PairKey, V: Deserialize<'de>> Visitor<'de> for PairsVisitor<K, V> {
    type Value = Pairs<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some((key, value)) = map.next_entry::<Cow<'de, str>, V>()? {
            let key =
                K::parse(&key).map_err(|error| A::Error::custom(format_args!("key `{key}`: {error}")))?;
            pairs.push((key, value));
        }
        Ok(Pairs(pairs))
    }
}

/// Options in a document: an object, or a list of objects, which fio writes for several servers. Values may have any type.
#[derive(serde::Deserialize)]
#[serde(untagged, expecting = "options are neither an object nor a list of objects")]
enum WrittenOptions {
    Object(Pairs<String, Value>),
    List(Vec<Pairs<String, Value>>),
}

/// Reads options, concatenating those of several servers. Values that are not text are converted to text.
pub(super) fn read_options<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Pairs<String, String>, D::Error> {
    let objects = match WrittenOptions::deserialize(deserializer)? {
        WrittenOptions::Object(options) => vec![options],
        WrittenOptions::List(objects) => objects,
    };
    let text = |value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let options = objects.into_iter().flat_map(|Pairs(options)| options);
    Ok(Pairs(options.map(|(name, value)| (name, text(value))).collect()))
}
