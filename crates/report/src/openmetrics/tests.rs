use std::collections::BTreeSet;

use super::exposition::MetricType;
use super::*;
use crate::model::{LatencyReport, MachineReport, Pairs, Warning};
use crate::text::tests::{options, run};

/// What a family is called, its type, unit and explanation.
type Description = (&'static str, MetricType, &'static str, &'static str);

fn described<T>(families: &[Family<T>]) -> Vec<Description> {
    families.iter().map(|family| (family.name, family.kind, family.unit(), family.help)).collect()
}

/// All families that there are.
fn families() -> Vec<Description> {
    let mut all = described(RUN);
    all.extend(described(ENTRIES));
    all.extend(described(DIRECTIONS));
    all.extend(described(GROUPS));
    all.extend(described(DATABASES));
    all.extend(described(DISKS));
    all.extend(described(HOSTS));
    all.extend(described(HOST_DIRECTIONS));
    all.extend(described(COMMON));
    all
}

fn report() -> RunReport {
    let (plan, result) = run();
    let mut report = RunReport::new(&plan, &result, &options(false));
    let ferrio = report.ferrio.as_mut().unwrap();
    ferrio.host =
        MachineReport { name: Some("lab".into()), kernel: Some("6.1.0".into()), ..MachineReport::default() };
    ferrio.warnings = vec![Warning { code: "short-run".into(), ..Warning::default() }];
    report
}

/// Lines of the samples of one family.
fn samples<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.starts_with(&format!("{name}{{"))).collect()
}

#[test]
fn the_exposition_of_a_whole_run() {
    insta::assert_snapshot!(to_openmetrics(&report()));
}

#[test]
fn names_and_explanations_follow_the_standard() {
    for (name, kind, unit, help) in families() {
        assert!(name.starts_with("ferrio_") && !name.ends_with("_total"), "{name}");
        assert!(!help.is_empty() && !help.contains(['\\', '\n', '"']), "{name}: {help}");
        let other_units = ["_ms", "_us", "_ns", "_kib", "_percent"];
        assert!(!other_units.iter().any(|unit| name.ends_with(unit)), "{name}");
        assert!(kind != MetricType::Counter || unit != "ratio", "{name}: a ratio does not count");
    }
}

#[test]
fn families_appear_once_and_their_samples_follow_them() {
    let text = to_openmetrics(&report());
    assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF").count() == 1);
    let mut seen = BTreeSet::new();
    let mut family = "";
    for line in text.lines().filter(|line| *line != "# EOF") {
        match line.strip_prefix("# TYPE ") {
            Some(rest) => {
                family = rest.split(' ').next().unwrap();
                assert!(seen.insert(family), "{family} comes twice");
            }
            None if line.starts_with("# ") => {
                assert_eq!(line.split(' ').nth(2), Some(family), "{line}");
            }
            None => assert!(line.starts_with(family), "{line} stands under {family}"),
        }
    }
}

#[test]
fn the_document_lists_every_family_with_its_type_and_unit() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openmetrics.md");
    let document = std::fs::read_to_string(path).unwrap();
    let rows = document.lines().filter(|line| line.starts_with("| `ferrio_"));
    let shown: Vec<String> = rows
        .map(|row| {
            row.split('|').skip(1).take(3).map(str::trim).collect::<Vec<_>>().join(" ").trim_end().to_owned()
        })
        .collect();
    let wanted: Vec<String> = families()
        .into_iter()
        .map(|(name, kind, unit, _)| {
            let (suffix, kind) = match kind {
                MetricType::Counter => ("_total", "counter"),
                MetricType::Gauge => ("", "gauge"),
                MetricType::Summary => ("", "summary"),
                MetricType::Histogram => ("", "histogram"),
            };
            format!("`{name}{suffix}` {kind} {unit}").trim_end().to_owned()
        })
        .collect();
    assert_eq!(shown, wanted, "docs/openmetrics.md");
}

