//! The launcher passes rank 0's address on: the PMI-1 protocol of MPICH's process managers and of Slurm, a line for each request and answer
//! on a socket that the process inherits.

use std::io::{BufRead, BufReader, Read, Write};

use crate::RendezvousError;

/// Length of an answer at most.
const MAX_LINE: u64 = 8 << 10;

/// The key of rank 0's address.
const KEY: &str = "ferrio-rank0";

/// Longest value in bytes, if the launcher does not say.
const DEFAULT_VALUE: usize = 256;

/// What a rank knows after the exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanged {
    /// The name of the space for keys and values, which tells the run from others.
    pub space: String,
    /// What rank 0 offered.
    pub offer: String,
}

/// Offers something to all ranks as rank 0, or takes what rank 0 offers. Returns when all ranks are here. `offer` gets the length that a
/// value may have, and returns it without blanks.
///
/// # Errors
///
/// The launcher does not answer, or answers something else.
pub fn exchange<S: Read + Write>(
    stream: S,
    offer: Option<&dyn Fn(usize) -> String>,
) -> Result<Exchanged, RendezvousError> {
    let mut manager = Manager(BufReader::new(stream));
    manager.ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init")?;
    let limits = manager.ask("cmd=get_maxes", "maxes")?;
    let space = field(&manager.ask("cmd=get_my_kvsname", "my_kvsname")?, "kvsname")?;
    let longest = field(&limits, "vallen_max").ok().and_then(|length| length.parse().ok());
    if let Some(offer) = offer {
        let value = offer(longest.unwrap_or(DEFAULT_VALUE));
        manager.ask(&format!("cmd=put kvsname={space} key={KEY} value={value}"), "put_result")?;
    }
    manager.ask("cmd=barrier_in", "barrier_out")?;
    let answer = manager.ask(&format!("cmd=get kvsname={space} key={KEY}"), "get_result")?;
    let offer = field(&answer, "value")?;
    // Without it, the launcher would take the end of this process for a crash.
    manager.ask("cmd=finalize", "finalize_ack")?;
    Ok(Exchanged { space, offer })
}

/// The launcher's process manager.
struct Manager<S: Read + Write>(BufReader<S>);

impl<S: Read + Write> Manager<S> {
    fn ask(&mut self, request: &str, answer: &str) -> Result<String, RendezvousError> {
        let failed = |reason: String| RendezvousError::Pmi(format!("`{request}`: {reason}"));
        let stream = self.0.get_mut();
        let sent = stream.write_all(format!("{request}\n").as_bytes()).and_then(|()| stream.flush());
        sent.map_err(|error| failed(error.to_string()))?;
        let mut line = Vec::new();
        let mut limited = self.0.by_ref().take(MAX_LINE);
        limited.read_until(b'\n', &mut line).map_err(|error| failed(reason(&error)))?;
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(failed("no answer".to_owned()));
        };
        let line = String::from_utf8_lossy(line).into_owned();
        let is_well = field(&line, "rc").map_or(true, |code| code == "0");
        if field(&line, "cmd")? != answer || !is_well {
            return Err(failed(format!("`{}`", line.escape_debug())));
        }
        Ok(line)
    }
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => {
            "no answer in time; have all ranks been started?".to_owned()
        }
        _ => error.to_string(),
    }
}

/// The value of a field in a line such as `cmd=get_result rc=0 value=x`.
fn field(line: &str, name: &str) -> Result<String, RendezvousError> {
    let words = line.split_ascii_whitespace().filter_map(|word| word.split_once('='));
    let value = words.into_iter().find(|(of, _)| *of == name).map(|(_, value)| value.to_owned());
    value.ok_or_else(|| RendezvousError::Pmi(format!("no `{name}` in `{}`", line.escape_debug())))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    /// Answers as the process manager of MPICH 4.0 does, and returns what was asked.
    fn manager(stream: UnixStream, value: &'static str) -> thread::JoinHandle<Vec<String>> {
        thread::spawn(move || {
            let mut asked = Vec::new();
            let mut writer = stream.try_clone().unwrap();
            for line in BufReader::new(stream).lines() {
                let line = line.unwrap();
                let command = field(&line, "cmd").unwrap();
                let answer = match command.as_str() {
                    "init" => "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
                    "get_maxes" => "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
                    "get_my_kvsname" => "cmd=my_kvsname kvsname=kvs_77_0",
                    "put" => "cmd=put_result rc=0 msg=success",
                    "barrier_in" => "cmd=barrier_out",
                    "get" => value,
                    _ => "cmd=finalize_ack",
                };
                writeln!(writer, "{answer}").unwrap();
                asked.push(line);
            }
            asked
        })
    }

    const FOUND: &str = "cmd=get_result rc=0 msg=success value=7777;5ec7e7;10.0.0.1";

    #[test]
    fn rank_0_puts_what_the_others_get() {
        for (offer, count) in [(true, 7), (false, 6)] {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let manager = manager(theirs, FOUND);
            let text = |longest: usize| format!("{longest};x");
            let found = exchange(ours, offer.then_some(&text as &dyn Fn(usize) -> String)).unwrap();
            assert_eq!((found.space.as_str(), found.offer.as_str()), ("kvs_77_0", "7777;5ec7e7;10.0.0.1"));
            let asked = manager.join().unwrap();
            assert_eq!((asked.len(), asked.last().unwrap().as_str()), (count, "cmd=finalize"));
            let put = asked.contains(&"cmd=put kvsname=kvs_77_0 key=ferrio-rank0 value=1024;x".to_owned());
            assert_eq!(put, offer);
        }
    }

    #[test]
    fn what_the_launcher_refuses_is_said() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let manager = manager(theirs, "cmd=get_result rc=-1 msg=key_not_found value=unknown");
        let error = exchange(ours, None).unwrap_err().to_string();
        assert!(error.contains("key_not_found") && error.contains("cmd=get "), "{error}");
        manager.join().unwrap();
    }

    #[test]
    fn a_launcher_that_is_gone_or_never_stops_is_an_error() {
        struct Stream<R>(R);
        impl<R: Read> Read for Stream<R> {
            fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
                self.0.read(bytes)
            }
        }
        impl<R> Write for Stream<R> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for error in [
            exchange(Stream(io::empty()), None).unwrap_err(),
            exchange(Stream(io::repeat(b'x')), None).unwrap_err(),
        ] {
            assert!(error.to_string().contains("no answer"), "{error}");
        }
    }
}
