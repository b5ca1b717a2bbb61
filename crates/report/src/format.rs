//! The report formats as a table: their words, their writers, and which of them can be combined.

use crate::benchmarks::{to_bencher, to_github_bigger, to_github_smaller};
use crate::model::RunReport;
use crate::openmetrics::to_openmetrics;
use crate::rows::rows;
use crate::terse::{TerseLayout, to_terse};

/// A format with its properties.
struct FormatRow {
    format: Format,
    word: &'static str,
    write: fn(&RunReport, TerseLayout) -> String,
    /// fio's other words for the format.
    aliases: &'static [&'static str],
    /// A format whose contents this one includes, so that both are not written together.
    includes: Option<Format>,
    /// True if the format has histogram buckets and figures over time.
    has_details: bool,
    /// The reason why nothing may follow the format in a stream, neither another format nor another report.
    stands_alone: Option<&'static str>,
    /// True if a program called `fio` does not know the format.
    only_ferrio: bool,
    /// True if the format can be written from a JSON document that was read back.
    is_made_from_documents: bool,
    /// True if the format has its own escapes for DEL and the control characters above ASCII.
    has_escapes: bool,
}

/// The reason why nothing may follow a JSON document.
const ONE_DOCUMENT: &str = "its readers expect one document";

/// Defines the enum of formats and the table of their properties. A line has the variant, its word, the function that writes it, and its
/// other properties.
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident: $word:literal, $write:expr $(, $property:ident: $value:expr)*;)+) => {
        /// A format of the report (`--output-format`), in listing order; a stream has them in reverse order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Format {
            $($(#[$doc])* $format,)+
        }

        const FORMATS: &[FormatRow] = &[
            $(FormatRow { $($property: $value,)* ..FormatRow::new(Format::$format, $word, $write) },)+
        ];

        impl Format {
            /// The words of all formats, without fio's aliases.
            pub const WORDS: [&str; FORMATS.len()] = [$($word),+];
        }
    };
}

formats! {
    /// The text for people.
    Normal: "normal", |report, _| report.to_text();
    /// The JSON document.
    Json: "json", |report, _| report.to_json(), has_escapes: true;
    /// The JSON document with histogram buckets.
    JsonPlus: "json+", |report, _| report.to_json(), includes: Some(Format::Json), has_details: true, has_escapes: true;
    /// Lines of fields between semicolons.
    Terse: "terse", to_terse, aliases: &["minimal", "csv"];
    /// One OpenMetrics text.
    OpenMetrics: "openmetrics", |report, _| to_openmetrics(report), stands_alone: Some("nothing may follow its last line, `# EOF`"), has_escapes: true;
    /// One page of HTML.
    Html: "html", |report, _| report.to_html(), has_details: true, stands_alone: Some("a page is a whole file"), only_ferrio: true, is_made_from_documents: true, has_escapes: true;
    /// A flat table of comma-separated values.
    Rows: "rows", |report, _| rows(&[report]), stands_alone: Some("the names of its columns begin a file"), only_ferrio: true, is_made_from_documents: true;
    /// The Bencher Metric Format.
    Bencher: "bencher", |report, _| to_bencher(report), stands_alone: Some(ONE_DOCUMENT), only_ferrio: true, is_made_from_documents: true, has_escapes: true;
    /// Rates, for github-action-benchmark.
    GithubBigger: "github-bigger", |report, _| to_github_bigger(report), stands_alone: Some(ONE_DOCUMENT), only_ferrio: true, is_made_from_documents: true, has_escapes: true;
    /// Latencies, for github-action-benchmark.
    GithubSmaller: "github-smaller", |report, _| to_github_smaller(report), stands_alone: Some(ONE_DOCUMENT), only_ferrio: true, is_made_from_documents: true, has_escapes: true;
}

impl FormatRow {
    const fn new(format: Format, word: &'static str, write: fn(&RunReport, TerseLayout) -> String) -> Self {
        FormatRow {
            format,
            word,
            write,
            aliases: &[],
            includes: None,
            has_details: false,
            stands_alone: None,
            only_ferrio: false,
            is_made_from_documents: false,
            has_escapes: false,
        }
    }
}

impl Format {
    /// The help of `--output-format`.
    pub const HELP: &str = "Formats of the report, separated by commas: normal, json, json+, terse; or one of openmetrics, html, rows, bencher, github-bigger, github-smaller. FORMAT:FILE writes a format to a file of its own, as in normal,json:a.json,html:a.html";

