//! Many rows in one statement.

use ferrio_sql::Keep;

use crate::connection::TestConnection;
use crate::failure::CallFailure;

/// Bytes of a statement at most, as in sysbench.
const MAX_STATEMENT: usize = 512 << 10;

/// Rows that are sent in statements of about half a megabyte.
#[derive(Debug)]
pub struct BulkInsert {
    /// The beginning of each statement, and its rows so far.
    text: String,
    /// Length of the beginning.
    head: usize,
}

impl BulkInsert {
    /// Rows for statements that begin like this (`INSERT INTO t VALUES`).
    #[must_use]
    pub fn new(head: &str) -> Self {
        let mut text = String::with_capacity(MAX_STATEMENT);
        text.push_str(head);
        BulkInsert { head: text.len(), text }
    }

    /// Adds a row, with its parentheses. The statement before it is sent if there is no room.
    ///
    /// # Errors
    /// The statement fails.
    pub fn add(&mut self, row: &str, connection: &mut TestConnection) -> Result<(), CallFailure> {
        if self.text.len() + row.len() + 1 >= MAX_STATEMENT {
            self.finish(connection)?;
        }
        if self.text.len() > self.head {
            self.text.push(',');
        }
        self.text.push_str(row);
        Ok(())
    }

    /// Sends the rows that are left.
    ///
    /// # Errors
    /// The statement fails.
    pub fn finish(&mut self, connection: &mut TestConnection) -> Result<(), CallFailure> {
        if self.text.len() == self.head {
            return Ok(());
        }
        let sent = connection.query(&self.text, Keep::Count);
        self.text.truncate(self.head);
        sent.map(drop)
    }
}
