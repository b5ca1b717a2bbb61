//! Reads JSON reports of ferrio and of fio into the tree, skipping other output of the program.
//!
//! Keys that the tree does not have are ignored: newer versions may write more, and fio writes some for which ferrio has no figure. Missing
//! keys have their defaults; only `jobs` is required.

use serde_json::Deserializer;
use serde_json::error::Category;

use crate::model::RunReport;

/// The reason why a text is not a report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// No line of the text begins a document.
    #[error("no JSON report: no line begins with `{{`")]
    NoDocument,
    /// The text ends in the middle of a document.
    #[error("the JSON report that begins in line {line} is truncated")]
    Truncated {
        /// Line in which the document begins, from 1.
        line: usize,
    },
    /// The document is not JSON.
    #[error("the JSON report is broken at {line}:{column}: {reason}")]
    Syntax {
        /// Line in the text, from 1.
        line: usize,
        /// Column of that line.
        column: usize,
        /// The error at that position.
        reason: String,
    },
    /// The document is JSON, but not a report.
    #[error("the JSON document is not a report: {reason}, at {line}:{column}")]
    NotAReport {
        /// Line in the text, from 1.
        line: usize,
        /// Column of that line.
        column: usize,
        /// The error at that position.
        reason: String,
    },
}

/// Reads the last report in a text, which is the final one of a run that printed several (`--status-interval`).
///
/// # Errors
///
/// If the text has no document, or one of its documents is broken or not a report.
pub fn read(text: &str) -> Result<RunReport, ReadError> {
    read_all(text)?.pop().ok_or(ReadError::NoDocument)
}

/// Reads all reports in a text, in order; there is at least one. Lines outside of documents are skipped.
///
/// # Errors
///
/// If the text has no document, or one of its documents is broken or not a report.
pub fn read_all(text: &str) -> Result<Vec<RunReport>, ReadError> {
    let mut reports = Vec::new();
    // Number of bytes and lines read so far.
    let (mut at, mut lines) = (0, 0);
    while let Some(line) = text[at..].split_inclusive('\n').next() {
        if !begins_document(line) {
            at += line.len();
            lines += 1;
            continue;
        }
        let mut documents = Deserializer::from_str(&text[at..]).into_iter::<RunReport>();
        match documents.next() {
            Some(Ok(report)) => reports.push(report),
            Some(Err(error)) => return Err(read_error(&error, lines)),
            None => break,
        }
        // The rest of the last line belongs to no document.
        let end = at + documents.byte_offset();
        let end = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
        lines += text[at..end].matches('\n').count();
        at = end;
    }
    if reports.is_empty() { Err(ReadError::NoDocument) } else { Ok(reports) }
}

/// Both programs begin a document on a new line; a document on one line begins with a key. Other lines with a brace may belong to a job
/// whose name has one.
fn begins_document(line: &str) -> bool {
    line.trim() == "{" || line.starts_with("{\"")
}

