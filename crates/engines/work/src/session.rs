//! Events that the caller of the run performs.

use ferrio_engine::EngineError;
use ferrio_job::{EventKind, EventPart, SESSION, Session, Sessions};
use nix::errno::Errno;

use crate::JobHandle;

/// What the job of a failed session ends with; the reason has been told.
const FAILED: Errno = Errno::ECANCELED;

/// The session of one job.
pub(crate) struct SessionEvent {
    sessions: Sessions,
    thread: u32,
    /// Present after `begin`.
    session: Option<Box<dyn Session>>,
}

impl SessionEvent {
    /// `None` if the events of this part of a load are not calls of a session.
    pub(crate) fn new(part: &EventPart) -> Option<Self> {
        let EventKind::Sessions(sessions) = &part.load.kind else { return None };
        Some(SessionEvent { sessions: sessions.clone(), thread: part.thread, session: None })
    }

    /// Begins the session.
    pub(crate) fn begin(&mut self) -> Result<(), EngineError> {
        let session = self.sessions.0.begin(self.thread);
        self.session = Some(session.map_err(|_| EngineError::new(SESSION, FAILED))?);
        Ok(())
    }

    /// Performs one event, the last one of the job if the session ends with it.
    pub(crate) fn perform(&mut self, job: &dyn JobHandle) -> Result<(), Errno> {
        let session = self.session.as_mut().ok_or(FAILED)?;
        session.event(&|| job.is_over()).map_err(|_| FAILED)?;
        if session.has_ended() {
            job.end_job();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use ferrio_job::{EventLoad, SessionFailed, SessionSource};

    use super::*;
    use crate::UnlimitedJob;

    /// Thread 1 has no session, and a session fails in its second event.
    #[derive(Debug, Default)]
    struct Source {
        begun: AtomicU32,
    }

    struct TwoEvents(u32);

    impl SessionSource for Source {
        fn begin(&self, thread: u32) -> Result<Box<dyn Session>, SessionFailed> {
            self.begun.fetch_add(1, Relaxed);
            if thread == 1 { Err(SessionFailed) } else { Ok(Box::new(TwoEvents(0))) }
        }
    }

    impl Session for TwoEvents {
        fn event(&mut self, is_over: &dyn Fn() -> bool) -> Result<(), SessionFailed> {
            self.0 += 1;
            assert!(!is_over());
            if self.0 == 2 { Err(SessionFailed) } else { Ok(()) }
        }

        fn has_ended(&self) -> bool {
            self.0 == 3
        }
    }

    fn part(source: &Arc<Source>, thread: u32) -> EventPart {
        let kind = EventKind::Sessions(Sessions(Arc::clone(source) as Arc<dyn SessionSource>));
        EventPart { load: Arc::new(EventLoad { id: 0, limit: None, rate: None, seed: None, kind }), thread }
    }

    #[test]
    fn each_job_begins_a_session_and_fails_with_it() {
        let source = Arc::new(Source::default());
        let mut first = SessionEvent::new(&part(&source, 0)).unwrap();
        assert_eq!(first.perform(&UnlimitedJob), Err(FAILED), "no session has begun");
        first.begin().unwrap();
        assert_eq!((first.perform(&UnlimitedJob), first.perform(&UnlimitedJob)), (Ok(()), Err(FAILED)));
        let mut second = SessionEvent::new(&part(&source, 1)).unwrap();
        assert_eq!(second.begin().unwrap_err().func, SESSION);
        assert_eq!(source.begun.load(Relaxed), 2);
    }
}
