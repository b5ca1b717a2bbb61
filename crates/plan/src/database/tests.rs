use std::time::Duration;

use ferrio_job::{
    Checkpoint, CommitSync, Database, DatabaseModel, DatabaseRole, EngineKind, FileKind, JobSpec, PageReads,
    Plan, SkewShape, WriteBack, WriteBackSync,
};

use super::DatabaseFiles;
use crate::PlanOptions;
use crate::findings::Findings;
use crate::resolve::resolve;
use crate::status::InertOptions;
use crate::testing::{MACHINE, jobs_of, notes, plan_of, problems_of, refusals};

/// A small database: the job file of one section, which the options end.
fn section(model: &str, options: &str) -> String {
    format!("[bank]\nworkload={model}\nsize=64m\nruntime=10\n{options}")
}

fn small(model: &str, options: &str) -> Plan {
    let size = if model == "rocksdb" { "table_size=4m\nwrite_back_batch=16\n" } else { "" };
    let log = if model == "rocksdb" { "12m" } else { "4m" };
    plan_of(&section(model, &format!("log_size={log}\n{size}{options}"))).unwrap()
}

fn database_of(spec: &JobSpec) -> &Database {
    spec.events.as_ref().unwrap().database().unwrap().0
}

fn model(name: &str, options: &str) -> Database {
    database_of(&small(name, options).jobs[0].spec).clone()
}

fn refused(options: &str) -> Vec<String> {
    refusals(&section("innodb", &format!("log_size=4m\n{options}")))
}

#[test]
fn a_section_becomes_its_sessions_and_the_jobs_in_the_background() {
    let plan = small("innodb", "numjobs=3\n");
    let jobs: Vec<_> = plan.jobs.iter().map(|job| (job.spec.name.as_str(), job.spec.number)).collect();
    assert_eq!(jobs, [("bank", 1), ("bank", 2), ("bank", 3), ("bank.cleaner", 4)]);
    let sections: Vec<_> =
        plan.sections.iter().map(|section| (section.name.as_str(), section.jobs.clone())).collect();
    assert_eq!(sections, [("bank", 0..3), ("bank.cleaner", 3..4)]);
    let roles: Vec<_> =
        plan.jobs.iter().map(|job| job.spec.events.as_ref().unwrap().database().unwrap().1).collect();
    assert_eq!(roles[1..], [DatabaseRole::Session, DatabaseRole::Session, DatabaseRole::Cleaner]);
    let grouped: Vec<bool> = plan.jobs.iter().map(|job| job.spec.group_reporting).collect();
    assert_eq!(grouped, [true, true, true, false]);
    let plan = small("rocksdb", "");
    assert_eq!(plan.jobs.len(), 34);
    let names: Vec<_> = plan.sections.iter().map(|section| section.name.as_str()).collect();
    assert_eq!(names, ["bank", "bank.flusher", "bank.compactor"]);
}

#[test]
fn all_jobs_share_the_files_and_one_of_them_lays_them_out() {
    let plan = small("innodb", "nrfiles=2\ndirectory=.\nnumjobs=2\n");
    let files = |job: usize| {
        let files = plan.jobs[job].spec.files.iter();
        files.map(|file| (file.path.display().to_string(), file.size, file.extend)).collect::<Vec<_>>()
    };
    let want = [
        ("./bank.data.0", 32 << 20),
        ("./bank.data.1", 32 << 20),
        ("./bank.log", 4 << 20),
        ("./bank.doublewrite", 2 << 20),
    ];
    let expected = |extend| want.map(|(path, size)| (path.to_owned(), size, extend));
    assert_eq!(files(0), expected(true));
    assert_eq!(files(1), expected(false));
    assert_eq!(files(2), expected(false));
    assert!(plan.jobs[0].spec.files.iter().all(|file| file.kind == FileKind::Regular));
    let database = database_of(&plan.jobs[2].spec);
    assert_eq!((database.data_files, database.pages_per_file), (2, (32 << 20) / 16384));
}

