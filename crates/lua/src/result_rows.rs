//! Rows of a result that a script has not fetched yet.

use ferrio_sql::Row;
use mlua::{Lua, Table, UserData};

/// The rows that are left.
pub(crate) struct ResultRows(std::vec::IntoIter<Row>);

impl UserData for ResultRows {}

impl ResultRows {
    pub(crate) fn new(rows: Vec<Row>) -> Self {
        ResultRows(rows.into_iter())
    }

    /// The texts of the next row, with `nil` for `NULL`.
    pub(crate) fn fetch(&mut self, lua: &Lua) -> mlua::Result<Option<Table>> {
        let Some(row) = self.0.next() else { return Ok(None) };
        let columns = lua.create_table_with_capacity(row.len(), 0)?;
        for (index, column) in row.iter().enumerate() {
            if let Some(text) = column {
                columns.raw_set(index + 1, lua.create_string(text)?)?;
            }
        }
        Ok(Some(columns))
    }
}
