use std::fs;

use ferrio_job::{Compat, FileKind, LogKind};

use super::*;
use crate::PlanOptions;
use crate::testing::{good_plan_as_fio, jobs_of, jobs_of_files, plan_of, refusals};
use ferrio_job::Plan;

/// `(name, clone, number, group, stonewall)` of all jobs.
fn rows(plan: &Plan) -> Vec<(&str, u32, u32, u32, bool)> {
    let row = |job: &'_ PlannedJob| {
        let spec = &job.spec;
        (spec.clone, spec.number, spec.group, spec.stonewall)
    };
    plan.jobs
        .iter()
        .map(|job| (job.spec.name.as_str(), row(job)))
        .map(|(n, r)| (n, r.0, r.1, r.2, r.3))
        .collect()
}

#[test]
fn clones_are_created_first_then_from_the_highest_number_down() {
    let plan = plan_of("[global]\nioengine=null\nsize=4k\n[a]\nnumjobs=4\nstonewall\n[b]\n").unwrap();
    let want = [
        ("a", 0, 1, 0, true),
        ("a", 3, 2, 0, false),
        ("a", 2, 3, 0, false),
        ("a", 1, 4, 0, false),
        ("b", 0, 5, 0, false),
    ];
    assert_eq!(rows(&plan), want);
    assert_eq!(plan.jobs[1].spec.clones, 4);
}

#[test]
fn clones_of_fio_have_the_name_of_their_section_and_the_user_of_the_caller() {
    let text =
        "[a]\nioengine=null\nsize=4k\nname=zz\nuid=65534\ngid=1\nnumjobs=2\nwrite_bw_log\nwrite_lat_log=x\n";
    let identity = |plan: &Plan| {
        let of = |job: &PlannedJob| {
            let JobSpec { name, worker, logs, .. } = job.spec.clone();
            let prefix = |kind| logs.prefix(kind).unwrap_or_default().to_owned();
            (name, worker.uid, worker.gid, prefix(LogKind::Bandwidth), prefix(LogKind::Latency))
        };
        plan.jobs.iter().map(of).collect::<Vec<_>>()
    };
    let own = |name: &str, uid, gid| (name.to_owned(), uid, gid, name.to_owned(), "x".to_owned());
    let fio = good_plan_as_fio(&jobs_of(text));
    assert_eq!(identity(&fio), [own("zz", Some(65534), Some(1)), own("a", None, None)]);
    let ferrio = plan_of(text).unwrap();
    assert_eq!(identity(&ferrio), vec![own("zz", Some(65534), Some(1)); 2]);
}

#[test]
fn a_mark_opens_a_group_unless_the_current_one_is_empty() {
    let text = "[global]\nioengine=null\nsize=4k\n[a]\nstonewall\n[b]\n[c]\nnew_group\n[d]\nnew_group\nnumjobs=2\n[e]\nstonewall\n";
    let groups: Vec<_> = plan_of(text).unwrap().jobs.iter().map(|job| job.spec.group).collect();
    assert_eq!(groups, [0, 0, 1, 2, 2, 3]);
}

#[test]
fn the_first_job_of_a_later_file_waits_for_the_files_before() {
    let text = "[global]\nioengine=null\nsize=4k\n[a]\n[b]\n";
    let plan = crate::plan(&jobs_of_files(&[text, text]), &PlanOptions::default()).unwrap();
    let want = [("a", 0, 1, 0, false), ("b", 0, 2, 0, false), ("a", 0, 3, 1, true), ("b", 0, 4, 1, false)];
    assert_eq!(rows(&plan), want);
}

#[test]
fn too_many_jobs_or_none_are_refused() {
    let want = ["maximum number of jobs reached"];
    assert_eq!(refusals("[a]\nioengine=null\nsize=4k\nnumjobs=32001\n"), want);
    assert_eq!(refusals("[a]\nioengine=null\nsize=4k\nnumjobs=0\n"), want);
    let jobs = |number: u32, compat| {
        let set = jobs_of(&format!("[a]\nioengine=null\nsize=4k\nnumjobs={number}\n"));
        let options = PlanOptions { compat, ..PlanOptions::default() };
        crate::plan(&set, &options)
            .map(|plan| plan.jobs.len())
            .map_err(|problems| problems.diagnostics[0].message.clone())
    };
    assert_eq!(jobs(4089, Compat::Ferrio), Ok(4089));
    assert_eq!(jobs(4088, Compat::Fio), Ok(4088));
    assert_eq!(jobs(4089, Compat::Fio), Err(want[0].to_owned()));
}

#[test]
fn only_the_first_user_of_a_file_lays_it_out() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    let text = format!(
        "[global]\nfilename={}\nsize=8k\n[a]\nnumjobs=2\n[b]\nsize=16k\n[c]\nsize=50%\n",
        file.display()
    );
    let plan = plan_of(&text).unwrap();
    let rows: Vec<_> = plan.jobs.iter().map(|job| &job.spec.files[0]).map(|f| (f.extend, f.size)).collect();
    assert_eq!(rows, [(true, 8192), (false, 8192), (true, 16384), (false, 8192)]);
    assert!(!file.exists());
}

#[test]
fn space_reserved_by_a_writer_counts_and_unreserved_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let reader_extends = |fallocate: &str| {
        let path = dir.path().join("f");
        let head = format!("[global]\nfilename={}\nsize=8k\n", path.display());
        let plan = plan_of(&format!("{head}[w]\nrw=write\nfallocate={fallocate}\n[r]\n")).unwrap();
        plan.jobs[1].spec.files[0].extend
    };
    assert!(!reader_extends("native"));
    assert!(reader_extends("none"));
}

#[test]
fn a_job_that_cannot_be_set_up_stays_in_the_plan_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path().display();
    fs::write(dir.path().join("small"), [0; 100]).unwrap();
    let text = format!(
        "[a]\nfilename={here}/none\n[b]\nfilename={here}\nsize=4k\n[c]\nfilename={here}/small\n[d]\nfilename={here}/d\nsize=4k\n"
    );
    let plan = plan_of(&text).unwrap();
    let errors: Vec<_> =
        plan.jobs.iter().map(|job| job.setup_error.as_ref().map(|e| (e.errno, e.func))).collect();
    let want = [Some((22, "total_file_size")), Some((21, "unlink")), Some((0, "total_file_size")), None];
    assert_eq!(errors, want);
    assert_eq!(plan.jobs[0].setup_error.as_ref().unwrap().message, "you need to specify size=");
}

#[test]
fn an_engine_without_files_has_files_that_only_have_a_size() {
    let plan = plan_of("[a]\nioengine=null\nsize=1m\nio_size=2m\nnrfiles=2\n").unwrap();
    let spec = &plan.jobs[0].spec;
    assert_eq!(
        spec.files.iter().map(|f| (f.kind, f.size)).collect::<Vec<_>>(),
        [(FileKind::Pretend, 512 << 10); 2]
    );
    assert_eq!((spec.limits.size, spec.limits.io_size), (1 << 20, Some(2 << 20)));
}

#[test]
fn a_split_set_of_cpus_gives_every_job_of_the_run_one_of_them_in_turn() {
    let text = "[global]\nioengine=null\nsize=4k\ncpus_allowed=0,2-3\n\
                [a]\ncpus_allowed_policy=split\nnumjobs=2\n[b]\n[c]\ncpus_allowed_policy=split\n";
    let cpus: Vec<_> = plan_of(text).unwrap().jobs.into_iter().map(|job| job.spec.cpus_allowed).collect();
    assert_eq!(cpus, [vec![0], vec![2], vec![0, 2, 3], vec![0]]);
}
