//! What goes wrong in a run on many hosts: whatever it is, the host is named, what others have measured is kept, and nothing runs on.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{FERRIO, Invocation, Running, TestDir, number, until};

/// Starts what the name of the host says, in a directory of that name. Most are agents.
const VIA: &str = r#"
host=$1
mkdir -p "$host" && cd "$host" || exit 1
echo $$ > pid
case $host in
garbage) exec cat /dev/urandom ;;
web) read -r line; printf 'HTTP/1.1 400 Bad Request\r\n\r\n'; exit ;;
broken) echo 'broken: no such machine' >&2; exit 255 ;;
cut) cat | "$TESTED" agent | cat ;;
slow) "$TESTED" agent | perl -e 'while (sysread STDIN, $bytes, 2048) { syswrite STDOUT, $bytes; select undef, undef, undef, 0.05 }' ;;
full) exec unshare --mount sh -c 'mkdir m && mount -t tmpfs -o size=1m tmpfs m && cd m && exec "$TESTED" agent' ;;
*) exec "$TESTED" agent ;;
esac
"#;

/// A run of this job on these hosts.
fn run<'a>(dir: &'a TestDir, hosts: &str, job: &str, arguments: &[&str]) -> Invocation<'a> {
    fs::write(dir.work().join("via"), VIA).unwrap();
    let (hosts, job) = (format!("--hosts={hosts}"), dir.job(job));
    let words = [hosts.as_str(), "--via=sh via {host}", job.as_str()].into_iter();
    dir.ferrio_in_foreground(&words.chain(arguments.iter().copied()).collect::<Vec<_>>())
        .env("TESTED", FERRIO)
}

/// Writes for some time.
fn writes_for(runtime: &str) -> String {
    format!(
        "[w]\nrw=write\nsize=1m\nfilename=f\ntime_based\nruntime={runtime}\nthinktime=10ms\ncreate_on_open=1\nunlink=1\n"
    )
}

/// Waits until these hosts do I/O.
fn until_they_run(run: &mut Running, dir: &TestDir, hosts: &[&str]) {
    run.until("I/O on all hosts", || hosts.iter().all(|host| dir.is_written(&format!("{host}/f"))));
}

/// The process that was started for a host.
fn process_of(dir: &TestDir, host: &str) -> Pid {
    Pid::from_raw(dir.read(&format!("{host}/pid")).trim().parse().unwrap())
}

fn is_gone(process: Pid) -> bool {
    kill(process, None).is_err()
}

#[test]
fn a_host_whose_agent_is_killed_is_lost_and_the_others_finish() {
    let dir = TestDir::new();
    let mut run = run(&dir, "killed,good", &writes_for("2s"), &[]).start();
    until_they_run(&mut run, &dir, &["killed", "good"]);
    kill(process_of(&dir, "killed"), Signal::SIGKILL).unwrap();
    let run = run.wait().ended_with(1);
    assert!(run.stderr.contains("killed is lost: the connection ended: "), "{}", run.stderr);
    assert!(!run.stderr.contains("good is lost"), "{}", run.stderr);
    assert!(run.stdout.contains("WRITE: bw="), "{}", run.stdout);
    assert_eq!(dir.size("good/f"), None);
}

/// It does not listen, but may write for as long as it likes: it is killed in the end.
#[test]
fn a_host_that_hangs_is_lost_after_a_while() {
    let dir = TestDir::new();
    let mut run = run(&dir, "hung,good", &writes_for("1s"), &[]).start();
    until_they_run(&mut run, &dir, &["hung", "good"]);
    kill(process_of(&dir, "hung"), Signal::SIGSTOP).unwrap();
    let run = run.wait().ended_with(1);
    assert!(run.stderr.contains("hung is lost: no sign of life for 15 s"), "{}", run.stderr);
    assert!(run.stdout.contains("WRITE: bw="), "{}", run.stdout);
}

#[test]
fn an_agent_whose_connection_is_cut_ends_its_jobs() {
    let dir = TestDir::new();
    let mut run = run(&dir, "cut,good", &writes_for("3s"), &[]).start();
    until_they_run(&mut run, &dir, &["cut", "good"]);
    // The shell waits for its pipeline: two times `cat`, and the agent in between.
    let shell = process_of(&dir, "cut");
    let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
    let children: Vec<i32> = children.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    let cut = Instant::now();
    for cat in [children[0], children[2]] {
        kill(Pid::from_raw(cat), Signal::SIGKILL).unwrap();
    }
    until("end of the agent", || is_gone(shell));
    assert!(cut.elapsed() < Duration::from_secs(5), "{:?}", cut.elapsed());
    assert_eq!(dir.size("cut/f"), None);
    let run = run.wait().ended_with(1);
    assert!(run.stderr.contains("cut is lost: the connection ended"), "{}", run.stderr);
    assert!(run.stdout.contains("WRITE: bw="), "{}", run.stdout);
}

