mod other_options;
mod trims;

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::verifier::tests::{SEEDS, body, spec, verifier_of};
use crate::{BlockHeader, BlockPattern, HeaderLayout, VerifyMethod, VerifySpec, WriteStamp, check_trimmed};

const LEN: usize = 4096;
/// Where the damaged block lies.
const HERE: u64 = 8192;

/// A job and what it knows of the block.
struct Job {
    verifier: Verifier,
    expected: ExpectedHeader,
    is_own: bool,
    overwrites: bool,
}

/// A job that reads back its fourth write and has written to the same place before.
fn own_job(spec: VerifySpec) -> Job {
    let expected = ExpectedHeader { seed: None, number: Some(3) };
    Job { verifier: verifier_of(spec), expected, is_own: true, overwrites: true }
}

/// A job that reads what others wrote.
fn reader(spec: VerifySpec) -> Job {
    Job { verifier: verifier_of(spec), expected: ExpectedHeader::default(), is_own: false, overwrites: false }
}

impl Job {
    /// The block that write `number` leaves at `offset`.
    fn block(&self, number: usize, offset: u64, len: usize) -> Vec<u8> {
        let mut block = vec![0; len];
        let time = Duration::from_nanos(1_234_567_890 * number as u64);
        let stamp = WriteStamp { offset, seed: SEEDS[number % 4], number: number as u64, time };
        self.verifier.fill(&mut block, &stamp, body).expect("room");
        block
    }

    /// What should be there.
    fn wanted(&self) -> Vec<u8> {
        self.block(3, HERE, LEN)
    }

    fn explain(&self, block: &[u8]) -> Damage {
        let mut block = block.to_vec();
        let mismatch = self.verifier.check(&mut block, HERE, &self.expected).expect_err("damage");
        self.explain_mismatch(&block, &mismatch)
    }

    fn explain_mismatch(&self, block: &[u8], mismatch: &BlockMismatch) -> Damage {
        self.verifier.explain(&DamageEvidence {
            block,
            mismatch,
            expected: self.expected,
            is_own: self.is_own,
            overwrites: self.overwrites,
            fill: &body,
            drawn: &DrawnSeeds::new(0, SEEDS.into_iter()),
        })
    }

    /// The kind of damage and the line.
    fn says(&self, block: &[u8]) -> (DamageKind, String) {
        let damage = self.explain(block);
        (damage.kind, damage.to_string())
    }
}

/// `wanted` with the bytes of `other` in a range.
fn mixed(wanted: &[u8], other: &[u8], range: Range<usize>) -> Vec<u8> {
    let mut block = wanted.to_vec();
    block[range.clone()].copy_from_slice(&other[range]);
    block
}

/// Bytes that nobody wrote.
fn garbage(len: usize) -> Vec<u8> {
    (0..len as u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 29) as u8).collect()
}

fn crc32c() -> VerifySpec {
    spec(VerifyMethod::Crc32c)
}

#[test]
fn a_lost_write_leaves_an_older_version() {
    let job = own_job(crc32c());
    let text = "a lost write: all of the block holds an older version (write number 1 of job 1, number 3 should be here)";
    assert_eq!(job.says(&job.block(1, HERE, LEN)), (DamageKind::OlderVersion, text.to_owned()));
    let damage = job.explain(&job.block(1, HERE, LEN));
    assert_eq!(damage.found, Some(FoundWrite { offset: Some(HERE), number: Some(1), job: Some(1) }));
    assert_eq!((damage.range, damage.wanted_number), (0..4096, Some(3)));
}

#[test]
fn a_later_write_leaves_a_newer_version() {
    let mut job = own_job(crc32c());
    job.expected.number = Some(2);
    let (kind, text) = job.says(&job.block(3, HERE, LEN));
    assert_eq!(kind, DamageKind::NewerVersion, "{text}");
}

