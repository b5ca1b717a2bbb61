//! What ferrio says of blocks that fail their check: the line on stderr, the counts, and the fields of JSON.

use std::os::unix::fs::FileExt;

use serde_json::{Value, json};

use crate::reports::json_document::document;
use crate::support::{Run, TestDir, number};

const BLOCK: u64 = 4096;
const JOB: [&str; 5] =
    ["--name=v", "--filename=f", "--size=64k", "--ioengine=psync", "--verify_state_save=0"];

/// A file of 16 blocks that were written with these words.
fn written(words: &[&str]) -> TestDir {
    let dir = TestDir::new();
    dir.ferrio(&[&JOB[..], &["--rw=write", "--do_verify=0"], words].concat()).run().succeeded();
    dir
}

/// Reads the file and checks all blocks.
fn read(dir: &TestDir, words: &[&str]) -> Run {
    let check = ["--rw=read", "--continue_on_error=verify"];
    dir.ferrio(&[&JOB[..], &check, words].concat()).run()
}

fn change(dir: &TestDir, change: impl FnOnce(&std::fs::File)) {
    let path = dir.work().join("f");
    change(&std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap());
}

fn bytes(file: &std::fs::File, offset: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, offset).unwrap();
    bytes
}

/// A file with four damaged blocks.
fn damaged() -> TestDir {
    let dir = written(&["--verify=crc32c"]);
    change(&dir, |file| {
        let flipped = bytes(file, BLOCK + 904, 1)[0] ^ 0x20;
        file.write_all_at(&[flipped], BLOCK + 904).unwrap();
        file.write_all_at(&[0; 1024], 2 * BLOCK + 512).unwrap();
        file.write_all_at(&bytes(file, 9 * BLOCK, 4096), 3 * BLOCK).unwrap();
        file.write_all_at(&[0; 4096], 4 * BLOCK).unwrap();
    });
    dir
}

#[test]
fn each_damaged_block_is_explained_after_the_lines_of_fio() {
    let run = read(&damaged(), &["--verify=crc32c"]).ended_with(1);
    let about = |offset: u64| {
        let looks_like = format!("at offset {offset} looks like ");
        run.stderr
            .lines()
            .find_map(|line| line.split_once(&looks_like))
            .map(|(before, after)| (before, after.to_owned()))
    };
    let (before, flip) = about(BLOCK).unwrap();
    assert_eq!(before, "ferrio: f: the block ");
    assert!(flip.starts_with("a bit flip: bit 5 of byte 904 is "), "{flip}");
    assert!(flip.ends_with("(file offset 5000), in the data"), "{flip}");
    assert_eq!(about(2 * BLOCK).unwrap().1, "zeros in place of bytes 512 to 1535 (2 sectors)");
    let moved = "a misdirected write: all of the block holds data of the block at offset 36864 (write number 9 of job 1)";
    assert_eq!(about(3 * BLOCK).unwrap().1, moved);
    let zeros = "a block that was never written, or was trimmed: all of it is zeros";
    assert_eq!(about(4 * BLOCK).unwrap().1, zeros);
    let lines: Vec<&str> = run.stderr.lines().collect();
    let at = lines.iter().position(|line| line.contains("looks like a bit flip")).unwrap();
    assert!(lines[at - 1].starts_with("       Received CRC: "), "{}", run.stderr);
    let counts = "     damage    : total=4, bit-flip=1, zeros=2, other-block=1\n";
    assert!(run.stdout.contains(counts), "{}", run.stdout);
}

#[test]
fn documents_have_the_fields_and_the_counts() {
    let words = [&JOB[..], &["--rw=read", "--continue_on_error=verify", "--verify=crc32c"]].concat();
    let report = document(&damaged(), &words, 1);
    let verify = &report["ferrio"]["verify"][0];
    assert_eq!((verify["jobname"].as_str(), number(verify, "/damaged_blocks")), (Some("v"), 4));
    assert_eq!(verify["kinds"], json!({ "bit-flip": 1, "zeros": 2, "other-block": 1 }));
    let flip = &verify["blocks"][0];
    let byte = |key: &str| number(flip, key) as u8;
    assert_eq!(byte("/found_byte") ^ byte("/wanted_byte"), 0x20);
    let fields = |block: &Value, keys: &[&str]| keys.iter().map(|key| block[key].clone()).collect::<Vec<_>>();
    let keys = [
        "file",
        "offset",
        "length",
        "kind",
        "damage_start",
        "damage_length",
        "damage_part",
        "bit",
        "differing_bytes",
    ];
    assert_eq!(Value::from(fields(flip, &keys)), json!(["f", 4096, 4096, "bit-flip", 904, 1, "data", 5, 1]));
    let moved = &verify["blocks"][2];
    assert_eq!(
        Value::from(fields(moved, &["kind", "found_offset", "found_number", "found_job"])),
        json!(["other-block", 36864, 9, 1])
    );
    let notes = report["ferrio"]["notes"].as_array().unwrap();
    assert!(notes.iter().all(|note| note["code"] != "verify-damage"), "they are in `verify`: {notes:?}");
}

