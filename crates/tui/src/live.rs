//! The view of one run, and the thread that draws it and reads keys.
//!
//! The thread that runs the jobs only changes the figures of the board. All that may wait is done by the other one: writing to the terminal
//! and reading from it.

use std::io::{self, BufWriter, PipeReader, PipeWriter, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ferrio_job::Plan;
use ferrio_report::{LiveRecorder, LiveTable, job_failed, laying_out_line, terminating};
use ferrio_results::{Event, Progress, RunResult};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::getpid;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event as Input};

use crate::board::Board;
use crate::draw::draw;
use crate::screen::{Keys, NoTerminal, Screen, Terminal};
use crate::signals::Signals;
use crate::style::Look;
use crate::view::{Action, View};

/// Shortest time between two drawings, unless a key is pressed.
const MIN_TIME: Duration = Duration::from_millis(100);
/// How long the end waits for the last drawing: a terminal may have stopped reading.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of a drawing that are written at once.
const BUFFER: usize = 1 << 16;

/// The view of one run, from its start until it is dropped.
#[derive(Debug)]
pub struct LiveView {
    recorder: LiveRecorder,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Hears from the thread when it ends.
    ended: Receiver<()>,
    /// Signals that the view holds back.
    held: SigSet,
}

/// What both threads know.
#[derive(Debug)]
struct Shared {
    board: Mutex<Board>,
    screen: Arc<Screen>,
    waker: PipeWriter,
    /// The board has changed, and the pipe has a byte that says so.
    has_news: AtomicBool,
}

impl LiveView {
    /// How often to call [`LiveView::look`].
    #[must_use]
    pub fn every(plan: &Plan) -> Duration {
        LiveRecorder::sample_interval(plan)
    }

    /// Takes the terminal. To be called on the thread that starts all others: there, signals that end the run are blocked from now on, so
    /// that they cannot end the program before the terminal is given back, and so is that of a changed size, which would interrupt I/Os.
    /// Those that stop or end the program at once are blocked until the view is dropped.
    ///
    /// # Errors
    /// The terminal cannot be set up, or there is no other thread.
    pub fn start(terminal: Terminal, plan: &Plan, has_colors: bool) -> Result<Self, NoTerminal> {
        let blocked: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGWINCH].into_iter().collect();
        blocked.thread_block().map_err(|errno| NoTerminal::SetUp(errno.into()))?;
        let (signals, held) = Signals::hold().map_err(NoTerminal::SetUp)?;
        // Without a view, they act at once: the terminal may have gone.
        let begun = Self::begin(terminal, plan, has_colors, signals, held).inspect_err(|_| unblock(held));
        begun.map_err(NoTerminal::SetUp)
    }

    fn begin(
        terminal: Terminal,
        plan: &Plan,
        has_colors: bool,
        signals: Signals,
        held: SigSet,
    ) -> io::Result<Self> {
        let (look, keys) = (terminal.look(has_colors), terminal.keys()?);
        let (woken, waker) = io::pipe()?;
        let shared = Arc::new(Shared {
            board: Mutex::new(Board::new(LiveTable::new(plan))),
            screen: Screen::new(terminal),
            waker,
            has_news: AtomicBool::new(false),
        });
        shared.screen.take()?;
        let (ends, ended) = channel();
        let of_thread = Arc::clone(&shared);
        let display = move || {
            let mut display =
                Display { shared: &of_thread, keys, woken, signals, look, view: View::default() };
            // A terminal that has gone or a failed write ends the display, not the run.
            let is_over = display.run().is_ok();
            if !is_over {
                display.wait_without_view(held);
            }
            drop(ends);
        };
        let thread = thread::Builder::new().name("ferrio-view".into()).spawn(display);
        let thread = thread.inspect_err(|_| shared.screen.give_back())?;
        Ok(LiveView { recorder: LiveRecorder::new(plan), shared, thread: Some(thread), ended, held })
    }

    /// An event of the run.
    pub fn event(&mut self, plan: &Plan, event: &Event<'_>) {
        match event {
            Event::Progress(progress) => self.progress(plan, progress),
            Event::LayingOut { job, files, bytes } => {
                let text = laying_out_line(job, *files, *bytes);
                self.shared.change(|board| board.set_activity(&text));
            }
            Event::Diagnostic(diagnostic) => self.message(&diagnostic.message),
            // Without an error number there is only a message, which came as a diagnostic.
            Event::JobFailed { error, .. } if error.errno == 0 => {}
            Event::JobFailed { job, pid, error } => {
                self.message(&format!("{job}: {}", job_failed(job, *pid, error).message));
            }
            Event::Terminating { signal } => {
                self.shared.change(|board| board.is_ending = true);
                self.message(&terminating(*signal).message);
            }
            Event::Interim(_) => self.message("a report of the run so far is made"),
            Event::Starting { .. } | Event::Released | Event::Interval { .. } => {}
        }
    }

    /// Looks at the figures.
    pub fn look(&mut self, result: &RunResult) {
        let sample = self.recorder.sample(result);
        self.shared.change(|board| board.table.add(sample));
    }

    fn message(&self, text: &str) {
        self.shared.change(|board| board.add_message(text));
    }

    /// Draws only if something changes that is shown: progress comes several times a second.
    fn progress(&self, plan: &Plan, progress: &Progress) {
        let mut board = self.shared.board();
        board.set_activity("");
        let has_changed = board.table.set_progress(plan, progress);
        drop(board);
        if has_changed {
            self.shared.wake();
        }
    }
}

