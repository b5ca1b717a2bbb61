//! Errors of system calls in the C library's words, which users know and tools grep for.

use std::io;

/// What the C library says about an errno, without the number: `No space left on device`.
#[must_use]
pub fn strerror(errno: i32) -> String {
    let text = io::Error::from_raw_os_error(errno).to_string();
    text.strip_suffix(&format!(" (os error {errno})")).unwrap_or(&text).to_owned()
}

/// An error in the words of [`strerror`], or in its own words if it has no errno.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), strerror)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_the_c_library_words_them() {
        assert_eq!(strerror(28), "No space left on device");
        assert_eq!(strerror(5), "Input/output error");
        assert_eq!(strerror(99_999), "Unknown error 99999");
    }

    #[test]
    fn an_error_without_errno_has_its_own_words() {
        assert_eq!(reason(&io::Error::from_raw_os_error(2)), "No such file or directory");
        assert_eq!(reason(&io::Error::from(io::ErrorKind::NotFound)), "entity not found");
    }
}
