//! A JSON document as it was written: order and repetitions of keys are kept, whole numbers and fractions are told apart.

use std::collections::HashMap;
use std::fmt;

use serde_json::de::Deserializer;

/// The value at one place of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Whole(i128),
    Fraction(f64),
    Text(String),
    Switch(bool),
    Nothing,
    /// An object or an array begins here.
    Object,
    Array(usize),
}

impl Value {
    /// The type alone.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Whole(_) => "integer",
            Value::Fraction(_) => "fraction",
            Value::Text(_) => "string",
            Value::Switch(_) => "boolean",
            Value::Nothing => "null",
            Value::Object => "object",
            Value::Array(_) => "array",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Whole(value) => write!(f, "{value}"),
            Value::Fraction(value) => write!(f, "{value:.6}"),
            Value::Text(value) => write!(f, "{value:?}"),
            Value::Switch(value) => write!(f, "{value}"),
            Value::Nothing => f.write_str("null"),
            Value::Object => f.write_str("{}"),
            Value::Array(length) => write!(f, "[{length}]"),
        }
    }
}

/// All places of a document in its order: paths as in `/jobs/0/read/clat_ns/N`, each with what stands there.
pub fn places(document: &str) -> Vec<(String, Value)> {
    let mut places = Vec::new();
    let mut reader = Deserializer::from_str(document);
    let read = serde::de::DeserializeSeed::deserialize(
        Place { path: String::new(), places: &mut places },
        &mut reader,
    );
    read.and_then(|()| reader.end()).unwrap_or_else(|error| panic!("no JSON: {error}\n{document}"));
    places
}

/// The places with each path once, where it comes first and with its last value, which is what readers of the document see.
pub fn without_repetitions(places: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let mut last: HashMap<String, Value> = places.iter().cloned().collect();
    places.into_iter().filter_map(|(path, _)| last.remove_entry(&path)).collect()
}

/// Reads what stands at one path, and all below.
struct Place<'a> {
    path: String,
    places: &'a mut Vec<(String, Value)>,
}

impl Place<'_> {
    fn is<E>(self, value: Value) -> Result<(), E> {
        self.places.push((self.path, value));
        Ok(())
    }
}

impl<'de> serde::de::DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> serde::de::Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.is(Value::Whole(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.is(Value::Whole(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.is(Value::Fraction(value))
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.is(Value::Switch(value))
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.is(Value::Nothing)
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.is(Value::Text(value.to_owned()))
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.places.push((self.path.clone(), Value::Object));
        while let Some(key) = map.next_key::<String>()? {
            map.next_value_seed(Place { path: format!("{}/{key}", self.path), places: self.places })?;
        }
        Ok(())
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let at = self.places.len();
        self.places.push((self.path.clone(), Value::Array(0)));
        let mut length = 0;
        while elements
            .next_element_seed(Place { path: format!("{}/{length}", self.path), places: self.places })?
            .is_some()
        {
            length += 1;
        }
        self.places[at].1 = Value::Array(length);
        Ok(())
    }
}
