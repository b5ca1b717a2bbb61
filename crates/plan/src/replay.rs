//! `read_iolog`: reads the logs that a job replays, and puts what they contain in place of `rw`, `bs`, `size` and the files.
//!
//! A log is read when the run is planned: its files, directions and block sizes decide what is allocated and opened.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use ferrio_job::{
    BlockSizes, Diagnostic, Direction, JobSpec, ReadWrite, Replay, ReplayAction, ReplayStep, RwPostfix,
    SetupError, reason,
};
use ferrio_jobfile::{Job, Opt};
use ferrio_trace::{FileAction, IoAction, LogAction, LogLine, ReadError, Reader};

use crate::as_written::{inert, note};
use crate::findings::Findings;

inert! {
    Rw Size IoSize Filesize Filename Directory Nrfiles Offset OffsetIncrement Loops TimeBased:
        |job| job.options.is_given(Opt::ReadIolog); "the log of `read_iolog` decides it, and is replayed once";
}

/// A log on standard input.
const STDIN: &str = "-";

/// Bad lines of one log that are reported one by one.
const REPORTED: u64 = 10;

/// The logs of a job, for its clones in turn; `None` for a job that replays nothing.
pub(crate) fn read(
    job: &Job,
    readonly: bool,
    findings: &mut Findings,
) -> Option<Vec<Result<Arc<Replay>, SetupError>>> {
    if !job.options.is_given(Opt::ReadIolog) {
        return None;
    }
    let rules = Rules::of(job, readonly);
    let logs = job.options.list(Opt::ReadIolog);
    Some(logs.iter().map(|name| read_log(job, name, &rules, findings).map(Arc::new)).collect())
}

/// Puts a log in place of what the options say.
pub(crate) fn apply(log: &Arc<Replay>, spec: &mut JobSpec) {
    let lengths = Direction::ALL.map(|direction| Lengths::of(log, direction));
    let does = lengths.map(|lengths| lengths.most > 0);
    spec.rw = match does {
        // A log of waits reads nothing either.
        [_, false, false] => ReadWrite::Read,
        [true, true, false] => ReadWrite::Mixed,
        [false, true, false] => ReadWrite::Write,
        [false, false, true] => ReadWrite::Trim,
        [false, true, true] => ReadWrite::TrimWrite,
        [true, _, true] => ReadWrite::Every,
    };
    spec.rw_postfix = RwPostfix::None;
    for (direction, lengths) in
        Direction::ALL.into_iter().zip(lengths).filter(|(_, lengths)| lengths.most > 0)
    {
        let (min, max) = (u64::from(lengths.step), u64::from(lengths.most));
        spec.block[direction] = BlockSizes { min, max, align: min };
    }
    spec.replay = Some(Arc::clone(log));
}

/// The lengths of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths {
    most: u32,
    /// The smallest, if it divides all of them; else the largest.
    step: u32,
}

impl Lengths {
    fn of(log: &Replay, direction: Direction) -> Self {
        let lengths = || {
            log.steps.iter().filter(|step| direction_of(step.action) == Some(direction)).map(|step| step.len)
        };
        let (least, most) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
        let step = if least > 0 && lengths().all(|len| len % least == 0) { least } else { most };
        Lengths { most, step }
    }
}

fn direction_of(action: ReplayAction) -> Option<Direction> {
    match action {
        ReplayAction::Read => Some(Direction::Read),
        ReplayAction::Write => Some(Direction::Write),
        ReplayAction::Trim => Some(Direction::Trim),
        _ => None,
    }
}

/// Bytes that a log moves, and the end of its last I/O in each file.
pub(crate) fn extents(log: &Replay) -> (u64, Vec<u64>) {
    let mut ends = vec![0_u64; log.files.len()];
    let mut bytes = 0_u64;
    for step in log.steps.iter().filter(|step| direction_of(step.action).is_some()) {
        bytes = bytes.saturating_add(u64::from(step.len));
        let end = &mut ends[step.file as usize];
        *end = (*end).max(step.offset.saturating_add(u64::from(step.len)));
    }
    (bytes, ends)
}

/// What the `replay_*` options change.
#[derive(Debug)]
struct Rules {
    no_stall: bool,
    time_scale: u64,
    scale: u64,
    align: u64,
    redirect: Option<PathBuf>,
    skips: [bool; 4],
}

