//! The files of a run that are used in zones: each with one table, which all jobs that name the file share.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ferrio_job::{Direction, FileSpec, FileZones, JobSpec, Plan, ZoneModel, debug_class};
use log::debug;

use super::JobZones;
use super::source::{ZoneSource, usable};
use super::table::ZoneTable;
use crate::failure::Failure;

/// The zones of one file.
#[derive(Debug)]
pub(crate) struct ZonedFile {
    pub(super) path: PathBuf,
    pub(super) source: ZoneSource,
    table: Mutex<ZoneTable>,
    /// An I/O has ended, or a zone was reset.
    pub(super) changed: Condvar,
}

impl ZonedFile {
    /// Examines the zones of a file that is `bytes` long.
    fn examine(file: &FileSpec, zones: FileZones, bytes: u64, writes: bool) -> Result<Self, Failure> {
        let failed = |e: &io::Error, what: &str| {
            let message = format!("{}: {what}: {e}", file.path.display());
            Failure::from_io(e, "zbd_create_zone_info() failed").note("zones-not-reported", message)
        };
        let source = match zones.model {
            ZoneModel::Emulated => ZoneSource::Emulated,
            ZoneModel::HostAware | ZoneModel::HostManaged => ZoneSource::device(&file.path, writes)
                .map_err(|e| failed(&e, "the device cannot be opened to ask for its zones"))?,
        };
        let zoned = Self::of(source, file, zones, bytes)
            .map_err(|e| failed(&e, "the zones of the device are not known"))?;
        debug!(
            target: debug_class::ZBD,
            "{}: {} zones of {} bytes, {:?}", file.path.display(), zoned.table().len(), zones.size, zones.model
        );
        Ok(zoned)
    }

    pub(super) fn of(source: ZoneSource, file: &FileSpec, zones: FileZones, bytes: u64) -> io::Result<Self> {
        let table = match source.zones()? {
            None => ZoneTable::emulated(zones.size, zones.capacity, bytes, zones.max_open),
            Some(reports) => ZoneTable::new(zones.size, reports.iter().map(usable).collect(), zones.max_open),
        };
        Ok(ZonedFile { path: file.path.clone(), source, table: Mutex::new(table), changed: Condvar::new() })
    }

    pub(super) fn table(&self) -> MutexGuard<'_, ZoneTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Start and length of a zone.
    pub(super) fn extent(&self, zone: usize) -> (u64, u64) {
        let table = self.table();
        (table.zone(zone).start, table.zone_size())
    }
}

/// The zones of all files of a run.
#[derive(Debug, Default)]
pub(crate) struct ZonedFiles {
    /// By path, with the length of the file for the job that uses most of it.
    files: HashMap<PathBuf, (u64, bool, Option<Arc<ZonedFile>>)>,
}

impl ZonedFiles {
    /// The files of a plan that are used in zones. Nothing is examined yet.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut files: HashMap<PathBuf, (u64, bool, Option<Arc<ZonedFile>>)> = HashMap::new();
        for spec in plan.jobs.iter().map(|job| &job.spec).filter(|spec| spec.zbd.is_some()) {
            for file in &spec.files {
                let (bytes, writes, _) = files.entry(file.path.clone()).or_default();
                *bytes = file.real_size.max(*bytes);
                *writes |= spec.rw.does(Direction::Write) || spec.rw.does(Direction::Trim);
            }
        }
        ZonedFiles { files }
    }

    /// The zones of a job, for one with `zonemode=zbd`. The first job with a file examines it.
    ///
    /// # Errors
    /// A device does not report its zones.
    pub(crate) fn of_job(&mut self, spec: &JobSpec) -> Result<Option<Box<JobZones>>, Failure> {
        let Some(zbd) = spec.zbd.as_deref() else { return Ok(None) };
        let mut files = Vec::with_capacity(spec.files.len());
        for (file, &zones) in spec.files.iter().zip(&zbd.files) {
            let Some((bytes, writes, known)) = self.files.get_mut(&file.path) else { continue };
            let zoned = match known {
                Some(zoned) => Arc::clone(zoned),
                None => Arc::clone(known.insert(Arc::new(ZonedFile::examine(file, zones, *bytes, *writes)?))),
            };
            files.push(zoned);
        }
        Ok(Some(Box::new(JobZones::new(spec, files))))
    }
}
