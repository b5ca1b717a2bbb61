//! The statements of a session, prepared or as text.

use std::fmt::Write as _;

use ferrio_sql::{Keep, StatementId, Value};

use crate::connection::TestConnection;
use crate::failure::CallFailure;
use crate::statements::{STATEMENTS, Statement, push_number, push_quoted};
use crate::test::{OltpOptions, OltpTest};

/// Sends the statements of a test.
pub(crate) struct Sender {
    pub(crate) connection: TestConnection,
    prepared: Option<Prepared>,
    /// Texts of the statements if they are not prepared, by statement.
    texts: Vec<Vec<String>>,
    /// The text of the current statement.
    text: String,
    is_in_transaction: bool,
}

/// What the server has prepared.
struct Prepared {
    /// BEGIN and COMMIT, of tests with transactions.
    transaction: Option<[StatementId; 2]>,
    /// By statement, for each table.
    statements: [Vec<StatementId>; STATEMENTS],
}

impl Sender {
    /// Prepares all statements of a test.
    pub(crate) fn new(
        mut connection: TestConnection,
        test: OltpTest,
        options: &OltpOptions,
    ) -> Result<Self, CallFailure> {
        let prepared = if connection.options().prepares {
            Some(Prepared::new(&mut connection, test, options)?)
        } else {
            None
        };
        let mut texts = vec![Vec::new(); STATEMENTS];
        if prepared.is_none() {
            let (first, others) = Statement::of_test(test, options);
            for statement in first.into_iter().chain(others) {
                texts[statement as usize] =
                    tables_of(statement, options).map(|table| statement.text(table, options)).collect();
            }
        }
        Ok(Sender { connection, prepared, texts, text: String::new(), is_in_transaction: false })
    }

    /// Prepares all statements again on a connection that is new.
    pub(crate) fn prepare_again(&mut self, test: OltpTest, options: &OltpOptions) -> Result<(), CallFailure> {
        if self.prepared.is_some() {
            self.prepared = Some(Prepared::new(&mut self.connection, test, options)?);
        }
        Ok(())
    }

    /// Executes a statement for a table, which counts from 1.
    #[inline]
    pub(crate) fn send(
        &mut self,
        statement: Statement,
        table: u32,
        values: &[Value<'_>],
    ) -> Result<(), CallFailure> {
        let at = table as usize - 1;
        if let Some(prepared) = &self.prepared {
            let id = prepared.statements[statement as usize][at];
            return self.connection.execute(id, values, Keep::Count).map(drop);
        }
        self.text.clear();
        fill(&self.texts[statement as usize][at], values, &mut self.text);
        self.connection.query(&self.text, Keep::Count).map(drop)
    }

    /// Sends a text.
    pub(crate) fn send_text(&mut self, text: &str) -> Result<(), CallFailure> {
        self.connection.query(text, Keep::Count).map(drop)
    }

    /// Begins a transaction.
    pub(crate) fn begin(&mut self) -> Result<(), CallFailure> {
        self.transaction(0, "BEGIN")?;
        self.is_in_transaction = true;
        Ok(())
    }

    /// Commits it.
    pub(crate) fn commit(&mut self) -> Result<(), CallFailure> {
        self.transaction(1, "COMMIT")?;
        self.is_in_transaction = false;
        Ok(())
    }

    fn transaction(&mut self, at: usize, text: &str) -> Result<(), CallFailure> {
        match self.prepared.as_ref().and_then(|prepared| prepared.transaction) {
            Some(statements) => self.connection.execute(statements[at], &[], Keep::Count).map(drop),
            None => self.send_text(text),
        }
    }

    /// Leaves no transaction open after an ignored error. `is_ended` says that the server has ended it.
    pub(crate) fn abandon(&mut self, is_ended: bool) {
        if std::mem::take(&mut self.is_in_transaction) && !is_ended {
            self.connection.roll_back();
        }
    }
}

impl Prepared {
    fn new(
        connection: &mut TestConnection,
        test: OltpTest,
        options: &OltpOptions,
    ) -> Result<Self, CallFailure> {
        let mut statements = [const { Vec::new() }; STATEMENTS];
        let mut prepare = |connection: &mut TestConnection, all: Vec<Statement>| {
            for statement in all {
                for table in tables_of(statement, options) {
                    let id = connection.prepare(&statement.text(table, options))?;
                    statements[statement as usize].push(id);
                }
            }
            Ok(())
        };
        let (first, others) = Statement::of_test(test, options);
        prepare(connection, first)?;
        let transaction = if has_transactions(test, options) {
            Some([connection.prepare("BEGIN")?, connection.prepare("COMMIT")?])
        } else {
            None
        };
        prepare(connection, others)?;
        Ok(Prepared { transaction, statements })
    }
}

/// How many statements a connection prepares.
pub(crate) fn prepared_count(test: OltpTest, options: &OltpOptions) -> u64 {
    let (first, others) = Statement::of_test(test, options);
    let statements = first.into_iter().chain(others);
    let of_tables: u64 = statements.map(|statement| u64::from(*tables_of(statement, options).end())).sum();
    of_tables + if has_transactions(test, options) { 2 } else { 0 }
}

/// True if statements are between BEGIN and COMMIT.
fn has_transactions(test: OltpTest, options: &OltpOptions) -> bool {
    test.has_transactions() && !options.skip_trx
}

/// The tables that a statement has a text for.
fn tables_of(statement: Statement, options: &OltpOptions) -> std::ops::RangeInclusive<u32> {
    1..=if statement.is_of_first_table() { 1 } else { options.tables }
}

/// Puts the values into the places of a text.
fn fill(template: &str, values: &[Value<'_>], text: &mut String) {
    let mut values = values.iter();
    for (at, part) in template.split('?').enumerate() {
        if at > 0 {
            match values.next() {
                Some(Value::Int(number)) => push_number(text, *number),
                Some(Value::Double(number)) => {
                    // Writing to a string does not fail.
                    let _ = write!(text, "{number}");
                }
                Some(Value::Text(ascii)) => push_quoted(text, ascii),
                Some(Value::Null) | None => text.push_str("NULL"),
            }
        }
        text.push_str(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_places_of_a_text() {
        let mut text = String::new();
        fill("UPDATE t SET c=? WHERE id=?", &[Value::Text(b"12-34"), Value::Int(7)], &mut text);
        assert_eq!(text, "UPDATE t SET c='12-34' WHERE id=7");
        text.clear();
        fill("SELECT ?, ?", &[Value::Double(1.5)], &mut text);
        assert_eq!(text, "SELECT 1.5, NULL");
    }
}
