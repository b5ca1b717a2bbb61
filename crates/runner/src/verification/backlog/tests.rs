use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ferrio_engine::Buffers;
use ferrio_plan::testing::spec_of;
use ferrio_verify::DamageKind;
use ferrio_workload::{Io, SEEDS};
use proptest::prelude::*;

use super::*;

fn verification(options: &str) -> Verification {
    let spec = spec_of(&format!(
        "[a]\nioengine=libaio\niodepth=8\nfilename=/tmp/x\nsize=1m\nverify=crc32c\n{options}"
    ));
    *Verification::new(&spec, [0; SEEDS], None, None).unwrap().unwrap()
}

const BLOCK: u64 = 4096;

fn write(verification: &mut Verification, unit: u32, offset: u64, len: u64) {
    let io = Io { direction: Direction::Write, file: 0, offset, len };
    let mut block = vec![0; len as usize];
    verification.before(&io, unit, &mut block, Duration::ZERO).unwrap();
}

/// Does what is due, with a queue of one.
fn do_due(verification: &mut Verification, due: DueBlock) -> WrittenBlock {
    verification.before_due(0, due);
    verification.ended(0);
    let (DueBlock::Check(block) | DueBlock::Trim(block)) = due;
    block
}

/// The order of I/Os of a job that writes these blocks with a queue of one, as in fio's logs.
fn order(options: &str, blocks: &[u64]) -> String {
    let mut verification = verification(&format!("rw=randwrite\n{options}"));
    let mut order = Vec::new();
    for &at in blocks {
        while let Some(due) = verification.next_due() {
            let kind = if matches!(due, DueBlock::Check(_)) { 'r' } else { 't' };
            let block = do_due(&mut verification, due);
            order.push(format!("{kind}{}", block.offset / 1024));
        }
        order.push(format!("w{at}"));
        write(&mut verification, 0, at * 1024, BLOCK);
        verification.ended(0);
    }
    verification.in_phase = true;
    while let Some(block) = verification.next_written() {
        verification.before_check(0, block);
        verification.ended(0);
        order.push(format!("r{}", block.offset / 1024));
    }
    order.join(" ")
}

#[test]
fn batches_of_checks_come_when_fio_has_them() {
    let blocks = [28, 24, 20, 16, 0, 4, 8, 12];
    let order = |options: &str| order(options, &blocks);
    assert_eq!(order("verify_backlog=4\n"), "w28 w24 w20 w16 r28 r24 r20 r16 w0 w4 w8 w12 r0 r4 r8 r12");
    let two = order("verify_backlog=4\nverify_backlog_batch=2\n");
    assert_eq!(two, "w28 w24 w20 w16 r28 r24 w0 w4 r20 r16 w8 w12 r0 r4 r8 r12");
    let eight = order("verify_backlog=4\nverify_backlog_batch=8\n");
    assert_eq!(eight, "w28 w24 w20 w16 r28 r24 r20 r16 w0 r0 w4 r4 w8 r8 w12 r12");
}

#[test]
fn batches_of_trims_come_when_fio_has_them() {
    let blocks: Vec<u64> = (0..8).map(|block| block * 4).collect();
    let trims = |options: &str| order(&format!("trim_percentage=100\ntrim_backlog=4\n{options}"), &blocks);
    assert_eq!(trims(""), "w0 w4 w8 w12 t0 t4 t8 t12 w16 w20 w24 w28 r0 r4 r8 r12 r16 r20 r24 r28");
    let two = trims("trim_backlog_batch=2\n");
    assert_eq!(two, "w0 w4 w8 w12 t0 t4 w16 w20 w24 w28 r0 r4 r8 r12 r16 r20 r24 r28");
    let forgotten = trims("trim_verify_zero=0\n");
    assert_eq!(forgotten, "w0 w4 w8 w12 t0 t4 t8 t12 w16 w20 w24 w28 r16 r20 r24 r28");
}

#[test]
fn with_batches_of_both_kinds_checks_come_first_and_what_was_checked_is_not_trimmed() {
    let blocks: Vec<u64> = (0..6).map(|block| block * 4).collect();
    let options = "trim_percentage=100\ntrim_backlog=2\nverify_backlog=4\n";
    assert_eq!(order(options, &blocks), "w0 w4 t0 t4 w8 w12 r0 r4 r8 r12 w16 w20 r16 r20");
}

