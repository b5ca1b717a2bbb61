use proptest::prelude::*;

use super::*;
use crate::BlockPattern;

/// The first seeds of a job with the default `randseed`.
pub(crate) const SEEDS: [u64; 4] =
    [46_386_204_153_304_124, 9_852_480_210_356_360_750, 4_726_550_845_720_924_880, 1_763_778_943_062_938_676];

/// fio's random fill.
pub(crate) fn body(block: &mut [u8], seed: u64) {
    const HASH: u64 = 0x61C8_8646_80B5_83EB;
    let mut lanes = [1, 2, 3, 5].map(|factor| seed.wrapping_mul(factor));
    let (groups, rest) = block.as_chunks_mut::<32>();
    for (word, lane) in groups.iter_mut().flat_map(|group| group.as_chunks_mut::<8>().0.iter_mut().zip(0..)) {
        *word = lanes[lane].to_le_bytes();
        lanes[lane] = lanes[lane].wrapping_mul(HASH);
    }
    for word in rest.chunks_mut(8) {
        word.copy_from_slice(&lanes[0].to_le_bytes()[..word.len()]);
        lanes[0] = lanes[0].wrapping_mul(HASH);
    }
}

pub(crate) fn spec(method: VerifyMethod) -> VerifySpec {
    VerifySpec {
        method,
        layout: HeaderLayout::Current,
        any_layout: false,
        interval: 4096,
        whole_blocks: false,
        offset: 0,
        thread: 1,
        header_seed: true,
        write_sequence: true,
        fatal: false,
        pattern: None,
    }
}

pub(crate) fn verifier(method: VerifyMethod) -> Verifier {
    verifier_of(spec(method))
}

pub(crate) fn verifier_of(spec: VerifySpec) -> Verifier {
    Verifier::new(spec).expect("sound options")
}

/// A pattern for the methods that need one.
pub(crate) fn complete(mut spec: VerifySpec) -> VerifySpec {
    if spec.method.needs_pattern() {
        spec.pattern = BlockPattern::new(vec![1, 2, 3], vec![], 0).ok();
    }
    spec
}

fn stamp(index: usize, len: usize) -> WriteStamp {
    WriteStamp {
        offset: (index * len) as u64,
        seed: SEEDS[index],
        number: index as u64,
        time: Duration::ZERO,
    }
}