#[test]
fn a_torn_write_is_part_of_two_versions_and_the_boundary_is_named() {
    let cases = [
        (0..2048, "bytes 0 to 2047 (4 sectors) hold", "byte 2048 is that of a sector"),
        (2048..4096, "bytes 2048 to 4095 (4 sectors) hold", "byte 2048 is that of a sector"),
        (0..100, "bytes 0 to 99 hold", "byte 100 is not that of a sector"),
        (3000..4096, "bytes 3000 to 4095 hold", "byte 3000 is not that of a sector"),
    ];
    for interval in [4096, 512] {
        let job = own_job(VerifySpec { interval, ..crc32c() });
        for (range, bytes, boundary) in cases.clone() {
            let block = mixed(&job.wanted(), &job.block(1, HERE, LEN), range);
            let (kind, text) = job.says(&block);
            assert_eq!(kind, DamageKind::TornWrite, "{text}");
            assert!(
                text.starts_with(&format!("a torn write: {bytes} another version (write number 1")),
                "{text}"
            );
            assert!(text.ends_with(boundary), "{text}");
        }
    }
}

#[test]
fn a_reader_sees_that_a_part_is_of_another_write() {
    let job = reader(crc32c());
    let (kind, text) = job.says(&mixed(&job.wanted(), &job.block(1, HERE, LEN), 1024..4096));
    let words = "a torn write: bytes 1024 to 4095 (6 sectors) hold another version (write number 1, number 3 should be here); \
                 the boundary at byte 1024 is that of a sector";
    assert_eq!((kind, text.as_str()), (DamageKind::TornWrite, words));
}

#[test]
fn data_of_another_place_says_where_it_belongs() {
    for job in [own_job(crc32c()), reader(crc32c())] {
        let damage = job.explain(&job.block(1, 20480, LEN));
        assert_eq!(damage.kind, DamageKind::OtherBlock);
        assert_eq!(damage.found, Some(FoundWrite { offset: Some(20480), number: Some(1), job: Some(1) }));
        let text = damage.to_string();
        assert!(
            text.starts_with(
                "a misdirected write: all of the block holds data of the block at offset 20480 (write number 1"
            ),
            "{text}"
        );
        let half = job.explain(&mixed(&job.wanted(), &job.block(1, 20480, LEN), 0..2048));
        assert_eq!((half.kind, half.range, half.found), (DamageKind::OtherBlock, 0..2048, damage.found));
    }
}

#[test]
fn a_piece_of_another_block_is_known_by_its_seed_wherever_it_was() {
    let mut job = own_job(crc32c());
    job.overwrites = false;
    let other = job.block(1, 20480, LEN);
    let block = mixed(&job.wanted(), &other, 1024..2048);
    let damage = job.explain(&block);
    assert_eq!((damage.kind, damage.range.clone()), (DamageKind::OtherBlock, 1024..2048), "{damage}");
    assert_eq!(damage.found.and_then(|found| found.number), Some(1));
    let mut block = job.wanted();
    block[1024..2048].copy_from_slice(&other[2560..3584]);
    let damage = job.explain(&block);
    assert_eq!((damage.kind, damage.range.clone()), (DamageKind::OtherBlock, 1024..2048), "{damage}");
    assert_eq!(damage.found, Some(FoundWrite { offset: None, number: Some(1), job: None }));
}

#[test]
fn data_of_another_job_names_the_job() {
    let job = own_job(crc32c());
    let other = own_job(VerifySpec { thread: 7, ..crc32c() });
    let text = "data of another job, which wrote all of the block (write number 2 of job 7, number 3 should be here)";
    assert_eq!(job.says(&other.block(2, HERE, LEN)), (DamageKind::OtherJob, text.to_owned()));
}