/// The error of a document that begins after `lines` lines.
fn read_error(error: &serde_json::Error, lines: usize) -> ReadError {
    let (line, column) = (lines + error.line(), error.column());
    let place = format!(" at line {} column {column}", error.line());
    let reason = error.to_string();
    let reason = reason.strip_suffix(&place).unwrap_or(&reason).to_owned();
    match error.classify() {
        Category::Eof => ReadError::Truncated { line: lines + 1 },
        Category::Data => ReadError::NotAReport { line, column, reason },
        Category::Syntax | Category::Io => ReadError::Syntax { line, column, reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RunEnd, ToleratedErrors};
    use crate::text::tests::{options, run};
    use crate::{Format, Formats};

    fn written(json_plus: bool) -> (RunReport, String) {
        let (plan, result) = run();
        let mut options = options(false);
        options.formats = Formats::only(if json_plus { Format::JsonPlus } else { Format::Json });
        let report = RunReport::new(&plan, &result, &options);
        let text = report.to_json();
        (report, text)
    }

    #[test]
    fn a_document_reads_back_into_the_tree_and_prints_alike() {
        for json_plus in [false, true] {
            let (report, text) = written(json_plus);
            let back = read(&text).unwrap();
            assert_eq!(back.to_json(), text);
            assert!(read(&back.to_json()) == Ok(back.clone()));
            let (job, job_back) = (&report.jobs[0], &back.jobs[0]);
            let direction = |job: &crate::model::JobReport| job.read.clone().unwrap();
            let [lat, lat_back] = [job, job_back].map(|job| direction(job).clat_ns);
            assert_eq!((&lat.percentile, &lat.bins), (&lat_back.percentile, &lat_back.bins));
            assert_eq!(lat.bins.is_empty(), !json_plus);
            assert_eq!(job.job_options, job_back.job_options);
            let ferrio = back.ferrio.unwrap();
            assert_eq!((ferrio.run.end, ferrio.host), (RunEnd::Errors, report.ferrio.unwrap().host));
        }
    }

    #[test]
    fn text_around_documents_is_skipped() {
        let (_, text) = written(false);
        let back = read(&text).unwrap();
        let around = format!("fio: note\n{{: (g=0): rw=read\n\n{text}\n\na: (groupid=0, jobs=1)\n");
        assert!(read(&around) == Ok(back.clone()));
        let second = text.replacen("\"jobname\" : \"mix\"", "\"jobname\" : \"last\"", 1);
        let several = read_all(&format!("{text}Jobs: 1 (f=1)\n{second}")).unwrap();
        assert_eq!((several.len(), several[1].jobs[0].jobname.as_str()), (2, "last"));
        assert_eq!(read(&format!("{text}{second}")).unwrap().jobs[0].jobname, "last");
        let one_line: String = text.lines().map(str::trim).collect();
        assert!(read(&one_line) == Ok(back));
    }

    #[test]
    fn what_is_no_report_has_an_error_with_its_place() {
        let (_, text) = written(false);
        assert_eq!(read("a: (groupid=0)\n"), Err(ReadError::NoDocument));
        assert_eq!(read(""), Err(ReadError::NoDocument));
        assert_eq!(read(&format!("note\n{}", &text[..900])), Err(ReadError::Truncated { line: 2 }));
        let broken = text.replacen("\"groupid\" : 0", "\"groupid\" : nan", 1);
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(message(&broken), "the JSON report is broken at 12:20: expected ident");
        assert_eq!(
            message("\n{\n  \"a\" : 1\n}\n"),
            "the JSON document is not a report: missing field `jobs`, at 4:1"
        );
        let wrong = text.replacen("\"groupid\" : 0", "\"groupid\" : \"0\"", 1);
        let reason = "invalid type: string \"0\", expected u32".to_owned();
        assert_eq!(read(&wrong), Err(ReadError::NotAReport { line: 12, column: 21, reason }));
        let infinite = text.replacen("\"99.990000\"", "\"1e999\"", 1);
        assert_ne!(infinite, text);
        let refused = message(&infinite);
        assert!(refused.contains("key `1e999`: the number is not finite"), "{refused}");
        assert!(
            message(&format!("{text}{}", &text[..50])).contains("truncated"),
            "a whole one does not hide it"
        );
    }

    #[test]
    fn keys_may_be_missing_or_unknown() {
        let report = read(
            "{\n \"jobs\": [{\"jobname\": \"a\", \"new\": [{}], \"total_err\": 3, \"read\": {\"N\": {}}}]\n}",
        )
        .unwrap();
        let job = &report.jobs[0];
        assert_eq!((job.jobname.as_str(), &job.sync, &job.write, job.target), ("a", &None, &None, None));
        assert_eq!(job.tolerated, Some(ToleratedErrors { total_err: 3, first_error: 0 }));
        assert_eq!((job.read.as_ref().map(|read| read.total_ios), report.ferrio.is_none()), (Some(0), true));
        assert!(report.warnings().is_empty());
    }

    #[test]
    fn a_report_on_clients_has_their_entries_and_the_options_of_all() {
        let options = "[{\"hostname\": \"s1\", \"port\": 8765, \"rw\": \"read\"}, {\"hostname\": \"s2\"}]";
        let text = format!(
            "{{\n\"global options\": {options},\n\"client_stats\": [{{\"jobname\": \"All clients\"}}]}}"
        );
        let report = read(&text).unwrap();
        let pairs: Vec<(&str, &str)> =
            report.global_options.0.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("hostname", "s1"), ("port", "8765"), ("rw", "read"), ("hostname", "s2")]);
        assert_eq!(report.jobs[0].jobname, "All clients");
    }
}
