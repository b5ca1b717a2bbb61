//! The damaged blocks of an entry.

use std::collections::BTreeMap;

use ferrio_results::{Damage, DamageKind, DamageTally, DamagedBlock};

use crate::model::{DamagedBlockReport, JobReport, VerifyReport};

/// Number of damaged blocks of each kind in the jobs of an entry.
pub(super) fn kinds<'a>(tallies: impl Iterator<Item = &'a DamageTally>) -> Vec<(DamageKind, u64)> {
    let mut counts: BTreeMap<DamageKind, u64> = BTreeMap::new();
    for (&kind, count) in tallies.flat_map(|tally| &tally.counts) {
        *counts.entry(kind).or_default() += count;
    }
    counts.into_iter().collect()
}

/// The report on the damaged blocks of an entry; `None` without any.
pub(super) fn verify_report<'a>(
    job: &JobReport,
    tallies: impl Iterator<Item = &'a DamageTally>,
) -> Option<VerifyReport> {
    let kinds = &job.text.damage;
    (!kinds.is_empty()).then(|| VerifyReport {
        jobname: job.jobname.clone(),
        groupid: job.groupid,
        damaged_blocks: kinds.iter().map(|(_, count)| count).sum(),
        kinds: kinds.iter().map(|&(kind, count)| (kind.word().to_owned(), count)).collect(),
        blocks: tallies.flat_map(|tally| &tally.blocks).map(block_report).collect(),
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
