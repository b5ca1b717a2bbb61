//! I/O buffers: their bytes are fio's, file by file, and their memory is of the kind asked for and gone afterwards.

use std::fs;

use nix::sys::signal::Signal;

use crate::support::{Run, TestDir, number, same};

/// Job files that both programs write or lay out `f` and `g` for, as what follows a common beginning.
const CONTENTS: &[&str] = &[
    // where the stream is after the units that a synchronous engine does not use
    "rw=write\nscramble_buffers=0\niodepth=4",
    "rw=write\nscramble_buffers=0\nioengine=libaio\niodepth=4",
    "rw=write\nrefill_buffers\niodepth=7\nioengine=sync",
    // compression
    "rw=write\nbuffer_compress_percentage=50",
    "rw=write\nbuffer_compress_percentage=33\nbuffer_compress_chunk=1000\nbs=4100",
    "rw=write\nbuffer_compress_percentage=99\nbs=1028",
    "rw=write\nbuffer_compress_percentage=50\nbuffer_compress_chunk=0\nbsrange=1k-9k\nrandrepeat=0\nrandseed=7",
    "rw=write\nbuffer_compress_percentage=10\nrefill_buffers=0",
    "rw=write\nbuffer_compress_percentage=100",
    "rw=write\nbuffer_compress_percentage=100\nbuffer_pattern=0xff",
    "rw=write\nbuffer_compress_percentage=0",
    "zero_buffers\nrw=write\nbuffer_compress_percentage=20",
    // patterns: decimal, hexadecimal, text, all of them; the rest of what compresses; when they refill
    "rw=write\nbuffer_pattern=1234",
    "rw=write\nbuffer_pattern=-7",
    "rw=write\nbuffer_pattern=0x12\"ab\"34\nbs=1000",
    "rw=write\nbuffer_pattern=\"abcde\"\nbuffer_compress_percentage=50",
    "buffer_compress_percentage=50\nrw=write\nbuffer_pattern=0xdeadbeef\nrefill_buffers=0",
    // duplicates
    "rw=write\ndedupe_percentage=50",
    "rw=write\ndedupe_percentage=0",
    "rw=write\ndedupe_percentage=100\nbuffer_compress_percentage=30",
    "rw=write\ndedupe_percentage=90\nloops=2",
    "rw=write\ndedupe_percentage=50\nrefill_buffers=0",
    "rw=write\nrefill_buffers=0\ndedupe_percentage=50\nzero_buffers",
    "rw=write\nbuffer_pattern=0xab\ndedupe_percentage=50\nbs=4k,16k",
    "rw=write\ndedupe_percentage=50\nbuffer_pattern=0xab",
    "rw=write\ndedupe_percentage=60\nbuffer_compress_percentage=25\nbuffer_compress_chunk=4k\nrandom_generator=tausworthe64",
    "rw=write\ndedupe_percentage=60\ndedupe_mode=working_set\ndedupe_working_set_percentage=20",
    "rw=write\ndedupe_percentage=60\ndedupe_mode=working_set\ndedupe_working_set_percentage=0",
    "rw=write\ndedupe_percentage=70\ndedupe_mode=working_set\nbsrange=1k-9k\nrandrepeat=0\nrandseed=7\n\
     random_generator=tausworthe64",
    "rw=write\ndedupe_percentage=70\ndedupe_mode=working_set\ndedupe_working_set_percentage=30\ndedupe_global=1",
    // files that are laid out, and what is written into them
    "rw=read\nbuffer_compress_percentage=50\nbsrange=4k-16k",
    "rw=read\ndedupe_percentage=50\nbs=4k,16k\nbuffer_compress_chunk=0",
    "rw=read\ndedupe_percentage=50\ndedupe_mode=working_set\nsize=1001k",
    "rw=write\noverwrite=1\ndedupe_percentage=50\nbuffer_compress_percentage=60",
    "rw=rw\nbuffer_compress_percentage=50\nbuffer_pattern=0xcd",
];

