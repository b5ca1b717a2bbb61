use super::*;
use crate::text::tests::{options, run};

fn report() -> RunReport {
    let (plan, result) = run();
    RunReport::new(&plan, &result, &options(false))
}

fn fields(report: &RunReport, version: TerseVersion) -> Vec<usize> {
    to_terse(report, version).lines().map(|line| line.split(';').count()).collect()
}

#[test]
fn a_line_has_as_many_fields_as_fios() {
    let mut report = report();
    report.disk_util.clear();
    report.jobs.iter_mut().for_each(|job| job.desc = None);
    for (version, count) in
        [(TerseVersion::V2, 161), (TerseVersion::V3, 121), (TerseVersion::V4, 162), (TerseVersion::V5, 180)]
    {
        assert_eq!(fields(&report, version), vec![count; 3], "{version:?}");
    }
}

#[test]
fn unified_directions_are_one_or_one_more() {
    let mut report = report();
    report.disk_util.clear();
    let job = &mut report.jobs[1];
    job.mixed = job.write.clone();
    assert_eq!(fields(&report, TerseVersion::V3)[1], 162);
    let job = &mut report.jobs[1];
    (job.read, job.write, job.trim) = (None, None, None);
    assert_eq!(fields(&report, TerseVersion::V3)[1], 80);
}

#[test]
fn what_version_2_leaves_out_and_where_its_description_is() {
    let mut report = report();
    report.jobs.truncate(1);
    report.jobs[0].tolerated = Some(crate::model::ToleratedErrors { total_err: 3, first_error: 5 });
    let text = to_terse(&report, TerseVersion::V2);
    assert!(text.starts_with("2;mix;0;0;"), "{text}");
    assert!(text.ends_with(";3;5\n;hello \"there\"\n"), "{text}");
    let text = to_terse(&report, TerseVersion::V3);
    assert!(text.starts_with("3;fio-3.42;mix;0;0;"), "{text}");
    assert!(text.ends_with("%;3;5;hello \"there\"\n"), "{text}");
    let disk = &report.disk_util[0];
    assert!(text.contains(&format!(";{};{};{};", disk.name, disk.read_ios, disk.write_ios)), "{text}");
}

#[test]
fn percentiles_are_those_of_the_total_latency_where_they_are_on() {
    let report = report();
    let read = report.jobs[0].read.as_ref().unwrap();
    let lat = &read.lat_ns;
    let text = to_terse(&report, TerseVersion::V3);
    let first: Vec<&str> = text.split(';').collect();
    let half = lat.percentile.0.iter().position(|&(percent, _)| percent == 50.0).unwrap();
    assert_eq!(first[17 + half], format!("50.000000%={}", lat.percentile.0[half].1 / 1000));
    assert_eq!(first[5], read.io_kbytes.to_string());
    assert_eq!(first[17 + 17], "0%=0", "17 percentiles by default");
    assert_eq!(first[37], (lat.min / 1000).to_string());
    let waiting = text.lines().nth(2).unwrap();
    assert!(waiting.contains(";1.000000%=0;5.000000%=0;"), "{waiting}");
}

#[test]
fn all_that_took_nanoseconds_is_in_the_first_bucket_of_microseconds() {
    let mut report = report();
    report.jobs.truncate(1);
    let job = &mut report.jobs[0];
    job.latency_ns.0.iter_mut().for_each(|(_, share)| *share = 0.5);
    job.latency_us.0.iter_mut().for_each(|(_, share)| *share = 0.25);
    job.latency_ms.0.iter_mut().for_each(|(_, share)| *share = 0.0);
    job.desc = None;
    report.disk_util.clear();
    let text = to_terse(&report, TerseVersion::V3);
    let first = 0.25 + 0.5 * report.jobs[0].latency_ns.0.len() as f64;
    let rest = ";0.25%".repeat(9) + &";0.00%".repeat(12);
    assert!(text.ends_with(&format!(";{first:.2}%{rest}\n")), "{text}");
}

#[test]
fn a_job_without_any_sample_has_numbers_only() {
    let text = to_terse(&report(), TerseVersion::V5);
    assert!(!text.contains("nan") && !text.contains("inf"), "{text}");
}

#[test]
fn versions_are_two_to_five() {
    assert_eq!(
        TerseVersion::WORDS.map(|word| word.parse::<TerseVersion>().map(|version| version as u8)),
        [Ok(2), Ok(3), Ok(4), Ok(5)]
    );
    assert_eq!("6".parse::<TerseVersion>(), Err(NoTerseVersion));
}
