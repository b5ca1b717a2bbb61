//! Workers as the system sees them: user, name, CPUs, priorities, locked memory, control groups, disk schedulers. Commands of a job
//! inherit what the worker has, so `exec_prerun` can look at it, under both programs.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use nix::unistd::getuid;

use crate::failures::process_limits::dir_for_all;
use crate::support::{Run, TestDir, same, skipped};

const JOB: [&str; 3] = ["--name=a", "--ioengine=null", "--size=4k"];
const CPUS: &str = "--exec_prerun=grep Cpus_allowed_list /proc/self/status";

/// Whether this machine lets a test change users, groups and schedulers.
fn privileged(test: &str) -> bool {
    let root = getuid().is_root();
    if !root {
        skipped(test, "it needs root");
    }
    root
}

/// What the command before a job with these options printed, under one of the programs.
fn seen(fio: bool, options: &[&str]) -> (Option<i32>, String) {
    let dir = dir_for_all();
    let words = [&JOB[..], options].concat();
    let run = if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run();
    (run.status, if dir.is_written("a.prerun.txt") { dir.read("a.prerun.txt") } else { String::new() })
}

/// Both programs print the same, which is returned.
#[track_caller]
fn agree(options: &[&str]) -> String {
    let [fio, ferrio] = [true, false].map(|fio| seen(fio, options));
    same!("fio": fio, "ferrio": ferrio, "{options:?}");
    assert_eq!(ferrio.0, Some(0), "{options:?}");
    ferrio.1
}

#[test]
fn a_command_has_the_user_and_the_group_of_its_job() {
    needs!("fio");
    if privileged("a_command_has_the_user_and_the_group_of_its_job") {
        let ids = "--exec_prerun=(id -u; id -g; grep CapEff /proc/self/status)";
        assert_eq!(agree(&["--uid=65534", "--gid=65533", ids]), "65534\n65533\nCapEff:\t0000000000000000\n");
        assert_eq!(agree(&["--gid=65533", "--exec_prerun=(id -u; id -g)"]), "0\n65533\n");
        let groups = seen(false, &["--gid=65533", "--exec_prerun=grep Groups: /proc/self/status"]).1;
        assert_eq!(groups.trim_end(), "Groups:", "root's own groups would still open files");
    }
}

#[test]
fn only_the_worker_changes_its_user() {
    if !privileged("only_the_worker_changes_its_user") {
        return;
    }
    let dir = dir_for_all();
    let options = "[global]\nsize=8k\nioengine=psync\nrw=write\n\
        [a]\nuid=65534\ngid=65533\ncreate_on_open=1\n\
        [b]\nuid=65534\nrw=read\n\
        [c]\nuid=65532\ncreate_serialize=0\nio_submit_mode=offload\niodepth=2\n\
        [d]\nuid=65532\ncreate_on_open=1\nioengine=io_uring\n\
        [e]\ncreate_on_open=1\nwrite_lat_log=e\n";
    dir.ferrio(&[&dir.job(options)]).run().succeeded();
    let owner = |name: &str| fs::metadata(dir.work().join(name)).unwrap();
    let owners = ["a.0.0", "b.0.0", "c.0.0", "d.0.0", "e.0.0", "e_lat.5.log"]
        .map(|name| (owner(name).uid(), owner(name).gid()));
    let none = owner("e.0.0").gid();
    assert_eq!(owners, [(65534, 65533), (0, none), (65532, none), (65532, none), (0, none), (0, none)]);
}

#[test]
fn a_user_that_may_not_change_fails_the_job_with_the_option() {
    needs!("fio");
    if !privileged("a_user_that_may_not_change_fails_the_job_with_the_option") {
        return;
    }
    for option in ["uid", "gid"] {
        let dir = dir_for_all();
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let changed = format!("--{option}=1");
        let words = [&JOB[..], &["--output-format=json", &changed]].concat();
        let [fio, ferrio] =
            [crate::support::installed("fio"), crate::support::FERRIO.into()].map(|program| {
                let program = program.to_str().unwrap().to_owned();
                dir.program("setpriv", &[&user[..], &[&program], &words[..]].concat()).run()
            });
        let error = "err=1/file:";
        let func = format!("func=set{option}, error=Operation not permitted");
        for (run, text) in [(&fio, &fio.stdout), (&ferrio, &ferrio.stderr)] {
            assert_eq!(run.status, Some(1));
            assert!(text.contains(error) && text.contains(&func), "{text}");
        }
        assert!(ferrio.stderr.contains(&format!("`{option}` needs root privileges")), "{}", ferrio.stderr);
        assert_eq!(ferrio.json()["jobs"][0]["error"], 1);
    }
}

