//! Damaged blocks: blocks that failed verification, in the `ferrio` object.

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
    /// Number of blocks that failed verification.
    #[schemars(range(min = 1))]
    pub damaged_blocks: u64,
    /// Number of blocks of each kind of damage; docs/damage.md describes the kinds.
    #[schemars(extend("minProperties" = 1))]
    pub kinds: BTreeMap<String, u64>,
    /// First damaged blocks, at most 100 per job.
    pub blocks: Vec<DamagedBlockReport>,
}

/// A block that failed verification, with an analysis of the damage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DamagedBlockReport {
    /// Name of the file.
    pub file: String,
    /// Offset of the block in the file, in bytes.
    pub offset: u64,
    /// Length of the block, in bytes.
    #[schemars(range(min = 1))]
    pub length: u64,
    /// Kind of damage; docs/damage.md describes the kinds.
    #[schemars(regex(pattern = "^[a-z]+(-[a-z]+)*$"))]
    pub kind: String,
    /// Description of the damage.
    pub message: String,
    /// Offset of the first damaged byte in the block.
    pub damage_start: u64,
    /// Number of bytes from the first to the last damaged one.
    pub damage_length: u64,
    /// Damaged part of the block: `header`, `data` or `both`.
    #[schemars(regex(pattern = "^(header|data|both)$"))]
    pub damage_part: String,
    /// Number of bytes that differ from the expected ones; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differing_bytes: Option<u64>,
    /// Number of wrong bytes that the kind does not explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub unexplained_bytes: Option<u64>,
    /// Lowest bit that differs in the first damaged byte, from 0, if few bytes are damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub bit: Option<u64>,
    /// Value of that byte as it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 255))]
    pub found_byte: Option<u64>,
    /// Expected value of that byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 255))]
    pub wanted_byte: Option<u64>,
    /// Offset at which the data found belongs in its file, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_offset: Option<u64>,
    /// Number of the write that wrote the data found, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_number: Option<u64>,
    /// Number of the job that wrote the data found, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_job: Option<u64>,
    /// Number of the expected write, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted_number: Option<u64>,
    /// Number of bytes by which the data is shifted, positive towards higher offsets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<i64>,
    /// Value of all bytes in the damaged range.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 255))]
    pub fill_byte: Option<u64>,
    /// Options with which the data was written, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<String>,
}
