//! Jobs with a `workload`: what job files may say, and what several databases in one run have to do with each other. The I/Os of the models
//! are compared with their formulas.

use std::path::Path;

use ferrio_job::DatabaseModel;
use ferrio_jobfile::{Opt, OptionScope, preset_options, rows};
use serde_json::Value;

use crate::support::{TestDir, number};

/// The I/Os of a kind in the report on the database of a job, and their bytes.
fn ios(report: &Value, job: &str, kind: &str) -> (u64, u64) {
    let databases = report["ferrio"]["databases"].as_array().unwrap();
    let database = databases.iter().find(|database| database["jobname"] == job).unwrap();
    let of = |figure| number(database, &format!("/io/{kind}/{figure}"));
    (of("total_ios"), of("io_bytes"))
}

fn transactions(report: &Value, job: &str) -> u64 {
    let databases = report["ferrio"]["databases"].as_array().unwrap();
    number(databases.iter().find(|database| database["jobname"] == job).unwrap(), "/transactions")
}

#[test]
fn the_table_of_defaults_in_the_docs_is_that_of_the_catalogue() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/database.md");
    let docs = std::fs::read_to_string(path).unwrap();
    let own = rows().iter().filter(|row| row.scope == OptionScope::Database).map(|row| row.opt);
    let others = [Opt::Numjobs, Opt::Bs, Opt::Size, Opt::Direct];
    let shown: Vec<Opt> = own.chain(others).collect();
    for opt in preset_options().filter(|opt| !shown.contains(opt)) {
        // They are on for all models, and only thread and group_reporting are.
        assert!(matches!(opt, Opt::Thread | Opt::GroupReporting), "{opt:?}");
    }
    for opt in shown {
        let name = format!("| `{}` |", opt.row().name);
        let row = docs.lines().find(|line| line.starts_with(&name)).unwrap_or_else(|| panic!("{name}"));
        let cells: Vec<&str> = row.split('|').map(str::trim).skip(2).take(4).collect();
        let has_presets = preset_options().any(|other| other == opt);
        for (cell, model) in cells.iter().zip(DatabaseModel::ALL) {
            let without = if has_presets { "-" } else { "" };
            let lacks = *cell == "-" && opt.preset(*model).is_none();
            assert!(lacks || *cell == opt.preset(*model).unwrap_or(without), "{name} {model}: {cell}");
        }
    }
}

#[test]
fn a_number_of_transactions_does_what_the_formulas_say() {
    let dir = TestDir::new();
    let job = dir.job(
        "[bank]\nworkload=innodb\nsize=4m\nlog_size=1m\ncheckpoint_log=0\ntransactions=120\nnumjobs=3\npage_reads=2\nlog_appends=2\n\
         write_back_batch=4\nunlink=1\n",
    );
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    assert_eq!(transactions(&report, "bank"), 120);
    assert_eq!(ios(&report, "bank", "data_reads"), (240, 240 * 16384));
    assert_eq!(ios(&report, "bank", "log_writes"), (240, 240 * 4096));
    assert_eq!(ios(&report, "bank", "log_syncs").0, 120);
    assert_eq!(ios(&report, "bank", "double_writes"), (30, 120 * 16384));
    assert_eq!(ios(&report, "bank", "double_write_syncs").0, 30);
    assert_eq!(ios(&report, "bank", "data_writes"), (120, 120 * 16384));
    assert_eq!(ios(&report, "bank", "data_syncs").0, 30);
    assert_eq!(dir.files(), []);
}

#[test]
fn each_table_is_written_as_often_as_the_amplification_says() {
    let dir = TestDir::new();
    let job = dir.job(
        "[store]\nworkload=rocksdb\nsize=8m\nlog_size=4m\ntable_size=512k\nwrite_back_batch=16\nwrite_amplification=3\n\
         transactions=1100\nnumjobs=2\npage_reads=1\nunlink=1\n",
    );
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    // 1100 KiB of the log are two tables of eight blocks.
    assert_eq!(ios(&report, "store", "log_writes"), (1100, 1100 << 10));
    assert_eq!(ios(&report, "store", "data_writes"), (2 * 3 * 8, 2 * (3 << 19)));
    assert_eq!(ios(&report, "store", "merge_reads"), (2 * 2 * 8, 2 * (2 << 19)));
    assert_eq!(ios(&report, "store", "data_syncs").0, 2 * 3);
}

#[test]
fn two_databases_and_a_job_of_another_kind_run_beside_each_other() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nsize=4m\nlog_size=1m\nnumjobs=2\nrw=randwrite\n\
         [first]\nworkload=innodb\ntransactions=50\n\
         [second]\nnew_group\nworkload=etcd\ntransactions=80\n\
         [plain]\nnew_group\nioengine=null\nnumber_ios=70\n",
    );
    let run = dir.ferrio(&["--output-format=json", &job]).run().succeeded();
    let report = run.json();
    assert_eq!((transactions(&report, "first"), transactions(&report, "second")), (50, 80));
    assert_eq!(ios(&report, "first", "data_reads").0, 450);
    assert_eq!(ios(&report, "second", "data_reads").0, 0);
    assert_eq!(ios(&report, "second", "log_writes"), (80, 80 * 2300));
    let plain: Vec<_> =
        report["jobs"].as_array().unwrap().iter().filter(|job| job["jobname"] == "plain").collect();
    assert_eq!(plain.iter().map(|job| number(job, "/write/total_ios")).collect::<Vec<_>>(), [70, 70]);
    let left_out =
        "`rw`, which the job inherits, is ignored: workload=innodb decides what is read and written";
    assert!(run.stderr.contains(left_out), "{}", run.stderr);
}