/// A file of four blocks, written in order.
pub(super) fn image(verifier: &Verifier) -> Vec<u8> {
    let mut file = vec![0; 4 * 4096];
    for (index, block) in file.chunks_mut(4096).enumerate() {
        verifier.fill(block, &stamp(index, 4096), body).expect("room");
    }
    file
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn expected(index: usize) -> ExpectedHeader {
    ExpectedHeader { seed: Some(SEEDS[index]), number: Some(index as u64) }
}

/// What the check of block `index` finds.
fn problems(verifier: &Verifier, file: &[u8], index: usize) -> Vec<IntervalProblem> {
    let mut block = file[index * 4096..(index + 1) * 4096].to_vec();
    match verifier.check(&mut block, index as u64 * 4096, &expected(index)) {
        Ok(()) => vec![],
        Err(mismatch) => mismatch.failures.into_iter().map(|failure| failure.problem).collect(),
    }
}

#[test]
fn headers_and_bodies_have_fios_bytes() {
    assert!(verifier(VerifyMethod::Crc32c).draws_seeds() && verifier(VerifyMethod::Crc32c).expects_seeds());
    let file = image(&verifier(VerifyMethod::Crc32c));
    assert_eq!(hex(&file[..24]), "caac8105001000003c5409c501cca4000000000000000000");
    assert_eq!(hex(&file[4096..4120]), "caac8105001000002e56dbf68c0abb880010000000000000");
    assert_eq!(hex(&file[32..44]), "000000000000000001002e68");
    assert_eq!(hex(&file[4128..4140]), "01000000000000000100ef8d");
    assert_eq!(hex(&file[64..80]), "5cbbe69a27b30c02b876cd354f661904");
    assert_eq!(hex(&file[4096 + 48..4096 + 52]), "1ab68a36");
}

#[test]
fn the_sha_fields_of_the_first_block_are_fios() {
    let sha512 = format!("1c1501ba9d310a358478ace006a8bbad80{}7a80", "00".repeat(45));
    assert_eq!(hex(&image(&verifier(VerifyMethod::Sha512))[112..176]), sha512);
    let sha256 = format!("8478ace006a8bbad80{}807c000000000000", "00".repeat(39));
    assert_eq!(hex(&image(&verifier(VerifyMethod::Sha256))[56..112]), sha256);
}

#[test]
fn each_interval_has_its_header_and_the_seed_of_the_block() {
    let verifier = Verifier::new(VerifySpec { interval: 512, ..spec(VerifyMethod::Crc32c) }).expect("sound");
    let file = image(&verifier);
    assert_eq!(hex(&file[512..536]), "caac8105000200003c5409c501cca4000002000000000000");
    assert_eq!(hex(&file[4608..4632]), "caac8105000200002e56dbf68c0abb880012000000000000");
    assert_eq!(problems(&verifier, &file, 1), []);
}

#[test]
fn verify_offset_exchanges_header_and_data() {
    let verifier = Verifier::new(VerifySpec { offset: 64, ..spec(VerifyMethod::Md5) }).expect("sound");
    let file = image(&verifier);
    assert_eq!((hex(&file[64..72]), hex(&file[..8])), ("caac810200100000".into(), "5cbbe69a27b30c02".into()));
    assert_eq!(problems(&verifier, &file, 0), []);
}

#[test]
fn time_goes_into_the_header_and_is_not_checked() {
    let verifier = verifier(VerifyMethod::Meta);
    let mut block = vec![0; 4096];
    let stamp = WriteStamp { time: Duration::new(7, 11), ..stamp(0, 4096) };
    verifier.fill(&mut block, &stamp, body).expect("room");
    let header = BlockHeader::read(&block).expect("48 bytes");
    assert_eq!((header.time_sec, header.time_nsec), (7, 11));
    assert_eq!(verifier.check(&mut block, 0, &expected(0)), Ok(()));
}

#[test]
fn a_pattern_replaces_the_body_and_the_seed() {
    let pattern = BlockPattern::new(vec![0xaa], vec![], 0).ok();
    let verifier = Verifier::new(VerifySpec { pattern, ..spec(VerifyMethod::PatternHdr) }).expect("sound");
    assert!(!verifier.draws_seeds() && !verifier.expects_seeds());
    let file = image(&verifier);
    assert_eq!(
        (hex(&file[..16]), hex(&file[48..52])),
        ("caac8111001000000000000000000000".into(), "aaaaaaaa".into())
    );
    assert_eq!(problems(&verifier, &file, 3), []);
}

#[test]
fn a_damaged_body_shows_the_stored_and_the_computed_digest() {
    let verifier = verifier(VerifyMethod::Crc32c);
    let mut file = image(&verifier);
    file[5000] = 0xff;
    let found = problems(&verifier, &file, 1);
    let [IntervalProblem::Digest(bad)] = &found[..] else { panic!("a digest failure, not {found:?}") };
    assert_eq!((bad.stored.to_string(), bad.computed.to_string()), ("1ab68a36".into(), "378d511d".into()));
    assert_eq!(bad.media, None);
    assert_eq!(problems(&verifier, &file, 0), []);
}

#[test]
fn header_fields_are_checked_in_fios_order() {
    let verifier = verifier(VerifyMethod::Crc32c);
    let sound = image(&verifier);
    let damaged = |changes: &[(usize, &[u8])]| {
        let mut file = sound.clone();
        for (at, bytes) in changes {
            file[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        problems(&verifier, &file, 1)
    };
    assert_eq!(damaged(&[(4096, &[0, 0]), (4098, &[0])]), [IntervalProblem::Magic(0)]);
    assert_eq!(damaged(&[(4098, &[0x80]), (4100, &[1])]), [IntervalProblem::Version(0x80)]);
    assert_eq!(
        damaged(&[(4100, &[0, 0x10, 0, 1]), (4104, &[0])]),
        [IntervalProblem::Field { name: "length", found: 16_781_312, wanted: 4096 }]
    );
    assert_eq!(
        damaged(&[(4104, &[0xff, 0xff, 0xff, 0xff]), (4112, &[1])]),
        [IntervalProblem::Field { name: "rand_seed", found: 9_852_480_210_509_758_463, wanted: SEEDS[1] }]
    );
    assert_eq!(
        damaged(&[(4112, &[0xff, 0xff]), (4128, &[9])]),
        [IntervalProblem::Field { name: "offset", found: 65535, wanted: 4096 }]
    );
    assert_eq!(
        damaged(&[(4128, &[9]), (4140, &[0])]),
        [IntervalProblem::Field { name: "numberio", found: 9, wanted: 1 }]
    );
    for (at, bytes) in [(4120, &[0xff][..]), (4136, &[2]), (4138, &[1, 2]), (4140, &[0xee])] {
        assert!(matches!(damaged(&[(at, bytes)])[..], [IntervalProblem::HeaderChecksum { .. }]), "{at}");
    }
}

#[test]
fn seed_and_number_are_compared_only_where_they_are_in_effect() {
    let file = image(&verifier(VerifyMethod::Crc32c));
    let lenient = VerifySpec { header_seed: false, write_sequence: false, ..spec(VerifyMethod::Crc32c) };
    let other = ExpectedHeader { seed: Some(1), number: Some(77) };
    let check = |spec, expected: ExpectedHeader| {
        let verifier = Verifier::new(spec).expect("sound");
        verifier.check(&mut file[..4096].to_vec(), 0, &expected).is_ok()
    };
    assert!(check(lenient.clone(), other));
    assert!(check(spec(VerifyMethod::Crc32c), ExpectedHeader::default()));
    assert!(!check(VerifySpec { header_seed: true, ..lenient.clone() }, other));
    assert!(!check(VerifySpec { write_sequence: true, ..lenient }, other));
}

#[test]
fn another_method_on_disk_is_named_after_the_digest_failed() {
    let file = image(&verifier(VerifyMethod::Crc32c));
    let found = problems(&verifier(VerifyMethod::Md5), &file, 0);
    let [IntervalProblem::Digest(bad)] = &found[..] else { panic!("a digest failure, not {found:?}") };
    assert_eq!((bad.method, bad.media), (VerifyMethod::Md5, Some(5)));
}

#[test]
fn crc32c_of_old_hardware_writers_is_accepted() {
    let verifier = verifier(VerifyMethod::Crc32c);
    let mut file = image(&verifier);
    let header = BlockHeader { method: 6, ..BlockHeader::read(&file).expect("a header") };
    file[..48].copy_from_slice(&header.sealed());
    assert_eq!(problems(&verifier, &file, 0), []);
}

#[test]
fn a_reader_with_another_interval_sees_the_wrong_length() {
    let file = image(&verifier(VerifyMethod::Crc32c));
    let reader = Verifier::new(VerifySpec { interval: 8192, ..spec(VerifyMethod::Crc32c) }).expect("sound");
    let mismatch =
        reader.check(&mut file[..8192].to_vec(), 0, &ExpectedHeader::default()).expect_err("differs");
    assert_eq!(
        mismatch.failures[0].problem,
        IntervalProblem::Field { name: "length", found: 4096, wanted: 8192 }
    );
    let reader = Verifier::new(VerifySpec { interval: 4096, ..spec(VerifyMethod::Crc32c) }).expect("sound");
    assert_eq!(reader.check(&mut file[..8192].to_vec(), 0, &ExpectedHeader::default()), Ok(()));
}

#[test]
fn every_bad_interval_is_told_unless_the_first_is_fatal_or_a_header() {
    let in_four = VerifySpec { interval: 1024, ..spec(VerifyMethod::Crc32c) };
    let tolerant = Verifier::new(in_four.clone()).expect("sound");
    let fatal = Verifier::new(VerifySpec { fatal: true, ..in_four }).expect("sound");
    let mut file = image(&tolerant);
    file[500] ^= 1;
    file[3500] ^= 1;
    let offsets = |verifier: &Verifier, file: &[u8]| -> Vec<(u64, u64)> {
        let mismatch = verifier.check(&mut file[..4096].to_vec(), 0, &expected(0)).expect_err("damaged");
        mismatch.failures.iter().map(|failure| (failure.offset, failure.len)).collect()
    };
    assert_eq!(offsets(&tolerant, &file), [(0, 1024), (3072, 1024)]);
    assert_eq!(offsets(&fatal, &file), [(0, 1024)]);
    file[1024] ^= 1;
    assert_eq!(offsets(&tolerant, &file), [(0, 1024), (1024, 1024)]);
}

#[test]
fn a_headerless_pattern_is_compared_over_the_whole_block() {
    let pattern = BlockPattern::new(vec![0x11, 0x22, 0x33, 0x44], vec![], 0).ok();
    let verifier =
        Verifier::new(VerifySpec { pattern, interval: 1024, ..spec(VerifyMethod::Pattern) }).expect("sound");
    let mut file = image(&verifier);
    assert_eq!(hex(&file[..8]), "1122334411223344");
    file[4101] = 0x55;
    let problem = IntervalProblem::Pattern { found: 0x55, wanted: 0x22, at: 5, media: None };
    assert_eq!(problems(&verifier, &file, 1), [problem]);
}

#[test]
fn a_pattern_behind_a_header_is_counted_from_the_interval() {
    let pattern = BlockPattern::new(vec![7], vec![], 0).ok();
    let verifier =
        Verifier::new(VerifySpec { pattern, interval: 1024, ..spec(VerifyMethod::Meta) }).expect("sound");
    let mut file = image(&verifier);
    file[1024 + 100] = 6;
    let problem = IntervalProblem::Pattern { found: 6, wanted: 7, at: 100, media: None };
    assert_eq!(problems(&verifier, &file, 0), [problem]);
}

#[test]
fn null_writes_and_checks_nothing() {
    let verifier = verifier(VerifyMethod::Null);
    let mut block = [9; 100];
    verifier.fill(&mut block, &stamp(0, 100), |_, _| panic!("no body")).expect("always");
    assert_eq!(block, [9; 100]);
    assert_eq!(verifier.check(&mut block, 0, &expected(0)), Ok(()));
    assert!(!verifier.checks() && !verifier.draws_seeds());
}

#[test]
fn a_block_that_its_header_fills_is_refused() {
    for &method in VerifyMethod::ALL {
        let verifier = Verifier::new(complete(spec(method))).expect("sound");
        let overhead = method.overhead();
        if overhead > 0 {
            assert_eq!(verifier.fill(&mut vec![0; overhead], &stamp(0, 0), body), Err(BlockTooSmall));
            let found = verifier.check(&mut vec![0; overhead], 0, &expected(0)).expect_err("no room");
            assert_eq!(found.failures[0].problem, IntervalProblem::NoRoom);
        }
        assert_eq!(verifier.fill(&mut vec![0; overhead + 1], &stamp(0, 0), body), Ok(()));
    }
}

#[test]
fn contradicting_options_are_refused() {
    let refused = |spec| Verifier::new(spec).expect_err("contradiction").to_string();
    assert_eq!(refused(spec(VerifyMethod::Pattern)), "verify=pattern needs verify_pattern");
    assert_eq!(
        refused(VerifySpec { offset: 48, ..spec(VerifyMethod::Md5) }),
        "verify_offset=48 reaches into the header: with verify=md5 it must be 64 or more"
    );
    assert_eq!(
        refused(VerifySpec { offset: 4090, ..spec(VerifyMethod::Meta) }),
        "verify_offset=4090 and a header of 48 bytes reach beyond the verify interval of 4096 bytes"
    );
}

/// A verifier of jobs that only read, which accept every layout.
fn reader(spec: VerifySpec) -> Verifier {
    Verifier::new(VerifySpec { any_layout: true, ..spec }).expect("sound options")
}

#[test]
fn a_reader_recognises_the_layout_of_each_interval() {
    for &method in VerifyMethod::ALL.iter().filter(|&&method| method != VerifyMethod::Sha512) {
        for offset in [0, 200] {
            let current = complete(VerifySpec { offset, interval: 1024, ..spec(method) });
            let old = VerifySpec { layout: HeaderLayout::Fio340, ..current.clone() };
            let mut file = image(&Verifier::new(old.clone()).expect("sound options"));
            file[8192..]
                .copy_from_slice(&image(&Verifier::new(current.clone()).expect("sound options"))[8192..]);
            for block in 0..4 {
                assert_eq!(problems(&reader(current.clone()), &file, block), [], "{method:?}");
                assert_eq!(problems(&reader(old.clone()), &file, block), [], "{method:?}");
            }
        }
    }
}

#[test]
fn old_blocks_are_checked_like_current_ones() {
    let old = VerifySpec { layout: HeaderLayout::Fio340, ..spec(VerifyMethod::Crc32c) };
    let sound = image(&Verifier::new(old).expect("sound options"));
    let reader = reader(spec(VerifyMethod::Crc32c));
    let mut file = sound.clone();
    file[4096 + 44] ^= 1;
    let found = problems(&reader, &file, 1);
    let [IntervalProblem::Digest(bad)] = &found[..] else { panic!("a digest failure, not {found:?}") };
    assert_eq!(bad.stored, Digest::of(&sound[4136..4140]));
    let other = ExpectedHeader { seed: Some(1), number: Some(0x1_0001) };
    let mismatch = reader.check(&mut sound[4096..8192].to_vec(), 4096, &other).expect_err("another seed");
    assert!(matches!(mismatch.failures[0].problem, IntervalProblem::Field { name: "rand_seed", .. }));
    let wrapped = ExpectedHeader { seed: None, number: Some(0x1_0001) };
    assert_eq!(reader.check(&mut sound[4096..8192].to_vec(), 4096, &wrapped), Ok(()));
}

#[test]
fn a_job_that_writes_accepts_its_own_layout_only() {
    let old = VerifySpec { layout: HeaderLayout::Fio340, ..spec(VerifyMethod::Meta) };
    let writer = verifier(VerifyMethod::Meta);
    let old_writer = Verifier::new(old).expect("sound options");
    assert_eq!(problems(&writer, &image(&old_writer), 0), [IntervalProblem::Version(1)]);
    let found = problems(&old_writer, &image(&writer), 0);
    assert!(
        matches!(
            found[..],
            [IntervalProblem::Field { name: "numberio", .. } | IntervalProblem::HeaderChecksum { .. }]
        ),
        "{found:?}"
    );
}

#[test]
fn an_old_header_with_a_flipped_bit_is_none() {
    let old = VerifySpec { layout: HeaderLayout::Fio340, ..spec(VerifyMethod::Meta) };
    let mut file = image(&Verifier::new(old).expect("sound options"));
    let reader = reader(spec(VerifyMethod::Meta));
    assert_eq!(problems(&reader, &file, 0), []);
    file[20] ^= 1;
    assert_eq!(problems(&reader, &file, 0), [IntervalProblem::Version(1)]);
}

#[test]
fn sha512_of_old_releases_is_read_and_not_written() {
    let old = VerifySpec { layout: HeaderLayout::Fio340, ..spec(VerifyMethod::Sha512) };
    let refused = Verifier::new(old.clone()).expect_err("no digest").to_string();
    assert_eq!(
        refused,
        "verify=sha512 does not work with verify_layout=fio-3.40: these releases of fio store no SHA-512"
    );
    let mut block = vec![0; 4096];
    body(&mut block, SEEDS[0]);
    let header = BlockHeader {
        method: 10,
        ..BlockHeader::read(&image(&verifier(VerifyMethod::Meta))).expect("48 bytes")
    };
    header.write_as(HeaderLayout::Fio340, &mut block);
    let (head, data) = block.split_at_mut(168);
    head[40..].copy_from_slice(&data[..128]);
    head[40..128].copy_from_slice(&data[3840..]);
    assert_eq!(reader(old).check(&mut block, 0, &ExpectedHeader::default()), Ok(()));
    block[4095] ^= 1;
    assert!(reader(spec(VerifyMethod::Sha512)).check(&mut block, 0, &ExpectedHeader::default()).is_err());
}

#[derive(Clone, Debug)]
struct Case {
    spec: VerifySpec,
    len: usize,
}

fn cases() -> impl Strategy<Value = Case> {
    let parts =
        (0..VerifyMethod::ALL.len(), 0usize..4, 1usize..5, any::<bool>(), any::<bool>(), any::<bool>());
    parts.prop_map(|(method, halvings, blocks, moved, whole_blocks, patterned)| {
        let method = VerifyMethod::ALL[method];
        let interval = 4096 >> halvings;
        let offset = if moved && method.has_header() { method.overhead() as u32 + 3 } else { 0 };
        let pattern = (patterned || method.needs_pattern())
            .then(|| BlockPattern::new((1..=13).collect(), vec![5], 0).ok())
            .flatten();
        let spec = VerifySpec { interval, offset, whole_blocks, pattern, ..spec(method) };
        Case { spec, len: blocks * 4096 }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_was_filled_passes_and_a_flipped_bit_does_not(case in cases(), at: prop::sample::Index, bit in 0u8..8) {
        let verifier = Verifier::new(case.spec.clone()).expect("sound");
        let mut block = vec![0; case.len];
        verifier.fill(&mut block, &stamp(2, 4096), body).expect("room");
        let offset = stamp(2, 4096).offset;
        prop_assert_eq!(verifier.check(&mut block.clone(), offset, &expected(2)), Ok(()));
        prop_assert!(verifier.check(&mut block.clone(), offset + 512, &expected(2)).is_err() || !case.spec.method.has_header());
        let at = at.index(case.len);
        block[at] ^= 1 << bit;
        let noticed = match case.spec.method {
            VerifyMethod::Null => false,
            VerifyMethod::Meta if case.spec.pattern.is_none() => lies_in_header(&case, at),
            _ => true,
        };
        prop_assert_eq!(verifier.check(&mut block, offset, &expected(2)).is_err(), noticed);
    }
}

/// True when byte `at` of a block lies in a header.
fn lies_in_header(case: &Case, at: usize) -> bool {
    let step = if case.spec.whole_blocks { case.len } else { case.spec.interval as usize };
    let begin = case.spec.offset as usize;
    (begin..begin + crate::HEADER_BYTES).contains(&(at % step))
}
