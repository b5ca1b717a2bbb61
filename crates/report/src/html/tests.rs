//! The page as text: escaping, figures, what is left out. `tests/program/commands/report.rs` opens it in a browser.

use serde_json::{Value, json};

use super::*;
use crate::Unit;
use crate::model::{
    DamagedBlockReport, DatabaseIoReport, DatabaseReport, DeviceSeries, DirectionReport, DirectionSeries,
    FerrioReport, JobReport, LatencyReport, Pairs, Series, StepReport, SyncReport, ThresholdReport,
    ThrottlingCause, ThrottlingPeriod, ToleratedErrors, TransactionReport, VerifyReport, Warning,
};

const HOSTILE: &str = "</script><img src=x onerror=alert(1)><!-- \"'&\u{0}";

fn latency(bins: &[(u64, u64)]) -> LatencyReport {
    LatencyReport {
        min: bins.first().map_or(0, |bin| bin.0),
        max: bins.last().map_or(0, |bin| bin.0),
        mean: 125_900.0,
        samples: bins.iter().map(|bin| bin.1).sum(),
        percentile: Pairs(vec![(50.0, 117_248), (99.0, 284_672), (100.0, 999_999_999)]),
        bins: Pairs(bins.to_vec()),
        ..LatencyReport::default()
    }
}

fn job(name: &str) -> JobReport {
    let read = DirectionReport {
        total_ios: 1000,
        io_bytes: 4_096_000,
        iops: 26_620.0,
        bw_bytes: 109_051_904,
        clat_ns: latency(&[(100_000, 400), (117_000, 500), (900_000, 99), (8_576_000, 1)]),
        ..DirectionReport::default()
    };
    JobReport {
        jobname: name.to_owned(),
        read: Some(read),
        write: Some(DirectionReport::default()),
        sync: Some(SyncReport { total_ios: 7, lat_ns: latency(&[(3000, 7)]) }),
        job_options: Pairs(vec![("bs".to_owned(), "4k".to_owned())]),
        ..JobReport::default()
    }
}

fn series(name: &str) -> Series {
    let read = DirectionSeries {
        ios: vec![100, 0, 90],
        bytes: vec![409_600, 0, 368_640],
        max_ns: vec![200_000, 0, 180_000],
        cells: vec![vec![135, 60, 136, 40], vec![], vec![135, 90]],
        mean_ns: Vec::new(),
    };
    Series {
        jobname: name.to_owned(),
        job_number: 1,
        interval_ms: 500,
        time_ms: vec![500, 1000, 1500],
        iodepth_mean: vec![Some(4.0), Some(4.0), None],
        errors: vec![0, 0, 2],
        read: Some(read),
        ..Series::default()
    }
}

fn report(name: &str) -> RunReport {
    RunReport {
        version: "fio-3.42".to_owned(),
        jobs: vec![job(name)],
        ferrio: Some(FerrioReport {
            version: "0.1.0".to_owned(),
            series: vec![series(name)],
            device_series: vec![DeviceSeries {
                name: "vda".to_owned(),
                time_ms: vec![500, 1000, 1500],
                util_percent: vec![80.0, 12.345_678, 0.0],
                ..DeviceSeries::default()
            }],
            ..FerrioReport::default()
        }),
        ..RunReport::default()
    }
}

/// The data of the charts.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The texts of the cells in the first table, row by row, without the header.
fn summary(page: &str) -> Vec<Vec<String>> {
    let table = page.split("<table>").nth(1).unwrap().split("</table>").next().unwrap();
    let cells = |row: &str| {
        let cells =
            row.split("</t").filter_map(|cell| cell.rsplit_once('>').map(|(_, text)| text.to_owned()));
        cells.filter(|text| !text.trim().is_empty()).collect()
    };
    table.split("<tr>").skip(2).map(cells).collect()
}

#[test]
fn names_and_messages_cannot_leave_their_place() {
    let mut hostile = report(HOSTILE);
    hostile.jobs[0].desc = Some(HOSTILE.to_owned());
    hostile.jobs[0].job_options = Pairs(vec![(HOSTILE.to_owned(), HOSTILE.to_owned())]);
    hostile.version = HOSTILE.to_owned();
    let ferrio = hostile.ferrio.as_mut().unwrap();
    ferrio.version = HOSTILE.to_owned();
    ferrio.host.name = Some(HOSTILE.to_owned());
    ferrio.device_series[0].name = HOSTILE.to_owned();
    ferrio.warnings.push(Warning {
        code: HOSTILE.into(),
        message: HOSTILE.to_owned(),
        help: HOSTILE.to_owned(),
        ..Warning::default()
    });
    let run = PageRun { name: HOSTILE, report: &hostile, logged: None };
    for page in [page(&[run]), page(&[run, run])] {
        assert!(!page.contains("<img") && !page.contains("<!-- ") && !page.contains('\0'));
        assert_eq!(page.matches("</script>").count(), 2, "the data and the script");
        let lines = data(&page);
        assert!(lines["lines"][0]["name"].as_str().unwrap().contains("</script><img src=x"));
        assert_eq!(lines["runs"][0]["devices"][0]["name"], HOSTILE);
    }
}

