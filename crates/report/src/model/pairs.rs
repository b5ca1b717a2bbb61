//! Objects whose keys are data: options, shares by label, percentiles.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// An object whose keys are data: kept in order, repetitions included.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs<K, V>(pub Vec<(K, V)>);

/// Percentages by label.
pub type Shares = Pairs<&'static str, f64>;

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