#[test]
fn the_presets_are_those_of_their_databases() {
    let innodb = model("innodb", "");
    assert_eq!(
        (innodb.model, innodb.sessions, innodb.page, innodb.direct),
        (DatabaseModel::Innodb, 32, 16384, true)
    );
    assert_eq!(innodb.reads, PageReads::Count(9.0));
    assert_eq!((innodb.log.block, innodb.log.appends, innodb.commit.group), (4096, 1, 1));
    let WriteBack::Pages(pages) = innodb.write_back else { panic!("pages") };
    assert_eq!((pages.changed, pages.most_dirty, pages.batch), (1.0, 256, 1));
    assert_eq!((pages.double_write, pages.sync), (Some(2 << 20), WriteBackSync::Fsync));
    assert_eq!(pages.checkpoint, Checkpoint { log: Some(2 << 20), interval: None });

    let postgres = model("postgres", "");
    assert_eq!((postgres.page, postgres.direct, postgres.log.full_pages), (8192, false, true));
    assert_eq!((postgres.commit.sync, postgres.commit.group), (CommitSync::Fdatasync, 0));
    let WriteBack::Pages(pages) = postgres.write_back else { panic!("pages") };
    assert_eq!((pages.double_write, pages.sync), (None, WriteBackSync::None));
    assert_eq!(pages.checkpoint.interval, Some(Duration::from_secs(300)));

    let rocksdb = model("rocksdb", "");
    assert_eq!((rocksdb.page, rocksdb.data_files, rocksdb.commit.sync), (4096, 16, CommitSync::None));
    let WriteBack::Tables(tables) = rocksdb.write_back else { panic!("tables") };
    assert_eq!((tables.table, tables.block, tables.amplification), (4 << 20, 64 << 10, 10.0));

    let etcd = model("etcd", "");
    assert_eq!((etcd.sessions, etcd.reads, etcd.log.block), (1, PageReads::Count(0.0), 2300));
    let WriteBack::Pages(pages) = etcd.write_back else { panic!("pages") };
    assert_eq!(pages.interval, Duration::from_millis(100));
}

#[test]
fn options_replace_the_presets() {
    let database = model(
        "innodb",
        "page_reads=6\ngroup_commit=4\nwrite_back_batch=64\nbs=8k\ndirect=0\nrandom_distribution=zipf:0.9\n",
    );
    assert_eq!((database.reads, database.commit.group, database.page), (PageReads::Count(6.0), 4, 8192));
    assert!(!database.direct);
    assert_eq!(database.skew.unwrap().shape, SkewShape::Zipf(0.9));
    assert!(!model("innodb", "buffered=1\n").direct);
    let pool = model("innodb", "buffer_pool=16m\n").reads;
    assert_eq!(pool, PageReads::Pool { pages: 1024, touched: 23 });
    let plan = small("innodb", "transactions=100\ntransaction_rate=50\nrandseed=7\n");
    let load = &plan.jobs[0].spec.events.as_ref().unwrap().load;
    assert_eq!((load.limit, load.rate, load.seed), (Some(100), Some(50.0), Some(7)));
}

#[test]
fn buffers_and_queues_are_those_of_the_role() {
    let plan = small("innodb", "write_back_batch=64\nioengine=libaio\nnumjobs=1\n");
    let (session, cleaner) = (&plan.jobs[0].spec, &plan.jobs[1].spec);
    assert_eq!((session.max_buffer(), session.units()), (16384, 1));
    assert_eq!((cleaner.max_buffer(), cleaner.units()), (1 << 20, 64));
    let plan = small("innodb", "write_back_batch=64\nioengine=libaio\nnumjobs=1\niodepth=8\n");
    assert_eq!((plan.jobs[0].spec.units(), plan.jobs[1].spec.units()), (1, 8));
    assert_eq!(small("innodb", "write_back_batch=64\nnumjobs=1\n").jobs[1].spec.units(), 1);
    assert!(plan.jobs.iter().all(|job| job.spec.thread && job.spec.limits.time_based));
}

