//! Exit statuses through the program.

use crate::support::TestDir;

const NULL: [&str; 3] = ["--name=a", "--ioengine=null", "--size=4k"];

#[test]
fn all_well_is_0_also_for_questions() {
    needs!("fio");
    let dir = TestDir::new();
    let job = dir.job("[a]\nioengine=null\nsize=4k\n");
    // With a line of the answer of both programs, or an empty one where they say nothing.
    let questions: [(&[&str], &str); 13] = [
        (&NULL, "a: (groupid=0, jobs=1): err= 0"),
        (&[&job], "a: (groupid=0, jobs=1): err= 0"),
        (&["--parse-only", &job], ""),
        (&["--parse-only"], ""),
        (&["--showcmd", &job], "fio --name=a --ioengine=null --size=4k"),
        (&["--showcmd"], ""),
        (&["--merge-blktrace-only"], ""),
        (&["--help"], "--parse-only"),
        (&["--version"], "fio-3."),
        (&["--cmdhelp"], "iodepth"),
        (&["--cmdhelp=nonsense"], "No such command: nonsense"),
        (&["--enghelp"], "\tnull\n"),
        (&["--debug=nosuch", "--name=a", "--ioengine=null", "--size=4k"], "a: (groupid=0, jobs=1): err= 0"),
    ];
    for (words, answer) in questions {
        for run in [dir.ferrio(words).run().succeeded(), dir.fio(words).run().succeeded()] {
            // fio has some answers on stderr.
            let said = run.stdout + &run.stderr;
            assert!(
                if answer.is_empty() { said.is_empty() } else { said.contains(answer) },
                "{words:?}: {said}"
            );
        }
    }
}

#[test]
fn without_a_job_there_is_the_usage_and_1() {
    needs!("fio");
    let dir = TestDir::new();
    for words in [&[][..], &["--ioengine=null", "--size=4k"], &["--max-jobs=2"], &["--readonly"]] {
        let run = dir.ferrio(words).run().ended_with(1);
        assert!(run.stderr.starts_with("error: No job(s) defined\n"), "{}", run.stderr);
        assert!(run.stderr.contains("--output") && run.stderr.contains("--parse-only"), "{}", run.stderr);
        dir.fio(words).run().ended_with(1);
    }
    let empty = dir.job("[global]\nbs=4k\n");
    let run = dir.ferrio(&[&empty]).run().ended_with(1);
    assert!(run.stderr.contains("No job(s) defined") && run.stderr.contains("test.fio"), "{}", run.stderr);
    assert!(!run.stderr.contains("--parse-only"), "the file is at fault, not the usage: {}", run.stderr);
    let run = dir.ferrio(&["--section=nosuch", "--name=a", "--size=4k"]).run().ended_with(1);
    assert!(run.stderr.contains("--section asks for `nosuch`"), "{}", run.stderr);
}

#[test]
fn anything_wrong_is_1_and_not_even_good_jobs_run() {
    let dir = TestDir::new();
    let job = dir.job("[good]\nrw=write\nsize=4k\n[bad]\nnosuch=1\n");
    let wrong: [&[&str]; 8] = [
        &[&job],
        &["--nosuch", "--name=a", "--rw=write", "--size=4k"],
        &["--name=a", "--rw=write", "--size=4k", "--name=b", "--bs=x"],
        &["--name=a", "--rw=write", "--size=4k", "--name=b", "--ioengine=nosuch"],
        &["--name=a", "--rw=write", "--size=4k", "nosuch.fio"],
        &["--readonly", "--name=a", "--rw=write", "--size=4k"],
        &["--warnings-fatal", "--name=a", "--rw=write", "--size=4k", "--time_based"],
        &["--output=no/such/dir", "--name=a", "--rw=write", "--size=4k"],
    ];
    for words in wrong {
        dir.ferrio(words).run().ended_with(1);
        assert_eq!(dir.files(), [], "{words:?}");
    }
}

#[test]
fn failed_jobs_are_counted() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nrw=write\nsize=16k\n[a]\nfilename=/dev/full\n[b]\nfilename=ok\n[c]\nfilename=/dev/full\nnumjobs=2\n",
    );
    dir.ferrio(&["--output-format=json", &job]).run().ended_with(3);
    let unsized_jobs = dir.job("[global]\nioengine=psync\n[x]\n[y]\n[z]\n");
    let run = dir.ferrio(&[&unsized_jobs]).run().ended_with(3);
    assert!(run.stderr.contains("y: you need to specify size="), "{}", run.stderr);
}
