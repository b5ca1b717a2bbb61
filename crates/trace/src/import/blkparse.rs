//! The text of blkparse: one line per event of a block request.
//!
//! A request passes through several events (queued, merged, issued, completed). One kind of event stands for the I/O: the queueing `Q`,
//! unless the trace has none.

use super::event::{LineError, SkipReason, TraceContents, TraceEvent, TraceEventKind};
use super::fields::{duration_ns, whole, words};
use super::kind::{RequestKind, check_range};

const SECTOR: u64 = 512;
const SECOND: u64 = 1_000_000_000;

/// The beginnings of the lines with statistics at the end of blkparse's output.
const STATISTICS: [&str; 13] = [
    "CPU",
    "Total (",
    "Reads ",
    "Read ",
    "IO unplugs",
    "Throughput",
    "Events (",
    "Skips:",
    "Input file",
    "Writes ",
    "PC ",
    "Timer unplugs",
    "=",
];

/// Events that may represent the I/O in order of preference: queued, issued, completed.
pub const EVENTS: [u8; 3] = *b"QDC";

/// Reads the output of blkparse.
#[derive(Debug)]
pub struct Blkparse {
    /// The event that represents the I/O.
    event: u8,
    /// The form of lines, unless it is the default.
    form: Option<BlkparseForm>,
    /// Number of requests that are queued and not completed.
    in_flight: u32,
}

/// An event of a request.
#[derive(Debug, Default)]
struct BlkparseRequest<'a> {
    device: Vec<u8>,
    time_ns: u64,
    pid: Option<u32>,
    action: &'a [u8],
    letters: &'a [u8],
    sector: Option<u64>,
    bytes: u64,
}

impl<'a> BlkparseRequest<'a> {
    fn parse(line: &'a [u8], form: Option<&BlkparseForm>) -> Result<Self, LineError> {
        form.map_or_else(|| usual(line), |form| form.request(line))
    }
}

impl Blkparse {
    /// Reads lines in which `event` represents the I/O; without `form` they are those of blkparse without `-f`.
    #[must_use]
    pub fn new(event: u8, form: Option<BlkparseForm>) -> Self {
        Blkparse { event, form, in_flight: 0 }
    }

    /// The event that represents the I/O in a trace that begins with these lines.
    #[must_use]
    pub fn choose_event<'a>(lines: impl Iterator<Item = &'a [u8]>, form: Option<&BlkparseForm>) -> u8 {
        let mut seen = [false; EVENTS.len()];
        for line in lines {
            if let Ok(request) = BlkparseRequest::parse(line, form)
                && let Some(at) = EVENTS.iter().position(|&event| request.action == [event])
            {
                seen[at] = true;
            }
        }
        seen.iter().position(|&seen| seen).map_or(EVENTS[0], |at| EVENTS[at])
    }

    /// The event that represents the I/O; `None` if every line is an I/O.
    #[must_use]
    pub fn event(&self) -> Option<char> {
        self.form.as_ref().is_none_or(|form| form.has(b'a')).then_some(char::from(self.event))
    }

    /// Reads a line.
    ///
    /// # Errors
    /// The line is not from blkparse.
    pub fn line(&mut self, line: &[u8], found: &mut TraceContents) -> Result<(), LineError> {
        let request = match BlkparseRequest::parse(line, self.form.as_ref()) {
            Ok(request) => request,
            // With -f, the event before a line of statistics has no form of its own.
            Err(_) if is_statistics(line) => return Ok(()),
            Err(why) => return Err(why),
        };
        self.count(request.action, found);
        if self.event().is_some() && request.action != [self.event] {
            found.skip(SkipReason::OtherEvent);
            return Ok(());
        }
        let kind = RequestKind::from_letters(request.letters).ok_or("its letters (RWBS) are unknown")?;
        let sector = request.sector.unwrap_or(0);
        let offset = sector.checked_mul(SECTOR).ok_or("the sector is too large")?;
        check_range(offset, request.bytes)?;
        let actions = kind.actions(request.bytes);
        if actions.iter().all(Option::is_none) {
            found.skip(kind.skip());
        }
        let target = found.targets.number(&request.device);
        for (action, len) in actions.into_iter().flatten() {
            let what = TraceEventKind::Io { action, offset: if len == 0 { 0 } else { offset }, len };
            let event =
                TraceEvent { time_ns: request.time_ns, took_ns: None, pid: request.pid, target, what };
            found.events.push(event);
        }
        Ok(())
    }

    /// Updates the number of requests in flight: queued, and neither merged nor completed.
    fn count(&mut self, action: &[u8], found: &mut TraceContents) {
        match action {
            b"Q" => self.in_flight = self.in_flight.saturating_add(1),
            b"C" => {
                found.remarks.deepest = found.remarks.deepest.max(self.in_flight);
                self.in_flight = self.in_flight.saturating_sub(1);
            }
            b"M" | b"F" => self.in_flight = self.in_flight.saturating_sub(1),
            _ => {}
        }
    }
}

