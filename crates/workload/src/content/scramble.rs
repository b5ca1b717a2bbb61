//! Small changes that keep two writes of the same buffer from being alike.

/// Unit in which scrambling changes data.
const SECTOR: usize = 512;

/// Changes each whole sector of a write so that no two are alike: its offset in the file goes to a place that moves with the
/// time, the time itself to a fixed one.
pub(super) fn scramble(buffer: &mut [u8], offset: u64, now_ns: u64) {
    let (seconds, nanoseconds) = (now_ns / 1_000_000_000, now_ns % 1_000_000_000);
    let line = 64 * ((nanoseconds ^ offset) & 7) as usize;
    let mut at = offset;
    for sector in buffer.as_chunks_mut::<SECTOR>().0 {
        sector[line..line + 8].copy_from_slice(&at.to_le_bytes());
        sector[48..56].copy_from_slice(&seconds.to_le_bytes());
        sector[56..64].copy_from_slice(&nanoseconds.to_le_bytes());
        at += SECTOR as u64;
    }
}
