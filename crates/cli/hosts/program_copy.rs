//! `--copy`: brings this program to hosts that lack it.
//!
//! On each host a POSIX shell reads a script from the connection that carries the conversation afterwards: no argument has to survive the
//! quoting of ssh, kubectl and login shells. Shells read ahead, so the script is one command, and nothing more is sent before the host asks
//! for it. The program is started from an open descriptor, after its file is removed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use ferrio_hosts::{Closer, Ends, UserRequest};
use ferrio_job::Compat;
use nix::sys::utsname::uname;

use super::shell_word::quoted;
use crate::queries;

/// How long a host may take for its next word, or for the next piece of the program.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(60);

/// Time between two looks at the progress.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Why a host has no agent if the user ends the run early.
pub const ENDED: &str = "the run was ended before it had the program";

/// Bytes of what a login shell prints before the script begins, at the most.
const MAX_PREAMBLE: usize = 64 << 10;

/// Bytes of the program that are sent at once.
const PIECE: usize = 64 << 10;

/// Stack of a thread that only moves bytes, which are on the heap.
const THREAD_STACK: usize = 128 << 10;

/// The script. The words between @ are replaced. A file of that name is never overwritten: `mkdir` fails if there is one.
const SCRIPT: &str = r#"
has=lacks
test "$(@FERRIO@ --version 2>/dev/null)" = "@VERSION@" && has=has
echo "ferrio-host $has $(uname -m)"
read -r answer size || exit 1
test "$answer" = run && exec @FERRIO@ agent
test "$answer" = copy || exit 1
umask 077
found=
for parent in "${TMPDIR:-/tmp}" /var/tmp /dev/shm "$HOME"; do
    directory=$parent/@NAME@
    mkdir "$directory" 2>/dev/null || continue
    printf '#!/bin/sh\n' >"$directory/try" && chmod 700 "$directory/try" && "$directory/try" && found=$directory && break
    rm -rf "$directory"
done 2>/dev/null
test -n "$found" || { echo ferrio-nowhere; exit 1; }
trap 'rm -rf "$found"' EXIT
trap 'exit 1' HUP INT PIPE TERM
echo ferrio-send
head -c "$size" >"$found/ferrio"
test "$(wc -c <"$found/ferrio")" -eq "$size" && chmod 700 "$found/ferrio" || exit 1
exec 3<"$found/ferrio"
rm -rf "$found"
trap - EXIT HUP INT PIPE TERM
echo ferrio-copied
exec /proc/self/fd/3 agent
"#;

