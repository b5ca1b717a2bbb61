//! `docs/engines.md`: what each engine can do, from the engine table.

use std::fmt::Write as _;

use ferrio_job::{Choice as _, EngineKind};
use ferrio_jobfile::{ABSENT_ENGINES, OptionRow, OptionScope, OptionStatus, rows};

use super::{cell, check, code};
use crate::engines::Target;

#[test]
fn the_engine_reference_is_up_to_date() {
    check("docs/engines.md", &reference());
}

fn reference() -> String {
    let mut text = String::from(
        "# Engines\n\n\
         Generated from `crates/job/src/engine.rs` by `FERRIO_BLESS=1 cargo test --test program reference`; do not edit.\n\n\
         `ioengine=NAME` selects an engine. `ferrio help NAME` shows its private options, which are also among [all options](options.md).\n\
         The test suite checks this table.\n\n\
         | Column | Meaning |\n|---|---|\n\
         | I/Os | *in the call*: one I/O at a time, whatever `iodepth` says; `io_submit_mode=offload` runs `iodepth` of them in threads. \
         *queued*: up to `iodepth` I/Os in flight |\n\
         | Offload | whether `io_submit_mode=offload` is possible; otherwise it is refused |\n\
         | Sync | what `fsync`, `fdatasync` and `sync_file_range` do. *as named*: each makes the system call of its name; *fsync(2) for \
         all*: each makes an fsync(2); *flush for all*: each flushes the device or export; *nothing to do*: they succeed and do nothing; empty: the engine does no I/O |\n\
         | Trim | what `rw=trim` works on; on other files the I/O fails. *no*: the job fails or is refused |\n\
         | Atomic | whether `atomic=1` is possible; otherwise it is refused |\n\
         | Verify | whether `verify` reads back what a job wrote |\n\n\
         | Engine | What it does | I/Os | Offload | Sync | Trim | Atomic | Verify | Needs | Private options |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for &engine in EngineKind::ALL {
        let cells = [
            code(engine.word()),
            cell(help(engine)),
            ios(engine).to_owned(),
            yes(!engine.needs_one_thread()).to_owned(),
            sync(engine).to_owned(),
            trim(engine).to_owned(),
            yes(engine.can_ask_for_atomic_writes()).to_owned(),
            verify(engine).to_owned(),
            needs(engine),
            options(engine),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text.push_str("\n## What is special about some\n\n");
    for &engine in EngineKind::ALL {
        let words: Vec<_> = engine.in_words().collect();
        if !words.is_empty() {
            let _ = writeln!(text, "- **{engine}**: {}", words.join(" "));
        }
    }
    text.push_str(
        "\n## Engines of fio that are not available\n\n| Engine | What it does | Why | Instead |\n|---|---|---|---|\n",
    );
    for engine in ABSENT_ENGINES {
        let [help, reason, instead] = [engine.help, engine.reason, engine.instead].map(cell);
        let _ = writeln!(text, "| {} | {help} | {reason} | {instead} |", code(engine.name));
    }
    text
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

fn help(engine: EngineKind) -> &'static str {
    EngineKind::WORDS.iter().find(|word| word.word == engine.word()).map_or("", |word| word.help)
}

fn ios(engine: EngineKind) -> &'static str {
    match (engine.is_sync(1), engine.is_sync(2)) {
        _ if !engine.does_io() => "none",
        (true, true) => "in the call",
        (true, false) => "queued from `iodepth=2` on",
        (false, _) => "queued",
    }
}

fn sync(engine: EngineKind) -> &'static str {
    match Target::of(engine) {
        Target::Work => "",
        Target::Foreign => "as its object does",
        Target::Names if engine.creates_files() => "as named",
        Target::Names => "fails: no file is open",
        Target::Memory | Target::Peer | Target::Objects => "nothing to do",
        Target::Export | Target::Namespaces => "flush for all",
        Target::Devices if engine.needs_scsi_devices() => "SYNCHRONIZE CACHE",
        Target::Devices => "nothing to do",
        Target::PersistentMemory => "write-back of CPU caches",
        Target::Files | Target::Space => match engine {
            _ if engine.maps_files() => "msync(2)",
            _ if engine.has_one_sync() => "fsync(2) for all",
            _ => "as named",
        },
    }
}

fn trim(engine: EngineKind) -> &'static str {
    match Target::of(engine) {
        Target::Work => "",
        _ if !engine.can_trim() || engine.needs_dax_devices() => "no",
        Target::Foreign => "as its object does",
        Target::Memory | Target::Names => "does nothing",
        Target::Objects => "objects (removes them)",
        Target::Export => "exports",
        Target::Namespaces => "namespaces",
        Target::Devices if engine.needs_scsi_devices() => "SCSI devices (UNMAP)",
        Target::Devices => "raw flash (erases blocks)",
        Target::Space => "files and devices (punches holes)",
        Target::Files | Target::PersistentMemory | Target::Peer => "block devices",
    }
}

fn verify(engine: EngineKind) -> &'static str {
    match Target::of(engine) {
        Target::Peer => "by the receiver",
        _ => yes(engine.moves_data() && !engine.only_writes()),
    }
}

/// What has to be there besides files.
fn needs(engine: EngineKind) -> String {
    let target = Target::of(engine);
    let mut needs = Vec::new();
    let mut need = |is_so: bool, what: &str| {
        if is_so {
            needs.push(what.to_owned());
        }
    };
    need(engine.is_on_io_uring(), "io_uring, which some containers forbid");
    need(engine.only_on_ext4(), "ext4");
    need(target == Target::PersistentMemory && !engine.needs_dax_devices(), "a file system mounted with DAX");
    need(engine.needs_dax_devices(), "a DAX device");
    need(target == Target::Peer, "fio or ferrio at the other end");
    need(matches!(target, Target::Export | Target::Objects), "a server");
    need(target == Target::Namespaces, "an NVMe device");
    need(engine.needs_scsi_devices(), "a SCSI device");
    need(engine.needs_flash_devices(), "a raw flash device");
    need(target == Target::Foreign, "a shared object ([interface](ferrio_engine.h))");
    if let Some(feature) = engine.feature() {
        needs.push(format!("the cargo feature {}", code(feature)));
    }
    needs.join("; ")
}

/// The private options of an engine, without those that are refused.
fn options(engine: EngineKind) -> String {
    let works = |row: &&OptionRow| {
        matches!(row.scope, OptionScope::Engines(_)) && matches!(row.status, OptionStatus::Works)
    };
    let own = rows().iter().filter(works).filter(|row| row.belongs_to(engine.word()));
    own.map(|row| code(row.name)).collect::<Vec<_>>().join(", ")
}
