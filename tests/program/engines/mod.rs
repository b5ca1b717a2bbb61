//! Tests of all engines. The engine table decides which engines a test includes, so that a new engine is in all of them.

mod contract;
pub mod external;
pub mod file;
mod http;
pub mod nbd;
pub mod network;
mod offload;
mod passthrough;
mod persistent_memory;
mod raw_devices;
mod round_trip;
pub mod scene;
mod syscalls;
mod uring_requests;
mod work;

use ferrio_job::EngineKind;

/// The things that the jobs of an engine work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// They move data from and to files.
    Files,
    /// They do something else to files that they open, such as reserving space.
    Space,
    /// They do something to names: create, look up, remove.
    Names,
    /// They have no files: memory, or nothing.
    Memory,
    /// They need persistent memory, which few machines have; `persistent_memory` tests how they refuse anything else.
    PersistentMemory,
    /// They need NVMe devices; `passthrough` tests how they refuse anything else.
    Namespaces,
    /// They do no I/O.
    Work,
    /// They talk to a peer; the tests of the engine start one.
    Peer,
    /// The export of a server, which the tests start.
    Export,
    /// Objects of a server, which the tests of the engine start.
    Objects,
    /// They have devices of their own kind; the tests are beside the code.
    Devices,
    /// Whatever an engine that is loaded works on; `external` tests how it is called.
    Foreign,
}

impl Target {
    pub fn of(engine: EngineKind) -> Target {
        match engine {
            EngineKind::External => Target::Foreign,
            _ if !engine.does_io() => Target::Work,
            _ if engine.has_peer() => Target::Peer,
            _ if engine.has_export() => Target::Export,
            _ if engine.has_objects() => Target::Objects,
            _ if engine.operates_on_files() => Target::Names,
            _ if engine.is_on_persistent_memory() => Target::PersistentMemory,
            _ if engine.passes_through() => Target::Namespaces,
            _ if engine.needs_scsi_devices() || engine.needs_flash_devices() => Target::Devices,
            _ if !engine.uses_files() => Target::Memory,
            _ if engine.moves_data() => Target::Files,
            _ => Target::Space,
        }
    }
}

/// All engines whose jobs work on this.
pub fn engines_on(target: Target) -> impl Iterator<Item = EngineKind> {
    EngineKind::ALL.iter().copied().filter(move |&engine| Target::of(engine) == target)
}

/// All engines that move data from or to files.
pub fn moving() -> impl Iterator<Item = EngineKind> {
    engines_on(Target::Files)
}

/// All engines of [`moving`], each with the queue depths to test it at.
pub fn moving_at_depths() -> impl Iterator<Item = (EngineKind, u32)> {
    moving().flat_map(|engine| {
        let depths: &[u32] = match engine {
            _ if engine.is_sync(4) => &[1],
            // A ring does single requests in another way than several.
            _ if engine.is_on_io_uring() => &[1, 8],
            _ => &[4],
        };
        depths.iter().map(move |&depth| (engine, depth))
    })
}

/// True for engines whose every I/O is a call of its own to the file system.
pub fn calls_for_each_io(engine: EngineKind) -> bool {
    !engine.maps_files()
}
