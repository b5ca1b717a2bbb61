use ferrio_job::{CommitSync, DatabaseFile, DatabaseModel, EventKind, PageReads, Plan};
use ferrio_results::{JobResult, RunResult};

use crate::RunReport;
use crate::database::testing::{change_load, database_run};
use crate::model::{DatabaseReport, FerrioReport};
use crate::text::tests::options;

/// What the report says of the model.
fn block(plan: &Plan, result: &RunResult) -> String {
    let text = RunReport::new(plan, result, &options(false)).to_text();
    text[text.find("\nDatabase").unwrap_or(text.len())..].to_owned()
}

fn model_of(plan: &mut Plan, change: impl Fn(&mut ferrio_job::Database)) {
    change_load(plan, |load| {
        let EventKind::Database(database) = &mut load.kind else { panic!("a model") };
        change(database);
    });
}

#[test]
fn the_block_of_a_model_follows_its_group() {
    let (plan, result) = database_run();
    insta::assert_snapshot!(block(&plan, &result));
    let text = RunReport::new(&plan, &result, &options(false)).to_text();
    let places =
        ["\nbank: (groupid=0, jobs=2)", "\nbank.cleaner: ", "\nRun status group 0", "\nDatabase bank"]
            .map(|line| text.find(line).unwrap());
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn fio_has_no_such_block() {
    let (plan, result) = database_run();
    let report = RunReport::new(&plan, &result, &options(false));
    let of_fio = RunReport { ferrio: None, ..report };
    assert!(!of_fio.to_text().contains("Database"));
}

#[test]
fn a_model_that_did_nothing_has_no_block() {
    let (plan, mut result) = database_run();
    result.jobs.fill(JobResult::default());
    assert_eq!(block(&plan, &result), "");
}

#[test]
fn arrivals_hits_and_whole_pages_are_shown_where_there_are_some() {
    let (mut plan, mut result) = database_run();
    let without = block(&plan, &result);
    assert!(
        !without.contains("rate=") && !without.contains("buffer pool") && !without.contains("full pages")
    );
    change_load(&mut plan, |load| load.rate = Some(250.0));
    model_of(&mut plan, |database| database.reads = PageReads::Pool { pages: 1000, touched: 23 });
    for job in &mut result.jobs[..2] {
        let figures = job.events.as_mut().unwrap().database.as_mut().unwrap();
        (figures.pool_hits, figures.full_pages) = (2800, 50);
    }
    let text = block(&plan, &result);
    assert!(text.contains("  transactions : total=400, tps=200.00, rate=250.00, run=2000msec\n"), "{text}");
    assert!(text.contains("  buffer pool  : hits=5600 (60.87% of the pages used)\n"), "{text}");
    assert!(text.contains("  log          : commits per sync=1.00, full pages=100\n"), "{text}");
}

#[test]
fn without_syncs_of_the_log_there_are_no_commits_per_sync() {
    let (mut plan, mut result) = database_run();
    model_of(&mut plan, |database| database.commit.sync = CommitSync::Dsync);
    for job in &mut result.jobs {
        let figures = job.events.as_mut().unwrap().database.as_mut().unwrap();
        figures.files[DatabaseFile::Log as usize].syncs = 0;
    }
    let text = block(&plan, &result);
    assert!(!text.contains("log syncs") && !text.contains("  log  "), "{text}");
}

#[test]
fn etcd_has_the_figure_that_its_documentation_asks_for() {
    let (mut plan, mut result) = database_run();
    model_of(&mut plan, |database| database.model = DatabaseModel::Etcd);
    let line = |result: &RunResult| {
        let text = block(&plan, result);
        text.lines().find(|line| line.starts_with("  etcd")).unwrap_or_default().to_owned()
    };
    let below =
        "  etcd         : p99 of log syncs=894.98us, below the 10.00ms that its documentation asks for";
    assert_eq!(line(&result), below);
    result.jobs[1].stats.sync.record(12_000_000);
    result.jobs[0].stats.sync.latency = None;
    let above =
        "  etcd         : p99 of log syncs=12.00ms, not below the 10.00ms that its documentation asks for";
    result.jobs[1].stats.sync.record(12_000_000);
    assert_eq!(line(&result), above);
    result.jobs[1].stats.sync.latency = None;
    assert_eq!(
        line(&result),
        "  etcd         : no p99 of log syncs: gtod_reduce or disable_clat left it out"
    );
    for job in &mut result.jobs {
        job.events.as_mut().unwrap().database.as_mut().unwrap().files[1].syncs = 0;
    }
    assert_eq!(line(&result), "  etcd         : no p99 of log syncs: commits made none");
}

#[test]
fn tables_are_called_tables() {
    let (mut plan, mut result) = database_run();
    model_of(&mut plan, |database| database.model = DatabaseModel::Rocksdb);
    let data = &mut result.jobs[2].events.as_mut().unwrap().database.as_mut().unwrap().files[0];
    (data.reads, data.read_bytes) = (7, 7 << 20);
    result.jobs[2].stats.directions[0].runtime_ms = 2500;
    let text = block(&plan, &result);
    for row in ["    table writes ", "    table syncs ", "    merge reads ", "  write-back   : tables=400"] {
        assert!(text.contains(row), "{row}{text}");
    }
}

#[test]
fn percentiles_of_the_table_are_there_whatever_the_list_is() {
    let (mut plan, result) = database_run();
    for job in &mut plan.jobs {
        (job.spec.measure.percentiles, job.spec.measure.percentile_precision) = (vec![10.0], 0);
    }
    let with_list = block(&plan, &result);
    assert!(with_list.contains("     | 10.0th=[ 1446], 50.0th=[ 1930], 95.0th=[ 7980]"), "{with_list}");
    plan.jobs.iter_mut().for_each(|job| job.spec.measure.clat_percentiles = false);
    let off = block(&plan, &result);
    assert!(!off.contains("10.0th") && off.contains("99.9th=["), "{off}");
    let row = |text: &str| text.lines().find(|line| line.starts_with("    read ")).unwrap().to_owned();
    assert_eq!(row(&off), row(&with_list));
}

#[test]
fn a_document_is_read_back_with_its_models() {
    let (plan, result) = database_run();
    let report = RunReport::new(&plan, &result, &options(true));
    let read = crate::read(&report.to_json()).unwrap();
    let (ours, theirs) = (report.ferrio.unwrap().databases, read.ferrio.unwrap().databases);
    assert_eq!(ours.len(), 1);
    assert_eq!(theirs[0].figures.steps.sync.lat_ns.bins, ours[0].figures.steps.sync.lat_ns.bins);
    assert_eq!((theirs[0].figures.transactions, theirs[0].figures.pool_hits), (400, 0));
    let text = |databases: &[DatabaseReport]| {
        let ferrio = FerrioReport { databases: databases.to_vec(), ..FerrioReport::default() };
        RunReport { ferrio: Some(ferrio), ..RunReport::default() }.to_json()
    };
    assert_eq!(text(&theirs), text(&ours));
}
