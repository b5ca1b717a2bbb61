//! Runs that a launcher starts: mpirun, srun, an Indexed Job, or a user who says which rank each process is.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Instant;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::cluster::Cluster;
use crate::support::{FERRIO, Invocation, Run, Running, TestDir};

/// 16 reads.
const JOB: &str = "[a]\nioengine=null\nsize=64k\n";
/// Runs until somebody ends it.
const ENDLESS: &str = "[a]\nioengine=null\nsize=64k\ntime_based\nruntime=600\nthinktime=1ms\n";

/// The names of the hosts in a report, and the number of reads of all together.
#[track_caller]
fn hosts_and_reads(report: &Value) -> (Vec<&str>, u64) {
    let hosts = report["ferrio"]["hosts"].as_array().unwrap_or_else(|| panic!("no hosts in {report:#}"));
    let names = hosts.iter().map(|host| host["name"].as_str().unwrap()).collect();
    (names, report["jobs"][0]["read"]["total_ios"].as_u64().unwrap())
}

/// Fails unless the run has one report of these ranks of this host.
#[track_caller]
fn has_ranks_of_this_host(run: &Run, count: u64) {
    let report = run.json();
    let (names, reads) = hosts_and_reads(&report);
    let host = nix::sys::utsname::uname().unwrap().nodename().to_str().unwrap().to_owned();
    let expected: Vec<String> = (0..count).map(|rank| format!("{host}.{rank}")).collect();
    assert_eq!((names, reads), (expected.iter().map(String::as_str).collect(), 16 * count));
}

/// mpirun of one of the two, with four processes on this machine.
fn mpirun<'a>(dir: &'a TestDir, which: &str, words: &[&str]) -> Invocation<'a> {
    let options: &[&str] = if which == "openmpi" { &["--oversubscribe"] } else { &[] };
    let program = format!("mpirun.{which}");
    let words: Vec<&str> = options.iter().chain(["-n", "4", FERRIO].iter()).chain(words).copied().collect();
    let run = dir.program(crate::support::installed(&program), &words);
    // Its session directory goes with the test.
    run.env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("TMPDIR", dir.beside("").to_str().unwrap())
}

#[test]
fn four_processes_of_mpirun_are_one_run_with_one_report() {
    needs!("mpirun.openmpi", "mpirun.mpich");
    let dir = TestDir::new();
    let job = dir.job(JOB);
    for which in ["openmpi", "mpich"] {
        let run = mpirun(&dir, which, &["--output-format=json", &job]).run().succeeded();
        has_ranks_of_this_host(&run, 4);
        assert_eq!(run.messages(), "", "{which}");
        // Each by itself, as before.
        let run = mpirun(&dir, which, &["--ranks=off", "--output-format=terse", &job]).run().succeeded();
        assert_eq!(run.stdout.lines().count(), 4, "{which}: {}", run.stdout);
        // Help and mistakes come once, from rank 0.
        let run = mpirun(&dir, which, &["--version"]).run().succeeded();
        assert_eq!(run.stdout.lines().count(), 1, "{which}: {}", run.stdout);
        let run = mpirun(&dir, which, &["--bogus", &job]).run().ended_with(1);
        assert_eq!(run.stderr.matches("unrecognized option").count(), 1, "{which}: {}", run.stderr);
        let run = mpirun(&dir, which, &["no-such-file.fio"]).run().ended_with(1);
        assert_eq!(run.stderr.matches("error: ").count(), 1, "{which}: {}", run.stderr);
    }
}

#[test]
fn called_fio_processes_of_mpirun_run_each_by_itself() {
    needs!("mpirun.mpich");
    let dir = TestDir::new();
    let job = dir.job(JOB);
    let run = mpirun(&dir, "mpich", &["--as=fio", "--minimal", &job]).run().succeeded();
    assert_eq!(run.stdout.lines().count(), 4, "{}", run.stdout);
}

/// A port that was free a moment ago.
fn free_port() -> String {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port().to_string()
}

/// One of three ranks on this machine that no launcher has started.
fn rank<'a>(dir: &'a TestDir, number: usize, port: &str, words: &[&str]) -> Invocation<'a> {
    let rank = [
        "--ranks=3".to_owned(),
        format!("--rank={number}"),
        format!("--rendezvous=127.0.0.1:{port}"),
        "--output-format=json".to_owned(),
    ];
    dir.ferrio(&rank.iter().map(String::as_str).chain(words.iter().copied()).collect::<Vec<_>>())
}

