//! `offset` and `offset_increment` in percent, of files that an engine without files only pretends to have.

use std::fs;

use crate::support::{TestDir, number};

/// Sizes and offsets of jobs that both programs run.
const SAME: &[&str] = &[
    "size=1m\noffset=10%\nrw=write:4k",
    "size=1m\noffset=104857\nrw=write:4k",
    "size=1m\noffset=106496\nrw=write:4k",
    "size=1m\noffset=10%",
    "size=1m\noffset=0%",
    "size=1m\noffset=100%",
    "size=1m\noffset=10%\noffset_align=64k",
    "size=1m\noffset=50%\nio_size=512k",
    "size=1m\noffset=50%\nio_size=50%",
    "size=1m\noffset=50%\nnrfiles=3",
    "size=1m\noffset=10%\nrw=randwrite",
    "size=1m\noffset=25%\nrw=trim",
    "size=1m\noffset=25%\nrw=randread\nnrfiles=2",
    "size=1m\noffset_increment=10%",
    "size=512k\nfilesize=1m\noffset=50%",
    "filesize=1m\noffset=4096",
    "filesize=1m\noffset=0%",
];

/// The start of each I/O of each job, and how many there were.
fn offsets(dir: &TestDir, is_fio: bool) -> Vec<(String, u64)> {
    let mut job =
        "[global]\nioengine=null\nrw=write\nbs=4k\nthread\nwrite_lat_log\nlog_offset=1\n".to_owned();
    for (number, options) in SAME.iter().enumerate() {
        job += &format!("[j{number}]\nwrite_iolog=log{number}\n{options}\n");
    }
    let job = dir.job(&job);
    let words = ["--output-format=json", &job];
    let run = if is_fio { dir.fio(&words).run() } else { dir.ferrio(&words).run() };
    let report = run.succeeded().json();
    let of_job = |at: usize| {
        let log = fs::read_to_string(dir.work().join(format!("log{at}"))).unwrap();
        let ios = log.lines().filter(|line| ["read", "write", "trim"].iter().any(|word| line.contains(word)));
        let mut places: Vec<_> =
            ios.map(|line| line.split(' ').skip(1).collect::<Vec<_>>().join(" ") + "\n").collect();
        if SAME[at].contains("rand") {
            // Each block once, in an order of its own.
            places.sort();
        }
        let count = |direction: &str| number(&report, &format!("/jobs/{at}/{direction}/total_ios"));
        (places.concat(), count("read") + count("write") + count("trim"))
    };
    (0..SAME.len()).map(of_job).collect()
}

#[test]
fn a_share_of_the_size_is_as_many_bytes_as_in_fio() {
    needs!("fio");
    let [fio, ferrio] = crate::support::both(|is_fio| offsets(&TestDir::new(), is_fio));
    for ((fio, ferrio), options) in fio.iter().zip(&ferrio).zip(SAME) {
        assert_eq!(ferrio.1, fio.1, "number of I/Os with\n{options}");
        assert!(
            ferrio.0 == fio.0,
            "I/Os differ with\n{options}\nfio:\n{:.300}\nferrio:\n{:.300}",
            fio.0,
            ferrio.0
        );
    }
    assert_eq!((ferrio[0].1, ferrio[1].1), (128, 128));
}

#[test]
fn a_share_of_a_filesize_is_one_of_that_size() {
    needs!("fio");
    let dir = TestDir::new();
    let words = ["--name=a", "--ioengine=null", "--filesize=1m", "--offset=25%", "--output-format=json"];
    let report = dir.ferrio(&words).run().succeeded().json();
    assert_eq!(number(&report, "/jobs/0/read/io_bytes"), 768 << 10);
    // fio does not know this size, and refuses the offset.
    let called_fio: Vec<&str> = words.iter().chain(&["--as=fio"]).copied().collect();
    let refused = [dir.fio(&words).run().ended_with(1), dir.ferrio(&called_fio).run().ended_with(1)];
    for run in refused {
        assert!(run.messages().contains("you need to specify valid offset="), "{}", run.messages());
    }
}
