//! The bytes themselves: fio's, what each option makes of them, and all combinations against a slow model.

mod model;

use ferrio_job::{Dedupe, Generator, ReadWrite, Seeding, WorkingSet};
use md5::{Digest, Md5};
use proptest::prelude::*;

use super::fill::HASH;
use super::*;
use crate::tests::support::{cksum, job};

fn writer() -> JobSpec {
    let mut spec = job();
    spec.rw = ReadWrite::Write;
    spec
}

#[test]
fn a_laid_out_file_has_fios_bytes() {
    let mut content = LayoutContent::new(&job(), [0; 24]).unwrap();
    let mut file = vec![0; 64 << 10];
    file.chunks_mut(4096).for_each(|block| content.layout_fill(block));
    assert_eq!(cksum(&file), 3_637_172_105);
}

#[test]
fn the_first_buffer_has_fios_bytes() {
    let mut content = BufferContents::new(&writer(), [0; 24]).unwrap();
    let mut buffer = [0; 4096];
    content.fill_initial(&mut buffer);
    assert_eq!(buffer[..8], [0x35, 0xe0, 0x28, 0xcc, 0x38, 0xa0, 0x99, 0x16]);
}

#[test]
fn buffers_go_on_where_the_layout_ended() {
    let mut layout = LayoutContent::new(&writer(), [0; 24]).unwrap();
    let mut buffer = [0; 4096];
    (0..16).for_each(|_| layout.layout_fill(&mut buffer));
    BufferContents::after_layout(&writer(), layout).fill_initial(&mut buffer);
    assert_eq!(buffer[..8], [0x1b, 0x97, 0x15, 0x54, 0xd7, 0xbe, 0x73, 0x2b]);
}

#[test]
fn a_refilling_job_never_scrambles_and_never_repeats() {
    let mut spec = writer();
    spec.buffer.refill = true;
    let mut content = BufferContents::new(&spec, [0; 24]).unwrap();
    assert!(content.needs_write_prep());
    let mut buffer = [0; 4096];
    content.fill_initial(&mut buffer);
    let first = buffer;
    content.before_write(&mut buffer, 0, 5);
    assert_ne!(buffer, first);
    content.begin_pass();
    content.before_write(&mut buffer, 0, 7);
    assert_eq!(buffer, first);
}

#[test]
fn scrambling_changes_three_words_of_each_whole_sector() {
    let spec = writer();
    let mut content = BufferContents::new(&spec, [0; 24]).unwrap();
    let mut buffer = [0; 1500];
    content.fill_initial(&mut buffer);
    let before = buffer;
    content.before_write(&mut buffer, 8192, 3_000_000_005);
    assert_eq!(buffer[512 + 320..][..8], 8704u64.to_le_bytes());
    assert_eq!(buffer[512 + 48..][..8], 3u64.to_le_bytes());
    assert_eq!(buffer[512 + 56..][..8], 5u64.to_le_bytes());
    assert_eq!(buffer[1024..], before[1024..]);
    let kept = |at: &usize| !(320..328).contains(&(at % 512)) && !(48..64).contains(&(at % 512));
    assert!((0..1024).filter(kept).all(|at| buffer[at] == before[at]));
}

#[test]
fn a_reader_leaves_its_buffers_alone() {
    let mut content = BufferContents::new(&job(), [0; 24]).unwrap();
    assert!(!content.needs_write_prep());
    let mut buffer = [9; 64];
    content.fill_initial(&mut buffer);
    assert_eq!(buffer, [9; 64]);
}

#[test]
fn zeroes_and_patterns_are_what_was_asked_for() {
    let mut spec = writer();
    spec.buffer.scramble = false;
    spec.buffer.zero = true;
    let mut buffer = [7; 100];
    let mut content = BufferContents::new(&spec, [0; 24]).unwrap();
    assert!(!content.needs_write_prep());
    content.fill_initial(&mut buffer);
    assert_eq!(buffer, [0; 100]);
    spec.buffer.pattern = vec![1, 2, 3];
    BufferContents::new(&spec, [0; 24]).unwrap().fill_initial(&mut buffer);
    assert!(buffer.iter().enumerate().all(|(i, &b)| usize::from(b) == i % 3 + 1));
}

#[test]
fn system_seeded_content_follows_the_entropy() {
    let mut spec = writer();
    spec.seeding = Seeding::FromSystem;
    spec.generator = Generator::Tausworthe64;
    let fill = |entropy| {
        let mut buffer = [0; 32];
        BufferContents::new(&spec, entropy).unwrap().fill_initial(&mut buffer);
        buffer
    };
    assert_ne!(fill([1; 24]), fill([2; 24]));
}

