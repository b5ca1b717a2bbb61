//! `--minimal`: the same fields as fio's, in the same places.

use crate::support::{Place, same};

/// The lines of a run, each cut into its fields, with what measures time replaced.
fn lines(job: &[&str], version: &str, real: bool) -> Vec<Vec<String>> {
    let place = Place::new();
    let terse_version = format!("--terse-version={version}");
    let mut words = vec!["--minimal", &terse_version];
    words.extend(job);
    let run = if real { place.fio(&words) } else { place.ferrio(&words) };
    let output = run.run().succeeded();
    let fields = |line: &str| line.split(';').enumerate().map(|(at, field)| masked(at, field)).collect();
    output.stdout.lines().map(fields).collect()
}

/// Names of percentiles, words and zeroes stay; other numbers become a sign of their form.
fn masked(at: usize, field: &str) -> String {
    let number = field.trim_end_matches('%');
    let unit = &field[number.len()..];
    match field.split_once('=') {
        Some((percent, _)) => format!("{percent}=N"),
        None if field.starts_with("fio-") => "version".to_owned(),
        // Version, job, group, error and KiB moved.
        None if at < 6 => field.to_owned(),
        None if number.parse::<u64>().is_ok() => format!("N{unit}"),
        None => match number.rsplit_once('.').map(|(whole, decimals)| (whole.parse::<u64>(), decimals)) {
            Some((Ok(_), decimals)) => format!("N.{}{unit}", "D".repeat(decimals.len())),
            _ => field.to_owned(),
        },
    }
}

fn compare(job: &[&str]) {
    for version in ["2", "3", "4", "5"] {
        let (fio, ferrio) = (lines(job, version, true), lines(job, version, false));
        assert!(!fio.is_empty(), "fio printed nothing for {job:?}");
        same!("fio": fio, "ferrio": ferrio, "terse version {version} of {job:?}");
    }
}

#[test]
fn each_version_has_fios_fields() {
    compare(&["--name=a", "--ioengine=null", "--size=1m", "--rw=randrw", "--description=two words"]);
}

#[test]
fn groups_errors_and_lists_of_percentiles_are_where_fio_has_them() {
    compare(&[
        "--group_reporting",
        "--ioengine=null",
        "--size=256k",
        "--continue_on_error=all",
        "--percentile_list=10:99.9",
        "--lat_percentiles=1",
        "--name=a",
        "--numjobs=3",
        "--name=b",
        "--new_group",
        "--rw=write",
    ]);
}

#[test]
fn switched_off_percentiles_leave_empty_fields_and_unified_directions_one() {
    compare(&["--name=a", "--ioengine=null", "--size=256k", "--clat_percentiles=0"]);
    compare(&["--name=a", "--ioengine=null", "--size=256k", "--rw=rw", "--unified_rw_reporting=1"]);
    compare(&["--name=a", "--ioengine=null", "--size=256k", "--rw=rw", "--unified_rw_reporting=2"]);
}

#[test]
fn terse_lines_come_before_the_document_and_the_text() {
    let place = Place::new();
    let words = ["--output-format=normal,json,terse", "--name=a", "--ioengine=null", "--size=64k"];
    let output = place.ferrio(&words).run().succeeded();
    let at = |text: &str| output.stdout.find(text).unwrap_or_else(|| panic!("{text} in {}", output.stdout));
    assert!(at("\n3;fio-") < at("\n{\n") && at("\n}\n") < at("\na: (groupid=0"), "{}", output.stdout);
}