#[test]
fn the_buffers_of_a_cleaner_have_room_for_as_many_ios_as_fit_64_mib() {
    let cleaner = |options: &str| {
        let text = format!("ioengine=libaio\nnumjobs=1\ndouble_write_size=32m\ndirty_pages=2000\n{options}");
        let spec = &small("innodb", &text).jobs[1].spec;
        (spec.max_buffer(), spec.units())
    };
    assert_eq!(cleaner("write_back_batch=512\n"), (8 << 20, 8));
    assert_eq!(cleaner("write_back_batch=1024\nbs=32k\n"), (32 << 20, 2));
    assert_eq!(cleaner("double_write=0\nwrite_back_batch=512\n"), (16384, 64));
    let noted = |options: &str| {
        notes(&section(
            "innodb",
            &format!("log_size=4m\nwrite_back_batch=512\ndirty_pages=600\ndouble_write_size=8m\n{options}"),
        ))
    };
    let want = "iodepth=64 needs more than 64MiB of buffers: the cleaner has 8 I/Os in flight, each with room for a batch of 512 pages";
    assert_eq!(noted("ioengine=libaio\niodepth=64\n"), [want]);
    assert!(noted("ioengine=libaio\niodepth=8\n").is_empty());
}

#[test]
fn sessions_may_read_and_write_by_themselves_while_pages_are_written_back_side_by_side() {
    let jobs = |options: &str| {
        let plan = small("innodb", &format!("write_back_batch=64\nioengine=libaio\nnumjobs=2\n{options}"));
        plan.jobs.iter().map(|job| (job.spec.engine, job.spec.depth.iodepth)).collect::<Vec<_>>()
    };
    let (psync, libaio) = ((EngineKind::Psync, 1), (EngineKind::Libaio, 64));
    assert_eq!(jobs("sync_sessions=1\n"), [psync, psync, libaio]);
    assert_eq!(jobs(""), [(EngineKind::Libaio, 1), (EngineKind::Libaio, 1), libaio]);
}

#[test]
fn the_whole_section_is_behind_its_stonewall_and_waited_for() {
    let text = "[global]\nruntime=1\nsize=1m\n[first]\nioengine=null\n[bank]\nstonewall\nworkload=etcd\nlog_size=1m\n[last]\nioengine=null\nwait_for=bank\n";
    let plan = plan_of(text).unwrap();
    let phases: Vec<_> = plan.sections.iter().map(|section| (section.phase, section.group)).collect();
    assert_eq!(phases, [(1, 0), (2, 1), (2, 1), (2, 2)]);
    assert_eq!(
        plan.jobs.iter().map(|job| job.spec.stonewall).collect::<Vec<_>>(),
        [false, true, false, false]
    );
    assert_eq!(plan.jobs[3].spec.life.wait_for, 1..3);
}

#[test]
fn what_would_make_jobs_begin_or_end_apart_is_refused() {
    let command = "workload=innodb decides when its jobs begin and end: none of them waits for a command";
    assert_eq!(refused("exec_prerun=true\n"), [command]);
    assert_eq!(refused("exec_postrun=true\n"), [command]);
    assert_eq!(refused("startdelay=1-3\n"), ["workload=innodb decides that its jobs begin together"]);
    let text = format!("[global]\nexec_prerun=true\nstartdelay=1-3\n{}", section("innodb", "log_size=4m\n"));
    let inherited = plan_of(&text).unwrap();
    assert_eq!(inherited.diagnostics.iter().filter(|note| note.code == "decided-by-workload").count(), 2);
    let apart = |spec: &JobSpec| spec.life.runs_commands() || !spec.limits.startdelay.1.is_zero();
    assert!(!inherited.jobs.iter().any(|job| apart(&job.spec)));
    let delay = Duration::from_secs(2);
    assert!(
        small("innodb", "startdelay=2\n").jobs.iter().all(|job| job.spec.limits.startdelay == (delay, delay))
    );
}

#[test]
fn loads_of_several_sections_have_numbers_of_their_own() {
    let text = "[global]\nworkload=etcd\nsize=1m\nlog_size=1m\nruntime=1\n[a]\n[b]\n";
    let plan = plan_of(text).unwrap();
    let ids: Vec<_> = plan.jobs.iter().map(|job| job.spec.events.as_ref().unwrap().load.id).collect();
    assert_eq!(ids, [0, 0, 1, 1]);
    assert_eq!(plan.jobs[2].spec.files[0].path.to_str(), Some("b.data"));
}

