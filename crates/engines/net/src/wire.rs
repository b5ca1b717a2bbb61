//! The parts of fio's network protocol besides the data: messages that begin and end a transfer, and datagram numbers.

/// Message that begins a transfer by datagrams.
pub(crate) const OPEN: [u8; 8] = *b"link\0\0\0\x98";

/// Message that ends a transfer.
pub(crate) const CLOSE: [u8; 8] = *b"knil\x89\0\0\0";

/// Size of the datagram number, at the end of a datagram; smaller datagrams have none.
pub(crate) const TRAILER: usize = 24;

const MAGIC: u64 = 0x6573_7571_6e55_6563;

/// Writes the number of a datagram to its end, if it is large enough.
pub(crate) fn set_sequence(datagram: &mut [u8], sequence: u64) {
    let size = datagram.len() as u64;
    if let Some(trailer) = datagram.last_chunk_mut::<TRAILER>() {
        for (field, value) in trailer.chunks_exact_mut(8).zip([MAGIC, sequence, size]) {
            field.copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// The number of a datagram, if it has one.
pub(crate) fn sequence(datagram: &[u8]) -> Option<u64> {
    let trailer = datagram.last_chunk::<TRAILER>()?;
    let mut fields = trailer.as_chunks::<8>().0.iter().map(|field| u64::from_le_bytes(*field));
    (fields.next()? == MAGIC).then(|| fields.next())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_are_the_same_word_in_two_byte_orders_with_a_command() {
        assert_eq!(OPEN, [0x6c, 0x69, 0x6e, 0x6b, 0, 0, 0, 0x98]);
        assert_eq!(CLOSE, [0x6b, 0x6e, 0x69, 0x6c, 0x89, 0, 0, 0]);
    }

    #[test]
    fn a_datagram_ends_with_magic_number_and_size() {
        let mut datagram = [0xaa; 32];
        set_sequence(&mut datagram, 0x0102);
        let want = [
            0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, // data
            0x63, 0x65, 0x55, 0x6e, 0x71, 0x75, 0x73, 0x65, // magic
            0x02, 0x01, 0, 0, 0, 0, 0, 0, // number
            32, 0, 0, 0, 0, 0, 0, 0, // size
        ];
        assert_eq!(datagram, want);
        assert_eq!(sequence(&datagram), Some(0x0102));
    }

    #[test]
    fn datagrams_without_room_or_magic_have_no_number() {
        let mut small = [7; 23];
        set_sequence(&mut small, 1);
        assert_eq!((small, sequence(&small)), ([7; 23], None));
        assert_eq!(sequence(&[7; 64]), None);
    }
}
