//! What one job file says to each host of a run: `$host`, `$rank`, `$ranks`, `hosts=`, `ranks=` and stonewalls. Commands of this machine
//! stand for hosts.

use crate::support::{FERRIO, Run, TestDir};

/// A run on these hosts, whose agents are this program.
fn run_on(dir: &TestDir, hosts: &str, options: &[&str], job: &str) -> Run {
    let path = format!("--ferrio-path={FERRIO}");
    let hosts = format!("--hosts={hosts}");
    let job = dir.job(job);
    let words: Vec<&str> = [&*hosts, "--via=env HOST={host}", &*path]
        .into_iter()
        .chain(options.iter().copied())
        .chain([&*job])
        .collect();
    dir.ferrio(&words).run()
}

/// Names and sizes of the files that jobs have made.
fn written(dir: &TestDir) -> Vec<(String, u64)> {
    dir.files().into_iter().filter(|(name, _)| name.contains("of")).collect()
}

const WRITE: &str = "[global]\nrw=write\nbs=4k\nsize=($rank+1)*4k\nfilename=$host.$rank-of-$ranks\n";

#[test]
fn names_of_files_and_values_differ_by_host() {
    let dir = TestDir::new();
    run_on(&dir, "x,me@y", &[], &format!("{WRITE}[a]\n")).succeeded();
    assert_eq!(written(&dir), [("x.0-of-2".to_owned(), 4096), ("y.1-of-2".to_owned(), 8192)]);
}

#[test]
fn a_job_file_for_many_hosts_runs_alone() {
    let dir = TestDir::new();
    let job = dir.job("[a]\nrw=write\nsize=($rank+1)*4k\nfilename=$rank-of-$ranks\n");
    dir.ferrio(&[&job]).run().succeeded();
    dir.ferrio(&["--name=b", "--rw=write", "--size=$ranks*8k", "--filename=${host}b-of"]).run().succeeded();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim();
    let mut files = [("0-of-1".to_owned(), 4096), (format!("{host}b-of"), 8192)];
    files.sort();
    assert_eq!(written(&dir), files);
}

#[test]
fn called_fio_the_words_are_text() {
    let dir = TestDir::new();
    let job = dir.job("[a]\nrw=write\nsize=4k\nfilename=$host-of-$rank\n");
    dir.ferrio(&["--as=fio", &job]).run().succeeded();
    assert_eq!(written(&dir), [("$host-of-$rank".to_owned(), 4096)]);
}

#[test]
fn a_section_runs_on_its_hosts_only() {
    let dir = TestDir::new();
    let job = "[global]\nrw=write\nsize=4k\n[all]\nfilename=all-of-$rank\n[named]\nhosts=n[1-2]\nfilename=named-of-$rank\n\
               [ranked]\nstonewall\nranks=0,2-\nfilename=ranked-of-$rank\n";
    run_on(&dir, "n[0-3]", &[], job).succeeded();
    let names: Vec<String> = written(&dir).into_iter().map(|(name, _)| name).collect();
    let expected = [
        "all-of-0",
        "all-of-1",
        "all-of-2",
        "all-of-3",
        "named-of-1",
        "named-of-2",
        "ranked-of-0",
        "ranked-of-2",
        "ranked-of-3",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_stonewall_holds_across_hosts() {
    let dir = TestDir::new();
    let now = "date +%s%N >$jobname.$host";
    let job = format!(
        "[global]\nioengine=null\nsize=1m\n[slow]\nhosts=a\nexec_postrun={}\ntime_based\nruntime=300ms\n\
         [then]\nstonewall\nhosts=b\nexec_prerun={}\n[last]\nstonewall\nexec_prerun={}\n",
        now.replace("$jobname", "slow"),
        now.replace("$jobname", "then"),
        now.replace("$jobname", "last"),
    );
    run_on(&dir, "a,b,c", &[], &job).succeeded();
    let at = |name: &str| dir.read(name).trim().parse::<u64>().unwrap();
    assert!(at("slow.a") <= at("then.b"));
    for host in ["a", "b", "c"] {
        assert!(at("then.b") <= at(&format!("last.{host}")), "{host}");
    }
}

#[test]
fn hosts_that_the_run_lacks_are_refused_before_any_is_reached() {
    let dir = TestDir::new();
    let hosts = |job: &str, hosts: &str| {
        let job = dir.job(job);
        let hosts = format!("--hosts={hosts}");
        dir.ferrio(&[&*hosts, "--via=touch {host}.reached;", &*job]).run().ended_with(1).stderr
    };
    let stderr = hosts("[a]\nioengine=null\nsize=4k\nhosts=a,c\n", "a,b");
    assert!(stderr.contains("error: `c` is not a host of this run\n --> "), "{stderr}");
    assert!(stderr.contains("--set hosts=all"), "{stderr}");
    assert!(!dir.is_written("a.reached"));
    let alone = dir.job("[a]\nioengine=null\nsize=4k\nranks=1-\n");
    let stderr = dir.ferrio(&[&alone]).run().ended_with(1).stderr;
    assert!(
        stderr.contains("error: there is no rank 1 in this run of one host, which has rank 0"),
        "{stderr}"
    );
    dir.ferrio(&["--set", "ranks=0-", &alone]).run().succeeded();
}
