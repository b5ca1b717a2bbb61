//! `ferrio report` and `--output-format=html`: what is refused, and the page in a browser.

mod browser;
mod logs;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{FERRIO, TestDir, text};
use browser::{Browser, chromium};

/// A job that writes and syncs, and one that only reads; they end after some I/Os, however fast the machine is.
const JOB: &str = "[global]\nioengine=null\nsize=1m\nbs=4k\n[log]\nrw=randrw\nfsync=16\nnumber_ios=200\n[reads]\nrw=randread\niodepth=4\n";

/// A name that would load a picture if it were not escaped.
const HOSTILE: &str = "</script><img src=x onerror=document.title='broken'>";

/// The JSON report of a run in format json+, in a file.
fn measured(dir: &TestDir, name: &str) -> Value {
    let job = dir.job(JOB);
    let output = format!("--output={name}");
    dir.ferrio(&["--output-format=json+", &output, &job]).run().succeeded();
    serde_json::from_str(&dir.read(name)).unwrap()
}

/// Replaces what the first entry did over time by half a minute in which everything happens.
fn with_series(mut document: Value) -> Value {
    let rows = 60;
    let column = |value: &dyn Fn(u64) -> Value| Value::Array((0..rows).map(value).collect());
    let ios = |row: u64| if row == 20 { 0 } else { 1000 + row };
    let direction = json!({
        "ios": column(&|row| json!(ios(row))),
        "bytes": column(&|row| json!(ios(row) * 4096)),
        "max_ns": column(&|row| json!(if row == 20 { 0 } else if row == 40 { 90_000_000 } else { 400_000 })),
        "cells": column(&|row| if row == 20 { json!([]) } else { json!([130, ios(row) - 10, 148, 10]) }),
    });
    document["ferrio"]["series"] = json!([{
        "jobname": document["jobs"][0]["jobname"], "job_number": 1, "groupid": 0, "interval_ms": 500, "start_ms": 0,
        "time_ms": column(&|row| json!(500 * (row + 1))), "ramp_until_ms": 1500,
        "iodepth_mean": column(&|row| if row == 20 { Value::Null } else { json!(4.5) }),
        "errors": column(&|row| json!(if row == 30 { 2 } else { 0 })),
        "read": direction, "write": direction,
    }]);
    document["ferrio"]["device_series"] = json!([{
        "name": "vda", "time_ms": column(&|row| json!(500 * (row + 1))), "read_ios": [], "write_ios": [], "read_bytes": [],
        "write_bytes": [], "util_percent": column(&|row| json!(row)),
    }]);
    document["ferrio"]["thresholds"] = json!([{ "expression": "read.clat.p99 > 5ms", "passed": false, "jobname": "log", "limit": 5e6, "exceeded": 1 }]);
    let step = json!({ "share": 25.0, "lat_ns": { "mean": 123_456.0, "max": 9_876_543, "N": 10 } });
    document["ferrio"]["databases"] = json!([{
        "jobname": "a-database-with-a-long-name", "model": "postgres", "sessions": 64, "transactions": 123_456, "tps": 12_345.6,
        "lat_ns": step["lat_ns"], "steps": { "read": step, "sync": step },
        "io": { "double_write_syncs": { "total_ios": 9_876_543, "io_bytes": 1_u64 << 40, "per_transaction": 80.5, "iops": 1e6, "bw_bytes": 1 << 30 } },
    }]);
    document
}

/// The same with throttled CPUs, twice, and with rates that fall to a sixth at 18 s and stay there.
fn with_throttling(document: Value) -> Value {
    let mut document = with_series(document);
    document["ferrio"]["throttling"] = json!([
        {"from_ms": 4000, "to_ms": 9500, "cause": "cgroup", "throttled_ms": 3135},
        {"from_ms": 12_000, "to_ms": 12_500, "cause": "heat"},
    ]);
    for direction in ["read", "write"] {
        for column in ["ios", "bytes"] {
            let values = document["ferrio"]["series"][0][direction][column].as_array_mut().unwrap();
            values[36..].iter_mut().for_each(|value| *value = json!(value.as_u64().unwrap() / 6));
        }
    }
    document
}

