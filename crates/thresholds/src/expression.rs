//! Parses `mail: read.clat.p99 > 5ms` into a threshold.

use std::fmt;

use ferrio_jobfile::{nearest, size_factor, time_factor};
use ferrio_report::Unit;

use crate::figures::{DIRECTION_FIGURES, IoKind, JOB_FIGURES, LATENCIES, LatencyFigure, LimitedFigure};

/// A figure, a comparison and a limit: the run fails if the comparison holds.
#[derive(Clone)]
pub struct Threshold {
    /// The expression as given.
    pub(crate) text: String,
    /// The name of the jobs that it applies to; `None` for all.
    pub(crate) job: Option<String>,
    /// The figure as given.
    pub(crate) field: String,
    pub(crate) figure: LimitedFigure,
    /// The comparison that makes the run fail.
    pub(crate) comparison: Comparator,
    /// In the unit of the figure.
    pub(crate) limit: f64,
}

/// A comparison between a figure and a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparator {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Comparator {
    /// Whether the figure exceeds the limit in this direction.
    #[must_use]
    pub(crate) fn holds(self, figure: f64, limit: f64) -> bool {
        match self {
            Comparator::Above => figure > limit,
            Comparator::AtLeast => figure >= limit,
            Comparator::Below => figure < limit,
            Comparator::AtMost => figure <= limit,
        }
    }

    /// Whether larger figures are worse.
    pub(crate) const fn limits_from_above(self) -> bool {
        matches!(self, Comparator::Above | Comparator::AtLeast)
    }
}

/// A syntax error in an expression, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// The mistake.
    pub message: String,
    /// Characters before the mistake.
    pub start: usize,
    /// Characters of the mistake; 0 at the end.
    pub length: usize,
    /// The permitted forms.
    pub help: String,
    /// A replacement, where one word is likely to be meant.
    pub suggestion: Option<String>,
}

/// The form of an expression, for help texts.
const FORM: &str = "an expression is `[JOB:] FIGURE SIGN LIMIT`, for example `read.clat.p99 > 5ms` or `mail: write.iops < 10k`; \
                    the signs are >, >=, < and <=";

/// A part of an expression, as a byte range.
#[derive(Clone, Copy)]
struct ExpressionPart<'a> {
    whole: &'a str,
    from: usize,
    to: usize,
}

impl<'a> ExpressionPart<'a> {
    /// The part between two bytes, without surrounding blanks.
    fn new(whole: &'a str, from: usize, to: usize) -> Self {
        let text = &whole[from..to];
        let from = from + text.len() - text.trim_start().len();
        ExpressionPart { whole, from, to: from + text.trim().len() }
    }

    fn text(self) -> &'a str {
        &self.whole[self.from..self.to]
    }

    /// The parts before and after the first `sign`.
    fn split(self, sign: char) -> (ExpressionPart<'a>, Option<ExpressionPart<'a>>) {
        match self.text().find(sign) {
            Some(at) => (
                ExpressionPart { to: self.from + at, ..self },
                Some(ExpressionPart { from: self.from + at + sign.len_utf8(), ..self }),
            ),
            None => (self, None),
        }
    }

    fn error(self, message: impl Into<String>, help: impl Into<String>) -> ExpressionError {
        ExpressionError {
            message: message.into(),
            start: self.whole[..self.from].chars().count(),
            length: self.text().chars().count(),
            help: help.into(),
            suggestion: None,
        }
    }

    /// The error for a word that is none of these.
    fn unknown(self, what: &str, words: &[&str]) -> ExpressionError {
        let text = self.text();
        let lower = text.to_ascii_lowercase();
        let near = nearest(text, words.iter().copied())
            .or_else(|| words.iter().copied().find(|word| word.eq_ignore_ascii_case(&lower)));
        let message = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if text.is_empty() => format!("{what} is expected"),
            None => format!("not {what}"),
        };
        let error = self.error(message, format!("choices are {}", words.join(", ")));
        ExpressionError { suggestion: near.map(str::to_owned), ..error }
    }
}

