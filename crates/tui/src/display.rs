//! The display of a board: the thread that draws it and reads keys.
//!
//! The thread that has the run only changes the figures of the board. The other thread does everything that may block: it writes to the
//! terminal and reads from it.

use std::io::{self, BufWriter, PipeReader, PipeWriter, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ferrio_report::LiveTable;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::getpid;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event as Input};

use crate::board::Board;
use crate::draw::draw;
use crate::screen::{Keys, NoTerminal, Terminal, TerminalScreen};
use crate::signals::Signals;
use crate::style::TerminalStyle;
use crate::view::{KeyAction, View};

/// Shortest time between two drawings, unless a key is pressed.
const DRAW_INTERVAL: Duration = Duration::from_millis(100);
/// Longest wait for the last drawing: a terminal may have stopped reading.
const END_TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes of a drawing that are written at once.
const BUFFER_BYTES: usize = 1 << 16;

/// A board on the terminal, from its start until it is dropped.
#[derive(Debug)]
pub(crate) struct DisplayedBoard {
    shared: Arc<SharedBoard>,
    thread: Option<JoinHandle<()>>,
    /// Receives a message when the thread ends.
    ended: Receiver<()>,
    /// Signals that the view blocks.
    held: SigSet,
}

/// State that both threads share.
#[derive(Debug)]
struct SharedBoard {
    board: Mutex<Board>,
    screen: Arc<TerminalScreen>,
    waker: PipeWriter,
    /// Whether the board has changed since the last drawing. The pipe then has a byte.
    is_changed: AtomicBool,
}

impl DisplayedBoard {
    /// Takes the terminal. Must be called on the thread that starts all others: from now on it blocks signals that end the run, so that
    /// they cannot end the program before the terminal is given back, and the signal of a changed size, which would interrupt I/Os. Signals
    /// that stop or end the program at once are blocked until the view is dropped.
    ///
    /// # Errors
    /// The terminal cannot be set up, or no thread can be started.
    pub(crate) fn start(terminal: Terminal, table: LiveTable, has_colors: bool) -> Result<Self, NoTerminal> {
        let blocked: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGWINCH].into_iter().collect();
        blocked.thread_block().map_err(|errno| NoTerminal::SetUp(errno.into()))?;
        let (signals, held) = Signals::hold().map_err(NoTerminal::SetUp)?;
        // Without a view, the signals act at once: the terminal may have gone.
        let begun = Self::begin(terminal, table, has_colors, signals, held).inspect_err(|_| unblock(held));
        begun.map_err(NoTerminal::SetUp)
    }

    fn begin(
        terminal: Terminal,
        table: LiveTable,
        has_colors: bool,
        signals: Signals,
        held: SigSet,
    ) -> io::Result<Self> {
        let (look, keys) = (terminal.style(has_colors), terminal.keys()?);
        let (woken, waker) = io::pipe()?;
        let shared = Arc::new(SharedBoard {
            board: Mutex::new(Board::new(table)),
            screen: TerminalScreen::new(terminal),
            waker,
            is_changed: AtomicBool::new(false),
        });
        shared.screen.take()?;
        let (ends, ended) = channel();
        let of_thread = Arc::clone(&shared);
        let display = move || {
            let mut display =
                Display { shared: &of_thread, keys, woken, signals, look, view: View::default() };
            // If the terminal has gone or a write fails, the display ends and the run continues.
            let is_over = display.run().is_ok();
            if !is_over {
                display.wait_without_view(held);
            }
            drop(ends);
        };
        let thread = thread::Builder::new().name("ferrio-view".into()).spawn(display);
        let thread = thread.inspect_err(|_| shared.screen.give_back())?;
        Ok(DisplayedBoard { shared, thread: Some(thread), ended, held })
    }

    /// Changes the board, and has it drawn.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Board)) {
        self.shared.change(change);
    }

    /// Changes the board, and has it drawn if `change` says so.
    pub(crate) fn change_if(&self, change: impl FnOnce(&mut Board) -> bool) {
        let has_changed = change(&mut self.shared.board());
        if has_changed {
            self.shared.wake();
        }
    }

    /// Shows a message.
    pub(crate) fn message(&self, text: &str) {
        self.change(|board| board.add_message(text));
    }
}

impl Drop for DisplayedBoard {
    /// Gives the terminal back.
    fn drop(&mut self) {
        self.shared.screen.end();
        self.shared.wake();
        // The thread answers by disconnecting; without an answer, it is left alone.
        let is_stuck =
            self.ended.recv_timeout(END_TIMEOUT) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if let Some(thread) = self.thread.take().filter(|_| !is_stuck) {
            // The panic has already been printed.
            let _ = thread.join();
        }
        self.shared.screen.give_back();
        unblock(self.held);
    }
}

/// Unblocks the signals in the calling thread.
fn unblock(signals: SigSet) {
    // The kernel refuses no mask of known signals.
    let _ = signals.thread_unblock();
}

impl SharedBoard {
    /// Locks the board. A panic of the other thread leaves it consistent.
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Board)) {
        change(&mut self.board());
        self.wake();
    }

    fn wake(&self) {
        if !self.is_changed.swap(true, SeqCst) {
            // The pipe holds at most one byte, so this does not block. The reader may have gone.
            let _ = (&self.waker).write_all(&[0]);
        }
    }
}

/// The thread that draws and reads keys.
struct Display<'a> {
    shared: &'a SharedBoard,
    keys: Keys,
    woken: PipeReader,
    signals: Signals,
    look: TerminalStyle,
    view: View,
}

