//! Figures of documents that add up, whatever their keys: counts and rates of runs at the same time.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

/// The sum of figures key by key. Keys that some lack are left out; what is no number stays if all have the same. `None` without figures, or
/// if what remains is too little.
pub(super) fn sum_of<T: Serialize + DeserializeOwned>(figures: &[&T]) -> Option<T> {
    let values = figures.iter().map(|figures| serde_json::to_value(figures).ok());
    let sum = values.reduce(|sum, next| sum_of_values(sum?, next?))??;
    serde_json::from_value(sum).ok()
}

/// `None` for two that have nothing in common.
fn sum_of_values(one: Value, other: Value) -> Option<Value> {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => Some(Value::Number(sum_of_numbers(&one, &other)?)),
        (Value::Object(one), Value::Object(mut other)) => {
            let both = |(key, value): (String, Value)| {
                let sum = sum_of_values(value, other.remove(&key)?)?;
                Some((key, sum))
            };
            Some(Value::Object(one.into_iter().filter_map(both).collect::<Map<_, _>>()))
        }
        (one, other) => (one == other).then_some(one),
    }
}

fn sum_of_numbers(one: &Number, other: &Number) -> Option<Number> {
    match (one.as_u64(), other.as_u64()) {
        (Some(one), Some(other)) => Some(one.saturating_add(other).into()),
        _ => Number::from_f64(one.as_f64()? + other.as_f64()?),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_add_up_and_what_some_lack_is_left_out() {
        let one = json!({"queries": {"read": 10, "per_second": 0.5, "old": 1}, "engine": "innodb", "driver": "mysql"});
        let other =
            json!({"queries": {"read": 4, "per_second": 1.25}, "engine": "innodb", "driver": "pgsql"});
        let sum = json!({"queries": {"read": 14, "per_second": 1.75}, "engine": "innodb"});
        assert_eq!(sum_of(&[&one, &other]), Some(sum));
        assert_eq!(sum_of(&[&one]), Some(one));
        assert_eq!(sum_of::<Value>(&[]), None);
        assert_eq!(sum_of(&[&json!(u64::MAX), &json!(1)]), Some(json!(u64::MAX)));
    }
}
