//! The options of databases and of their tests: what they mean, and what is refused.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use ferrio_oltp::{DatabaseOptions, Distribution, Driver, IgnoredErrors, OltpOptions, RandomOptions};
use ferrio_sql::Address;

use crate::command_line::SysbenchCommandLine;
use crate::general::GeneralOptions;
use crate::log::{Log, Refusal};
use crate::options::SysbenchOption;

/// Reads the options of the database.
///
/// # Errors
/// A value makes no sense.
pub fn database(line: &SysbenchCommandLine, log: &Log) -> Result<DatabaseOptions, Refusal> {
    let name = line.text(SysbenchOption::DbDriver).unwrap_or_default();
    let driver =
        Driver::of(name).ok_or_else(|| log.refuse(&format!("invalid database driver name: '{name}'")))?;
    let prepares = line.word(SysbenchOption::DbPsMode, &[("auto", true), ("disable", false)], log)?;
    let debug = line.flag(SysbenchOption::DbDebug);
    let text = |option| line.text(option).unwrap_or_default().to_owned();
    match driver {
        Driver::Mysql => Ok(DatabaseOptions {
            driver,
            prepares,
            debug,
            addresses: mysql_addresses(line, log)?,
            user: text(SysbenchOption::MysqlUser),
            password: text(SysbenchOption::MysqlPassword),
            database: text(SysbenchOption::MysqlDb),
            tls: line.flag(SysbenchOption::MysqlSsl),
            compression: line.flag(SysbenchOption::MysqlCompression),
            ignored: ignored_errors(line, log)?,
            dry_run: line.flag(SysbenchOption::MysqlDryRun),
        }),
        Driver::Pgsql => {
            let option = SysbenchOption::PgsqlPort;
            let port = line.text(option).unwrap_or_default();
            let port = port.parse().map_err(|_| wrong(option, port, log))?;
            let host = line.text(SysbenchOption::PgsqlHost).unwrap_or("localhost");
            Ok(DatabaseOptions {
                driver,
                prepares,
                debug,
                addresses: vec![driver.address(host, port, None)],
                user: text(SysbenchOption::PgsqlUser),
                password: text(SysbenchOption::PgsqlPassword),
                database: text(SysbenchOption::PgsqlDb),
                tls: false,
                compression: false,
                ignored: IgnoredErrors::Numbers(Vec::new()),
                dry_run: false,
            })
        }
    }
}

/// Where the servers of MySQL are.
fn mysql_addresses(line: &SysbenchCommandLine, log: &Log) -> Result<Vec<Address>, Refusal> {
    let sockets = line.list(SysbenchOption::MysqlSocket);
    if !sockets.is_empty() {
        return Ok(sockets.into_iter().map(|path| Address::Socket(PathBuf::from(path))).collect());
    }
    let option = SysbenchOption::MysqlPort;
    let port = |text: &&str| text.parse::<u16>().map_err(|_| wrong(option, text, log));
    let mut ports = line.list(option).iter().map(port).collect::<Result<Vec<_>, _>>()?;
    if ports.is_empty() {
        ports.push(3306);
    }
    let mut hosts = line.list(SysbenchOption::MysqlHost);
    if hosts.is_empty() {
        hosts.push("localhost");
    }
    Ok(DatabaseOptions::addresses_of(Driver::Mysql, &hosts, &ports))
}

/// Reads `--mysql-ignore-errors`.
fn ignored_errors(line: &SysbenchCommandLine, log: &Log) -> Result<IgnoredErrors, Refusal> {
    let option = SysbenchOption::MysqlIgnoreErrors;
    let words = line.list(option);
    if words.contains(&"all") {
        return Ok(IgnoredErrors::All);
    }
    let number = |word: &str| word.parse().map_err(|_| wrong(option, word, log));
    words.into_iter().map(number).collect::<Result<_, _>>().map(IgnoredErrors::Numbers)
}

fn wrong(option: SysbenchOption, value: &str, log: &Log) -> Refusal {
    log.refuse(&format!("Invalid value for {}: {value}", option.row().name))
}

/// Reads the options of random numbers, whose words and numbers have been checked.
pub fn random(line: &SysbenchCommandLine, general: &GeneralOptions) -> RandomOptions {
    let count = |option| u32::try_from(line.number(option)).unwrap_or(0);
    RandomOptions {
        distribution: match line.text(SysbenchOption::RandType) {
            Some("uniform") => Distribution::Uniform,
            Some("gaussian") => Distribution::Gaussian,
            Some("pareto") => Distribution::Pareto,
            Some("zipfian") => Distribution::Zipfian,
            _ => Distribution::Special,
        },
        iterations: count(SysbenchOption::RandSpecIter),
        special_percent: count(SysbenchOption::RandSpecPct),
        special_share: count(SysbenchOption::RandSpecRes),
        pareto_h: line.decimal(SysbenchOption::RandParetoH),
        zipfian_exponent: line.decimal(SysbenchOption::RandZipfianExp),
        seed: general.seed.map_or_else(clock, i32::cast_unsigned),
    }
}

/// A seed that is another one in each run.
fn clock() -> u32 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(1, |since| since.subsec_nanos() ^ since.as_secs() as u32)
}