#[test]
fn called_fio_the_program_has_the_fields_and_nothing_else() {
    let words = ["--as=fio", "--rw=read", "--verify=crc32c", "--continue_on_error=verify"];
    let dir = damaged();
    let text = dir.ferrio(&[&JOB[..], &words].concat()).run().succeeded();
    assert!(text.stderr.contains("verify failed"), "{}", text.stderr);
    assert!(!text.stderr.contains("looks like"), "{}", text.stderr);
    assert!(!text.stdout.contains("damage"), "{}", text.stdout);
    let report = dir.ferrio(&[&JOB[..], &words, &["--output-format=json"]].concat()).run().json();
    assert_eq!(number(&report, "/ferrio/verify/0/damaged_blocks"), 4);
    let sound = written(&["--verify=crc32c"]);
    let report = sound.ferrio(&[&JOB[..], &words, &["--output-format=json"]].concat()).run().json();
    assert_eq!(report["ferrio"], Value::Null);
}

#[test]
fn entries_of_several_jobs_add_up_and_metrics_count_each_kind() {
    let metrics = read(
        &damaged(),
        &["--verify=crc32c", "--numjobs=2", "--group_reporting", "--output-format=openmetrics"],
    );
    let line = |kind: &str, count: u64| {
        let is_it = |line: &str| {
            line.starts_with("ferrio_job_damaged_blocks_total{")
                && line.contains(&format!("kind=\"{kind}\""))
                && line.ends_with(&format!(" {count}"))
        };
        metrics.stdout.lines().any(is_it)
    };
    assert!(line("bit-flip", 2) && line("zeros", 4) && line("other-block", 2), "{}", metrics.stdout);
}

#[test]
fn only_the_first_hundred_blocks_are_listed_and_all_are_counted() {
    let dir = TestDir::new();
    std::fs::write(dir.work().join("f"), vec![0x5a; 1 << 20]).unwrap();
    let words = [
        "--output-format=json",
        "--name=v",
        "--filename=f",
        "--rw=read",
        "--verify=md5",
        "--continue_on_error=verify",
    ];
    let report = dir.ferrio(&words).run().ended_with(1).json();
    let verify = &report["ferrio"]["verify"][0];
    assert_eq!(verify["kinds"], json!({ "other-fill": 256 }));
    assert_eq!(verify["blocks"].as_array().map(Vec::len), Some(100));
}

/// A small generator, so that each run has the same places.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[test]
fn flipped_bits_are_all_found_and_named() {
    let mut random = Random(7);
    let layouts: [&[&str]; 8] = [
        &["--verify=crc32c"],
        &["--verify=md5", "--verify_interval=512"],
        &["--verify=sha512", "--verify_interval=1k", "--verify_offset=200"],
        &["--verify=xxhash", "--bs=1k", "--buffer_compress_percentage=40"],
        &["--verify=crc7", "--bsrange=1k-8k"],
        &["--verify=pattern", "--verify_pattern=0x11%o\"ab\""],
        &["--verify=sha256", "--verify_pattern=0xdeadbeef"],
        &["--verify=crc64", "--random_generator=tausworthe64", "--bs=16k", "--verify_interval=4k"],
    ];
    for words in layouts {
        let dir = written(words);
        // Blocks are at most 16 KiB and at least 1 KiB long: no block has two of these, none is missed.
        let mut flips: Vec<(u64, u64)> =
            (0..4).map(|part| (part * 16384 + random.below(16384), random.below(8))).collect();
        change(&dir, |file| {
            for &(at, bit) in &flips {
                file.write_all_at(&[bytes(file, at, 1)[0] ^ 1 << bit], at).unwrap();
            }
        });
        let report = read(&dir, &[words, &["--output-format=json"]].concat()).json();
        let blocks = report["ferrio"]["verify"][0]["blocks"].as_array().unwrap();
        let place_of = |block: &Value| {
            (number(block, "/offset") + number(block, "/damage_start"), number(block, "/bit"))
        };
        let mut found: Vec<(u64, u64)> = blocks.iter().map(place_of).collect();
        assert!(blocks.iter().all(|block| block["kind"] == "bit-flip"), "{words:?}: {blocks:#?}");
        found.sort_unstable();
        flips.sort_unstable();
        assert_eq!(found, flips, "{words:?}");
    }
}

#[test]
fn the_page_about_damage_has_the_words_of_the_program() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/damage.md")).unwrap();
    for kind in ferrio_verify::DamageKind::ALL {
        let row = format!("| `{}` | {} | {} | ", kind.word(), kind.meaning(), kind.cause());
        assert!(page.contains(&row), "docs/damage.md lacks {row}");
    }
}