#[test]
fn what_the_model_decides_is_refused_in_the_section_and_left_out_of_globals() {
    let want = "workload=innodb decides what is read and written";
    assert_eq!(refused("rw=randread\n"), [want]);
    assert_eq!(refused("random_distribution=zoned:50/50:50/50\n"), [want]);
    assert_eq!(refused("fsync=1\n"), ["workload=innodb decides when it syncs"]);
    assert_eq!(refused("rate=1m\nloops=2\n").len(), 2);
    let text =
        format!("[global]\nrw=randread\nverify=crc32c\nloops=3\n{}", section("innodb", "log_size=4m\n"));
    let plan = plan_of(&text).unwrap();
    let said: Vec<_> = plan.diagnostics.iter().map(|note| (note.code, note.message.as_str())).collect();
    assert_eq!(
        said[0],
        (
            "decided-by-workload",
            "`rw`, which the job inherits, is ignored: workload=innodb decides what is read and written"
        )
    );
    assert_eq!(said.len(), 3);
    let spec = &plan.jobs[0].spec;
    assert_eq!((spec.verify.is_none(), spec.limits.loops), (true, 1));
}

#[test]
fn what_cannot_matter_is_noted() {
    let noted = notes(&section("innodb", "log_size=4m\nnorandommap\n"));
    assert_eq!(
        noted,
        ["option `norandommap` has no effect here: a database reads and writes pages again and again"]
    );
    assert!(
        notes(&section("innodb", "log_size=4m\nnumjobs=2\nthread\ngroup_reporting\ntime_based\n")).is_empty()
    );
    assert_eq!(
        notes(&section("innodb", "log_size=4m\nthread=0\ntime_based=0\n")),
        [
            "option `thread` has no effect here: the jobs of a database are threads of one process",
            "option `time_based` has no effect here: a database goes on until `transactions` or `runtime` end it"
        ]
    );
}

#[test]
fn options_of_databases_that_others_switch_off_are_noted() {
    let noted = |options: &str| notes(&section("innodb", &format!("log_size=4m\n{options}")));
    let note = |option: &str, reason: &str| vec![format!("option `{option}` has no effect here: {reason}")];
    assert_eq!(
        noted("pages_used=3\n"),
        note("pages_used", "it counts pages that may be in the pool of `buffer_pool`")
    );
    assert!(noted("pages_used=3\nbuffer_pool=1m\n").is_empty());
    let nothing = "pages_changed=0 leaves nothing to write back";
    assert_eq!(noted("pages_changed=0\nwrite_back_batch=4\n"), note("write_back_batch", nothing));
    assert!(noted("write_back_batch=4\n").is_empty());
    let twice = "pages_changed=0 leaves nothing to write twice";
    assert_eq!(noted("pages_changed=0\ndouble_write_size=4m\n"), note("double_write_size", twice));
    let whole = "pages_changed=0 leaves no changed page to append to the log";
    assert_eq!(noted("pages_changed=0\nfull_page_writes=1\n"), note("full_page_writes", whole));
    assert!(noted("pages_changed=0\nfull_page_writes=0\ndouble_write=0\n").is_empty());
    let area = "there is no double-write area with double_write=0";
    assert_eq!(noted("double_write=0\ndouble_write_size=4m\n"), note("double_write_size", area));
    assert_eq!(noted("double_write=0\ndouble_write_filename=x\n"), note("double_write_filename", area));
    assert!(noted("double_write_size=4m\ndouble_write_filename=x\n").is_empty());
    let commits = "commits do not sync the log with commit_sync=none";
    assert_eq!(noted("commit_sync=none\ngroup_commit=4\n"), note("group_commit", commits));
    let durable = "each write of the log is durable with commit_sync=dsync";
    assert_eq!(noted("commit_sync=dsync\ngroup_commit=4\n"), note("group_commit", durable));
    assert!(noted("group_commit=4\n").is_empty());
    assert_eq!(notes(&section("rocksdb", "size=1g\ngroup_commit=4\n")), note("group_commit", commits));
    let etcd = notes(&section("etcd", "log_size=4m\ndouble_write_size=4m\n"));
    assert_eq!(etcd, note("double_write_size", area));
}

#[test]
fn an_option_is_named_as_it_was_written() {
    let problem = &problems_of(&section("innodb", "log_size=4m\nblocksize_range=4k-8k\n"))[0];
    assert_eq!(problem.label, "remove `blocksize_range`");
    let text = format!("[global]\nreadwrite=read\n{}", section("innodb", "log_size=4m\n"));
    let noted = notes(&text);
    assert!(noted[0].starts_with("`readwrite`, which the job inherits, is ignored: "), "{noted:?}");
}