#[test]
fn a_mask_and_the_cpu_of_the_clock_choose_cpus_as_in_fio() {
    needs!("fio");
    let run_on = |options: &[&str]| agree(&[options, &[CPUS]].concat());
    assert_eq!(run_on(&["--cpumask=1"]), "Cpus_allowed_list:\t0\n");
    run_on(&["--cpus_allowed=0", "--cpumask=1"]);
    if ferrio_machine::allowed_cpus().unwrap().starts_with(&[0, 1]) {
        assert_eq!(run_on(&["--cpumask=2"]), "Cpus_allowed_list:\t1\n");
        // fio's thread for the time may keep it from ending.
        let spared = ["--cpus_allowed=0-1", "--gtod_cpu=1", CPUS];
        assert_eq!([true, false].map(|fio| seen(fio, &spared).1), ["Cpus_allowed_list:\t0\n"; 2]);
    }
}

#[test]
fn the_process_has_what_all_jobs_share() {
    let process = "ionice -p $PPID && cat /proc/$PPID/comm && cut -d' ' -f19 /proc/$PPID/stat && nice";
    let printed = |job: &str| {
        let dir = TestDir::new();
        let text = format!("[global]\nioengine=null\nsize=4k\nexec_prerun={process}\n{job}");
        dir.ferrio(&[dir.job(&text)]).run().succeeded();
        dir.read("a.prerun.txt")
    };
    let shared = "prio=3\ncomm=averyverylongname\nnice=7\n";
    // That of a job is added to what the tests themselves have.
    let own = String::from_utf8(std::process::Command::new("nice").output().unwrap().stdout).unwrap();
    let own: i32 = own.trim().parse().unwrap();
    let nice = (own + 7).min(19);
    let want = format!("best-effort: prio 3\naveryverylongna\n{nice}\n{nice}\n");
    assert_eq!(printed(&format!("{shared}[a]\n[b]\n")), want);
    // The worker has its own all the same.
    let apart = printed(&format!("[a]\n{shared}[b]\nprio=2\n"));
    let lines: Vec<&str> = apart.lines().collect();
    assert_eq!(lines[1..], ["ferrio", &own.to_string(), &nice.to_string()]);
    assert!(lines[0].starts_with("none"), "{apart}");
}

#[test]
fn the_thread_that_reports_name_has_the_name_and_the_priority_of_its_job() {
    let dir = TestDir::new();
    let look = "--exec_prerun=for t in /proc/$PPID/task/*; do echo \"$(cat $t/comm) $(ionice -p $(basename $t))\"; done";
    let other = ["--name=b", "--prio=5", "--ioengine=null", "--size=4k"];
    let words = [&JOB[..], &["--comm=reader", "--prio=3", look], &other].concat();
    dir.ferrio(&words).run().succeeded();
    let tasks = dir.read("a.prerun.txt");
    assert!(tasks.contains("reader best-effort: prio 3\n"), "{tasks}");
}

#[test]
fn each_worker_locks_its_memory() {
    needs!("fio");
    let look = "--exec_prerun=grep VmLck /proc/$PPID/status";
    let locked = |fio, options: &[&str]| {
        let (status, text) = seen(fio, &[options, &[look]].concat());
        (status, text.split_whitespace().nth(1).map(str::to_owned))
    };
    let all = |kib: &str| (Some(0), Some(kib.to_owned()));
    assert_eq!(locked(true, &["--lockmem=128k"]), all("128"));
    assert_eq!(locked(false, &["--lockmem=128k"]), all("128"));
    // The second job keeps its memory until the first has looked.
    let look = "--exec_prerun=grep VmLck /proc/$PPID/status; touch seen";
    let wait = "--exec_prerun=for i in $(seq 6000); do test -e seen && exit; sleep 0.01; done; exit 1";
    let dir = TestDir::new();
    let second = ["--name=b", "--ioengine=null", "--size=4k", "--lockmem=64k", wait];
    dir.ferrio(&[&JOB[..], &["--lockmem=128k", look], &second].concat()).run().succeeded();
    let both = dir.read("a.prerun.txt");
    assert_eq!(both.split_whitespace().nth(1), Some("192"), "threads of one process: {both}");
    assert_eq!(locked(false, &["--lockmem=0"]), all("0"));
}

/// The control group of the command before a job, in the hierarchy of I/O.
fn group_of(text: &str) -> String {
    let v1 = text.lines().find_map(|line| line.split_once(":blkio:"));
    let v2 = || text.lines().find_map(|line| line.split_once("::"));
    v1.or_else(v2).map(|(_, name)| name.to_owned()).unwrap_or_default()
}