impl Drop for LiveView {
    /// Gives the terminal back.
    fn drop(&mut self) {
        self.shared.screen.end();
        self.shared.wake();
        // Disconnected is the answer; if there is none, the thread is left alone.
        let is_stuck = self.ended.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if let Some(thread) = self.thread.take().filter(|_| !is_stuck) {
            // Its panic has been printed.
            let _ = thread.join();
        }
        self.shared.screen.give_back();
        unblock(self.held);
    }
}

/// Lets these signals act on the calling thread.
fn unblock(signals: SigSet) {
    // The kernel refuses no mask of known signals.
    let _ = signals.thread_unblock();
}

impl Shared {
    /// The board; a panic of the other thread leaves it as it is.
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Board)) {
        change(&mut self.board());
        self.wake();
    }

    fn wake(&self) {
        if !self.has_news.swap(true, SeqCst) {
            // One byte at most is in the pipe, so this does not wait. Nobody may read it any more.
            let _ = (&self.waker).write_all(&[0]);
        }
    }
}

/// The thread that draws and reads keys.
struct Display<'a> {
    shared: &'a Shared,
    keys: Keys,
    woken: PipeReader,
    signals: Signals,
    look: Look,
    view: View,
}

/// Why a wait is over.
#[derive(Debug, PartialEq, Eq)]
enum Woken {
    /// A key was pressed or the size has changed.
    Input,
    /// The board has changed.
    News,
    /// The program is to be stopped or ended, or was continued.
    Signal,
    /// The time is over.
    Time,
    /// There is no terminal any more.
    Gone,
}

type Drawing<'a> = ratatui::Terminal<CrosstermBackend<BufWriter<&'a std::fs::File>>>;

