//! Runs on hosts that ssh reaches.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::hosts::cluster::Cluster;
use crate::support::{Running, TestDir, json_file, number, text, until};

/// Reads, and behind a stonewall writes, in a moment.
const TWO_PHASES: &str =
    "[global]\nioengine=null\nsize=64m\nbs=4k\n[a]\nrw=randread\n[b]\nstonewall\nrw=write\n";

/// The latencies of an entry, each with its number.
fn bins(entry: &Value) -> BTreeMap<u64, u64> {
    let bins = entry["clat_ns"]["bins"].as_object().unwrap_or_else(|| panic!("no bins in {entry:#}"));
    bins.iter().map(|(ns, count)| (ns.parse().unwrap(), count.as_u64().unwrap())).collect()
}

/// The percentiles of these latencies, for percentages that are exact in binary.
fn percentiles(bins: &BTreeMap<u64, u64>, list: &[f64]) -> Vec<u64> {
    let count: u64 = bins.values().sum();
    let of = |percent: &f64| {
        let (mut seen, rank) = (0, (percent / 100.0 * count as f64).ceil() as u64);
        let reached = bins.iter().find(|(_, count)| {
            seen += *count;
            seen >= rank
        });
        *reached.unwrap().0
    };
    list.iter().map(of).collect()
}

#[test]
fn four_hosts_are_one_run_and_their_percentiles_are_those_of_all_samples() {
    needs_cluster!();
    let dir = TestDir::new();
    let Some(cluster) = Cluster::start(&dir, 4, &[]) else { return };
    let list = [1.0, 25.0, 50.0, 75.0, 87.5, 96.875, 99.609375];
    let words: Vec<String> = list.iter().map(f64::to_string).collect();
    let job = dir.job(&TWO_PHASES.replace("[a]", &format!("percentile_list={}\n[a]", words.join(":"))));
    let formats = "--output-format=normal,json+:report.json";
    let run =
        cluster.ferrio(&dir, &["--hosts=host[1-4]", "--host-documents", &job, formats]).run().succeeded();
    let report = json_file(&dir.work().join("report.json"));
    let hosts = report["ferrio"]["hosts"].as_array().unwrap();
    let names: Vec<&str> = hosts.iter().map(|host| text(host, "/name")).collect();
    assert_eq!(names, ["host1", "host2", "host3", "host4"]);
    for name in names {
        assert!(run.stdout.contains(name), "{name}\n{}", run.stdout);
    }
    for (at, direction) in [(0, "read"), (1, "write")] {
        let merged = &report["jobs"][at][direction];
        let mut union = BTreeMap::new();
        for host in hosts {
            for (ns, count) in bins(&host["document"]["jobs"][at][direction]) {
                *union.entry(ns).or_default() += count;
            }
        }
        assert_eq!(number(merged, "/total_ios"), 4 * (64 << 20) / 4096);
        assert_eq!(bins(merged), union);
        let reported: Vec<u64> = merged["clat_ns"]["percentile"]
            .as_object()
            .unwrap()
            .values()
            .map(|ns| ns.as_u64().unwrap())
            .collect();
        assert_eq!(reported, percentiles(&union, &list));
        let ios = format!("issued rwts: total={}", if at == 0 { "65536,0,0,0" } else { "0,65536,0,0" });
        assert!(run.stdout.contains(&ios), "{ios}\n{}", run.stdout);
    }
    for host in hosts {
        let phases = host["phases"].as_array().unwrap();
        assert_eq!(phases.len(), 2);
        for phase in phases {
            // Whoever waits for a CPU begins late, but nobody begins early.
            let (planned, reached) = (number(phase, "/planned_us"), phase["reached_us"].as_i64().unwrap());
            assert!(reached + number(phase, "/bound_us") as i64 >= planned as i64, "{phase}");
        }
    }
    // No host begins the second phase before all have ended the first.
    let second = number(&hosts[0], "/phases/1/planned_us");
    assert!(hosts.iter().all(|host| number(host, "/phases/1/planned_us") == second));
}