#[test]
fn the_summary_has_the_figures_of_the_model() {
    let report = report("mail");
    let rows = summary(&report.to_html());
    let read = report.jobs[0].read.as_ref().unwrap();
    let ns = |ns: f64| Unit::Nanoseconds.text(ns);
    let wanted = [
        "mail".to_owned(),
        "read".to_owned(),
        read.total_ios.to_string(),
        Unit::PerSecond.text(read.iops),
        Unit::BytesPerSecond.text(read.bw_bytes as f64),
        ns(read.clat_ns.mean),
        ns(117_248.0),
        ns(284_672.0),
        // It is not listed, so it comes from the histogram.
        ns(900_000.0),
        ns(read.clat_ns.max as f64),
        "0".to_owned(),
    ];
    assert_eq!(rows[0], wanted);
    assert_eq!(rows[0][3..6], ["26.62k", "104.0 MiB/s", "125.9 us"]);
    assert_eq!(rows[1][..4], ["mail", "sync", "7", "–"]);
    assert_eq!(rows.len(), 2, "writes did nothing");
}

#[test]
fn a_job_without_io_and_jobs_with_errors_have_rows() {
    let mut report = report("a");
    report.jobs[0].tolerated = Some(ToleratedErrors { total_err: 3, first_error: 5 });
    report.jobs.push(JobReport { jobname: "b".to_owned(), error: 28, ..JobReport::default() });
    let rows = summary(&report.to_html());
    assert_eq!(rows[0].last().unwrap(), "3, the first: Input/output error");
    assert_eq!(
        rows[2],
        ["b", "–", "–", "–", "–", "–", "–", "–", "–", "–", "failed: No space left on device"]
    );
}

#[test]
fn runs_are_next_to_each_other_and_what_differs_comes_first() {
    let one = report("a");
    let mut other = report("a");
    other.jobs[0].job_options =
        Pairs(vec![("iodepth".to_owned(), "8".to_owned()), ("bs".to_owned(), "4k".to_owned())]);
    other.jobs.push(job("only here"));
    let page = page(&[
        PageRun { name: "one.json", report: &one, logged: None },
        PageRun { name: "two.json", report: &other, logged: None },
    ]);
    let rows = summary(&page);
    assert_eq!(
        rows.iter().map(|row| row[..3].join(" ")).collect::<Vec<_>>(),
        [
            "a read run 1",
            "a read run 2",
            "a sync run 1",
            "a sync run 2",
            "only here read run 2",
            "only here sync run 2"
        ]
    );
    let options = page.split("id=\"options\"").nth(1).unwrap();
    let at = |text: &str| options.find(text).unwrap_or_else(|| panic!("{text} in {options}"));
    assert!(at("job a: iodepth <span class=\"mark\">differs</span>") < at("job a: bs</th>"));
    let names: Vec<Value> =
        data(&page)["lines"].as_array().unwrap().iter().map(|line| line["name"].clone()).collect();
    assert_eq!(
        names,
        [
            "run 1: a read",
            "run 1: a sync",
            "run 2: a read",
            "run 2: a sync",
            "run 2: only here read",
            "run 2: only here sync"
        ]
    );
}

#[test]
fn curves_come_from_histograms_or_else_from_percentiles_and_the_page_says_which() {
    let mut report = report("a");
    let page = report.to_html();
    assert!(page.contains("The curves are drawn from histograms."));
    let read = &data(&page)["lines"][0];
    assert_eq!(
        (&read["ns"][1], &read["counts"][1], &read["percents"]),
        (&117_000.into(), &500.into(), &Value::Null)
    );
    report.jobs[0].read.as_mut().unwrap().clat_ns.bins = Pairs::default();
    let page = report.to_html();
    assert!(page.contains("1 of 2 only from the percentiles that their report lists"));
    let read = &data(&page)["lines"][0];
    assert_eq!(read["name"], "a read *");
    // The largest sample ends the curve, whatever the 100th percentile of the buckets is.
    assert_eq!(read["percents"], serde_json::json!([50.0, 99.0, 100.0]));
    assert_eq!(read["ns"], serde_json::json!([117_248, 284_672, 8_576_000]));
}