#[test]
fn after_a_read_no_batch_of_checks_begins() {
    let mut verification = verification("rw=randrw\nverify_backlog=2\n");
    for unit in 0..2 {
        write(&mut verification, unit, u64::from(unit) * 4096, BLOCK);
        verification.ended(unit);
    }
    let io = Io { direction: Direction::Read, file: 0, offset: 0, len: BLOCK };
    verification.before(&io, 0, &mut [0; 4096], Duration::ZERO).unwrap();
    verification.ended(0);
    assert_eq!(verification.next_due(), None);
}

#[test]
fn marks_without_trims_are_counted_after_the_pass() {
    let mut verification = verification("rw=write\ntrim_percentage=50\n");
    for number in 0..8 {
        write(&mut verification, 0, number * 4096, BLOCK);
        verification.ended(0);
        assert_eq!(verification.next_due(), None);
    }
    assert_eq!(verification.leaked_trims(false), 5);
    verification.begin_pass();
    assert_eq!(verification.leaked_trims(false), 0);
}

#[test]
fn only_what_was_synced_is_checked_while_the_job_writes() {
    let mut verification = verification("rw=write\nverify_backlog=2\nverify_policy=fsynced\n");
    for number in 0..2 {
        write(&mut verification, 0, number * 4096, BLOCK);
        verification.ended(0);
    }
    assert_eq!(verification.next_due(), None);
    verification.before_sync(0, 0);
    write(&mut verification, 1, 8192, BLOCK);
    verification.synced(0, true);
    let due: Vec<DueBlock> = std::iter::from_fn(|| {
        let due = verification.next_due()?;
        do_due(&mut verification, due);
        Some(due)
    })
    .collect();
    assert_eq!(due.len(), 2, "{due:?}");
}

#[test]
fn a_block_that_is_with_a_thread_is_not_written_again_before_its_result_is_known() {
    for engine in ["libaio", "psync"] {
        let options =
            format!("rw=randwrite\nnorandommap\nverify_backlog=1\nverify_async=1\nioengine={engine}\n");
        let mut verification = verification(&options);
        write(&mut verification, 0, 0, BLOCK);
        verification.ended(0);
        let Some(DueBlock::Check(block)) = verification.next_due() else { panic!("a block is read back") };
        verification.before_check(0, block);
        verification.ended(0);
        let mut buffers = Buffers::new(8, 4096, true).unwrap();
        verification.lend(0, 0, 0, buffers.lend(0, 4096).unwrap()).unwrap();
        let waits = |verification: &Verification, from: u64, changes| {
            verification.must_wait(0, &(from..from + 4096), changes)
        };
        assert!(waits(&verification, 0, true) && waits(&verification, 4095, true), "{engine}");
        assert!(!waits(&verification, 0, false) && !waits(&verification, 4096, true), "{engine}");
        assert!(verification.awaits_threads());
        verification.take_back(true).unwrap().unwrap();
        assert!(!waits(&verification, 0, true) && !verification.awaits_threads(), "{engine}");
    }
}

