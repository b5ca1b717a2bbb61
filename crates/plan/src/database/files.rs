//! The files of a database: the data, the log, and the double-write area, with their sizes.

use std::path::{Path, PathBuf};

use ferrio_job::{
    Database, DatabaseFile, DatabaseModel, FileKind, FileSpec, SetupError, exact_bytes, short_bytes,
};
use ferrio_jobfile::{Amount, GivenOption, Job, Opt, Value};
use ferrio_machine::{BlockDevice, Room, StorageLocations, storage_device};

use crate::as_written::refuse;
use crate::file_names::FileNames;
use crate::findings::Findings;
use crate::probe::FoundFile;
use crate::sizes::percent_of;

const CODE: &str = "database-files";
/// Most files of a database.
const MAX_FILES: u64 = 1 << 16;

/// Finds what is at a path, and its size once the jobs before this one have laid out their files.
pub(crate) type Find<'a> = dyn FnMut(&Path) -> Result<(FoundFile, Option<u64>), SetupError> + 'a;

/// The files that all jobs of a database have, in order: data, log, double-write area.
pub(crate) struct DatabaseFiles {
    pub(crate) files: Vec<FileSpec>,
    /// The smallest unit of direct I/O where the data is, if that is known.
    pub(super) direct_block: Option<u64>,
    /// The smallest unit of direct I/O where the log is, if that is known.
    pub(super) log_direct_block: Option<u64>,
}

impl DatabaseFiles {
    /// Names, finds and sizes the files, and tells the model how large its data is; `None` if something is wrong, which is reported.
    pub(crate) fn of(
        job: &Job,
        database: &mut Database,
        find: &mut Find<'_>,
        findings: &mut Findings,
    ) -> Option<Self> {
        let data = data_paths(job, database, findings)?;
        let count = data.len();
        let log = named(job, Opt::LogFilename, "log");
        let double_write =
            database.double_write().map(|_| named(job, Opt::DoubleWriteFilename, "doublewrite"));
        let mut found = Vec::with_capacity(count + 2);
        for path in data.into_iter().chain([log]).chain(double_write) {
            match find(&path) {
                Ok((there, size)) => found.push(PlacedFile { path, there, size }),
                Err(error) => {
                    let opts = [Opt::Filename, Opt::Filetype, Opt::Directory];
                    refuse(findings, job, &opts, CODE, error.message, "name files or block devices");
                    return None;
                }
            }
        }
        let each = data_size(job, database, &found[..count], findings)?;
        let sizes =
            std::iter::repeat_n(each, count).chain([database.log.size]).chain(database.double_write());
        let files: Option<Vec<FileSpec>> =
            found.into_iter().zip(sizes).map(|(file, size)| file.of_size(job, size, findings)).collect();
        let files = files?;
        fits_the_file_systems(job, database, &files, findings)?;
        database.data_files = u32::try_from(count).unwrap_or(u32::MAX);
        database.pages_per_file = each / u64::from(database.page);
        let direct_block = |file: Option<&FileSpec>| {
            let device = BlockDevice::read(storage_device(&file?.path)?)?;
            Some(device.logical_block_bytes)
        };
        Some(DatabaseFiles {
            direct_block: direct_block(files.first()),
            log_direct_block: direct_block(files.get(count)),
            files,
        })
    }

    /// The paths with the options that name them.
    pub(super) fn by_option(&self, database: &Database) -> impl Iterator<Item = (Opt, &Path)> {
        (0..).zip(&self.files).map(|(index, file)| {
            let opt = match database.file_kind(index) {
                DatabaseFile::Data => Opt::Filename,
                DatabaseFile::Log => Opt::LogFilename,
                DatabaseFile::DoubleWrite => Opt::DoubleWriteFilename,
            };
            (opt, file.path.as_path())
        })
    }
}

/// A file of a database with what is there.
struct PlacedFile {
    path: PathBuf,
    there: FoundFile,
    size: Option<u64>,
}

impl PlacedFile {
    /// The file with its first `size` bytes in use.
    fn of_size(self, job: &Job, size: u64, findings: &mut Findings) -> Option<FileSpec> {
        let FoundFile { kind, size: found, .. } = self.there;
        let real = self.size.unwrap_or(0);
        if kind != FileKind::Regular && real < size {
            let message = format!(
                "{} has {}, and {} are needed",
                self.path.display(),
                short_bytes(real),
                short_bytes(size)
            );
            let opts = [Opt::Size, Opt::LogSize, Opt::DoubleWriteSize];
            refuse(findings, job, &opts, CODE, message, "set a smaller size, or name a larger device");
            return None;
        }
        Some(FileSpec {
            path: self.path,
            kind,
            size,
            real_size: size.max(real),
            found,
            extend: kind == FileKind::Regular && size > real,
            ..FileSpec::default()
        })
    }
}

