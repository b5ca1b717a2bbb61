//! What is said while jobs run, as programs read it.

use super::{dir_with, objects};

const JOBS: &str = "\
[global]
size=4k
bs=4k
[full]
rw=write
filename=/dev/full
[damaged]
rw=read
verify=crc32c
filename=zeros
[commanded]
ioengine=null
exec_prerun=exit 3
[unsized]
ioengine=psync
size=0
rw=read
filename=none
";

#[test]
fn what_is_said_during_a_run_has_a_code_and_the_job() {
    let dir = dir_with(&[("x.fio", JOBS.as_bytes()), ("zeros", &[0; 4096])]);
    let run =
        dir.ferrio(&["x.fio", "--message-format=json", "--quiet", "--output=report"]).run().ended_with(4);
    let objects = objects(&run);
    let said = |code: &str| {
        let found = objects.iter().find(|object| object["code"] == code);
        let found = found.unwrap_or_else(|| panic!("no {code}: {objects:#?}"));
        (
            found["severity"].as_str().unwrap(),
            found["jobs"][0].as_str().unwrap(),
            found["message"].as_str().unwrap(),
        )
    };
    let io_error = "io_u error on file /dev/full: No space left on device: write offset=0, buflen=4096";
    assert_eq!(said("io-error"), ("error", "full", io_error));
    let (severity, job, message) = said("verify-mismatch");
    assert_eq!((severity, job), ("error", "damaged"));
    assert!(
        message.starts_with("verify: bad magic header 0, wanted acca at file zeros offset 0"),
        "{message}"
    );
    let saved = "commanded : Saving output of prerun in commanded.prerun.txt";
    assert_eq!(said("command-output"), ("note", "commanded", saved));
    let failed =
        "exec_prerun ended with status 3, the job does no I/O; its output is in commanded.prerun.txt";
    assert_eq!(said("command-failed"), ("note", "commanded", failed));
    assert_eq!(said("job-not-set-up").1, "unsized");
    let ended: Vec<_> = objects.iter().filter(|object| object["code"] == "job-failed").collect();
    assert!(ended.iter().all(|object| object["jobs"][0].is_string()) && ended.len() >= 3, "{ended:#?}");
}