/// The MD5 of a file that a job writes in order, in blocks of 4 KiB.
fn written(spec: &JobSpec, blocks: usize) -> String {
    let mut content = BufferContents::new(spec, [0; 24]).unwrap();
    let mut unit = [0; 4096];
    content.fill_initial(&mut unit);
    let mut sum = Md5::new();
    for at in 0..blocks {
        content.before_write(&mut unit, at as u64 * 4096, 1);
        sum.update(unit);
    }
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn refilling() -> JobSpec {
    let mut spec = writer();
    spec.buffer.refill = true;
    spec
}

fn working_set(percent: u32, size: u64) -> Option<WorkingSet> {
    Some(WorkingSet { percent, size: Some(size), pool: None })
}

#[test]
fn files_have_fios_checksums() {
    let mut spec = writer();
    spec.buffer.scramble = false;
    assert_eq!(written(&spec, 8), "b9c416a265ccc1bf547f71c7278ed6d3");
    let mut spec = refilling();
    assert_eq!(written(&spec, 8), "5c78067f276b19e853c586cd61dab19c");
    spec.buffer.compress = 50;
    assert_eq!(written(&spec, 32), "ecda79f465a723d1b5774325a234ef0c");
    spec.buffer.compress = 0;
    spec.buffer.dedupe = Some(Dedupe { percent: 50, working_set: None });
    assert_eq!(written(&spec, 256), "96434dc1cb30b1f983d2cf2e81b58946");
    spec.buffer.dedupe = Some(Dedupe { percent: 70, working_set: working_set(10, 1 << 20) });
    assert_eq!(written(&spec, 256), "2d1921b4422fea3cd43ad00fa5c4b1bf");
}

#[test]
fn nothing_but_duplicates_is_one_piece_over_and_over() {
    let mut spec = refilling();
    spec.buffer.dedupe = Some(Dedupe { percent: 100, working_set: working_set(0, 1 << 20) });
    let mut content = BufferContents::new(&spec, [0; 24]).unwrap();
    let mut unit = [0; 4096];
    content.fill_initial(&mut unit);
    let first = unit;
    content.before_write(&mut unit, 0, 1);
    assert_eq!(unit, first);
    assert!(unit.chunks(512).all(|piece| piece == &first[..512]));
    assert_eq!(first[..8], [0x35, 0xe0, 0x28, 0xcc, 0x38, 0xa0, 0x99, 0x16]);
}

#[test]
fn another_pass_repeats_duplicates_too() {
    for working_set in [None, working_set(10, 1 << 20)] {
        let mut spec = refilling();
        spec.buffer.dedupe = Some(Dedupe { percent: 90, working_set });
        let mut content = BufferContents::new(&spec, [0; 24]).unwrap();
        let mut pass = || {
            let mut file = vec![0; 40 * 4096];
            file.chunks_mut(4096).for_each(|block| content.before_write(block, 0, 1));
            content.begin_pass();
            file
        };
        assert_eq!(pass(), pass());
    }
}

#[test]
fn units_that_are_never_used_take_their_draws() {
    for compress in [0, 50] {
        let mut spec = refilling();
        spec.buffer.compress = compress;
        let content = || BufferContents::new(&spec, [0; 24]).unwrap();
        let (mut skipping, mut filling) = (content(), content());
        let (mut skipped, mut filled) = ([0; 4096], [0; 4096]);
        skipping.skip_initial(&mut skipped, 3);
        skipping.fill_initial(&mut skipped);
        (0..4).for_each(|_| filling.fill_initial(&mut filled));
        assert_eq!(skipped, filled);
    }
}

#[test]
fn a_working_set_beyond_all_memory_is_an_error() {
    let mut spec = refilling();
    spec.buffer.dedupe = Some(Dedupe { percent: 10, working_set: working_set(90, u64::MAX) });
    let error = BufferContents::new(&spec, [0; 24]).unwrap_err();
    assert!(matches!(error, WorkloadError::WorkingSetTooLarge { .. }), "{error}");
}

proptest! {
    #[test]
    fn a_short_fill_ends_in_the_first_lane(draw: u64, len in 0usize..200) {
        let mut buffer = vec![0; len];
        fill_random(&mut buffer, draw);
        let groups = len / 32;
        for (i, word) in buffer.chunks(8).enumerate() {
            let (factor, steps) = if i < groups * 4 { ([1, 2, 3, 5][i % 4], i / 4) } else { (1, i - groups * 3) };
            let lane = draw.wrapping_mul(factor).wrapping_mul(HASH.wrapping_pow(steps as u32));
            prop_assert_eq!(word, &lane.to_le_bytes()[..word.len()]);
        }
    }
}