#[test]
fn data_of_another_run_has_other_seeds() {
    let mut job = own_job(crc32c());
    job.expected.seed = Some(SEEDS[3]);
    let mut block = vec![0; LEN];
    let stamp = WriteStamp { offset: HERE, seed: 12345, number: 3, time: Duration::ZERO };
    job.verifier.fill(&mut block, &stamp, body).expect("room");
    let (kind, text) = job.says(&block);
    assert_eq!(kind, DamageKind::OtherRun, "{text}");
    let stamp = WriteStamp { number: 1, ..stamp };
    job.verifier.fill(&mut block, &stamp, body).expect("room");
    let (kind, text) = job.says(&block);
    assert_eq!(kind, DamageKind::OtherRun, "the first write has another seed: {text}");
}

#[test]
fn constant_bytes_are_named_with_their_range() {
    let jobs = [
        own_job(crc32c()),
        reader(crc32c()),
        reader(VerifySpec { interval: 512, ..crc32c() }),
        repeating_reader(),
    ];
    for job in jobs {
        let whole = |fill: u8| job.says(&[fill; LEN]);
        assert_eq!(whole(0).1, "a block that was never written, or was trimmed: all of it is zeros");
        assert_eq!(whole(0xff).1, "an erased block: all bytes are ff");
        assert_eq!(whole(0xa5), (DamageKind::OtherFill, "bytes a5 in place of all of the block".to_owned()));
        let part = |fill: u8, range| job.says(&mixed(&job.wanted(), &[fill; LEN], range));
        assert_eq!(
            part(0, 512..1024),
            (DamageKind::Zeros, "zeros in place of bytes 512 to 1023 (1 sector)".to_owned())
        );
        assert_eq!(part(0, 0..1024).1, "zeros in place of bytes 0 to 1023 (2 sectors)");
        assert_eq!(part(0xff, 100..300).1, "bytes ff in place of bytes 100 to 299");
        assert_eq!(part(0xa5, 100..300).1, "bytes a5 in place of bytes 100 to 299");
    }
}

#[test]
fn shifted_data_is_found_whatever_the_distance() {
    for spec in [crc32c(), VerifySpec { interval: 1024, ..crc32c() }, VerifySpec { offset: 256, ..crc32c() }]
    {
        let job = own_job(spec);
        let wanted = job.wanted();
        for by in [1i64, -1, 7, -33, 32, -32, 512, -512, 1000] {
            let from = |at: usize| usize::try_from(at as i64 - by).ok().filter(|&from| from < LEN);
            let bytes: Vec<u8> = (0..LEN).map(|at| from(at).map_or(0x11, |from| wanted[from])).collect();
            let damage = job.explain(&bytes);
            assert_eq!((damage.kind, damage.shift), (DamageKind::Shifted, Some(by)), "{damage}");
            let part = job.explain(&mixed(&wanted, &bytes, 1500..2800));
            assert_eq!((part.kind, part.shift), (DamageKind::Shifted, Some(by)), "{part}");
            let first = (1500..).find(|&at| bytes[at] != wanted[at]).expect("a difference") as u64;
            assert_eq!(part.range, first..2800, "{part}");
        }
    }
}

#[test]
fn a_reader_finds_a_shift_by_the_header_that_has_moved() {
    let job = reader(crc32c());
    let block = [&[0x11; 24][..], &job.wanted()[..LEN - 24]].concat();
    let text =
        "shifted data: bytes 24 to 4095 are 24 bytes too far towards higher offsets; 24 more bytes are wrong";
    assert_eq!(job.says(&block), (DamageKind::Shifted, text.to_owned()));
}

