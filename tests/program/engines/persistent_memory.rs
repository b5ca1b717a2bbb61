//! Engines libpmem and dev-dax: what is no persistent memory is refused as fio refuses it. Their copies are tested beside the code, on
//! ordinary memory.

use std::fs;

use crate::support::{TestDir, both};

#[test]
fn files_without_persistent_memory_are_refused_as_in_fio() {
    needs!("fio");
    let words = ["--name=a", "--ioengine=libpmem", "--filename=f", "--size=64k"];
    for more in [&["--rw=write"][..], &["--rw=randread", "--direct=1"], &["--rw=randrw", "--sync=1"]] {
        let [fio, ferrio] = both(|fio| {
            let dir = TestDir::new();
            let words = [&words[..], more].concat();
            let run = if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().ended_with(1);
            assert_eq!(dir.files(), [("f".to_owned(), 65536)], "laid out first");
            run.stderr + &run.stdout
        });
        for told in [&fio, &ferrio] {
            let want = "func=file_name does not point to persistent memory, error=Operation not supported";
            assert!(told.contains(want) && told.contains("err=95"), "{more:?}: {told}");
        }
        assert!(ferrio.contains("mounted with DAX; `mmap` works on any other"), "{ferrio}");
    }
}

#[test]
fn a_file_that_is_long_enough_keeps_its_data() {
    let dir = TestDir::new();
    fs::write(dir.work().join("f"), [7; 65536]).unwrap();
    let words = ["--name=a", "--ioengine=libpmem", "--filename=f", "--size=64k", "--rw=write"];
    dir.ferrio(&words).run().ended_with(1);
    assert_eq!(fs::read(dir.work().join("f")).unwrap(), [7; 65536]);
}

#[test]
fn devices_without_persistent_memory_are_refused_as_in_fio() {
    needs!("fio");
    let dir = TestDir::new();
    let words = ["--name=a", "--ioengine=dev-dax", "--filename=/dev/null", "--size=64k"];
    for run in [dir.fio(&words).run(), dir.ferrio(&words).run()] {
        let run = run.ended_with(1);
        assert!(run.stderr.contains("a: /dev/null not a DAX device!"), "{}", run.stderr);
    }
    let run = dir
        .ferrio(&[&words[..2], &["--filename=f", "--size=64k", "--rw=write"]].concat())
        .run()
        .ended_with(1);
    assert!(run.stderr.contains("a: f not a DAX device!"), "{}", run.stderr);
    assert_eq!(dir.files(), [], "no file is created in place of a device");
    let run = dir.ferrio(&[&words[..], &["--direct=1"]].concat()).run().ended_with(1);
    assert!(run.stderr.contains("direct=1 has no meaning for a device that is memory"), "{}", run.stderr);
}
