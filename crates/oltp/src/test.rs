//! The eleven tests, and their options.

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OltpTest {
    /// `oltp_read_write`
    ReadWrite,
    /// `oltp_read_only`
    ReadOnly,
    /// `oltp_write_only`
    WriteOnly,
    /// `oltp_point_select`
    PointSelect,
    /// `oltp_update_index`
    UpdateIndex,
    /// `oltp_update_non_index`
    UpdateNonIndex,
    /// `oltp_insert`
    Insert,
    /// `oltp_delete`
    Delete,
    /// `select_random_points`
    RandomPoints,
    /// `select_random_ranges`
    RandomRanges,
    /// `bulk_insert`
    BulkInsert,
}

/// The options of the tests, with every value in range.
#[derive(Clone, Debug, PartialEq)]
pub struct OltpOptions {
    /// `--tables`, at least 1.
    pub tables: u32,
    /// `--table_size`
    pub table_size: u32,
    /// `--auto_inc`
    pub auto_inc: bool,
    /// `--secondary`
    pub secondary: bool,
    /// `--create_secondary`
    pub create_secondary: bool,
    /// `--mysql_storage_engine`
    pub storage_engine: String,
    /// `--point_selects`
    pub point_selects: u32,
    /// `--range_selects`
    pub range_selects: bool,
    /// `--range_size`
    pub range_size: u32,
    /// `--simple_ranges`
    pub simple_ranges: u32,
    /// `--sum_ranges`
    pub sum_ranges: u32,
    /// `--order_ranges`
    pub order_ranges: u32,
    /// `--distinct_ranges`
    pub distinct_ranges: u32,
    /// `--index_updates`
    pub index_updates: u32,
    /// `--non_index_updates`
    pub non_index_updates: u32,
    /// `--delete_inserts`
    pub delete_inserts: u32,
    /// `--skip_trx`
    pub skip_trx: bool,
    /// `--random_points`
    pub random_points: u32,
    /// `--number_of_ranges`
    pub number_of_ranges: u32,
    /// `--delta`
    pub delta: u32,
}

impl OltpTest {
    /// True if its statements are between BEGIN and COMMIT.
    #[must_use]
    pub const fn has_transactions(self) -> bool {
        matches!(self, OltpTest::ReadWrite | OltpTest::ReadOnly | OltpTest::WriteOnly)
    }
}
