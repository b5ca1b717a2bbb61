use ferrio_job::{Diagnostic, Fadvise, Fallocate, Origin, ReadWrite};
use ferrio_jobfile::{OptionScope, OptionStatus, rows};

use super::*;
use crate::PlanOptions;
use crate::status::{self, InertOptions};
use crate::testing::{MACHINE, jobs_of, null, plan_of, problems_of, refusals, spec_of};

fn spec(options: &str) -> JobSpec {
    spec_of(&format!("[a]\nioengine=null\nsize=64k\n{options}"))
}

/// The default of an option is what its row says: no other place decides it.
#[test]
fn an_option_given_as_its_row_has_it_by_default_changes_nothing() {
    let planned = |options: &str| {
        let plan = plan_of(&format!("[a]\nsize=64k\nrw=randread\n{options}")).ok()?;
        let spec = plan.jobs.into_iter().next()?.spec;
        Some(JobSpec { options: Arc::default(), ..spec })
    };
    let plain = planned("");
    let core =
        rows().iter().filter(|row| row.scope == OptionScope::Core && row.status == OptionStatus::Works);
    let differ: Vec<_> = core
        .filter(|row| !row.default.is_empty() && planned(&format!("{}={}\n", row.name, row.default)) != plain)
        .map(|row| row.name)
        .collect();
    // `rw` replaces the one above; with a seed that is given, streams continue over passes.
    assert_eq!(differ, ["rw", "randseed"]);
}

#[test]
fn numbers_words_and_texts_of_single_options_are_kept() {
    let spec = spec(
        "name=printed\nrw=randtrimwrite\nrate=,1m\nnice=-3\nfallocate=0\nfadvise_hint=noreuse\nnorandommap\n",
    );
    assert_eq!((spec.name.as_str(), spec.rw), ("printed", ReadWrite::RandTrimWrite));
    assert_eq!(spec.rates.bytes.0, [0, 1 << 20, 1 << 20]);
    assert_eq!(
        (spec.nice, spec.layout.fallocate, spec.opening.fadvise),
        (-3, Fallocate::None, Fadvise::NoReuse)
    );
    assert!(!spec.random_map);
}

#[test]
fn a_long_description_is_cut_between_characters() {
    let text = "ä".repeat(200);
    assert_eq!(spec(&format!("description={text}\n")).description, Some("ä".repeat(127)));
}

#[test]
fn sizes_in_zones_need_zones_of_a_device() {
    let job = "[a]\nioengine=null\n";
    let want = "option `size` in zones needs zonemode=zbd";
    assert_eq!(refusals(&format!("{job}size=10z\n")), [want]);
}

#[test]
fn mistakes_are_reported_before_what_is_missing_and_all_at_once() {
    let set = jobs_of(&null(
        "thinktime=5\nioengine=io_uring\nverify_bytchk=1\nzonesize=64k\nrate=1m\nrate_iops=9\n",
    ));
    let mut findings = Findings::default();
    status::check(&set.jobs[0], &mut InertOptions::default(), &mut findings);
    let missing = findings.into_problems();
    let refused = refusals(&null(
        "thinktime=5\nioengine=io_uring\nverify_bytchk=1\nzonesize=64k\nrate=1m\nrate_iops=9\n",
    ));
    let want =
        ["--zonemode=none and --zonesize are not compatible", "rate and rate_iops are mutually exclusive"];
    assert_eq!(refused[..2], want);
    assert_eq!(refused.len(), 2 + missing.len());
    assert!(!missing.is_empty());
}

/// The text that a problem marks in a job file.
fn marked<'a>(text: &'a str, problem: &Diagnostic) -> &'a str {
    let Origin::File { line, column, length, .. } = problem.origin else { return "" };
    let line = text.lines().nth(line as usize - 1).unwrap();
    let start = column as usize - 1;
    line.get(start..start + length as usize).unwrap()
}