#[test]
fn a_job_is_in_its_cgroup_which_goes_with_the_run() {
    needs!("fio");
    let groups = ferrio_machine::IoCgroups::mounted();
    let (Some(groups), true) = (groups, privileged("a_job_is_in_its_cgroup_which_goes_with_the_run")) else {
        return;
    };
    // No other test, nor a run of it at the same time, has this group.
    let name = format!("ferrio-test-{}", std::process::id());
    let directory = groups.group(&name);
    if fs::create_dir(&directory).and_then(|()| fs::remove_dir(&directory)).is_err() {
        return skipped("a_job_is_in_its_cgroup_which_goes_with_the_run", "no cgroup can be made here");
    }
    let look = "--exec_prerun=cat /proc/self/cgroup";
    let option = format!("--cgroup={name}");
    let (status, text) = seen(false, &[&option, look, "--numjobs=3"]);
    assert_eq!((status, group_of(&text)), (Some(0), format!("/{name}")));
    assert!(!directory.exists(), "the run made it, the run removes it");
    if groups.per_thread {
        assert_eq!(group_of(&seen(true, &[&option, look]).1), format!("/{name}"), "as in fio");
    }
    let (status, _) = seen(false, &[&option, "--cgroup_nodelete=1", "--loops=2"]);
    let there = directory.exists();
    fs::remove_dir(&directory).unwrap();
    assert_eq!((status, there), (Some(0), true));
    if groups.per_thread {
        let dir = TestDir::new();
        let job = format!(
            "[global]\nioengine=null\nsize=4k\nexec_prerun=cat /proc/self/cgroup\n[a]\ncgroup={name}\n[b]\n"
        );
        dir.ferrio(&[dir.job(&job)]).run().succeeded();
        let [a, b] = ["a", "b"].map(|job| group_of(&dir.read(&format!("{job}.prerun.txt"))));
        assert_eq!(a, format!("/{name}"));
        assert_ne!(b, a, "a thread moves alone");
    }
}

#[test]
fn a_worker_with_another_user_returns_from_a_cgroup_of_this_user() {
    let name = "a_worker_with_another_user_returns_from_a_cgroup_of_this_user";
    let groups = ferrio_machine::IoCgroups::mounted().filter(|_| privileged(name));
    // In version 2 the user would have to own the common parent of both groups.
    let Some(groups) = groups.filter(|groups| groups.per_thread) else { return };
    let parent = format!("ferrio-test-user-{}", std::process::id());
    let directory = groups.group(&parent);
    if fs::create_dir(&directory).is_err() {
        return skipped(name, "no cgroup can be made here");
    }
    std::os::unix::fs::chown(&directory, Some(65534), None).unwrap();
    let dir = TestDir::new();
    let option = format!("--cgroup={parent}/x");
    let run = dir.ferrio(&[&JOB[..], &["--uid=65534", &option]].concat()).run();
    let removed = !directory.join("x").exists();
    let _ = fs::remove_dir(directory.join("x"));
    fs::remove_dir(&directory).unwrap();
    assert!(run.status == Some(0) && !run.stderr.contains("cannot return"), "{}", run.stderr);
    assert!(removed, "the worker left the group that it made");
}

fn failing(run: &Run) -> (Option<i32>, bool) {
    let text = [&run.stdout[..], &run.stderr].concat();
    let named = text.contains("unable to set io scheduler to nosuch");
    (run.status, named && text.contains("err=22/file:") && text.contains("func=iosched_switch"))
}

#[test]
fn a_disk_gets_the_scheduler_of_the_job_or_the_job_fails() {
    needs!("fio");
    if !privileged("a_disk_gets_the_scheduler_of_the_job_or_the_job_fails") {
        return;
    }
    let dir = TestDir::new();
    let device = ferrio_machine::storage_device(&dir.work()).and_then(ferrio_machine::Disk::of);
    let current = device.filter(|disk| disk.slaves().is_empty()).and_then(|disk| disk.scheduler());
    let Some(current) = current else {
        return skipped("a_disk_gets_the_scheduler_of_the_job_or_the_job_fails", "the disk has no scheduler");
    };
    let job = ["--name=a", "--ioengine=psync", "--size=4k", "--rw=write"];
    let with = |name: &str| [&job[..], &[&format!("--ioscheduler={name}")]].concat().join(" ");
    let run = |fio: bool, words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run()
    };
    assert_eq!(run(false, &with(&current)).status, Some(0));
    for fio in [true, false] {
        assert_eq!(failing(&run(fio, &with("nosuch"))), (Some(1), true), "fio: {fio}");
    }
    // An engine without disk has nothing to switch.
    let run = dir.ferrio(&[&JOB[..], &["--ioscheduler=nosuch"]].concat()).run().succeeded();
    assert!(run.stderr.contains("`ioscheduler` has no effect here: this engine does no I/O on disks"));
}
