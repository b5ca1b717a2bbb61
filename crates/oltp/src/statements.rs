//! The statements of the tests, as texts with `?` for parameters.

use std::fmt::Write as _;

use ferrio_sql::Driver;

use crate::test::{OltpOptions, OltpTest};

/// A statement on one of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    PointSelect,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    IndexUpdate,
    NonIndexUpdate,
    Delete,
    Insert,
    /// Rows by some values of `k`, from the first table.
    RandomPoints,
    /// Rows in some ranges of `k`, from the first table.
    RandomRanges,
}

/// How many there are.
pub(crate) const STATEMENTS: usize = Statement::RandomRanges as usize + 1;

/// The ranges, in their order in a transaction, and their options.
pub(crate) fn ranges(options: &OltpOptions) -> [(Statement, u32); 4] {
    [
        (Statement::SimpleRange, options.simple_ranges),
        (Statement::SumRange, options.sum_ranges),
        (Statement::OrderRange, options.order_ranges),
        (Statement::DistinctRange, options.distinct_ranges),
    ]
}

impl Statement {
    /// Statements of a test that are prepared, in the order in which sysbench prepares them, those of a transaction apart: the ones
    /// before BEGIN and COMMIT, and the others.
    pub(crate) fn of_test(test: OltpTest, options: &OltpOptions) -> (Vec<Statement>, Vec<Statement>) {
        use Statement as S;
        let ranges = [S::SimpleRange, S::SumRange, S::OrderRange, S::DistinctRange];
        let ranges = if options.range_selects { &ranges[..] } else { &[] };
        let writes = [S::IndexUpdate, S::NonIndexUpdate, S::Delete, S::Insert];
        let all = |parts: &[&[Statement]]| parts.concat();
        match test {
            OltpTest::ReadWrite => (Vec::new(), all(&[&[S::PointSelect], ranges, &writes])),
            OltpTest::ReadOnly => (vec![S::PointSelect], ranges.to_vec()),
            OltpTest::WriteOnly => (Vec::new(), writes.to_vec()),
            OltpTest::PointSelect => (vec![S::PointSelect], Vec::new()),
            OltpTest::UpdateIndex => (vec![S::IndexUpdate], Vec::new()),
            OltpTest::UpdateNonIndex => (vec![S::NonIndexUpdate], Vec::new()),
            OltpTest::Delete => (vec![S::Delete], Vec::new()),
            OltpTest::RandomPoints => (vec![S::RandomPoints], Vec::new()),
            OltpTest::RandomRanges => (vec![S::RandomRanges], Vec::new()),
            // As sysbench sends them, these are always texts.
            OltpTest::Insert | OltpTest::BulkInsert => (Vec::new(), Vec::new()),
        }
    }

    /// True if it reads the first table, whatever the number of tables.
    pub(crate) const fn is_of_first_table(self) -> bool {
        matches!(self, Statement::RandomPoints | Statement::RandomRanges)
    }

    /// The text for a table, which counts from 1.
    pub(crate) fn text(self, table: u32, options: &OltpOptions) -> String {
        match self {
            Statement::PointSelect => format!("SELECT c FROM sbtest{table} WHERE id=?"),
            Statement::SimpleRange => format!("SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ?"),
            Statement::SumRange => format!("SELECT SUM(k) FROM sbtest{table} WHERE id BETWEEN ? AND ?"),
            Statement::OrderRange => {
                format!("SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            Statement::DistinctRange => {
                format!("SELECT DISTINCT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            Statement::IndexUpdate => format!("UPDATE sbtest{table} SET k=k+1 WHERE id=?"),
            Statement::NonIndexUpdate => format!("UPDATE sbtest{table} SET c=? WHERE id=?"),
            Statement::Delete => format!("DELETE FROM sbtest{table} WHERE id=?"),
            Statement::Insert => format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES (?, ?, ?, ?)"),
            Statement::RandomPoints => {
                let values = vec!["?"; options.random_points as usize].join(", ");
                format!(
                    "SELECT id, k, c, pad\n          FROM sbtest{table}\n          WHERE k IN ({values})\n        "
                )
            }
            Statement::RandomRanges => {
                let ranges = vec!["k BETWEEN ? AND ?"; options.number_of_ranges as usize].join(" OR ");
                format!("SELECT count(k)\n          FROM sbtest{table}\n          WHERE {ranges}")
            }
        }
    }
}

/// Creates a table.
pub(crate) fn create_table(driver: Driver, table: u32, options: &OltpOptions) -> String {
    let (id, engine) = match (driver, options.auto_inc) {
        (Driver::Mysql, true) => ("INTEGER NOT NULL AUTO_INCREMENT", true),
        (Driver::Mysql, false) => ("INTEGER NOT NULL", true),
        (Driver::Pgsql, true) => ("SERIAL", false),
        (Driver::Pgsql, false) => ("INTEGER NOT NULL", false),
    };
    let engine = if engine { format!("/*! ENGINE = {} */", options.storage_engine) } else { String::new() };
    let key = if options.secondary { "KEY xid (id)" } else { "PRIMARY KEY (id)" };
    format!(
        "CREATE TABLE sbtest{table}(\n  id {id},\n  k INTEGER DEFAULT '0' NOT NULL,\n  c CHAR(120) DEFAULT '' NOT NULL,\n  \
         pad CHAR(60) DEFAULT '' NOT NULL,\n  {key}\n) {engine} "
    )
}

/// Creates a table of the test `bulk_insert`.
pub(crate) fn create_bulk_table(table: u32) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS sbtest{table} (\n          id INTEGER NOT NULL,\n          k INTEGER DEFAULT '0' NOT NULL,\n          \
         PRIMARY KEY (id))"
    )
}

/// The beginning of a statement that fills a table.
pub(crate) fn insert_rows(table: u32, options: &OltpOptions) -> String {
    let columns = if options.auto_inc { "k, c, pad" } else { "id, k, c, pad" };
    format!("INSERT INTO sbtest{table}({columns}) VALUES")
}

/// Appends a number.
pub(crate) fn push_number(text: &mut String, number: i64) {
    // Writing to a string does not fail.
    let _ = write!(text, "{number}");
}

/// Appends a text in quotes. It has nothing to escape.
pub(crate) fn push_quoted(text: &mut String, ascii: &[u8]) {
    text.push('\'');
    text.extend(ascii.iter().map(|&byte| char::from(byte)));
    text.push('\'');
}
