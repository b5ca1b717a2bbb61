//! Blocks of 4 GiB and more, and alignments of that size: such trims of devices are common, and everything that carries a length must have
//! room for them. Beside real fio.

use serde_json::Value;

use crate::loop_device::LoopDevice;
use crate::support::{TestDir, both, same};

const GIB: u64 = 1 << 30;

/// I/Os and bytes of each direction.
type Figures = [(u64, u64); 3];

/// The figures of each job of a run.
fn figures(document: &Value) -> Vec<Figures> {
    let of_job = |job: &Value| {
        ["read", "write", "trim"].map(|direction| {
            let part = &job[direction];
            (part["total_ios"].as_u64().unwrap(), part["io_bytes"].as_u64().unwrap())
        })
    };
    document["jobs"].as_array().unwrap().iter().map(of_job).collect()
}

/// Runs a job file with a section for each of `jobs`, which are options separated by blanks, in one start of fio and in one of ferrio as
/// fio: fio needs a third of a second to start. Every job must do the same in both.
fn compare_with_fio(jobs: &[String]) -> Vec<Figures> {
    let sections = jobs.iter().map(|job| format!("[x]\n{}\n", job.replace(' ', "\n")));
    let text = format!("[global]\nioengine=null\n{}", sections.collect::<String>());
    let [fio, ferrio] = both(|fio| {
        let dir = TestDir::new();
        let words = ["--output-format=json", &dir.job(&text)];
        let run =
            if fio { dir.fio(&words).run() } else { dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run() };
        figures(&run.ended_with(0).json())
    });
    assert_eq!(fio.len(), jobs.len());
    for ((job, fio), ferrio) in jobs.iter().zip(&fio).zip(&ferrio) {
        same!("fio": fio, "ferrio": ferrio, "{job}");
    }
    fio
}

/// Lengths in a log of I/Os.
fn lengths(dir: &TestDir, log: &str) -> Vec<u64> {
    let lines = dir.read(log);
    let ios = lines.lines().filter(|line| line.contains(" trim "));
    ios.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn long_trims_run_as_with_fio() {
    needs!("fio");
    let trims = [
        "rw=trim bs=5g size=50g",
        "rw=randtrim bs=5g size=50g",
        "rw=trim bsrange=4k-8g size=20g",
        "rw=trim bssplit=4k/50:5g/50 size=50g",
    ];
    let deep = trims.map(|trim| format!("{trim} iodepth=4 iodepth_batch=2"));
    compare_with_fio(&[trims.map(str::to_owned), deep].concat());
}

#[test]
fn a_strict_job_trims_in_ranges_beyond_4_gib() {
    let dir = TestDir::new();
    let words = ["--name=x", "--ioengine=null", "--rw=randtrim", "--bsrange=4k-4g", "--size=8g"];
    let run = dir.ferrio(&[&words[..], &["--number_ios=3", "--output-format=json"]].concat()).run();
    let run = run.succeeded();
    assert_eq!(figures(&run.json())[0][2].0, 3, "{}", run.messages());
}

#[test]
fn long_reads_and_writes_are_for_the_engine_to_do() {
    needs!("fio");
    compare_with_fio(&["rw=read bs=4g size=8g".to_owned()]);
    // fio would fill 4 GiB of memory.
    let dir = TestDir::new();
    let words = ["--name=x", "--ioengine=null", "--rw=randwrite", "--bs=4g", "--size=8g", "--zero_buffers"];
    let run = dir.ferrio(&[&["--as=fio", "--output-format=json"], &words[..]].concat()).run().succeeded();
    assert_eq!(figures(&run.json())[0][1], (2, 8 * GIB));
}

#[test]
fn logs_and_their_replay_have_the_whole_length() {
    needs!("fio");
    let words = ["--name=x", "--filename=f", "--ioengine=null", "--rw=randtrim", "--bsrange=4k-20g"];
    let words =
        [&words[..], &["--size=800g", "--norandommap", "--number_ios=8", "--write_iolog=io"]].concat();
    let [fio, ferrio] = both(|fio| {
        let dir = TestDir::new();
        // Of fio, the I/O log alone has whole lengths: other logs cut them to 32 bits.
        let words = [&words[..], &["--write_lat_log=l"]].concat();
        if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().succeeded();
        let lengths = lengths(&dir, "io");
        if !fio {
            let rows = dir.rows("l_lat.1.log");
            let rows: Vec<u64> = rows.iter().map(|row| row[3].parse().unwrap()).collect();
            assert_eq!(rows, lengths);
            // fio 3.33 replays no trims.
            let words = ["--name=x", "--ioengine=null", "--read_iolog=io", "--output-format=json"];
            let again = dir.ferrio(&words).run().succeeded().json();
            assert_eq!(figures(&again)[0][2], (8, lengths.iter().sum()));
        }
        lengths
    });
    same!("fio": fio, "ferrio": ferrio, "lengths");
    assert!(fio.iter().any(|&len| len > 4 * GIB));
}

#[test]
fn random_offsets_aligned_beyond_the_file_are_none_as_with_fio() {
    needs!("fio");
    let jobs = ["ba=8g", "ba=-4k", "ba=2m"].map(|align| {
        [
            "rw=randread",
            "rw=randrw bsrange=4k-16k",
            "rw=randread random_generator=lfsr",
            "rw=randread random_distribution=zoned:50/50:50/50",
            "rw=randwrite nrfiles=4",
            "rw=randtrim",
            // An alignment of sequential I/O has no effect.
            "rw=write",
        ]
        .map(|job| format!("{job} size=1m {align}"))
    });
    compare_with_fio(&jobs.concat());
}

#[test]
fn random_offsets_may_be_aligned_to_more_than_4_gib() {
    needs!("fio");
    let figures = compare_with_fio(&["rw=randread ba=8g size=50g number_ios=5".to_owned()]);
    assert_eq!(figures[0][0], (5, 5 * 4096));
}

#[test]
fn devices_are_trimmed_in_one_request_of_more_than_4_gib() {
    needs!("losetup");
    let dir = TestDir::new();
    let Some(device) = LoopDevice::of(&dir, 6 * GIB) else { return };
    let file = format!("--filename={}", device.node());
    for engine in ["psync", "libaio", "io_uring", "pvsync2"] {
        let engine = format!("--ioengine={engine}");
        let words =
            ["--name=x", &file, &engine, "--rw=trim", "--bs=5g", "--number_ios=1", "--allow_mounted_write=1"];
        let run = dir.ferrio(&[&words[..], &["--output-format=json"]].concat()).run().succeeded();
        assert_eq!(figures(&run.json())[0][2], (1, 5 * GIB), "{engine}: {}", run.messages());
    }
}
