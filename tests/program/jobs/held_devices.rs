//! Devices that somebody else uses where this program does not see it.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Command, Stdio};

use nix::libc;

use crate::loop_device::LoopDevice;
use crate::support::{TestDir, installed, skipped};

/// Checks that a device is refused in a run and by the check of it, and used by those that do not ask or do not write.
fn is_refused(dir: &TestDir, device: &LoopDevice) {
    let filename = format!("--filename={}", device.node());
    let words = |rw| ["--name=a", &filename, rw, "--size=64k", "--allow_mounted_write=0"];
    let run = dir.ferrio(&words("--rw=write")).run().ended_with(1);
    let want = format!("{} is in use elsewhere", device.node());
    assert!(run.stderr.contains(&want), "{}", run.stderr);
    let check = dir.ferrio(&[&["check"][..], &words("--rw=randtrim")].concat()).run();
    assert!(check.status != Some(0) && format!("{check:?}").contains(&want), "{check:?}");
    dir.ferrio(&words("--rw=read")).run().succeeded();
    dir.ferrio(&[&words("--rw=write")[..4], &["--allow_mounted_write=1"]].concat()).run().succeeded();
    dir.ferrio(&[&["--as=fio"][..], &words("--rw=write")].concat()).run().succeeded();
}

#[test]
fn a_device_with_an_exclusive_owner_is_not_written_to() {
    let dir = TestDir::new();
    let Some(device) = LoopDevice::of(&dir, 1 << 20) else { return };
    let filename = format!("--filename={}", device.node());
    let words = ["--name=a", &filename, "--rw=write", "--size=64k"];
    dir.ferrio(&words).run().succeeded();
    let owner = File::options().read(true).custom_flags(libc::O_EXCL).open(device.node()).unwrap();
    is_refused(&dir, &device);
    drop(owner);
    dir.ferrio(&words).run().succeeded();
}

#[test]
fn a_device_mounted_in_another_mount_namespace_is_not_written_to() {
    needs!("unshare");
    let dir = TestDir::new();
    let Some(device) = LoopDevice::of(&dir, 1 << 20) else { return };
    let script = "mkfs.ext2 -q -F \"$0\" && mount \"$0\" . && echo mounted && read -r end";
    let mut container = Command::new(installed("unshare"))
        .args(["-m", "sh", "-c", script, device.node()])
        .current_dir(dir.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(container.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if line == "mounted\n" {
        is_refused(&dir, &device);
    } else {
        skipped("a device mounted elsewhere", "mkfs.ext2 or a mount in a namespace of its own fails here");
    }
    // The end of its input ends it.
    container.wait().unwrap();
}
