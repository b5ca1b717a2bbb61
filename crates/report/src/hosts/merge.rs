//! Entries and databases of several hosts as one.

use std::borrow::Cow;

use ferrio_job::{Measure, Optimisations, ReportedOptions, UnifiedReporting};
use ferrio_results::{DamageTally, DamagedBlock};

use crate::build::database::DatabaseRecord;
use crate::build::record::{EntryError, EntryRecord};
use crate::model::ToleratedErrors;

/// Damaged blocks that a merged entry describes in detail.
const MAX_DETAILED_BLOCKS: usize = 100;

/// An entry with the host that it is from.
#[derive(Clone, Copy)]
pub(super) struct EntryOfHost<'a> {
    pub(super) host: &'a str,
    pub(super) entry: &'a EntryRecord<'static>,
}

/// The entries as one, named like the first. Settings that only make sense for one host are gone: options that differ, the latency target
/// that each host searched alone, and the steady state. `None` without entries.
pub(super) fn merged(entries: &[EntryOfHost<'_>]) -> Option<EntryRecord<'static>> {
    let first = entries.first()?.entry;
    let all = || entries.iter().map(|of_host| of_host.entry);
    let any = |flags: fn(&EntryRecord<'_>) -> [bool; 3]| {
        all().map(flags).fold([false; 3], |sum, flags| std::array::from_fn(|at| sum[at] || flags[at]))
    };
    let mut stats = first.stats.clone();
    all().skip(1).for_each(|entry| stats.to_mut().merge(&entry.stats));
    Some(EntryRecord {
        jobname: first.jobname.clone(),
        groupid: first.groupid,
        job_number: first.job_number,
        jobs: all().map(|entry| entry.jobs).fold(0, usize::saturating_add),
        options: common_options(all().map(|entry| &entry.options)),
        desc: first.desc.clone().filter(|desc| all().all(|entry| entry.desc.as_ref() == Some(desc))),
        measure: measure(first, all()),
        units: first.units,
        only_lines_of_fio: first.only_lines_of_fio,
        does: any(|entry| entry.does),
        changes_zones: any(|entry| entry.changes_zones),
        tuning: first.tuning,
        optimisations: all().fold(Optimisations::NONE, |used, entry| used | entry.optimisations),
        start_ms: all().map(|entry| entry.start_ms).filter(|&start| start > 0).min().unwrap_or(0),
        start_offset_ms: None,
        pid: 0,
        error: entries.iter().find_map(error),
        has_enough_data: all().all(|entry| entry.has_enough_data),
        tolerated: tolerated(all()),
        target: None,
        steady: None,
        damage: damage(entries),
        members: Vec::new(),
        stats: Cow::Owned(stats.into_owned()),
    })
}

/// The error of an entry, with the host that had it.
fn error(of_host: &EntryOfHost<'_>) -> Option<EntryError> {
    let EntryError { errno, message } = of_host.entry.error.as_ref()?;
    Some(EntryError { errno: *errno, message: format!("{}: {message}", of_host.host) })
}

/// The percentiles of the first entry. Directions are apart unless all entries report them as one.
fn measure<'a>(first: &EntryRecord<'_>, mut all: impl Iterator<Item = &'a EntryRecord<'static>>) -> Measure {
    let unified = if all.all(|entry| entry.measure.unified == first.measure.unified) {
        first.measure.unified
    } else {
        UnifiedReporting::Both
    };
    Measure { unified, ..first.measure.clone() }
}

/// The options that all have with the same value.
pub(super) fn common_options<'a>(
    mut all: impl Iterator<Item = &'a ReportedOptions> + Clone,
) -> ReportedOptions {
    let Some(first) = all.next() else { return ReportedOptions::default() };
    if all.clone().all(|options| options == first) {
        return first.clone();
    }
    let is_common = |option: &&(String, String)| all.clone().all(|options| options.contains(option));
    first.iter().filter(is_common).cloned().collect()
}

fn tolerated<'a>(all: impl Iterator<Item = &'a EntryRecord<'static>>) -> Option<ToleratedErrors> {
    all.filter_map(|entry| entry.tolerated).reduce(|sum, errors| ToleratedErrors {
        total_err: sum.total_err.saturating_add(errors.total_err),
        first_error: if sum.first_error == 0 { errors.first_error } else { sum.first_error },
    })
}

/// The damaged blocks, with the host before the names of their files.
fn damage(entries: &[EntryOfHost<'_>]) -> DamageTally {
    let mut total = DamageTally::total(entries.iter().map(|of_host| &of_host.entry.damage));
    let of_host = |EntryOfHost { host, entry }: &EntryOfHost<'_>| {
        let named = |block: &DamagedBlock| DamagedBlock {
            file: format!("{host}:{}", block.file),
            damage: block.damage.clone(),
        };
        entry.damage.blocks.iter().map(named).collect::<Vec<_>>()
    };
    total.blocks = entries.iter().flat_map(of_host).take(MAX_DETAILED_BLOCKS).collect();
    total
}

/// The databases that are the same model under the same name, as one: transactions add up, and percentiles are those of all transactions.
pub(super) fn merged_databases<'a>(all: impl Iterator<Item = &'a DatabaseRecord>) -> Vec<DatabaseRecord> {
    let mut merged: Vec<DatabaseRecord> = Vec::new();
    for database in all {
        let same = merged
            .iter_mut()
            .find(|other| other.jobname == database.jobname && other.settings == database.settings);
        match same {
            None => merged.push(database.clone()),
            Some(sum) => {
                sum.sessions = sum.sessions.saturating_add(database.sessions);
                sum.rate = sum.rate.zip(database.rate).map(|(sum, rate)| sum + rate);
                sum.totals.merge(&database.totals);
            }
        }
    }
    merged
}
