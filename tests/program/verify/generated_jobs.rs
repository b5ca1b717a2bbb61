//! Generated jobs that verify: what fio writes is checked by ferrio, what ferrio writes by fio, and both check themselves.
//!
//! The installed fio may be older than 3.41: its headers have 40 bytes, which ferrio recognises when it reads and writes with
//! `verify_layout=fio-3.40`. ferrio's current headers are then checked by ferrio alone. `FIO_PEER` names another fio.
//!
//! The files of synchronous jobs are also compared byte by byte, apart from the times in the headers and what depends on them.

mod batch;
mod images;
mod jobs;

use std::path::PathBuf;

use crate::support::{at_once, installed};
use batch::{Batch, Peer};

/// How many jobs run at the same time.
const BATCH: usize = 50;

/// How many jobs are generated unless `FERRIO_VERIFY_JOBS` says otherwise.
const JOBS: usize = 150;

#[test]
fn what_one_program_writes_the_other_verifies() {
    needs!("fio");
    let count = std::env::var("FERRIO_VERIFY_JOBS").map_or(JOBS, |count| count.parse().expect("a number"));
    let peer = Peer::of(std::env::var_os("FIO_PEER").map_or_else(|| installed("fio"), PathBuf::from));
    let jobs = jobs::jobs(count);
    let mut wrong = Vec::new();
    for pair in jobs.chunks(2 * BATCH) {
        let found = std::sync::Mutex::new(Vec::new());
        let batches: Vec<_> = pair.chunks(BATCH).collect();
        at_once(&batches, |jobs| {
            let differences = Batch { jobs, peer: &peer }.run();
            found.lock().unwrap().extend(differences);
        });
        wrong.extend(found.into_inner().unwrap());
    }
    assert!(wrong.is_empty(), "{} differences in {count} jobs:\n{}", wrong.len(), wrong.join("\n"));
}
