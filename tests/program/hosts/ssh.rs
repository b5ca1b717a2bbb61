//! Runs on hosts that ssh reaches.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::hosts::cluster::Cluster;
use crate::support::{Running, TestDir, until};

/// Reads, and behind a stonewall writes, in a moment.
const TWO_PHASES: &str =
    "[global]\nioengine=null\nsize=64m\nbs=4k\n[a]\nrw=randread\n[b]\nstonewall\nrw=write\n";

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
    let ended = run.wait().ended_with(128);
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
