use proptest::prelude::*;

use super::order::IssuedBlock;
use super::*;

fn block(number: u64, offset: u64, len: u64) -> WrittenBlock {
    WrittenBlock { file: 0, len, offset, number, trimmed: false }
}

fn idle(_: u64) -> bool {
    false
}

fn drain(mut list: WrittenList) -> Vec<WrittenBlock> {
    std::iter::from_fn(|| list.take_first(u64::MAX, idle)).collect()
}

#[test]
fn an_entry_takes_at_most_24_bytes() {
    assert_eq!(size_of::<IssuedBlock>(), 24);
    assert!(size_of::<(u64, PackedBlock)>() <= 24);
}

#[test]
fn blocks_that_cannot_overlap_come_back_as_issued() {
    let written = [28, 24, 20, 16, 0, 4, 8, 12];
    let mut list = WrittenList::new(false);
    for (number, kib) in (0..).zip(written) {
        list.record(block(number, kib << 10, 4096));
    }
    let offsets: Vec<u64> = drain(list).iter().map(|b| b.offset >> 10).collect();
    assert_eq!(offsets, written);
}

#[test]
fn blocks_that_may_overlap_come_back_by_offset_the_newest_once() {
    let mut list = WrittenList::new(true);
    for (number, kib) in (0..).zip([28u64, 24, 20, 16, 16, 28, 0, 4]) {
        list.record(block(number, kib << 10, 4096));
    }
    let read: Vec<(u64, u64)> = drain(list).iter().map(|b| (b.offset >> 10, b.number)).collect();
    assert_eq!(read, [(0, 6), (4, 7), (16, 4), (20, 2), (24, 1), (28, 5)]);
}

#[test]
fn a_block_that_is_touched_in_part_is_forgotten() {
    let mut list = WrittenList::new(true);
    list.record(block(0, 0, 8192));
    list.record(block(1, 8192, 4096));
    list.record(block(2, 4096, 4096));
    assert_eq!(drain(list), [block(2, 4096, 4096), block(1, 8192, 4096)]);
}

#[test]
fn files_do_not_disturb_each_other() {
    let mut list = WrittenList::new(true);
    let other = WrittenBlock { file: 2, ..block(1, 0, 4096) };
    list.record(other);
    list.record(block(0, 0, 4096));
    assert_eq!(list.len(), 2);
    assert_eq!(drain(list), [block(0, 0, 4096), other]);
}

#[test]
fn a_failed_write_is_not_read_back() {
    for may_overlap in [false, true] {
        let mut list = WrittenList::new(may_overlap);
        list.record(block(0, 0, 4096));
        list.record(block(1, 4096, 4096));
        list.forget(0, 0, 0);
        list.forget(0, 4096, 7);
        assert_eq!(drain(list), [block(1, 4096, 4096)]);
    }
}

#[test]
fn blocks_of_a_range_that_was_emptied_are_not_read_back() {
    for may_overlap in [false, true] {
        let mut list = WrittenList::new(may_overlap);
        [0, 4096, 8192].into_iter().zip(0..).for_each(|(offset, n)| list.record(block(n, offset, 4096)));
        list.forget_range(1, 0..1 << 20);
        list.forget_range(0, 4096..8192);
        assert_eq!(drain(list), [block(0, 0, 4096), block(2, 8192, 4096)]);
    }
}

#[test]
fn a_cleared_list_is_empty() {
    for may_overlap in [false, true] {
        let mut list = WrittenList::new(may_overlap);
        list.record(block(u64::MAX, 0, 4096));
        assert!(!list.is_empty());
        list.clear();
        assert!(list.is_empty());
        assert_eq!(list.take_first(u64::MAX, idle), None);
    }
}