fn is_statistics(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    STATISTICS.iter().any(|start| line.starts_with(start.as_bytes()))
}

/// Parses a line of blkparse without `-f`: device, CPU, sequence, time, process, event, letters, and the fields of the event.
fn usual(line: &[u8]) -> Result<BlkparseRequest<'_>, LineError> {
    let mut fields = words(line);
    let mut next = |what: &'static str| fields.next().ok_or(what);
    let device = next("it has no device")?;
    let number = |bytes: &[u8]| whole::<u32>(bytes).is_some();
    let is_device = match device.iter().position(|&byte| byte == b',') {
        Some(at) => number(&device[..at]) && number(&device[at + 1..]),
        None => false,
    };
    if !is_device {
        return Err("it does not begin with the numbers of a device".into());
    }
    whole::<u32>(next("it has no CPU")?).ok_or("it has no CPU")?;
    whole::<u64>(next("it has no sequence number")?).ok_or("it has no sequence number")?;
    let time_ns = duration_ns(next("it has no time")?, SECOND).ok_or("it has no time")?;
    let pid = Some(whole(next("it has no process")?).ok_or("it has no process")?);
    let action = next("it has no event")?;
    let letters = next("it has no letters (RWBS)")?;
    let mut request = BlkparseRequest {
        device: device.to_vec(),
        time_ns,
        pid,
        action,
        letters,
        ..BlkparseRequest::default()
    };
    // `SECTOR + SECTORS`; a flush has nothing or 0 here.
    let sector = fields.next().and_then(whole);
    if let (Some(sector), Some(b"+")) = (sector, fields.next()) {
        let sectors: u64 = fields.next().and_then(whole).ok_or("it has no number of sectors")?;
        request.sector = Some(sector);
        request.bytes = sectors.checked_mul(SECTOR).ok_or("the number of sectors is too large")?;
    }
    Ok(request)
}

/// The form of lines, as passed to blkparse with `-f`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlkparseForm {
    parts: Vec<FormPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FormPart {
    /// Text between fields; a blank matches any number of blanks.
    Text(Vec<u8>),
    /// A field, by its letter.
    Field(u8),
}

/// A reason why a form is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlkparseFormError {
    /// The field does not exist.
    #[error("blkparse has no field `%{0}`")]
    Unknown(char),
    /// The lines lack a field that the I/O log needs.
    #[error("lines of this form do not show {0}")]
    Missing(&'static str),
    /// Two fields are not separated.
    #[error("nothing separates `%{0}` from the field before it")]
    Joined(char),
}