#[test]
fn clones_share_curves_and_tracks() {
    let mut report = report("a");
    report.jobs.push(job("a"));
    let ferrio = report.ferrio.as_mut().unwrap();
    ferrio.series.push(series("a"));
    let page = report.to_html();
    assert!(page.contains("<th scope=\"row\">Jobs</th><td>a</td>"), "the name is there once");
    let data = data(&page);
    assert_eq!(
        (&data["lines"][0]["name"], &data["lines"][0]["counts"][1]),
        (&"a (2 jobs) read".into(), &1000.into())
    );
    assert_eq!(data["runs"][0]["tracks"].as_array().unwrap().len(), 1);
    assert_eq!(data["runs"][0]["tracks"][0]["directions"][0]["ios"], serde_json::json!([200, 0, 180]));
}

#[test]
fn figures_over_time_have_charts_and_events() {
    let page = report("a").to_html();
    for chart in
        ["percentiles", "distribution", "phases", "iops", "bandwidth", "depth", "utilisation", "heatmap"]
    {
        assert_eq!(page.matches(&format!("data-chart=\"{chart}\"")).count(), 1, "{chart}");
    }
    assert!(page.contains("Events: stalls 1, rows with errors 1, throttled 0, ramps 0"));
    assert!(page.contains("<td>no I/O completed for 500.0 ms</td>") && page.contains("<td>2 errors</td>"));
    let run = &data(&page)["runs"][0];
    assert_eq!(run["devices"][0]["busy"], serde_json::json!([80.0, 12.35, 0.0]));
    assert_eq!(run["events"][0], serde_json::json!({"from": 500, "to": 1000, "kind": "stall", "track": 0}));
}

#[test]
fn throttled_cpus_are_events_of_the_run() {
    let mut report = report("a");
    let period =
        ThrottlingPeriod { from_ms: 400, to_ms: 900, cause: ThrottlingCause::Cgroup, throttled_ms: Some(90) };
    report.ferrio.as_mut().unwrap().throttling = vec![period];
    let page = report.to_html();
    assert!(page.contains("Events: stalls 1, rows with errors 1, throttled 1, ramps 0"));
    let text =
        "<td>all jobs</td><td>the CPU limit of the cgroup stopped threads for 90 ms, added over CPUs</td>";
    assert!(page.contains(text));
    let event = serde_json::json!({"from": 400, "to": 900, "kind": "throttled"});
    assert_eq!(data(&page)["runs"][0]["events"][0], event);
}

#[test]
fn without_series_one_sentence_says_how_to_get_them() {
    let mut report = report("a");
    report.ferrio.as_mut().unwrap().series.clear();
    let page = report.to_html();
    assert!(page.contains("This report has no figures over time") && !page.contains("data-chart=\"iops\""));
    report.ferrio = None;
    let page = report.to_html();
    assert!(page.contains("Reports of fio have no figures over time") && page.contains("fio-3.42"));
    assert!(!page.contains("id=\"warnings\""), "there are none");
    assert!(RunReport::default().to_html().contains("No jobs"));
}

#[test]
fn the_page_loads_nothing_and_is_small() {
    let page = report("a").to_html();
    assert!(page.len() < 60 << 10, "{}", page.len());
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
    for loading in ["src=", "url(", "@import", "fetch(", "import(", "http:"] {
        let without_namespace = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!without_namespace.contains(loading), "{loading}");
    }
    // Styles in attributes would be refused by the policy.
    assert!(!page.contains(" style=") && !page.contains(" onclick="));
}

/// The texts of the cells of each row of a section.
fn section(page: &str, id: &str) -> Vec<Vec<String>> {
    let part =
        page.split(&format!("<section id=\"{id}\"")).nth(1).and_then(|part| part.split("</section>").next());
    let cells = |row: &str| -> Vec<String> {
        let texts =
            row.split("</t").filter_map(|cell| cell.rsplit_once('>').map(|(_, text)| text.to_owned()));
        texts.filter(|text| !text.trim().is_empty()).collect()
    };
    let rows = part.unwrap_or_default().split("<tr>").filter(|row| row.starts_with("<th scope=\"row\""));
    rows.map(cells).collect()
}

