use std::time::Duration;

use ferrio_oltp::SqlCounts;

use super::*;
use crate::report::{SysbenchDocumentPart, ThreadFigures};

fn thread(events: &[u64]) -> ThreadFigures {
    let mut latency = Latency::new();
    events.iter().for_each(|&us| latency.record(us * 1000));
    ThreadFigures { latency, is_unfinished: false }
}

fn figures() -> SysbenchFigures {
    SysbenchFigures {
        sql: SqlCounts { reads: 56, writes: 16, others: 8, ignored_errors: 1, reconnects: 0 },
        requests: Default::default(),
        reads: 285,
        writes: 190,
        syncs: 11,
        read_bytes: 285 << 14,
        written_bytes: 190 << 14,
        measured: Duration::from_secs(1),
        total: Duration::from_millis(3004),
        threads: vec![thread(&[10, 20, 1070]), thread(&[340])],
    }
}

fn report(test: SysbenchTest) -> SysbenchReport {
    SysbenchReport { test, percentile: 99, has_rate: true }
}

#[test]
fn the_report_of_fileio_has_the_lines_of_sysbench() {
    let text = report(SysbenchTest::Fileio).text(&figures(), None);
    insta::assert_snapshot!(format!("{text}|"), @r"

    File operations:
        reads/s:                      285.00
        writes/s:                     190.00
        fsyncs/s:                     11.00

    Throughput:
        read, MiB/s:                  4.45
        written, MiB/s:               2.97

    General statistics:
        total time:                          3.0040s
        total number of events:              4

    Latency (ms):
             min:                                    0.01
             avg:                                    0.36
             max:                                    1.07
             99th percentile:                        1.06
             sum:                                    1.44

    Threads fairness:
        events (avg/stddev):           2.0000/1.00
        execution time (avg/stddev):   0.0007/0.00

    |
    ");
}

#[test]
fn the_other_tests_have_results_of_their_own() {
    let head = |test| {
        let text = report(test).text(&figures(), None);
        text.split("General statistics:").next().unwrap_or_default().to_owned()
    };
    assert_eq!(head(SysbenchTest::Cpu), "CPU speed:\n    events per second:     4.00\n\n");
    assert_eq!(head(SysbenchTest::Plain), "\n");
    let memory = SysbenchTest::Memory { block: 1 << 20, transfers: true };
    let lines = "Total operations: 4 (    4.00 per second)\n\n4.00 MiB transferred (4.00 MiB/sec)\n\n\n";
    assert_eq!(head(memory), lines);
    let nothing = SysbenchTest::Memory { block: 1 << 20, transfers: false };
    assert_eq!(head(nothing), "Total operations: 4 (    4.00 per second)\n\n\n");
}

#[test]
fn lines_about_intervals_differ_by_test() {
    let line = |test| report(test).interval(2, &figures());
    assert_eq!(
        line(SysbenchTest::Fileio),
        "[ 2s ] reads: 4.45 MiB/s writes: 2.97 MiB/s fsyncs: 11.00/s latency (ms,99%): 1.063\n"
    );
    assert_eq!(
        line(SysbenchTest::Cpu),
        "[ 2s ] thds: 2 eps: 4.00 lat (ms,99%): 1.06\n[ 2s ] queue length: 0 concurrency: 0\n"
    );
    assert_eq!(line(SysbenchTest::Memory { block: 1 << 20, transfers: true }), "[ 2s ] 4.00 MiB/sec\n");
    let none = SysbenchReport { percentile: 0, ..report(SysbenchTest::Fileio) };
    assert!(none.interval(1, &figures()).ends_with("latency (ms,0%): 0.001\n"));
    assert!(none.text(&figures(), None).contains("\n         percentile stats:               disabled\n"));
}

#[test]
fn waiting_events_are_those_beyond_the_threads() {
    let mut figures = figures();
    // Ten events of a second each in one second, for two threads.
    figures.threads = vec![thread(&[1_000_000; 5]), thread(&[1_000_000; 5])];
    assert_eq!(in_system(&figures, &figures.latency()), (8, 2));
}

#[test]
fn an_unfinished_event_counts_for_its_thread_only() {
    let mut stopped = figures();
    stopped.threads[1].is_unfinished = true;
    let text = report(SysbenchTest::Cpu).text(&stopped, Some(1));
    assert!(
        text.contains("\nNumber of unfinished transactions on forced shutdown: 1\n\nGeneral statistics:\n"),
        "{text}"
    );
    assert!(text.contains("total number of events:              4\n"));
    assert!(text.contains("events (avg/stddev):           2.5000/0.50\n"));
}

#[test]
fn a_part_is_the_difference_of_two_moments() {
    let mut now = figures();
    now.reads += 5;
    now.read_bytes += 5 << 20;
    now.measured += Duration::from_secs(2);
    now.threads[1].latency.record(2_000_000);
    let part = now.since(&figures());
    assert_eq!((part.reads, part.writes, part.measured), (5, 0, Duration::from_secs(2)));
    assert_eq!(part.latency().count(), 1);
    assert_eq!(part.total, now.total);
    assert!(report(SysbenchTest::Fileio).text(&part, None).contains("read, MiB/s:                  2.50\n"));
}

#[test]
fn a_run_without_events_has_a_report() {
    let empty = SysbenchFigures { threads: vec![thread(&[])], ..SysbenchFigures::default() };
    let fileio = report(SysbenchTest::Fileio);
    assert!(fileio.text(&empty, None).contains("99th percentile:                        0.00\n"));
    assert_eq!(fileio.histogram(&empty).1, "");
    let document = SysbenchDocumentPart::of(SysbenchTest::Fileio, &empty, 99);
    let json = serde_json::to_value(document).unwrap();
    assert_eq!(json["latency_ms"]["percentiles"], serde_json::json!({}));
    assert_eq!(json["files"]["reads_per_second"], 0.0);
}

#[test]
fn each_thread_has_lines_of_its_own_when_debugging() {
    let text = report(SysbenchTest::Fileio).threads(&figures());
    let line = "DEBUG:     thread #  0: min: 0.0000s  avg: 0.0004s  max: 0.0011s  events: 3\n";
    assert!(text.contains(line), "{text}");
    assert!(text.ends_with("total time taken by event execution: 0.0003s\n\n"), "{text}");
}

/// The widths are those of sysbench 1.0.20.
#[test]
fn the_report_of_a_database_has_the_lines_of_sysbench() {
    let text = report(SysbenchTest::Sql).text(&figures(), None);
    insta::assert_snapshot!(text.split("\nGeneral").next().unwrap(), @r"
    SQL statistics:
        queries performed:
            read:                            56
            write:                           16
            other:                           8
            total:                           80
        transactions:                        4      (4.00 per sec.)
        queries:                             80     (80.00 per sec.)
        ignored errors:                      1      (1.00 per sec.)
        reconnects:                          0      (0.00 per sec.)
    ");
    assert_eq!(
        report(SysbenchTest::Sql).interval(1, &figures()),
        "[ 1s ] thds: 2 tps: 4.00 qps: 80.00 (r/w/o: 56.00/16.00/8.00) lat (ms,99%): 1.06 err/s: 1.00 reconn/s: 0.00\n\
         [ 1s ] queue length: 0, concurrency: 0\n"
    );
}
