//! Which blocks a random job chooses, from outside: fio's very sequence where it can be compared, and what is told where a
//! choice cannot be made.

use std::fs;

use crate::support::{TestDir, both, same};

/// Jobs whose random offsets fio 3.33 chooses as later versions do: its seed of zipf and the like is another one, and it cannot
/// read zones that differ by direction.
const JOBS: [&str; 15] = [
    "rw=randread\nsize=128k\nrandom_generator=lfsr",
    "rw=randread\nsize=100k\nrandom_generator=lfsr\nloops=3",
    "rw=randrw\nsize=128k\nrandom_generator=lfsr\nnrfiles=2",
    "rw=randread:3\nsize=256k\nrandom_generator=lfsr\npercentage_random=50",
    "rw=randread\nsize=256k\nrandom_generator=lfsr\nzonemode=strided\nzonesize=64k\nzonerange=64k",
    "rw=randwrite\nsize=256k\npercentage_random=30",
    "rw=randrw\nsize=256k\npercentage_random=20,80\nnorandommap\nloops=2",
    "rw=randread:2\nsize=64k\npercentage_random=60\nloops=3",
    "rw=randread\nsize=200k\nbs=4k,8k\nbs_is_seq_rand=1\npercentage_random=50\nnorandommap",
    "rw=randwrite\nsize=200k\nbsrange=4k-8k,1k-16k\nbs_is_seq_rand=1\npercentage_random=30\nnorandommap",
    "rw=randread\nsize=400k\nrandom_distribution=zoned:50/5:30/15:20/80",
    "rw=randrw\nsize=400k\nrandom_distribution=zoned:90/10:10/90\nloops=2",
    "rw=randread\nsize=400k\nrandom_distribution=zoned_abs:90/40k:10/100k\nnrfiles=2",
    "rw=randread\nsize=40k\nrandom_distribution=zoned_abs:90/20k:10/40k\nloops=2",
    "rw=randwrite\nsize=300k\nrandom_distribution=zoned:60/30:40/70\nbsrange=4k-12k\npercentage_random=70",
];

/// The I/Os of each job: direction, offset, length.
fn sequences(fio: bool) -> Vec<String> {
    let dir = TestDir::new();
    let mut text = "[global]\nioengine=null\nthread\nrandrepeat=0\n".to_owned();
    for (number, job) in JOBS.iter().enumerate() {
        // The default seed cannot begin every register; 11 can.
        text += &format!("[j{number}]\nrandseed=11\nwrite_iolog=j{number}.log\n{job}\n");
    }
    let job = dir.job(&text);
    let words = ["--output=report", &job];
    if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().succeeded();
    let io = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().skip_while(|word| !word.starts_with('j')).collect();
        ["read", "write"].contains(words.get(1)?).then(|| words.join(" "))
    };
    let log = |number| dir.read(&format!("j{number}.log"));
    (0..JOBS.len()).map(|number| log(number).lines().filter_map(io).collect::<Vec<_>>().join("\n")).collect()
}

#[test]
fn random_offsets_are_those_of_fio_one_by_one() {
    needs!("fio");
    for ((job, fio), ferrio) in JOBS.iter().zip(sequences(true)).zip(sequences(false)) {
        assert!(fio.lines().count() > 1, "fio did nothing\n{job}");
        same!("fio": fio, "ferrio": ferrio, "{job}");
    }
}

