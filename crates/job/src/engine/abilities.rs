//! What an engine can do and what it needs, as its properties in the table say.

use super::{EngineKind, Property};

impl EngineKind {
    fn has(self, property: Property) -> bool {
        self.properties().contains(&property)
    }

    /// What is special about the engine, a sentence for each property: all but how I/Os complete, and what `docs/engines.md` has columns
    /// for.
    pub fn in_words(self) -> impl Iterator<Item = &'static str> {
        self.properties().iter().filter_map(move |&property| self.sentence(property))
    }

    fn sentence(self, property: Property) -> Option<&'static str> {
        use Property::{
            Atomic, Diskless, Ext4, FixedSize, InCall, InCallAtDepthOne, NoData, NoTrim, OneSync, OneThread,
            Queued, Ring,
        };
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

    /// Why the engine is not part of this build of the program, and how to get it.
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

    /// True when the engine touches no file: no layout, no open, sizes come from the job.
    #[must_use]
    pub fn is_diskless(self) -> bool {
        self.has(Property::Diskless)
    }

    /// True when what the engine measures is done to each file in place of opening it, and its I/Os do nothing.
    #[must_use]
    pub fn operates_on_files(self) -> bool {
        self.has(Property::FileOperation)
    }

    /// True when the engine needs paths: it opens files, or does something else to them.
    #[must_use]
    pub fn uses_files(self) -> bool {
        !self.is_diskless() || self.operates_on_files()
    }

    /// True when the files of a job are directories.
    #[must_use]
    pub fn has_directories(self) -> bool {
        self.has(Property::Directories)
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

    /// True when files are opened for writing, and created, even for jobs that only read.
    #[must_use]
    pub fn opens_for_writing(self) -> bool {
        self.has(Property::ReadWrite)
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

    /// True when reads and trims have no meaning: a job that does some fails.
    #[must_use]
    pub fn only_writes(self) -> bool {
        self.has(Property::OnlyWrites)
    }

    /// True when trims are done, if what is trimmed can be.
    #[must_use]
    pub fn can_trim(self) -> bool {
        self.does_io() && !self.has(Property::OnlyWrites) && !self.has(Property::NoTrim)
    }

    /// True when every kind of sync is an fsync(2).
    #[must_use]
    pub fn has_one_sync(self) -> bool {
        self.has(Property::OneSync)
    }

    /// True when the engine works on ext4 only.
    #[must_use]
    pub fn only_on_ext4(self) -> bool {
        self.has(Property::Ext4)
    }

    /// True when the engine does I/O; the others work, and move nothing.
    #[must_use]
    pub fn does_io(self) -> bool {
        !self.has(Property::Work)
    }

    /// True when the engine only makes a load for other jobs.
    #[must_use]
    pub fn only_makes_load(self) -> bool {
        self.has(Property::Load)
    }

    /// True when the engine must let go of a file before its pages can leave the page cache.
    #[must_use]
    pub fn maps_files(self) -> bool {
        self.has(Property::MapsFiles)
    }

    /// True when the engine copies to and from persistent memory, without the page cache and without the counters of disks.
    #[must_use]
    pub fn is_on_persistent_memory(self) -> bool {
        self.has(Property::PersistentMemory)
    }

    /// True when the files of a job are devices of persistent memory.
    #[must_use]
    pub fn needs_dax_devices(self) -> bool {
        self.has(Property::DaxDevice)
    }

    /// True when every I/O buffer begins at a page, whether the job does direct I/O or not.
    #[must_use]
    pub fn needs_page_buffers(self) -> bool {
        self.has(Property::PageBuffers)
    }

    /// False when files are devices of one kind.
    fn has_regular_files(self) -> bool {
        !self.needs_dax_devices()
            && !self.needs_flash_devices()
            && !self.needs_scsi_devices()
            && !self.passes_through()
    }

    /// True when a write job must be laid out in full first because the engine cannot extend a file.
    #[must_use]
    pub fn cannot_extend(self) -> bool {
        self.has(Property::FixedSize)
    }

    /// True when the engine moves data through a pipe or socket, so that `pre_read` does nothing.
    #[must_use]
    pub fn is_stream(self) -> bool {
        self.has(Property::Stream)
    }

    /// True when the engine's system call can ask for untorn writes (RWF_ATOMIC).
    #[must_use]
    pub fn can_ask_for_atomic_writes(self) -> bool {
        self.has(Property::Atomic)
    }

    /// True when the files of a job are the character devices of NVMe namespaces, past whose block layer the engine works.
    #[must_use]
    pub fn passes_through(self) -> bool {
        self.has(Property::Passthrough)
    }

    /// True when the engine is built on io_uring and fails where that is forbidden.
    #[must_use]
    pub fn is_on_io_uring(self) -> bool {
        self.has(Property::Ring)
    }

    /// True when the files of a job are objects of a server.
    #[must_use]
    pub fn has_objects(self) -> bool {
        self.has(Property::Objects)
    }

    /// True when the engine has no submission latency at any depth: it collects requests and moves them all in one call.
    #[must_use]
    pub fn merges(self) -> bool {
        self.has(Property::Merges)
    }

    /// True when a queued I/O begins as soon as it is submitted, so that `iodepth_batch_submit` has no effect.
    #[must_use]
    pub fn begins_at_once(self) -> bool {
        self.has(Property::BeginsAtOnce)
    }

    /// True when the engine talks to a peer, who decides how long an I/O takes.
    #[must_use]
    pub fn has_peer(self) -> bool {
        self.has(Property::Peer)
    }

    /// True when data is kept where only the engine reaches it, so that only the engine can make it durable.
    #[must_use]
    pub fn keeps_data_itself(self) -> bool {
        let is_elsewhere = self.is_diskless() && self.moves_data() && !self.has_peer();
        is_elsewhere || self.needs_scsi_devices() || self.needs_flash_devices()
    }

    /// True when files are SCSI devices: disks, or SCSI generic devices.
    #[must_use]
    pub fn needs_scsi_devices(self) -> bool {
        self.has(Property::ScsiDevice)
    }

    /// True when files are devices of raw flash (MTD).
    #[must_use]
    pub fn needs_flash_devices(self) -> bool {
        self.has(Property::FlashDevice)
    }

    /// True when the job's one file is an export of a server, which has a size of its own.
    #[must_use]
    pub fn has_export(self) -> bool {
        self.has(Property::Export)
    }

    /// True when bandwidth is printed in bits unless the job wants bytes.
    #[must_use]
    pub fn counts_in_bits(self) -> bool {
        self.has(Property::Bits)
    }

    /// True when one thread submits and reaps, which excludes `io_submit_mode=offload`.
    #[must_use]
    pub fn needs_one_thread(self) -> bool {
        self.has(Property::OneThread)
    }

    /// True for engines that complete every I/O in the submitting call at this depth.
    #[must_use]
    pub fn is_sync(self, iodepth: u32) -> bool {
        self.has(Property::InCall) || (iodepth == 1 && self.has(Property::InCallAtDepthOne))
    }
}
