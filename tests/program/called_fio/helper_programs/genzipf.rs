//! `fio-genzipf`: the hits of blocks under skewed distributions.

use super::called;
use crate::support::{TestDir, installed, same};

const PROGRAM: &str = "fio-genzipf";

#[test]
fn the_tables_are_those_of_fio() {
    needs!("fio-genzipf");
    let dir = TestDir::new();
    for words in [
        &["-t", "zipf", "-i", "1.2", "-g", "1", "-o", "10"][..],
        &["-g", "1", "-b", "65536", "-i", "0.6"],
        &["-t", "pareto", "-i", "0.2", "-g", "1", "-b", "16384", "-o", "5"],
        &["-t", "normal", "-g", "1", "-b", "16384", "-o", "5"],
        &["-t", "zipf", "-g", "2", "-b", "100000", "-o", "7"],
        &["-t", "zipf", "-g", "1", "-b", "67108864"],
        &["-t", "zipf", "-g", "1", "-b", "67108864", "-c"],
    ] {
        let ours = called(&dir, PROGRAM, words).succeeded();
        let fios = dir.program(installed(PROGRAM), words).run().succeeded();
        same!("fio": fios.stdout, "ferrio": ours.stdout, "{words:?}");
    }
}

#[test]
fn the_cache_is_that_of_the_share_of_all_hits() {
    let dir = TestDir::new();
    let words = ["genzipf", "-g", "1", "-b", "67108864"];
    let counts = dir.ferrio(&[&words[..], &["-c"]].concat()).run().succeeded().stdout;
    assert!(counts.starts_with("rank, count\n0, 5\n1, 4\n2, 2\n"), "{counts}");
    let cached = |percent| {
        let text = dir.ferrio(&[&words[..], &["-p", percent]].concat()).run().succeeded().stdout;
        text.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(cached("50"), "50.00% of hits satisfied in 128.000MB of cache", "9 of 16");
    assert_eq!(cached("60"), "60.00% of hits satisfied in 192.000MB of cache", "11 of 16");
}

#[test]
fn what_no_job_could_have_is_refused() {
    let dir = TestDir::new();
    for (words, part) in [
        (&["-i", "1"][..], "zipf input must be different than 1.0"),
        (&["-i", "-1"], "zipf input must be >= 0.00"),
        (&["-t", "zipf_exact", "-i", "-1"], "zipf_exact input must be >= 0.00"),
        (&["-t", "pareto", "-i", "1"], "pareto input must be > 0.00 and < 1.00"),
        (&["-t", "normal", "-i", "100"], "normal input must be >= 0.00 and < 100.00"),
        (&["-t", "flat"], "invalid value 'flat'"),
        (&["-o", "0"], "invalid value '0'"),
        (&["-p", "0"], "-p must be above 0 and at most 100"),
        (&["-g", "1", "-b", "2147483648"], "is larger than the data set"),
        (&["-g", "99999999999999"], "-g is too large"),
        (&["-g", "1000000000", "-b", "1"], "no memory for"),
    ] {
        let run = called(&dir, PROGRAM, words).ended_with(1);
        assert!(run.stderr.contains(part) && run.stdout.is_empty(), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn an_exact_zipf_hits_the_blocks_that_fios_misses() {
    let dir = TestDir::new();
    let blocks_hit = |shape| {
        let words = ["genzipf", "-t", shape, "-i", "0.8", "-g", "1", "-b", "10485", "-c"];
        dir.ferrio(&words).run().succeeded().stdout.lines().count() - 1
    };
    // With as many I/Os as there are 102 408 blocks the law expects 40 947, with a deviation of at most 141.
    let (approximated, exact) = (blocks_hit("zipf"), blocks_hit("zipf_exact"));
    assert!((40_400..41_500).contains(&exact) && approximated < 38_000, "{approximated} and {exact}");
    let table = dir.ferrio(&["genzipf", "-t", "zipf_exact", "-i", "1", "-g", "1"]).run().succeeded().stdout;
    assert!(table.starts_with("Generating Exact Zipf distribution with 1.000000 input"), "{table}");
}