/// The two files of each set of options as fio or ferrio leave them, all written by one run.
fn written(sets: &[&str], fio: bool) -> Vec<[Vec<u8>; 2]> {
    let dir = TestDir::new();
    let section = |(at, options): (usize, &&str)| {
        ["f", "g"].map(|name| format!("[{name}{at}]\nfilename={name}{at}\n{options}\n")).concat()
    };
    let sections: String = sets.iter().enumerate().map(section).collect();
    let job = dir.job(&format!("[global]\nioengine=psync\nbs=4k\nsize=500k\nthread\n{sections}"));
    let run = if fio { dir.fio(&[&job]) } else { dir.ferrio(&[&job]) }.run();
    run.succeeded();
    let read = |name: &str, at: usize| fs::read(dir.work().join(format!("{name}{at}"))).unwrap();
    (0..sets.len()).map(|at| ["f", "g"].map(|name| read(name, at))).collect()
}

/// Where two files differ, short enough to be read.
fn difference(fio: &[u8], ferrio: &[u8]) -> Option<(usize, usize, Option<usize>)> {
    (fio != ferrio)
        .then(|| (fio.len(), ferrio.len(), fio.iter().zip(ferrio).position(|(fio, ferrio)| fio != ferrio)))
}

#[test]
fn contents_are_those_of_the_installed_fio_byte_by_byte() {
    needs!("fio");
    // Duplicates of what other jobs write depend on those: they are a run of their own.
    let (global, others): (Vec<&str>, Vec<&str>) =
        CONTENTS.iter().partition(|options| options.contains("dedupe_global"));
    for sets in [&global[..]].into_iter().chain(others.chunks(12)) {
        for (options, (fio, ferrio)) in sets.iter().zip(written(sets, true).iter().zip(written(sets, false)))
        {
            for at in 0..2 {
                let found = difference(&fio[at], &ferrio[at]);
                same!("expected": None::<(usize, usize, Option<usize>)>, "(length in fio, in ferrio, first difference)": found,
                      "file {at} of\n{options}");
            }
        }
    }
}

#[test]
fn zeroes_are_scrambled_where_that_is_asked_for_by_name() {
    let files = written(&["rw=write\nzero_buffers", "rw=write\nzero_buffers\nscramble_buffers=1"], false);
    let [[zeroes, _], [scrambled, _]] = &files[..] else { panic!("{} pairs of files", files.len()) };
    assert!(zeroes.iter().all(|&byte| byte == 0));
    assert!(scrambled.chunks(512).skip(1).all(|sector| sector.iter().any(|&byte| byte != 0)));
}

/// A job that writes 64 KiB from four buffers of a kind of memory.
fn with_memory(dir: &TestDir, more: &[&str]) -> Run {
    let words =
        ["--name=a", "--filename=f", "--rw=write", "--size=64k", "--iodepth=4", "--scramble_buffers=0"];
    let words: Vec<&str> = words.iter().chain(more).copied().collect();
    let running = dir.ferrio(&words).start();
    let pid = running.pid().to_string();
    let made_by_it = |line: &str| line.split_whitespace().nth(4) == Some(&pid);
    let run = running.wait();
    let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    assert!(!segments.lines().any(made_by_it), "a segment of {more:?} is left:\n{segments}");
    run
}

#[test]
fn every_kind_of_memory_gives_the_same_file_and_leaves_nothing_behind() {
    for engine in ["--ioengine=psync", "--ioengine=io_uring"] {
        let plain = TestDir::new();
        with_memory(&plain, &[engine]).succeeded();
        let wanted = fs::read(plain.work().join("f")).unwrap();
        for memory in ["shm", "mmap", "mmap:m", "mmapshared", "mmapshared:m"] {
            for more in [&["--iomem_align=8k"][..], &["--direct=1"], &["--fixedbufs"]] {
                if more[0] == "--fixedbufs" && (engine.ends_with("psync") || memory == "mmapshared:m") {
                    continue;
                }
                let dir = TestDir::new();
                let memory = format!("--mem={memory}");
                let words: Vec<&str> = [engine, &memory].iter().chain(more).copied().collect();
                with_memory(&dir, &words).succeeded();
                assert_eq!(dir.files(), [("f".to_owned(), 65536)], "{words:?}");
                // Which buffer is free first is a matter of time where the device decides.
                if more[0] != "--direct=1" {
                    let got = fs::read(dir.work().join("f")).unwrap();
                    assert_eq!(difference(&wanted, &got), None, "{words:?}");
                }
            }
        }
    }
}