impl Threshold {
    /// Reads an expression.
    ///
    /// # Errors
    /// The expression has another form, or a figure or unit does not exist.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let whole = ExpressionPart::new(text, 0, text.len());
        // Names of jobs may contain these signs, limits do not.
        let Some(at) = text.rfind(['<', '>']) else { return Err(whole.error("no comparison", FORM)) };
        let with_equals = text[at + 1..].starts_with('=');
        let comparison = match (&text[at..=at], with_equals) {
            (">", false) => Comparator::Above,
            (">", true) => Comparator::AtLeast,
            (_, false) => Comparator::Below,
            (_, true) => Comparator::AtMost,
        };
        let left = ExpressionPart::new(text, 0, at);
        let (job, field) = match left.text().rfind(':') {
            Some(colon) => {
                let job = ExpressionPart::new(text, left.from, left.from + colon);
                if job.text().is_empty() {
                    return Err(left.error("the name of a job is expected before the colon", FORM));
                }
                (Some(job.text().to_owned()), ExpressionPart::new(text, left.from + colon + 1, left.to))
            }
            None => (None, left),
        };
        let figure = figure(field)?;
        let value = ExpressionPart::new(text, at + 1 + usize::from(with_equals), text.len());
        Ok(Threshold {
            text: whole.text().to_owned(),
            job,
            field: field.text().to_owned(),
            limit: limit(value, figure.unit())?,
            figure,
            comparison,
        })
    }

    /// The expression as given.
    #[must_use]
    pub fn expression(&self) -> &str {
        &self.text
    }

    /// The percentile that must be in the report, in percent.
    #[must_use]
    pub const fn percentile(&self) -> Option<f64> {
        self.figure.percentile()
    }

    /// Whether the threshold applies to jobs of this name.
    pub(crate) fn names(&self, job: &str) -> bool {
        self.job.as_deref().is_none_or(|name| name == job)
    }
}

impl fmt::Debug for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Threshold").field(&self.text).finish()
    }
}

