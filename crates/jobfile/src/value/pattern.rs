//! Fill patterns: decimal and hexadecimal numbers, `"text"`, `'file'` and `%o`, one after the other.

use std::path::Path;

use ferrio_job::Pattern;

use super::error::{TextPiece, ValueError, leading_digits};
use super::model::{ReadPatternFile, Value};

/// Maximum size of a pattern file in bytes.
const MAX_FILE_BYTES: usize = 128 << 20;

/// Reads a pattern; `formats` allows `%o`.
pub(crate) fn pattern(
    text: &str,
    formats: bool,
    read_file: ReadPatternFile<'_>,
) -> Result<Value, ValueError> {
    let mut pattern = Pattern::default();
    let mut rest = TextPiece::whole(text).trim();
    while let Some(first) = rest.text.chars().next() {
        let length = match first {
            '"' | '\'' => {
                let Some(end) = rest.text[1..].find(first) else {
                    return Err(rest.error("the closing quote is missing"));
                };
                let inside = rest.part(1, 1 + end);
                if inside.text.is_empty() {
                    return Err(rest.part(0, 2).error("nothing between the quotes"));
                }
                if first == '"' {
                    pattern.bytes.extend(inside.text.bytes());
                } else {
                    pattern.bytes.extend(file(inside, read_file)?);
                }
                end + 2
            }
            '%' if formats && rest.text.starts_with("%o") => {
                pattern.offsets.push(pattern.bytes.len());
                pattern.bytes.extend([0; 8]);
                2
            }
            '0' if rest.text.starts_with("0x") || rest.text.starts_with("0X") => {
                hexadecimal(rest, &mut pattern.bytes)?
            }
            '0'..='9' | '-' | '+' => decimal(rest, &mut pattern.bytes)?,
            blank if blank.is_whitespace() => blank.len_utf8(),
            other => {
                let help = "write numbers, 0x hexadecimal digits, \"text\" or 'file'";
                return Err(rest.part(0, other.len_utf8()).error("not part of a pattern").help(help));
            }
        };
        rest = rest.part(length, rest.text.len());
    }
    if pattern.bytes.is_empty() {
        return Err(TextPiece::whole(text).error("an empty pattern"));
    }
    Ok(Value::Pattern(pattern))
}

/// Pairs of digits; if their number is odd, the first one is alone.
fn hexadecimal(piece: TextPiece<'_>, bytes: &mut Vec<u8>) -> Result<usize, ValueError> {
    let mut digits: Vec<u8> =
        piece.text[2..].chars().map_while(|sign| sign.to_digit(16)).map(|digit| digit as u8).collect();
    // The 0 of a following 0x belongs to that.
    if digits.last() == Some(&0) && digits.len() > 1 && piece.text[2 + digits.len()..].starts_with(['x', 'X'])
    {
        digits.pop();
    }
    if digits.is_empty() {
        return Err(piece.part(0, 2).error("hexadecimal digits are expected"));
    }
    let (alone, pairs) = digits.split_at(digits.len() % 2);
    bytes.extend(alone);
    bytes.extend(pairs.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
    Ok(2 + digits.len())
}

/// The shortest little-endian form, at least one byte; always four bytes for a negative number.
fn decimal(piece: TextPiece<'_>, bytes: &mut Vec<u8>) -> Result<usize, ValueError> {
    let sign = usize::from(piece.text.starts_with(['-', '+']));
    let mut length = sign + leading_digits(&piece.text[sign..]).len();
    // As with hexadecimal digits, the 0 of a following 0x belongs to that.
    if piece.text[length..].starts_with(['x', 'X'])
        && piece.text[sign..length].len() > 1
        && piece.text[..length].ends_with('0')
    {
        length -= 1;
    }
    let number = piece.part(0, length);
    let value = number.text.parse::<i32>().map_err(|_| number.error("a 32-bit number is expected"))?;
    let all = value.to_le_bytes();
    let used = if value < 0 { 4 } else { all.iter().rposition(|&byte| byte != 0).map_or(1, |last| last + 1) };
    bytes.extend(&all[..used]);
    Ok(length)
}

fn file(name: TextPiece<'_>, read_file: ReadPatternFile<'_>) -> Result<Vec<u8>, ValueError> {
    let content =
        read_file(Path::new(name.text)).map_err(|why| name.error(format!("cannot be read: {why}")))?;
    match content.len() {
        0 => Err(name.error("the file is empty")),
        length if length > MAX_FILE_BYTES => Err(name.error("the file is larger than 128 MiB")),
        _ => Ok(content),
    }
}
