//! The lines about a database: its I/O per transaction, and the limits at which transactions wait.

use ferrio_job::counted;

use crate::model::{CheckedDatabase, DatabaseVolume, TransactionIo};
use crate::units::{bytes, time};

/// Lines with their first words.
pub(super) fn lines(database: &CheckedDatabase) -> Vec<(&'static str, String)> {
    let mut lines = vec![("flags", flags(database)), ("transaction", "on average:".to_owned())];
    lines.extend(table(&database.per_transaction).into_iter().map(|row| ("", row)));
    lines.push(("", shares(database)));
    lines.push(("volume", volume(&database.volume)));
    if let Some(laps) = database.transactions_per_log_lap {
        let size = database.files.iter().filter(|files| files.kind == "log").map(|files| files.bytes).sum();
        lines.push(("log", format!("wraps after {} ({laps:.0} transactions)", bytes(size))));
    }
    if let Some(rate) = database.transactions_per_second {
        lines.push(("rate", format!("{rate} transactions per second arrive, at random times")));
    }
    lines.extend(back_pressure(database).map(|text| ("back-pressure", text)));
    lines.extend(checkpoints(database).map(|text| ("checkpoint", text)));
    lines
}

/// The flags with which the files are opened.
fn flags(database: &CheckedDatabase) -> String {
    let files = database.files.iter().map(|files| {
        let mut how = vec![if files.direct { "direct" } else { "buffered" }];
        if files.dsync {
            how.push("O_DSYNC");
        }
        format!("{}: {}", files.kind, how.join(", "))
    });
    files.collect::<Vec<_>>().join("; ")
}

/// A row per kind of I/O: number, kind, bytes, formula.
fn table(all: &[TransactionIo]) -> Vec<String> {
    let cells: Vec<[String; 4]> = all
        .iter()
        .map(|io| {
            let (bound, count) = (io.bound.hedge(), number(io.ios));
            let what = if count == "1" { io.what.trim_end_matches('s') } else { io.what };
            let moved = if io.bytes > 0.0 { bytes(io.bytes.round() as u64) } else { String::new() };
            [format!("{bound}{count}"), what.to_owned(), moved, io.formula.to_owned()]
        })
        .collect();
    let width = |at: usize| cells.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let [count, what, moved] = [0, 1, 2].map(width);
    let row = |[a, b, c, d]: &[String; 4]| format!("  {a:>count$}  {b:what$}  {c:>moved$}  {d}");
    cells.iter().map(row).collect()
}

/// Up to three decimals, without zeros at the end.
fn number(number: f64) -> String {
    let text = format!("{number:.3}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "0" && number > 0.0 { "<0.001".to_owned() } else { short.to_owned() }
}

fn shares(database: &CheckedDatabase) -> String {
    let share = database.read_share;
    if share.ios == 0.0 {
        return "no reads".to_owned();
    }
    let [ios, bytes] = [share.ios, share.bytes].map(|share| share * 100.0);
    format!("reads are {}{ios:.1}% of I/Os and {bytes:.1}% of bytes", share.bound.hedge())
}

fn volume(volume: &DatabaseVolume) -> String {
    let (transactions, verb) = match volume.transactions {
        1 => ("1 transaction".to_owned(), ["reads", "writes"]),
        count => (format!("{count} transactions"), ["read", "write"]),
    };
    let moved = [(verb[0], volume.read, volume.read_bound), (verb[1], volume.write, volume.write_bound)];
    let moved = moved.into_iter().filter(|(_, moved, _)| *moved > 0);
    let moved: Vec<_> =
        moved.map(|(verb, moved, bound)| format!("{verb} {}{}", bound.hedge(), bytes(moved))).collect();
    if moved.is_empty() {
        format!("{transactions} {} nothing", verb[1])
    } else {
        format!("{transactions} {}", moved.join(" and "))
    }
}

fn back_pressure(database: &CheckedDatabase) -> Option<String> {
    let pressure = database.back_pressure?;
    let size = bytes(pressure.bytes);
    Some(match (pressure.dirty_pages, pressure.waiting_tables) {
        (Some(pages), _) => {
            let log = if database.checkpoints.is_some() { ", or while the log is full" } else { "" };
            format!("above {} ({size}){log}", counted(pages.into(), "changed page"))
        }
        (None, tables) => {
            format!("above {} ({size})", counted(tables.unwrap_or(0).into(), "waiting table"))
        }
    })
}

fn checkpoints(database: &CheckedDatabase) -> Option<String> {
    let checkpoints = database.checkpoints?;
    let log = checkpoints.log_bytes.map(|log| match checkpoints.transactions {
        Some(count) => format!("after {} of the log ({count:.0} transactions)", bytes(log)),
        None => format!("after {} of the log", bytes(log)),
    });
    let timed = checkpoints.seconds.map(|seconds| format!("{} after the last one", time(seconds)));
    let when: Vec<String> = log.into_iter().chain(timed).collect();
    let what = match database.back_pressure {
        Some(_) => "all changed pages are written back",
        None => "a block is appended to the log, which is synced",
    };
    Some(format!("{}: {what}", when.join(" or ")))
}
