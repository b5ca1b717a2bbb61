//! Pages from logs of jobs, of ferrio and of fio.

use std::fs;

use serde_json::{Value, json};

use super::browser::{Browser, chromium};
use super::{MISFITS, SUMMARY};
use crate::support::{TestDir, number, text};

/// A job of some thousand I/Os with a log for each of its figures, a row for each I/O.
const JOB: &str = "[load]\nioengine=null\nsize=16m\nbs=4k\nrw=randrw\nnumber_ios=3000\nwrite_bw_log=x\nwrite_iops_log=x\nwrite_lat_log=x\n";

/// Windows of half a second.
const RATES: &str = "500, 2000, 0, 0, 0\n500, 100, 1, 0, 0\n1000, 1000, 0, 0, 0\n1000, 100, 1, 0, 0\n1500, 3000, 0, 0, 0\n1500, 100, 1, 0, 0\n";
const LATENCIES: &str = "500, 110000, 0, 0, 0\n500, 20000, 1, 0, 0\n1000, 90000, 0, 0, 0\n1000, 30000, 1, 0, 0\n1500, 100000, 0, 0, 0\n";

/// The data that a page draws its charts from.
fn data(page: &str) -> Value {
    let begin = "<script type=\"application/json\" id=\"data\">";
    let at = page.find(begin).unwrap() + begin.len();
    let end = at + page[at..].find("</script>").unwrap();
    serde_json::from_str(&page[at..end]).unwrap()
}

fn page(dir: &TestDir, words: &[&str]) -> Value {
    data(&dir.ferrio(&[&["report", "-o", "-"], words].concat()).run().succeeded().stdout)
}

fn sum(column: &Value) -> u64 {
    column.as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).sum()
}

#[test]
fn logs_alone_have_the_ios_and_the_latencies_of_their_report() {
    let dir = TestDir::new();
    let job = dir.job(JOB);
    dir.ferrio(&["--output-format=json+", "--output=run.json", &job]).run().succeeded();
    let document: Value = serde_json::from_str(&dir.read("run.json")).unwrap();
    let names = ["x_bw.1.log", "x_iops.1.log", "x_lat.1.log", "x_slat.1.log", "x_clat.1.log"];
    let drawn = page(&dir, &names);
    for (at, direction) in ["read", "write"].into_iter().enumerate() {
        let figures = &document["jobs"][0][direction];
        let over_time = &drawn["runs"][0]["tracks"][0]["directions"][at];
        assert_eq!(over_time["name"], direction);
        assert_eq!(sum(&over_time["ios"]), number(figures, "/total_ios"));
        assert_eq!(sum(&over_time["bytes"]), number(figures, "/io_bytes"));
        let line = &drawn["lines"][at];
        assert_eq!(text(line, "/name"), format!("x {direction}"));
        let bins: Value = line["ns"]
            .as_array()
            .unwrap()
            .iter()
            .zip(line["counts"].as_array().unwrap())
            .map(|(ns, count)| (ns.to_string(), count.clone()))
            .collect();
        assert_eq!(bins, figures["clat_ns"]["bins"], "the curve is that of the report");
    }
    // Compressed logs say the same.
    let job = dir.job(&format!("{JOB}log_store_compressed=1\nlog_compression=64k\nrandseed=7\n"));
    dir.ferrio(&["--output-format=json+", "--output=run.json", &job]).run().succeeded();
    let document: Value = serde_json::from_str(&dir.read("run.json")).unwrap();
    let drawn = page(&dir, &["x_clat.1.log.fz"]);
    let reads = &drawn["runs"][0]["tracks"][0]["directions"][0]["ios"];
    assert_eq!(sum(reads), number(&document, "/jobs/0/read/total_ios"));
}

#[test]
fn a_report_of_fio_has_charts_over_time_from_its_logs() {
    needs!("fio");
    let dir = TestDir::new();
    // Logs that have the name of their job are found as well: fio does not list the option then.
    let job = dir.job(&JOB.replace("_log=x", "_log"));
    dir.fio(&["--output-format=json", "--output=fio.json", &job]).run().succeeded();
    let document: Value = serde_json::from_str(&dir.read("fio.json")).unwrap();
    let drawn = page(&dir, &["load_clat.1.log", "fio.json", "load_bw.1.log"]);
    let directions = &drawn["runs"][0]["tracks"][0]["directions"];
    for (at, direction) in ["read", "write"].into_iter().enumerate() {
        let figures = &document["jobs"][0][direction];
        assert_eq!(sum(&directions[at]["ios"]), number(figures, "/total_ios"));
        let largest = directions[at]["max"].as_array().unwrap().iter().filter_map(Value::as_u64).max();
        assert_eq!(largest, Some(number(figures, "/clat_ns/max")));
    }
    // A directory has the logs of its reports; others in it are of other runs.
    fs::write(dir.work().join("old_bw.1.log"), RATES).unwrap();
    assert_eq!(page(&dir, &["."])["runs"], {
        let mut all = page(
            &dir,
            &["fio.json", "load_bw.1.log", "load_iops.1.log", "load_lat.1.log", "load_clat.1.log"],
        )["runs"]
            .take();
        all[0]["label"] = json!("");
        all
    });
}

