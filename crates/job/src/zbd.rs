//! `zonemode=zbd`: files and devices whose zones are written from their start to their end.

/// How a job uses the zones of its files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zbd {
    /// The zones of each file, in the order of the files. A device reports each of its zones when the run begins.
    pub files: Vec<FileZones>,
    /// `zoneskip`: bytes that a sequential job leaves out after each zone, a multiple of the size of a zone.
    pub skip: u64,
    /// `read_beyond_wp`: reads go anywhere, also where nothing was written.
    pub read_beyond_wp: bool,
    /// `job_max_open_zones`: zones that the job may have open for writing, 0 for no limit of its own.
    pub job_max_open: u32,
    /// `zone_reset_frequency`: writes reset their zone from time to time.
    pub resets: Option<ZoneResets>,
    /// `write_zone_remainder`: the last write of a zone may be shorter than a block.
    pub writes_remainder: bool,
    /// `recover_zbd_write_error`: a failed write leaves no gap in its zone.
    pub recovers: bool,
}

/// The zones of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileZones {
    /// The kind of zones.
    pub model: ZoneModel,
    /// Length of a zone in bytes.
    pub size: u64,
    /// Bytes of an emulated zone that can be written; a device reports the capacity of each of its zones.
    pub capacity: u64,
    /// Zones that all jobs together may have open for writing, 0 for no limit.
    pub max_open: u32,
}

/// Kinds of zones, by who keeps them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZoneModel {
    /// The program, for regular files and devices without zones: all zones are empty when a run begins, and a reset issues no
    /// command.
    #[default]
    Emulated,
    /// The device, which accepts writes elsewhere than at the write pointer.
    HostAware,
    /// The device, which accepts writes at the write pointer only.
    HostManaged,
}

/// When writes reset their zone (`zone_reset_threshold`, `zone_reset_frequency`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZoneResets {
    /// Share of the region that must be written.
    pub threshold: f64,
    /// From then on, each write of this number is one that resets.
    pub every: u64,
}
