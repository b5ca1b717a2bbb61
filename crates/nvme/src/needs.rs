//! Requirements of a job on a namespace, checked by both `ferrio check` and the run.

use ferrio_job::JobSpec;

use crate::{GuardFormat, Namespace};

/// Requirements of a job on a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceNeeds {
    /// True if the device, not the program, inserts and checks protection information.
    protection_by_device: bool,
    /// Size of the metadata buffer of each I/O in bytes.
    metadata_bytes: u32,
    /// True if blocks are read back and compared.
    verifies: bool,
    /// Smallest and largest block sizes of each direction, in bytes.
    block_sizes: Vec<u64>,
}

/// The reason why a job cannot use a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceObstacle {
    /// errno of the I/Os.
    pub errno: i32,
    /// The reason and the remedy, without the name of the device.
    pub message: String,
}

impl NamespaceNeeds {
    /// The requirements of a job.
    #[must_use]
    pub fn of(spec: &JobSpec) -> Self {
        let protection = &spec.engine_options.protection;
        NamespaceNeeds {
            protection_by_device: protection.by_device,
            metadata_bytes: protection.metadata_bytes,
            verifies: spec.verify.is_some(),
            block_sizes: spec.block.0.iter().flat_map(|sizes| [sizes.min, sizes.max]).collect(),
        }
    }

    /// The first requirement that a namespace does not meet.
    #[must_use]
    pub fn obstacle(&self, namespace: &Namespace) -> Option<NamespaceObstacle> {
        let refused = |errno, message: String| Some(NamespaceObstacle { errno, message });
        if let Some(message) = namespace.unsupported_protection(self.protection_by_device) {
            return refused(libc::EOPNOTSUPP, message.to_owned());
        }
        if let Some(message) = self.cannot_verify(namespace) {
            return refused(libc::EOPNOTSUPP, message);
        }
        let block = u64::from(namespace.block_bytes(self.protection_by_device));
        if let Some(size) = self.block_sizes.iter().find(|&&size| !size.is_multiple_of(block)) {
            let unit = if block > namespace.data_bytes.into() {
                format!("{block} (LBA data size + Metadata size)")
            } else {
                format!("LBA data size ({block})")
            };
            let better = (size / block).max(1) * block;
            let message = format!(
                "block size must be a multiple of {unit}. Did you mean to use a block size of {better}?"
            );
            return refused(libc::EINVAL, message);
        }
        let separate = match namespace.is_extended {
            true => 0,
            false => u64::from(namespace.transferred_metadata(self.protection_by_device)),
        };
        let largest = self.block_sizes.iter().max().copied().unwrap_or(0);
        let needed = separate * (largest / block);
        if needed > self.metadata_bytes.into() {
            return refused(libc::EINVAL, format!("md_per_io_size should be at least {needed} bytes"));
        }
        None
    }

    /// The reason why the job's writes cannot be verified. Protection information is inserted after a block was filled. If the block
    /// includes its metadata, the data read back differs from the data filled in.
    fn cannot_verify(&self, namespace: &Namespace) -> Option<String> {
        let moves_metadata = namespace.transferred_metadata(self.protection_by_device) > 0;
        let changes_blocks = namespace.is_extended && namespace.protection.is_some() && moves_metadata;
        (self.verifies && changes_blocks).then(|| {
            let hidden_by_device = namespace.transferred_metadata(true) == 0;
            let way_out = if hidden_by_device { "pi_act=1, " } else { "" };
            format!(
                "verify does not work with this namespace, whose protection information lies behind the data in the verified block and \
                 changes it: use {way_out}a namespace with separate metadata, or no verify"
            )
        })
    }
}

impl Namespace {
    /// The reason why the program cannot compute the protection information of this namespace, if it has to.
    #[must_use]
    pub fn unsupported_protection(&self, by_device: bool) -> Option<&'static str> {
        let format = self.protection.filter(|_| !by_device)?;
        if format.guard == GuardFormat::Bits32 {
            return Some("guards of 32 bits are not supported: use pi_act=1");
        }
        (format.storage_tag_bits > 0).then_some("Storage tag not supported")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProtectionFormat;

