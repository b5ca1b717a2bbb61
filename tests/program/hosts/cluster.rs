//! Hosts with ssh on this machine, made by `tests/clusters/hosts`, which says how.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::support::{FERRIO, Invocation, TestDir, installed, skipped, until};

/// What [`Cluster::start`] needs, beside root.
macro_rules! needs_cluster {
    () => {
        needs!("faketime", "nsenter", "python3", "ssh", "sshd")
    };
}

/// Hosts `host1`, `host2` and so on, and the `head`, from which `ssh host1` works.
pub struct Cluster {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    directory: PathBuf,
}

impl Cluster {
    /// So many hosts. `None` where the test may not make them; CI may.
    pub fn start(dir: &TestDir, hosts: usize, options: &[&str]) -> Option<Self> {
        let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
        if !is_root || fs::metadata("/dev/net/tun").is_err() {
            assert!(std::env::var_os("CI").is_none(), "CI needs root and /dev/net/tun");
            skipped(std::thread::current().name().unwrap_or_default(), "hosts need root and /dev/net/tun");
            return None;
        }
        let bin = dir.beside("bin");
        fs::create_dir(&bin).unwrap();
        symlink(FERRIO, bin.join("ferrio")).unwrap();
        let directory = dir.beside("hosts");
        let mut child = Command::new(installed("python3"))
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clusters/hosts"))
            .args([&directory, &PathBuf::from(hosts.to_string()), &PathBuf::from("--bin"), &bin])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut cluster = Cluster { child, commands, answers, directory };
        cluster.expect_answer("ready");
        Some(cluster)
    }

    /// A program on the head, in the work directory.
    pub fn program<'a>(&self, dir: &'a TestDir, program: &str, arguments: &[&str]) -> Invocation<'a> {
        let (head, work) = (self.child.id().to_string(), dir.work());
        let enter =
            ["--target", &head, "--net", "--uts", "--mount", "--", "env", "-C", work.to_str().unwrap()];
        let words: Vec<&str> = enter.into_iter().chain([program]).chain(arguments.iter().copied()).collect();
        dir.program(installed("nsenter"), &words)
    }

    /// ferrio on the head, in the work directory.
    pub fn ferrio<'a>(&self, dir: &'a TestDir, arguments: &[&str]) -> Invocation<'a> {
        self.program(dir, FERRIO, arguments)
    }

    /// Changes a host or its network: `delay=20ms`, `loss=1%`, `down`, `up`, `off`.
    pub fn change(&mut self, host: &str, change: &str) {
        writeln!(self.commands, "{host} {change}").unwrap();
        self.expect_answer("done");
    }

    fn expect_answer(&mut self, answer: &str) {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), answer);
    }

    /// The directory in which ssh starts programs on a host.
    pub fn home(&self, host: &str) -> PathBuf {
        self.directory.join(host)
    }

    /// A file of the head, such as `known_hosts`.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The number of processes with this name that run in the home of a host.
    pub fn processes_on(&self, host: &str, name: &str) -> usize {
        let home = self.home(host);
        let runs_there = |process: &PathBuf| {
            fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == home)
                && fs::read_to_string(process.join("comm")).is_ok_and(|comm| comm.trim_end() == name)
        };
        processes().filter(runs_there).count()
    }

    /// The number of processes that the hosts and their maker consist of, sessions apart.
    fn processes(&self) -> usize {
        let directory = self.directory.to_str().unwrap();
        let lines = processes().filter_map(|process| fs::read(process.join("cmdline")).ok());
        lines.filter(|line| String::from_utf8_lossy(line).contains(directory)).count()
    }
}

/// The directories in `/proc` of this machine, which has the processes of its hosts, too.
fn processes() -> impl Iterator<Item = PathBuf> {
    fs::read_dir("/proc").unwrap().filter_map(Result::ok).map(|entry| entry.path())
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Ends when there are no more commands, but it may be as ill as the test that fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn hosts_have_names_clocks_and_networks_of_their_own() {
    needs_cluster!();
    let dir = TestDir::new();
    let Some(mut cluster) = Cluster::start(&dir, 2, &["--wall-clock", "host2=3600"]) else { return };
    let look = "hostname; pwd; date +%s; cut -d. -f1 /proc/uptime; ps ax | wc -l; which ferrio";
    let ask = |host: &str| {
        let run = cluster.program(&dir, "ssh", &[host, look]).run().succeeded();
        run.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (one, two) = (ask("host1"), ask("host2"));
    let number = |lines: &[String], at: usize| lines[at].parse::<i64>().unwrap();
    assert_eq!((&*one[0], &*two[0]), ("host1", "host2"));
    assert_eq!(
        [&one[1], &two[1]],
        ["host1", "host2"].map(|host| cluster.home(host).to_str().unwrap().to_owned()).each_ref()
    );
    assert!((3600..3630).contains(&(number(&two, 2) - number(&one, 2))), "{one:?} {two:?}");
    assert!((1000..1030).contains(&(number(&two, 3) - number(&one, 3))), "{one:?} {two:?}");
    // The processes of this machine are not theirs.
    assert!(number(&one, 4) < 12, "{one:?}");
    assert_eq!(one[5], dir.beside("bin/ferrio").to_str().unwrap());

    cluster.change("host1", "delay=100ms");
    cluster.change("host2", "down");
    let connect = |host: &str| {
        let began = Instant::now();
        (cluster.program(&dir, "ssh", &["-o", "ConnectTimeout=1", host, "true"]).run(), began.elapsed())
    };
    let (run, time) = connect("host1");
    run.succeeded();
    assert!(time.as_millis() > 500, "{time:?}");
    let stderr = connect("host2").0.ended_with(255).stderr;
    assert_eq!(stderr.trim_end(), "ssh: connect to host host2 port 22: Connection timed out");
}

#[test]
fn hosts_end_with_the_process_that_made_them() {
    needs_cluster!();
    let dir = TestDir::new();
    let Some(mut cluster) = Cluster::start(&dir, 3, &[]) else { return };
    // Each host is its server and the process that holds its namespaces.
    assert_eq!(cluster.processes(), 1 + 3 * 2);
    let orphan = format!("tail -f {}/known_hosts > tail 2>&1 &", cluster.directory.display());
    for host in ["host1", "host2"] {
        cluster.program(&dir, "ssh", &[host, &orphan]).run().succeeded();
    }
    assert_eq!(cluster.processes(), 1 + 3 * 2 + 2);
    cluster.change("host2", "off");
    until("end of one host", || cluster.processes() == 1 + 2 * 2 + 1);
    cluster.child.kill().unwrap();
    until("end of all hosts", || cluster.processes() == 0);
}