#[test]
fn every_rule_has_its_code_and_marks_the_value_to_blame() {
    for (options, code, value) in [
        ("zonesize=64k", "zonesize-without-zonemode", "64k"),
        ("zonemode=strided", "zonemode-without-zonesize", "strided"),
        ("zonemode=strided\nzonesize=4k\nzoneskip=2z", "zoneskip-not-in-bytes", "2z"),
        ("zonemode=zbd\ncreate_serialize=0", "zones-laid-out-at-once", "0"),
        ("zonemode=zbd\nwrite_zone_remainder=1\nnorandommap=0", "zone-remainders-with-random-map", "0"),
        ("sprandom=1\nrw=randread", "sprandom-without-random-writes", "randread"),
        (
            "sprandom=1\nrw=randwrite\nrandom_generator=tausworthe",
            "sprandom-with-other-generator",
            "tausworthe",
        ),
        ("sprandom=1\nrw=randwrite\nnorandommap=0", "sprandom-with-random-map", "0"),
        (
            "rw=randread\nrandom_generator=permute\nrandom_distribution=zipf",
            "permute-with-distribution",
            "zipf",
        ),
        ("rw=randrw\nrandom_generator=permute\nbs=4k,8k", "permute-with-unequal-blocks", "4k,8k"),
        ("rate=1m\nrate_iops=5", "rate-in-bytes-and-ios", "5"),
        ("rate=1m\nrate_min=2m", "minimum-above-rate", "2m"),
        ("rate=1k\nrate_process=poisson", "poisson-without-rate", "poisson"),
        ("max_latency=7\ndisable_lat=1", "latency-limit-without-latencies", "7"),
        ("ramp_time=1\nramp_size=8k", "ramp-in-time-and-bytes", "8k"),
        ("block_error_percentiles=1\nnrfiles=2", "block-errors-of-several-files", "1"),
        ("bs=128k", "size-below-block-size", "64k"),
        ("bssplit=4k/50:4096p/50", "block-size-too-large", "4k/50:4096p/50"),
        ("bssplit=4k/50:16k/50\nbsrange=8k-16k", "bssplit-below-bsrange", "8k-16k"),
        (
            "rw=write\nverify=md5\nverify_only\ntrim_percentage=5\ntrim_backlog=2",
            "verify-only-with-trims",
            "5",
        ),
        ("rw=randrw\nrate=1m\nverify=md5\nexperimental_verify=1", "experimental-verify-impossible", "1"),
        ("iodepth=100m", "buffers-exceed-memory", "100m"),
        ("dedupe_percentage=99\ndedupe_mode=working_set", "dedupe-above-100-percent", "99"),
        ("dedupe_percentage=9\ndedupe_mode=working_set\nnrfiles=2", "dedupe-of-several-files", "working_set"),
        ("rw=trimwrite\nnum_range=3", "trimwrite-with-ranges", "3"),
        ("rw=trim\nnum_range=3", "engine-without-ranges", "3"),
        ("rw=write\natomic=1", "engine-without-atomic-writes", "1"),
        ("fdp=1\ndataplacement=streams", "fdp-with-other-placement", "streams"),
        ("log_issue_time=1", "issue-time-without-offsets", "1"),
        ("ss_dur=4\nss_interval=5ms", "steadystate-interval-too-short", "5ms"),
        ("ss_dur=5\nss_interval=2", "steadystate-duration-not-of-intervals", "2"),
        ("ss_dur=2000000", "steadystate-duration-too-long", "2000000"),
        ("ss=lat:5%\nss_dur=4\ndisable_clat=1", "steadystate-without-latencies", "lat:5%"),
        ("wait_for=b", "waits-for-unknown-job", "b"),
        ("wait_for=a", "waits-for-itself", "a"),
        ("cpus_allowed=9", "no-such-cpu", "9"),
        ("numa_cpu_nodes=999", "invalid-numa-nodes", "999"),
        ("log_alternate_epoch=1\nlog_alternate_epoch_clock_id=99", "no-such-clock", "99"),
        ("job_start_clock_id=99", "no-such-clock", "99"),
        (
            "rw=write\nverify=md5\nverify_interval=128\nverify_offset=100",
            "verify-offset-beyond-interval",
            "100",
        ),
        ("rw=write\nverify=md5\nverify_offset=50", "verify-offset-in-header", "50"),
        ("rw=write\nverify=sha512\nverify_layout=fio-3.40", "verify-layout-without-digest", "fio-3.40"),
        ("rw=write\nverify=pattern", "verify-without-pattern", "pattern"),
        ("numjobs=50000", "too-many-jobs", "50000"),
        ("nrfiles=99999999", "too-many-files", "99999999"),
        ("directory=/nonexistent", "not-a-directory", "/nonexistent"),
        ("ioengine=io_uring\nverify_bytchk=1", "unimplemented-value", "1"),
        ("ioengine=io_uring\nfdp=1", "unavailable-option", "fdp"),
        ("gpu_dev_id=1\nmem=cudamalloc", "unavailable-value", "cudamalloc"),
    ] {
        let text = format!("[a]\nioengine=null\nsize=64k\n{options}\n");
        let problems = problems_of(&text);
        let found = problems.iter().find(|problem| problem.code == code);
        let found = found.unwrap_or_else(|| panic!("{options}: {problems:?}"));
        assert_eq!(marked(&text, found), value, "{options}");
    }
}

#[test]
fn rules_about_several_jobs_have_codes_and_mark_the_later_job() {
    for (jobs, code, value) in [
        ("[b]\n[b]\n[c]\nwait_for=b\n", "waits-for-ambiguous-name", "b"),
        ("[b]\n[c]\nramp_size=8k\n", "ramp-size-differs-in-group", "8k"),
        ("group_reporting\n[b]\n[c]\nlat_percentiles=1\n", "percentiles-differ-in-group", "1"),
        ("[b]\n[c]\nss_interval=2\n", "steadystate-interval-differs", "2"),
        ("[b]\n[c]\nss_dur=4\n", "steadystate-differs-in-group", "4"),
    ] {
        let text = format!("[global]\nioengine=null\nsize=64k\n{jobs}");
        let problem = problems_of(&text).into_iter().next().unwrap();
        assert_eq!((problem.code, marked(&text, &problem)), (code, value), "{jobs}");
    }
}

#[test]
fn options_of_the_run_have_codes_too() {
    let options = PlanOptions { readonly: true, warnings_fatal: true, ..PlanOptions::default() };
    let text = "[a]\nioengine=null\nsize=64k\nrw=write\ntime_based=1\n";
    let problems = crate::plan_for(&MACHINE, &jobs_of(text), &options).unwrap_err().diagnostics;
    let found: Vec<_> = problems.iter().map(|problem| (problem.code, marked(text, problem))).collect();
    assert_eq!(found, [("write-in-read-only-mode", "write"), ("fatal-warning", "1")]);
}