/// 40 kB in a second: the rows of the log take longer than the I/Os.
#[test]
fn a_host_that_is_read_slowly_loses_nothing() {
    needs!("perl");
    let dir = TestDir::new();
    let job = "[a]\nioengine=null\nrw=read\nbs=4k\nsize=8m\nwrite_lat_log=rows\n";
    let run = run(&dir, "slow,good", job, &["--output-format=json"]).run().succeeded();
    assert_eq!(number(&run.json(), "/jobs/0/read/total_ios"), 2 * 2048);
    for host in ["slow", "good"] {
        let rows = dir.read(&format!("rows_lat.1.log.{host}"));
        assert_eq!(rows.lines().count(), 2048, "{host}");
    }
}

#[test]
fn what_is_no_agent_is_named() {
    let dir = TestDir::new();
    let job = "[a]\nioengine=null\nsize=1m\nrw=read\n";
    for (host, reason) in [
        ("garbage", "not a message of ferrio"),
        ("web", "not a message of ferrio: `HTTP/1.1 400 Bad Request.`"),
        ("broken", "no agent answers: broken: no such machine"),
    ] {
        let run = run(&dir, &format!("{host},good"), job, &[]).run().ended_with(1);
        let is_named = run.stderr.contains(&format!("{host} is lost: ")) && run.stderr.contains(reason);
        let is_long = host == "garbage" && run.stderr.contains("a message is longer than 4096 bytes");
        assert!(is_named || is_long, "{host}: {}", run.stderr);
        assert!(!run.stderr.contains(|c: char| c.is_control() && c != '\n'), "{:?}", run.stderr);
        assert!(run.stdout.contains("READ: bw="), "{host}: {}", run.stdout);
    }
}

#[test]
fn a_full_disk_of_one_host_is_its_own() {
    needs!("unshare", "mount");
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        assert!(std::env::var_os("CI").is_none(), "CI needs root");
        return;
    }
    let dir = TestDir::new();
    let job = "[w]\nrw=write\nsize=4m\nfilename=f\nfallocate=none\nunlink=1\n";
    let run = run(&dir, "full,good", job, &[]).run().ended_with(1);
    assert!(run.stderr.contains("<full>"), "{}", run.stderr);
    assert!(run.stderr.contains("No space left on device"), "{}", run.stderr);
    assert!(!run.stderr.contains("is lost"), "{}", run.stderr);
}

/// Nobody is there to end them.
#[test]
fn agents_of_a_coordinator_that_is_killed_end_their_jobs_and_remove_their_files() {
    let dir = TestDir::new();
    let mut run = run(&dir, "one,two", &writes_for("100s"), &[]).start();
    until_they_run(&mut run, &dir, &["one", "two"]);
    let agents = ["one", "two"].map(|host| process_of(&dir, host));
    let killed = Instant::now();
    run.signal(Signal::SIGKILL);
    until("end of all agents", || agents.iter().all(|&agent| is_gone(agent)));
    assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
    assert_eq!(["one/f", "two/f"].map(|file| dir.size(file)), [None, None]);
    assert_eq!(run.wait().signal, Some(Signal::SIGKILL as i32));
}

#[test]
fn one_interrupt_ends_the_jobs_of_all_hosts_and_keeps_their_figures() {
    let dir = TestDir::new();
    let mut run = run(&dir, "one,two", &writes_for("100s"), &[]).start();
    until_they_run(&mut run, &dir, &["one", "two"]);
    run.signal(Signal::SIGINT);
    let run = run.wait();
    assert!(run.stdout.contains("WRITE: bw="), "{}\n{}", run.stdout, run.stderr);
    assert!(!run.stderr.contains("is lost"), "{}", run.stderr);
    assert_eq!(["one/f", "two/f"].map(|file| dir.size(file)), [None, None]);
}

#[test]
fn a_second_interrupt_waits_for_nobody() {
    let dir = TestDir::new();
    let mut run = run(&dir, "hung,good", &writes_for("100s"), &[]).start();
    until_they_run(&mut run, &dir, &["hung", "good"]);
    let good = process_of(&dir, "good");
    kill(process_of(&dir, "hung"), Signal::SIGSTOP).unwrap();
    run.signal(Signal::SIGINT);
    // Its jobs end, as after the first interrupt; the other host does not answer.
    run.until("the end of the jobs that can end", || dir.size("good/f").is_none());
    let interrupted = Instant::now();
    run.signal(Signal::SIGINT);
    let run = run.wait();
    assert!(interrupted.elapsed() < Duration::from_secs(10), "{:?}", interrupted.elapsed());
    assert!(run.stderr.contains("hung is lost: its jobs did not end when asked to"), "{}", run.stderr);
    assert!(is_gone(good));
}

#[test]
fn a_run_that_requires_all_hosts_ends_with_the_first_that_is_lost() {
    let dir = TestDir::new();
    let mut run = run(&dir, "killed,good", &writes_for("100s"), &["--require-all"]).start();
    until_they_run(&mut run, &dir, &["killed", "good"]);
    kill(process_of(&dir, "killed"), Signal::SIGKILL).unwrap();
    let run = run.wait();
    assert_ne!(run.status, Some(0));
    assert!(run.stderr.contains("killed is lost: "), "{}", run.stderr);
    assert!(run.stdout.contains("WRITE: bw="), "{}", run.stdout);
}
