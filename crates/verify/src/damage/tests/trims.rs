//! Blocks that should be zeroes because they were trimmed.

use super::*;

impl Job {
    /// What a block looks like that was trimmed after write number 3.
    fn explain_trimmed(&self, block: &[u8]) -> Damage {
        let mismatch = check_trimmed(block, HERE).expect_err("damage");
        self.explain_mismatch(block, &mismatch)
    }
}

#[test]
fn a_lost_trim_leaves_the_data_of_the_write() {
    let pattern = || Some(BlockPattern::new(vec![0x11, 0x22, 0x33, 0x44], vec![], 0).expect("a pattern"));
    let jobs = [
        own_job(crc32c()),
        own_job(VerifySpec { interval: 512, ..crc32c() }),
        own_job(VerifySpec { offset: 1000, ..crc32c() }),
        own_job(VerifySpec { layout: HeaderLayout::Fio340, ..crc32c() }),
        own_job(VerifySpec { pattern: pattern(), ..spec(VerifyMethod::PatternHdr) }),
    ];
    for job in jobs {
        let zeroes = vec![0; LEN];
        let whole = job.explain_trimmed(&job.wanted());
        assert_eq!((whole.kind, whole.wanted_number, whole.is_whole()), (DamageKind::LostTrim, None, true));
        assert_eq!(
            whole.to_string(),
            "a lost trim: all of the block holds data that was trimmed (write number 3 of job 1)"
        );
        for range in [0..2048, 2048..4096] {
            let part = job.explain_trimmed(&mixed(&zeroes, &job.wanted(), range.clone()));
            assert_eq!(part.kind, DamageKind::LostTrim, "{range:?}: {part}");
            assert_eq!(part.range, range.start as u64..range.end as u64, "{part}");
            assert_eq!(part.found.and_then(|found| found.number), Some(3), "{part}");
        }
    }
    let plain = own_job(VerifySpec { pattern: pattern(), ..spec(VerifyMethod::Pattern) });
    assert_eq!(plain.explain_trimmed(&plain.wanted()).kind, DamageKind::LostTrim);
}

#[test]
fn what_else_a_trimmed_block_contains_is_explained_like_other_damage() {
    let job = own_job(crc32c());
    let says = |block: &[u8]| {
        let damage = job.explain_trimmed(block);
        (damage.kind, damage.to_string())
    };
    let mut flipped = vec![0; LEN];
    for at in [0, 1, 904, 4095] {
        flipped[at] = 8;
        let (kind, text) = says(&flipped);
        assert_eq!(kind, DamageKind::BitFlip, "{text}");
        assert!(
            text.starts_with(&format!("a bit flip: bit 3 of byte {at} is 1, 08 instead of 00")),
            "{text}"
        );
        flipped[at] = 0;
    }
    let older = "a lost trim: all of the block holds data that was trimmed (write number 1 of job 1)";
    assert_eq!(says(&job.block(1, HERE, LEN)), (DamageKind::LostTrim, older.to_owned()));
    assert_eq!(says(&job.block(2, 4096, LEN)).0, DamageKind::OtherBlock);
    assert_eq!(says(&[0xff; LEN]).0, DamageKind::Ones);
    assert_eq!(says(&garbage(LEN)).0, DamageKind::Unknown);
    let part = says(&mixed(&[0; LEN], &garbage(LEN), 512..1024));
    assert_eq!(part.0, DamageKind::WrongPart, "{}", part.1);
}