impl Rules {
    fn of(job: &Job, readonly: bool) -> Self {
        let options = &job.options;
        let skipped = options.words(Opt::ReplaySkip).map_or(Vec::new(), |(words, _)| words);
        let [read, write, trim, sync] = ["read", "write", "trim", "sync"].map(|word| skipped.contains(&word));
        Rules {
            no_stall: options.value(Opt::ReplayNoStall),
            time_scale: options.value::<u64>(Opt::ReplayTimeScale).max(1),
            scale: options.value::<u64>(Opt::ReplayScale).max(1),
            align: options.value::<u64>(Opt::ReplayAlign).max(1),
            redirect: options.text(Opt::ReplayRedirect).map(PathBuf::from),
            skips: [read, write || readonly, trim || readonly, sync],
        }
    }

    fn skips(&self, action: IoAction) -> bool {
        match action {
            IoAction::Read => self.skips[0],
            IoAction::Write => self.skips[1],
            IoAction::Trim => self.skips[2],
            IoAction::Sync => self.skips[3],
            IoAction::Datasync => false,
        }
    }
}

fn read_log(job: &Job, name: &str, rules: &Rules, findings: &mut Findings) -> Result<Replay, SetupError> {
    const FUNC: &str = "failed initializing iolog";
    let shown = if name == STDIN { "standard input" } else { name };
    let failed = |errno, message: String| SetupError::new(errno, FUNC, format!("{shown}: {message}"));
    let source = open(name).map_err(|error| {
        let message = format!("fopen read iolog: {}", reason(&error));
        failed(error.raw_os_error().unwrap_or(libc::EIO), message)
    })?;
    let unreadable = |error: ReadError| failed(libc::EINVAL, error.to_string());
    let mut reader = Reader::new(source).map_err(unreadable)?;
    let mut log = Builder::new(rules);
    let mut bad_lines = 0;
    while let Some((line, entry)) = reader.next_entry().map_err(unreadable)? {
        let entry = match entry {
            Ok(entry) => log.add(entry),
            Err(bad) => Err(Problem::Skipped(bad.to_string())),
        };
        match entry {
            Ok(()) => {}
            Err(Problem::Fatal(message)) => {
                return Err(failed(libc::EINVAL, format!("line {line}: {message}")));
            }
            Err(Problem::Skipped(message)) => {
                bad_lines += 1;
                if bad_lines <= REPORTED {
                    findings.note(bad_line(job, format!("{message} ({shown}, line {line})")));
                }
            }
        }
    }
    if bad_lines > REPORTED {
        findings.note(bad_line(job, format!("{} more bad lines in {shown}", bad_lines - REPORTED)));
    }
    log.finish().ok_or_else(|| {
        failed(
            libc::EINVAL,
            "the iolog has nothing to replay: no read, write, trim or wait is left".to_owned(),
        )
    })
}

fn bad_line(job: &Job, message: String) -> Diagnostic {
    note(job, &[Opt::ReadIolog], "bad-iolog-line", message)
}

fn open(name: &str) -> io::Result<Box<dyn BufRead>> {
    if name == STDIN {
        return Ok(Box::new(io::stdin().lock()));
    }
    let is_socket = fs::metadata(name).is_ok_and(|metadata| metadata.file_type().is_socket());
    Ok(match is_socket {
        true => Box::new(BufReader::new(UnixStream::connect(name)?)),
        false => Box::new(BufReader::new(File::open(name)?)),
    })
}

/// What is wrong with a line.
enum Problem {
    /// It is passed over.
    Skipped(String),
    /// The log cannot be replayed.
    Fatal(String),
}

/// A log on its way into steps.
struct Builder<'a> {
    rules: &'a Rules,
    log: Replay,
    index: HashMap<OsString, u32>,
    /// How often each file is open.
    open: Vec<u32>,
    /// Time of the line before, and the sum of the waits so far, µs.
    clock: (u64, u64),
    works: bool,
}

impl<'a> Builder<'a> {
    fn new(rules: &'a Rules) -> Self {
        Builder {
            rules,
            log: Replay::default(),
            index: HashMap::new(),
            open: Vec::new(),
            clock: (0, 0),
            works: false,
        }
    }

    fn add(&mut self, line: LogLine) -> Result<(), Problem> {
        self.tick(line.time_us);
        let name = match &self.rules.redirect {
            Some(path) => path.clone().into_os_string(),
            None => line.name,
        };
        if line.what == LogAction::File(FileAction::Add) {
            self.add_file(name);
            return Ok(());
        }
        if let LogAction::Wait { until_ms } = line.what {
            if !self.rules.no_stall {
                self.step(ReplayAction::Wait, 0, until_ms, 0);
            }
            self.works = true;
            return Ok(());
        }
        let Some(&file) = self.index.get(&name) else {
            return Err(Problem::Fatal(format!("the file {} is used before a line adds it", name.display())));
        };
        match line.what {
            LogAction::File(action) => self.open_or_close(file, action, &name),
            LogAction::Io { action, offset, len } => self.io(file, action, offset, len, &name),
            LogAction::Wait { .. } => Ok(()),
        }
    }

