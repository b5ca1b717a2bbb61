//! What this program is when it starts itself: a process of its own is measured as those of the tools are.

use std::env;
use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::Outcome;
use crate::limit;
use crate::startup::{self, ONE_READ, STOPWATCH};
use crate::tools::LOOP;
use crate::work::{BLOCK, Work};

/// The role of a process.
#[derive(Debug)]
pub(crate) enum Role {
    /// Times the command.
    Stopwatch(Vec<String>),
    /// Reads one block and ends: the least that a program does that reads one block.
    OneRead(String),
    /// Makes the calls of a row, so many times.
    Loop { work: &'static Work, path: Option<String>, ios: u64 },
}

impl Role {
    pub(crate) fn of_this_process() -> Outcome<Option<Role>> {
        let mut arguments = env::args().skip(1);
        let role = arguments.next().unwrap_or_default();
        let mut next = || arguments.next().ok_or("an argument of the role is missing");
        Ok(match role.as_str() {
            STOPWATCH => Some(Role::Stopwatch(arguments.collect())),
            ONE_READ => Some(Role::OneRead(next()?)),
            LOOP => Some(Role::Loop {
                work: Work::find(&next()?).ok_or("no such row")?,
                path: Some(next()?).filter(|path| !path.is_empty()),
                ios: next()?.parse()?,
            }),
            _ => None,
        })
    }

    pub(crate) fn play(self) -> Outcome<()> {
        match self {
            Role::Stopwatch(command) => startup::time(&command),
            Role::OneRead(path) => Ok(File::open(path)?.read_exact_at(&mut [0; BLOCK], 0)?),
            Role::Loop { work, path, ios } => limit::run(work, path.as_deref(), ios),
        }
    }
}