fn page_of(dir: &TestDir, documents: &[(&str, &Value)]) -> PathBuf {
    let mut words = vec!["report".to_owned(), "--output=page.html".to_owned()];
    for (name, document) in documents {
        fs::write(dir.work().join(name), document.to_string()).unwrap();
        words.push((*name).to_owned());
    }
    assert_eq!(dir.ferrio(&words).run().succeeded().messages(), "");
    dir.work().join("page.html")
}

/// The texts of the cells of the summary.
const SUMMARY: &str = "[...document.querySelectorAll('#summary tbody tr')].map(row => [...row.children].map(cell => cell.textContent))";

/// Elements that are wider than the window, and pieces of text in charts that cover each other.
const MISFITS: &str = "(() => {
    const wide = document.documentElement.clientWidth;
    const name = (one) => `${one.tagName}.${one.getAttribute('class')} ${one.textContent.slice(0, 40)}`;
    const none = {left: 0, right: 0, top: 0, bottom: 0, width: 0};
    const box = (one) => one.checkVisibility() ? one.getBoundingClientRect() : none;
    const scrolls = (one) => one.closest('.scroll') !== null && !one.classList.contains('scroll');
    const all = [...document.body.querySelectorAll('*')].filter((one) => !scrolls(one) && !one.closest('.skip'));
    const out = all.filter((one) => box(one).width > 0 && (box(one).right > wide + 1 || box(one).left < -1)).map(name);
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    for (const chart of document.querySelectorAll('.plot > svg')) {
        const texts = [...chart.querySelectorAll('text')];
        texts.forEach((one, at) => texts.slice(at + 1).forEach((other) => {
            if (meet(box(one), box(other))) out.push(`${name(one)} covers ${name(other)}`);
        }));
    }
    const blocks = [...document.querySelectorAll('h1, h2, h3, p, figcaption, .plot, .legend, .scroll, summary, nav, #theme')];
    blocks.forEach((one, at) => blocks.slice(at + 1).forEach((other) => {
        const nested = one.contains(other) || other.contains(one);
        if (!nested && box(one).width > 0 && box(other).width > 0 && meet(box(one), box(other))) out.push(`${name(one)} covers ${name(other)}`);
    }));
    if (document.documentElement.scrollWidth > wide) out.push(`the page scrolls: ${document.documentElement.scrollWidth}`);
    return out;
})()";