#[test]
fn damage_of_the_header_alone_is_told_from_damage_of_the_data() {
    for job in [own_job(crc32c()), reader(crc32c())] {
        let wanted = job.wanted();
        let text = "2 damaged bytes: bytes 42 to 43, the first is 11 instead of 15 (file offset 8234), in the header";
        let mut block = wanted.clone();
        block[42..44].fill(0x11);
        let (kind, words) = job.says(&block);
        assert_eq!(kind, DamageKind::FewBytes);
        assert_eq!(words.replace(&format!("{:02x}", wanted[42]), "15"), text);
        let damage = job.explain(&mixed(&wanted, &garbage(LEN), 0..48));
        assert_eq!((damage.kind, damage.part), (DamageKind::Header, DamagedPart::Header), "{damage}");
        let damage = job.explain(&mixed(&wanted, &garbage(LEN), 60..100));
        assert_eq!(
            (damage.kind, damage.part, damage.range),
            (DamageKind::WrongPart, DamagedPart::Data, 60..100)
        );
        let damage = job.explain(&mixed(&wanted, &garbage(LEN), 0..512));
        assert_eq!(
            (damage.kind, damage.part, damage.range),
            (DamageKind::WrongPart, DamagedPart::Both, 0..512)
        );
        assert_eq!(
            job.explain(&mixed(&wanted, &garbage(LEN), 512..1024)).to_string(),
            "contents of unknown origin in place of bytes 512 to 1023 (1 sector); the rest is right"
        );
    }
}

#[test]
fn a_header_whose_time_is_damaged_is_damaged_although_nobody_knows_the_time() {
    let job = own_job(crc32c());
    let mut block = job.wanted();
    block[25] ^= 3;
    block[29] ^= 3;
    let text = "a damaged header: bytes 0 to 51; everything else is right";
    assert_eq!(job.says(&block), (DamageKind::Header, text.to_owned()));
    // The other headers of the block have the same time.
    let job = own_job(VerifySpec { interval: 512, ..crc32c() });
    let mut block = job.wanted();
    block[25] ^= 3;
    block[29] ^= 3;
    let damage = job.explain(&block);
    assert_eq!((damage.kind, damage.differing, damage.range), (DamageKind::FewBytes, Some(2), 25..30));
}

/// A reader that repeats the order of a writer, or may do so.
fn repeating_reader() -> Job {
    let expected = ExpectedHeader { seed: Some(SEEDS[3]), number: None };
    Job { expected, verifier: verifier_of(VerifySpec { header_seed: false, ..crc32c() }), ..reader(crc32c()) }
}

#[test]
fn foreign_data_is_unknown() {
    let jobs = [
        own_job(crc32c()),
        reader(crc32c()),
        reader(VerifySpec { interval: 512, ..crc32c() }),
        repeating_reader(),
    ];
    for job in jobs {
        let text = "nothing that fio or ferrio wrote".to_owned();
        assert_eq!(job.says(&garbage(LEN)), (DamageKind::Unknown, text));
    }
}

#[test]
fn blocks_of_a_pattern_are_told_apart_by_their_headers_and_offsets() {
    let pattern = BlockPattern::new(b"0123456789abcdef\0\0\0\0\0\0\0\0".to_vec(), vec![16], 0).ok();
    let job = own_job(VerifySpec { pattern: pattern.clone(), ..spec(VerifyMethod::PatternHdr) });
    assert_eq!(job.says(&job.block(1, HERE, LEN)).0, DamageKind::OlderVersion);
    let damage = job.explain(&job.block(1, 20480, LEN));
    assert_eq!(
        (damage.kind, damage.found.and_then(|found| found.offset)),
        (DamageKind::OtherBlock, Some(20480))
    );
    let job = own_job(VerifySpec { pattern, ..spec(VerifyMethod::Pattern) });
    let damage = job.explain(&job.block(1, 20480, LEN));
    assert_eq!(
        (damage.kind, damage.found.and_then(|found| found.offset)),
        (DamageKind::OtherBlock, Some(20480))
    );
    assert_eq!(job.says(&mixed(&job.wanted(), &[0; LEN], 512..1024)).0, DamageKind::Zeros);
    let shifted = [&job.wanted()[5..], &[0x11; 5]].concat();
    let damage = job.explain(&shifted);
    assert_eq!((damage.kind, damage.shift), (DamageKind::Shifted, Some(-5)), "{damage}");
}