impl BlkparseForm {
    /// Parses the argument of `-f`.
    ///
    /// # Errors
    /// A field is unknown, or one that an I/O log needs is missing.
    pub fn parse(text: &str) -> Result<BlkparseForm, BlkparseFormError> {
        let mut parts = Vec::new();
        let mut literal = Vec::new();
        let mut bytes = text.bytes().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'%' => {
                    // A width, and a minus for left-aligned fields.
                    while bytes.next_if(|byte| byte.is_ascii_digit() || *byte == b'-').is_some() {}
                    let field = bytes.next().unwrap_or(b'%');
                    if !b"aCcDdegMmNnPpSsTtUuz".contains(&field) {
                        return Err(BlkparseFormError::Unknown(char::from(field)));
                    }
                    if literal.is_empty() && !parts.is_empty() {
                        return Err(BlkparseFormError::Joined(char::from(field)));
                    }
                    if !literal.is_empty() {
                        parts.push(FormPart::Text(std::mem::take(&mut literal)));
                    }
                    parts.push(FormPart::Field(field));
                }
                b'\\' => match bytes.next() {
                    Some(b'n' | b'r') | None => {}
                    Some(b't') => literal.push(b' '),
                    Some(other) => literal.push(other),
                },
                b'\n' | b'\r' => {}
                other => literal.push(other),
            }
        }
        if !literal.is_empty() {
            parts.push(FormPart::Text(literal));
        }
        let form = BlkparseForm { parts };
        let needs = [
            (form.has(b'T') && form.has(b't'), "the time (%T.%t)"),
            (form.has(b'd'), "whether an I/O reads or writes (%d)"),
            (form.has(b'S'), "the sector (%S)"),
            (form.has(b'n') || form.has(b'N'), "the length (%n or %N)"),
        ];
        match needs.iter().find(|(has, _)| !has) {
            Some((_, what)) => Err(BlkparseFormError::Missing(what)),
            None => Ok(form),
        }
    }

    fn has(&self, field: u8) -> bool {
        self.parts.contains(&FormPart::Field(field))
    }

    fn request<'a>(&self, line: &'a [u8]) -> Result<BlkparseRequest<'a>, LineError> {
        let mut request = BlkparseRequest::default();
        let mut rest = line;
        let mut major: &[u8] = b"";
        let mut minor: &[u8] = b"";
        for (at, part) in self.parts.iter().enumerate() {
            let field = match part {
                FormPart::Text(text) => {
                    rest = past(rest, text).ok_or("it does not match --blkparse-form")?;
                    continue;
                }
                FormPart::Field(field) => *field,
            };
            let until = match self.parts.get(at + 1) {
                Some(FormPart::Text(text)) => text.as_slice(),
                _ => b"",
            };
            // Fields are padded on the left; only command names contain blanks, and only a visible separator ends them.
            rest = rest.trim_ascii_start();
            let (value, after) = rest.split_at(end_of(rest, until, field));
            rest = after;
            let value = value.trim_ascii();
            let number =
                || whole::<u64>(value).ok_or(LineError::Borrowed("it does not match --blkparse-form"));
            match field {
                b'a' => request.action = value,
                b'd' => request.letters = value,
                b'D' => request.device = value.iter().copied().filter(|byte| *byte != b' ').collect(),
                b'M' => major = value,
                b'm' => minor = value,
                b'p' => request.pid = u32::try_from(number()?).ok(),
                b'S' => request.sector = Some(number()?),
                b'n' => {
                    request.bytes =
                        number()?.checked_mul(SECTOR).ok_or("the number of sectors is too large")?
                }
                b'N' => request.bytes = number()?,
                b'T' => {
                    let ns = number()?.checked_mul(SECOND).ok_or("the time is too large")?;
                    request.time_ns = request.time_ns.saturating_add(ns);
                }
                b't' => request.time_ns = request.time_ns.saturating_add(number()?),
                _ => {}
            }
        }
        if !major.is_empty() {
            request.device = [major, b",", minor].concat();
        }
        if request.device.is_empty() {
            request.device = b"device".to_vec();
        }
        Ok(request)
    }
}

