//! `ferrio check --hosts`: the plans of all hosts before anything runs. Commands of this machine stand for hosts.

use crate::support::{FERRIO, Invocation, TestDir, number, text};

const JOB: &str = "[global]\nrw=write\nsize=1m\nend_fsync=1\nfilename=$host.data\n[a]\nhosts=x,y\n[b]\nstonewall\nranks=1-\nrw=read\n";

fn check<'a>(dir: &'a TestDir, hosts: &str, options: &[&str]) -> Invocation<'a> {
    let (hosts, path) = (format!("--hosts={hosts}"), format!("--ferrio-path={FERRIO}"));
    let job = dir.job(JOB);
    let words = ["check", &*hosts, "--via=env HOST={host}", &*path].into_iter();
    dir.ferrio(&words.chain(options.iter().copied()).chain([&*job]).collect::<Vec<_>>())
}

#[test]
fn each_host_has_the_plan_of_its_sections_and_nothing_runs() {
    let dir = TestDir::new();
    let report = check(&dir, "x,me@y,z", &["--output-format=json"]).run().succeeded().json();
    let hosts = report["hosts"].as_array().unwrap();
    let names: Vec<_> = hosts.iter().map(|host| text(host, "/host")).collect();
    assert_eq!(names, ["x", "me@y", "z"]);
    let phases = |at: usize| {
        let phases = hosts[at]["check"]["phases"].as_array().unwrap();
        phases.iter().map(|phase| number(phase, "/number")).collect::<Vec<_>>()
    };
    assert_eq!([phases(0), phases(1), phases(2)], [vec![1], vec![1, 2], vec![2]]);
    assert!(text(&hosts[1], "/check/jobs/0/files/0/path").ends_with("y.data"), "{}", hosts[1]);
    assert!(hosts.iter().all(|host| number(host, "/clock_bound_ns") > 0));
    assert_eq!(dir.files().iter().filter(|(name, _)| name.ends_with(".data")).count(), 0);
}

#[test]
fn what_differs_stands_below_the_names_of_the_hosts() {
    let dir = TestDir::new();
    let stdout = check(&dir, "x,y", &["--set", "filename=same.data"]).run().succeeded().stdout;
    assert!(stdout.starts_with("hosts\n  x ("), "{stdout}");
    // Both have the first section, and the second host alone the second.
    assert_eq!(stdout.matches("  a: write").count(), 1, "{stdout}");
    assert!(stdout.contains("on y:\nphase 2: after phase 1 (stonewall)"), "{stdout}");
    assert!(!stdout.contains("on x, y:"), "{stdout}");
}

#[test]
fn a_host_that_cannot_be_asked_is_an_error() {
    let dir = TestDir::new();
    let path = format!("--ferrio-path={FERRIO}");
    let job = dir.job("[a]\nrw=write\nsize=4k\nfilename=$host.data\n");
    let run = |via: &str| {
        let words = ["check", "--hosts=x,y", &*path, via, "--output-format=json", &job];
        dir.ferrio(&words).run().ended_with(1)
    };
    let report = run("--via=test {host} != y || exit 9;").json();
    assert_eq!(text(&report, "/status"), "errors");
    assert_eq!(report["hosts"][0]["lost"], serde_json::Value::Null);
    let lost = text(&report, "/hosts/1/lost");
    assert_eq!(lost, "no agent answers: the command ended with exit status: 9");
    assert_eq!(report["hosts"][1]["check"], serde_json::Value::Null);
}
