//! What `ferrio` refuses to protect the user's files, and what it does as `fio`.

use std::fs;
use std::path::Path;

use crate::support::TestDir;

const READ: [&str; 4] = ["--name=a", "--rw=read", "--filename=data", "--size=64k"];

/// A directory with a file of the user's.
fn with_data() -> TestDir {
    let dir = TestDir::new();
    fs::write(dir.work().join("data"), "the only copy").unwrap();
    dir
}

#[test]
fn a_job_that_reads_does_not_replace_a_file_of_the_user() {
    let dir = with_data();
    let refused = dir.ferrio(&READ).run().ended_with(1);
    insta::assert_snapshot!(refused.stderr, @"
    error: before reading, the job would replace data (13 bytes) by a new file of 65536 bytes
     --> argument 3: --filename=data
      |
    3 | --filename=data
      |            ^^^^
      |
      = help: name another file, reduce `size` (without it, the job reads the file as it is), or set allow_layout_overwrite=1 if the content may be lost
    ");
    assert_eq!((refused.stdout.as_str(), dir.read("data").as_str()), ("", "the only copy"));
    let checked = dir.ferrio(&[&["check"][..], &READ].concat()).run().ended_with(1);
    assert_eq!(checked.stderr, refused.stderr.replace("argument 3", "argument 4").replace("\n3 |", "\n4 |"));
}

#[test]
fn the_option_that_the_message_names_allows_it() {
    let dir = with_data();
    dir.ferrio(&[&READ[..], &["--allow_layout_overwrite=1"]].concat()).run().succeeded();
    assert_eq!(dir.files(), [("data".to_owned(), 65536)]);
}

#[test]
fn fio_replaces_the_file() {
    let dir = with_data();
    dir.ferrio(&[&["--as=fio"][..], &READ].concat()).run().succeeded();
    assert_eq!(dir.files(), [("data".to_owned(), 65536)]);
}

#[test]
fn a_job_that_writes_is_not_asked() {
    let dir = with_data();
    dir.ferrio(&["--name=a", "--rw=write", "--filename=data", "--size=64k"]).run().succeeded();
    assert_eq!(dir.files(), [("data".to_owned(), 64 << 10)]);
}

/// A job on a file of this size, with more options in one text.
fn sized<'a>(size: &'a str, more: &'a str) -> Vec<&'a str> {
    ["--name=a", "--filename=laid:out", size].into_iter().chain(more.split_whitespace()).collect()
}

#[test]
fn the_same_job_may_run_again_with_a_larger_size() {
    for first in ["--rw=read", "--rw=read --create_only=1", "--rw=write --create_only=1"] {
        let dir = TestDir::new();
        dir.ferrio(&sized("--size=64k", first)).run().succeeded();
        let again = dir.ferrio(&sized("--size=256k", "--rw=read")).run();
        if keeps_attributes(&dir.work()) {
            again.succeeded();
            assert_eq!(dir.files(), [("laid".to_owned(), 131_072), ("out".to_owned(), 131_072)], "{first}");
        } else {
            again.ended_with(1);
        }
    }
}

#[test]
fn a_file_that_was_written_to_after_its_layout_is_not_replaced() {
    let refused = |dir: &TestDir| {
        let run = dir.ferrio(&sized("--size=256k", "--rw=read")).run().ended_with(1);
        assert!(run.stderr.contains("the job would replace"), "{}", run.stderr);
    };
    // The user's own data, in the file as it was: one longer, one with the same size.
    for data in [vec![7; 40_000], vec![7; 32_768]] {
        let dir = TestDir::new();
        dir.ferrio(&sized("--size=64k", "--rw=read")).run().succeeded();
        let path = dir.work().join("laid");
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, &data).unwrap();
        assert_ne!(fs::metadata(&path).unwrap().modified().unwrap(), modified);
        refused(&dir);
        assert!(fs::read(&path).unwrap() == data);
    }
    // What a job wrote is in doubt.
    for first in ["--rw=write", "--rw=randrw"] {
        let dir = TestDir::new();
        dir.ferrio(&sized("--size=64k", first)).run().succeeded();
        refused(&dir);
    }
}

#[test]
fn fio_leaves_nothing_beside_the_data() {
    let attributes = |words: &str| {
        let dir = TestDir::new();
        dir.ferrio(&sized("--size=64k", words)).run().succeeded();
        let mut names = [0; 256];
        rustix::fs::listxattr(dir.work().join("laid"), &mut names[..]).map_or(0, |length| {
            let names = names[..length].split(|&byte| byte == 0);
            names.filter(|name| name.starts_with(b"user.")).count()
        })
    };
    assert_eq!(attributes("--as=fio --rw=read"), 0);
    let dir = TestDir::new();
    assert_eq!(attributes("--rw=read"), usize::from(keeps_attributes(&dir.work())));
}

/// Whether files there can have extended attributes of users.
pub fn keeps_attributes(directory: &Path) -> bool {
    let file = tempfile::NamedTempFile::new_in(directory).unwrap();
    rustix::fs::fsetxattr(&file, "user.probe", b"1", rustix::fs::XattrFlags::empty()).is_ok()
}

#[test]
fn a_misspelled_device_is_not_created() {
    let dir = TestDir::new();
    let words = ["--name=a", "--rw=write", "--filename=/dev/ferrio-no-such-device", "--size=4k"];
    let refused = dir.ferrio(&words).run().ended_with(1);
    insta::assert_snapshot!(refused.stderr, @"
    error: /dev/ferrio-no-such-device does not exist, and the job would create a regular file there
     --> argument 3: --filename=/dev/ferrio-no-such-device
      |
    3 | --filename=/dev/ferrio-no-such-device
      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: correct the name of the device, or set filetype=file to create a file in /dev
    ");
    let checked = dir.ferrio(&[&["check"][..], &words].concat()).run().ended_with(1);
    assert!(checked.stderr.contains("the job would create a regular file there"), "{}", checked.stderr);
    assert!(!Path::new("/dev/ferrio-no-such-device").exists());
}

#[test]
fn a_link_is_followed_and_stays() {
    let dir = TestDir::new();
    fs::write(dir.work().join("target"), "").unwrap();
    std::os::unix::fs::symlink("target", dir.work().join("data")).unwrap();
    dir.ferrio(&READ).run().succeeded();
    assert!(dir.work().join("data").is_symlink());
    assert_eq!(fs::metadata(dir.work().join("target")).unwrap().len(), 65536);
}