#[test]
fn options_of_databases_need_a_workload() {
    let want = "`page_reads` needs `workload`, which this job lacks";
    assert_eq!(refusals("[a]\nsize=1m\npage_reads=3\n"), [want]);
    assert_eq!(refusals("[global]\npage_reads=3\n[a]\nsize=1m\n"), [want]);
    let shared = format!(
        "[global]\npage_reads=3\n[a]\nioengine=null\nsize=1m\n{}",
        section("innodb", "log_size=4m\n")
    );
    assert!(plan_of(&shared).is_ok(), "one section has a workload");
}

#[test]
fn contradictions_are_refused() {
    for (options, want) in [
        ("log_size=2k\n", "log_size=2KiB has no room for an append of 4KiB"),
        (
            "write_back_batch=200\n",
            "double_write_size=2MiB has no room for a batch of 3200KiB (write_back_batch=200)",
        ),
        ("bs=1000\n", "direct I/O is in multiples of 512 bytes, and bs=1000 is none"),
        (
            "log_direct=1\nlog_block=1000\n",
            "log_direct=1 needs appends of a multiple of 512 bytes, and log_block=1000 is none",
        ),
        (
            "dirty_pages=14\nwrite_back_batch=16\n",
            "a batch of 16 never fills: transactions already wait when 15 pages are changed",
        ),
        ("buffer_pool=1m\npage_reads=4\n", "buffer_pool and page_reads both say what a transaction reads"),
        ("buffer_pool=1g\n", "buffer_pool=1GiB is more than the 64MiB of data: nothing would be read"),
        (
            "checkpoint_log=8m\n",
            "checkpoint_log=8MiB is more than log_size=4MiB: the log is full before the checkpoint",
        ),
        (
            "log_appends=600\n",
            "log_size=4MiB is less than twice the 2404KiB that a transaction and a checkpoint append: changes would be overwritten",
        ),
        ("log_appends=0\n", "log_appends=0 leaves a commit nothing to make durable"),
        ("bs=8k,16k\n", "bs gives reads 8KiB and writes 16KiB, but pages have one size"),
        ("ioengine=null\n", "ioengine=null cannot share the files of a database between jobs"),
        ("ioengine=mmap\n", "ioengine=mmap cannot share the files of a database between jobs"),
        ("table_size=1m\n", "workload=innodb has no `table_size`"),
        ("filename=x\nlog_filename=x\n", "log_filename (x) is the same file as filename (x)"),
        ("filename=x:y\nnrfiles=3\n", "filename gives 2 files, and nrfiles=3"),
        ("nrfiles=10000\n", "a data file has no room for a page of 16KiB"),
        ("runtime=0\n", "nothing ends the transactions of this job"),
    ] {
        assert_eq!(refused(options), [want], "{options}");
    }
    // The batch is full when they wait.
    small("innodb", "dirty_pages=15\nwrite_back_batch=16\n");
    let rocksdb = |options: &str| refusals(&section("rocksdb", &format!("log_size=192m\n{options}")));
    assert_eq!(
        rocksdb("size=256m\nlog_size=191m\n"),
        [
            "log_size=191MiB is less than the 3 tables of 64MiB that may wait: the log of the oldest would be lost"
        ]
    );
    for options in ["log_size=192m", "log_size=128m\nwaiting_tables=1"] {
        assert!(plan_of(&section("rocksdb", &format!("size=256m\n{options}\n"))).is_ok(), "{options}");
    }
    assert_eq!(rocksdb("size=128m\n"), ["size=128MiB has room for 2 tables, and merging needs at least 4"]);
    assert_eq!(rocksdb("size=32m\n"), ["size=32MiB has no room for a table of 64MiB (table_size)"]);
    assert_eq!(rocksdb("dirty_pages=9\n"), ["workload=rocksdb has no `dirty_pages`"]);
    assert_eq!(rocksdb("nrfiles=9\nsize=1g\n"), ["workload=rocksdb decides which files it has"]);
    assert_eq!(rocksdb("filename=x\nsize=1g\n"), ["workload=rocksdb names its files: each is a table"]);
}

