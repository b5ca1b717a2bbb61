//! The commands that start agents, and copies of the program for hosts that lack it. Commands of this machine stand for hosts.

use std::fs;

use crate::support::{FERRIO, Run, TestDir};

/// A run on the hosts `a` and `b`, whose environment has nothing but `variables`.
fn run_in(dir: &TestDir, variables: &str, options: &[&str]) -> Run {
    let via = format!("--via=env -i HOST={{host}} PATH=/usr/bin:/bin {variables}");
    let job = dir.job("[a]\nrw=write\nsize=4k\nfilename=$host.of\n");
    let words: Vec<&str> =
        ["--hosts=a,b", &*via].into_iter().chain(options.iter().copied()).chain([&*job]).collect();
    dir.ferrio(&words).run()
}

fn assert_written(dir: &TestDir) {
    assert_eq!([dir.size("a.of"), dir.size("b.of")], [Some(4096); 2]);
}

#[test]
fn a_host_that_lacks_the_program_gets_it_for_the_time_of_the_run() {
    let dir = TestDir::new();
    let temporary = dir.work().join("of one's own");
    fs::create_dir(&temporary).unwrap();
    let variables = format!("TMPDIR=\"{}\"", temporary.display());
    run_in(&dir, &variables, &["--copy"]).succeeded();
    assert_written(&dir);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "nothing stays");
}

#[test]
fn a_host_that_has_the_program_gets_no_copy() {
    let dir = TestDir::new();
    // A directory in which nothing can be made would be an error if anything were.
    let path = format!("--ferrio-path={FERRIO}");
    run_in(&dir, "TMPDIR=/proc HOME=/proc", &["--copy", &path]).succeeded();
    assert_written(&dir);
}

#[test]
fn a_program_that_is_not_found_is_said_once_with_what_to_do() {
    let dir = TestDir::new();
    let run = run_in(&dir, "", &[]).ended_with(1);
    let lost = "is lost: no agent answers: env: ‘ferrio’: No such file or directory";
    for host in ["a", "b"] {
        assert!(run.stderr.contains(&format!("{host} {lost}")), "{}", run.stderr);
    }
    assert_eq!(
        run.stderr.matches("--ferrio-path=/opt/bin/ferrio, or send this program along with --copy").count(),
        1
    );
    assert_eq!(dir.size("a.of"), None);
}

#[test]
fn a_command_that_cannot_reach_a_host_is_quoted() {
    let dir = TestDir::new();
    let job = dir.job("[a]\nioengine=null\nsize=4k\n");
    for options in [&["--via=exit 7; : {host}"][..], &["--via=exit 7; : {host}", "--copy"]] {
        let words: Vec<&str> =
            ["--hosts=a"].into_iter().chain(options.iter().copied()).chain([&*job]).collect();
        let stderr = dir.ferrio(&words).run().ended_with(1).stderr;
        assert!(
            stderr.contains("a is lost: no agent answers: the command ended with exit status: 7"),
            "{stderr}"
        );
        assert!(stderr.contains("this must print a version: exit 7; : a ferrio --version"), "{stderr}");
    }
}

#[test]
fn a_way_that_leads_all_hosts_to_one_place_is_refused() {
    let dir = TestDir::new();
    let job = dir.job("[a]\nioengine=null\nsize=4k\n");
    let stderr = dir.ferrio(&["--hosts=a,b", "--via=touch reached;", &job]).run().ended_with(1).stderr;
    assert!(stderr.contains("--via has no {host}: all 2 agents would start in one place"), "{stderr}");
    assert!(!dir.is_written("reached"));
}

#[test]
fn the_copy_goes_over_ssh_and_is_gone_when_the_run_is_over() {
    needs_cluster!();
    let dir = TestDir::new();
    let Some(cluster) = super::cluster::Cluster::start(&dir, 2, &[]) else { return };
    let job = dir.job("[a]\nioengine=null\nsize=4k\n");
    // A version of its own makes both hosts lack this program.
    let run = cluster.program(
        &dir,
        FERRIO,
        &["--hosts=host[1-2]", "--copy", "--ferrio-path=/nowhere/ferrio", &job],
    );
    run.run().succeeded();
    for host in ["host1", "host2"] {
        let left = "ls -d /tmp/ferrio-* /var/tmp/ferrio-* /dev/shm/ferrio-* ~/ferrio-* 2>/dev/null | wc -l";
        assert_eq!(
            cluster.program(&dir, "ssh", &[host, left]).run().succeeded().stdout.trim(),
            "0",
            "{host}"
        );
    }
}

#[test]
fn junit_has_a_case_for_each_entry_of_each_host_and_none_is_green_that_failed() {
    let dir = TestDir::new();
    let job = dir.job("[good]\nioengine=null\nrw=read\nsize=64k\n[bad]\nranks=1\nrw=read\nfilename=$host.none\nallow_file_create=0\nsize=4k\n[full]\nranks=0\nrw=write\nfilename=/dev/full\nfilesize=4k\n");
    let path = format!("--ferrio-path={FERRIO}");
    let words = |hosts: &'static str, via: &'static str| {
        vec![hosts, via, &*path, "--junit=j.xml", "--fail-if=good: read.total_ios >= 32", &*job]
    };
    // The first host does 16 reads, and both together 32.
    let run = dir.ferrio(&words("--hosts=one,two", "--via=exec env H={host}")).run().ended_with(2);
    let xml = dir.read("j.xml");
    let cases = |text: &str| xml.matches(text).count();
    assert_eq!(cases("<testsuite name=\"jobs on one\""), 1, "{xml}");
    assert!(xml.contains("<testcase name=\"good\" classname=\"one\"/>"), "{xml}");
    assert!(xml.contains("<testcase name=\"good\" classname=\"two\"/>"), "{xml}");
    assert_eq!((cases("classname=\"two\">"), cases("type=\"job-failed\"")), (1, 2), "{xml} {}", run.stderr);
    assert_eq!(cases("type=\"threshold-exceeded\""), 1, "{xml}");
    let full = xml.split_once("<testcase name=\"full\" classname=\"one\">").unwrap().1.trim_start();
    assert!(full.starts_with("<error message=") && full.contains("No space left on device"), "{full}");
    // A host that is lost, and one whose jobs run.
    let run =
        dir.ferrio(&words("--hosts=one,away", "--via=[ {host} = one ] || exit 9; exec env H={host}")).run();
    run.ended_with(1);
    let xml = dir.read("j.xml");
    assert!(xml.contains("<testcase name=\"whole host\" classname=\"away\">"), "{xml}");
    assert!(xml.contains("type=\"host-lost\"") && !xml.contains("threshold-exceeded"), "{xml}");
}