#[test]
fn the_number_of_a_write_that_another_pass_may_have_repeated_is_not_asked_for() {
    let mut verification = verification("rw=write\ntime_based\nruntime=1\nverify_backlog=4\n");
    let mut disk = Vec::new();
    for pass in 0..2 {
        if pass > 0 {
            verification.begin_pass();
        }
        for offset in [0, 4096] {
            let io = Io { direction: Direction::Write, file: 0, offset, len: BLOCK };
            disk = vec![0; 4096];
            verification.before(&io, 0, &mut disk, Duration::ZERO).unwrap();
            verification.ended(0);
        }
    }
    // The last write was that of number 3. Half of its block is lost.
    disk[2048..].fill(0xa5);
    for number in [1, 3] {
        let block = WrittenBlock { file: 0, len: BLOCK, offset: 4096, number, trimmed: false };
        verification.before_check(0, block);
        verification.ended(0);
        let mut read = disk.clone();
        let mismatch = verification.check(0, &mut read, 4096).unwrap_err();
        let damage = verification.explain(0, &read, &mismatch);
        assert_eq!(damage.kind, DamageKind::OtherFill, "{damage}");
        assert_eq!(verification.units.expected(0).number, (number == 3).then_some(3));
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// Writes this block in a free unit, after what is due.
    Issue(u64),
    /// Ends what this unit does.
    End(u32),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![(0u64..24).prop_map(Event::Issue), (0u32..8).prop_map(Event::End)];
    prop::collection::vec(event, 0..120)
}

proptest! {
    /// Whatever the batches and the order of completions: a check never meets the write or the trim of its block in flight, each block is
    /// checked once after it was written last, and as zeros exactly if it was trimmed.
    #[test]
    fn every_block_is_checked_once_and_never_while_it_changes(
        events in events(), overwrites: bool, zero: bool,
        checks in 0u64..5, check_batch in 0u64..7, trims in 0u64..5, trim_batch in 0u64..7,
    ) {
        let mut verification = verification(&format!(
            "rw=randwrite\nverify_backlog={checks}\nverify_backlog_batch={check_batch}\ntrim_percentage=60\ntrim_backlog={trims}\n\
             trim_backlog_batch={trim_batch}\ntrim_verify_zero={}\n{}",
            u8::from(zero), if overwrites { "norandommap\n" } else { "" },
        ));
        let mut units: [Option<DueBlock>; 8] = [None; 8];
        let mut writing: [Option<u64>; 8] = [None; 8];
        // Number of the write, whether it was trimmed, and whether that is still to be checked.
        let mut blocks: BTreeMap<u64, (u64, bool, bool)> = BTreeMap::new();
        let mut next = 0;
        let mut used = BTreeSet::new();
        let settle = |verification: &mut Verification, units: &mut [Option<DueBlock>; 8], writing: &mut [Option<u64>; 8]| {
            for unit in 0..8 {
                if units[unit].take().is_some() || writing[unit].take().is_some() {
                    verification.ended(unit as u32);
                }
            }
        };
        let check = |block: &WrittenBlock, blocks: &mut BTreeMap<u64, (u64, bool, bool)>| {
            let entry = blocks.get_mut(&block.offset).unwrap();
            assert_eq!((block.number, block.trimmed, true), *entry);
            entry.2 = false;
        };
        for event in events {
            match event {
                Event::End(unit) => {
                    let unit = unit as usize;
                    if units[unit].take().is_some() || writing[unit].take().is_some() {
                        verification.ended(unit as u32);
                    }
                }
                Event::Issue(at) => {
                    let Some(unit) = (0..8).find(|&unit| units[unit].is_none() && writing[unit].is_none()) else { continue };
                    let offset = at * 4096;
                    if let Some(due) = verification.next_due() {
                        let (DueBlock::Check(block) | DueBlock::Trim(block)) = due;
                        let range = block.offset..block.offset + 4096;
                        if verification.must_wait(0, &range, matches!(due, DueBlock::Trim(_))) {
                            settle(&mut verification, &mut units, &mut writing);
                        }
                        let busy = |other: &Option<DueBlock>| matches!(other, Some(DueBlock::Trim(other)) if other.offset == block.offset);
                        assert!(!units.iter().any(busy) && !writing.contains(&Some(block.offset)));
                        units[unit] = Some(due);
                        match due {
                            DueBlock::Check(block) => {
                                verification.before_due(unit as u32, due);
                                check(&block, &mut blocks);
                            }
                            DueBlock::Trim(block) => {
                                verification.before_due(unit as u32, due);
                                let entry = blocks.get_mut(&block.offset).unwrap();
                                assert_eq!(*entry, (block.number, false, true));
                                *entry = (block.number, true, zero);
                            }
                        }
                    } else if overwrites || used.insert(offset) {
                        if verification.must_wait(0, &(offset..offset + 4096), true) {
                            settle(&mut verification, &mut units, &mut writing);
                        }
                        write(&mut verification, unit as u32, offset, BLOCK);
                        writing[unit] = Some(offset);
                        blocks.insert(offset, (next, false, true));
                        next += 1;
                    }
                }
            }
        }
        settle(&mut verification, &mut units, &mut writing);
        verification.in_phase = true;
        while let Some(block) = verification.next_written() {
            check(&block, &mut blocks);
        }
        prop_assert!(blocks.values().all(|(_, _, left)| !left), "{blocks:?}");
    }
}
