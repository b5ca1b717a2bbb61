//! Conclusions from the properties of an engine.

use super::{EngineKind, Property};

impl EngineKind {
    /// The peculiarities of the engine, a sentence for each property: all but how I/Os complete, and what `docs/engines.md` has columns
    /// for.
    pub fn in_words(self) -> impl Iterator<Item = &'static str> {
        self.properties().iter().filter_map(move |&property| self.sentence(property))
    }

    fn sentence(self, property: Property) -> Option<&'static str> {
        use Property::*;
        match property {
            InCall | InCallAtDepthOne | Queued | OneThread | OneSync | NoTrim | Atomic | Ext4 | Ring => None,
            // That it does no I/O says both.
            Diskless | NoData if !self.does_io() => None,
            // That its file is an export says how it differs from other files.
            Diskless if self.has_export() => None,
            // Files that are not opened have no size to keep.
            FixedSize if self.is_diskless() => None,
            FixedSize if !self.has_regular_files() => Some("Its files keep their size."),
            _ => Some(property.text().trim_start()),
        }
    }

    /// True when the engine is part of this build of the program.
    #[must_use]
    pub fn is_built_in(self) -> bool {
        self != EngineKind::Http || cfg!(feature = "http")
    }

    /// The reason why the engine is not part of this build of the program, and how to get it.
    #[must_use]
    pub fn reason_of_absence(self) -> Option<String> {
        let feature = self.feature().filter(|_| !self.is_built_in())?;
        let name = self.word();
        Some(format!("this ferrio was built without the engine {name}: install it with --features {feature}"))
    }

    /// The cargo feature that the engine is part of, if it is not in every build.
    #[must_use]
    pub fn feature(self) -> Option<&'static str> {
        (self == EngineKind::Http).then_some("http")
    }

    /// True when the engine needs paths: it opens files, or does something else to them.
    #[must_use]
    pub fn uses_files(self) -> bool {
        !self.is_diskless() || self.operates_on_files()
    }

    /// True when directories are made for the job before it runs.
    #[must_use]
    pub fn needs_directories(self) -> bool {
        self.has_directories() && !self.has(Property::Creates)
    }

    /// True when the engine creates the files of a job, and opens them by that.
    #[must_use]
    pub fn creates_files(self) -> bool {
        self.has(Property::Creates) && !self.has_directories()
    }

    /// True when the engine creates, removes or changes files even in jobs that only read.
    #[must_use]
    pub fn always_changes_files(self) -> bool {
        self.has(Property::Creates) || self.has(Property::Removes) || self.opens_for_writing()
    }

    /// True when submissions and completions are counted: all but fio's null engine at depth 1, which has none.
    #[must_use]
    pub fn counts_calls(self) -> bool {
        !self.has(Property::Uncounted)
    }

    /// True when the engine moves data, to or from a device or another program.
    #[must_use]
    pub fn moves_data(self) -> bool {
        !self.has(Property::NoData)
    }

    /// True when trims are done, if what is trimmed can be.
    #[must_use]
    pub fn can_trim(self) -> bool {
        self.does_io() && !self.only_writes() && !self.has(Property::NoTrim)
    }

    /// True when the engine does I/O; the others work, and move nothing.
    #[must_use]
    pub fn does_io(self) -> bool {
        !self.has(Property::Work)
    }

    /// False when files are devices of one kind.
    fn has_regular_files(self) -> bool {
        !self.needs_dax_devices()
            && !self.needs_flash_devices()
            && !self.needs_scsi_devices()
            && !self.passes_through()
    }

    /// True when data is kept where only the engine reaches it, so that only the engine can make it durable.
    #[must_use]
    pub fn keeps_data_itself(self) -> bool {
        let is_elsewhere = self.is_diskless() && self.moves_data() && !self.has_peer();
        is_elsewhere || self.needs_scsi_devices() || self.needs_flash_devices()
    }

    /// True for engines that complete every I/O in the submitting call at this depth.
    #[must_use]
    pub fn is_sync(self, iodepth: u32) -> bool {
        self.has(Property::InCall) || (iodepth == 1 && self.has(Property::InCallAtDepthOne))
    }
}
