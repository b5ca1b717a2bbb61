//! Messages of workers about requests, in the log.

use std::sync::{Arc, OnceLock};

use ferrio_job::debug_class;
use log::{LevelFilter, Metadata, Record};

use crate::log::{Level, Log};

/// Logs requests, and the reasons why threads end, as messages of workers.
struct RequestLogger(Arc<Log>);

impl log::Log for RequestLogger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == debug_class::EVENTS
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let level = if record.level() == log::Level::Debug { Level::Debug } else { Level::Info };
            self.0.line(level, &record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// Logs messages of workers about requests if the verbosity includes them.
pub fn show(log: &Arc<Log>) {
    let wanted = match () {
        () if log.shows(Level::Debug) => LevelFilter::Debug,
        () if log.shows(Level::Info) => LevelFilter::Info,
        () => return,
    };
    // A program has one command line, and so one logger.
    static LOGGER: OnceLock<RequestLogger> = OnceLock::new();
    if log::set_logger(LOGGER.get_or_init(|| RequestLogger(Arc::clone(log)))).is_ok() {
        log::set_max_level(wanted);
    }
}