#[test]
fn percentiles_stay_between_the_least_and_the_largest_sample() {
    let percentile = Pairs(vec![(0.001, 80), (50.0, 150), (50.0, 150), (99.9, 256), (100.0, 256)]);
    let figures =
        LatencyReport { min: 100, max: 250, mean: 150.0, samples: 4, percentile, ..LatencyReport::default() };
    let points = latency(&figures);
    let MetricValue::Distribution(summary) = &points[0].value else { panic!("a latency is a summary") };
    let number = |text: &String| text.parse::<f64>().unwrap();
    let in_ns: Vec<(f64, f64)> =
        summary.parts.iter().map(|(share, s)| (number(share), (number(s) * 1e9).round())).collect();
    assert_eq!(in_ns, [(0.0, 100.0), (0.00001, 100.0), (0.5, 150.0), (0.999, 250.0), (1.0, 250.0)]);
    assert_eq!((summary.sum, summary.count), (600e-9, 4));
    assert!(latency(&LatencyReport::default()).is_empty(), "without samples there is nothing to say");
}

#[test]
fn clones_of_a_job_are_distinguished() {
    let mut report = report();
    report.jobs = vec![report.jobs[0].clone(), report.jobs[0].clone()];
    let text = to_openmetrics(&report);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let series: BTreeSet<&str> = lines.iter().map(|line| line.rsplit_once(' ').unwrap().0).collect();
    assert_eq!(series.len(), lines.len(), "every series stands once");
    assert!(
        text.contains("ferrio_job_context_switches_total{entry=\"1\",jobname=\"mix\",group=\"0\"} 3822\n")
    );
}

#[test]
fn directions_are_those_that_the_report_shows() {
    let mut report = report();
    let job = &mut report.jobs[0];
    (job.mixed, job.read, job.write, job.trim) = (job.read.take(), None, None, None);
    let text = to_openmetrics(&report);
    let of_mix: Vec<&str> =
        samples(&text, "ferrio_ios_total").into_iter().filter(|l| l.contains("mix")).collect();
    assert_eq!(of_mix, ["ferrio_ios_total{entry=\"0\",jobname=\"mix\",group=\"0\",direction=\"mixed\"} 400"]);
}

#[test]
fn options_of_all_jobs_and_of_one_are_shown_as_they_count() {
    let mut report = report();
    report.global_options = Pairs(vec![("bs".into(), "1k".into()), ("size".into(), "1m".into())]);
    report.jobs.truncate(1);
    let text = to_openmetrics(&report);
    let shown: Vec<&str> = samples(&text, "ferrio_job_option_info")
        .into_iter()
        .map(|line| line.split_once("option=").unwrap().1)
        .collect();
    assert_eq!(shown, ["\"bs\",value=\"8k\"} 1", "\"rw\",value=\"randrw\"} 1", "\"size\",value=\"1m\"} 1"]);
}

#[test]
fn a_latency_target_and_a_tolerated_error_are_shown_where_there_are_some() {
    let mut report = report();
    let text = to_openmetrics(&report);
    assert!(!text.contains("latency_target") && !text.contains("tolerated"), "fio shows a target of 0");
    let target = report.jobs[0].target.as_mut().unwrap();
    (target.latency_target_ns, target.latency_percentile, target.latency_depth) = (2_500_000, 99.5, 7);
    report.jobs[0].tolerated = Some(crate::model::ToleratedErrors { total_err: 3, first_error: 5 });
    let text = to_openmetrics(&report);
    for line in [
        "latency_target_seconds{entry=\"0\",jobname=\"mix\",group=\"0\"} 0.0025\n",
        "latency_target_ratio{entry=\"0\",jobname=\"mix\",group=\"0\"} 0.995\n",
        "latency_target_iodepth{entry=\"0\",jobname=\"mix\",group=\"0\"} 7\n",
        "tolerated_errors_total{entry=\"0\",jobname=\"mix\",group=\"0\"} 3\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn a_model_of_a_database_has_families_of_its_own() {
    let (mut plan, result) = crate::database::testing::database_run();
    plan.jobs.iter_mut().for_each(|job| job.spec.measure.clat_percentiles = false);
    let text = to_openmetrics(&RunReport::new(&plan, &result, &options(false)));
    let of_models: Vec<&str> = text.lines().filter(|line| line.contains("ferrio_database_")).collect();
    insta::assert_snapshot!(of_models.join("\n"));
    let (plan, result) = run();
    let without = to_openmetrics(&RunReport::new(&plan, &result, &options(false)));
    assert!(!without.contains("ferrio_database_"));
}