#[test]
fn a_page_in_a_browser_has_the_figures_and_fits_its_window() {
    let Some(program) = chromium() else { return };
    let dir = TestDir::new();
    let document = with_series(measured(&dir, "run.json"));
    let file = page_of(&dir, &[("one.json", &document)]);
    let mut browser = Browser::start(&program, &dir);
    for width in [360, 800, 1600] {
        browser.open(&file, width);
        assert_eq!(browser.value(MISFITS), json!([]), "{width} pixels");
    }
    let rows = browser.value(SUMMARY);
    let names: Vec<String> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {}", row[0], row[1]).replace('"', ""))
        .collect();
    assert_eq!(names, ["log read", "log write", "log sync", "reads read"]);
    for (row, figures) in [(0, "/jobs/0/read"), (1, "/jobs/0/write"), (3, "/jobs/1/read")] {
        let figures = document.pointer(figures).unwrap();
        assert_eq!(text(&rows, &format!("/{row}/2")), figures["total_ios"].to_string());
        for (cell, ns) in [(5, &figures["clat_ns"]["mean"]), (9, &figures["clat_ns"]["max"])] {
            assert_shows(text(&rows, &format!("/{row}/{cell}")), ns.as_f64().unwrap());
        }
    }
    // All curves and cells are there, and the axes are those of the data.
    let drawn = browser.value("[...document.querySelectorAll('figure')].map(one => [one.dataset.chart, one.querySelectorAll('.curve').length - one.querySelectorAll('.legend .curve').length])");
    let wanted = json!([
        ["percentiles", 4],
        ["distribution", 4],
        ["phases", 0],
        ["iops", 2],
        ["bandwidth", 2],
        ["depth", 1],
        ["utilisation", 1],
        ["heatmap", 3],
        ["heatmap", 3]
    ]);
    assert_eq!(drawn, wanted);
    let pixels = browser.value(
        "(() => { const canvas = document.querySelector('canvas'); const pen = canvas.getContext('2d');
        return pen.getImageData(0, 0, canvas.width, canvas.height).data.filter((value, at) => at % 4 === 3 && value > 0).length; })()",
    );
    assert!(pixels.as_u64().unwrap() > 100, "{pixels} pixels of the heatmap");
    assert_eq!(browser.value("document.querySelectorAll('figure[data-chart=iops] .stall').length"), 2);
    assert_eq!(browser.value("document.querySelectorAll('figure[data-chart=phases] .error').length"), 1);
    assert_eq!(browser.errors, [""; 0]);
}

#[test]
fn throttling_has_a_look_and_a_text_of_its_own() {
    let Some(program) = chromium() else { return };
    let dir = TestDir::new();
    let document = with_throttling(measured(&dir, "run.json"));
    let file = page_of(&dir, &[("one.json", &document)]);
    let mut browser = Browser::start(&program, &dir);
    for (scheme, width) in [("light", 800), ("dark", 1600), ("light", 360), ("dark", 360)] {
        browser.call(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
        browser.open(&file, width);
        assert_eq!(browser.value(MISFITS), json!([]), "{scheme}, {width} pixels");
        assert_eq!(browser.value(CONTRAST), json!([]), "{scheme}");
        assert_eq!(browser.value(FAINT_OUTLINES), json!([]), "{scheme}");
        assert_eq!(browser.value(OUTSIDE_LINES), json!([]), "{width} pixels");
    }
    // The CPUs twice and the rate once: a box with lines in it, in each chart over time but that of the devices.
    for chart in ["phases", "iops", "bandwidth", "depth"] {
        let of =
            |what: &str| format!("document.querySelectorAll('figure[data-chart={chart}] {what}').length");
        let counts = [".throttled", ".throttled + .hatch"].map(|what| browser.value(&of(what)));
        assert_eq!(counts, [json!(3), json!(3)], "{chart}");
    }
    assert_eq!(
        browser.value("document.querySelectorAll('figure[data-chart=utilisation] .throttled').length"),
        0
    );
    let names = browser.value("[...document.querySelectorAll('figure[data-chart=phases] .name')].map(one => one.firstChild.textContent)");
    assert_eq!(names, json!(["log", "CPUs of all jobs"]));
    // The rate falls at 18 of 30 s.
    let places = browser.value(
        "(() => { const wide = document.querySelector('figure[data-chart=iops] .axis').getBBox();
        return [...document.querySelectorAll('figure[data-chart=iops] .throttled')].map(one => one.getBBox())
            .map(box => [box.x, box.x + box.width].map(x => Math.round(300 * (x - wide.x) / wide.width) / 10)); })()",
    );
    assert_eq!(places, json!([[4, 9.5], [12, 12.5], [18, 30]]));
    let rows = browser.value("[...document.querySelectorAll('#time details .scroll tr')].map(row => [...row.children].map(cell => cell.textContent))
        .filter(row => row.length === 4)");
    let wanted = [
        [
            "4.000 s",
            "9.500 s",
            "all jobs",
            "the CPU limit of the cgroup stopped threads for 3.135 s, added over CPUs",
        ],
        ["12.000 s", "12.500 s", "all jobs", "heat slowed down the CPUs"],
    ];
    for row in wanted {
        assert!(rows.as_array().unwrap().contains(&json!(row)), "{row:?} in {rows:#}");
    }
    let fall = rows.as_array().unwrap().iter().find(|row| text(row, "/3").starts_with("the rate fell from "));
    let fall = fall.unwrap_or_else(|| panic!("{rows:#}"));
    assert_eq!((text(fall, "/0"), text(fall, "/1"), text(fall, "/2")), ("18.000 s", "30.000 s", "log"));
    let about =
        browser.value("document.querySelector('figure[data-chart=phases] .plot').getAttribute('aria-label')");
    assert_eq!(about, "Phases and events. log from 0 s to 30 s; the CPUs were throttled 2 times");
    assert_eq!(browser.errors, [""; 0]);
}

