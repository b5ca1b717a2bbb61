//! The damaged blocks of an entry.

use ferrio_results::{Damage, DamageTally, DamagedBlock};
use ferrio_stats::saturating_total;

use super::record::EntryRecord;
use crate::model::{DamagedBlockReport, VerifyReport};

/// The report on the damaged blocks of an entry; `None` without any.
pub(super) fn verify_report(entry: &EntryRecord<'_>) -> Option<VerifyReport> {
    let DamageTally { counts, blocks } = &entry.damage;
    (!counts.is_empty()).then(|| VerifyReport {
        jobname: entry.jobname.clone(),
        groupid: entry.groupid,
        damaged_blocks: saturating_total(counts.values().copied()),
        kinds: counts.iter().map(|(&kind, &count)| (kind.word().to_owned(), count)).collect(),
        blocks: blocks.iter().map(block_report).collect(),
    })
}

fn block_report(DamagedBlock { file, damage }: &DamagedBlock) -> DamagedBlockReport {
    let Damage { kind, offset, len, range, differing, unexplained_bytes, part, byte, found, .. } = damage;
    DamagedBlockReport {
        file: file.clone(),
        offset: *offset,
        length: *len,
        kind: kind.word().to_owned(),
        message: damage.to_string(),
        damage_start: range.start,
        damage_length: range.end - range.start,
        damage_part: part.word().to_owned(),
        differing_bytes: differing.map(u64::from),
        unexplained_bytes: Some(*unexplained_bytes).filter(|&bytes| bytes > 0),
        bit: byte.map(|byte| byte.bit().into()),
        found_byte: byte.map(|byte| byte.found.into()),
        wanted_byte: byte.map(|byte| byte.wanted.into()),
        found_offset: found.and_then(|found| found.offset),
        found_number: found.and_then(|found| found.number),
        found_job: found.and_then(|found| found.job).map(u64::from),
        wanted_number: damage.wanted_number,
        shift: damage.shift,
        fill_byte: damage.fill.map(u64::from),
        options: damage.options.clone(),
    }
}