proptest! {
    #[test]
    fn what_survives_is_what_no_newer_block_touches(writes in prop::collection::vec((0u32..2, 0u64..64, 1u64..20), 0..60)) {
        let blocks: Vec<WrittenBlock> = (0u64..)
            .zip(writes)
            .map(|(n, (file, offset, len))| WrittenBlock { file, len, offset, number: n << 31 | n, trimmed: false })
            .collect();
        let mut list = WrittenList::new(true);
        blocks.iter().for_each(|&b| list.record(b));
        let touches = |a: &WrittenBlock, b: &WrittenBlock| {
            a.file == b.file && a.offset < b.offset + b.len && b.offset < a.offset + a.len
        };
        let mut expected: Vec<WrittenBlock> = Vec::new();
        for (i, block) in blocks.iter().enumerate() {
            if !blocks[i + 1..].iter().any(|newer| touches(block, newer)) {
                expected.push(*block);
            }
        }
        expected.sort_by_key(|b| (b.file, b.offset));
        prop_assert_eq!(drain(list), expected);
    }
}

#[test]
fn a_list_by_offset_gives_what_was_synced_by_offset() {
    let mut list = WrittenList::new(true).of_synced_blocks();
    for (number, kib) in (0..).zip([28u64, 24, 20, 16, 24, 0]) {
        list.record(block(number, kib << 10, 4096));
    }
    let mut take =
        |end, busy: u64| list.take_first(end, |number| number == busy).map(|b| (b.offset >> 10, b.number));
    assert_eq!(take(0, 9), None);
    assert_eq!(take(4, 3), Some((20, 2)), "write 3 is in flight");
    assert_eq!(take(4, 9), Some((16, 3)));
    assert_eq!((take(4, 9), take(4, 9)), (Some((28, 0)), None), "24 KiB was written again");
    assert_eq!((take(6, 5), take(6, 9)), (Some((24, 4)), Some((0, 5))));
    assert!(list.is_empty());
}

proptest! {
    /// Both ways to find what was synced give the same.
    #[test]
    fn what_was_synced_is_found_as_by_a_look_at_all(
        writes in prop::collection::vec((0u32..2, 0u64..24, 1u64..4, 0u64..6, 0u64..8), 0..80),
    ) {
        let mut lists = [WrittenList::new(true), WrittenList::new(true).of_synced_blocks()];
        let mut end = 0;
        for (number, (file, offset, len, unsynced, busy)) in (0u64..).zip(writes) {
            end = end.max((number + 1).saturating_sub(unsynced));
            let taken = lists.each_mut().map(|list| {
                list.record(WrittenBlock { file, len, offset, number, trimmed: false });
                if busy == 7 {
                    list.forget_range(file, offset..offset + 5);
                }
                (list.take_first(end, |number| number % 8 == busy), list.len())
            });
            prop_assert_eq!(taken[0], taken[1]);
        }
        let [all, synced] = lists;
        prop_assert_eq!(drain(all), drain(synced));
    }
}

#[test]
fn long_blocks_and_late_writes_are_kept_as_they_are() {
    let (last, longest) = ((1 << PackedBlock::NUMBER_BITS) - 1, PackedBlock::MAX_LEN);
    for forgets in [true, false] {
        let mut list = WrittenList::new(forgets);
        let blocks = [block(0, 0, 5 << 30), block(last - 1, 5 << 30, longest), block(last, 1 << 60, 1)];
        blocks.iter().for_each(|&block| list.record(block));
        list.mark(&blocks[1]);
        assert_eq!(list.take_marked(true, idle), Some(WrittenBlock { trimmed: true, ..blocks[1] }));
        let want = [blocks[0], WrittenBlock { trimmed: true, ..blocks[1] }, blocks[2]];
        assert_eq!(drain(list), want, "{forgets}");
    }
}

#[test]
fn a_new_block_is_seen_to_touch_the_end_of_a_long_one() {
    let mut list = WrittenList::new(true);
    list.record(block(0, 0, 5 << 30));
    list.record(block(1, (5 << 30) - 1, 1));
    assert_eq!(drain(list), [block(1, (5 << 30) - 1, 1)]);
}

#[test]
fn overwritten_blocks_that_are_never_synced_take_no_more_memory_than_the_list() {
    let mut list = WrittenList::new(true).of_synced_blocks();
    (0..100_000).for_each(|number| list.record(block(number, (number % 16) << 12, 4096)));
    assert_eq!(list.take_first(0, idle), None);
    assert!(list.synced.as_ref().is_some_and(|synced| synced.len() < 2000));
}