/// Boxes of throttling whose outline has a contrast below 3:1 against the page.
const FAINT_OUTLINES: &str = "(() => {
    const light = (colour) => {
        const [r, g, b] = colour.match(/[0-9.]+/g).map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const page = light(getComputedStyle(document.body).backgroundColor);
    const contrast = (one) => {
        const own = light(getComputedStyle(one).stroke);
        return (Math.max(own, page) + 0.05) / (Math.min(own, page) + 0.05);
    };
    return [...document.querySelectorAll('.throttled')].map(contrast).filter((contrast) => !(contrast >= 3));
})()";

/// Lines of throttling that reach out of their box, and boxes of some size without lines.
const OUTSIDE_LINES: &str = "(() => {
    const out = [];
    for (const one of document.querySelectorAll('.throttled')) {
        const [box, lines] = [one.getBBox(), one.nextSibling.getBBox()];
        const within = lines.x >= box.x - 0.1 && lines.x + lines.width <= box.x + box.width + 0.1
            && lines.y >= box.y - 0.1 && lines.y + lines.height <= box.y + box.height + 0.1;
        const is_empty = one.nextSibling.getAttribute('d') === '';
        if (is_empty ? box.width > 14 : !within) out.push([box.x, box.width, lines.x, lines.width]);
    }
    return out;
})()";

#[test]
fn charts_can_be_read_with_the_keyboard_and_as_tables() {
    let Some(program) = chromium() else { return };
    let dir = TestDir::new();
    let document = with_series(measured(&dir, "run.json"));
    let file = page_of(&dir, &[("one.json", &document)]);
    let mut browser = Browser::start(&program, &dir);
    browser.open(&file, 1000);
    let press = |key: &str| {
        format!(
            "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))"
        )
    };
    browser.value("document.querySelector('figure[data-chart=iops] .plot').focus()");
    let readout = "document.querySelector('figure[data-chart=iops] .readout').textContent";
    browser.value(&press("ArrowRight"));
    assert_eq!(browser.value(readout), "0.5 s: log read 2.000k, log write 2.000k");
    browser.value(&press("ArrowRight"));
    assert_eq!(browser.value(readout), "1 s: log read 2.002k, log write 2.002k");
    browser.value(&press("End"));
    assert_eq!(browser.value(readout), "30 s: log read 2.118k, log write 2.118k");
    let spoken = browser.value("document.activeElement.getAttribute('aria-valuetext')");
    assert_eq!(spoken, "30 s: log read 2.118k, log write 2.118k");
    // The names of the curves hide them.
    browser.value("document.querySelector('figure[data-chart=iops] .legend button').click()");
    assert_eq!(browser.value(readout), "30 s: log write 2.118k");
    // A stop by the tabulator for each chart, table and button, and a text for each chart.
    let unreachable = browser.value("[...document.querySelectorAll('.plot, .scroll')].filter(one => one.tabIndex !== 0 || !one.getAttribute('aria-label')).length");
    assert_eq!(unreachable, 0);
    let about =
        browser.value("document.querySelector('figure[data-chart=iops] .plot').getAttribute('aria-label')");
    assert_eq!(about, "IOPS. log read: 0 to 2.118k; log write: 0 to 2.118k");
    // `toggle` comes after the click.
    let table = "new Promise((made) => { const details = document.querySelector('figure[data-chart=depth] details');
        details.addEventListener('toggle', () => made([...details.querySelectorAll('tbody tr')].map(row => row.textContent)));
        details.querySelector('summary').click(); })";
    let rows = browser.value(table);
    assert_eq!(
        (rows.as_array().unwrap().len(), &rows[0], &rows[20]),
        (60, &json!("0.5 s4.5"), &json!("10.5 s–"))
    );
    // The percentile of the curve is that of the report.
    browser.value("document.querySelector('figure[data-chart=percentiles] .plot').focus()");
    for _ in 0..3 {
        browser.value(&press("ArrowRight"));
    }
    let median =
        browser.value("document.querySelector('figure[data-chart=percentiles] .readout').textContent");
    let median = median.as_str().unwrap();
    let listed = document["jobs"][0]["read"]["clat_ns"]["percentile"]["50.000000"].as_f64().unwrap();
    let shown = median
        .strip_prefix("50 %: log read ")
        .unwrap_or_else(|| panic!("{median}"))
        .split(',')
        .next()
        .unwrap();
    assert_shows(shown, listed);
    assert_eq!(browser.errors, [""; 0]);
}

