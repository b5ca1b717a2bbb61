//! The texts of `--help`, and of `ferrio help` about sysbench, its tests and their options.

use crate::options::{GENERAL, SysbenchOptionRow, list};
use crate::{TESTS, Test};

/// The answer of `ferrio help sysbench`.
pub const ABOUT: &str = "\
Takes the command line of sysbench 1.0.20, does what it does, and prints what it
prints. Called `sysbench`, for instance through a link of that name, ferrio does
the same without the word.

  ferrio sysbench fileio --file-total-size=4G prepare
  ferrio sysbench fileio --file-total-size=4G --file-test-mode=rndrw run
  ferrio sysbench fileio --file-total-size=4G cleanup
  ferrio sysbench cpu --threads=4 run

The tests are fileio, cpu, memory, threads and mutex. `ferrio sysbench --help`
lists the general options, `ferrio sysbench fileio help` those of a test.
Scripts (Lua) and databases (oltp_read_write and others) are refused: for the I/O
of a database use a job file with the option workload (`ferrio help workload`).
`ferrio help fileio` and `ferrio help file-test-mode` explain a test and an
option.

Options that sysbench does not have:

  --output-format=json         print the figures as a document, with more percentiles
  --show-job                   print a job file with the same load; run nothing

docs/sysbench.md says what differs from sysbench.
";

/// The alternative to scripts and tests of databases.
pub const INSTEAD_OF_DATABASES: &str = "\
ferrio runs no Lua scripts and connects to no database. To measure a disk under the I/O of a database, run a job with \
workload=innodb, for example `ferrio --name=db --workload=innodb --size=10g --runtime=60`; see `ferrio help workload`";

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

/// The options of all tests and those of each, with a heading for each list.
pub fn option_lists() -> impl Iterator<Item = (String, Vec<&'static SysbenchOptionRow>)> {
    let general = GENERAL.iter().flat_map(|group| group.options).map(|option| option.row()).collect();
    let of_test = |test: &'static Test| {
        (
            format!("Options of the test {}", test.name),
            test.options.iter().map(|option| option.row()).collect(),
        )
    };
    std::iter::once(("Options of all tests".to_owned(), general)).chain(TESTS.iter().map(of_test))
}

/// The answer of `ferrio help` about a test.
pub fn on_test(name: &str) -> Option<String> {
    let Test { about, options, .. } = TESTS.iter().find(|test| test.name == name)?;
    let commands = super::commands_of(name).join(", ");
    Some(format!(
        "{name}: a test of sysbench (`ferrio sysbench {name}`): {about}\n\n  Commands: {commands}\n\n{}\n\
         `ferrio sysbench --help` lists the options of all tests.\n",
        list(options)
    ))
}

/// An option by its name, in which dashes and underscores are the same: a heading and a paragraph.
pub fn on_option(name: &str) -> Option<[String; 2]> {
    let name = name.replace('_', "-");
    let (option, test) = options().find(|(option, _)| option.name == name)?;
    let owner = test.map_or("sysbench".to_owned(), |test| format!("sysbench's test {}", test.name));
    let default = option.default.filter(|default| !default.is_empty());
    let default = default.map_or("no default".to_owned(), |default| format!("default: {default}"));
    Some([
        format!("{}: an option of {owner}", option.synopsis()),
        format!("{} ({default})", option.full_help()),
    ])
}

/// A test of databases, which is missing: a heading and a paragraph.
pub fn on_database(name: &str) -> Option<[String; 2]> {
    let answer = || {
        [format!("{name}: a test of sysbench that ferrio does not have"), format!("{INSTEAD_OF_DATABASES}.")]
    };
    super::is_of_databases(name).then(answer)
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
