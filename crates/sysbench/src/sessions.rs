//! Sessions that begin all or none: if one of them cannot connect, no event of the others begins.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use ferrio_job::{Session, SessionFailed, SessionSource};

/// Whether a session could not begin.
#[derive(Clone, Debug, Default)]
pub struct FailedBegin(Arc<AtomicBool>);

impl FailedBegin {
    /// True if one could not.
    pub fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// Begins the sessions of another source.
#[derive(Debug)]
pub struct JointSessions {
    /// The other source.
    pub source: Arc<dyn SessionSource>,
    /// Set when a session cannot begin.
    pub failed: FailedBegin,
}

struct JointSession {
    session: Box<dyn Session>,
    failed: FailedBegin,
}

impl SessionSource for JointSessions {
    fn begin(&self, thread: u32) -> Result<Box<dyn Session>, SessionFailed> {
        match self.source.begin(thread) {
            Ok(session) => Ok(Box::new(JointSession { session, failed: self.failed.clone() })),
            Err(failed) => {
                self.failed.0.store(true, Relaxed);
                Err(failed)
            }
        }
    }
}

impl Session for JointSession {
    fn event(&mut self, is_over: &dyn Fn() -> bool) -> Result<(), SessionFailed> {
        if self.failed.is_set() { Err(SessionFailed) } else { self.session.event(is_over) }
    }

    fn has_ended(&self) -> bool {
        self.session.has_ended()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct OnlyThread0;

    struct Empty;

    impl SessionSource for OnlyThread0 {
        fn begin(&self, thread: u32) -> Result<Box<dyn Session>, SessionFailed> {
            if thread == 0 { Ok(Box::new(Empty)) } else { Err(SessionFailed) }
        }
    }

    impl Session for Empty {
        fn event(&mut self, _is_over: &dyn Fn() -> bool) -> Result<(), SessionFailed> {
            Ok(())
        }
    }

    #[test]
    fn no_event_begins_if_a_session_cannot() {
        let failed = FailedBegin::default();
        let sessions = JointSessions { source: Arc::new(OnlyThread0), failed: failed.clone() };
        let mut session = sessions.begin(0).unwrap();
        assert_eq!((session.event(&|| false), failed.is_set()), (Ok(()), false));
        assert!(sessions.begin(1).is_err() && failed.is_set());
        assert_eq!(session.event(&|| false), Err(SessionFailed));
    }
}
