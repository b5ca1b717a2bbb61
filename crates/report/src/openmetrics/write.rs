//! The lines of an exposition: what says a family is, samples, labels and numbers.

use std::fmt::Write;

use super::family::{Family, Labels, MetricType, MetricValue, Point, Summary};

/// Families one after the other, each with all that it says of all `things`; one that says nothing is left out.
pub fn write<T>(out: &mut String, families: &[Family<T>], things: &[(Labels, &T)]) {
    for family in families {
        let mut announced = false;
        for (labels, thing) in things {
            for point in (family.points)(thing) {
                if !announced {
                    announce(out, family);
                    announced = true;
                }
                metric(out, family, labels, &point);
            }
        }
    }
}

fn announce<T>(out: &mut String, family: &Family<T>) {
    let kind = match family.kind {
        MetricType::Counter => "counter",
        MetricType::Gauge => "gauge",
        MetricType::Summary => "summary",
    };
    // Writing to memory cannot fail, here and below.
    let _ = writeln!(out, "# TYPE {} {kind}", family.name);
    if !family.unit.is_empty() {
        let _ = writeln!(out, "# UNIT {} {}", family.name, family.unit);
    }
    let _ = writeln!(out, "# HELP {} {}", family.name, family.help);
}

fn metric<T>(out: &mut String, family: &Family<T>, of_thing: &Labels, point: &Point) {
    let labels: Vec<(&str, &str)> =
        of_thing.iter().chain(&point.labels).map(|(name, value)| (*name, value.as_str())).collect();
    let suffix = if family.kind == MetricType::Counter { "_total" } else { "" };
    match &point.value {
        MetricValue::Whole(value) => sample(out, family.name, suffix, &labels, &value.to_string()),
        MetricValue::Real(value) => sample(out, family.name, suffix, &labels, &number(*value)),
        MetricValue::Summary(Summary { quantiles, sum, count }) => {
            for &(share, value) in quantiles {
                let share = quantile(share);
                let labels = [&labels[..], &[("quantile", share.as_str())]].concat();
                sample(out, family.name, "", &labels, &number(value));
            }
            sample(out, family.name, "_sum", &labels, &number(*sum));
            sample(out, family.name, "_count", &labels, &count.to_string());
        }
    }
}

fn sample(out: &mut String, name: &str, suffix: &str, labels: &[(&str, &str)], value: &str) {
    let _ = write!(out, "{name}{suffix}");
    for (at, (label, text)) in labels.iter().enumerate() {
        let _ = write!(out, "{}{label}=\"{}\"", if at == 0 { '{' } else { ',' }, escaped(text));
    }
    let _ = writeln!(out, "{} {value}", if labels.is_empty() { "" } else { "}" });
}

/// What may stand between the quotes of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The shortest decimal that reads back as the same number; numbers of the report are finite.
fn number(value: f64) -> String {
    format!("{value}")
}

/// A quantile as the standard writes such numbers.
fn quantile(share: f64) -> String {
    let rounded = format!("{share:.10}");
    let rounded = rounded.trim_end_matches('0');
    match rounded.strip_suffix('.') {
        Some(whole) => format!("{whole}.0"),
        None if share < 1e-4 => small(rounded),
        None => rounded.to_owned(),
    }
}

/// A decimal below 0.0001 with an exponent of two digits.
fn small(decimal: &str) -> String {
    let scientific = format!("{:e}", decimal.parse::<f64>().unwrap_or_default());
    match scientific.split_once("e-") {
        Some((digits, exponent)) => format!("{digits}e-{exponent:0>2}"),
        None => scientific,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_what_would_end_them() {
        assert_eq!(escaped("a\\b \"c\"\nd\té"), "a\\\\b \\\"c\\\"\\nd\té");
    }

    #[test]
    fn quantiles_are_written_as_the_standard_writes_them() {
        let shares = [0.0, 1.0, 0.5, 0.99, 99.95 / 100.0, 99.999_999 / 100.0, 0.0001, 0.00001, 0.000_025];
        let texts: Vec<String> = shares.into_iter().map(quantile).collect();
        assert_eq!(
            texts,
            ["0.0", "1.0", "0.5", "0.99", "0.9995", "0.99999999", "0.0001", "1e-05", "2.5e-05"]
        );
    }

    #[test]
    fn numbers_read_back_as_the_same() {
        assert_eq!(
            [number(249e-9), number(0.0), number(1e21), number(1.5)],
            ["0.000000249", "0", "1000000000000000000000", "1.5"]
        );
    }
}
