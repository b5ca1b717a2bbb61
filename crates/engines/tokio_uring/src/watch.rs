//! Finds out that the kernel takes no more requests.
//!
//! The runtime submits requests when it goes to sleep, ignores the error of that call, and then waits for completions that cannot come. So a
//! timer wakes it now and then while nothing completes: the runtime submits again when it goes back to sleep, which is all that an error of
//! a moment needs. An operation that does nothing tells a slow device from a kernel that refuses: it completes as soon as it is submitted.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tokio::io::unix::AsyncFd;

use crate::finished::Finished;

/// Time between two checks.
const TICK: Duration = Duration::from_millis(250);

/// Looks without any completion, even that of an operation that does nothing, after which the kernel counts as refusing.
const PATIENCE: u32 = 4;

/// Watches the requests of a runtime as long as it exists. Only inside the runtime.
pub(crate) fn start(finished: Rc<Finished>) -> io::Result<()> {
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
    timer.set(Expiration::Interval(TICK.into()), TimerSetTimeFlags::empty())?;
    // SAFETY: the descriptor stays the timer's until the owner, which the registration takes, closes it.
    let timer = unsafe { AsyncFd::register(OwnedFd::from(timer)) }?;
    tokio_uring::spawn(async move {
        let mut silence = Silence::default();
        while tick(&timer).await.is_ok() {
            match silence.look(&finished) {
                Look::Fine => {}
                Look::Probe => drop(tokio_uring::spawn(probe(Rc::clone(&finished)))),
                Look::Refused => finished.break_off(),
            }
        }
    });
    Ok(())
}

async fn probe(finished: Rc<Finished>) {
    if tokio_uring::no_op().await.is_ok() {
        finished.show_life();
    }
}

/// Waits for the next expiry of the timer.
async fn tick(timer: &AsyncFd<OwnedFd>) -> io::Result<()> {
    let mut ready = timer.readable().await?;
    let mut expirations = [0; 8];
    // Whether it has expired or not: the next wait tells.
    let _ = nix::unistd::read(timer, &mut expirations);
    ready.clear_ready();
    Ok(())
}

/// What to do after a look.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    Fine,
    Probe,
    Refused,
}

/// For how long nothing has completed.
#[derive(Debug, Default)]
struct Silence {
    life: u64,
    looks: u32,
}

impl Silence {
    fn look(&mut self, finished: &Finished) -> Look {
        let life = finished.life();
        if std::mem::replace(&mut self.life, life) != life || !finished.is_awaited() {
            self.looks = 0;
            return Look::Fine;
        }
        self.looks += 1;
        match self.looks {
            1 => Look::Probe,
            looks if looks > PATIENCE => Look::Refused,
            _ => Look::Fine,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_a_refusal_only_if_something_is_awaited_and_the_probe_does_not_complete() {
        let finished = Finished::new(4);
        let mut silence = Silence::default();
        assert_eq!(
            [(); 9].map(|()| silence.look(&finished)),
            [const { Look::Fine }; 9],
            "nothing is awaited"
        );
        finished.await_anything();
        let looks = [(); 5].map(|()| silence.look(&finished));
        assert_eq!(looks, [Look::Probe, Look::Fine, Look::Fine, Look::Fine, Look::Refused]);
        finished.show_life();
        assert_eq!(silence.look(&finished), Look::Fine, "a device may be slow");
        assert_eq!(silence.look(&finished), Look::Probe);
    }
}
