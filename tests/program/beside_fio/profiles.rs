//! The built-in profiles of `--profile`, side by side with real fio where a run of it is short enough.

use std::fs::File;

use crate::support::{Run, TestDir, at_once, same};

/// The lines that announce the jobs of the profile `act`.
fn announced(run: &Run) -> Vec<String> {
    run.stdout
        .lines()
        .filter(|line| line.starts_with("act-") && line.contains("(g="))
        .map(str::to_owned)
        .collect()
}

/// A directory with two files for devices.
fn devices() -> TestDir {
    let dir = TestDir::new();
    for name in ["d1", "d2"] {
        File::create(dir.work().join(name)).unwrap().set_len(16 << 20).unwrap();
    }
    dir
}

#[test]
fn act_runs_the_jobs_of_fio_and_ends_with_a_verdict() {
    needs!("fio");
    let options = ["--profile=act", "--device-names=d1,d2", "--test-duration=1", "--load=2"];
    let [fio, ferrio] = [true, false].map(|fio| {
        let dir = devices();
        // On a busy machine the verdict may be FAILED, which is not in the status of a program called fio.
        let ours = || dir.ferrio(&[&["--as=fio"], &options[..]].concat());
        let run = if fio { dir.fio(&options) } else { ours() }.run();
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        run
    });
    same!("fio": announced(&fio), "ferrio": announced(&ferrio), "jobs of act");
    assert_eq!(announced(&ferrio).len(), 4);
    for run in [&fio, &ferrio] {
        assert!(
            run.stdout
                .contains("        %>(ms)                  %>(ms)\n slice\t  1\t  8\t 64\t  1\t  8\t 64\n")
        );
        assert!(run.stdout.contains("\nact: test complete, device(s): "));
    }
    let table = ferrio.stdout.find("slice").unwrap();
    assert!(
        table < ferrio.stdout.find("groupid=").unwrap(),
        "the verdict comes before the report, as in fio"
    );
}

/// `act` with reads so large that no device passes.
const TOO_SLOW: [&str; 6] = [
    "--profile=act",
    "--device-names=d",
    "--test-duration=1",
    "--threads-per-queue=1",
    "--read-req-num-512-blocks=16384",
    "--large-block-op-kbytes=8388608",
];

#[test]
fn a_failed_verdict_is_in_the_exit_status_of_ferrio_and_not_in_that_of_fio() {
    needs!("fio");
    let words = |own: &[&'static str]| [&TOO_SLOW[..], own].concat();
    at_once(&["fio", "as fio", "ferrio"], |who| {
        let dir = TestDir::new();
        File::create(dir.work().join("d")).unwrap().set_len(128 << 20).unwrap();
        let (run, status) = match *who {
            "fio" => (dir.fio(&TOO_SLOW), 0),
            "as fio" => (dir.ferrio(&words(&["--as=fio"])), 0),
            _ => (dir.ferrio(&words(&["--output-format=json"])), 1),
        };
        let run = run.run().ended_with(status);
        let failed = "\nact: test complete, device(s): FAILED\n";
        if status == 0 {
            assert!(run.stdout.contains(failed) && run.stderr.is_empty(), "{run:?}");
        } else {
            assert!(run.stderr.contains(failed), "{}", run.stderr);
            let notes = run.json()["ferrio"]["notes"].clone();
            assert!(notes.to_string().contains("\"profile-failed\""), "{notes}");
        }
    });
}

#[test]
fn help_and_manual_describe_the_profiles_and_their_options() {
    let dir = TestDir::new();
    let help = dir.ferrio(&["help", "profiles"]).run().succeeded().stdout;
    let page = dir.ferrio(&["man"]).run().succeeded().stdout.replace("\\-", "-");
    for option in ["device-names", "test-duration", "prep", "numruns", "dir"] {
        assert!(help.contains(&format!("\n  --{option} ")), "{option}: {help}");
        assert!(page.contains(&format!("\\fB{option}\\fR=")), "{option}");
    }
    assert!(page.contains("Options of the profile act") && page.contains("PASSED or FAILED"));
}

#[test]
fn the_verdict_of_act_leaves_a_document_alone() {
    let dir = devices();
    let options = ["--profile=act", "--device-names=d1", "--test-duration=1", "--output-format=json"];
    let run = dir.ferrio(&[&["--as=fio"], &options[..]].concat()).run().succeeded();
    assert_eq!(run.json()["jobs"][0]["jobname"], "act-read-d1");
    assert!(run.stderr.contains("act: test complete, device(s): "), "{}", run.stderr);
    let prepared = dir.ferrio(&["--profile=act", "--device-names=d1", "--prep"]).run().succeeded();
    assert!(!prepared.stdout.contains("test complete"), "a preparation measures nothing");
}

#[test]
fn tiobench_takes_its_options() {
    let dir = TestDir::new();
    let options = ["--profile=tiobench", "--block=16k", "--threads=2", "--size=256k", "--output-format=json"];
    let run = dir.ferrio(&options).run().succeeded();
    let report = run.json();
    let names: Vec<&str> =
        report["jobs"].as_array().unwrap().iter().map(|job| job["jobname"].as_str().unwrap()).collect();
    assert_eq!(names, ["seqwrite", "randwrite", "seqread", "randread"]);
    // Two jobs of 256 KiB in blocks of 16 KiB.
    assert_eq!(
        (&report["jobs"][0]["write"]["total_ios"], &report["jobs"][3]["read"]["total_ios"]),
        (&32.into(), &32.into())
    );
    assert_eq!(dir.files().len(), 4);
}

#[test]
fn a_profile_that_does_not_exist_or_has_no_device_runs_nothing() {
    needs!("fio");
    let dir = TestDir::new();
    for (options, message) in [
        (["--profile=nosuch", "--eta=never"], "profile 'nosuch' not found"),
        (["--profile=act", "--eta=never"], "act: you need to set IO target(s) with the device-names option."),
    ] {
        for fio in [true, false] {
            let run = if fio { dir.fio(&options) } else { dir.ferrio(&options) }.run().ended_with(1);
            assert!([&run.stdout[..], &run.stderr].concat().contains(message), "{}", run.stderr);
        }
    }
}