/// Starts three ranks, and waits until the jobs of all run.
fn running(dir: &TestDir, job: &str) -> Vec<Running> {
    let port = free_port();
    let mut ranks: Vec<Running> = (0..3).map(|number| rank(dir, number, &port, &[job]).start()).collect();
    let logs = dir.work();
    ranks[0].until("the jobs", || has_grown(&logs));
    ranks
}

/// Whether all ranks write their files.
fn has_grown(directory: &Path) -> bool {
    (0..3).all(|rank| fs::metadata(directory.join(format!("rank{rank}"))).is_ok_and(|file| file.len() > 0))
}

/// Each rank writes a file of its own, whose data appear once it runs.
fn writes(text: &str) -> String {
    text.replace("ioengine=null", "ioengine=psync\nrw=write\nfilename=rank$rank\ncreate_on_open=1")
}

#[test]
fn a_rank_that_is_killed_is_named_and_the_others_report() {
    let dir = TestDir::new();
    let job = dir.job(&writes(ENDLESS).replace("runtime=600", "runtime=4"));
    let mut ranks = running(&dir, &job);
    let killed = ranks.remove(1);
    killed.signal(Signal::SIGKILL);
    assert_eq!(killed.wait().signal, Some(9));
    let first = ranks.remove(0).wait().ended_with(1);
    assert!(first.stderr.contains(".1 is lost: "), "{}", first.stderr);
    let report = first.json();
    assert_eq!(hosts_and_reads(&report).0.len(), 3);
    let last = ranks.remove(0).wait().succeeded();
    assert_eq!((last.stdout.as_str(), last.stderr.as_str()), ("", ""));
}

#[test]
fn ranks_end_soon_when_rank_0_is_killed() {
    let dir = TestDir::new();
    let job = dir.job(&writes(ENDLESS));
    let mut ranks = running(&dir, &job);
    let first = ranks.remove(0);
    first.signal(Signal::SIGKILL);
    let began = Instant::now();
    for rank in ranks {
        let run = rank.wait().ended_with(1);
        assert_eq!(run.stdout, "");
    }
    // Also the agent beside rank 0, which `wait` looks for.
    first.wait();
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}

#[test]
fn a_rank_that_does_not_come_is_named() {
    let dir = TestDir::new();
    let (job, port) = (dir.job(JOB), free_port());
    let second = rank(&dir, 1, &port, &[&job]).start();
    let run = rank(&dir, 0, &port, &["--rendezvous-timeout=2s", &job]).run().ended_with(1);
    assert!(run.stderr.contains("a rank is missing after 2 s: 2"), "{}", run.stderr);
    let run = second.wait().ended_with(1);
    assert!(run.stderr.contains("rank 0 has given up, because ranks have not come: 2"), "{}", run.stderr);
    let run = rank(&dir, 1, &port, &["--rendezvous-timeout=1s", &job]).run().ended_with(1);
    assert!(
        run.stderr.contains(&format!("rank 0 was not found at 127.0.0.1, port {port}")),
        "{}",
        run.stderr
    );
}

#[test]
fn a_signal_ends_ranks_that_wait_and_removes_their_file() {
    let dir = TestDir::new();
    let (job, port) = (dir.job(JOB), free_port());
    let file = dir.work().join("meeting");
    let words = ["--ranks=3", "--rank=0", "--rendezvous=file:meeting", &job];
    let mut first = dir.ferrio(&words).start();
    first.until("its file", || file.exists());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let second = rank(&dir, 1, &port, &[&job]).start();
    for waiting in [first, second] {
        waiting.signal(Signal::SIGTERM);
        let run = waiting.wait();
        assert!(run.status == Some(1) || run.signal == Some(15), "{run:?}");
    }
    assert_eq!(dir.files(), []);
}

#[test]
fn ranks_with_a_token_run_only_with_those_that_have_it_too() {
    let dir = TestDir::new();
    let job = dir.job(JOB);
    let token = "0123456789abcdef";
    for (other, status) in [(token, 0), ("fedcba9876543210", 1)] {
        let port = free_port();
        let with = |number, token| rank(&dir, number, &port, &[&job]).env("FERRIO_TOKEN", token);
        let others = [with(1, other).start(), with(2, token).start()];
        let first = with(0, token).run().ended_with(status);
        assert_eq!(first.stderr.contains(".1 is lost: "), status == 1, "{}", first.stderr);
        assert_eq!(hosts_and_reads(&first.json()).1, 16 * if status == 0 { 3 } else { 2 });
        let statuses = others.map(|rank| rank.wait().status.unwrap());
        assert_eq!(statuses, [status, 0]);
    }
}