#[test]
fn a_database_begins_after_its_stonewall_and_is_waited_for_as_a_whole() {
    let dir = TestDir::new();
    let job = dir.job(
        "[before]\nioengine=null\nsize=4k\nexec_postrun=touch before.done\n\
         [bank]\nstonewall\nworkload=postgres\nsize=4m\nlog_size=1m\ntransactions=40\nnumjobs=3\n\
         [after]\nwait_for=bank\nioengine=null\nsize=4k\nexec_prerun=test -e before.done && test -s bank.log\n",
    );
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    assert_eq!(transactions(&report, "bank"), 40);
}

#[test]
fn files_of_an_earlier_run_are_used_again() {
    let dir = TestDir::new();
    let text = "[bank]\nworkload=etcd\nsize=2m\nlog_size=1m\ntransactions=20\n";
    let job = dir.job(text);
    dir.ferrio(&[&job]).run().succeeded();
    let files = dir.files();
    assert!(files.contains(&("bank.data".to_owned(), 2 << 20)), "{files:?}");
    assert!(files.contains(&("bank.log".to_owned(), 1 << 20)), "{files:?}");
    let job = dir.job(&text.replace("size=2m\n", "filename=bank.data\n"));
    let check = dir.ferrio(&["check", "--output-format=json", &job]).run().succeeded().json();
    assert_eq!(number(&check, "/jobs/0/database/pages"), 512);
    assert_eq!(number(&check, "/totals/create_bytes"), 0);
    dir.ferrio(&[&job]).run().succeeded();
}

#[test]
fn a_program_that_is_called_fio_knows_no_option_of_databases() {
    let dir = TestDir::new();
    let own: Vec<&str> =
        rows().iter().filter(|row| row.scope == OptionScope::Database).map(|row| row.name).collect();
    let refused = |words: &[&str], first: &str| {
        let run = dir.ferrio(&[&["--as=fio"], words].concat()).run().ended_with(1);
        assert_eq!(run.stderr.lines().next(), Some(first));
        // It does not advise any of the others either.
        let advised = |option: &&&str| run.stderr.contains(&format!("did you mean `{option}`"));
        assert_eq!(own.iter().find(advised), None, "{}", run.stderr);
    };
    // Each of them, and one that is only misspelt.
    for option in own.iter().copied().chain(["worklaod"]) {
        let job = dir.job(&format!("[a]\nioengine=null\nsize=4k\n{option}=2\n"));
        refused(&[&job], &format!("Bad option <{option}=2>"));
        let argument = format!("--{option}=2");
        let message = format!("fio: unrecognized option '{argument}'");
        refused(&["--name=a", "--ioengine=null", &argument], &message);
    }
}

#[test]
fn help_explains_the_models_and_their_options() {
    let dir = TestDir::new();
    let help = |topic: &str| dir.ferrio(&["help", topic]).run().succeeded().stdout;
    let models = help("workload");
    for model in DatabaseModel::ALL {
        assert!(models.contains(&format!("\n  {model}")), "{models}");
    }
    assert!(help("page_reads").contains("default: 9 (innodb), 9 (postgres), 9 (rocksdb), 0 (etcd)"));
    // Lines are folded, also within what is to be typed.
    let sysbench = help("sysbench").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(sysbench.contains("`ferrio help workload`"), "{sysbench}");
}

#[test]
fn a_file_that_cannot_be_opened_is_reported_once() {
    let dir = TestDir::new();
    let words = [
        "--name=bank",
        "--workload=etcd",
        "--numjobs=8",
        "--size=1m",
        "--log_size=1m",
        "--transactions=1",
        "--directory=/sys",
    ];
    let run = dir.ferrio(&words).run().ended_with(9);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(said.matches("error=").count(), 1, "{said}");
}

#[test]
fn names_of_databases_lead_to_their_models() {
    let dir = TestDir::new();
    for (name, model) in
        [("mysql", "innodb"), ("MariaDB", "innodb"), ("postgresql", "postgres"), ("pg", "postgres")]
    {
        let workload = format!("--workload={name}");
        let run = dir.ferrio(&["--name=a", &workload]).run().ended_with(1);
        assert!(run.stderr.contains(&format!("did you mean `{model}`?")), "{}", run.stderr);
    }
    let run = dir.ferrio(&["--name=a", "--workload=innodb", "--group_commit=1.5"]).run().ended_with(1);
    assert!(!run.stderr.contains("fio reads"), "{}", run.stderr);
}