#[test]
fn a_mapped_file_that_existed_is_kept_be_it_empty() {
    for before in [0, 100_000] {
        let dir = TestDir::new();
        fs::write(dir.work().join("m"), vec![1; before]).unwrap();
        with_memory(&dir, &["--mem=mmapshared:m"]).succeeded();
        let after = before.max(4096) as u64;
        assert_eq!(dir.files(), [("f".to_owned(), 65536), ("m".to_owned(), after)]);
    }
}

#[test]
fn a_mapped_file_is_removed_on_every_way_out() {
    let dir = TestDir::new();
    let full = ["--name=a", "--filename=/dev/full", "--rw=write", "--size=64k", "--mem=mmapshared:m"];
    dir.ferrio(&full).run().ended_with(1);
    assert!(dir.files().is_empty(), "{:?}", dir.files());

    let words = [
        "--name=a",
        "--filename=f",
        "--rw=write",
        "--size=1m",
        "--time_based",
        "--runtime=1h",
        "--mem=mmapshared:m",
    ];
    let mut running = dir.ferrio(&words).start();
    let (file, memory) = (dir.work().join("f"), dir.work().join("m"));
    running.until("its first write", || {
        memory.exists() && fs::read(&file).is_ok_and(|bytes| bytes.iter().any(|&byte| byte != 0))
    });
    running.signal(Signal::SIGINT);
    running.wait().ended_with(128);
    assert!(!memory.exists());
}

#[test]
fn memory_that_cannot_be_had_fails_the_job_with_advice() {
    let dir = TestDir::new();
    let run =
        with_memory(&dir, &["--mem=mmaphuge", "--hugepage-size=8k", "--output-format=json"]).ended_with(1);
    assert!(run.stderr.contains("the kernel has no huge pages of 8kB; those it has: "), "{}", run.stderr);
    assert_ne!(number(&run.json(), "/jobs/0/error"), 0);
    let run = with_memory(&dir, &["--mem=mmaphuge:m"]).ended_with(1);
    assert!(run.stderr.contains("needs a file on a mounted hugetlbfs"), "{}", run.stderr);
    let run = with_memory(&dir, &["--mem=mmap:no/m"]).ended_with(1);
    assert!(run.stderr.contains("func=open(no/m), error=No such file or directory"), "{}", run.stderr);
    assert!(!dir.work().join("m").exists());
}

#[test]
fn huge_pages_work_where_there_are_some_and_are_an_advice_where_not() {
    for memory in ["--mem=mmaphuge", "--mem=shmhuge"] {
        let dir = TestDir::new();
        let run = with_memory(&dir, &[memory]);
        if run.status != Some(0) {
            let advised = ["echo ", "CAP_IPC_LOCK", "the kernel has no huge pages"];
            assert!(advised.iter().any(|advice| run.stderr.contains(advice)), "{}", run.stderr);
        }
    }
}

#[test]
fn shares_above_100_percent_and_odd_alignments_are_refused_before_anything_runs() {
    for (option, what) in [
        ("--buffer_compress_percentage=101", "100"),
        ("--dedupe_percentage=101", "100"),
        ("--dedupe_working_set_percentage=101", "100"),
        ("--iomem_align=1000", "power of two"),
    ] {
        let dir = TestDir::new();
        let run = with_memory(&dir, &[option]).ended_with(1);
        assert!(run.stderr.contains(what), "{option}: {}", run.stderr);
        assert!(dir.files().is_empty());
    }
}