#[test]
fn the_colours_follow_the_system_the_button_and_the_paper() {
    let Some(program) = chromium() else { return };
    let dir = TestDir::new();
    let document = with_series(measured(&dir, "run.json"));
    let file = page_of(&dir, &[("one.json", &document)]);
    let mut browser = Browser::start(&program, &dir);
    let colour = "getComputedStyle(document.body).backgroundColor";
    let (light, dark) = ("rgb(255, 255, 255)", "rgb(22, 24, 27)");
    for (scheme, background) in [("light", light), ("dark", dark)] {
        browser.call(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
        browser.open(&file, 700);
        assert_eq!(browser.value(colour), background);
        assert!(
            browser.value(CONTRAST).as_array().unwrap().is_empty(),
            "{scheme}: {}",
            browser.value(CONTRAST)
        );
    }
    browser.value("document.getElementById('theme').click()");
    assert_eq!(browser.value(colour), light);
    browser.value("document.getElementById('theme').click()");
    assert_eq!(browser.value(colour), dark);
    browser.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
    assert_eq!(browser.value(colour), light, "paper is white");
    let printed = browser.call("Page.printToPDF", json!({}));
    assert!(text(&printed, "/data").len() > 10_000);
    assert_eq!(browser.errors, [""; 0]);
}

/// Texts with a contrast below 4.5:1 against what is behind them.
const CONTRAST: &str = "(() => {
    const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
    const light = (colour) => {
        const [r, g, b] = parts(colour).map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (one) => {
        for (let at = one; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (parts(colour)[3] !== 0) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const found = new Set();
    for (const one of document.querySelectorAll('body *')) {
        if (![...one.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()) || one.closest('script, noscript, title')) continue;
        const style = getComputedStyle(one);
        const [a, b] = [light(one.closest('svg') ? style.fill : style.color), light(behind(one))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) found.add(`${one.tagName} ${one.textContent.slice(0, 30)}: ${contrast.toFixed(2)}`);
    }
    return [...found];
})()";

#[test]
fn hostile_names_stay_text_in_a_browser() {
    let Some(program) = chromium() else { return };
    let dir = TestDir::new();
    let mut document = measured(&dir, "run.json");
    document["jobs"][0]["jobname"] = json!(HOSTILE);
    document["jobs"][0]["desc"] = json!(HOSTILE);
    document["jobs"][0]["job options"]["description"] = json!(HOSTILE);
    document["ferrio"]["host"]["name"] = json!(HOSTILE);
    let document = with_series(document);
    let file = page_of(&dir, &[("a.json", &document), ("<b>.json", &document)]);
    let mut browser = Browser::start(&program, &dir);
    browser.open(&file, 360);
    assert_eq!(browser.value(MISFITS), json!([]));
    assert_eq!(browser.value("document.title"), format!("{HOSTILE}, reads"));
    assert_eq!(browser.value("document.images.length + document.querySelectorAll('b').length"), 0);
    assert_eq!(browser.value(SUMMARY)[0][0], HOSTILE);
    assert_eq!(browser.errors, [""; 0]);
    // What the page does not contain it cannot load.
    browser.value("new Promise((done) => { const image = new Image(); image.onerror = done; image.src = 'file:///picture.png'; }).then(() => true)");
    let refused = browser.errors.iter().filter(|error| error.contains("Content Security Policy")).count();
    assert!(refused > 0, "{:?}", browser.errors);
}

#[test]
fn runs_of_fio_and_of_directories_are_on_one_page() {
    needs!("fio");
    let dir = TestDir::new();
    let words = ["--name=r", "--ioengine=null", "--size=1m", "--bs=4k", "--output-format=json"];
    fs::write(dir.work().join("fio.json"), dir.fio(&words).run().succeeded().stdout).unwrap();
    fs::create_dir(dir.work().join("runs")).unwrap();
    let document = measured(&dir, "runs/1.json");
    fs::copy(dir.work().join("runs/1.json"), dir.work().join("runs/2.json")).unwrap();
    let page = dir.ferrio(&["report", "fio.json", "runs", "-o", "-"]).run().succeeded().stdout;
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    for (name, id) in [("fio.json", "run 1"), ("runs/1.json", "run 2"), ("runs/2.json", "run 3")] {
        assert!(
            page.contains(&format!("<strong>{name}</strong>")) && page.contains(&format!("<td>{id}</td>")),
            "{name}"
        );
    }
    assert!(page.contains("Reports of fio have no figures over time"));
    // The results of a sweep are in directories of a directory.
    fs::create_dir(dir.work().join("sweep")).unwrap();
    fs::rename(dir.work().join("runs"), dir.work().join("sweep/bs=4k")).unwrap();
    let below = dir.ferrio(&["report", "sweep", "-o", "-"]).run().succeeded().stdout;
    assert!(below.contains("<strong>sweep/bs=4k/2.json</strong>"), "{below}");
    let version = text(&document, "/ferrio/version");
    assert!(
        page.contains(&format!("<td>ferrio {version}</td>"))
            && page.contains("1 of 9 only from the percentiles")
    );
}

#[test]
fn a_run_can_make_its_page_itself() {
    let dir = TestDir::new();
    let job = dir.job(JOB);
    let page = dir.ferrio(&["--output-format=html", &job]).run().succeeded().stdout;
    assert!(
        page.starts_with("<!doctype html>")
            && page.ends_with("</html>\n")
            && page.contains("drawn from histograms.")
    );
    dir.ferrio(&["--output-format=html", "--output=page.html", &job]).run().succeeded();
    assert!(dir.read("page.html").contains("data-chart=\"heatmap\""), "it has figures over time");
    let both = dir.ferrio(&["--output-format=html,json", &job]).run().ended_with(1);
    assert!(
        both.stderr
            .contains("the format html cannot be combined with others, because a page is a whole file"),
        "{}",
        both.stderr
    );
    let again = dir.ferrio(&["--output-format=html", "--status-interval=1", &job]).run().ended_with(1);
    assert!(
        again.stderr.contains("--status-interval cannot be combined with the format html"),
        "{}",
        again.stderr
    );
    let fio = dir.ferrio(&["--as=fio", "--output-format=html", &job]).run().ended_with(1);
    assert!(
        fio.stderr.contains("fio: invalid output format html\nfio: failed parsing output-format\n"),
        "{}",
        fio.stderr
    );
}

#[test]
fn what_makes_no_page_is_refused_before_anything_is_written() {
    let dir = TestDir::new();
    measured(&dir, "run.json");
    fs::create_dir(dir.work().join("empty")).unwrap();
    fs::write(dir.work().join("notes"), "500, 1000, 0, 4096, 0, 0\n").unwrap();
    fs::write(dir.work().join("binary"), [0xff, 0xfe]).unwrap();
    symlink("run.json", dir.work().join("link.json")).unwrap();
    fs::write(dir.work().join("old.html"), "old").unwrap();
    let help = "give JSON reports of ferrio or fio (--output-format=json or json+), logs of jobs, or directories of them";
    for (words, message) in [
        (&["run.json"][..], "name a file with -o page.html, or write to standard output with -o -"),
        (&["missing", "-o", "old.html"], "cannot read missing: No such file or directory"),
        (&["empty", "-o", "old.html"], "empty has neither files that end with .json nor logs of jobs"),
        (&["notes", "-o", "old.html"], "notes: no JSON report"),
        (&["notes", "-o", "-"], help),
        (&["binary", "-o", "-"], help),
        // No report is read before.
        (&["missing", "-o", "away/page.html"], "No such file or directory: away/page.html"),
        (&["run.json", "-o", "link.json"], "the page would replace run.json, which it is made from"),
        (&["-o", "page.html"], "<REPORT|LOG|DIRECTORY>"),
    ] {
        let run = dir.ferrio(&[&["report"], words].concat()).run().ended_with(1);
        assert!(run.stderr.contains(message) && run.stdout.is_empty(), "{message}\n{}", run.stderr);
    }
    assert_eq!(dir.read("old.html"), "old");
    assert!(!dir.work().join("page.html").exists());
    dir.ferrio(&["report", "run.json", "-o", "old.html"]).run().succeeded();
    assert!(dir.read("old.html").starts_with("<!doctype html>"), "a page replaces what was there");
}

#[test]
fn the_commands_of_the_documentation_work() {
    needs!("fio");
    let dir = TestDir::new();
    fs::write(dir.work().join("nightly.fio"), JOB).unwrap();
    fs::create_dir(dir.work().join("repetitions")).unwrap();
    for name in ["before.json", "after.json", "monday.json", "repetitions/1.json"] {
        measured(&dir, name);
    }
    let docs = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/page.md")).unwrap();
    let commands = docs.lines().filter_map(|line| line.strip_prefix("    "));
    let commands: Vec<&str> =
        commands.filter(|line| line.starts_with("ferrio ") || line.starts_with("fio ")).collect();
    assert_eq!(commands.len(), 8);
    fs::write(dir.work().join("jobs.fio"), JOB.replace("[log]", "write_lat_log=x\nwrite_bw_log=x\n[log]"))
        .unwrap();
    for command in commands {
        match command.strip_prefix("ferrio ") {
            // The shell has the names of the logs.
            Some(rest) => dir.program("sh", &["-c", &format!("{FERRIO} {rest}")]).run().succeeded(),
            None => dir.fio(&command.split(' ').skip(1).collect::<Vec<_>>()).run().succeeded(),
        };
    }
    for page in ["nightly.html", "both.html", "all.html", "with-logs.html", "logs-alone.html"] {
        assert!(dir.read(page).ends_with("</html>\n"), "{page}");
    }
}

/// A figure such as `117.2 us` is this time, rounded to four digits one way or the other.
#[track_caller]
fn assert_shows(figure: &str, ns: f64) {
    let (number, unit) = figure.split_once(' ').unwrap_or_else(|| panic!("{figure}"));
    let factor = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        other => panic!("{other}"),
    };
    let shown = number.parse::<f64>().unwrap() * factor;
    assert!((shown - ns).abs() <= ns * 0.000_51, "{figure} for {ns} ns");
}
