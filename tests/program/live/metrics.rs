//! `--metrics`: the metrics of a run over HTTP while it goes on, read by a client of our own and by a real Prometheus.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use std::{env, fs};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{Running, TestDir, installed, until};

/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// A program that serves something until it is dropped.
struct Served {
    running: Option<Running>,
    address: String,
}

impl Served {
    /// Waits for the line of standard error that has the address, after the text `before`.
    fn new(mut running: Running, before: &str) -> Self {
        let told = running.stderr_path();
        let address = || {
            let text = fs::read_to_string(&told).unwrap();
            let (address, _) = text.split_once(before)?.1.split_once(['\n', '/'])?;
            Some(address.to_owned())
        };
        running.until("its address", || address().is_some());
        let address = address().unwrap_or_default();
        Served { running: Some(running), address }
    }

    /// A run of the null engine at a low rate, which lasts longer than any test.
    fn ferrio(dir: &TestDir) -> Self {
        let words =
            ["--metrics=0", "--name=a", "--ioengine=null", "--rw=randrw", "--size=1g", "--rate_iops=500"];
        let words = [&words[..], &["--time_based", "--runtime=10m", "--output=report"]].concat();
        Self::new(dir.ferrio(&words).start(), "metrics are at http://")
    }

    /// The body of the answer; `None` while the server is not ready.
    fn try_get(&self, path: &str) -> Option<String> {
        let mut client = TcpStream::connect(&self.address).unwrap();
        client.set_read_timeout(Some(ANSWER_TIMEOUT)).unwrap();
        write!(client, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let is_ready = !head.contains(" 503 ");
        assert!(!is_ready || head.contains(" 200 OK"), "{path}: {head}\n{body}");
        is_ready.then(|| body.to_owned())
    }

    fn get(&self, path: &str) -> String {
        self.try_get(path).unwrap()
    }

    fn end(&mut self) {
        if let Some(running) = self.running.take() {
            running.signal(Signal::SIGTERM);
            running.wait();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}

fn sample(text: &str, begin: &str) -> f64 {
    let line =
        text.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("{begin} in {text}"));
    line.rsplit_once(' ').unwrap().1.parse().unwrap()
}

#[test]
fn counters_grow_while_the_run_goes_on_and_histograms_have_all_samples() {
    let dir = TestDir::new();
    let mut run = Served::ferrio(&dir);
    let reads = "ferrio_ios_total{entry=\"0\",jobname=\"a\",group=\"0\",direction=\"read\"}";
    // The first request may come before the first I/O.
    until("first read", || run.get("/metrics").contains(reads));
    let (earlier, later) = (run.get("/metrics"), run.get("/metrics"));
    assert!(later.ends_with("# EOF\n"));
    assert!(sample(&later, reads) > sample(&earlier, reads), "{earlier}\n{later}");
    let histogram = "ferrio_clat_histogram_seconds";
    let labels = "{entry=\"0\",jobname=\"a\",group=\"0\",direction=\"read\"";
    let buckets: Vec<f64> = later
        .lines()
        .filter(|line| line.starts_with(&format!("{histogram}_bucket{labels},le=")))
        .map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap())
        .collect();
    assert!(buckets.is_sorted() && buckets.len() == 50, "{buckets:?}");
    assert_eq!(buckets[49], sample(&later, &format!("{histogram}_count{labels}}}")));
    run.end();
    let report = fs::read_to_string(dir.work().join("report")).unwrap();
    assert!(report.contains("a: (groupid=0, jobs=1): err= 0"), "{report}");
}

#[test]
fn an_address_that_cannot_be_served_is_refused_before_anything_runs() {
    let dir = TestDir::new();
    let run = Served::ferrio(&dir);
    let job = ["--name=b", "--rw=write", "--size=64k", "--output=other"];
    let taken = format!("--metrics={}", run.address);
    let refused = dir.ferrio(&[&[taken.as_str()][..], &job].concat()).run().ended_with(1);
    let message = format!("cannot serve metrics on {}: Address already in use", run.address);
    assert!(refused.stderr.contains(&message), "{}", refused.stderr);
    assert!(!dir.work().join("other").exists() && !dir.work().join("b.0.0").exists());
    let refused = dir.ferrio(&[&["--metrics=localhost"][..], &job].concat()).run().ended_with(1);
    assert!(refused.stderr.contains("give a port, as in 9100"), "{}", refused.stderr);
}

/// The queries of the dashboard with what Grafana puts in.
fn dashboard_queries() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/grafana.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let expressions = targets.map(|target| target["expr"].as_str().unwrap());
    expressions.map(|text| text.replace("$__rate_interval", "10s").replace("$jobname", ".*")).collect()
}

/// The path of a query, with everything escaped that might need it.
fn query(expression: &str) -> String {
    let escaped = expression.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    format!("/api/v1/query?query={}", escaped.collect::<String>())
}

#[test]
fn prometheus_scrapes_a_run_and_answers_the_queries_of_the_dashboard() {
    needs!("prometheus");
    let dir = TestDir::new();
    let run = Served::ferrio(&dir);
    let config = dir.beside("prometheus.yml");
    let scrape = format!(
        "global: {{scrape_interval: 1s}}\nscrape_configs:\n- job_name: ferrio\n  static_configs: [{{targets: ['{}']}}]\n",
        run.address
    );
    fs::write(&config, scrape).unwrap();
    let words = [
        format!("--config.file={}", config.display()),
        format!("--storage.tsdb.path={}", dir.beside("tsdb").display()),
        "--web.listen-address=127.0.0.1:0".to_owned(),
    ];
    let prometheus = dir.program(installed("prometheus"), &words).start();
    let prometheus = Served::new(prometheus, "msg=\"Listening on\" address=");
    for expression in dashboard_queries() {
        let is_answered = || {
            let Some(answer) = prometheus.try_get(&query(&expression)) else { return false };
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["status"], "success", "{expression}: {answer}");
            // The null engine has no disk.
            expression.contains("_disk_") || !answer["data"]["result"].as_array().unwrap().is_empty()
        };
        until(&format!("answer to {expression}"), is_answered);
    }
}
