//! The command `prepare`, with lines about its progress.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use ferrio_oltp::{CommandFailed, OltpTest, TableCommand};

use crate::log::Level;
use crate::run::TestInvocation;

/// The interval between lines about progress if `--report-interval` does not say another one.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Makes the tables, and tells from time to time how far it is: at the intervals of `--report-interval`, or else to a terminal or at a
/// higher verbosity, so that the output that scripts read stays as it is.
pub fn prepare(command: &TableCommand<'_>, call: &TestInvocation<'_>) -> Result<(), CommandFailed> {
    let asked = call.general.report_interval.map(Duration::from_secs);
    let level = if asked.is_some() || call.log.is_terminal() { Level::Notice } else { Level::Info };
    if command.test == OltpTest::BulkInsert || !call.log.shows(level) {
        return command.prepare();
    }
    let interval = asked.unwrap_or(PROGRESS_INTERVAL);
    let all = u64::from(command.options.tables) * u64::from(command.options.table_size);
    let (log, filling) = (call.log, command.filling);
    let began = Instant::now();
    let (end, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                log.text(level, &line(began.elapsed(), filling.rows(), all));
            }
        });
        let done = command.prepare();
        drop(end);
        done
    })
}

/// A line about progress.
fn line(elapsed: Duration, rows: u64, all: u64) -> String {
    let seconds = elapsed.as_secs_f64();
    let per_second = rows as f64 / seconds.max(f64::MIN_POSITIVE);
    let left = if rows > 0 {
        format!(", about {} left", duration(all.saturating_sub(rows) as f64 / per_second))
    } else {
        String::new()
    };
    format!(
        "[ {seconds:.0}s ] {rows} of {all} rows ({:.1} %), {per_second:.0} rows/s{left}\n",
        100.0 * rows as f64 / all.max(1) as f64
    )
}

/// A time in its two largest units.
fn duration(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86400, seconds % 86400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_how_far_the_tables_are() {
        assert_eq!(
            line(Duration::from_secs(600), 50_000_000, 1_000_000_000),
            "[ 600s ] 50000000 of 1000000000 rows (5.0 %), 83333 rows/s, about 3 h 10 min left\n"
        );
        assert_eq!(line(Duration::from_secs(10), 0, 100), "[ 10s ] 0 of 100 rows (0.0 %), 0 rows/s\n");
        assert_eq!(duration(59.4), "59 s");
        assert_eq!(duration(90_000.0), "1 d 1 h");
    }
}