#[test]
fn a_shift_register_visits_small_files_as_in_fio() {
    needs!("fio");
    let jobs = [1, 3, 4, 8, 15].map(|blocks| {
        let size = blocks * 4;
        format!("[j{blocks}]\nioengine=null\nstonewall\nrw=randread\nsize={size}k\nrandom_generator=lfsr\nwrite_iolog=j{blocks}.log\n")
    });
    let [fio, ferrio] = both(|is_fio| {
        let dir = TestDir::new();
        let job = dir.job(&("[global]\nthread\n".to_owned() + &jobs.concat()));
        let words = ["--output=report", &job];
        if is_fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().succeeded();
        let offsets = |blocks| {
            let log = dir.read(&format!("j{blocks}.log"));
            let reads = log.lines().filter(|line| line.contains(" read "));
            reads.map(|line| line.rsplit(' ').nth(1).unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        [1, 3, 4, 8, 15].map(offsets)
    });
    let counts = ferrio.each_ref().map(Vec::len);
    for (fio, ferrio) in fio.map(sorted).into_iter().zip(ferrio.map(sorted)) {
        // fio does nothing where all bits of the seed are set, and counts that as success.
        assert!(fio.is_empty() || fio == ferrio, "fio: {fio:?}, ferrio: {ferrio:?}");
        let all: Vec<_> = (0..ferrio.len()).map(|block| (block * 4096).to_string()).collect();
        assert_eq!(ferrio, sorted(all));
    }
    assert_eq!(counts, [1, 3, 4, 8, 15]);
}

fn sorted(mut offsets: Vec<String>) -> Vec<String> {
    offsets.sort_unstable();
    offsets
}

#[test]
fn a_job_runs_without_a_map_if_it_may_and_fails_if_not() {
    let dir = TestDir::new();
    let text =
        "[a]\nioengine=null\nrw=randread\nsize=100p\nbs=512\nnumber_ios=3\nrandom_generator=tausworthe64\n";
    let run = dir.ferrio(&[&dir.job(text)]).run().ended_with(1);
    assert!(run.stderr.contains("does not fit into memory"), "{}", run.stderr);
    let soft = dir.job(&format!("{text}softrandommap=1\n"));
    let run = dir.ferrio(&[&soft]).run().ended_with(0);
    assert!(run.stderr.contains("a: no memory for the random map, running without"), "{}", run.stderr);
}

#[test]
fn a_permutation_of_a_huge_file_begins_at_once_and_is_no_word_of_fio() {
    let dir = TestDir::new();
    let text = "[a]\nioengine=null\nrw=randread\nsize=1p\nbs=512\nnumber_ios=50\nrandom_generator=permute\n";
    let job = dir.job(text);
    let run = dir.ferrio(&[&job]).run().ended_with(0);
    assert_eq!(run.messages(), "");
    let run = dir.ferrio(&["--strict=fio", &job]).run().ended_with(1);
    assert!(run.stderr.contains("fio has no such generator"), "{}", run.stderr);
}

#[test]
fn an_exact_zipf_reaches_the_blocks_that_fios_misses_and_is_no_word_of_fio() {
    let dir = TestDir::new();
    let touched = |options: &str| {
        let text = format!(
            "[a]\nioengine=null\nrw=randread\nsize=4000k\nio_size=40000k\nwrite_iolog=log\n{options}\n"
        );
        let run = dir.ferrio(&["--output=report", &dir.job(&text)]).run().ended_with(0);
        assert_eq!(run.messages(), "");
        let log = dir.read("log");
        fs::remove_file(dir.work().join("log")).unwrap();
        let reads = log.lines().filter(|line| line.contains(" read "));
        let offsets: Vec<_> =
            reads.map(|line| line.rsplit(' ').nth(1).unwrap_or_default().to_owned()).collect();
        assert_eq!(offsets.len(), 10_000, "{options}");
        (offsets.iter().collect::<std::collections::BTreeSet<_>>().len(), offsets)
    };
    // Of 1000 blocks the law expects 979 +- 5 with a theta of 0.8, and 744 +- 12 with 1.2.
    let (of_fio, _) = touched("random_distribution=zipf:0.8");
    let (exact, offsets) = touched("random_distribution=zipf_exact:0.8");
    assert!((960..=998).contains(&exact) && of_fio < 800, "{exact}, zipf: {of_fio}");
    assert_eq!(offsets, touched("random_distribution=zipf_exact:0.8").1);
    assert_ne!(offsets, touched("random_distribution=zipf_exact:0.8\nrandseed=7").1);
    let (exact, offsets) = touched("random_distribution=zipf_exact:1.2:0.5");
    assert!((690..=795).contains(&exact), "{exact}");
    let center = offsets.iter().filter(|offset| *offset == "2048000").count();
    // The most popular block gets 23.1 % of the I/Os.
    assert!((2130..=2480).contains(&center), "{center}");

    for option in ["random_distribution=zipf_exact:0.8", "file_service_type=zipf_exact"] {
        let job = dir.job(&format!("[a]\nioengine=null\nrw=randread\nsize=1m\nnrfiles=2\n{option}\n"));
        for words in [&["--strict=fio", &job][..], &["--as=fio", &job]] {
            let run = dir.ferrio(words).run().ended_with(1);
            assert!(run.stderr.contains("fio has no such distribution"), "{}", run.stderr);
        }
    }
}

#[test]
fn what_is_appended_stands_behind_what_was_there() {
    let dir = TestDir::new();
    let path = dir.work().join("f");
    fs::write(&path, b"keep this text").unwrap();
    for rw in ["write", "read"] {
        let before = fs::read(&path).unwrap();
        let job = format!("[a]\nioengine=psync\nfilename=f\nrw={rw}\nsize=16k\nfile_append=1\n");
        dir.ferrio(&[&dir.job(&job)]).run().ended_with(0);
        let after = fs::read(&path).unwrap();
        assert_eq!(after.len(), before.len() + 16384, "{rw}");
        assert!(after.starts_with(&before), "{rw}");
        assert!(after[before.len()..].iter().any(|&byte| byte != 0), "{rw}");
    }
}