#[test]
fn clocks_and_networks_of_hosts_may_be_bad_and_starts_are_within_their_bounds() {
    needs_cluster!();
    let dir = TestDir::new();
    let clocks = ["--wall-clock", "host2=3600", "--wall-clock", "host3=-86400"];
    let Some(mut cluster) = Cluster::start(&dir, 4, &clocks) else { return };
    // What host 4 sends takes 20 ms longer than what is sent to it: the middle of a round trip is 10 ms off.
    cluster.change("host4", "delay=20ms loss=1%");
    let run = cluster.ferrio(
        &dir,
        &["--hosts=host[1-4]", "--host-documents", &dir.job(TWO_PHASES), "--output-format=json"],
    );
    let report = run.run().succeeded().json();
    let hosts = report["ferrio"]["hosts"].as_array().unwrap();
    let bound = |host: &Value| host["phases"][0]["bound_us"].as_i64().unwrap();
    assert!(bound(&hosts[3]) >= 10_000, "{}", bound(&hosts[3]));
    // All clocks are that of this machine, but for what was made wrong.
    let mut errors = [[0; 2]; 4];
    for phase in [0, 1] {
        let began = |at: usize, ahead_ms: i64| {
            let wall_ms = hosts[at]["document"]["jobs"][phase]["job_start"].as_i64().unwrap() - ahead_ms;
            let reported = &hosts[at]["phases"][phase];
            (wall_ms * 1000, reported["reached_us"].as_i64().unwrap(), reported["bound_us"].as_i64().unwrap())
        };
        let (first, ..) = began(0, 0);
        let (_, reached, bound) = began(0, 0);
        for (at, ahead_ms) in [(1, 3_600_000), (2, -86_400_000), (3, 0)] {
            let (other, other_reached, other_bound) = began(at, ahead_ms);
            let error = ((other - first) - (other_reached - reached)).abs();
            errors[at][phase] = error - bound - other_bound;
        }
    }
    for (at, error) in errors.iter().enumerate() {
        // The start of a job is in whole ms, and some moments before its phase is told to have begun. On a busy machine the moments may be
        // long in one phase; a clock that is understood wrongly is wrong in both.
        assert!(error.iter().any(|error| *error <= 5_000), "host {at}: {error:?} us in {report:#}");
    }
    let longest = report["jobs"].as_array().unwrap().iter().map(|job| number(job, "/elapsed")).max();
    assert!(longest.unwrap() < 60, "wall clocks are part of {report:#}");
}

#[test]
fn a_host_that_ssh_does_not_reach_is_named_with_the_words_of_ssh() {
    needs_cluster!();
    let dir = TestDir::new();
    let Some(mut cluster) = Cluster::start(&dir, 3, &[]) else { return };
    cluster.change("host3", "off");
    let run = |hosts: &str| {
        let job = dir.job(TWO_PHASES);
        cluster.ferrio(&dir, &[&format!("--hosts={hosts}"), &job, "--output-format=json"]).run().ended_with(1)
    };
    let stderr = run("host1,nohost,nobody@host2,host3").messages();
    for words in [
        "nohost is lost: no agent answers: ssh: Could not resolve hostname nohost: ",
        "nobody@host2 is lost: no agent answers: nobody@host2: Permission denied (publickey",
        "host3 is lost: no agent answers: ssh: connect to host host3 port 22: ",
    ] {
        assert!(stderr.contains(words), "{words}\n{stderr}");
    }
    // Keys of hosts that have changed are ssh's business as well.
    fs::write(cluster.file("known_hosts"), "").unwrap();
    let stderr = run("host1").messages();
    assert!(stderr.contains("host1 is lost: no agent answers: Host key verification failed."), "{stderr}");
}

/// A job that writes a file until it is told to end, and removes it then.
const ENDLESS: &str = "[a]\nioengine=psync\nfilename=data\nrw=write\nsize=64k\nrate_iops=100\ntime_based\nruntime=600\nunlink=1\n";

/// Starts [`ENDLESS`] on two hosts, and returns when it runs on both.
fn endless_run(dir: &TestDir, cluster: &Cluster) -> Running {
    let mut run =
        cluster.ferrio(dir, &["--hosts=host[1-2]", &dir.job(ENDLESS), "--output-format=json"]).start();
    run.until("start of the jobs", || ["host1", "host2"].iter().all(|host| is_written(cluster, host)));
    run
}

fn is_written(cluster: &Cluster, host: &str) -> bool {
    fs::metadata(cluster.home(host).join("data")).is_ok_and(|file| file.len() == 64 << 10)
}

#[test]
fn a_host_whose_network_breaks_down_is_lost_and_ends_its_jobs() {
    needs_cluster!();
    let dir = TestDir::new();
    let Some(mut cluster) = Cluster::start(&dir, 2, &[]) else { return };
    let mut run = endless_run(&dir, &cluster);
    cluster.change("host2", "down");
    let stderr = run.stderr_path();
    run.until("loss of a host", || fs::read_to_string(&stderr).unwrap().contains("host2 is lost"));
    until("end of the jobs of the lost host", || cluster.processes_on("host2", "ferrio") == 0);
    assert!(!cluster.home("host2").join("data").exists(), "the file of the lost host is left");
    assert!(is_written(&cluster, "host1"));
    run.signal(Signal::SIGINT);
    let ended = run.wait().ended_with(129);
    assert!(ended.stderr.contains("host2 is lost: no sign of life for 15 s"), "{}", ended.stderr);
    assert_eq!(cluster.processes_on("host1", "ferrio"), 0);
    assert!(!cluster.home("host1").join("data").exists());
}

#[test]
fn agents_end_with_a_coordinator_that_is_killed() {
    needs_cluster!();
    let dir = TestDir::new();
    let Some(cluster) = Cluster::start(&dir, 2, &[]) else { return };
    let run = endless_run(&dir, &cluster);
    run.signal(Signal::SIGKILL);
    let killed = Instant::now();
    for host in ["host1", "host2"] {
        until("end of the agents", || cluster.processes_on(host, "ferrio") == 0);
        assert!(!cluster.home(host).join("data").exists(), "the file on {host} is left");
    }
    assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
    assert_eq!(run.wait().signal, Some(9));
}