#[test]
fn what_the_launcher_does_not_say_is_asked_for() {
    let dir = TestDir::new();
    let job = dir.job(JOB);
    let pod = || dir.ferrio(&[job.as_str()]).env("JOB_COMPLETION_INDEX", "2").env("HOSTNAME", "nightly-2");
    // The others leave it to rank 0.
    pod().run().succeeded();
    let run = pod().env("JOB_COMPLETION_INDEX", "0").run().ended_with(1);
    assert!(run.stderr.contains("nothing says how many ranks there are"), "{}", run.stderr);
    assert!(run.stderr.contains("add --ranks=COUNT"), "{}", run.stderr);
    let run = dir.ferrio(&["--ranks=4", &job]).run().ended_with(1);
    assert!(run.stderr.contains("no launcher says which of the ranks this process is"), "{}", run.stderr);
    let run = dir.ferrio(&["--ranks=4", "--rank=1", &job]).run().ended_with(1);
    assert!(run.stderr.contains("nothing in the environment says where rank 0 is"), "{}", run.stderr);
}

/// The file of `deploy`.
fn deployed(name: &str) -> String {
    format!("{}/deploy/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// What a script that runs beside the hosts of a cluster prints.
fn beside_hosts(cluster: &Cluster, dir: &TestDir, script: &str) -> Run {
    let path = format!("PATH={}:$PATH", dir.beside("bin").display());
    cluster.program(dir, "sh", &["-c", &format!("export {path}; {script}")]).run()
}

#[test]
fn tasks_of_slurm_are_one_run() {
    needs_cluster!();
    needs!("munged", "setpriv", "slurmctld", "slurmd", "srun");
    let dir = TestDir::new();
    let Some(cluster) = Cluster::start(&dir, 4, &[]) else { return };
    let job = dir.job(JOB);
    let slurm =
        format!("{}/tests/clusters/slurm {} 4", env!("CARGO_MANIFEST_DIR"), dir.beside("hosts").display());
    let (sbatch, job_ferrio) = (deployed("slurm.sbatch"), "ferrio --output-format=json");
    let script = format!(
        "srun -N4 -n4 {job_ferrio} --output=four.json {job} 2>four.err; echo $?
         srun -w host1,host2 -n4 --ntasks-per-node=2 -m cyclic {job_ferrio} --output=cyclic.json {job} 2>cyclic.err; echo $?
         srun -w host1 -n2 {job_ferrio} --output=one.json {job} 2>one.err; echo $?
         srun -n1 {job_ferrio} --output=alone.json {job}; echo $?
         srun -w host3,host1 -n2 -m arbitrary ferrio --rendezvous-timeout=5s {job} 2>arbitrary.err; echo $?
         srun --mpi=pmi2 -w host1,host2 -n2 {job_ferrio} --output=pmi2.json {job} 2>pmi2.err; echo $?
         sbatch --wait --nodes=3 --nodelist=host[1-3] --output=batch.out {sbatch} {job}; echo $?"
    );
    fs::write(dir.work().join("script"), script).unwrap();
    let run = beside_hosts(&cluster, &dir, &format!("{slurm} sh ./script")).succeeded();
    let statuses: Vec<&str> = run.stdout.lines().filter(|line| line.len() < 4).collect();
    let errors = ["four", "cyclic", "one", "pmi2", "arbitrary"].map(|name| dir.read(&format!("{name}.err")));
    assert_eq!(statuses, ["0", "0", "0", "0", "1", "0", "0"], "{}\n{}\n{errors:#?}", run.stdout, run.stderr);
    let report = |name: &str| serde_json::from_str::<Value>(&dir.read(name)).unwrap();
    for (name, hosts) in [
        ("four.json", &["host1", "host2", "host3", "host4"][..]),
        ("cyclic.json", &["host1.0", "host2.1", "host1.2", "host2.3"]),
        ("one.json", &["host1.0", "host1.1"]),
        ("pmi2.json", &["host1", "host2"]),
    ] {
        let report = report(name);
        assert_eq!(hosts_and_reads(&report), (hosts.to_vec(), 16 * hosts.len() as u64), "{name}");
    }
    assert_eq!(report("alone.json")["ferrio"]["hosts"], Value::Null);
    let arbitrary = "the distribution of the tasks is arbitrary, so";
    assert_eq!(errors[4].matches(arbitrary).count(), 1, "{}", errors[4]);
    let batch = dir.files().into_iter().map(|(name, _)| name).find(|name| name.starts_with("ferrio-"));
    assert_eq!(hosts_and_reads(&report(&batch.unwrap())).0, ["host1", "host2", "host3"]);
    assert!(dir.read("batch.out").contains("Hosts (3):"), "{}", dir.read("batch.out"));
}

#[test]
fn mpirun_over_several_hosts_needs_no_library() {
    needs_cluster!();
    needs!("mpirun.openmpi", "mpirun.mpich");
    let dir = TestDir::new();
    let Some(cluster) = Cluster::start(&dir, 3, &[]) else { return };
    let job = dir.job(JOB);
    let script = deployed("mpirun.sh");
    // The head has other addresses than those of the hosts' network if the machine has.
    let settings = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR=$PWD";
    for which in ["openmpi", "mpich"] {
        let run = format!(
            "{settings}; MPIRUN=mpirun.{which} {script} host1,host2,host3 {job} --output-format=json"
        );
        let run = beside_hosts(&cluster, &dir, &run).succeeded();
        let report = run.json();
        assert_eq!(hosts_and_reads(&report), (vec!["host1", "host2", "host3"], 48), "{which}");
        // The file of the rendezvous is gone.
        let names: Vec<String> = dir.files().into_iter().map(|(name, _)| name).collect();
        assert!(names.iter().all(|name| !name.contains("rendezvous")), "{names:?}");
    }
}

/// The arguments of the container in `indexed-job.yaml`, and the number of its pods.
fn indexed_job() -> (Vec<String>, usize) {
    let text = fs::read_to_string(deployed("indexed-job.yaml")).unwrap();
    let number = |key: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap();
        line.trim().parse::<usize>().unwrap()
    };
    assert_eq!(number("completions:"), number("parallelism:"));
    // The names of the pods, and the port that rank 0 takes for them.
    for line in [
        "clusterIP: None",
        "subdomain: ferrio",
        "publishNotReadyAddresses: true",
        "port: 8766",
        "containerPort: 8766",
    ] {
        assert!(text.lines().any(|other| other.trim() == line), "{line}");
    }
    let arguments = text.lines().skip_while(|line| line.trim() != "args:").skip(1);
    let arguments = arguments.map_while(|line| line.trim().strip_prefix("- ").map(str::to_owned)).collect();
    (arguments, number("completions:"))
}

#[test]
fn pods_of_an_indexed_job_find_pod_0_by_its_name() {
    needs_cluster!();
    let dir = TestDir::new();
    let (arguments, count) = indexed_job();
    let Some(cluster) = Cluster::start(&dir, count, &[]) else { return };
    let job = dir.job(JOB);
    let arguments: Vec<&str> = arguments
        .iter()
        .map(|word| if word.ends_with(".fio") { job.as_str() } else { word.as_str() })
        .collect();
    assert!(arguments.contains(&job.as_str()) && arguments.contains(&format!("--ranks={count}").as_str()));
    // What the kubelet does; the names of pod 0 come last.
    let pod = |index: usize| {
        let [own, first] = [index, 0].map(|pod| {
            format!("10.77.0.{} ferrio-{pod}.ferrio.default.svc.cluster.local ferrio-{pod}\\n", pod + 1)
        });
        let words = arguments.join(" ");
        format!(
            "hostname ferrio-{index}; printf '{own}' > hosts; mount --bind hosts /etc/hosts
             if [ {index} != 0 ]; then (sleep 1; printf '{first}' >> hosts) & fi
             exec env -i PATH=$PATH HOSTNAME=ferrio-{index} JOB_COMPLETION_INDEX={index} ferrio --output-format=json {words}"
        )
    };
    let pods: Vec<Running> = (0..count)
        .map(|index| cluster.program(&dir, "ssh", &[&format!("host{}", index + 1), &pod(index)]).start())
        .collect();
    for (index, pod) in pods.into_iter().enumerate() {
        let run = pod.wait().succeeded();
        if index == 0 {
            let report = run.json();
            let names: Vec<String> = (0..count).map(|pod| format!("ferrio-{pod}")).collect();
            let names = names.iter().map(String::as_str).collect();
            assert_eq!(hosts_and_reads(&report), (names, 16 * count as u64));
        } else {
            assert_eq!(run.stdout, "");
        }
    }
}
