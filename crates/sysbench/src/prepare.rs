//! The commands `prepare` and `cleanup` of the test `fileio`.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ferrio_job::reason;
use ferrio_machine::{open_file, retry_interrupted, write_whole};
use ferrio_plan::sysbench::{OpenFlags, SysbenchFileio};
use ferrio_random::Tausworthe64;
use ferrio_verify::add_checksum;
use nix::fcntl::OFlag;
use nix::unistd::fsync;

use crate::fileio::flag_words;
use crate::log::{Level, Log, Refusal};

/// Alignment of memory for direct I/O.
const ALIGN: usize = 4096;

/// Creates the files, or extends those that are too short, in the current directory.
///
/// # Errors
/// A file cannot be opened, written or synced.
pub fn prepare(options: &SysbenchFileio, log: &Log) -> Result<(), Refusal> {
    log.text(
        Level::Notice,
        &format!(
            "{} files, {}Kb each, {}Mb total\nCreating files for the test...\nExtra file open flags: {}\n",
            options.files,
            options.file_size() >> 10,
            (options.file_size() * u64::from(options.files)) >> 20,
            flag_words(options.flags)
        ),
    );
    let mut block = PreparedBlock::new(options)?;
    let began = Instant::now();
    let mut written = 0;
    for index in 0..options.files {
        written += prepare_one(options, index, &mut block, log)?;
    }
    let seconds = began.elapsed().as_secs_f64();
    let result = match written {
        0 => "No bytes written.\n".to_owned(),
        _ => {
            let rate = written as f64 / f64::from(1 << 20) / seconds;
            format!("{written} bytes written in {seconds:.2} seconds ({rate:.2} MiB/sec).\n")
        }
    };
    log.text(Level::Notice, &result);
    Ok(())
}

/// Brings one file to its size, in whole blocks. Returns the bytes written.
fn prepare_one(
    options: &SysbenchFileio,
    index: u32,
    block: &mut PreparedBlock,
    log: &Log,
) -> Result<u64, Refusal> {
    let name = SysbenchFileio::file_name(index);
    let shown = name.display();
    let refused = |what: &str, error: io::Error| {
        let errno = error.raw_os_error().unwrap_or(0);
        log.refuse(&format!("{what} errno = {errno} ({})", reason(&error)))
    };
    let mut file = open(&name, options.flags).map_err(|error| refused("Can't open file", error))?;
    let found = file.seek(SeekFrom::End(0)).map_err(|error| refused("Can't open file", error))?;
    let doing = match found {
        0 => "Creating file",
        _ if found < options.file_size() => "Extending existing file",
        _ => "Reusing existing file",
    };
    log.text(Level::Notice, &format!("{doing} {shown}\n"));
    let mut size = found;
    while size < options.file_size() {
        write_whole(&mut file, block.at(size)).map_err(|error| refused("Failed to write file!", error))?;
        size += options.block;
    }
    retry_interrupted(|| fsync(&file)).map_err(|error| refused("Failed to sync file!", error))?;
    Ok(size - found)
}

fn open(name: &std::path::Path, flags: OpenFlags) -> io::Result<File> {
    let mut wanted = OFlag::empty();
    wanted.set(OFlag::O_SYNC, flags.sync);
    wanted.set(OFlag::O_DSYNC, flags.dsync && !flags.sync);
    wanted.set(OFlag::O_DIRECT, flags.direct);
    open_file(name, OFlag::O_WRONLY | OFlag::O_CREAT | wanted, 0o600)
}

/// The content of the next block: zeros, or random bytes with a checksum.
struct PreparedBlock {
    memory: Vec<u8>,
    begin: usize,
    len: usize,
    random: Option<Tausworthe64>,
}

impl PreparedBlock {
    fn new(options: &SysbenchFileio) -> Result<Self, Refusal> {
        let len = usize::try_from(options.block).map_err(|_| Refusal)?;
        let memory = vec![0; len + ALIGN];
        let begin = memory.as_ptr().align_offset(ALIGN).min(ALIGN);
        let random = options.validate.then(|| Tausworthe64::new(seed()));
        Ok(PreparedBlock { memory, begin, len, random })
    }

    fn at(&mut self, offset: u64) -> &[u8] {
        let block = &mut self.memory[self.begin..self.begin + self.len];
        if let Some(random) = &mut self.random {
            block
                .chunks_mut(8)
                .for_each(|chunk| chunk.copy_from_slice(&random.draw().to_ne_bytes()[..chunk.len()]));
            add_checksum(block, offset);
        }
        block
    }
}

/// Another one in each run.
fn seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64)
}

/// Removes the files; those that are not there, and directories of their names, do not matter.
pub fn cleanup(options: &SysbenchFileio, log: &Log) {
    log.text(Level::Notice, "Removing test files...\n");
    for index in 0..options.files {
        let name = SysbenchFileio::file_name(index);
        match std::fs::remove_file(&name) {
            // As in sysbench, a missing file counts as removed.
            Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) => {
                log.line(Level::Warning, &format!("cannot remove {}: {}", name.display(), reason(&error)));
            }
            _ => {}
        }
    }
}