impl PartialEq for Threshold {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Threshold {}

fn figure(field: ExpressionPart<'_>) -> Result<LimitedFigure, ExpressionError> {
    let (first, rest) = field.split('.');
    let Some((_, io)) = IoKind::ALL.into_iter().find(|(word, _)| *word == first.text()) else {
        let Some(row) = JOB_FIGURES.iter().find(|row| row.name == first.text()) else {
            let words =
                IoKind::ALL.into_iter().map(|(word, _)| word).chain(JOB_FIGURES.iter().map(|row| row.name));
            return Err(first.unknown("a figure", &words.collect::<Vec<_>>()));
        };
        return match rest {
            Some(rest) => Err(rest.error(format!("`{}` has no parts", row.name), FORM)),
            None => Ok(LimitedFigure::Job(row)),
        };
    };
    let end = ExpressionPart { from: field.to, ..field };
    let Some(rest) = rest else {
        let help = format!(
            "for example `{}.{}`",
            io.word(),
            if io == IoKind::Sync { "lat.p99" } else { "clat.p99" }
        );
        return Err(end.error(format!("a figure of `{}` is expected", io.word()), help));
    };
    let (name, rest) = rest.split('.');
    let latency = LATENCIES.iter().find(|row| [row.name, row.key].contains(&name.text()));
    let latency = latency.filter(|row| io != IoKind::Sync || row.name == "lat");
    if let Some(row) = latency {
        let Some(rest) = rest else {
            return Err(end.error(format!("a figure of `{}` is expected", row.name), LATENCY_HELP));
        };
        let of = latency_figure(rest)?;
        return Ok(if io == IoKind::Sync {
            LimitedFigure::SyncLatency(of)
        } else {
            LimitedFigure::Latency(io, row, of)
        });
    }
    let found = match io {
        IoKind::Sync => (name.text() == "total_ios").then_some(LimitedFigure::Syncs),
        io => {
            let row = DIRECTION_FIGURES.iter().find(|row| row.name == name.text());
            row.map(|row| LimitedFigure::Direction(io, row))
        }
    };
    match (found, rest) {
        (Some(_), Some(rest)) => Err(rest.error(format!("`{}` has no parts", name.text()), FORM)),
        (Some(figure), None) => Ok(figure),
        (None, _) if io == IoKind::Sync => Err(name.unknown("a figure of syncs", &["lat", "total_ios"])),
        (None, _) => {
            let words =
                LATENCIES.iter().map(|row| row.name).chain(DIRECTION_FIGURES.iter().map(|row| row.name));
            Err(name.unknown("a figure of a direction", &words.collect::<Vec<_>>()))
        }
    }
}

const LATENCY_HELP: &str = "choices are min, max, mean, stddev, N and percentiles such as p50, p99 or p99.9";

fn latency_figure(part: ExpressionPart<'_>) -> Result<LatencyFigure, ExpressionError> {
    let text = part.text();
    if let Some((_, figure)) = LatencyFigure::WORDS.into_iter().find(|(word, _)| *word == text) {
        return Ok(figure);
    }
    if let Some(number) = text.strip_prefix("percentile.").or_else(|| text.strip_prefix('p')) {
        let is_number = number.starts_with(|sign: char| sign.is_ascii_digit())
            && number.chars().all(|sign| sign.is_ascii_digit() || sign == '.');
        return match number.parse::<f64>() {
            Ok(percent) if is_number && percent > 0.0 && percent <= 100.0 => {
                Ok(LatencyFigure::Percentile(percent))
            }
            _ => Err(part.error("a percentile is above 0 and at most 100", LATENCY_HELP)),
        };
    }
    let error =
        part.unknown("a figure of a latency", &["min", "max", "mean", "stddev", "N", "p50", "p99", "p99.9"]);
    Err(ExpressionError { help: LATENCY_HELP.to_owned(), ..error })
}

/// Parses the limit into the unit of the figure.
fn limit(part: ExpressionPart<'_>, unit: Unit) -> Result<f64, ExpressionError> {
    let (help, is_time) = match unit {
        Unit::Nanoseconds | Unit::Milliseconds => ("units are ns, us, ms, s, m, h and d: 5ms", true),
        Unit::BytesPerSecond => ("in bytes per second; suffixes are k (1024), m, g, t and p: 200m", false),
        Unit::Bytes => ("in bytes; suffixes are k (1024), m, g, t and p: 200m", false),
        Unit::PerSecond | Unit::Count => ("suffixes are k (1000), m, g, t and p: 10k", false),
        Unit::Percent => ("in percent: 50 or 50%", false),
    };
    let text = part.text();
    let digits = text.find(|sign: char| !(sign.is_ascii_digit() || sign == '.')).unwrap_or(text.len());
    let number =
        text[..digits].parse::<f64>().ok().filter(|_| text.starts_with(|sign: char| sign.is_ascii_digit()));
    let Some(number) = number else {
        let message = if text.is_empty() { "a limit is expected" } else { "the limit is not a number" };
        return Err(part.error(message, help));
    };
    let written = ExpressionPart { from: part.from + digits, ..part };
    let suffix = text[digits..].to_ascii_lowercase();
    if is_time && suffix.is_empty() {
        return Err(part.error("give a unit", help));
    }
    let factor = match unit {
        Unit::Nanoseconds => time_ns(&suffix),
        Unit::Milliseconds => time_ns(&suffix).map(|ns| ns / 1e6),
        Unit::Percent => ["", "%"].contains(&suffix.as_str()).then_some(1.0),
        _ if suffix.is_empty() => Some(1.0),
        Unit::Bytes | Unit::BytesPerSecond if suffix == "b" => Some(1.0),
        Unit::Bytes | Unit::BytesPerSecond => size_factor(&suffix, 1024).map(|factor| factor as f64),
        // As reports print them.
        Unit::PerSecond | Unit::Count if suffix.len() == 1 => {
            size_factor(&suffix, 1000).map(|factor| factor as f64)
        }
        Unit::PerSecond | Unit::Count => None,
    };
    let factor = factor.ok_or_else(|| written.error("not a unit here", help))?;
    let limit = number * factor;
    if limit.is_finite() { Ok(limit) } else { Err(part.error("the limit is too large", help)) }
}

/// Nanoseconds of a lower-case suffix.
fn time_ns(suffix: &str) -> Option<f64> {
    if suffix == "ns" { Some(1.0) } else { time_factor(suffix).map(|us| us as f64 * 1e3) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limit_of(text: &str) -> (f64, Unit) {
        let threshold = Threshold::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        (threshold.limit, threshold.figure.unit())
    }

    fn wrong(text: &str) -> (String, String) {
        let error = Threshold::parse(text).unwrap_err();
        let place: String = text.chars().skip(error.start).take(error.length).collect();
        assert!(!error.help.is_empty(), "{text}");
        (place, error.message)
    }

    #[test]
    fn limits_have_the_units_of_their_figures() {
        for (text, limit, unit) in [
            ("read.clat.p99 > 5ms", 5e6, Unit::Nanoseconds),
            ("read.clat_ns.percentile.99.000000>1.5us", 1500.0, Unit::Nanoseconds),
            ("sync.lat.p99.9 >= 20ms", 2e7, Unit::Nanoseconds),
            ("trim.slat.N < 1k", 1000.0, Unit::Count),
            ("write.iops < 10k", 10_000.0, Unit::PerSecond),
            ("read.bw <= 200m", 200.0 * 1_048_576.0, Unit::BytesPerSecond),
            ("mixed.runtime < 2s", 2000.0, Unit::Milliseconds),
            ("error > 0", 0.0, Unit::Count),
            ("usr_cpu > 50%", 50.0, Unit::Percent),
        ] {
            assert_eq!(limit_of(text), (limit, unit), "{text}");
        }
    }

    #[test]
    fn a_limit_is_finite() {
        let text = format!("read.iops < {}", "9".repeat(400));
        assert_eq!(Threshold::parse(&text).unwrap_err().message, "the limit is too large");
    }

    #[test]
    fn a_job_is_named_before_the_last_colon() {
        let job = |text: &str| Threshold::parse(text).unwrap().job;
        assert_eq!(job("mail: read.iops < 1"), Some("mail".to_owned()));
        assert_eq!(job("a:b > c : read.iops < 1"), Some("a:b > c".to_owned()));
        assert_eq!(job("read.iops<1"), None);
    }

    #[test]
    fn mistakes_have_their_place_and_what_was_meant() {
        for (text, place, message) in [
            ("", "", "no comparison"),
            ("read.iops", "read.iops", "no comparison"),
            ("reed.iops < 1", "reed", "did you mean `read`?"),
            ("read.Clat.p99 > 1ms", "Clat", "did you mean `clat`?"),
            ("job: read.clat.p99 > 5", "5", "give a unit"),
            ("read.clat.p99 > 5kb", "kb", "not a unit here"),
            ("read.clat.p101 > 5ms", "p101", "a percentile is above 0 and at most 100"),
            ("read.clat.maen > 5ms", "maen", "did you mean `mean`?"),
            ("read.clat > 5ms", "", "a figure of `clat` is expected"),
            ("read > 5ms", "", "a figure of `read` is expected"),
            ("sync.iops > 5", "iops", "not a figure of syncs"),
            ("read.iops.mean > 5", "mean", "`iops` has no parts"),
            ("error.x > 5", "x", "`error` has no parts"),
            ("read.iops > ", "", "a limit is expected"),
            ("read.iops > fast", "fast", "the limit is not a number"),
            ("read.iops == 5", "read.iops == 5", "no comparison"),
            ("error => 5", "error =", "did you mean `error`?"),
            (": read.iops > 5", ": read.iops", "the name of a job is expected before the colon"),
            ("> 5", "", "a figure is expected"),
        ] {
            assert_eq!(wrong(text), (place.to_owned(), message.to_owned()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,40}") {
            let _ = Threshold::parse(&text);
        }

        #[test]
        fn no_text_like_an_expression_makes_it_panic(text in "[a-z:é ]{0,3}(read|sync|error)[.:]?(clat|lat|iops)?[.]?p?[0-9.é]{0,4} ?[<>=]{0,2} ?[0-9.]{0,5}[kmés%]{0,2}") {
            if let Err(error) = Threshold::parse(&text) {
                prop_assert!(error.start + error.length <= text.chars().count());
            }
        }
    }
}
