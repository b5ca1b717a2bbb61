//! Information on standard output.

use std::io::{self, Write};

use crate::error::Error;

/// Calls `write` with standard output. The status is 0 if it returns true, 1 otherwise.
///
/// # Errors
/// Standard output cannot be written to.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<bool>) -> Result<u8, Error> {
    let mut stdout = io::stdout();
    match write(&mut stdout).and_then(|good| stdout.flush().map(|()| good)) {
        Ok(good) => Ok(u8::from(!good)),
        // The reader, for example `head`, has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(Error::stdout(error)),
    }
}
