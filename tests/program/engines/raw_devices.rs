//! Engines sg and mtd: what is no device of theirs is refused, and nothing is created in its place. What they do with devices is tested
//! beside the code, command by command.

use crate::support::TestDir;

/// The output of a job that has to fail, and what is in its directory then.
fn refused(engine: &str, file: &str, fio: Option<&str>) -> String {
    let dir = TestDir::new();
    let words = [
        "--name=a",
        &format!("--ioengine={engine}"),
        &format!("--filename={file}"),
        "--size=64k",
        "--rw=write",
    ];
    let run = match fio {
        Some("real") => dir.fio(&words),
        Some(_) => dir.ferrio(&words).env("FERRIO_AS", "fio"),
        None => dir.ferrio(&words),
    };
    let run = run.run().ended_with(1);
    assert_eq!(dir.files(), [], "{engine}: no file is created in place of a device");
    run.stdout + &run.stderr
}

#[test]
fn what_is_no_scsi_device_is_refused() {
    needs!("fio");
    for (file, want) in [("/dev/null", "/dev/null is no SCSI device"), ("missing", "missing is none")] {
        let told = refused("sg", file, None);
        assert!(told.contains(&format!("{want}; name one such as /dev/sg0 or /dev/sda")), "{told}");
    }
    for (file, want) in [
        (
            "/dev/null",
            "ioengine sg unable to successfully execute read capacity to get block size and maximum lba\n",
        ),
        ("missing", "ioengine sg only works on block or character devices\n"),
    ] {
        for fio in ["real", "called"] {
            let told = refused("sg", file, Some(fio));
            assert!(told.contains(&format!("\n{want}")) || told.starts_with(want), "{fio}: {told}");
        }
    }
}

#[test]
fn what_is_no_raw_flash_is_refused() {
    needs!("fio");
    for file in ["/dev/null", "missing"] {
        let told = refused("mtd", file, None);
        let want = format!(
            "ioengine=mtd needs a device of its kind: {file} is no raw flash; name a device such as /dev/mtd0"
        );
        assert!(told.contains(&want), "{told}");
    }
    for fio in ["real", "called"] {
        let told = refused("mtd", "missing", Some(fio));
        assert!(told.contains("libmtd: error!: \"missing\" is not a character device"), "{fio}: {told}");
    }
}

#[test]
fn options_that_the_command_does_not_have_are_noted() {
    let dir = TestDir::new();
    let words =
        ["--name=a", "--ioengine=sg", "--filename=/dev/null", "--size=64k", "--rw=write", "--writefua=1"];
    let run = dir.ferrio(&[&words[..], &["--sg_write_mode=write_same", "--stream_id=3"]].concat()).run();
    let told = run.ended_with(1).stderr;
    assert!(told.contains("the command of `sg_write_mode` has no such bit"), "{told}");
    assert!(told.contains("only `sg_write_mode=write_stream` writes to a stream"), "{told}");
}
