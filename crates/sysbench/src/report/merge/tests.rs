use std::collections::BTreeMap;
use std::time::Duration;

use ferrio_oltp::SqlCounts;
use proptest::prelude::*;

use super::*;
use crate::report::{SysbenchFigures, SysbenchTest, ThreadFigures};

/// A document of a run of a second, whose threads had events of these latencies, and read for as long.
fn document(name: &str, threads: &[Vec<u64>]) -> NamedDocument {
    let samples = |all: &[u64]| {
        let mut latency = Latency::new();
        all.iter().for_each(|&ns| latency.record(ns));
        latency
    };
    let all = threads.concat();
    let figures = SysbenchFigures {
        reads: all.len() as u64,
        read_bytes: all.len() as u64 * 16384,
        measured: Duration::from_secs(1),
        total: Duration::from_secs(1),
        requests: [samples(&all), Latency::new(), Latency::new()],
        threads: threads
            .iter()
            .map(|all| ThreadFigures { latency: samples(all), is_unfinished: false })
            .collect(),
        ..SysbenchFigures::default()
    };
    let report = SysbenchDocumentPart::of(SysbenchTest::Fileio, &figures, 97).with_histograms(&figures);
    let document = SysbenchDocument {
        version: FORMAT_VERSION,
        ferrio: "0.1.0".to_owned(),
        test: "fileio".to_owned(),
        settings: SysbenchSettings {
            threads: threads.len() as u32,
            events: None,
            time: Some(1),
            rate: Some(10),
            seed: None,
            options: BTreeMap::from([("file-test-mode".to_owned(), "rndrd".to_owned())]),
        },
        signal: None,
        unfinished: None,
        intervals: Vec::new(),
        checkpoints: Vec::new(),
        report,
        merged: Vec::new(),
    };
    // As it is read from a file.
    let document = SysbenchDocument::read(&document.to_json()).unwrap().unwrap();
    NamedDocument { name: name.to_owned(), document }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However events are dealt out to machines, their latencies together are those of one machine with all events.
    #[test]
    fn latencies_of_all_documents_are_those_of_all_events(
        runs in prop::collection::vec(prop::collection::vec(prop::collection::vec(1_u64..1 << 44, 0..40), 1..4), 1..6),
    ) {
        let documents: Vec<_> =
            (0..).zip(&runs).map(|(at, threads)| document(&format!("vm{at}"), threads)).collect();
        let merged = merged(&documents).unwrap();
        let alone = document("all", &runs.concat()).document;
        let latency = |document: &SysbenchDocument| serde_json::to_value(&document.report.latency_ms).unwrap();
        prop_assert_eq!(latency(&merged), latency(&alone));
        let reads = |document: &SysbenchDocument| {
            serde_json::to_value(&document.report.files.as_ref().unwrap().read_latency_ms).unwrap()
        };
        prop_assert_eq!(reads(&merged), reads(&alone));
        prop_assert_eq!(merged.report.events, alone.report.events);
        // Each ran for a second, and all at the same time.
        prop_assert_eq!(merged.report.events_per_second, alone.report.events_per_second);
        prop_assert_eq!(merged.report.threads.len(), runs.concat().len());
        // Documents of documents have the same rows and figures.
        let (one, others) = documents.split_at(1);
        let mut again = one.to_vec();
        if !others.is_empty() {
            again.push(NamedDocument { name: "others".into(), document: super::merged(others).unwrap() });
        }
        let again = super::merged(&again).unwrap();
        prop_assert_eq!(latency(&again), latency(&merged));
        prop_assert_eq!(again.merged.len(), runs.len());
        let text = SysbenchDocument::read(&merged.to_json()).unwrap().unwrap();
        prop_assert_eq!(text.to_json(), merged.to_json());
    }
}

#[test]
fn a_document_of_several_runs_has_a_row_for_each_and_their_sum() {
    let ms = |all: &[u64]| all.iter().map(|ms| ms * 1_000_000).collect::<Vec<u64>>();
    let mut slow = document("vm2.json", &[ms(&[5; 30]), ms(&[90; 10])]);
    slow.document.settings.options.insert("file-num".to_owned(), "2".to_owned());
    let documents = [document("vm1.json", &[ms(&[2; 100])]), slow];
    let merged = merged(&documents).unwrap();
    assert_eq!((merged.settings.threads, merged.settings.rate, merged.settings.time), (3, Some(20), Some(1)));
    // What only one of them was asked for is no setting of both.
    assert_eq!(merged.settings.options.keys().collect::<Vec<_>>(), ["file-test-mode"]);
    insta::assert_snapshot!(merged.aggregate_text());
}

#[test]
fn other_tests_and_documents_without_histograms_are_refused() {
    let good = document("a", &[vec![1000]]);
    let mut other = good.clone();
    (other.name, other.document.test) = ("b".to_owned(), "cpu".to_owned());
    let error = merged(&[good.clone(), other]).unwrap_err().to_string();
    assert_eq!(error, "a is of the test fileio, and b of the test cpu");
    let mut old = good;
    old.document.report.latency_ms.histogram = None;
    assert_eq!(merged(&[old]).unwrap_err(), MergeError::NoHistogram("a".to_owned()));
    assert_eq!(merged(&[]).unwrap_err(), MergeError::None);
}

#[test]
fn only_documents_of_sysbench_are_read_as_such() {
    let text = document("a", &[vec![1000]]).document.to_json();
    assert!(SysbenchDocument::read(&text).is_some_and(|read| read.is_ok()));
    assert!(SysbenchDocument::read("{\"fio version\": \"3.42\", \"jobs\": []}").is_none());
    assert!(SysbenchDocument::read("events_per_second").is_none());
    let newer = text.replacen("\"version\": 1", "\"version\": 2", 1);
    let error = SysbenchDocument::read(&newer).unwrap().unwrap_err().to_string();
    assert_eq!(error, "this document of `ferrio sysbench` has version 2, and this program reads version 1");
    let damaged = text.replacen("\"events\": 1", "\"events\": -1", 1);
    assert!(SysbenchDocument::read(&damaged).unwrap().is_err());
}

#[test]
fn statements_add_up() {
    let sql = |name: &str, reads: u64| {
        let figures = SysbenchFigures {
            sql: SqlCounts { reads, writes: 2 * reads, others: 1, ignored_errors: 3, reconnects: 0 },
            measured: Duration::from_secs(2),
            ..SysbenchFigures::default()
        };
        let mut named = document(name, &[vec![1000]]);
        named.document.report =
            SysbenchDocumentPart::of(SysbenchTest::Sql, &figures, 95).with_histograms(&figures);
        named
    };
    let merged = merged(&[sql("a", 10), sql("b", 4)]).unwrap();
    let report = serde_json::to_value(&merged.report).unwrap();
    let figures =
        ["reads", "writes", "others", "queries", "ignored_errors"].map(|key| report["sql"][key].as_u64());
    assert_eq!(figures, [14, 28, 2, 44, 6].map(Some));
    assert_eq!(report["sql"]["queries_per_second"], 22.0);
    assert!(merged.aggregate_text().contains("queries: 22.00/s (7.00 read, 14.00 write, 1.00 other)"));
    // What only one of them has is no figure of both.
    let with_files = document("c", &[vec![1000]]);
    let report = super::merged(&[sql("a", 1), with_files]).unwrap().report;
    assert!(report.sql.is_none() && report.files.is_none());
}
