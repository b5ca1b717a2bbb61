//! Events that the caller of a run performs itself.

use std::fmt::Debug;
use std::sync::Arc;

/// What the error of a job names as the failed step when its session has failed.
pub const SESSION: &str = "session";

/// The sessions of a load: each of its jobs begins one, on its own thread.
#[derive(Clone, Debug)]
pub struct Sessions(pub Arc<dyn SessionSource>);

/// The same source, not an equal one.
impl PartialEq for Sessions {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Begins sessions.
pub trait SessionSource: Debug + Send + Sync {
    /// Begins the session of a thread, which counts from 0. It is called on that thread, before any event begins.
    ///
    /// # Errors
    /// The session has failed, and has told its user why.
    fn begin(&self, thread: u32) -> Result<Box<dyn Session>, SessionFailed>;
}

/// A session, which stays on its thread. It ends when it is dropped.
pub trait Session {
    /// Performs one event. One that begins again and again asks whether the run is over meanwhile.
    ///
    /// # Errors
    /// The session has failed, and has told its user why; the run ends.
    fn event(&mut self, is_over: &dyn Fn() -> bool) -> Result<(), SessionFailed>;

    /// True if the last event was the last one of this session. Other sessions go on.
    fn has_ended(&self) -> bool {
        false
    }
}

/// A session has failed, and has told its user why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionFailed;