#[test]
fn databases_have_their_transactions_steps_and_ios() {
    let lat_ns =
        LatencyReport { mean: 2e6, max: 9_000_000, samples: 4, ..latency(&[(1_000_000, 2), (3_000_000, 2)]) };
    let lat_ns = LatencyReport { percentile: Pairs(vec![(50.0, 1_000_000), (95.0, 3_000_000)]), ..lat_ns };
    let mut figures = TransactionReport {
        transactions: 4,
        tps: 1234.0,
        lat_ns: lat_ns.clone(),
        ..TransactionReport::default()
    };
    figures.steps.sync = StepReport { share: 60.0, lat_ns };
    figures.io.data_writes =
        DatabaseIoReport { total_ios: 7, per_transaction: 1.75, iops: 70.0, io_bytes: 8192, bw_bytes: 2048 };
    let database = DatabaseReport {
        jobname: "bank".to_owned(),
        model: "rocksdb".to_owned(),
        sessions: 2,
        figures,
        ..DatabaseReport::default()
    };
    let idle = DatabaseReport { jobname: "idle".to_owned(), ..DatabaseReport::default() };
    let mut report = report("a");
    report.ferrio.get_or_insert_default().databases = vec![database, idle];
    let page = report.to_html();
    let rows = section(&page, "database");
    let joined: Vec<String> = rows.iter().map(|row| row.join(" | ")).collect();
    assert_eq!(
        joined,
        [
            "bank | rocksdb | 2 | 4 | 1.234k | 2.000 ms | 1.000 ms | 3.000 ms | – | – | 9.000 ms",
            "read | 0.00 % | 0 ns | – | – | – | – | 0 ns",
            "log write | 0.00 % | 0 ns | – | – | – | – | 0 ns",
            "sync | 60.00 % | 2.000 ms | 1.000 ms | 3.000 ms | – | – | 9.000 ms",
            "write-back wait | 0.00 % | 0 ns | – | – | – | – | 0 ns",
            "other | 40.00 % | – | – | – | – | – | –",
            "table writes | 1.750 | 7 | 70 | 2.000 KiB/s",
        ]
    );
    let lines = data(&page)["lines"].clone();
    let curve = lines.as_array().unwrap().iter().find(|line| line["name"] == "bank transaction").unwrap();
    assert_eq!((&curve["ns"], &curve["counts"]), (&json!([1_000_000, 3_000_000]), &json!([2, 2])));
    report.ferrio.get_or_insert_default().databases.clear();
    assert!(!report.to_html().contains("id=\"database\""));
}

#[test]
fn thresholds_and_damaged_blocks_are_listed() {
    let threshold = |expression: &str, passed, jobname: Option<&str>, reason: Option<&str>| ThresholdReport {
        expression: expression.to_owned(),
        passed,
        jobname: jobname.map(str::to_owned),
        reason: reason.map(str::to_owned),
        ..ThresholdReport::default()
    };
    let block = DamagedBlockReport {
        file: "f<x>".to_owned(),
        offset: 4096,
        length: 512,
        message: "old data".to_owned(),
        ..DamagedBlockReport::default()
    };
    let mut report = report("a");
    let ferrio = report.ferrio.get_or_insert_default();
    ferrio.thresholds = vec![
        threshold("read.iops < 10", true, Some("a"), None),
        threshold("read.clat.p99 > 5ms", false, Some("a"), None),
        threshold("trim.iops < 1", false, None, Some("no job trims")),
    ];
    ferrio.verify = vec![VerifyReport {
        jobname: "v".to_owned(),
        kinds: [("old".to_owned(), 150)].into(),
        blocks: vec![block; 150],
        ..VerifyReport::default()
    }];
    let rows = section(&report.to_html(), "checks");
    assert_eq!(rows[0], ["read.iops &lt; 10", "passed"], "nothing failed in a job");
    assert_eq!(rows[1][1..], ["failed", "a"]);
    assert_eq!(rows[2][1..], ["failed: no job trims"]);
    assert_eq!(rows[3], ["v", "old", "150"]);
    assert_eq!(rows[4], ["v", "f&lt;x&gt;", "4096", "512", "old data"]);
    assert_eq!(rows.len(), 104, "the first hundred blocks are listed");
}

#[test]
fn response_times_have_rows_and_curves_of_their_own() {
    let mut report = report("a");
    if let Some(read) = &mut report.jobs[0].read {
        read.response_ns =
            Some(LatencyReport { samples: 3, mean: 5e6, max: 7_000_000, ..latency(&[(5_000_000, 3)]) });
    }
    let page = report.to_html();
    let rows = summary(&page);
    assert_eq!(rows[1][..5], ["a", "read response", "3", "–", "–"]);
    assert_eq!(rows[1][9], "7.000 ms");
    assert_eq!(data(&page)["lines"][2]["name"], "a read response");
}