/// The rest of `line` after `text`; blanks match any number of blanks.
fn past<'a>(line: &'a [u8], text: &[u8]) -> Option<&'a [u8]> {
    let mut rest = line;
    for byte in text {
        if byte.is_ascii_whitespace() {
            rest = rest.trim_ascii_start();
        } else {
            rest = rest.trim_ascii_start().strip_prefix(&[*byte])?;
        }
    }
    Some(rest)
}

/// The end of a field that is followed by this text.
fn end_of(line: &[u8], until: &[u8], field: u8) -> usize {
    let stop = until.iter().find(|byte| !byte.is_ascii_whitespace());
    match stop {
        // The first byte of the separator cannot be part of a number or of letters; in `8,16` it can.
        Some(&stop) if field == b'D' && stop == b',' => {
            let commas = line.iter().enumerate().filter(|(_, byte)| **byte == b',');
            commas.map(|(at, _)| at).nth(1).unwrap_or(line.len())
        }
        Some(&stop) => line.iter().position(|&byte| byte == stop).unwrap_or(line.len()),
        None if until.is_empty() => line.len(),
        None => line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IoAction;

    /// Output of blkparse, statistics included.
    const OUTPUT: &str = "\
  8,16   0        2     0.000000000    77  Q  WS 8 + 8 [mydd]
  8,16   0        4     0.000000150    77  G  WS 8 + 8 [mydd]
  8,16   0        5     0.000000200    77  D  WS 8 + 8 [mydd]
  8,16   0        7     0.001000000    77  Q   R 2048 + 256 [my dd]
  8,16   0        6     0.001050000    77  C  WS 8 + 8 [0]
  8,16   0       17     0.003000000    77  Q   D 65536 + 128 [mydd]
  8,16   0       22     0.004000000    77  Q  FW [mydd]
  8,16   0       26     0.004050000    77  C  FW 0 [0]
  8,16   0       27     0.005000000    78  Q FWSM 300 + 1 [mydd]
  0,0    0       32     0.006000000    77  A   W 8 + 8 <- (8,17) 100
  8,16   0       33     0.006000000    77  X   W 8 / 9 [mydd]
  8,16   0       34     0.006000000    77  M   W 8 + 8 [mydd]
  8,16   0       35     0.006000000    77  U   N [mydd] 1
  8,16   1       36     0.007000000     0  m   N cfq workload slice:300
CPU0 (sdb):
 Reads Queued:           2,      136KiB\t Writes Queued:           4,       68KiB
 Read depth:             1        \t Write depth:             1
 IO unplugs:             1        \t Timer unplugs:           0

Throughput (R/W): 22666KiB/s / 11418KiB/s
Events (sdb): 34 entries
Skips: 0 forward (0 -   0.0%)
Input file sdb.blktrace.0 added
";

    fn read(mut parser: Blkparse, text: &str) -> (Vec<TraceEvent>, TraceContents) {
        let mut found = TraceContents::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            parser.line(line.as_bytes(), &mut found).unwrap_or_else(|why| panic!("{line}: {why}"));
        }
        (std::mem::take(&mut found.events), found)
    }

    fn whats(events: &[TraceEvent]) -> Vec<(u64, TraceEventKind)> {
        events.iter().map(|event| (event.time_ns, event.what)).collect()
    }

    fn io(action: IoAction, offset: u64, len: u64) -> TraceEventKind {
        TraceEventKind::Io { action, offset, len }
    }

    #[test]
    fn queued_requests_are_the_ios() {
        let (events, found) = read(Blkparse::new(b'Q', None), OUTPUT);
        let want = [
            (0, io(IoAction::Write, 4096, 4096)),
            (1_000_000, io(IoAction::Read, 1_048_576, 131_072)),
            (3_000_000, io(IoAction::Trim, 33_554_432, 65536)),
            (4_000_000, io(IoAction::Sync, 0, 0)),
            (5_000_000, io(IoAction::Sync, 0, 0)),
            (5_000_000, io(IoAction::Write, 153_600, 512)),
        ];
        assert_eq!(whats(&events), want);
        assert_eq!((events[0].pid, events[4].pid), (Some(77), Some(78)));
        assert_eq!(found.targets.name(0), b"8,16");
        assert_eq!(found.skipped[SkipReason::OtherEvent as usize], 9);
        assert_eq!(found.remarks.deepest, 3);
    }

    #[test]
    fn the_first_events_of_a_trace_decide_which_stands_for_the_io() {
        let choose = |text: &str| Blkparse::choose_event(text.lines().map(str::as_bytes), None);
        assert_eq!(choose(OUTPUT), b'Q');
        let issued: String =
            OUTPUT.lines().filter(|line| !line.contains("  Q ")).map(|line| format!("{line}\n")).collect();
        assert_eq!(choose(&issued), b'D');
        assert_eq!(choose(""), b'Q');
        let (events, _) = read(Blkparse::new(b'D', None), OUTPUT);
        assert_eq!(whats(&events), [(200, io(IoAction::Write, 4096, 4096))]);
    }

    #[test]
    fn lines_of_a_form_of_ones_own_are_read() {
        let form = BlkparseForm::parse("%5T.%9t, %p, %C, %a, %d, %S, %n\\n").unwrap();
        let text = "    0.000000000, 77, mydd, Q, WS, 8, 8\n    1.000050000, 77, my dd, C, WS, 8, 8\n    2.001000000, 77, my dd, Q, R, 2048, 256\n";
        let (events, found) = read(Blkparse::new(b'Q', Some(form)), text);
        assert_eq!(
            whats(&events),
            [(0, io(IoAction::Write, 4096, 4096)), (2_001_000_000, io(IoAction::Read, 1_048_576, 131_072)),]
        );
        assert_eq!(found.targets.name(0), b"device");
        let form = BlkparseForm::parse("%T.%t %D %d %S %N %M,%m %c").unwrap();
        let (events, found) =
            read(Blkparse::new(b'Q', Some(form)), "0.000000007   8,16   WS 8 4096 8,16 0\n");
        assert_eq!(whats(&events), [(7, io(IoAction::Write, 4096, 4096))], "without %a every line counts");
        assert_eq!(found.targets.name(0), b"8,16");
        let form = BlkparseForm::parse("%D,%T.%t,%d,%S,%N").unwrap();
        let (events, _) = read(Blkparse::new(b'Q', Some(form)), "  8,16 ,0.000000007,R,8,512\n");
        assert_eq!(whats(&events), [(7, io(IoAction::Read, 4096, 512))]);
    }

    #[test]
    fn forms_without_what_a_log_needs_are_refused() {
        let why = |text| BlkparseForm::parse(text).unwrap_err().to_string();
        assert_eq!(
            why("%5T.%9t, %p, %C, %a, %S, %n"),
            "lines of this form do not show whether an I/O reads or writes (%d)"
        );
        assert_eq!(why("%T %d %S %n"), "lines of this form do not show the time (%T.%t)");
        assert_eq!(why("%T.%t %d %S %Q"), "blkparse has no field `%Q`");
        assert_eq!(why("%T.%t%d %S %n"), "nothing separates `%d` from the field before it");
    }

    #[test]
    fn other_lines_do_not_fit() {
        let mut parser = Blkparse::new(b'Q', None);
        for line in [
            "hello",
            "8,16",
            "8,16 0 1 x 77 Q R 1 + 8",
            "8 0 1 0.1 77 Q R 1 + 8",
            "8,16 0 1 0.1 77 Q R 1 + x",
        ] {
            assert!(parser.line(line.as_bytes(), &mut TraceContents::default()).is_err(), "{line}");
        }
    }
}