#[test]
fn reports_get_their_own_logs() {
    needs!("fio");
    let dir = TestDir::new();
    for (directory, ios) in [("before", "2000"), ("after", "100")] {
        fs::create_dir(dir.work().join(directory)).unwrap();
        let job = dir.job(&JOB.replace("3000", ios).replace("_log=x", &format!("_log={directory}/x")));
        dir.fio(&["--output-format=json", &format!("--output={directory}/fio.json"), &job]).run().succeeded();
    }
    let all = ["before/fio.json", "after/fio.json", "before/x_clat.1.log", "after/x_clat.1.log"];
    let drawn = page(&dir, &all);
    let ios = |run: usize| -> u64 {
        let directions = drawn["runs"][run]["tracks"][0]["directions"].as_array().unwrap();
        directions.iter().map(|direction| sum(&direction["ios"])).sum()
    };
    assert_eq!((ios(0), ios(1)), (2000, 100));
    // Without reports, the logs of a directory are a run.
    assert_eq!(page(&dir, &all[2..])["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn windows_are_drawn_as_rates_and_means() {
    let dir = TestDir::new();
    fs::write(dir.work().join("x_iops.1.log"), RATES).unwrap();
    fs::write(dir.work().join("x_clat.1.log"), LATENCIES).unwrap();
    let page = dir.ferrio(&["report", "x_iops.1.log", "x_clat.1.log", "-o", "page.html"]).run().succeeded();
    assert_eq!(page.messages(), "");
    let page = dir.read("page.html");
    assert!(page.contains("Drawn from 2 logs, whose rows stand for windows of time"), "{page}");
    let drawn = data(&page);
    let track = &drawn["runs"][0]["tracks"][0];
    assert_eq!(track["edges"], json!([0, 500, 1000, 1500]));
    assert_eq!(track["directions"][0]["ios"], json!([1000, 500, 1500]));
    assert_eq!(track["directions"][0]["bytes"], json!([]), "nothing tells");
    let Some(program) = chromium() else { return };
    let mut browser = Browser::start(&program, &dir);
    for width in [360, 1600] {
        browser.open(&dir.work().join("page.html"), width);
        assert_eq!(browser.value(MISFITS), json!([]), "{width} pixels");
    }
    let charts = browser.value("[...document.querySelectorAll('figure')].map(one => one.dataset.chart)");
    assert_eq!(charts, json!(["phases", "iops", "mean"]));
    let rows = browser.value(SUMMARY);
    assert_eq!((text(&rows, "/0/0"), text(&rows, "/0/2"), text(&rows, "/0/3")), ("x", "3000", "2.000k"));
    let table = "new Promise((made) => { const details = document.querySelector('figure[data-chart=mean] details');
        details.addEventListener('toggle', () => made([...details.querySelectorAll('tbody tr')].map(row => row.textContent)));
        details.querySelector('summary').click(); })";
    assert_eq!(browser.value(table)[2], "1.5 s100.0 us–");
    assert_eq!(browser.errors, [""; 0]);
}

#[test]
fn logs_that_cannot_be_drawn_are_refused() {
    needs!("fio");
    let dir = TestDir::new();
    let write = |name: &str, text: &str| fs::write(dir.work().join(name), text).unwrap();
    let job = dir.job(JOB);
    dir.fio(&["--output-format=json", "--output=fio.json", &job]).run().succeeded();
    write("bad_bw.1.log", "500, 1000, 0, 0, 0\nnan\n");
    write("x_bw.log", &(RATES.to_owned() + RATES));
    write("y_bw.1.log", RATES);
    write("x_lat.7.log.fz", "text");
    write("page.log", "text");
    for (words, message) in [
        (&["bad_bw.1.log"][..], "cannot read bad_bw.1.log: line 2 is no row of a log: `nan`"),
        (
            &["x_bw.log"],
            "cannot read x_bw.log: its rows are those of several jobs, which nothing tells apart",
        ),
        (&["x_bw.log"], "run the jobs with per_job_logs=1"),
        (&["fio.json", "y_bw.1.log"], "no report is of the run that wrote y_bw.1.log"),
        (&["x_lat.7.log.fz"], "cannot read x_lat.7.log.fz: failed inflating log: -3"),
        (&["page.log"], "page.log: no JSON report"),
        (&["missing_bw.1.log"], "cannot read missing_bw.1.log: No such file or directory"),
        (
            &["fio.json", "y_bw.1.log", "-o", "y_bw.1.log"],
            "the page would replace y_bw.1.log, which it is made from",
        ),
    ] {
        let output: &[&str] = if words.contains(&"-o") { &[] } else { &["-o", "-"] };
        let run = dir.ferrio(&[&["report"], words, output].concat()).run().ended_with(1);
        assert!(run.stderr.contains(message) && run.stdout.is_empty(), "{message}\n{}", run.stderr);
    }
    assert_eq!(dir.read("y_bw.1.log"), RATES);
}
