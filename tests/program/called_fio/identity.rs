//! How globals reach the identity of a job (its name, description, user and clones) and the names of files made after it, side by side
//! with real fio.

use serde_json::Value;

use crate::support::{Run, TestDir, document_within, number, same, text};

/// Names and descriptions of the jobs, the echoed global name, and the names of the files of a run.
type Identities = (Vec<(Value, Value)>, Value, Vec<String>);

fn identities(dir: &TestDir, run: &Run) -> Identities {
    let (report, _) = document_within(&run.stdout);
    let jobs = report["jobs"].as_array().unwrap();
    let jobs = jobs.iter().map(|job| (job["jobname"].clone(), job["desc"].clone())).collect();
    let files = dir.files().into_iter().map(|(name, _)| name).collect();
    (jobs, report["global options"]["name"].clone(), files)
}

/// Runs a job file after these arguments under both programs, which must give the jobs the same identities. The names of the jobs.
#[track_caller]
fn agree(arguments: &[&str], job: &str) -> Vec<String> {
    let run = |called_fio: bool| {
        let dir = TestDir::new();
        let path = dir.job(job);
        let words = [&["--output-format=json"], arguments, &[path.as_str()]].concat();
        let invocation =
            if called_fio { dir.ferrio(&[&["--as=fio"], &words[..]].concat()) } else { dir.fio(&words) };
        identities(&dir, &invocation.run().succeeded())
    };
    let (fio, ferrio) = (run(false), run(true));
    same!("fio": fio, "ferrio": ferrio, "identities in\n{job}");
    ferrio.0.iter().map(|(name, _)| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_global_name_names_no_job() {
    needs!("fio");
    let job = "[global]\nname=G\ndescription=d\nioengine=null\nsize=64k\nwrite_bw_log\n\
               [a]\nnumjobs=2\n[b]\nname=zz\nwrite_lat_log\n[global]\nname=H\n[c]\ndescription=own\n";
    assert_eq!(agree(&[], job), ["a", "a", "zz", "c"]);
}

#[test]
fn a_clone_is_named_after_its_section() {
    needs!("fio");
    let job = "[global]\nioengine=null\nsize=64k\nwrite_iops_log\nwrite_lat_log=given\nexec_prerun=true\n\
               [a]\nname=zz\nnumjobs=3\n[b]\nwait_for=zz\n";
    assert_eq!(agree(&[], job), ["zz", "a", "a", "b"]);
}

#[test]
fn verify_states_and_data_are_named_as_in_fio() {
    needs!("fio");
    let job = "[global]\nname=G\nrw=write\nsize=64k\nverify=crc32c\nverify_state_save=1\nnumjobs=2\n[a]\n[b]\nname=zz\n";
    assert_eq!(agree(&[], job), ["a", "a", "zz", "b"]);
}

#[test]
fn globals_of_the_command_line_and_chosen_sections_keep_their_names() {
    needs!("fio");
    let job = "[global]\nname=G\nioengine=null\nsize=64k\n[a]\n[b]\nname=zz\n";
    assert_eq!(agree(&["--section=b"], job), ["zz"]);
    assert_eq!(agree(&["--name=global", "--description=all"], job), ["a", "zz"]);
}

#[test]
fn a_job_waits_for_a_section_whatever_the_globals_call_it() {
    needs!("fio");
    let job = "[global]\nname=G\nioengine=null\nsize=64k\n[a]\nnumjobs=2\n[b]\nwait_for=a\n";
    assert_eq!(agree(&[], job), ["a", "a", "b"]);
    let dir = TestDir::new();
    let path = dir.job(&job.replace("wait_for=a", "wait_for=G"));
    for invocation in [dir.fio(&[path.as_str()]), dir.ferrio(&["--as=fio", &path])] {
        let run = invocation.run().ended_with(1);
        assert!(format!("{}{}", run.stdout, run.stderr).contains("b: waitee job G unknown."), "{run:?}");
    }
}

#[test]
fn a_global_name_is_noted() {
    let dir = TestDir::new();
    let path = dir.job("[global]\nname=G\nioengine=null\nsize=64k\n[a]\n[b]\nname=zz\n");
    let run = dir.ferrio(&["--output-format=json", &path]).run().succeeded();
    let note = "option `name` has no effect here: jobs are named by their sections";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    let report = run.json();
    assert_eq!(text(&report, "/jobs/0/jobname"), "a");
    assert_eq!(text(&report, "/ferrio/notes/0/message"), note);
    let named =
        dir.ferrio(&["--output-format=json", "--name=zz", "--ioengine=null", "--size=64k", "--numjobs=2"]);
    assert!(!named.run().succeeded().stderr.contains("`name`"));
}

/// Called ferrio, `name` and `uid` hold for all clones, and `uid` may be global.
#[test]
fn called_ferrio_clones_share_their_identity() {
    let dir = TestDir::new();
    let path = dir.job("[global]\nioengine=null\nsize=64k\nwrite_bw_log\n[a]\nname=zz\nnumjobs=2\n");
    let run = dir.ferrio(&["--output-format=json", &path]).run().succeeded();
    let (jobs, _, files) = identities(&dir, &run);
    assert_eq!(jobs, [("zz".into(), Value::Null), ("zz".into(), Value::Null)]);
    assert_eq!(files, ["zz_bw.1.log", "zz_bw.2.log"]);
    assert_eq!(number(&run.json(), "/jobs/1/error"), 0);
}