    fn add_file(&mut self, name: OsString) {
        if !self.index.contains_key(&name) {
            let file = u32::try_from(self.log.files.len()).unwrap_or(u32::MAX);
            self.log.files.push(PathBuf::from(&name));
            self.open.push(0);
            self.index.insert(name, file);
        }
    }

    /// A file that several jobs of the recorded run had open is open until the last of them closes it.
    fn open_or_close(&mut self, file: u32, action: FileAction, name: &OsString) -> Result<(), Problem> {
        let open = &mut self.open[file as usize];
        match action {
            FileAction::Add => {}
            FileAction::Open => {
                *open += 1;
                if *open == 1 {
                    self.step(ReplayAction::Open, file, 0, 0);
                }
            }
            FileAction::Close if *open == 0 => {
                return Err(Problem::Skipped(format!("the file {} is closed but not open", name.display())));
            }
            FileAction::Close => {
                *open -= 1;
                if *open == 0 {
                    self.step(ReplayAction::Close, file, 0, 0);
                }
            }
        }
        Ok(())
    }

    fn io(
        &mut self,
        file: u32,
        action: IoAction,
        offset: u64,
        len: u32,
        name: &OsString,
    ) -> Result<(), Problem> {
        if self.rules.skips(action) {
            return Ok(());
        }
        if self.open[file as usize] == 0 {
            return Err(Problem::Fatal(format!(
                "the file {} is used before a line opens it",
                name.display()
            )));
        }
        let offset = offset / self.rules.scale;
        let offset = offset - offset % self.rules.align;
        let action = match action {
            IoAction::Sync => return self.sync(ReplayAction::Sync, file),
            IoAction::Datasync => return self.sync(ReplayAction::Datasync, file),
            IoAction::Read => ReplayAction::Read,
            IoAction::Write => ReplayAction::Write,
            IoAction::Trim => ReplayAction::Trim,
        };
        if len == 0 {
            return Err(Problem::Skipped("an I/O of 0 bytes".to_owned()));
        }
        if offset.checked_add(u64::from(len)).is_none_or(|end| i64::try_from(end).is_err()) {
            return Err(Problem::Skipped("an I/O beyond 2^63 bytes".to_owned()));
        }
        self.works = true;
        self.step(action, file, offset, len);
        Ok(())
    }

    fn sync(&mut self, action: ReplayAction, file: u32) -> Result<(), Problem> {
        self.step(action, file, 0, 0);
        Ok(())
    }

    fn step(&mut self, action: ReplayAction, file: u32, offset: u64, len: u32) {
        let due = u128::from(self.clock.1) * 100 / u128::from(self.rules.time_scale);
        let due_us = if self.rules.no_stall { 0 } else { u64::try_from(due).unwrap_or(u64::MAX) };
        self.log.steps.push(ReplayStep { due_us, action, file, len, offset });
    }

    /// Waits add up from the first line with a time, and none is added where time goes back.
    fn tick(&mut self, time_us: u64) {
        let (before, waits) = &mut self.clock;
        if *before > 0 {
            *waits = waits.saturating_add(time_us.saturating_sub(*before));
        }
        *before = time_us;
    }