#[test]
fn a_flip_is_named_although_the_writers_blocks_had_another_length() {
    let writer = reader(VerifySpec { interval: 4096, ..crc32c() });
    let large = writer.block(3, HERE - 2 * 4096, 16 * LEN);
    let mut block = large[2 * LEN..3 * LEN].to_vec();
    block[2000] ^= 0x10;
    let damage = reader(crc32c()).explain(&block);
    assert_eq!(
        (damage.kind, damage.byte.map(|byte| (byte.at, byte.bit()))),
        (DamageKind::BitFlip, Some((2000, 4)))
    );
    // Blocks of another length in the middle of a longer read.
    let small: Vec<u8> =
        (0..4).flat_map(|index| writer.block(index, HERE + 1024 * index as u64, 1024)).collect();
    let mut block = small;
    block[3000] ^= 1;
    let damage = reader(VerifySpec { interval: 1024, ..crc32c() }).explain(&block);
    assert_eq!(
        (damage.kind, damage.byte.map(|byte| (byte.at, byte.bit()))),
        (DamageKind::BitFlip, Some((3000, 0)))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a block contains, it is explained, and the range is one of the block.
    #[test]
    fn any_block_is_explained(
        pieces in prop::collection::vec((0usize..9, 0usize..LEN, 1usize..LEN), 0..4),
        interval in prop::sample::select(vec![4096u32, 512, 1000]),
        offset in prop::sample::select(vec![0u32, 200]),
        method in prop::sample::select(VerifyMethod::ALL.to_vec()),
        reads_own: bool, len in 600usize..LEN,
    ) {
        let spec = crate::verifier::tests::complete(VerifySpec { interval, offset, ..spec(method) });
        let job = if reads_own { own_job(spec) } else { reader(spec) };
        let stamp = WriteStamp { offset: 0, seed: 1, number: 0, time: Duration::ZERO };
        prop_assume!(job.verifier.fill(&mut vec![0; len], &stamp, body).is_ok());
        let sound = job.block(3, HERE, len);
        let others = [
            vec![0; len], vec![0xff; len], garbage(len), job.block(1, HERE, len), job.block(1, 0, len), job.block(3, 40960, len),
            vec![0xca; len], sound.iter().rev().copied().collect(), [&sound[len / 3..], &sound[..len / 3]].concat(),
        ];
        let mut block = sound;
        for (other, start, length) in pieces {
            let range = start.min(len)..(start + length).min(len);
            block[range.clone()].copy_from_slice(&others[other][range]);
        }
        let mut checked = block.clone();
        if job.verifier.check(&mut checked, HERE, &job.expected).is_err() {
            let damage = job.explain(&block);
            prop_assert!(damage.range.start < damage.range.end && damage.range.end as usize <= len, "{:?}", damage);
            prop_assert!(!damage.to_string().is_empty());
        }
    }
}

#[test]
fn a_seed_that_was_drawn_more_than_once_does_not_tell_the_number_of_its_write() {
    let job = own_job(crc32c());
    let mut block = mixed(&job.wanted(), &job.block(2, 4096, LEN), 1024..2048);
    let mismatch = job.verifier.check(&mut block, HERE, &job.expected).expect_err("damage");
    let found = |drawn: &DrawnSeeds| {
        let evidence = DamageEvidence {
            block: &block,
            mismatch: &mismatch,
            expected: job.expected,
            is_own: true,
            overwrites: false,
            fill: &body,
            drawn,
        };
        let damage = job.verifier.explain(&evidence);
        (damage.kind, damage.found.and_then(|found| found.number))
    };
    let drawn = DrawnSeeds::new(0, SEEDS.into_iter());
    assert_eq!(found(&drawn), (DamageKind::OtherBlock, Some(2)));
    assert_eq!(found(&drawn.of_repeated_pass()), (DamageKind::OtherBlock, None));
}