/// The paths of the data files.
fn data_paths(job: &Job, database: &Database, findings: &mut Findings) -> Option<Vec<PathBuf>> {
    let names = FileNames::new(job);
    if names.are_named() {
        if database.table_size().is_some() {
            let message = "workload=rocksdb names its files: each is a table";
            let help = "remove `filename`; `directory` says where the tables are";
            refuse(findings, job, &[Opt::Filename], CODE, message, help);
            return None;
        }
        let paths: Vec<_> = names.paths(job, 0).collect();
        let asked = job.options.value::<u64>(Opt::Nrfiles);
        if job.options.is_given(Opt::Nrfiles) && asked != paths.len() as u64 {
            let message = format!("filename gives {} files, and nrfiles={asked}", paths.len());
            refuse(findings, job, &[Opt::Nrfiles], CODE, message, "remove `nrfiles`");
            return None;
        }
        return Some(paths);
    }
    let table = database.table_size();
    let count = match table {
        Some(table) => size_asked(job, database.model).unwrap_or(0) / table.max(1),
        None => job.options.value::<u64>(Opt::Nrfiles),
    };
    if let Some(table) = table.filter(|_| count == 0) {
        let size = size_asked(job, database.model).map_or_else(String::new, exact_bytes);
        let message = format!("size={size} has no room for a table of {} (table_size)", exact_bytes(table));
        let help = "set a larger `size` or a smaller `table_size`";
        refuse(findings, job, &[Opt::Size, Opt::TableSize], CODE, message, help);
        return None;
    }
    if count == 0 || count > MAX_FILES {
        let message = format!("a database has 1 to {MAX_FILES} data files, not {count}");
        let opts = [Opt::Nrfiles, Opt::Size, Opt::TableSize];
        let help = match table {
            Some(_) => "each table is a file: set another `size` or `table_size`",
            None => "set another `nrfiles`",
        };
        refuse(findings, job, &opts, CODE, message, help);
        return None;
    }
    let directories = job.options.list(Opt::Directory);
    let path = |index: u64| {
        let base = format!("{}.data", job.name);
        let name = if count == 1 { base } else { format!("{base}.{index}") };
        match directories.get(index as usize % directories.len().max(1)) {
            Some(directory) => Path::new(directory).join(name),
            None => PathBuf::from(name),
        }
    };
    Some((0..count).map(path).collect())
}

/// A file by its option, or by its default name, in the first directory of the job.
fn named(job: &Job, opt: Opt, suffix: &str) -> PathBuf {
    let name = job.options.text(opt).map_or_else(|| format!("{}.{suffix}", job.name), str::to_owned);
    match job.options.list(Opt::Directory).first() {
        Some(directory) => Path::new(directory).join(name),
        None => PathBuf::from(name),
    }
}

/// Bytes of the data as asked for in bytes, or by default.
fn size_asked(job: &Job, model: DatabaseModel) -> Option<u64> {
    match job.options.if_given(Opt::Size) {
        Some(Amount::Bytes(bytes)) => Some(bytes),
        Some(_) => None,
        None => default_size(job, model),
    }
}

fn default_size(job: &Job, model: DatabaseModel) -> Option<u64> {
    let given = GivenOption::implied(Opt::Size, Opt::Size.preset(model)?, &job.origin)?;
    match given.value {
        Value::Amount(Amount::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

/// Bytes of each data file that are used: whole pages.
fn data_size(job: &Job, database: &Database, files: &[PlacedFile], findings: &mut Findings) -> Option<u64> {
    let count = files.len() as u64;
    let page = u64::from(database.page);
    let smallest = files.iter().map(|file| file.size.unwrap_or(0)).min().unwrap_or(0);
    let each = match (database.table_size(), job.options.if_given(Opt::Size)) {
        (Some(table), _) => table,
        (None, Some(Amount::Bytes(bytes))) if bytes > 0 => bytes / count,
        (None, Some(Amount::Percent(percent))) => percent_of(smallest, percent),
        // Files that exist are used as they are.
        (None, _) if smallest >= page => smallest,
        (None, _) => default_size(job, database.model).unwrap_or(0) / count,
    };
    let each = each - each % page;
    if each == 0 {
        let message = format!("a data file has no room for a page of {}", exact_bytes(page));
        let help = "set a larger `size`; percent are of files that exist";
        refuse(findings, job, &[Opt::Size, Opt::Nrfiles], CODE, message, help);
        return None;
    }
    Some(each)
}

/// The files that are to be made must fit where they are: nobody waits for the layout of most of a database.
fn fits_the_file_systems(
    job: &Job,
    database: &Database,
    files: &[FileSpec],
    findings: &mut Findings,
) -> Option<()> {
    let mut places = StorageLocations::default();
    let mut needed: Vec<(usize, u64)> = Vec::new();
    for file in files.iter().filter(|file| file.extend) {
        let Some(place) = places.index_of(&file.path) else { continue };
        let bytes = file.end().saturating_sub(file.found.unwrap_or(0));
        match needed.iter_mut().find(|(other, _)| *other == place) {
            Some((_, sum)) => *sum = sum.saturating_add(bytes),
            None => needed.push((place, bytes)),
        }
    }
    for (place, bytes) in needed {
        let Some(mount) = places.all().get(place).and_then(|place| place.mount_point.clone()) else {
            continue;
        };
        let Some(free) = Room::at(&mount).and_then(|room| room.free_bytes) else { continue };
        if bytes > free {
            let default = match job.options.is_given(Opt::Size) {
                true => String::new(),
                false => {
                    format!(" ({} of data by default)", Opt::Size.preset(database.model).unwrap_or(""))
                }
            };
            let message = format!(
                "the files of workload={} need {}{default}, and {} has {} free",
                database.model,
                short_bytes(bytes),
                mount.display(),
                short_bytes(free)
            );
            let opts = [Opt::Size, Opt::Directory];
            let help = "set `size`, such as size=10g, or another `directory`";
            refuse(findings, job, &opts, "database-exceeds-free-space", message, help);
            return None;
        }
    }
    Some(())
}
