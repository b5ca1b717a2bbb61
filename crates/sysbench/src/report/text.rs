//! The text of a report, line by line as sysbench 1.0.20 prints it.

use ferrio_stats::Latency;

use super::cells::Cells;
use super::figures::{SysbenchFigures, ThreadFigures};

/// The test, as far as the report depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SysbenchTest {
    /// `fileio`
    Fileio,
    /// `cpu`
    Cpu,
    /// A test of a database, or a script that connects to one.
    Sql,
    /// `threads` and `mutex`, whose reports have nothing of their own.
    Plain,
    /// `memory`
    Memory {
        /// Bytes of an event.
        block: u64,
        /// The events transfer them.
        transfers: bool,
    },
}

/// The form of the reports of a run.
#[derive(Clone, Copy, Debug)]
pub struct SysbenchReport {
    /// The test.
    pub test: SysbenchTest,
    /// The percentile, 0 for none.
    pub percentile: u32,
    /// Events arrive at a rate.
    pub has_rate: bool,
}

impl SysbenchReport {
    /// The line about an interval, with the seconds since the start of the run.
    #[must_use]
    pub fn interval(&self, seconds: u64, figures: &SysbenchFigures) -> String {
        let events = figures.latency();
        let percentile = self.percentile_ms(&events);
        let line = match self.test {
            SysbenchTest::Fileio => format!(
                "reads: {:.2} MiB/s writes: {:.2} MiB/s fsyncs: {:.2}/s latency (ms,{}%): {percentile:.3}",
                figures.mib_per_second(figures.read_bytes),
                figures.mib_per_second(figures.written_bytes),
                figures.per_second(figures.syncs),
                self.percentile,
            ),
            SysbenchTest::Memory { block, .. } => {
                format!("{:.2} MiB/sec", figures.mib_per_second(events.count().saturating_mul(block)))
            }
            SysbenchTest::Sql => {
                let sql = &figures.sql;
                let rate = |count| figures.per_second(count);
                format!(
                    "thds: {} tps: {:.2} qps: {:.2} (r/w/o: {:.2}/{:.2}/{:.2}) lat (ms,{}%): {percentile:.2} err/s: {:.2} reconn/s: {:.2}",
                    figures.threads.len(),
                    rate(events.count()),
                    rate(sql.queries()),
                    rate(sql.reads),
                    rate(sql.writes),
                    rate(sql.others),
                    self.percentile,
                    rate(sql.ignored_errors),
                    rate(sql.reconnects),
                )
            }
            SysbenchTest::Cpu | SysbenchTest::Plain => format!(
                "thds: {} eps: {:.2} lat (ms,{}%): {percentile:.2}",
                figures.threads.len(),
                figures.per_second(events.count()),
                self.percentile,
            ),
        };
        let mut text = format!("[ {seconds}s ] {line}\n");
        let comma = match self.test {
            SysbenchTest::Cpu | SysbenchTest::Plain => "",
            SysbenchTest::Sql => ",",
            SysbenchTest::Fileio | SysbenchTest::Memory { .. } => return text,
        };
        if self.has_rate {
            let (queue, concurrency) = in_system(figures, &events);
            text.push_str(&format!(
                "[ {seconds}s ] queue length: {queue}{comma} concurrency: {concurrency}\n"
            ));
        }
        text
    }

    /// The percentile of these latencies, ms; the value of the first cell if none is wanted.
    #[must_use]
    pub fn percentile_ms(&self, events: &Latency) -> f64 {
        let cells = if self.percentile == 0 { Cells::of(&Latency::new()) } else { Cells::of(events) };
        cells.percentile(self.percentile)
    }

    /// The title of the histogram, and its rows.
    #[must_use]
    pub fn histogram(&self, figures: &SysbenchFigures) -> (&'static str, String) {
        let events = figures.latency();
        let title = "Latency histogram (values are in milliseconds)\n";
        if events.count() == 0 {
            return (title, String::new());
        }
        let head = "       value  ------------- distribution ------------- count\n";
        (title, format!("{head}{}", Cells::of(&events).rows()))
    }

    /// The report. `unfinished` is the number of events that a forced shutdown stopped.
    #[must_use]
    pub fn text(&self, figures: &SysbenchFigures, unfinished: Option<usize>) -> String {
        let events = figures.latency();
        let mut text = self.results(figures, &events);
        if let Some(unfinished) = unfinished {
            text.push_str(&format!("\nNumber of unfinished transactions on forced shutdown: {unfinished}\n"));
        }
        text.push_str(&format!(
            "\nGeneral statistics:\n    total time:                          {:.4}s\n    total number of events:              {}\n",
            figures.total.as_secs_f64(),
            events.count()
        ));
        text.push_str(&format!("\nLatency (ms):\n{}", self.latency(&events)));
        text.push_str(&fairness(&figures.threads));
        text
    }