    /// The word in `--output-format`.
    #[must_use]
    pub fn word(self) -> &'static str {
        FORMATS[self as usize].word
    }

    /// True if the format can also be written from a JSON document of a run.
    #[must_use]
    pub fn is_made_from_documents(self) -> bool {
        FORMATS[self as usize].is_made_from_documents
    }

    /// The format of a word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        FORMATS.iter().find(|row| row.word == word || row.aliases.contains(&word)).map(|row| row.format)
    }
}

/// A set of report formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formats([bool; FORMATS.len()]);

impl Formats {
    /// No format.
    pub const NONE: Formats = Formats([false; FORMATS.len()]);

    /// A set of one format.
    #[must_use]
    pub const fn only(format: Format) -> Self {
        Formats::NONE.with(format)
    }

    /// Adds a format.
    #[must_use]
    pub const fn with(mut self, format: Format) -> Self {
        self.0[format as usize] = true;
        self
    }

    /// True if the set is empty.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.chosen().next().is_none()
    }

    /// The union of two sets.
    #[must_use]
    pub fn and(mut self, other: Formats) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(has, also)| *has |= also);
        self
    }

    /// True if the set has this format, or one that includes it.
    #[must_use]
    pub fn has(&self, format: Format) -> bool {
        self.0[format as usize] || self.chosen().any(|row| row.includes == Some(format))
    }

    /// True if any format has histogram buckets and figures over time.
    #[must_use]
    pub fn have_details(&self) -> bool {
        self.chosen().any(|row| row.has_details)
    }

    /// True if any format has its own escapes for DEL and the control characters above ASCII.
    #[must_use]
    pub fn have_escapes(&self) -> bool {
        self.chosen().any(|row| row.has_escapes)
    }

    /// The word of the first format that a program called `fio` does not know.
    #[must_use]
    pub fn only_of_ferrio(&self) -> Option<&'static str> {
        self.chosen().find(|row| row.only_ferrio).map(|row| row.word)
    }

    /// The first format that nothing may follow in a stream: its word, and the reason.
    #[must_use]
    pub fn alone(&self) -> Option<(&'static str, &'static str)> {
        self.chosen().find_map(|row| Some((row.word, row.stands_alone?)))
    }

    /// True if one stream can hold several reports in these formats.
    #[must_use]
    pub fn may_repeat(&self) -> bool {
        self.alone().is_none()
    }

    /// True if one stream can hold a report in all of these formats.
    #[must_use]
    pub fn fit_together(&self) -> bool {
        self.may_repeat() || self.chosen().count() == 1
    }

    fn chosen(&self) -> impl DoubleEndedIterator<Item = &'static FormatRow> {
        FORMATS.iter().filter(|row| self.0[row.format as usize])
    }
}

impl Default for Formats {
    fn default() -> Self {
        Formats::only(Format::Normal)
    }
}

impl RunReport {
    /// The report in all these formats, one after the other.
    #[must_use]
    pub fn in_formats(&self, formats: Formats, terse: impl Into<TerseLayout>) -> String {
        let terse = terse.into();
        let is_included = |row: &FormatRow| formats.chosen().any(|other| other.includes == Some(row.format));
        let rows = formats.chosen().filter(|row| !is_included(row));
        rows.rev().map(|row| (row.write)(self, terse)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_word_of_its_own_which_help_lists() {
        let listed: Vec<&str> = Format::HELP.split([' ', ',', ';', '.']).collect();
        for row in FORMATS {
            assert_eq!(Format::of_word(row.word), Some(row.format), "{}", row.word);
            assert!(listed.contains(&row.word), "{}", row.word);
        }
        assert_eq!(["minimal", "csv"].map(Format::of_word), [Some(Format::Terse); 2]);
        assert_eq!(Format::of_word("xml"), None);
    }

    #[test]
    fn details_are_in_json_plus_and_html() {
        let with: Vec<&str> = FORMATS.iter().filter(|row| row.has_details).map(|row| row.word).collect();
        assert_eq!(with, ["json+", "html"]);
        assert!(Formats::only(Format::Html).have_details() && !Formats::default().have_details());
        assert_eq!(Formats::only(Format::Html).only_of_ferrio(), Some("html"));
    }

    #[test]
    fn json_plus_includes_json_and_openmetrics_stands_alone() {
        let plus = Formats::only(Format::JsonPlus);
        assert!(plus.has(Format::Json) && !Formats::only(Format::Json).has(Format::JsonPlus));
        let metrics = Formats::only(Format::OpenMetrics);
        assert!(metrics.fit_together() && !metrics.may_repeat());
        assert!(!metrics.with(Format::Html).fit_together() && Formats::only(Format::Html).fit_together());
        assert!(!metrics.with(Format::Normal).fit_together());
        assert!(plus.with(Format::Normal).with(Format::Terse).fit_together());
    }
}