/// A reason for the end of a wait.
#[derive(Debug, PartialEq, Eq)]
enum WaitEnd {
    /// A key was pressed, or the size has changed.
    Input,
    /// The board has changed.
    News,
    /// The program was told to stop, end or continue.
    Signal,
    /// The time is over.
    Time,
    /// The terminal has gone.
    Gone,
}

type RatatuiTerminal<'a> = ratatui::Terminal<CrosstermBackend<BufWriter<&'a std::fs::File>>>;

impl Display<'_> {
    /// Draws until the view ends.
    fn run(&mut self) -> io::Result<()> {
        // Only this thread is interrupted when the size changes.
        SigSet::from(Signal::SIGWINCH).thread_unblock()?;
        let stream = BufWriter::with_capacity(BUFFER_BYTES, self.shared.screen.stream());
        // Never dropped: it would try to show the cursor, which `TerminalScreen` does, and print an error if the terminal has gone, which
        // panics if stderr was the same terminal.
        let mut terminal = ManuallyDrop::new(ratatui::Terminal::new(CrosstermBackend::new(stream))?);
        // From its first call on, crossterm receives changes of the size.
        self.read_keys(&mut terminal)?;
        let mut due = Some(Instant::now());
        let mut drawn = Instant::now();
        loop {
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            let woken = match left {
                Some(Duration::ZERO) => WaitEnd::Time,
                left => self.wait(left)?,
            };
            if self.shared.screen.is_over() {
                return Ok(());
            }
            match woken {
                WaitEnd::Time => {
                    self.draw(&mut terminal)?;
                    (due, drawn) = (None, Instant::now());
                }
                WaitEnd::News => due = due.or(Some(drawn + DRAW_INTERVAL)),
                WaitEnd::Input => {
                    if self.read_keys(&mut terminal)? {
                        due = Some(Instant::now());
                    }
                }
                WaitEnd::Signal => {
                    while let Some(signal) = self.signals.next()? {
                        self.leave(&mut terminal, signal)?;
                    }
                    due = Some(Instant::now());
                }
                WaitEnd::Gone => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    fn draw(&mut self, terminal: &mut RatatuiTerminal<'_>) -> io::Result<()> {
        let Display { shared, view, look, .. } = self;
        // The board is locked only while the drawing is made, not while it is written.
        terminal.draw(|frame| draw(frame, &shared.board(), view, *look)).map(drop)
    }

    fn wait(&mut self, time: Option<Duration>) -> io::Result<WaitEnd> {
        let keys: BorrowedFd<'_> = match &self.keys {
            Keys::Stdin(stdin) => stdin.as_fd(),
            Keys::Tty(tty) => tty.as_fd(),
        };
        let sources = [keys, self.woken.as_fd(), self.signals.as_fd()];
        let mut sources = sources.map(|source| PollFd::new(source, PollFlags::POLLIN));
        // Rounded up: otherwise the last part of a millisecond would take several waits.
        let timeout = match time.map(|time| time.as_micros().div_ceil(1000)) {
            Some(ms) => PollTimeout::try_from(ms).unwrap_or(PollTimeout::MAX),
            None => PollTimeout::NONE,
        };
        match poll(&mut sources, timeout) {
            // The size has changed.
            Err(Errno::EINTR) => return Ok(WaitEnd::Input),
            Err(errno) => return Err(errno.into()),
            Ok(0) => return Ok(WaitEnd::Time),
            Ok(_) => {}
        }
        let [keys, woken, signals] = sources.map(|source| source.revents().unwrap_or(PollFlags::empty()));
        if !signals.is_empty() {
            return Ok(WaitEnd::Signal);
        }
        if !woken.is_empty() {
            self.woken.read_exact(&mut [0])?;
            self.shared.is_changed.store(false, SeqCst);
            return Ok(WaitEnd::News);
        }
        // Crossterm would retry the read forever.
        let is_gone = keys.intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL);
        Ok(if is_gone { WaitEnd::Gone } else { WaitEnd::Input })
    }

    /// Reads all pending input. Returns whether the screen must be redrawn.
    fn read_keys(&mut self, terminal: &mut RatatuiTerminal<'_>) -> io::Result<bool> {
        let mut has_input = false;
        while event::poll(Duration::ZERO)? {
            has_input = true;
            let Input::Key(key) = event::read()? else { continue };
            let action = self.view.key(key, &self.shared.board());
            match action {
                None => {}
                Some(KeyAction::Redraw) => redraw(terminal)?,
                Some(KeyAction::End) => {
                    self.shared.board().is_ending = true;
                    kill(getpid(), Signal::SIGINT)?;
                }
                Some(KeyAction::Stop) => self.leave(terminal, Signal::SIGTSTP)?,
                Some(KeyAction::Explain(why)) => self.shared.board().add_message(why),
            }
        }
        Ok(has_input)
    }

    /// Gives the terminal back for a signal, and takes it again when the program continues. After a continue signal, others may have used
    /// the terminal.
    fn leave(&self, terminal: &mut RatatuiTerminal<'_>, signal: Signal) -> io::Result<()> {
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
        // The pipe is closed only after the end.
        while !self.shared.screen.is_over() && self.woken.read_exact(&mut [0]).is_ok() {
            self.shared.is_changed.store(false, SeqCst);
        }
    }
}

/// Clears the screen, so that the next drawing writes all of it.
fn redraw(terminal: &mut RatatuiTerminal<'_>) -> io::Result<()> {
    // `clear` would ask the terminal for the cursor position and wait for the answer.
    let size = terminal.size()?;
    terminal.resize((ratatui::layout::Position::ORIGIN, size).into())
}
