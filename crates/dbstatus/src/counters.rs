//! The increase of counters between two snapshots, or since the start of the server where there is only one.

use std::time::Duration;

use crate::error::StatusError;
use crate::snapshot::Snapshot;

/// One or two snapshots of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counters<'a> {
    pub(crate) before: Option<&'a Snapshot>,
    pub(crate) after: &'a Snapshot,
    /// What prints the counters.
    pub(crate) query: &'static str,
}

impl<'a> Counters<'a> {
    /// A variable, or a counter at the end.
    pub(crate) fn value(&self, name: &str) -> Option<&'a str> {
        self.after.value(name).or_else(|| self.before?.value(name))
    }

    /// True for a variable that is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.value(name)
            .is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "on" | "1" | "yes" | "true"))
    }

    /// A variable that is a number, if it is there.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, StatusError> {
        self.value(name).map(|value| whole(name, value)).transpose()
    }

    /// A variable that must be there and be a number.
    pub(crate) fn needed_number(&self, name: &str) -> Result<u64, StatusError> {
        self.number(name)?.ok_or_else(|| self.missing(name))
    }

    /// The increase of a counter, if it is there.
    pub(crate) fn increase(&self, name: &str) -> Result<Option<u64>, StatusError> {
        let Some(after) = self.after.value(name) else { return Ok(None) };
        let before = self.before.and_then(|before| before.value(name));
        let before = before.map(|value| whole(name, value)).transpose()?.unwrap_or(0);
        difference(name, before, whole(name, after)?).map(Some)
    }

    /// The increase of a counter that must be there.
    pub(crate) fn needed_increase(&self, name: &str) -> Result<u64, StatusError> {
        self.increase(name)?.ok_or_else(|| self.missing(name))
    }

    /// The increase of a column, summed over the rows of a table that `is_wanted`; `None` without the table or the column.
    pub(crate) fn column(
        &self,
        table: &str,
        column: &str,
        is_wanted: impl Fn(&dyn Fn(&str) -> String) -> bool,
    ) -> Result<Option<u64>, StatusError> {
        let sum = |snapshot: &Snapshot| -> Result<Option<u64>, StatusError> {
            let mut sum = None;
            for row in snapshot.rows(table) {
                let cell = |name: &str| row.get(name).cloned().unwrap_or_default();
                if let Some(value) = row.get(column).filter(|value| !value.is_empty() && is_wanted(&cell)) {
                    sum = Some(sum.unwrap_or(0_u64).saturating_add(whole(column, value)?));
                }
            }
            Ok(sum)
        };
        let Some(after) = sum(self.after)? else { return Ok(None) };
        let before = self.before.map(sum).transpose()?.flatten().unwrap_or(0);
        difference(column, before, after).map(Some)
    }

    /// CPU time that the server has used in between.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        let before = match self.before {
            Some(before) => before.cpu_s()?,
            None => 0.0,
        };
        Duration::try_from_secs_f64(self.after.cpu_s()? - before).ok()
    }

    /// The error that says that one of these is missing.
    pub(crate) fn missing(&self, names: &str) -> StatusError {
        StatusError::Missing { name: names.to_owned(), query: self.query }
    }
}

fn difference(name: &str, before: u64, after: u64) -> Result<u64, StatusError> {
    let went_back = || StatusError::WentBack { name: name.to_owned(), before, after };
    after.checked_sub(before).ok_or_else(went_back)
}

/// A number, of which only the whole part counts.
fn whole(name: &str, value: &str) -> Result<u64, StatusError> {
    let number: Option<f64> = value.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    let exact: Option<u64> = value.parse().ok();
    let not_a_number = || StatusError::NotANumber { name: name.to_owned(), value: value.to_owned() };
    exact.or(number.map(|number| number as u64)).ok_or_else(not_a_number)
}
