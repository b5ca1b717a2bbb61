//! Damaged blocks: what the `ferrio` object says of blocks that failed their check.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The damaged blocks of one entry of `jobs`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct VerifyReport {
    /// `jobname` of the entry.
    pub jobname: String,
    /// `groupid` of the entry.
    pub groupid: u32,
    /// Blocks that failed their check.
    #[schemars(range(min = 1))]
    pub damaged_blocks: u64,
    /// How many of them look like which kind of damage, one of docs/damage.md.
    #[schemars(extend("minProperties" = 1))]
    pub kinds: BTreeMap<String, u64>,
    /// The first of them, at most 100 per job.
    pub blocks: Vec<DamagedBlockReport>,
}

/// A block that failed its check, and what it looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DamagedBlockReport {
    /// The file.
    pub file: String,
    /// Where the block lies in the file, bytes.
    pub offset: u64,
    /// Bytes of the block.
    #[schemars(range(min = 1))]
    pub length: u64,
    /// What it looks like, one of docs/damage.md.
    #[schemars(regex(pattern = "^[a-z]+(-[a-z]+)*$"))]
    pub kind: String,
    /// The same in words.
    pub message: String,
    /// The first damaged byte of the block.
    pub damage_start: u64,
    /// Bytes from there to the last damaged one.
    pub damage_length: u64,
    /// Damaged part of the block: `header`, `data` or `both`.
    #[schemars(regex(pattern = "^(header|data|both)$"))]
    pub damage_part: String,
    /// Bytes that differ from what should be there; absent if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differing_bytes: Option<u64>,
    /// Wrong bytes that the kind does not explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub unexplained_bytes: Option<u64>,
    /// The lowest bit that differs in the first of few damaged bytes, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub bit: Option<u64>,
    /// That byte as it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 255))]
    pub found_byte: Option<u64>,
    /// That byte as it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 255))]
    pub wanted_byte: Option<u64>,
    /// Where the data that was found belongs in its file, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_offset: Option<u64>,
    /// Number of the write that left the data that was found, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_number: Option<u64>,
    /// Number of its job, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_job: Option<u64>,
    /// Number of the write that should be here, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted_number: Option<u64>,
    /// By how many bytes the data is shifted, positive towards higher offsets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<i64>,
    /// The byte that the damaged range consists of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 255))]
    pub fill_byte: Option<u64>,
    /// The options that the data was written with, where they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<String>,
}