    /// The results of the test itself.
    fn results(&self, figures: &SysbenchFigures, events: &Latency) -> String {
        match self.test {
            SysbenchTest::Fileio => format!(
                "\nFile operations:\n    reads/s:                      {:.2}\n    writes/s:                     {:.2}\n    \
                 fsyncs/s:                     {:.2}\n\nThroughput:\n    read, MiB/s:                  {:.2}\n    \
                 written, MiB/s:               {:.2}\n",
                figures.per_second(figures.reads),
                figures.per_second(figures.writes),
                figures.per_second(figures.syncs),
                figures.mib_per_second(figures.read_bytes),
                figures.mib_per_second(figures.written_bytes),
            ),
            SysbenchTest::Cpu => {
                format!("CPU speed:\n    events per second: {:8.2}\n", figures.per_second(events.count()))
            }
            SysbenchTest::Plain => String::new(),
            SysbenchTest::Sql => sql(figures, events.count()),
            SysbenchTest::Memory { block, transfers } => {
                let (count, bytes) = (events.count(), events.count().saturating_mul(block));
                let mut text =
                    format!("Total operations: {count} ({:8.2} per second)\n\n", figures.per_second(count));
                if transfers {
                    let mib = bytes as f64 / f64::from(1 << 20);
                    let rate = figures.mib_per_second(bytes);
                    text.push_str(&format!("{mib:4.2} MiB transferred ({rate:4.2} MiB/sec)\n\n"));
                }
                text
            }
        }
    }

    fn latency(&self, events: &Latency) -> String {
        let row = |name: &str, ms: f64| format!("         {name}: {ms:39.2}\n");
        let average = events.sum().checked_div(events.count().into()).unwrap_or_default();
        let mut text = row("min", events.min() as f64 / 1e6);
        text.push_str(&row("avg", average as f64 / 1e6));
        text.push_str(&row("max", events.max() as f64 / 1e6));
        text.push_str(&match self.percentile {
            0 => "         percentile stats:               disabled\n".to_owned(),
            percent => {
                format!("        {percent:3}th percentile: {:27.2}\n", Cells::of(events).percentile(percent))
            }
        });
        text.push_str(&row("sum", events.sum() as f64 / 1e6));
        text
    }

    /// The figures of each thread, which `--debug` adds: lines that begin with their level.
    #[must_use]
    pub fn threads(&self, figures: &SysbenchFigures) -> String {
        let seconds = |ns: f64| format!("{:.4}s", ns / 1e9);
        let mut text = "DEBUG: Verbose per-thread statistics:\n\n".to_owned();
        for (at, ThreadFigures { latency, .. }) in figures.threads.iter().enumerate() {
            text.push_str(&format!(
                "DEBUG:     thread #{at:3}: min: {}  avg: {}  max: {}  events: {}\nDEBUG:                  \
                 total time taken by event execution: {}\n",
                seconds(latency.min() as f64),
                seconds(latency.mean()),
                seconds(latency.max() as f64),
                latency.count(),
                seconds(latency.sum() as f64),
            ));
        }
        text.push('\n');
        text
    }
}

/// Statements by kind, and rates.
fn sql(figures: &SysbenchFigures, transactions: u64) -> String {
    let sql = &figures.sql;
    let mut text = "SQL statistics:\n    queries performed:\n".to_owned();
    for (name, count) in
        [("read:", sql.reads), ("write:", sql.writes), ("other:", sql.others), ("total:", sql.queries())]
    {
        text.push_str(&format!("        {name:<32} {count}\n"));
    }
    for (name, count) in [
        ("transactions:", transactions),
        ("queries:", sql.queries()),
        ("ignored errors:", sql.ignored_errors),
        ("reconnects:", sql.reconnects),
    ] {
        text.push_str(&format!("    {name:<36} {count:<6} ({:.2} per sec.)\n", figures.per_second(count)));
    }
    text
}

/// How evenly the threads shared the work.
fn fairness(threads: &[ThreadFigures]) -> String {
    let begun = |thread: &ThreadFigures| (thread.latency.count() + u64::from(thread.is_unfinished)) as f64;
    let events: Vec<f64> = threads.iter().map(begun).collect();
    let seconds: Vec<f64> = threads.iter().map(|thread| thread.latency.sum() as f64 / 1e9).collect();
    format!(
        "\nThreads fairness:\n    events (avg/stddev):           {}\n    execution time (avg/stddev):   {}\n\n",
        spread(&events),
        spread(&seconds)
    )
}

/// Mean and deviation of all threads.
fn spread(all: &[f64]) -> String {
    let count = all.len().max(1) as f64;
    let mean = all.iter().sum::<f64>() / count;
    let variance = all.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / count;
    format!("{mean:.4}/{:.2}", variance.sqrt())
}

/// Events that waited and that were done, on average over the interval: as many as come in the mean time from arrival to end.
#[must_use]
pub fn in_system(figures: &SysbenchFigures, events: &Latency) -> (u64, u64) {
    let seconds = figures.measured.as_secs_f64();
    let all = if seconds > 0.0 { events.sum() as f64 / 1e9 / seconds } else { 0.0 };
    let threads = figures.threads.len() as f64;
    ((all - threads).max(0.0).round() as u64, all.min(threads).round() as u64)
}

#[cfg(test)]
mod tests;
