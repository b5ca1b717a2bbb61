//! Every engine writes the bytes it was given to where they belong, and reads all of them back.

use std::fs;

use crate::support::{Place, number};

const SIZE: u64 = 256 << 10;

/// Writes a file of a known pattern, then reads it through a second job.
fn round_trip(engine: &str, more: &str) {
    let place = Place::new();
    let job = place.job(&format!(
        "[global]\nfilename=f\nsize={SIZE}\nioengine={engine}\n{more}\n\
         [write]\nrw=randwrite\nbs=4k\nbuffer_pattern=\"ferrio!!\"\n\
         [read]\nstonewall\nrw=randread\nbs=8k\n"
    ));
    let report = place.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    assert_eq!(number(&report, "/jobs/0/write/total_ios"), SIZE / 4096);
    assert_eq!(number(&report, "/jobs/0/write/io_bytes"), SIZE);
    assert_eq!(number(&report, "/jobs/1/read/total_ios"), SIZE / 8192);
    assert_eq!(number(&report, "/jobs/1/read/io_bytes"), SIZE);
    assert_eq!(number(&report, "/jobs/1/read/short_ios"), 0);
    if engine == "null" {
        assert_eq!(place.files(), [], "the null engine has no files");
        return;
    }
    assert_eq!(place.files(), [("f".to_owned(), SIZE)]);
    let content = fs::read(place.work().join("f")).unwrap();
    let wrong = content.chunks(8).position(|chunk| chunk != b"ferrio!!");
    assert_eq!(wrong, None, "{engine} {more}: first wrong group of 8 bytes");
}

#[test]
fn sync_moves_all_bytes() {
    round_trip("sync", "");
    round_trip("sync", "direct=1");
}

#[test]
fn psync_moves_all_bytes() {
    round_trip("psync", "");
    round_trip("psync", "direct=1");
}

#[test]
fn the_vectored_engines_move_all_bytes() {
    round_trip("vsync", "iodepth=4");
    round_trip("vsync", "iodepth=4\ndirect=1");
    round_trip("pvsync", "");
    round_trip("pvsync2", "direct=1");
}

#[test]
fn io_uring_moves_all_bytes() {
    round_trip("io_uring", "iodepth=16");
    round_trip("io_uring", "iodepth=32\niodepth_batch=8\ndirect=1");
    round_trip("io_uring", "iodepth=8\ndirect=1\nfixedbufs\nregisterfiles");
    round_trip("io_uring", "iodepth=8\nnonvectored=0");
}

#[test]
fn tokio_uring_moves_all_bytes() {
    round_trip("tokio_uring", "iodepth=8");
    round_trip("tokio_uring", "iodepth=8\ndirect=1");
}

#[test]
fn libaio_moves_all_bytes() {
    round_trip("libaio", "iodepth=16");
    round_trip("libaio", "iodepth=32\niodepth_batch=8\ndirect=1");
}

#[test]
fn posixaio_moves_all_bytes() {
    round_trip("posixaio", "iodepth=16");
    round_trip("posixaio", "iodepth=32\niodepth_batch=8\ndirect=1");
}

#[test]
fn splice_moves_all_bytes() {
    round_trip("splice", "");
    round_trip("splice", "direct=1");
}

#[test]
fn mmap_moves_all_bytes() {
    round_trip("mmap", "");
}

#[test]
fn null_counts_all_bytes() {
    round_trip("null", "");
    round_trip("null", "iodepth=16");
}
