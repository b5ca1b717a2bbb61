//! Every engine writes the bytes it was given to where they belong, and reads all of them back.

use std::fs;

use ferrio_job::EngineKind;

use super::{Target, engines_on, moving};
use crate::support::{TestDir, number};

const SIZE: u64 = 256 << 10;

/// Writes a known pattern, then reads it through a second job.
fn round_trip(engine: EngineKind, more: &str) -> TestDir {
    let dir = TestDir::new();
    let job = dir.job(&format!(
        "[global]\nfilename=f\nsize={SIZE}\nioengine={engine}\n{more}\n\
         [write]\nrw=randwrite\nbs=4k\nbuffer_pattern=\"ferrio!!\"\n\
         [read]\nstonewall\nrw=randread\nbs=8k\n"
    ));
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    for (job, direction, block) in [(0, "write", 4096), (1, "read", 8192)] {
        let figures = ["total_ios", "io_bytes", "short_ios"]
            .map(|figure| number(&report, &format!("/jobs/{job}/{direction}/{figure}")));
        assert_eq!(figures, [SIZE / block, SIZE, 0], "{engine} {more}: {direction}");
    }
    dir
}

fn round_trip_of_file(engine: EngineKind, more: &str) {
    let dir = round_trip(engine, more);
    assert_eq!(dir.files(), [("f".to_owned(), SIZE)]);
    let content = fs::read(dir.work().join("f")).unwrap();
    let wrong = content.chunks(8).position(|chunk| chunk != b"ferrio!!");
    assert_eq!(wrong, None, "{engine} {more}: first wrong group of 8 bytes");
}

#[test]
fn files_get_all_bytes_in_their_places() {
    for engine in moving() {
        for more in ["", "direct=1", "iodepth=16", "iodepth=32\niodepth_batch=8\ndirect=1"] {
            round_trip_of_file(engine, more);
        }
    }
}

#[test]
fn files_get_all_bytes_by_every_kind_of_request_of_io_uring() {
    round_trip_of_file(EngineKind::IoUring, "iodepth=8\ndirect=1\nfixedbufs\nregisterfiles");
    round_trip_of_file(EngineKind::IoUring, "iodepth=8\nnonvectored=0");
}

#[test]
fn engines_without_files_count_all_bytes_and_make_none() {
    for engine in engines_on(Target::Memory) {
        for more in ["", "iodepth=16"] {
            assert_eq!(round_trip(engine, more).files(), [], "{engine}");
        }
    }
}
