//! `fio-verify-state`: what verify state files say.

use std::fs;

use super::called;
use crate::support::{TestDir, installed, same};

const PROGRAM: &str = "fio-verify-state";

#[test]
fn states_of_old_releases_and_damaged_ones_are_shown_as_fio_shows_them() {
    needs!("fio");
    let dir = TestDir::new();
    let at = |name: &str| dir.work().join(name);
    // Four writes of a queue of eight: fewer completions than places.
    dir.fio(&["--name=a b", "--filename=f", "--size=16k", "--rw=randwrite", "--verify=crc32c"])
        .run()
        .succeeded();
    fs::rename(at("local-a b-0-verify.state"), at("one")).unwrap();
    let deep = ["--size=64k", "--ioengine=libaio", "--iodepth=8", "--number_ios=5", "--numjobs=2"];
    let job = ["--name=w", "--rw=randwrite", "--verify=md5", "--end_fsync=1"];
    dir.fio(&[&job[..], &deep].concat()).run().succeeded();
    fs::rename(at("local-w-1-verify.state"), at("deep")).unwrap();
    let good = fs::read(at("deep")).unwrap();
    for (name, changed) in [("first", 0), ("header", 20), ("middle", 44), ("last", good.len() - 1)] {
        let mut bytes = good.clone();
        bytes[changed] ^= 0x41;
        fs::write(at(name), bytes).unwrap();
    }
    fs::write(at("short"), &good[..good.len() - 1]).unwrap();
    fs::write(at("long"), [&good[..], b"x"].concat()).unwrap();
    fs::write(at("header only"), &good[..24]).unwrap();
    let files = ["one", "deep", "first", "header", "middle", "last", "short", "long", "header only"];
    for words in [&files[..], &["deep", "missing", "one"], &["missing"]] {
        let ours = called(&dir, PROGRAM, words);
        let fios = dir.program(installed(PROGRAM), words).run();
        same!("fio": fios.stdout, "ferrio": ours.stdout, "{words:?}");
        same!("fio": fios.stderr, "ferrio": ours.stderr, "{words:?}");
        same!("fio": fios.status, "ferrio": ours.status, "{words:?}");
    }
}

#[test]
fn a_state_of_this_release_has_its_slots_last_first() {
    let dir = TestDir::new();
    let job = ["--name=w", "--filename=f", "--size=64k", "--rw=write", "--verify=crc32c", "--iodepth=2"];
    let words = ["--ioengine=libaio", "--number_ios=9", "--verify_state_save=1"];
    dir.ferrio(&[&job[..], &words].concat()).run().succeeded();
    let state = "local-w-0-verify.state";
    let shown = dir.ferrio(&["verify-state", state]).run().succeeded().stdout;
    let crc = u64::from_le_bytes(fs::read(dir.work().join(state)).unwrap()[16..24].try_into().unwrap());
    let want = format!(
        "Version:\t0x7\nSize:\t\t160\nCRC:\t\t0x{crc:x}\nThread:\t\t0\nName:\t\tw\nDepth:\t\t2\n\
         Number IOs:\t9\nIndex:\t\t0\nInflight writes:\n\tNot inflight\n\tNot inflight\n"
    );
    same!("want": want, "shown": shown, "{state}");
}

#[test]
fn called_ferrio_damage_has_a_name_and_a_status() {
    let dir = TestDir::new();
    fs::write(dir.work().join("s"), [7, 0, 0]).unwrap();
    let run = dir.ferrio(&["verify-state", "s"]).run().ended_with(1);
    assert_eq!(run.stderr, "ferrio: s: Size mismatch\n");
}
