use super::*;
use crate::text::tests::{options, run};

fn report() -> RunReport {
    let (plan, result) = run();
    RunReport::new(&plan, &result, &options(false))
}

fn fields(report: &RunReport, version: TerseVersion) -> Vec<usize> {
    to_terse(report, version.into()).lines().map(|line| line.split(';').count()).collect()
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
    report.jobs[0].tolerated = Some(ToleratedErrors { total_err: 3, first_error: 5 });
    let text = to_terse(&report, TerseVersion::V2.into());
    assert!(text.starts_with("2;mix;0;0;"), "{text}");
    assert!(text.ends_with(";3;5\n;hello \"there\"\n"), "{text}");
    let text = to_terse(&report, TerseVersion::V3.into());
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
    let text = to_terse(&report, TerseVersion::V3.into());
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
    let text = to_terse(&report, TerseVersion::V3.into());
    let first = 0.25 + 0.5 * report.jobs[0].latency_ns.0.len() as f64;
    let rest = ";0.25%".repeat(9) + &";0.00%".repeat(12);
    assert!(text.ends_with(&format!(";{first:.2}%{rest}\n")), "{text}");
}

#[test]
fn a_job_without_any_sample_has_numbers_only() {
    let text = to_terse(&report(), TerseVersion::V5.into());
    assert!(!text.contains("nan") && !text.contains("inf"), "{text}");
}

#[test]
fn versions_are_two_to_five() {
    assert_eq!(
        TerseVersion::WORDS.map(|word| word.parse::<TerseVersion>().map(|version| version as u8)),
        [Ok(2), Ok(3), Ok(4), Ok(5)]
    );
    assert_eq!("6".parse::<TerseVersion>(), Err(UnknownTerseVersion));
}

#[test]
fn the_names_of_fields_precede_lines_with_other_fields() {
    let mut report = report();
    report.jobs[1].desc = None;
    report.jobs[2].desc = None;
    report.jobs[0].desc = Some("last".to_owned());
    for version in TerseVersion::ALL {
        let text = to_terse(&report, TerseLayout { version, header: true });
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
        assert_eq!(lines[0][0], "terse_version");
        let headers = lines.iter().filter(|line| line[0] == "terse_version").count();
        // The description is a field of the first job only; in version 2 it is none.
        assert_eq!(headers, if version == TerseVersion::V2 { 1 } else { 2 }, "{text}");
        let named = |line: usize, name: &str| {
            let header = lines[..line].iter().rfind(|line| line[0] == "terse_version").unwrap();
            lines[line][header.iter().position(|field| *field == name).unwrap()]
        };
        let read = report.jobs[0].read.as_ref().unwrap();
        assert_eq!(named(1, "read_io_kib"), read.io_kbytes.to_string(), "{version:?}");
        assert_eq!(named(1, "read_lat_min_us"), (read.lat_ns.min / 1000).to_string(), "{version:?}");
        assert_eq!(named(1, "minor_faults"), report.jobs[0].minf.to_string(), "{version:?}");
    }
}

#[test]
fn the_list_of_fields_has_each_name_once_and_its_numbers() {
    let text = terse_help();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    let mut names: Vec<&str> = rows.iter().map(|row| row[4]).collect();
    for (column, version) in TerseVersion::ALL.into_iter().enumerate() {
        let mut report = full_report();
        report.jobs[0].desc = None;
        let count = fields(&report, version)[0];
        let numbers: Vec<usize> = rows.iter().filter_map(|row| row[column].parse().ok()).collect();
        let described = usize::from(version > TerseVersion::V2);
        assert_eq!(numbers, (1..=count + described).collect::<Vec<_>>(), "{version:?}");
    }
    let of = |name: &str| rows.iter().find(|row| row[4] == name).unwrap()[..4].to_vec();
    assert_eq!(of("read_iops"), ["7", "8", "8", "8"]);
    assert_eq!(of("trim_iops"), ["89", "-", "90", "102"]);
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