    /// The log; `None` if it does nothing.
    fn finish(mut self) -> Option<Replay> {
        self.log.steps.shrink_to_fit();
        self.works.then_some(self.log)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ferrio_job::PlannedJob;
    use tempfile::TempDir;

    use super::*;
    use crate::testing::plan_of;

    /// The jobs that replay this log, and the notes about them.
    fn jobs(log: &str, options: &str) -> (Vec<PlannedJob>, Vec<String>) {
        let place = TempDir::new().unwrap();
        let path = place.path().join("log");
        fs::write(&path, log).unwrap();
        let plan = plan_of(&format!("[a]\nioengine=null\nread_iolog={}\n{options}", path.display())).unwrap();
        let shown = path.display().to_string();
        let notes = plan.diagnostics.iter().map(|note| note.message.replace(&shown, "log")).collect();
        (plan.jobs, notes)
    }

    fn job(log: &str, options: &str) -> JobSpec {
        let planned = jobs(log, options).0.remove(0);
        assert_eq!(planned.setup_error, None);
        planned.spec
    }

    fn refusal(log: &str, options: &str) -> String {
        let error = jobs(log, options).0.remove(0).setup_error.unwrap();
        assert_eq!((error.errno, error.func), (libc::EINVAL, "failed initializing iolog"));
        error.message.split_once(": ").unwrap().1.to_owned()
    }

    fn steps(spec: &JobSpec) -> Vec<(u64, ReplayAction, u32, u64, u32)> {
        let log = spec.replay.as_ref().unwrap();
        log.steps.iter().map(|step| (step.due_us, step.action, step.file, step.offset, step.len)).collect()
    }

    fn dues(spec: &JobSpec) -> Vec<u64> {
        steps(spec).into_iter().map(|(due, ..)| due).collect()
    }

    const V3: &str = "fio version 3 iolog\n";
    const MIX: &str = "fio version 2 iolog\nd add\nd open\nd write 0 8192\nd read 4096 4096\nd sync 0 0\n\
                       d datasync 0 0\nd write 8192 4096\nd close\n";

    #[test]
    fn a_log_decides_direction_blocks_files_and_size() {
        let spec = job(MIX, "rw=randtrim:8\nbs=512\nsize=1g\nnrfiles=9\nloops=3\ntime_based\nruntime=1\n");
        assert_eq!((spec.rw, spec.rw_postfix), (ReadWrite::Mixed, RwPostfix::None));
        let blocks = |direction| (spec.block[direction].min, spec.block[direction].max);
        assert_eq!((blocks(Direction::Write), blocks(Direction::Read)), ((4096, 8192), (4096, 4096)));
        let files: Vec<_> =
            spec.files.iter().map(|file| (file.path.as_path(), file.size, file.extend)).collect();
        assert_eq!(files, [(Path::new("d"), 12288, false)]);
        assert_eq!((spec.limits.size, spec.limits.loops, spec.limits.time_based), (16384, 1, false));
        assert!(spec.opens_on_demand() && spec.may_overwrite());
        use ReplayAction::{Close, Datasync, Open, Read, Sync, Write};
        let want = [
            (0, Open, 0, 0, 0),
            (0, Write, 0, 0, 8192),
            (0, Read, 0, 4096, 4096),
            (0, Sync, 0, 0, 0),
            (0, Datasync, 0, 0, 0),
            (0, Write, 0, 8192, 4096),
            (0, Close, 0, 0, 0),
        ];
        assert_eq!(steps(&spec), want);
    }

    #[test]
    fn every_combination_of_directions_has_a_kind() {
        let kind = |ios: &[&str]| {
            let lines: String = ios.iter().map(|io| format!("d {io} 0 512\n")).collect();
            job(&format!("fio version 2 iolog\nd add\nd open\n{lines}"), "").rw
        };
        assert_eq!((kind(&["read"]), kind(&["write"])), (ReadWrite::Read, ReadWrite::Write));
        assert_eq!((kind(&["trim"]), kind(&["read", "write"])), (ReadWrite::Trim, ReadWrite::Mixed));
        assert_eq!(
            (kind(&["write", "trim"]), kind(&["trim", "read"])),
            (ReadWrite::TrimWrite, ReadWrite::Every)
        );
    }

    #[test]
    fn blocks_that_no_smallest_one_divides_count_as_the_largest() {
        let spec = job(&format!("{V3}1 d add\n1 d open\n1 d read 0 12345\n1 d read 7 99\n"), "");
        assert_eq!((spec.block[Direction::Read].min, spec.block[Direction::Read].max), (12345, 12345));
    }

    #[test]
    fn waits_are_differences_of_times_scaled_and_left_out() {
        let log = format!("{V3}1 d add\n2 d open\n1000 d write 0 4096\n301000 d write 4096 4096\n");
        assert_eq!(dues(&job(&log, "")), [1, 999, 300_999]);
        assert_eq!(dues(&job(&log, "replay_time_scale=300\n")), [0, 333, 100_333]);
        assert_eq!(dues(&job(&log, "replay_time_scale=50\n")), [2, 1998, 601_998]);
        assert_eq!(dues(&job(&log, "replay_no_stall=1\n")), [0, 0, 0]);
    }

    #[test]
    fn there_is_no_wait_before_the_first_time_nor_where_time_goes_back() {
        let log = format!(
            "{V3}0 d add\n0 d open\n3000000 d write 0 4096\n1000 d write 4096 4096\n2000 d write 8192 4096\n"
        );
        assert_eq!(dues(&job(&log, "")), [0, 0, 0, 1000]);
    }

    #[test]
    fn version_2_waits_for_times_of_the_program() {
        let log = "fio version 2 iolog\nd add\nd open\nd wait 1500 0\n";
        assert_eq!(steps(&job(log, ""))[1], (0, ReplayAction::Wait, 0, 1500, 0));
        assert_eq!(steps(&job(log, "replay_no_stall=1\n")).len(), 1);
    }

    #[test]
    fn offsets_are_scaled_and_then_aligned() {
        let offset = |options: &str| {
            steps(&job(&format!("{V3}1 d add\n2 d open\n3 d write 10000 4096\n"), options))[1].3
        };
        assert_eq!(offset(""), 10_000);
        assert_eq!(offset("replay_scale=2\n"), 5000);
        assert_eq!(offset("replay_align=4096\n"), 8192);
        assert_eq!(offset("replay_scale=2\nreplay_align=4096\n"), 4096);
    }

    #[test]
    fn redirected_files_are_one_file_that_is_opened_once() {
        let log = format!("{V3}1 a add\n1 b add\n2 a open\n2 b open\n3 b write 0 1\n4 a close\n5 b close\n");
        let spec = job(&log, "replay_redirect=one\n");
        assert_eq!(spec.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>(), [Path::new("one")]);
        let actions: Vec<_> = steps(&spec).into_iter().map(|(_, action, ..)| action).collect();
        assert_eq!(actions, [ReplayAction::Open, ReplayAction::Write, ReplayAction::Close]);
    }

    #[test]
    fn kinds_are_left_out_and_sync_does_not_mean_datasync() {
        let kept = |skip: &str| {
            let actions = steps(&job(MIX, &format!("replay_skip={skip}\n"))).into_iter();
            actions.map(|(_, action, ..)| action).filter(|action| *action != ReplayAction::Open).count()
        };
        assert_eq!((kept("read"), kept("write"), kept("sync"), kept("read,sync")), (5, 4, 5, 4));
        assert!(refusal(MIX, "replay_skip=read,write\n").contains("nothing to replay"));
    }

    #[test]
    fn bad_lines_are_noted_with_their_number_and_skipped() {
        let (jobs, notes) = jobs(
            "fio version 2 iolog\nd add\nd open\nd bogus 0 1\none\nd write 0 4096 x\nd write 0 0\nd close\nd close\n",
            "",
        );
        assert_eq!(jobs[0].spec.limits.size, 4096);
        let want = [
            "bad iolog file action: bogus (log, line 4)",
            "bad iolog2: one (log, line 5)",
            "an I/O of 0 bytes (log, line 7)",
            "the file d is closed but not open (log, line 9)",
        ];
        assert_eq!(notes, want);
    }

    #[test]
    fn many_bad_lines_are_counted() {
        let (_, notes) = jobs(&format!("{V3}1 d add\n1 d open\n1 d read 0 1\n{}", "x\n".repeat(25)), "");
        assert_eq!((notes.len(), notes[10].as_str()), (11, "15 more bad lines in log"));
    }

    #[test]
    fn logs_that_cannot_be_replayed_say_why() {
        assert!(refusal("", "").contains("it is empty"));
        assert!(refusal("fio version 1 iolog\n", "").contains("version 1 is no longer supported"));
        assert!(refusal(&format!("{V3}1 d add\n2 d open\n3 d sync 0 0\n"), "").contains("nothing to replay"));
        let unopened = refusal(&format!("{V3}1 d add\n3 d read 0 1\n"), "");
        assert_eq!(unopened, "line 3: the file d is used before a line opens it");
        let unknown = refusal(&format!("{V3}3 d open\n"), "");
        assert_eq!(unknown, "line 2: the file d is used before a line adds it");
    }

    #[test]
    fn clones_take_logs_in_turn_and_a_missing_one_fails_its_clone_alone() {
        let place = TempDir::new().unwrap();
        let log = place.path().join("log");
        fs::write(&log, format!("{V3}1 d add\n2 d open\n3 d write 0 512\n")).unwrap();
        let text = format!("[a]\nioengine=null\nnumjobs=2\nread_iolog={}:/nowhere/log\n", log.display());
        let jobs = plan_of(&text).unwrap().jobs;
        assert_eq!((jobs[0].spec.rw, jobs[0].setup_error.is_none()), (ReadWrite::Write, true));
        let error = jobs[1].setup_error.as_ref().unwrap();
        assert_eq!(error.errno, libc::ENOENT);
        assert_eq!(error.message, "/nowhere/log: fopen read iolog: No such file or directory");
    }
}
