//! The arguments of a system call as strace writes them: numbers, flags, strings with escapes, lists and structures.

use super::super::fields::whole;

/// Scans text outside strings, and calls `visit` with the position, the byte and the depth of brackets around it, until `visit` returns
/// true.
fn scan(text: &[u8], mut visit: impl FnMut(usize, u8, usize) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while let Some(&inner) = text.get(at) {
                    match inner {
                        b'\\' => at += 1,
                        b'"' => break,
                        _ => {}
                    }
                    at += 1;
                }
                at += 1;
                continue;
            }
            // The file of a descriptor, with -y. strace escapes any `<` and `>` in it; with -yy a device has further ones.
            b'<' if is_descriptor(&text[..at]) && text.get(at + 1) != Some(&b'<') => {
                let mut open = 0_usize;
                let end = text[at..].iter().position(|&inner| {
                    open = match inner {
                        b'<' => open + 1,
                        b'>' => open.saturating_sub(1),
                        _ => open,
                    };
                    open == 0
                });
                at += end? + 1;
                continue;
            }
            b'/' if text[at..].starts_with(b"/*") => {
                at += text[at..].windows(2).position(|two| two == b"*/")? + 2;
                continue;
            }
            _ => {}
        }
        if visit(at, byte, depth) {
            return Some(at);
        }
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

fn is_descriptor(before: &[u8]) -> bool {
    before.ends_with(b"AT_FDCWD") || before.last().is_some_and(u8::is_ascii_digit)
}

/// The end of the list of arguments, given the text after the opening parenthesis.
pub fn end_of_list(text: &[u8]) -> Option<usize> {
    scan(text, |_, byte, depth| byte == b')' && depth == 0)
}

/// Splits arguments at commas.
pub fn split(text: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut start = 0;
    scan(text, |at, byte, depth| {
        if byte == b',' && depth == 0 {
            parts.push(text[start..at].trim_ascii());
            start = at + 1;
        }
        false
    });
    let last = text[start.min(text.len())..].trim_ascii();
    if !last.is_empty() || !parts.is_empty() {
        parts.push(last);
    }
    parts
}

/// The members of a structure or list, without the outermost brackets.
pub fn members(text: &[u8]) -> Vec<&[u8]> {
    let inner = match text {
        [b'{' | b'[', inner @ .., b'}' | b']'] => inner,
        _ => return Vec::new(),
    };
    split(inner)
}

/// The value of a member of a structure: `name=value`.
pub fn member<'a>(members: &[&'a [u8]], name: &str) -> Option<&'a [u8]> {
    members.iter().find_map(|member| member.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// A descriptor, and its file if strace shows it (`-y`).
pub fn descriptor(text: &[u8]) -> Option<(i32, Option<&[u8]>)> {
    let (number, rest) = match text.strip_prefix(b"AT_FDCWD") {
        Some(rest) => (AT_FDCWD, rest),
        None => {
            let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
            (whole(&text[..end])?, &text[end..])
        }
    };
    let file = rest.strip_prefix(b"<").and_then(|rest| {
        let end = rest.iter().rposition(|&byte| byte == b'>')?;
        // The numbers of a device follow its name.
        let end = rest[..end].iter().position(|&byte| byte == b'<').unwrap_or(end);
        Some(&rest[..end])
    });
    Some((number, file))
}

/// Whether `-y` shows that the file of a descriptor is unlinked: `3</tmp/x>(deleted)`.
pub fn is_removed(text: &[u8]) -> bool {
    text.ends_with(b">(deleted)")
}

/// The number that represents the working directory.
pub const AT_FDCWD: i32 = -100;

/// A string without quotes and escapes. `None` if it is not a string, or if strace truncated it.
pub fn string(text: &[u8]) -> Option<Vec<u8>> {
    let inner = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    unescaped(inner)
}

/// Text with escapes decoded.
pub fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next()? {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            b'v' => bytes.push(0x0b),
            b'f' => bytes.push(0x0c),
            b'x' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                bytes.push((high * 16 + low) as u8);
            }
            digit @ b'0'..=b'7' => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    match rest.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                        Some(digit) => value = value * 8 + u32::from(digit - b'0'),
                        None => break,
                    }
                }
                bytes.push(u8::try_from(value).ok()?);
            }
            other => bytes.push(other),
        }
    }
    Some(bytes)
}

/// Whether flags joined with `|` include this one.
pub fn has_flag(flags: &[u8], flag: &str) -> bool {
    let is_end = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b'_');
    flags.split(is_end).any(|word| word == flag.as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arguments_end_where_strings_and_brackets_do() {
        let text = br#"3, "a,)\"b", [{iov_base="x}", iov_len=1}, 2], {a=1, b=(2,3)}) = 5 (x)"#;
        let end = end_of_list(text).unwrap();
        let parts = split(&text[..end]);
        let texts: Vec<_> = parts.iter().map(|part| String::from_utf8_lossy(part)).collect();
        assert_eq!(texts, ["3", r#""a,)\"b""#, r#"[{iov_base="x}", iov_len=1}, 2]"#, "{a=1, b=(2,3)}"]);
        let inner = members(members(parts[2])[0]);
        assert_eq!(member(&inner, "iov_len"), Some(&b"1"[..]));
        assert_eq!(split(b""), [&b""[..]; 0]);
    }

    #[test]
    fn files_of_descriptors_are_no_brackets() {
        let text = b"AT_FDCWD</tmp/a(b>, 3</dev/sda<block 8:0>>, 1<<CAP_CHOWN, 0x7f /* 35 vars) */) = 3</x>";
        let parts = split(&text[..end_of_list(text).unwrap()]);
        assert_eq!(parts.len(), 4);
        assert_eq!(descriptor(parts[0]), Some((AT_FDCWD, Some(&b"/tmp/a(b"[..]))));
        assert_eq!(descriptor(parts[1]), Some((3, Some(&b"/dev/sda"[..]))));
        assert_eq!(descriptor(b"17"), Some((17, None)));
        assert_eq!(descriptor(b"-1"), None);
    }

    #[test]
    fn strings_lose_their_escapes() {
        assert_eq!(
            string(br#""a \"b\"\n\tc\\\303\274\0z\x41""#).unwrap(),
            "a \"b\"\n\tc\\\u{fc}\0zA".as_bytes()
        );
        assert_eq!(string(br#""long"..."#), None);
        assert_eq!(string(b"NULL"), None);
        assert_eq!(string(br#""\"#), None);
    }

    #[test]
    fn flags_are_whole_words() {
        assert!(has_flag(b"O_RDWR|O_CREAT", "O_CREAT") && !has_flag(b"O_RDWR|O_CREAT", "O_CREA"));
        assert!(has_flag(b"{flags=CLONE_VM|CLONE_FILES, x=1}", "CLONE_FILES"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in prop::collection::vec(prop::sample::select(b"\"\\<>()[]{},a1=/* |".to_vec()), 0..60)) {
            let _ = end_of_list(&text);
            for part in split(&text) {
                let _ = (descriptor(part), string(part), members(part), unescaped(part));
            }
        }
    }
}
