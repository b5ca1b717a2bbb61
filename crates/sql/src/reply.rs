//! Answers to statements.

/// What to keep of the rows of an answer. All of them are read either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Only their number.
    Count,
    /// Their values as texts.
    Rows,
}

/// A row: the text of each column, `None` for `NULL`.
pub type Row = Vec<Option<Vec<u8>>>;

/// The answer to a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The kind of the answer.
    pub kind: ReplyKind,
    /// Names of the columns, if rows are kept.
    pub columns: Vec<String>,
    /// The rows, if they are kept.
    pub rows: Vec<Row>,
}

/// What a statement did, by its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    /// It returned rows, as many as these, or none.
    Rows(u64),
    /// It changed rows: as many as these, at least 1.
    Changed(u64),
    /// It did neither: `BEGIN`, or an `UPDATE` that met no row.
    Nothing,
}
