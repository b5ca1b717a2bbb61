//! The text of `ferrio help workload`, and the names that lead to it.

use ferrio_job::{Choice as _, DatabaseModel};

/// Other words for `workload` in `ferrio help`.
const NAMES: [&str; 6] = ["database", "databases", "mysql", "mariadb", "postgresql", "pg"];

/// True for a database model, and for another word for the text's subject.
pub fn is_name(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    DatabaseModel::from_word(&word).is_some() || NAMES.contains(&word.as_str())
}

/// A summary of the database models.
pub const ABOUT: &str = "\
A job with a workload does the I/O of a database: sessions run transactions and
sync a log, and jobs in the background write changed pages back.

  [bank]
  workload=innodb
  directory=/mnt/db
  size=100g
  runtime=60

The report ends with transactions per second, their latency, and what they
waited for. `ferrio check bank.fio` explains a transaction before anything runs.

  innodb    pages of 16k, read and written directly; each commit syncs the log;
            pages are written twice, first to the double-write area
  postgres  pages of 8k through the page cache; commits share a sync; whole
            pages go into the log after a checkpoint
  rocksdb   reads of 4k from tables; a log that is not synced; tables of 64m
            are written and merged, ten bytes for each byte of the log
  etcd      one session with records of 2300 bytes, each made durable by an
            fdatasync; pages of 4k are written back every 100 ms

Sessions (numjobs), page reads (page_reads or buffer_pool), appends to the log
(log_appends, log_block, log_size), commits (commit_sync, group_commit) and
write-back (pages_changed, write_back_batch, dirty_pages, double_write,
checkpoint_log) are options; `ferrio help page_reads` explains one of them.
transactions and runtime end the job. transaction_rate sets arrivals per second,
and transaction_cpu the CPU time of a transaction.

docs/database.md describes the models, all options and their defaults, and how
to find the parameters of a real server. jobs/ has an example of each model.
";
