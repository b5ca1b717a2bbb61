//! The model of a database from the options of its job.

use std::time::Duration;

use ferrio_job::{
    Checkpoint, Commit, CommitSync, Database, DatabaseLog, DatabaseModel, Distribution, JobSpec, PageReads,
    PageWriteBack, TableWriteBack, WriteBack, WriteBackSync,
};
use ferrio_jobfile::{Amount, Job, Opt, Options};

use super::rules;
use crate::findings::Findings;
use crate::sizes::percent_of;

/// The model with one page of data, until the files are known. What is wrong with it is reported.
pub(crate) fn resolve(job: &Job, model: DatabaseModel, spec: &JobSpec, findings: &mut Findings) -> Database {
    rules::check_options(job, model, spec, findings);
    let options = &job.options;
    let smallest = spec.block.0[0].min.clamp(1, rules::MAX_PAGE_BYTES);
    let page = u32::try_from(smallest).unwrap_or(u32::MAX);
    let log = DatabaseLog {
        block: options.value(Opt::LogBlock),
        appends: options.value(Opt::LogAppends),
        size: options.value(Opt::LogSize),
        full_pages: options.value(Opt::FullPageWrites),
        direct: options.value(Opt::LogDirect),
    };
    let database = Database {
        model,
        sessions: options.value::<u32>(Opt::Numjobs).max(1),
        page,
        data_files: 1,
        pages_per_file: 1,
        direct: spec.opening.direct,
        reads: match options.if_given::<u64>(Opt::BufferPool) {
            Some(bytes) => PageReads::Pool {
                pages: (bytes / u64::from(page)).max(1),
                touched: options.value(Opt::PagesUsed),
            },
            None => PageReads::Count(options.if_given(Opt::PageReads).unwrap_or(0.0)),
        },
        cpu: options.value(Opt::TransactionCpu),
        skew: match spec.distribution {
            Distribution::Skewed(skew) => Some(skew),
            _ => None,
        },
        log,
        commit: Commit {
            sync: options.chosen(Opt::CommitSync).unwrap_or(CommitSync::None),
            group: options.value(Opt::GroupCommit),
        },
        write_back: match model {
            DatabaseModel::Rocksdb => WriteBack::Tables(write_back_of_tables(options, page)),
            _ => WriteBack::Pages(write_back_of_pages(options, log.size)),
        },
    };
    rules::check_model(job, &database, findings);
    database
}

fn write_back_of_pages(options: &Options, log_size: u64) -> PageWriteBack {
    let changed = options.if_given(Opt::PagesChanged).unwrap_or(0.0);
    let is_doubled = changed > 0.0 && options.value(Opt::DoubleWrite);
    let log = match options.value(Opt::CheckpointLog) {
        Amount::Bytes(bytes) => bytes,
        Amount::Percent(percent) => percent_of(log_size, percent),
        Amount::Zones(_) => 0,
    };
    let interval: Duration = options.value(Opt::CheckpointInterval);
    PageWriteBack {
        changed,
        most_dirty: options.value(Opt::DirtyPages),
        batch: options.value(Opt::WriteBackBatch),
        double_write: options.if_given(Opt::DoubleWriteSize).filter(|_| is_doubled),
        sync: write_back_sync(options),
        interval: options.value(Opt::WriteBackInterval),
        checkpoint: Checkpoint {
            log: (log > 0).then_some(log),
            interval: Some(interval).filter(|interval| !interval.is_zero()),
        },
    }
}

fn write_back_of_tables(options: &Options, page: u32) -> TableWriteBack {
    TableWriteBack {
        table: options.value(Opt::TableSize),
        block: page.saturating_mul(options.value(Opt::WriteBackBatch)),
        amplification: options.if_given(Opt::WriteAmplification).unwrap_or(1.0),
        sync: write_back_sync(options),
        most_waiting: options.value(Opt::WaitingTables),
    }
}

fn write_back_sync(options: &Options) -> WriteBackSync {
    options.chosen(Opt::WriteBackSync).unwrap_or(WriteBackSync::None)
}
