//! The check of blocks that were trimmed: they must be zeros.

use crate::{BlockMismatch, IntervalProblem};

/// Checks a trimmed block that was read at `offset`.
///
/// # Errors
/// The first byte that is not zero.
pub fn check_trimmed(block: &[u8], offset: u64) -> Result<(), Box<BlockMismatch>> {
    let Some(at) = block.iter().position(|&byte| byte != 0) else { return Ok(()) };
    let problem = IntervalProblem::NotZero { at: at as u64 };
    Err(BlockMismatch::of_whole_block(offset, block.len() as u64, problem))
}

#[cfg(test)]
mod tests {
    use ferrio_job::Compat;

    use super::*;

    #[test]
    fn one_bit_anywhere_is_found_and_named_by_its_byte() {
        let mut block = [0; 4096];
        assert_eq!(check_trimmed(&block, 8192), Ok(()));
        for at in [0, 1, 63, 64, 4095] {
            block[at] = 4;
            let mismatch = check_trimmed(&block, 8192).unwrap_err();
            let lines = mismatch.diagnostics("f", 0x88, |_| Vec::new());
            let want = format!(
                "verify failed for zeroed data at file f offset 8192, length 4096, block offset {at}"
            );
            assert_eq!(lines.iter().map(|line| line.line(Compat::Fio)).collect::<Vec<_>>(), [want]);
            block[at] = 0;
        }
    }
}
