//! The threads of a run: each has a state, and calls `event` in it.

use std::sync::{Arc, OnceLock};

use ferrio_job::{Session, SessionFailed, SessionSource};

use crate::options::OptionValues;
use crate::random;
use crate::run::ScriptRun;
use crate::state::State;

/// The sessions of a run.
#[derive(Debug)]
pub(crate) struct ScriptSessions {
    pub(crate) run: Arc<ScriptRun>,
    pub(crate) options: Arc<OnceLock<OptionValues>>,
}

impl SessionSource for ScriptSessions {
    fn begin(&self, thread: u32) -> Result<Box<dyn Session>, SessionFailed> {
        let begin = || {
            let state = State::load(&self.run, thread)?;
            if let Some(options) = self.options.get() {
                state.set_options(options)?;
            }
            state.call_if_defined("thread_init", thread)?;
            Ok(state)
        };
        let state = begin().map_err(|crate::ScriptFailed| SessionFailed)?;
        Ok(Box::new(ScriptSession { run: Arc::clone(&self.run), state, thread, end: None }))
    }
}

/// A thread of a run.
struct ScriptSession {
    run: Arc<ScriptRun>,
    state: State,
    thread: u32,
    end: Option<SessionEnd>,
}

/// Why there are no more events.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SessionEnd {
    /// The script has no more of them.
    Over,
    /// The script has failed.
    Failed,
}

impl Session for ScriptSession {
    fn event(&mut self, is_over: &dyn Fn() -> bool) -> Result<(), SessionFailed> {
        match self.state.event(self.thread, is_over) {
            Ok(is_over) => self.end = is_over.then_some(SessionEnd::Over),
            Err(crate::ScriptFailed) => {
                self.end = Some(SessionEnd::Failed);
                return Err(SessionFailed);
            }
        }
        if self.run.extra_draw {
            random::skip();
        }
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.end == Some(SessionEnd::Over)
    }
}

impl Drop for ScriptSession {
    /// The end of the thread. What fails in it has been reported; the run has its figures.
    fn drop(&mut self) {
        if self.end == Some(SessionEnd::Failed) {
            return;
        }
        let ended = self.state.call::<Option<String>>("end_events", ());
        let ended = ended.and_then(|(is_done, message)| self.state.check("thread_run", is_done, message));
        if ended.is_ok() {
            // The same.
            let _ = self.state.call_if_defined("thread_done", self.thread);
        }
    }
}
