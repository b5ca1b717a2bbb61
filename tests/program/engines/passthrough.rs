//! Engine io_uring_cmd without a device: what is no NVMe namespace is refused as fio refuses it, and so is what the engine cannot do.

use std::fs;

use crate::support::TestDir;

#[test]
fn files_and_other_devices_are_refused_with_fios_words() {
    for (filename, want) in [
        ("f", "ioengine io_uring_cmd only works with nvme ns generic char devices (/dev/ngXnY)"),
        ("/dev/null", "/dev/null: failed to fetch namespace-id"),
    ] {
        let filename = format!("--filename={filename}");
        let words = ["--name=a", "--ioengine=io_uring_cmd", "--size=64k", &filename];
        let dir = TestDir::new();
        fs::write(dir.work().join("f"), [7; 65536]).unwrap();
        let run = dir.ferrio(&words).run().ended_with(1);
        assert!(run.stderr.contains(want), "{}", run.stderr);
    }
}

#[test]
fn what_only_other_devices_and_loops_can_do_is_refused() {
    for (option, want) in [
        ("cmd_type=bsg", "option `cmd_type` is not implemented yet"),
        ("cdb_len=16", "option `cdb_len` is not implemented yet"),
        ("verify_mode=compare", "option `verify_mode` is not implemented yet"),
        ("write_mode=zone_append\nrw=write", "io_uring_cmd does not work in zones"),
        ("zonemode=zbd\nzonesize=1m\nrw=write", "io_uring_cmd does not work in zones"),
        ("write_mode=zeroes\nrw=read", "'readwrite=|rw=' has no write"),
        ("write_mode=write/60:zeroes/60\nrw=write", "the shares add up to 120, not to 100"),
    ] {
        let dir = TestDir::new();
        let job = dir.job(&format!("[a]\nioengine=io_uring_cmd\nfilename=/dev/null\nsize=64k\n{option}\n"));
        let run = dir.ferrio(&[job]).run();
        assert!(run.status == Some(1) && run.stderr.contains(want), "{option}: {}", run.stderr);
    }
}

#[test]
fn options_of_commands_are_noted_as_without_effect_for_io_uring() {
    let dir = TestDir::new();
    let job = dir.job("[a]\nioengine=io_uring\nfilename=f\nsize=64k\nreadfua=1\n");
    let run = dir.ferrio(&[job]).run().succeeded();
    assert!(run.stderr.contains("only engine io_uring_cmd acts on it"), "{}", run.stderr);
}