#[test]
fn a_file_system_without_room_is_named_with_its_free_space() {
    let problem = &problems_of("[bank]\nworkload=innodb\nruntime=1\nsize=100000t\n")[0];
    assert_eq!(problem.code, "database-exceeds-free-space");
    assert!(
        problem.message.starts_with("the files of workload=innodb need 97.7PiB, and / has "),
        "{}",
        problem.message
    );
    assert!(problem.help.as_deref().is_some_and(|help| help.starts_with("set `size`")));
}

#[test]
fn files_that_exist_are_used_with_their_size() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data");
    std::fs::File::create(&path).unwrap().set_len((1 << 20) + 100).unwrap();
    let text = format!(
        "[bank]\nworkload=innodb\nruntime=1\ndirectory={}\nlog_size=1m\nfilename=data\n",
        dir.path().display()
    );
    let plan = plan_of(&text).unwrap();
    let spec = &plan.jobs[0].spec;
    assert_eq!((spec.files[0].size, spec.files[0].extend), (1 << 20, false));
    assert_eq!(database_of(spec).pages_per_file, 64);
}

#[test]
fn databases_at_the_same_time_have_files_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().display();
    let refused = |options: &str| {
        refusals(&format!(
            "[global]\ndirectory={at}\nsize=1m\nlog_size=1m\nruntime=1\n[a]\nworkload=innodb\n{options}"
        ))
    };
    let same = |one: &str, other: &str| vec![format!("{one} is the same file as {other}")];
    assert_eq!(
        refused("filename=x\nlog_filename=./x\n"),
        same(&format!("log_filename ({at}/./x)"), &format!("filename ({at}/x)"))
    );
    assert_eq!(
        refused("filename=x:new/./y\ndouble_write_filename=new/y\n"),
        same(&format!("double_write_filename ({at}/new/y)"), &format!("filename ({at}/new/./y)"))
    );
    std::os::unix::fs::symlink("a.data", dir.path().join("a.log")).unwrap();
    let log = format!("log_filename ({at}/a.log)");
    assert_eq!(refused(""), same(&log, &format!("filename ({at}/a.data)")));
    // Those of two databases.
    let beside = |file: &str| format!("{at}/{file}) of job a, which runs at the same time");
    for (other, option, file, of_first) in [
        ("log_filename=l", "log_filename", "l", "log_filename"),
        ("double_write_filename=d", "double_write_filename", "d", "double_write_filename"),
        ("log_filename=x", "log_filename", "x", "filename"),
        ("filename=x", "filename", "x", "filename"),
    ] {
        let first = "filename=x\nlog_filename=l\ndouble_write_filename=d\n";
        let second = |more: &str| format!("{first}[b]\nworkload=innodb\n{other}\n{more}");
        let want = format!("{option} ({at}/{file}) is the same file as {of_first} ({}", beside(file));
        assert_eq!(refused(&second("")), [want]);
        for later in ["stonewall\n", "wait_for=a\n"] {
            let text = format!(
                "[global]\ndirectory={at}\nsize=1m\nlog_size=1m\nruntime=1\n[a]\nworkload=innodb\n{}",
                second(later)
            );
            assert!(plan_of(&text).is_ok(), "{other} {later}");
        }
    }
}

#[test]
fn whole_pages_fit_the_blocks_of_a_log_that_is_written_directly() {
    let found = |options: &str| {
        let set = jobs_of(&section("postgres", &format!("bs=4k\nlog_direct=1\n{options}")));
        let mut findings = Findings::default();
        let jobs = super::with_presets(&set, &mut InertOptions::default(), &mut findings);
        let spec = resolve(&jobs[0], &MACHINE, &PlanOptions::default(), None, &mut findings).unwrap().spec;
        let mut database = super::resolve(&jobs[0], DatabaseModel::Postgres, &spec, &mut findings);
        database.pages_per_file = 1024;
        let files =
            DatabaseFiles { files: Vec::new(), direct_block: Some(512), log_direct_block: Some(8192) };
        super::check_files(&jobs[0], &database, &files, &mut findings);
        findings.into_problems().into_iter().map(|problem| problem.message).collect::<Vec<_>>()
    };
    let want = "direct I/O on the device of the log is in blocks of 8KiB, and bs=4096 of whole pages in it is no multiple of that";
    assert_eq!(found(""), [want]);
    assert!(found("full_page_writes=0\n").is_empty() && found("log_direct=0\n").is_empty());
    assert!(found("bs=8k\n").is_empty());
}
