//! The texts of `--help`, and of `ferrio help` about sysbench, its tests and their options.

use ferrio_oltp::OltpTest;

use crate::options::{GENERAL, OLTP, SysbenchOption, SysbenchOptionRow, list};
use crate::{RunCommand, TESTS, Test};

/// The answer of `ferrio help sysbench`.
pub const ABOUT: &str = "\
Takes the command line of sysbench 1.0.20, does what it does, and prints what it
prints. Called `sysbench`, for instance through a link of that name, ferrio does
the same without the word.

  ferrio sysbench fileio --file-total-size=4G prepare
  ferrio sysbench fileio --file-total-size=4G --file-test-mode=rndrw run
  ferrio sysbench fileio --file-total-size=4G cleanup
  ferrio sysbench cpu --threads=4 run

The tests are fileio, cpu, memory, threads and mutex, and those of databases:
oltp_read_write, oltp_read_only, oltp_write_only, oltp_point_select,
oltp_update_index, oltp_update_non_index, oltp_insert, oltp_delete,
select_random_points, select_random_ranges and bulk_insert, on MySQL, MariaDB or
PostgreSQL:

  ferrio sysbench oltp_read_write --mysql-host=db --tables=10 --threads=8 prepare
  ferrio sysbench oltp_read_write --mysql-host=db --tables=10 --threads=8 run

`ferrio sysbench --help` lists the general options, `ferrio sysbench fileio help`
those of a test. The path of a script in Lua may stand in place of a test:

  ferrio sysbench tpcc.lua --mysql-host=db --threads=8 --tables=1 --scale=10 run

Scripts need a build with `cargo install --features lua`. To measure a disk under
the I/O of a database without a server, use a job file with the option workload
(`ferrio help workload`). `ferrio help fileio` and `ferrio help file-test-mode`
explain a test and an option.

Options that sysbench does not have:

  --output-format=json         print the figures as a document, with more percentiles
  --show-job                   print a job file with the same load; run nothing

docs/sysbench.md says what differs from sysbench.
";

/// How to get a build that runs scripts.
pub const SCRIPTS_NEED: &str = "\
scripts in Lua need a build with the feature lua, for example `cargo install ferrio --features lua`. The tests of databases are built in \
(`ferrio sysbench oltp_read_write help`)";

/// The names of all tests and options.
pub fn names() -> impl Iterator<Item = &'static str> {
    let tests = TESTS.iter().map(|test| test.name);
    tests.chain(options().map(|(option, _)| option.name))
}

/// All options, and the test that each belongs to, if it is not for all.
fn options() -> impl Iterator<Item = (&'static SysbenchOptionRow, Option<&'static Test>)> {
    let general = GENERAL.iter().flat_map(|group| group.options).map(|option| (option.row(), None));
    general.chain(
        TESTS.iter().flat_map(|test| test.options.iter().map(move |option| (option.row(), Some(test)))),
    )
}

/// The options of all tests and those of each, with a heading for each list. Tests of tables share theirs.
pub fn option_lists() -> impl Iterator<Item = (String, Vec<&'static SysbenchOptionRow>)> {
    let rows = |options: &mut dyn Iterator<Item = &'static SysbenchOption>| {
        options.map(|option| option.row()).collect()
    };
    let general = rows(&mut GENERAL.iter().flat_map(|group| group.options));
    let of_test = move |test: &'static Test| {
        let heading = format!("Options of the test {}", test.name);
        match test.run {
            RunCommand::Sql(_) if test.options.len() > OLTP.len() => {
                let own = &mut test.options.iter().filter(|option| !OLTP.contains(option));
                (format!("{heading}, beside those of oltp_read_write"), rows(own))
            }
            RunCommand::Sql(_) => {
                let heading = "Options of the tests oltp_read_write and others of tables";
                (heading.to_owned(), rows(&mut test.options.iter()))
            }
            _ => (heading, rows(&mut test.options.iter())),
        }
    };
    let is_listed = |test: &&Test| match test.run {
        RunCommand::Sql(OltpTest::ReadWrite) => true,
        RunCommand::Sql(_) => test.options.len() > OLTP.len(),
        _ => true,
    };
    let of_tests = TESTS.iter().filter(is_listed).map(of_test);
    std::iter::once(("Options of all tests".to_owned(), general)).chain(of_tests)
}

/// The answer of `ferrio help` about a test.
pub fn on_test(name: &str) -> Option<String> {
    let test = TESTS.iter().find(|test| test.name == name)?;
    let Test { about, options, .. } = test;
    let commands = super::commands_of(test).join(", ");
    Some(format!(
        "{name}: a test of sysbench (`ferrio sysbench {name}`): {about}\n\n  Commands: {commands}\n\n{}\n\
         `ferrio sysbench --help` lists the options of all tests.\n",
        list(options)
    ))
}

/// An option by its name, in which dashes and underscores are the same: a heading and a paragraph.
pub fn on_option(name: &str) -> Option<[String; 2]> {
    let (option, test) = options().find(|(option, _)| option.is_named(name))?;
    let owner = test.map_or("sysbench".to_owned(), |test| format!("sysbench's test {}", test.name));
    let default = option.default.filter(|default| !default.is_empty());
    let default = default.map_or("no default".to_owned(), |default| format!("default: {default}"));
    Some([
        format!("{}: an option of {owner}", option.synopsis()),
        format!("{} ({default})", option.full_help()),
    ])
}

/// A load on a database that is none of the tests: a heading and a paragraph.
pub fn on_database(name: &str) -> Option<[String; 2]> {
    super::is_of_databases(name).then(|| {
        let tests = TESTS.iter().filter(|test| matches!(test.run, RunCommand::Sql(_)));
        let tests: Vec<&str> = tests.map(|test| test.name).collect();
        [
            format!("{name}: not a test of sysbench 1.0"),
            format!(
                "Its tests of databases are {}. `ferrio help oltp_read_write` explains one. For other loads: {SCRIPTS_NEED}. `ferrio help workload` explains jobs with the I/O of a database that is not there.",
                tests.join(", ")
            ),
        ]
    })
}

/// The text of `--help`.
pub fn general() -> String {
    let mut text = "Usage:\n  sysbench [options]... [testname] [command]\n\n\
                    Commands implemented by most tests: prepare run cleanup help\n\n"
        .to_owned();
    for group in GENERAL {
        if !group.title.is_empty() {
            text.push_str(group.title);
            text.push('\n');
        }
        text.push_str(&list(group.options));
        text.push('\n');
    }
    text.push_str("Compiled-in tests:\n");
    for test in TESTS {
        text.push_str(&format!("  {} - {}\n", test.name, test.about));
    }
    text.push_str("\nSee 'sysbench <testname> help' for a list of options for each test.\n\n");
    text
}