    const PLAIN: Namespace = Namespace {
        id: 3,
        blocks: 1 << 20,
        data_bytes: 4096,
        metadata_bytes: 0,
        is_extended: false,
        protection: None,
    };
    const TYPE_1: Option<ProtectionFormat> =
        Some(ProtectionFormat { kind: 1, is_first: false, guard: GuardFormat::Bits16, storage_tag_bits: 0 });

    fn blocks(block_sizes: &[u64]) -> NamespaceNeeds {
        NamespaceNeeds { block_sizes: block_sizes.to_vec(), ..NamespaceNeeds::default() }
    }

    fn message(needs: &NamespaceNeeds, namespace: &Namespace) -> String {
        needs.obstacle(namespace).map(|obstacle| obstacle.message).unwrap_or_default()
    }

    #[test]
    fn block_sizes_are_multiples_of_the_blocks_of_the_device() {
        let want = "block size must be a multiple of LBA data size (4096). Did you mean to use a block size of 8192?";
        assert_eq!(message(&blocks(&[4096, 10000]), &PLAIN), want);
        assert_eq!(blocks(&[512]).obstacle(&PLAIN).unwrap().errno, libc::EINVAL);
        assert!(message(&blocks(&[512]), &PLAIN).ends_with("a block size of 4096?"));
        assert_eq!(blocks(&[4096, 1 << 20]).obstacle(&PLAIN), None);
        let extended = Namespace { metadata_bytes: 64, is_extended: true, ..PLAIN };
        assert!(message(&blocks(&[4096]), &extended).contains("4160 (LBA data size + Metadata size)"));
        assert_eq!(blocks(&[8320]).obstacle(&extended), None);
    }

    #[test]
    fn the_largest_io_decides_how_much_metadata_there_is() {
        let beside = Namespace { metadata_bytes: 64, ..PLAIN };
        let needs = NamespaceNeeds { metadata_bytes: 64, ..blocks(&[4096, 16384]) };
        assert_eq!(message(&needs, &beside), "md_per_io_size should be at least 256 bytes");
        assert_eq!(NamespaceNeeds { metadata_bytes: 256, ..needs }.obstacle(&beside), None);
    }

    #[test]
    fn formats_that_the_program_cannot_make_are_left_to_the_device() {
        let format = ProtectionFormat { guard: GuardFormat::Bits32, ..TYPE_1.unwrap() };
        let namespace = Namespace { metadata_bytes: 16, protection: Some(format), ..PLAIN };
        let needs = NamespaceNeeds { metadata_bytes: 64, ..blocks(&[4096]) };
        assert!(message(&needs, &namespace).contains("pi_act=1"));
        assert_eq!(NamespaceNeeds { protection_by_device: true, ..needs }.obstacle(&namespace), None);
    }

    #[test]
    fn blocks_that_protection_information_changes_cannot_be_verified() {
        let reason = |is_extended, metadata_bytes, protected: bool, protection_by_device| {
            let protection = TYPE_1.filter(|_| protected);
            let namespace = Namespace { metadata_bytes, is_extended, protection, ..PLAIN };
            NamespaceNeeds { protection_by_device, verifies: true, ..blocks(&[]) }.cannot_verify(&namespace)
        };
        let by_program = reason(true, 8, true, false).unwrap();
        assert!(
            by_program.ends_with("use pi_act=1, a namespace with separate metadata, or no verify"),
            "{by_program}"
        );
        assert_eq!(reason(true, 8, true, true), None, "the device keeps all metadata to itself");
        for by_device in [false, true] {
            let larger = reason(true, 64, true, by_device).unwrap();
            assert!(larger.ends_with("use a namespace with separate metadata, or no verify"), "{larger}");
            assert_eq!(reason(false, 64, true, by_device), None, "separate metadata");
            assert_eq!(reason(true, 64, false, by_device), None, "metadata without protection information");
        }
    }
}