/// The ends of the agents that the `shells` of the hosts have become, in order. `stop` ends the wait.
#[must_use]
pub fn agents_of(
    shells: Vec<io::Result<Ends>>,
    ferrio: &str,
    stop: &Receiver<UserRequest>,
) -> Vec<io::Result<Ends>> {
    let script = Arc::new(script(ferrio));
    let (sender, ended) = channel();
    let mut waiting = Vec::new();
    let mut agents: Vec<io::Result<Ends>> = Vec::new();
    for (at, shell) in shells.into_iter().enumerate() {
        agents.push(shell.and_then(|ends| {
            waiting.push(Waiting::start(at, ends, Arc::clone(&script), sender.clone())?);
            Err(io::Error::other(ENDED))
        }));
    }
    drop(sender);
    while !waiting.is_empty() {
        match ended.recv_timeout(LOOK_INTERVAL) {
            Ok((at, outcome)) => {
                let Some(position) = waiting.iter().position(|host| host.at == at) else { continue };
                agents[at] = waiting.swap_remove(position).end(outcome);
            }
            Err(RecvTimeoutError::Timeout) if stop.try_recv().is_ok() => break,
            Err(RecvTimeoutError::Timeout) => waiting.iter_mut().for_each(Waiting::look),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    waiting.into_iter().for_each(|mut host| host.closer.close());
    agents
}

fn script(ferrio: &str) -> String {
    let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let name = format!("ferrio-{}-{:x}", process::id(), time.as_nanos());
    let script = SCRIPT.replace("@NAME@", &name).replace("@VERSION@", &queries::version(Compat::Ferrio));
    format!("exec sh -c {}\n", quoted(&script.replace("@FERRIO@", ferrio)))
}

/// Streams of a connection.
type Streams = (Box<dyn Read + Send>, Box<dyn Write + Send>);

/// A host that is being asked.
struct Waiting {
    at: usize,
    closer: Box<dyn Closer>,
    steps: Arc<AtomicU64>,
    last: (u64, Instant),
    is_late: bool,
}

impl Waiting {
    fn start(
        at: usize,
        ends: Ends,
        script: Arc<String>,
        ended: Sender<(usize, io::Result<Streams>)>,
    ) -> io::Result<Self> {
        let Ends { mut reader, mut writer, closer, .. } = ends;
        let steps = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&steps);
        thread::Builder::new().stack_size(THREAD_STACK).spawn(move || {
            let outcome = bring_program(&mut reader, &mut writer, &script, &counter);
            let _ = ended.send((at, outcome.map(|()| (reader, writer))));
        })?;
        Ok(Waiting { at, closer, steps, last: (0, Instant::now()), is_late: false })
    }

    /// Ends the connection to a host that does not go on.
    fn look(&mut self) {
        let steps = self.steps.load(Ordering::Relaxed);
        if steps != self.last.0 {
            self.last = (steps, Instant::now());
        } else if self.last.1.elapsed() >= PROGRESS_TIMEOUT && !self.is_late {
            self.is_late = true;
            self.closer.close();
        }
    }

    fn end(mut self, outcome: io::Result<Streams>) -> io::Result<Ends> {
        match outcome {
            Ok((reader, writer)) => Ok(Ends { reader, writer, closer: self.closer, token: None }),
            Err(_) if self.is_late => {
                Err(io::Error::other(format!("no answer for {} s", PROGRESS_TIMEOUT.as_secs())))
            }
            // The connection has ended: the command knows why.
            Err(error) if is_end(&error) => Err(self.closer.last_words().map_or(error, io::Error::other)),
            Err(error) => Err(error),
        }
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe)
}

/// Makes an agent of a shell, with a copy of this program if the host lacks it.
fn bring_program(
    reader: &mut impl Read,
    writer: &mut impl Write,
    script: &str,
    steps: &AtomicU64,
) -> io::Result<()> {
    let step = || {
        steps.fetch_add(1, Ordering::Relaxed);
    };
    writer.write_all(script.as_bytes())?;
    writer.flush()?;
    let about = answer(reader, "ferrio-host ")?;
    step();
    let (has, arch) = about.split_once(' ').unwrap_or((&about, ""));
    if has == "has" {
        writer.write_all(b"run\n")?;
        return writer.flush();
    }
    let here = uname().ok().map(|about| about.machine().to_string_lossy().into_owned()).unwrap_or_default();
    if arch != here {
        return Err(io::Error::other(format!(
            "its architecture is {arch}, and this program is for {here}: install ferrio there"
        )));
    }
    let mut program = File::open("/proc/self/exe")?;
    writeln!(writer, "copy {}", program.metadata()?.len())?;
    writer.flush()?;
    let sends = answer(reader, "ferrio-")?;
    step();
    if sends != "send" {
        let message = "it has no directory in which this user may run a program: TMPDIR, /tmp, /var/tmp, /dev/shm, HOME";
        return Err(io::Error::other(message));
    }
    let mut piece = vec![0; PIECE];
    loop {
        match program.read(&mut piece)? {
            0 => break,
            length => writer.write_all(&piece[..length])?,
        }
        step();
    }
    writer.flush()?;
    answer(reader, "ferrio-copied").map(drop)
}

/// The rest of the next line that begins with `start`. Login shells may print other lines before.
fn answer(reader: &mut impl Read, start: &str) -> io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    for _ in 0..MAX_PREAMBLE {
        reader.read_exact(&mut byte)?;
        if byte != *b"\n" {
            line.push(byte[0]);
            continue;
        }
        let text = String::from_utf8_lossy(&line);
        if let Some(rest) = text.trim_end().strip_prefix(start) {
            return Ok(rest.chars().filter(|sign| !sign.is_control()).collect());
        }
        line.clear();
    }
    Err(io::Error::other("its shell prints too much, and runs no script"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bring(answers: &str) -> (io::Result<()>, String) {
        let mut sent = Vec::new();
        let outcome = bring_program(&mut answers.as_bytes(), &mut sent, "script\n", &AtomicU64::new(0));
        (outcome, String::from_utf8_lossy(&sent).chars().take(60).collect())
    }

    #[test]
    fn a_host_that_has_the_program_runs_it() {
        let (outcome, sent) = bring("Welcome to n1\nferrio-host has x86_64\n");
        assert!(outcome.is_ok() && sent == "script\nrun\n", "{sent}");
    }

    #[test]
    fn a_host_of_another_architecture_is_refused_with_both_named() {
        let here = uname().unwrap().machine().to_str().unwrap().to_owned();
        let (outcome, sent) = bring("ferrio-host lacks vax\n");
        let error = outcome.unwrap_err().to_string();
        assert_eq!(
            error,
            format!("its architecture is vax, and this program is for {here}: install ferrio there")
        );
        assert_eq!(sent, "script\n");
    }

    #[test]
    fn nothing_is_sent_to_a_host_that_has_no_room() {
        let here = uname().unwrap().machine().to_str().unwrap().to_owned();
        let (outcome, sent) = bring(&format!("ferrio-host lacks {here}\nferrio-nowhere\n"));
        assert!(outcome.unwrap_err().to_string().starts_with("it has no directory"));
        assert!(sent.starts_with("script\ncopy ") && sent.lines().count() == 2, "{sent}");
    }

    #[test]
    fn a_shell_that_prints_without_end_is_left() {
        let mut endless = io::repeat(b'\n');
        assert!(answer(&mut endless, "ferrio-host ").unwrap_err().to_string().contains("prints too much"));
        assert!(is_end(&answer(&mut &b"no line"[..], "ferrio-host ").unwrap_err()));
    }
}
