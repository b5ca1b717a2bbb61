//! A connection to nothing (`--mysql-dry-run`).

use ferrio_sql::{Connection, Keep, Reply, ReplyKind, SqlError, StatementId, Value};

/// A connection on which every statement succeeds without being sent.
#[derive(Debug, Default)]
pub(crate) struct DryRun {
    statements: u32,
}

const NOTHING: Reply = Reply { kind: ReplyKind::Nothing, columns: Vec::new(), rows: Vec::new() };

impl Connection for DryRun {
    fn query(&mut self, _text: &str, _keep: Keep) -> Result<Reply, SqlError> {
        Ok(NOTHING)
    }

    fn prepare(&mut self, _text: &str) -> Result<StatementId, SqlError> {
        self.statements += 1;
        Ok(StatementId(self.statements - 1))
    }

    fn execute(&mut self, _: StatementId, _: &[Value<'_>], _: Keep) -> Result<Reply, SqlError> {
        Ok(NOTHING)
    }

    fn close(&mut self, _statement: StatementId) -> Result<(), SqlError> {
        Ok(())
    }

    fn reconnect(&mut self) -> Result<(), SqlError> {
        Ok(())
    }
}