impl Display<'_> {
    /// Draws until the view ends.
    fn run(&mut self) -> io::Result<()> {
        // Of all threads, only this one is interrupted when the size changes.
        SigSet::from(Signal::SIGWINCH).thread_unblock()?;
        let stream = BufWriter::with_capacity(BUFFER, self.shared.screen.stream());
        // Never dropped: it would try to show the cursor, which `Screen` does, and print that it cannot if the terminal has gone. That
        // panics if standard error was the same terminal.
        let mut terminal = ManuallyDrop::new(ratatui::Terminal::new(CrosstermBackend::new(stream))?);
        // From its first call on, it hears of changed sizes.
        self.read_keys(&mut terminal)?;
        let mut due = Some(Instant::now());
        let mut drawn = Instant::now();
        loop {
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            let woken = match left {
                Some(Duration::ZERO) => Woken::Time,
                left => self.wait(left)?,
            };
            if self.shared.screen.is_over() {
                return Ok(());
            }
            match woken {
                Woken::Time => {
                    self.draw(&mut terminal)?;
                    (due, drawn) = (None, Instant::now());
                }
                Woken::News => due = due.or(Some(drawn + MIN_TIME)),
                Woken::Input => {
                    if self.read_keys(&mut terminal)? {
                        due = Some(Instant::now());
                    }
                }
                Woken::Signal => {
                    while let Some(signal) = self.signals.next()? {
                        self.leave(&mut terminal, signal)?;
                    }
                    due = Some(Instant::now());
                }
                Woken::Gone => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    fn draw(&mut self, terminal: &mut Drawing<'_>) -> io::Result<()> {
        let Display { shared, view, look, .. } = self;
        // The board is only locked while the drawing is made, not while it is written.
        terminal.draw(|frame| draw(frame, &shared.board(), view, *look)).map(drop)
    }

    fn wait(&mut self, time: Option<Duration>) -> io::Result<Woken> {
        let keys: BorrowedFd<'_> = match &self.keys {
            Keys::Stdin(stdin) => stdin.as_fd(),
            Keys::Tty(tty) => tty.as_fd(),
        };
        let sources = [keys, self.woken.as_fd(), self.signals.as_fd()];
        let mut sources = sources.map(|source| PollFd::new(source, PollFlags::POLLIN));
        // Rounded up, or it would wait several times for the last part of a millisecond.
        let timeout = match time.map(|time| time.as_micros().div_ceil(1000)) {
            Some(ms) => PollTimeout::try_from(ms).unwrap_or(PollTimeout::MAX),
            None => PollTimeout::NONE,
        };
        match poll(&mut sources, timeout) {
            // The size has changed.
            Err(Errno::EINTR) => return Ok(Woken::Input),
            Err(errno) => return Err(errno.into()),
            Ok(0) => return Ok(Woken::Time),
            Ok(_) => {}
        }
        let [keys, woken, signals] = sources.map(|source| source.revents().unwrap_or(PollFlags::empty()));
        if !signals.is_empty() {
            return Ok(Woken::Signal);
        }
        if !woken.is_empty() {
            self.woken.read_exact(&mut [0])?;
            self.shared.has_news.store(false, SeqCst);
            return Ok(Woken::News);
        }
        // Not left to crossterm, which would try to read again and again.
        let is_gone = keys.intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL);
        Ok(if is_gone { Woken::Gone } else { Woken::Input })
    }

    /// Reads all that there is. True if the screen is to be drawn.
    fn read_keys(&mut self, terminal: &mut Drawing<'_>) -> io::Result<bool> {
        let mut has_input = false;
        while event::poll(Duration::ZERO)? {
            has_input = true;
            let Input::Key(key) = event::read()? else { continue };
            let action = self.view.key(key, &self.shared.board());
            match action {
                None => {}
                Some(Action::Redraw) => redraw(terminal)?,
                Some(Action::End) => {
                    self.shared.board().is_ending = true;
                    kill(getpid(), Signal::SIGINT)?;
                }
                Some(Action::Stop) => self.leave(terminal, Signal::SIGTSTP)?,
            }
        }
        Ok(has_input)
    }

    /// Gives the terminal back for a signal, and takes it again when the program goes on. When it was continued, others had the terminal.
    fn leave(&self, terminal: &mut Drawing<'_>, signal: Signal) -> io::Result<()> {
        self.shared.screen.give_back();
        if signal != Signal::SIGCONT {
            Signals::act(signal)?;
        }
        self.shared.screen.take()?;
        redraw(terminal)
    }

    /// Waits until the view ends. The `held` signals act as without a view.
    fn wait_without_view(&mut self, held: SigSet) {
        self.shared.screen.give_back();
        unblock(held);
        // The pipe is only closed after the end.
        while !self.shared.screen.is_over() && self.woken.read_exact(&mut [0]).is_ok() {
            self.shared.has_news.store(false, SeqCst);
        }
    }
}

/// Empties the screen, so that the next drawing writes all of it.
fn redraw(terminal: &mut Drawing<'_>) -> io::Result<()> {
    // `clear` would ask the terminal where the cursor is, and wait for the answer.
    let size = terminal.size()?;
    terminal.resize((ratatui::layout::Position::ORIGIN, size).into())
}