/// Reads the options of tests of tables.
///
/// # Errors
/// A value makes no sense.
pub fn oltp(line: &SysbenchCommandLine, log: &Log) -> Result<OltpOptions, Refusal> {
    let count = |option| line.at_least(option, 0, log);
    let redshift = match line.text(SysbenchOption::PgsqlVariant) {
        None => false,
        Some("redshift") => true,
        Some(other) => return Err(wrong(SysbenchOption::PgsqlVariant, other, log)),
    };
    Ok(OltpOptions {
        tables: line.at_least(SysbenchOption::Tables, 1, log)?,
        table_size: count(SysbenchOption::TableSize)?,
        auto_inc: line.flag(SysbenchOption::AutoInc),
        secondary: line.flag(SysbenchOption::Secondary),
        create_secondary: line.flag(SysbenchOption::CreateSecondary) && !redshift,
        storage_engine: line.text(SysbenchOption::MysqlStorageEngine).unwrap_or_default().to_owned(),
        point_selects: count(SysbenchOption::PointSelects)?,
        range_selects: line.flag(SysbenchOption::RangeSelects),
        range_size: count(SysbenchOption::RangeSize)?,
        simple_ranges: count(SysbenchOption::SimpleRanges)?,
        sum_ranges: count(SysbenchOption::SumRanges)?,
        order_ranges: count(SysbenchOption::OrderRanges)?,
        distinct_ranges: count(SysbenchOption::DistinctRanges)?,
        index_updates: count(SysbenchOption::IndexUpdates)?,
        non_index_updates: count(SysbenchOption::NonIndexUpdates)?,
        delete_inserts: if redshift { 0 } else { count(SysbenchOption::DeleteInserts)? },
        skip_trx: line.flag(SysbenchOption::SkipTrx),
        random_points: line.at_least(SysbenchOption::RandomPoints, 1, log)?,
        number_of_ranges: line.at_least(SysbenchOption::NumberOfRanges, 1, log)?,
        delta: count(SysbenchOption::Delta)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::testing;
    use crate::options::{OLTP, SELECT_RANDOM_POINTS};

    fn read<T>(
        text: &str,
        read: fn(&SysbenchCommandLine, &Log) -> Result<T, Refusal>,
    ) -> (Option<T>, String) {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let (log, out, mistakes) = testing::log();
        let line = SysbenchCommandLine::read(&words, &log).unwrap();
        line.check_options(SELECT_RANDOM_POINTS, &log).unwrap();
        let value = read(&line, &log).ok();
        assert_eq!(mistakes.text(), "");
        (value, out.text())
    }

    #[test]
    fn hosts_ports_and_sockets_are_addresses() {
        let addresses = |text: &str| read(text, database).0.unwrap().addresses;
        let tcp = |host: &str, port| Address::Tcp { host: host.to_owned(), port };
        assert_eq!(
            addresses("--mysql-host=a,b --mysql-port=1,2"),
            [tcp("a", 1), tcp("a", 2), tcp("b", 1), tcp("b", 2)]
        );
        assert_eq!(addresses("--mysql_host=a"), [tcp("a", 3306)]);
        assert_eq!(
            addresses("--mysql-socket=/x,/y --mysql-host=a"),
            [Address::Socket("/x".into()), Address::Socket("/y".into())]
        );
        assert_eq!(addresses("--db-driver=pgsql --pgsql-host=b --pgsql-port=7"), [tcp("b", 7)]);
    }

    #[test]
    fn options_of_databases_have_the_defaults_of_sysbench() {
        let options = read("", database).0.unwrap();
        assert_eq!(
            (options.user.as_str(), options.database.as_str(), options.prepares),
            ("sbtest", "sbtest", true)
        );
        assert_eq!(options.ignored, IgnoredErrors::Numbers(vec![1213, 1020, 1205]));
        let all = read("--mysql-ignore-errors=all --db-ps-mode=disable", database).0.unwrap();
        assert_eq!((all.ignored, all.prepares), (IgnoredErrors::All, false));
    }

    #[test]
    fn dashes_and_underscores_are_the_same() {
        let options = read("--table-size=7 --skip-trx --index_updates=3 --auto-inc=off", oltp).0.unwrap();
        assert_eq!(
            (options.table_size, options.skip_trx, options.index_updates, options.auto_inc),
            (7, true, 3, false)
        );
        assert_eq!(options.range_size, 100);
        let redshift = read("--pgsql_variant=redshift", oltp).0.unwrap();
        assert_eq!((redshift.create_secondary, redshift.delete_inserts), (false, 0));
        assert!(OLTP.iter().all(|option| !option.row().name.contains('-')));
    }

    #[test]
    fn values_without_sense_are_refused() {
        for (option, message) in [
            ("--db-driver=foo", "invalid database driver name: 'foo'"),
            ("--db-ps-mode=foo", "Invalid value for db-ps-mode: foo"),
            ("--mysql-port=99999", "Invalid value for mysql-port: 99999"),
            ("--mysql-ignore-errors=1213,foo", "Invalid value for mysql-ignore-errors: foo"),
        ] {
            let (read, out) = read(option, database);
            assert_eq!((read, out), (None, format!("FATAL: {message}\n")), "{option}");
        }
        for (option, message) in [
            ("--tables=0", "Invalid value of tables: 0."),
            ("--table_size=-1", "Invalid value of table_size: -1."),
            ("--random-points=0", "Invalid value of random_points: 0."),
            ("--pgsql_variant=foo", "Invalid value for pgsql_variant: foo"),
        ] {
            let (read, out) = read(option, oltp);
            assert_eq!((read, out), (None, format!("FATAL: {message}\n")), "{option}");
        }
    }
}
