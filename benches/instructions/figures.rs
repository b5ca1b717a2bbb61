//! The checked-in figures.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::Outcome;

/// Where they are.
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/figures.json");

/// Instructions per I/O by row, and what they were counted with.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Figures {
    pub rustc: String,
    pub valgrind: String,
    rows: BTreeMap<String, f64>,
}

impl Figures {
    pub(crate) fn read() -> Outcome<Figures> {
        match fs::read_to_string(PATH) {
            Ok(text) => Ok(serde_json::from_str(&text).map_err(|error| format!("{PATH}: {error}"))?),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Figures::default()),
            Err(error) => Err(format!("{PATH}: {error}").into()),
        }
    }

    pub(crate) fn get(&self, row: &str) -> Option<f64> {
        self.rows.get(row).copied()
    }

    /// Sets a figure, rounded to tenths.
    pub(crate) fn set(&mut self, row: &str, figure: f64) {
        self.rows.insert(row.to_owned(), (figure * 10.0).round() / 10.0);
    }

    /// Drops figures of rows that are gone.
    pub(crate) fn retain(&mut self, is_row: impl Fn(&str) -> bool) {
        self.rows.retain(|name, _| is_row(name));
    }

    pub(crate) fn write(mut self, valgrind: String) -> Outcome<()> {
        let rustc = Command::new("rustc").arg("--version").output()?;
        self.rustc = String::from_utf8_lossy(&rustc.stdout).trim().to_owned();
        self.valgrind = valgrind;
        Ok(fs::write(PATH, serde_json::to_string_pretty(&self)? + "\n")?)
    }
}
