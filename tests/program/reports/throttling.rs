//! CPUs that are throttled: `ferrio.throttling` and the warning about the limit of a control group.

use std::fs;
use std::path::PathBuf;

use ferrio_machine::Mounts;
use serde_json::Value;

use crate::schemas::Schema;
use crate::support::{FERRIO, Run, TestDir, skipped, text};

/// A control group that may use a twentieth of a CPU. Dropping it removes it.
struct LimitedGroup {
    directory: PathBuf,
    /// The group above it.
    parent: PathBuf,
    /// The controller was enabled for it.
    enabled: bool,
}

impl LimitedGroup {
    /// Makes one; `None` where that is not possible.
    fn make(test: &str) -> Option<Self> {
        let mounts = Mounts::known();
        let with_cpu = |options: &str| options.split(',').any(|option| option == "cpu");
        let v1 = mounts.0.iter().find(|mount| mount.file_system == "cgroup" && with_cpu(&mount.options));
        let parent =
            v1.or_else(|| mounts.0.iter().find(|mount| mount.file_system == "cgroup2"))?.point.clone();
        let enabled = v1.is_none() && {
            let control = parent.join("cgroup.subtree_control");
            let has_cpu =
                fs::read_to_string(&control).ok()?.split_ascii_whitespace().any(|name| name == "cpu");
            !has_cpu && fs::write(&control, "+cpu").is_ok()
        };
        // No other test, nor a run of this one at the same time, has this group.
        let directory = parent.join(format!("ferrio-test-limit-{}-{test}", std::process::id()));
        fs::create_dir(&directory).ok()?;
        let group = LimitedGroup { directory, parent, enabled };
        let limits: &[(&str, &str)] = match v1 {
            Some(_) => &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "5000")],
            None => &[("cpu.max", "5000 100000")],
        };
        // The kernel has these files; where it has not, nothing is to be created.
        let set = |&(name, value): &(&str, &str)| {
            let file = group.directory.join(name);
            file.exists() && fs::write(file, value).is_ok()
        };
        limits.iter().all(set).then_some(group)
    }

    /// A run of ferrio in this group, which prints the group's times before and after the I/O into files.
    fn run(&self, dir: &TestDir, words: &[&str]) -> Run {
        let stat = self.directory.join("cpu.stat");
        let script = "echo $$ > \"$0\" && exec \"$@\"";
        let members = self.directory.join("cgroup.procs");
        let look = |when: &str| format!("--exec_{when}=cat {}", stat.display());
        let job =
            ["--name=a", "--ioengine=null", "--rw=randread", "--size=1g", "--time_based", "--runtime=2"];
        let (before, after) = (look("prerun"), look("postrun"));
        let all = [&["-c", script, members.to_str().unwrap(), FERRIO][..], words, &job, &[&before, &after]];
        dir.program("sh", &all.concat()).run()
    }

    /// The time in which the group was stopped, that with the groups that this machine may have above it, and that of the one above it, ms.
    fn throttled_ms(&self) -> [u64; 3] {
        let files = [
            self.directory.join("cpu.stat"),
            self.directory.join("cpu.stat.local"),
            self.parent.join("cpu.stat"),
        ];
        files.map(|file| fs::read_to_string(file).ok().and_then(|text| parsed_ms(&text)).unwrap_or(0))
    }
}

impl Drop for LimitedGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.directory);
        if self.enabled {
            let _ = fs::write(self.parent.join("cgroup.subtree_control"), "-cpu");
        }
    }
}

/// The time in which a group was stopped, ms: version 2 has it in us, version 1 in ns.
fn parsed_ms(cpu_stat: &str) -> Option<u64> {
    let figure =
        |name: &str| cpu_stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    figure("throttled_usec ")
        .map(|us| us / 1000)
        .or_else(|| figure("throttled_time ").map(|ns| ns / 1_000_000))
}

fn limited_group(test: &str) -> Option<LimitedGroup> {
    let group = LimitedGroup::make(test);
    if group.is_none() {
        skipped(test, "no cgroup with a CPU limit can be made here");
    }
    group
}

fn codes(document: &Value) -> Vec<&str> {
    let warnings = document["ferrio"]["warnings"].as_array();
    warnings.into_iter().flatten().map(|warning| text(warning, "/code")).collect()
}

#[test]
fn a_cpu_limit_is_in_the_document_and_has_a_warning() {
    let Some(group) = limited_group("a_cpu_limit_is_in_the_document_and_has_a_warning") else { return };
    let dir = TestDir::new();
    let before = group.throttled_ms();
    let run = group.run(&dir, &["--output-format=json+"]).succeeded();
    let after = group.throttled_ms();
    let document = run.json();
    assert_eq!(Schema::of("report.schema.json").mistakes(&document), [""; 0]);
    let periods = document["ferrio"]["throttling"].as_array().unwrap_or_else(|| panic!("{}", run.stderr));
    let figure = |period: &Value, name: &str| period[name].as_u64().unwrap_or_else(|| panic!("{period}"));
    let mut last = 0;
    let mut sum = 0;
    for period in periods.iter().filter(|period| period["cause"] == "cgroup") {
        let (from, to) = (figure(period, "from_ms"), figure(period, "to_ms"));
        assert!(from < to && last <= from, "{periods:?}");
        last = to;
        sum += figure(period, "throttled_ms");
    }
    let elapsed = document["ferrio"]["run"]["elapsed_ms"].as_u64().unwrap();
    assert!(last <= elapsed, "{last} of {elapsed} ms");
    // The kernel's own figures: those of the whole program, and those from before to after the I/O.
    let most = before.iter().zip(after).map(|(before, after)| after - before).max().unwrap();
    let [began, ended] =
        ["prerun", "postrun"].map(|when| parsed_ms(&dir.read(&format!("a.{when}.txt"))).unwrap());
    let rounded = periods.len() as u64 + 1;
    assert!(began < ended && sum + rounded >= ended - began, "{sum} ms, {began} to {ended}: {periods:?}");
    assert!(sum <= most + rounded, "{sum} of {most} ms: {periods:?}");
    assert!(codes(&document).contains(&"cpu-limit"), "{document:#}");
    assert!(
        run.stderr.contains("warning: the CPU limit of the cgroup stopped threads for "),
        "{}",
        run.stderr
    );
}

#[test]
fn called_fio_nothing_is_said_of_a_cpu_limit() {
    let Some(group) = limited_group("called_fio_nothing_is_said_of_a_cpu_limit") else { return };
    let dir = TestDir::new();
    let run = group.run(&dir, &["--as=fio", "--output-format=json+"]).succeeded();
    let document = run.json();
    assert!(document["ferrio"]["throttling"].is_null() && !codes(&document).contains(&"cpu-limit"));
    assert!(!run.stderr.contains("cgroup"), "{}", run.stderr);
}
